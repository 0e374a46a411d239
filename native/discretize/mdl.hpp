// Entropy-minimizing cuts with the minimum description length principle (Fayyad and Irani 1993).
#pragma once

#include "counting/histogram.hpp"
#include "discretize/rules.hpp"

namespace labelsieve {

// f(n) = n log n in fixed point: looked up, or computed for weights too large for a table.
struct CountTerm {
    const fixed_t* table = nullptr;
    WeightedTerm weighted{};
    fixed_t operator()(uint64_t n) const { return table ? table[n] : weighted(n); }
};

// The classes of every row: one, or with `starts` those from starts[row] to starts[row + 1], maybe none.
struct ClassesOfRows {
    const int64_t* starts;
    const code_t* classes;
    size_t n_classes;
};

struct MdlRule {
    bool kononenko = false;     // accept by Kononenko's (1995) code length instead
    bool count_values = false;  // choose among the boundaries between distinct values, not between rows
};

// One set of cuts for each problem: the columns are sorted once for all of them.
std::vector<ColumnCuts> mdl_cuts(const Values& values, std::span<const ClassesOfRows> problems,
                                 const WeightsOfRows& weights, const CountTerm& term, double fixed_scale,
                                 MdlRule rule, const Poll& poll);

}  // namespace labelsieve
