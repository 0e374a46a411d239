#include "solver/simplex.hpp"

#include <algorithm>
#include <vector>

namespace labelsieve {
namespace {

// A direction flatter than this share of the largest diagonal entry promises no more than one that is just so
// flat.
constexpr double flattest = 1e-12;

struct Problem : QuadraticProgram {
    std::vector<double> diagonal;
    double least_curvature = std::numeric_limits<double>::min();

    const double* row(size_t i) const { return matrix + i * n; }

    // Never below zero for information: it is H(i|j) + H(j|i) there.
    double curvature(size_t i, size_t j) const { return diagonal[i] + diagonal[j] - 2 * row(i)[j]; }

    size_t lowest() const { return size_t(std::min_element(gradient, gradient + n) - gradient); }

    double highest_with_weight() const {
        double highest = -std::numeric_limits<double>::infinity();
        for (size_t j = 0; j < n; ++j)
            if (weights[j] > 0) highest = std::max(highest, gradient[j]);
        return highest;
    }

    size_t partner(size_t i) const {
        const double* q = row(i);
        const double from = gradient[i], curved = diagonal[i];
        double best = -1;
        size_t found = n;
        for (size_t j = 0; j < n; ++j) {
            const double slope = gradient[j] - from;
            if (!(weights[j] > 0) || !(slope > 0)) continue;
            const double promise = slope * slope / std::max(curved + diagonal[j] - 2 * q[j], least_curvature);
            if (promise > best) {
                best = promise;
                found = j;
            }
        }
        return found;
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
    Problem problem{program, {}};
    double largest = 0;
    for (size_t i = 0; i < n; ++i) {
        problem.diagonal.push_back(matrix[i * n + i]);
        largest = std::max(largest, problem.diagonal[i]);
    }
    problem.least_curvature = std::max(problem.least_curvature, flattest * largest);
    for (;;) {
        const size_t to = problem.lowest();
        result.violation = std::max(0.0, problem.highest_with_weight() - gradient[to]);
        if (!(result.violation > tolerance) || result.steps == max_steps) return result;
        const size_t from = problem.partner(to);
        if (from == n) return result;  // only where numbers are not finite
        const double curvature = problem.curvature(to, from), slope = gradient[from] - gradient[to];
        result.curvature = std::min(result.curvature, curvature);
        const double best = curvature > 0 ? slope / curvature : weights[from];
        problem.move(from, to, std::min(best, weights[from]));
        ++result.steps;
    }
}

}  // namespace labelsieve
