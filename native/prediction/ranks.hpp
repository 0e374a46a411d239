// Mean ranks of the numbers of columns, and numbers of variance 1.
#pragma once

#include <span>

namespace labelsieve {

// For every number of every column (column after column, of `n_rows`), the share of the weight of the known
// rows that is below it, counting half of what is equal; NaN where it is NaN. Without weights, every row
// weighs one.
void mid_ranks(std::span<const double> columns, size_t n_rows, const double* weights, double* ranks);

// Gives the numbers of every column mean 0 and variance 1 by the weights of their rows, and at most `most`
// standard deviations. NaN becomes 0, and so does all of a column that does not vary.
void standardize(std::span<double> columns, std::span<const double> weights, double most);

}  // namespace labelsieve
