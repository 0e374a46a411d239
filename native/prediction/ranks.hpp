// Mean ranks of the numbers of columns.
#pragma once

#include <span>

namespace labelsieve {

// For every number of every column (column after column, of `n_rows`), the share of the weight of the known
// rows that is below it, counting half of what is equal; NaN where it is NaN. Without weights, every row
// weighs one.
void mid_ranks(std::span<const double> columns, size_t n_rows, const double* weights, double* ranks);

}  // namespace labelsieve
