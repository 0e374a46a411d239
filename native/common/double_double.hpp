// Numbers of 106 bits, the unevaluated sum of two doubles: additions, products, quotients and square roots.
//
// Only additions, multiplications, divisions and roots in double precision, in a fixed order, so every
// machine gets the same bits.
#pragma once

#include <cmath>
#include <cstddef>

// The kernels, which are compiled once per instruction set, may share no function with other code.
#if defined(_MSC_VER) && !defined(__clang__)
#define LABELSIEVE_INLINE __forceinline
#else
#define LABELSIEVE_INLINE inline __attribute__((always_inline))
#endif

namespace labelsieve {

struct Double2 {
    double high = 0, low = 0;
};

// Many of them, as two arrays.
struct Wide2 {
    double* high;
    double* low;
    Double2 operator[](std::size_t i) const { return {high[i], low[i]}; }
    void set(std::size_t i, Double2 value) const {
        high[i] = value.high;
        low[i] = value.low;
    }
};

// For |a| >= |b|.
LABELSIEVE_INLINE Double2 ordered_sum(double a, double b) {
    const double sum = a + b;
    return {sum, b - (sum - a)};
}

LABELSIEVE_INLINE Double2 exact_sum(double a, double b) {
    const double sum = a + b, of_b = sum - a;
    return {sum, (a - (sum - of_b)) + (b - of_b)};
}

// By Dekker: factors are split into halves of 26 bits.
LABELSIEVE_INLINE Double2 exact_product(double a, double b) {
    constexpr double splitter = 134217729.0;
    const double wide_a = splitter * a, wide_b = splitter * b;
    const double high_a = wide_a - (wide_a - a), high_b = wide_b - (wide_b - b);
    const double low_a = a - high_a, low_b = b - high_b, product = a * b;
    return {product, ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b};
}

LABELSIEVE_INLINE Double2 operator-(Double2 a) { return {-a.high, -a.low}; }

LABELSIEVE_INLINE Double2 operator+(Double2 a, Double2 b) {
    const Double2 high = exact_sum(a.high, b.high), low = exact_sum(a.low, b.low);
    const Double2 sum = ordered_sum(high.high, high.low + low.high);
    return ordered_sum(sum.high, sum.low + low.low);
}
LABELSIEVE_INLINE Double2 operator-(Double2 a, Double2 b) { return a + -b; }

LABELSIEVE_INLINE Double2 operator*(Double2 a, double b) {
    const Double2 product = exact_product(a.high, b);
    return ordered_sum(product.high, product.low + a.low * b);
}
LABELSIEVE_INLINE Double2 operator*(Double2 a, Double2 b) {
    const Double2 product = exact_product(a.high, b.high);
    return ordered_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

// Three digits of the quotient, each from what is left.
LABELSIEVE_INLINE Double2 operator/(Double2 a, Double2 b) {
    const double first = a.high / b.high;
    Double2 left = a - b * first;
    const double second = left.high / b.high;
    left = left - b * second;
    const Double2 sum = ordered_sum(first, second);
    return sum + Double2{left.high / b.high, 0};
}

LABELSIEVE_INLINE Double2 square_root(Double2 a) {
    const double root = std::sqrt(a.high);
    if (root == 0) return {};
    const Double2 left = a - exact_product(root, root);
    return ordered_sum(root, left.high / (2 * root));
}

}  // namespace labelsieve
