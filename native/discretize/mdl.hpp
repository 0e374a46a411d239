// Entropy-minimizing cuts with the minimum description length principle (Fayyad and Irani 1993).
#pragma once

#include "counting/terms.hpp"
#include "discretize/rules.hpp"

namespace labelsieve {

// f(n) = n log n in fixed point: looked up, or computed for weights too large for a table.
struct CountTerm {
    const fixed_t* table = nullptr;
    WeightedTerm weighted{};
    fixed_t operator()(uint64_t n) const { return table ? table[n] : weighted(n); }
};

// The classes of every row: lists of any length or, without starts, one class for each row.
struct ClassesOfRows {
    CsrView<code_t> lists;
    size_t n_classes;
};

struct MdlSettings {
    WeightsOfRows weights;
    CountTerm term;
    double fixed_scale;         // of the term
    bool count_values = false;  // select among the boundaries between distinct values, not between rows
};

// One set of cuts for each problem: the columns are sorted once for all of them.
std::vector<ColumnCuts> mdl_cuts(const Values& values, std::span<const ClassesOfRows> problems,
                                 const MdlSettings& settings, const Poll& poll);

}  // namespace labelsieve
