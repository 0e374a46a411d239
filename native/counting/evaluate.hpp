// From counts to sums of n log n, for all features of a block and one target.
#pragma once

#include "counting/block.hpp"

namespace labelsieve {

// What was counted for one target: cells (a, v, b) with a, v, b >= 1, and the margins from which the others
// follow.
template <class Count>
struct TargetCounts {
    size_t classes;
    size_t given;              // levels of the column conditioned on; 1 when there is none
    const Count* counted;      // [(b - 1) * (given - 1) + (v - 1)] sets, each `pitch` of the block
    const Count* with_class;   // [(b - 1)] sets: levels of the features in each class
    const Count* given_sizes;  // [(b - 1) * given + v]: rows of each class at each level given
};

// The table of every feature and the column conditioned on: cells[(a * given + v) * width + i].
template <class Count>
void fill_given_cells(const Block<Count>& block, const Count* counted, const Count* given_sizes, size_t given,
                      Count* cells, WorkerMemory<Count>& scratch);

// sums[i] += sum over the cells of (feature i, given, target) of the terms of their counts. Of a target with
// unknown cells, class 1 is left out, and unless `alone` is null, alone[i] += the same sum over the cells of
// (feature i, given) of the other classes. The first features of the block, `skipped` of them, need no sums.
template <class Count>
void add_target(const Block<Count>& block, const TargetCounts<Count>& counts, const Count* given_cells,
                const Terms<Count>& terms, bool has_unknown, size_t skipped, fixed_t* sums, fixed_t* alone,
                WorkerMemory<Count>& scratch);

// Sums of entropies of whole tables, shrunk towards uniform ones: see ShrunkTables.
struct ShrunkTerms {
    double factors[8];
    double n_rows;
    const double* logs;
    double* out;  // [k], or [k * n_targets + l] for target l of those asked for
};

// out[i] = the sum for (feature i, given, target).
template <class Count>
void shrink_target(const Block<Count>& block, const TargetCounts<Count>& counts, const Count* given_cells,
                   const ShrunkTerms& terms, double* out, WorkerMemory<Count>& scratch);

// accumulator[k] += constant + fixed[k] + pair_factor * pair[k] + triple_factor * triple[k]: what a newly
// selected feature adds to a sum over the selected. `fixed` may be null.
struct PanelTerms {
    fixed_t constant;
    const fixed_t* fixed;
    fixed_t pair_factor, triple_factor;
};
void fold_panel(const PanelTerms& terms, const fixed_t* pair, const fixed_t* triple, size_t n_features,
                fixed_t* accumulator);

}  // namespace labelsieve
