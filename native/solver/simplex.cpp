#include "solver/simplex.hpp"

#include <algorithm>
#include <numbers>
#include <vector>

#include "simd/kernels.hpp"

namespace labelsieve {
namespace {

// A direction flatter than this share of the largest diagonal entry promises no more than one that is just so
// flat.
constexpr double flattest = 1e-12;
constexpr size_t rows_of_task = 64;

struct Problem : QuadraticProgram {
    std::vector<double> diagonal, promises;
    double least_curvature = std::numeric_limits<double>::min();

    const double* row(size_t i) const { return matrix + i * n; }

    // Never below zero for information: it is H(i|j) + H(j|i) there.
    double curvature(size_t i, size_t j) const { return diagonal[i] + diagonal[j] - 2 * row(i)[j]; }

    // The variable with weight that promises most, and the highest gradient of those.
    size_t partner(size_t to, double& highest) {
        return kernels().best_partner({.gradient = gradient,
                                       .weights = weights,
                                       .diagonal = diagonal.data(),
                                       .row_to = row(to),
                                       .n = n,
                                       .gradient_to = gradient[to],
                                       .diagonal_to = diagonal[to],
                                       .least_curvature = least_curvature,
                                       .promises = promises.data()},
                                      &highest);
    }

    // Returns the variable with the lowest gradient after it.
    size_t move(size_t from, size_t to, double weight) {
        weights[to] += weight;
        if (weight < weights[from]) {
            weights[from] -= weight;
        } else {
            weights[from] = 0;  // exactly: the weights that are zero are part of the answer
        }
        return kernels().move_gradient(row(to), row(from), weight, n, gradient);
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
    for (size_t to = size_t(std::min_element(gradient, gradient + n) - gradient);;) {
        double highest = 0;
        const size_t from = problem.partner(to, highest);
        result.violation = std::max(0.0, highest - gradient[to]);
        if (!(result.violation > tolerance) || result.steps == max_steps) return result;
        if (from == n) return result;  // only where numbers are not finite
        const double curvature = problem.curvature(to, from), slope = gradient[from] - gradient[to];
        result.curvature = std::min(result.curvature, curvature);
        const double best = curvature > 0 ? slope / curvature : weights[from];
        to = problem.move(from, to, std::min(best, weights[from]));
        ++result.steps;
    }
}

void information_of_pairs(const PairSums& pairs, double* matrix, fixed_t* totals, Pool& pool) {
    const double lowest = pairs.not_negative ? 0 : -std::numeric_limits<double>::infinity();
    const size_t n = pairs.n, n_columns = pairs.n_columns, first = pairs.first;
    const double cost = 10.0 * double(n - first) * double(n_columns);
    pool.run((n - first + rows_of_task - 1) / rows_of_task, cost, [&](size_t task, unsigned) {
        const size_t start = first + task * rows_of_task, last = std::min(n, start + rows_of_task);
        for (size_t i = start; i < last; ++i) {
            const fixed_t* sums = pairs.sums + i * n_columns;
            fixed_t total = 0;
            for (size_t j = 0; j < n_columns; ++j) {
                const fixed_t shared = sums[j] - pairs.of_rows[i] - pairs.of_columns[j];
                total += shared;
                const double bits = double(shared) / pairs.divisor / std::numbers::ln2;
                matrix[i * n + first + j] = bits > lowest ? bits : lowest;
            }
            totals[i] = total;
        }
        constexpr size_t line = cache_line / sizeof(double);
        for (size_t some = std::max(start, first + n_columns); some < last; some += line)
            for (size_t j = 0; j < n_columns; ++j)
                for (size_t i = some; i < std::min(last, some + line); ++i)
                    matrix[(first + j) * n + i] = matrix[i * n + first + j];
    });
}

}  // namespace labelsieve
