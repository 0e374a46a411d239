// Numbers of 106 bits, the unevaluated sum of two doubles: additions, products, quotients and square roots.
//
// Only additions, multiplications, divisions and roots in double precision, in a fixed order, so every
// machine gets the same bits.
#pragma once

#include <cmath>

namespace labelsieve {

struct Double2 {
    double high = 0, low = 0;
};

// For |a| >= |b|.
inline Double2 ordered_sum(double a, double b) {
    const double sum = a + b;
    return {sum, b - (sum - a)};
}

inline Double2 exact_sum(double a, double b) {
    const double sum = a + b, of_b = sum - a;
    return {sum, (a - (sum - of_b)) + (b - of_b)};
}

// By Dekker: factors are split into halves of 26 bits.
inline Double2 exact_product(double a, double b) {
    constexpr double splitter = 134217729.0;
    const double wide_a = splitter * a, wide_b = splitter * b;
    const double high_a = wide_a - (wide_a - a), high_b = wide_b - (wide_b - b);
    const double low_a = a - high_a, low_b = b - high_b, product = a * b;
    return {product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b};
}

inline Double2 operator-(Double2 a) { return {-a.high, -a.low}; }

inline Double2 operator+(Double2 a, Double2 b) {
    const Double2 high = exact_sum(a.high, b.high), low = exact_sum(a.low, b.low);
    const Double2 sum = ordered_sum(high.high, high.low + low.high);
    return ordered_sum(sum.high, sum.low + low.low);
}
inline Double2 operator-(Double2 a, Double2 b) { return a + -b; }

inline Double2 operator*(Double2 a, double b) {
    const Double2 product = exact_product(a.high, b);
    return ordered_sum(product.high, product.low + a.low * b);
}
inline Double2 operator*(Double2 a, Double2 b) {
    const Double2 product = exact_product(a.high, b.high);
    return ordered_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

// Three digits of the quotient, each from what is left.
inline Double2 operator/(Double2 a, Double2 b) {
    const double first = a.high / b.high;
    Double2 left = a - b * first;
    const double second = left.high / b.high;
    left = left - b * second;
    const Double2 sum = ordered_sum(first, second);
    return sum + Double2{left.high / b.high, 0};
}

inline Double2 square_root(Double2 a) {
    const double root = std::sqrt(a.high);
    if (root == 0) return {};
    const Double2 left = a - exact_product(root, root);
    return ordered_sum(root, left.high / (2 * root));
}

}  // namespace labelsieve
