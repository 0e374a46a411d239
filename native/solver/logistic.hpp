// Logistic regression with a ridge penalty on dense rows, for two classes or more.
#pragma once

#include <span>

#include "common/types.hpp"

namespace labelsieve {

struct LogisticRows {
    const double* rows;  // n x n_inputs, row by row
    size_t n, n_inputs;
    size_t n_free;                  // of the first inputs, which have no penalty
    std::span<const double> costs;  // of the rows
    const double* gram;  // n_inputs x n_inputs: products of the inputs, added over the rows times their costs
};

// Classes of the rows. The curvature of the loss in the odds of the classes, at the frequencies of the
// classes, is sum_k curvatures[k] v_k v_k', with v_k row k of `directions`.
struct LogisticClasses {
    std::span<const uint32_t> of_rows;
    std::span<const double> curvatures;
    const double* directions;
};

// Lowers sum_i cost_i loss_i + 1/2 w'w, by steps of limited-memory BFGS, whose first guess of the second
// derivatives is the Gram matrix times the curvature of the classes, and the penalty. It ends when the step
// of that guess promises less than `tolerance` times the objective. Returns the number of steps.
//
// With two classes `weights` has the n_inputs log odds of class 1 against class 0, and there is one
// direction; with more, n_inputs for each class.
size_t minimize_logistic(const LogisticRows& rows, const LogisticClasses& classes, double tolerance,
                         std::span<double> weights);

}  // namespace labelsieve
