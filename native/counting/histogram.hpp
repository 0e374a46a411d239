// Counting one column at a time: for columns with many levels, and for weighted rows.
#pragma once

#include "counting/partition.hpp"

namespace labelsieve {

// f(n) = n log n for weights, which are too large for a table. Only additions, multiplications and one
// division in double precision, in a fixed order, so every machine gets the same bits; the logarithms of 1 +
// i/4096 are handed in.
struct WeightedTerm {
    static constexpr size_t n_logs = 4096;
    const double* logs = nullptr;  // log(1 + i / 4096) for i < 4096, then log(2)
    double scale = 0;              // fixed point: 2^s
    fixed_t penalty = 0;           // taken off every cell that is not empty (Miller and Madow's correction)

    fixed_t operator()(uint64_t n) const;
};

// Sum over groups and levels of table[count]. `cells` has space for every level and is zero before and after.
fixed_t sum_cells(const code_t* codes, const Partition& groups, const fixed_t* table, count_t* cells);

// The same for rows that weigh `weights[row]`.
fixed_t sum_weighted_cells(const code_t* codes, const Partition& groups, const uint64_t* weights,
                           const WeightedTerm& term, uint64_t* cells);

}  // namespace labelsieve
