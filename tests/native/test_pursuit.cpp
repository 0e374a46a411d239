// Forward least squares: centered products and coefficients known by hand, also where doubles are not enough.
#include <cmath>
#include <vector>

#include "expect.hpp"
#include "solver/pursuit.hpp"

using namespace labelsieve;

namespace {

bool near(double a, double b) { return std::abs(a - b) < 1e-12; }

void test_numbers_of_106_bits() {
    const Double2 third = Double2{1, 0} / Double2{3, 0};
    const Double2 rest = third * 3.0 - Double2{1, 0};
    EXPECT(std::abs(rest.high) < 1e-31 && third.low != 0);
    const Double2 root = square_root({2, 0}), square = root * root - Double2{2, 0};
    EXPECT(std::abs(square.high) < 1e-31);
    EXPECT(square_root({0, 0}).high == 0);
}

// A column of 2^40 + 1 and 2^40 - 1 and another of 3 and 1: the covariance is 1 exactly.
void test_offsets_are_taken_out() {
    const std::vector<int64_t> product_high{1024}, product_low{2};  // (2^40+1)*3 + (2^40-1)*1 = 2^42 + 2
    const std::vector<int64_t> column_high{512}, zero{0}, other_low{4};
    const std::vector<double> ones{1};
    const ProductSums sums{.products = {product_high.data(), product_low.data()},
                           .columns = {column_high.data(), zero.data()},
                           .others = {zero.data(), other_low.data()},
                           .n_columns = 1,
                           .n_others = 1,
                           .total = 2};
    Pool pool(1);
    double high = 0, low = 0;
    center_products(sums, ones.data(), ones.data(), pool, &high);
    EXPECT(high == 1);
    // Negative numbers have a negative high part: -1 = -2^32 + (2^32 - 1).
    const std::vector<int64_t> minus_high{-1}, minus_low{4294967295};
    center_squares({minus_high.data(), minus_low.data()}, {zero.data(), zero.data()},
                   {zero.data(), zero.data()}, 1, 2, ones.data(), ones.data(), &high, &low);
    EXPECT(high == -0.5 && low == 0);
}

// Two columns of unit length with the product 1 - 1e-20, which a double cannot tell from 1.
void test_coefficients_of_near_copies() {
    std::vector<double> rows(4), rows_low(4), products{1, 1}, products_low{0, -1e-20};
    Pool pool(1);
    const Directions none{
        .rows = {.high = rows.data(), .low = rows_low.data()}, .size = 0, .n_columns = 2, .pitch = 2};
    project(none, {.high = products.data(), .low = products_low.data()}, 0, {1, 0}, pool, none.rows);
    const Double2 left = Double2{1, 0} - none.rows[1] * none.rows[1];
    EXPECT(std::abs(left.high - 2e-20) < 1e-30);
}

// One feature of one column, one of two: products and squares are given, the drops follow by hand.
void test_gains_and_folding() {
    const std::vector<int64_t> starts{0, 1, 3};
    std::vector<double> products{3, 1, 2, 0, 4, 2}, squares{2, 4, 2, 5}, squares_low(4);
    const PursuitState state{.starts = starts,
                             .n_targets = 2,
                             .products = products.data(),
                             .squares = {.high = squares.data(), .low = squares_low.data()}};
    Pool pool(2);
    const std::vector<double> least{0, 0, 0}, none{0, 0}, penalties{1, 1};
    std::vector<double> gains(2);
    const auto rules = [&](const std::vector<double>& limits, const std::vector<double>& taken_off,
                           double weak, const std::vector<double>& guards) {
        return GainRules{
            .least = limits.data(), .weak = weak, .penalties = taken_off.data(), .guards = guards.data()};
    };
    pursuit_gains(state, rules(least, none, 0, none), pool, gains.data());
    // Of the second feature: 2^2 / 4 + (4 - 2 * 2 / 4)^2 / (5 - 2 * 2 / 4), and 0 + 2^2 / 4.
    EXPECT(near(gains[0], 9.0 / 2 + 1.0 / 2) && near(gains[1], 1 + 9.0 / 4 + 1));
    pursuit_gains(state, rules(least, penalties, 0, none), pool, gains.data());
    EXPECT(near(gains[0], 9.0 / 2 - 1 + 0) && near(gains[1], 1 + 9.0 / 4 - 2 + 0));
    const std::vector<double> much{2, 0, 4.5};  // the first has not more than 2 left, the third 4
    pursuit_gains(state, rules(much, none, 0, none), pool, gains.data());
    EXPECT(gains[0] == 0 && near(gains[1], 1));
    const std::vector<double> guards{2,
                                     0.75};  // all columns are weak: drops of 4.5, .5, and of 1, 9 / 4, 0, 1
    pursuit_gains(state, rules(least, none, 10, guards), pool, gains.data());
    EXPECT(near(gains[0], 9.0 / 2) && near(gains[1], 9.0 / 4 + 1));
    std::vector<double> of_columns{1, 1, 2}, of_columns_low(3);
    const std::vector<double> of_targets{2, 1};
    fold_direction(state, {.high = of_columns.data(), .low = of_columns_low.data()}, of_targets.data(), pool);
    EXPECT((products == std::vector<double>{1, 0, 0, -1, 0, 0}));
    EXPECT((squares == std::vector<double>{1, 3, 0, 1}));
}

}  // namespace

void test_pursuit() {
    test_numbers_of_106_bits();
    test_offsets_are_taken_out();
    test_coefficients_of_near_copies();
    test_gains_and_folding();
}
