// Logistic regression: the gradient vanishes at the end, for two classes and for more, scaled inputs and not.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "expect.hpp"
#include "solver/logistic.hpp"

using namespace labelsieve;

namespace {

void test_gradient(size_t n_rows, size_t n_inputs, size_t n_classes, double largest, bool separated) {
    std::mt19937_64 bits(7);
    std::normal_distribution<double> number(0, 1);
    const size_t n = n_inputs + 1, n_columns = n_classes == 2 ? 1 : n_classes;
    std::vector<double> rows(n_rows * n), costs(n_rows), gram(n * n), weights(n * n_columns, 7.0);
    std::vector<uint32_t> classes(n_rows);
    for (size_t i = 0; i < n_rows; ++i) {
        rows[i * n] = 1;
        for (size_t j = 1; j < n; ++j) rows[i * n + j] = number(bits) * (j % 2 ? 1 : largest);
        const double noise = separated ? 0 : number(bits);
        classes[i] =
            uint32_t(std::clamp(rows[i * n + 1] + noise + double(n_classes) / 2, 0.0, double(n_classes) - 1));
        costs[i] = i % 5 < 2 ? 0.5 : 2;
        for (size_t a = 0; a < n; ++a)
            for (size_t b = 0; b < n; ++b) gram[a * n + b] += costs[i] * rows[i * n + a] * rows[i * n + b];
    }
    // The same curvature in every direction: a rough guess is enough.
    std::vector<double> curvatures(n_columns, 0.2), directions(n_columns * n_columns, 0.0);
    for (size_t c = 0; c < n_columns; ++c) directions[c * n_columns + c] = 1;
    // What follows the inputs does not count.
    const size_t pitch = logistic_width(n) + 8;
    std::vector<double> padded(n_rows * pitch, 3.0);
    for (size_t i = 0; i < n_rows; ++i) std::copy_n(rows.data() + i * n, n, padded.data() + i * pitch);
    const LogisticRows given{.rows = padded.data(),
                             .n = n_rows,
                             .pitch = pitch,
                             .n_inputs = n,
                             .n_free = 1,
                             .costs = costs,
                             .gram = gram.data()};
    const LogisticClasses of_rows{
        .of_rows = classes, .curvatures = curvatures, .directions = directions.data()};
    const LogisticEnd stopped =
        minimize_logistic(given, of_rows, {.tolerance = 1e-13, .max_steps = 1, .check = [] {}}, weights);
    EXPECT(stopped.steps == 1 && !stopped.converged);
    const LogisticEnd end =
        minimize_logistic(given, of_rows, {.tolerance = 1e-13, .max_steps = 200, .check = [] {}}, weights);
    EXPECT(end.steps > 0 && end.steps < 200 && end.converged);
    std::vector<double> gradient(n * n_columns), scales(n * n_columns);
    for (size_t i = 0; i < n_rows; ++i) {
        std::vector<double> off(n_classes, 0.0);
        double all = 0;
        for (size_t c = 0; c < n_columns; ++c)
            for (size_t j = 0; j < n; ++j)
                off[n_columns == 1 ? 1 : c] += weights[c * n + j] * rows[i * n + j];
        for (double& value : off) all += value = std::exp(value);
        for (size_t c = 0; c < n_columns; ++c) {
            const size_t at = n_columns == 1 ? 1 : c;
            for (size_t j = 0; j < n; ++j) {
                gradient[c * n + j] += costs[i] * (off[at] / all - (classes[i] == at)) * rows[i * n + j];
                scales[c * n + j] += costs[i] * std::abs(rows[i * n + j]);
            }
        }
    }
    bool vanishes = true;
    for (size_t c = 0; c < n_columns; ++c)
        for (size_t j = 0; j < n; ++j)
            vanishes = vanishes && std::abs(gradient[c * n + j] + (j ? weights[c * n + j] : 0)) <
                                       1e-5 * scales[c * n + j];
    EXPECT(vanishes);
}

}  // namespace

void test_logistic() {
    test_gradient(300, 4, 2, 1, false);
    test_gradient(200, 9, 2, 1000, false);
    test_gradient(200, 3, 2, 1, true);
    test_gradient(300, 6, 4, 1, false);
    test_gradient(300, 6, 3, 50, true);
}
