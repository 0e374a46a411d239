// Logistic regressions of many labels on the same rows, each with some inputs of its own.
#pragma once

#include "common/csr_view.hpp"
#include "solver/logistic.hpp"
#include "threads/pool.hpp"

namespace labelsieve {

struct LogisticLinks {
    LogisticRows all;        // the shared inputs, then those that only some labels have
    size_t n_shared;         // of the first inputs
    CsrView<int32_t> own;    // further inputs of each label
    const uint8_t* present;  // of the labels, one after the other, in every row: 0 or 1, and both occur
};

// As minimize_logistic for each label; `weights` has those of the labels one after the other. The pool checks
// for interrupts.
void minimize_links(const LogisticLinks& links, double tolerance, size_t max_steps, std::span<double> weights,
                    std::span<LogisticEnd> ends, Pool& pool);

}  // namespace labelsieve
