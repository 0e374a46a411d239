// The nearest rows of a table: exact Euclidean distances, block by block, never a matrix of all pairs.
#pragma once

#include <span>
#include <vector>

#include "threads/pool.hpp"

namespace labelsieve {

struct NeighborSettings {
    size_t k;
    bool all_ties;   // every row as near as the k-th, or exactly k, the lowest rows of those that tie
    bool leave_out;  // query i is row i of the table, and no neighbor of itself
    bool squares;    // distances are told too
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
// table): list [prefix * n_queries + query]. Distances grow by the columns between two prefixes; the choice
// of the nearest is made anew for each.
NeighborLists nearest(const DenseTable& table, std::span<const double> queries, std::span<const size_t> sizes,
                      const NeighborSettings& how, Pool& pool);

struct SparseMatrix {  // compressed columns of the table, or compressed rows of the queries
    std::span<const int64_t> starts;
    std::span<const int32_t> places;
    std::span<const double> values;
};

// The same for sparse rows, over all columns. Distances are |a|^2 + |b|^2 - 2 ab: exact for whole numbers,
// else rounded.
NeighborLists nearest(const SparseMatrix& table_columns, size_t n_rows, const SparseMatrix& query_rows,
                      const NeighborSettings& how, Pool& pool);

}  // namespace labelsieve
