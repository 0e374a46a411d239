// Orthogonal matching pursuit: products equal plain loops, what is subtracted is gone, gains known by hand.
#include <cmath>
#include <random>
#include <vector>

#include "expect.hpp"
#include "solver/pursuit.hpp"

using namespace labelsieve;

namespace {

bool near(double a, double b) { return std::abs(a - b) < 1e-12; }

// Column 0 is (0, 3, 0, 5), column 1 is empty; both less their center, times their factor.
void test_sparse_products() {
    const std::vector<int64_t> starts{0, 2, 2};
    const std::vector<row_t> rows{1, 3};
    const std::vector<double> values{3, 5}, centers{2, 0}, factors{0.5, 1}, vector{1, 2, 3, 4};
    const LinearColumns columns{.n_rows = 4,
                                .n_columns = 2,
                                .sparse = {.starts = starts, .indices = rows, .values = values},
                                .centers = centers.data(),
                                .factors = factors.data()};
    Pool pool(1);
    std::vector<double> out(2), column(4);
    multiply(columns, vector.data(), pool, out.data());
    EXPECT(near(out[0], 0.5 * (-2.0 + 1 * 2 - 2 * 3 + 3 * 4)) && out[1] == 0);
    copy_column(columns, 0, column.data());
    EXPECT(column[0] == -1 && column[1] == 0.5 && column[2] == -1 && column[3] == 1.5);
    // Targets by rows: target 0 in rows 0 and 3, target 1 in row 1 with the value 2.
    const std::vector<int64_t> target_starts{0, 1, 2, 2, 3};
    const std::vector<row_t> targets{0, 1, 0};
    const std::vector<double> target_values{1, 2, 1};
    std::vector<double> products(4);
    multiply(columns, {.starts = target_starts, .indices = targets, .values = target_values}, 2, pool,
             products.data());
    EXPECT(near(products[0], -1 + 1.5) && near(products[1], 2 * 0.5) && products[2] == 0 && products[3] == 0);
}

void test_same_bits_on_any_number_of_threads() {
    std::mt19937_64 bits(3);
    std::normal_distribution<double> number;
    const size_t n = 3001, d = 700;
    std::vector<double> values(n * d), vector(n), one(d), two(d);
    for (double& value : values) value = number(bits);
    for (double& value : vector) value = number(bits);
    const LinearColumns columns{.n_rows = n, .n_columns = d, .dense = values.data()};
    Pool alone(1), three(3);
    multiply(columns, vector.data(), alone, one.data());
    multiply(columns, vector.data(), three, two.data());
    EXPECT(one == two);
    double plain = 0;
    for (size_t i = 0; i < n; ++i) plain += values[5 * n + i] * vector[i];
    EXPECT(std::abs(plain - one[5]) < 1e-9);
}

void test_orthogonal_after_large_multiples() {
    const std::vector<double> basis{0.6, 0.8, 0, 0, 0, 1};
    std::vector<double> vector{6e12 + 0.8, 8e12 - 0.6, 3e12};
    const double left = orthogonalize(basis.data(), 2, vector.data(), 3);
    EXPECT(std::abs(0.6 * vector[0] + 0.8 * vector[1]) < 1e-15 && std::abs(vector[2]) < 1e-15);
    EXPECT(std::abs(left - 1) < 1e-2);
}

// One feature of one column, one of two: products and squares are given, the drops follow by hand.
void test_gains_and_folding() {
    const std::vector<int64_t> starts{0, 1, 3};
    std::vector<double> products{3, 1, 2, 0, 4, 2}, squares{2, 4, 2, 5};
    const PursuitState state{
        .starts = starts, .n_targets = 2, .products = products.data(), .squares = squares.data()};
    Pool pool(2);
    const std::vector<double> least{0, 0, 0}, none{0, 0}, penalties{1, 1};
    std::vector<double> gains(2);
    pursuit_gains(state, least.data(), none.data(), pool, gains.data());
    // Of the second feature: 2^2 / 4 + (4 - 2 * 2 / 4)^2 / (5 - 2 * 2 / 4), and 0 + 2^2 / 4.
    EXPECT(near(gains[0], 9.0 / 2 + 1.0 / 2) && near(gains[1], 1 + 9.0 / 4 + 1));
    pursuit_gains(state, least.data(), penalties.data(), pool, gains.data());
    EXPECT(near(gains[0], 9.0 / 2 - 1 + 0) && near(gains[1], 1 + 9.0 / 4 - 2 + 0));
    const std::vector<double> much{2, 0, 4.5};  // the first has not more than 2 left, the third 4
    pursuit_gains(state, much.data(), none.data(), pool, gains.data());
    EXPECT(gains[0] == 0 && near(gains[1], 1));
    const std::vector<double> of_columns{1, 1, 2}, of_targets{2, 1};
    fold_direction(state, of_columns.data(), of_targets.data(), pool);
    EXPECT((products == std::vector<double>{1, 0, 0, -1, 0, 0}));
    EXPECT((squares == std::vector<double>{1, 3, 0, 1}));
}

}  // namespace

void test_pursuit() {
    test_sparse_products();
    test_same_bits_on_any_number_of_threads();
    test_orthogonal_after_large_multiples();
    test_gains_and_folding();
}
