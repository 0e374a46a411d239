#include "solver/simplex.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace labelsieve {
namespace {

// A direction flatter than this share of the largest diagonal entry promises no more than one that is just so
// flat.
constexpr double flattest = 1e-12;
constexpr size_t lanes = 8;  // running extremes that do not wait for each other

struct Problem : QuadraticProgram {
    std::vector<double> diagonal, promises;
    double least_curvature = std::numeric_limits<double>::min();

    const double* row(size_t i) const { return matrix + i * n; }

    // Never below zero for information: it is H(i|j) + H(j|i) there.
    double curvature(size_t i, size_t j) const { return diagonal[i] + diagonal[j] - 2 * row(i)[j]; }

    // Values that are independent of each other, and then the first of the lowest ones.
    size_t lowest() const {
        std::array<double, lanes> low;
        low.fill(std::numeric_limits<double>::infinity());
        size_t j = 0;
        for (; j + lanes <= n; j += lanes)
            for (size_t k = 0; k < lanes; ++k) low[k] = gradient[j + k] < low[k] ? gradient[j + k] : low[k];
        for (; j < n; ++j) low[0] = std::min(low[0], gradient[j]);
        const double least = *std::min_element(low.begin(), low.end());
        const double* at = std::find(gradient, gradient + n, least);
        return at == gradient + n ? 0 : size_t(at - gradient);  // none where numbers are not finite
    }

    // The variable with weight that promises most, and the highest gradient of those.
    size_t partner(size_t i, double& highest) {
        const double* q = row(i);
        const double from = gradient[i], curved = diagonal[i];
        std::array<double, lanes> high, best;
        high.fill(-std::numeric_limits<double>::infinity());
        best.fill(-1);
        const auto look = [&](size_t j, size_t k) {
            const double slope = gradient[j] - from;
            const bool has_weight = weights[j] > 0;
            const double curvature = curved + diagonal[j] - 2 * q[j];
            const double gain = slope * slope / (curvature > least_curvature ? curvature : least_curvature);
            const double promise = has_weight & (slope > 0) ? gain : -1;
            const double there = has_weight ? gradient[j] : -std::numeric_limits<double>::infinity();
            promises[j] = promise;
            best[k] = promise > best[k] ? promise : best[k];
            high[k] = there > high[k] ? there : high[k];
        };
        size_t j = 0;
        for (; j + lanes <= n; j += lanes)
            for (size_t k = 0; k < lanes; ++k) look(j + k, k);
        for (; j < n; ++j) look(j, 0);
        highest = *std::max_element(high.begin(), high.end());
        const double most = *std::max_element(best.begin(), best.end());
        if (!(most > -1)) return n;
        return size_t(std::find(promises.begin(), promises.end(), most) - promises.begin());
    }

    void move(size_t from, size_t to, double weight) {
        weights[to] += weight;
        if (weight < weights[from]) {
            weights[from] -= weight;
        } else {
            weights[from] = 0;  // exactly: the weights that are zero are part of the answer
        }
        const double *up = row(to), *down = row(from);
        for (size_t k = 0; k < n; ++k) gradient[k] += weight * (up[k] - down[k]);
    }
};

}  // namespace

PairSteps pair_steps(const QuadraticProgram& program, double tolerance, size_t max_steps) {
    PairSteps result;
    const auto [matrix, n, weights, gradient] = program;
    if (n == 0) return result;
    Problem problem{program, {}, std::vector<double>(n)};
    double largest = 0;
    for (size_t i = 0; i < n; ++i) {
        problem.diagonal.push_back(matrix[i * n + i]);
        largest = std::max(largest, problem.diagonal[i]);
    }
    problem.least_curvature = std::max(problem.least_curvature, flattest * largest);
    for (;;) {
        const size_t to = problem.lowest();
        double highest = 0;
        const size_t from = problem.partner(to, highest);
        result.violation = std::max(0.0, highest - gradient[to]);
        if (!(result.violation > tolerance) || result.steps == max_steps) return result;
        if (from == n) return result;  // only where numbers are not finite
        const double curvature = problem.curvature(to, from), slope = gradient[from] - gradient[to];
        result.curvature = std::min(result.curvature, curvature);
        const double best = curvature > 0 ? slope / curvature : weights[from];
        problem.move(from, to, std::min(best, weights[from]));
        ++result.steps;
    }
}

}  // namespace labelsieve
