// Support vector machines on sparse rows: the gradient vanishes at the end, for rows that take a few passes
// and for those that take Newton's steps.
#include <cmath>
#include <random>
#include <vector>

#include "expect.hpp"
#include "solver/squared_hinge.hpp"

using namespace labelsieve;

namespace {

// Rows of a constant, `n_inputs` numbers up to `largest` and one own input.
void test_gradient(size_t n_rows, size_t n_inputs, double share, double largest, double constant) {
    std::mt19937_64 bits(5);
    std::uniform_real_distribution<double> number(0, 1);
    std::vector<int64_t> starts{0}, own_starts{0};
    std::vector<int32_t> indices, own_rows;
    std::vector<double> values, costs(n_rows);
    std::vector<uint8_t> present(n_rows);
    const size_t first = constant == 0 ? 0 : 1, n = first + n_inputs + 1;
    std::vector<double> dense(n_rows * n);
    for (size_t i = 0; i < n_rows; ++i) {
        costs[i] = 0.5 + number(bits);
        present[i] = number(bits) < 0.3;
        if (first) dense[i * n] = constant;
        for (size_t j = 0; j < n_inputs; ++j) {
            if (number(bits) >= share) continue;
            indices.push_back(int32_t(j));
            values.push_back(std::pow(largest, number(bits)) * (present[i] && j % 3 == 0 ? 1 : -1));
            dense[i * n + first + j] = values.back();
        }
        starts.push_back(int64_t(indices.size()));
        if (number(bits) < 0.4) {
            own_rows.push_back(int32_t(i));
            dense[i * n + n - 1] = 1;
        }
    }
    own_starts.push_back(int64_t(own_rows.size()));
    std::vector<double> weights(n, 7.0), gradient(n), at_zero(n);
    const size_t steps =
        minimize_squared_hinge({.inputs = {.starts = starts, .indices = indices, .values = values},
                                .n_inputs = n_inputs,
                                .constant = constant,
                                .costs = costs},
                               {.starts = own_starts, .indices = own_rows}, present, 1e-6, weights, [] {});
    EXPECT(steps > 0);
    double length = 0, length_at_zero = 0;
    for (size_t i = 0; i < n_rows; ++i) {
        const double sign = present[i] ? 1 : -1;
        double predicted = 0;
        for (size_t j = 0; j < n; ++j) predicted += weights[j] * dense[i * n + j];
        const double short_by = std::max(0.0, 1 - sign * predicted);
        for (size_t j = 0; j < n; ++j) {
            gradient[j] -= 2 * costs[i] * short_by * sign * dense[i * n + j];
            at_zero[j] -= 2 * costs[i] * sign * dense[i * n + j];
        }
    }
    for (size_t j = 0; j < n; ++j) {
        length += std::pow(gradient[j] + weights[j], 2);
        length_at_zero += std::pow(at_zero[j], 2);
    }
    EXPECT(std::sqrt(length) <= 1e-5 * std::sqrt(length_at_zero));
}

}  // namespace

void test_squared_hinge() {
    test_gradient(200, 60, 0.05, 1, 1);
    test_gradient(200, 60, 0.05, 1, 0);
    test_gradient(150, 30, 1, 100, 1);  // dense and unscaled
    test_gradient(3, 0, 1, 1, 1);
}
