// Linear support vector machines with squared hinge loss on sparse rows.
#pragma once

#include <functional>

#include "common/csr_view.hpp"

namespace labelsieve {

struct HingeRows {
    CsrView<int32_t, double> inputs;  // by rows
    size_t n_inputs;
    double constant;                // the first input of every row; 0: there is none
    std::span<const double> costs;  // of the rows, positive
};

// Minimizes 1/2 w'w + sum_i c_i max(0, 1 - y_i w'z_i)^2. z_i is the constant, if there is one, the inputs of
// row i, and zeros and ones: column j of `own` lists the rows in which the j-th is one. y_i is 1 where
// `present`, else -1. Returns the number of passes over the rows and of Newton's steps.
//
// Coordinate descent in the dual (Hsieh et al. 2008) with rows left out that stay outside the margin, until
// no margin is more than `tolerance` from its condition. If that takes many passes, as for dense and unscaled
// inputs, Newton's method with conjugate gradients goes on from there, until the gradient is `tolerance`
// squared of that of no weights. The order of the rows is the same in every call. `check` is called for each
// pass over the rows, and throws to stop.
size_t minimize_squared_hinge(const HingeRows& rows, const CsrView<int32_t>& own,
                              std::span<const uint8_t> present, double tolerance, std::span<double> weights,
                              const std::function<void()>& check);

}  // namespace labelsieve
