// Logistic regression with a ridge penalty on dense rows, for two classes or more.
#pragma once

#include <functional>
#include <span>

#include "common/types.hpp"

namespace labelsieve {

struct LogisticRows {
    // Row by row, every `pitch` numbers: those of the inputs, then others that are finite and do not count,
    // up to a multiple of eight at least.
    const double* rows;
    size_t n, pitch, n_inputs;
    size_t n_free;                  // of the first inputs, which have no penalty
    std::span<const double> costs;  // of the rows
    const double* gram;  // n_inputs x n_inputs: products of the inputs, added over the rows times their costs
};

// Numbers of a row that the solver reads for so many inputs.
constexpr size_t logistic_width(size_t n_inputs) { return (n_inputs + 7) / 8 * 8; }

// Classes of the rows. The curvature of the loss in the odds of the classes, at the frequencies of the
// classes, is sum_k curvatures[k] v_k v_k', with v_k row k of `directions`.
struct LogisticClasses {
    std::span<const uint32_t> of_rows;
    std::span<const double> curvatures;
    const double* directions;
};

struct LogisticLimits {
    double tolerance;
    size_t max_steps;
    std::function<void()> check;  // called several times a second; throws to stop
};

struct LogisticEnd {
    size_t steps;
    bool converged;  // or only rounding is left
};

// Lowers sum_i cost_i loss_i + 1/2 w'w, by steps of limited-memory BFGS, whose first guess of the second
// derivatives is the Gram matrix times the curvature of the classes, and the penalty. It has converged when
// the step of that guess promises less than `tolerance` times the objective.
//
// With two classes `weights` has the n_inputs log odds of class 1 against class 0, and there is one
// direction; with more, n_inputs for each class.
LogisticEnd minimize_logistic(const LogisticRows& rows, const LogisticClasses& classes,
                              const LogisticLimits& limits, std::span<double> weights);

}  // namespace labelsieve
