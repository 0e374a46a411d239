// The nearest rows of a table: exact Euclidean distances, block by block, never a matrix of all pairs.
#pragma once

#include <vector>

#include "common/csr_view.hpp"
#include "threads/pool.hpp"

namespace labelsieve {

struct NeighborSettings {
    size_t k;
    bool all_ties;        // every row as near as the k-th, or exactly k, the lowest rows of those that tie
    bool leave_out;       // query i is row i of the table, and no neighbor of itself
    bool squares;         // return squared distances too
    bool single = false;  // nested searches may round numbers and distances to single precision
};

// Lists of rows, nearest first, ties in order of rows. List i ends at ends[i].
struct NeighborLists {
    std::vector<uint64_t> ends;
    std::vector<row_t> rows;
    std::vector<double> squares;  // squared distances, or none
};

struct DenseTable {
    const double* columns;  // column after column
    size_t n_rows, n_columns;
};

// For every prefix of the columns named by `sizes` (ascending) and every query (row after row, as wide as the
// table): list [prefix * n_queries + query]. Distances grow by the columns between two prefixes; the nearest
// are selected anew for each.
NeighborLists nearest(const DenseTable& table, std::span<const double> queries, std::span<const size_t> sizes,
                      const NeighborSettings& settings, Pool& pool);

// The same for k up to most_nested, from distances that grow by one column at a time (for larger k selecting
// from all rows is faster). Where all values are integers and no sum of squares can exceed 16,383, two bytes
// hold a sum and 32 rows are compared at once; where each column has two neighboring values and there are up
// to 63 columns, one byte does.
NeighborLists nested_nearest(const DenseTable& table, std::span<const double> queries,
                             std::span<const size_t> sizes, const NeighborSettings& settings, Pool& pool);

// The k nearest rows of queries, from the products of each query with all rows, query after query, and from
// the squared lengths of the rows and of the queries. Rows with an infinite length are neighbors only where
// there are no others. Ties in order of rows; k is at most most_nested and the number of rows.
std::vector<row_t> nearest_of_products(std::span<const float> products, std::span<const float> lengths,
                                       const float* points, size_t k);

// The same for sparse rows, over all columns: the table by columns, the queries by rows. Distances are
// |a|^2 + |b|^2 - 2 ab: exact for integers, else rounded.
using SparseNumbers = CsrView<int32_t, double>;
NeighborLists nearest(const SparseNumbers& table_columns, size_t n_rows, const SparseNumbers& query_rows,
                      const NeighborSettings& settings, Pool& pool);

}  // namespace labelsieve
