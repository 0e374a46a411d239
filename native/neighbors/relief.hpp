// Nearest rows by the sum of absolute differences, and weighted sums of such differences: what the Relief
// family is made of.
//
// Values are whole numbers, and distances stay below 2^53, so every sum of differences is exact: the order in
// which features are added, the instruction set, and whether zeros are stored cannot change a neighbor.
#pragma once

#include <memory>

#include "common/csr_view.hpp"
#include "threads/pool.hpp"

namespace labelsieve {

inline constexpr size_t references_at_once = 4;  // rows whose distances are found together
inline constexpr size_t lane_doubles = 8;        // a dense row is padded with zeros to a multiple
inline constexpr row_t no_row = std::numeric_limits<row_t>::max();  // where a group has too few rows

// Rows of numbers, dense or sparse. They view memory of the caller.
class Points {
  public:
    Points(size_t n_rows, size_t n_columns) : n_rows_(n_rows), n_columns_(n_columns) {}
    virtual ~Points() = default;

    size_t n_rows() const { return n_rows_; }
    size_t n_columns() const { return n_columns_; }

    // Doubles of memory that a worker needs to compute distances.
    virtual size_t scratch() const = 0;
    // out[r * n_rows + j] = distance of references[r] and row j, for up to `references_at_once` references.
    virtual void distances(std::span<const row_t> references, double* scratch, double* out) const = 0;
    // A guess at the cycles of the distances from one reference.
    virtual double cost() const = 0;
    // sums[c] += factor * |left[c] - right[c]|
    virtual void add_difference(row_t left, row_t right, double factor, double* sums) const = 0;

  private:
    size_t n_rows_, n_columns_;
};

// Row after row, `width` doubles each: a multiple of `lane_doubles`, zeros after the last column.
std::unique_ptr<Points> dense_points(const double* values, size_t n_rows, size_t n_columns, size_t width);

// The same matrix by rows and by columns, indices in order, zeros left out.
using SparsePointsView = CsrView<uint32_t, double>;
std::unique_ptr<Points> sparse_points(const SparsePointsView& by_rows, const SparsePointsView& by_columns);

// out[(r * n_groups + g) * k + i]: the i-th nearest row of group g to references[r], other than itself; of
// rows at the same distance the lowest comes first. Unfilled entries are `no_row`.
//
// Cost: the distances from each reference to all rows, then one comparison for every row of every group.
// Memory: a few distances for each row and worker; never those of all pairs.
void nearest_rows(const Points& points, std::span<const row_t> references, const CsrView<row_t>& groups,
                  size_t k, Pool& pool, row_t* out);

// With n neighbors for each reference, sums[c] += sum over r, i of factors[r * n + i] * |references[r][c] -
// neighbors[r * n + i][c]|, the same bits on any number of threads. Entries of `no_row` are skipped; a row
// listed twice for one reference costs one pass.
void add_differences(const Points& points, std::span<const row_t> references,
                     std::span<const row_t> neighbors, std::span<const double> factors, Pool& pool,
                     double* sums);

}  // namespace labelsieve
