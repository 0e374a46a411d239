// The nearest rows by the first 1, 2, ... columns of a table, from distances that grow by one column at a
// time.
#pragma once

#include "neighbors/neighbors.hpp"
#include "simd/kernels.hpp"

namespace labelsieve {

// What nearest(DenseTable, ...) of neighbors.hpp answers for several sizes, for k up to most_nested (more are
// chosen better by parting all rows). Where all values are whole
// numbers and no sum of squares can exceed 16,383, two bytes hold a sum and 32 rows are compared at once;
// where each column has two neighboring ones and there are up to 63 columns, one byte holds a sum.
NeighborLists nested_nearest(const DenseTable& table, std::span<const double> queries,
                             std::span<const size_t> sizes, const NeighborSettings& how, Pool& pool);

}  // namespace labelsieve
