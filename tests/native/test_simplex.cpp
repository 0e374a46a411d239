// Pairwise steps over the simplex: where they end nothing can be gained, and the answers known by hand are
// found.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "expect.hpp"
#include "solver/simplex.hpp"

using namespace labelsieve;

namespace {

struct Solved {
    std::vector<double> weights, gradient;
    PairSteps steps;
};

// From the first corner.
Solved solve(const std::vector<double>& matrix, const std::vector<double>& linear,
             size_t max_steps = 1'000'000) {
    const size_t n = linear.size();
    Solved solved{.weights = std::vector<double>(n, 0.0), .gradient = linear, .steps = {}};
    solved.weights[0] = 1;
    for (size_t i = 0; i < n; ++i) solved.gradient[i] += matrix[i * n];
    const QuadraticProgram program{.matrix = matrix.data(),
                                   .n = n,
                                   .weights = solved.weights.data(),
                                   .gradient = solved.gradient.data()};
    solved.steps = pair_steps(program, 1e-12, max_steps);
    return solved;
}

void test_known_answers() {
    const auto even = solve({1, 0, 0, 1}, {0, 0});
    EXPECT(std::abs(even.weights[0] - 0.5) < 1e-12 && even.steps.violation <= 1e-12 &&
           even.steps.curvature == 2);
    const auto corner = solve({1, 0, 0, 1}, {0, -5});
    EXPECT(corner.weights[0] == 0 && corner.weights[1] == 1);
    const auto linear =
        solve({0, 0, 0, 0, 0, 0, 0, 0, 0}, {-1, -3, -3});  // no curvature at all; the first of equals
    EXPECT(linear.weights[0] == 0 && linear.weights[1] == 1 && linear.weights[2] == 0 &&
           linear.steps.curvature == 0);
    const auto bent_down = solve({1, 2, 2, 1}, {0, -0.5});  // negative curvature: go to the end
    EXPECT(bent_down.weights[1] == 1 || bent_down.weights[0] == 1);
    EXPECT(bent_down.steps.violation <= 1e-12);
    const auto one = solve({3}, {1});
    EXPECT(one.weights[0] == 1 && one.steps.steps == 0);
    const QuadraticProgram empty{.matrix = nullptr, .n = 0, .weights = nullptr, .gradient = nullptr};
    EXPECT(pair_steps(empty, 0, 5).steps == 0);
    EXPECT(solve({1, 0, 0, 1}, {0, 0}, 0).steps.steps == 0);
    const double none = std::nan("");
    EXPECT(solve({none, none, none, none}, {0, -1}).steps.steps == 0);
}

// A'A of random A, fewer rows than columns: many answers, all with the same gradient conditions.
void test_random_problems() {
    std::mt19937_64 bits(7);
    std::uniform_real_distribution<double> number(-1, 1);
    for (const size_t n : {2, 5, 17, 60}) {
        std::vector<double> a(n * n / 2 + n), matrix(n * n, 0.0), linear(n);
        const size_t rows = a.size() / n;
        for (double& x : a) x = number(bits);
        for (double& x : linear) x = number(bits);
        for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < n; ++j)
                for (size_t r = 0; r < rows; ++r) matrix[i * n + j] += a[r * n + i] * a[r * n + j];
        const auto solved = solve(matrix, linear);
        double sum = 0, lowest = 1e9, highest = -1e9;
        for (size_t i = 0; i < n; ++i) {
            double gradient = linear[i];
            for (size_t j = 0; j < n; ++j) gradient += matrix[i * n + j] * solved.weights[j];
            EXPECT(std::abs(gradient - solved.gradient[i]) < 1e-10);
            EXPECT(solved.weights[i] >= 0);
            sum += solved.weights[i];
            lowest = std::min(lowest, gradient);
            if (solved.weights[i] > 0) highest = std::max(highest, gradient);
        }
        EXPECT(std::abs(sum - 1) < 1e-12);
        EXPECT(highest - lowest < 1e-9);
    }
}

}  // namespace

void test_simplex() {
    test_known_answers();
    test_random_problems();
}
