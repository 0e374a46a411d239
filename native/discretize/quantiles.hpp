// Boundaries at quantiles of a column, without sorting it.
#pragma once

#include <functional>

#include "discretize/values.hpp"

namespace labelsieve {

// Finds, for i = 1 .. n_bins - 1, the boundary between neighboring values that has nearest to i/n_bins of the
// rows below it, the lower of two, and adds a point between its values to `points`.
//
// Values are counted in buckets of equal width; only those of the buckets next to a quantile are sorted. A
// bucket does not fall as the value rises, so the boundaries are exact. Cost: three passes over the column
// and the sort of, usually, a few thousandths of it. The column is read in pieces, and no memory of its size
// is needed.
class QuantileCuts {
  public:
    using Visit = std::function<void(std::span<const double>)>;
    using EachPiece = std::function<void(const Visit&)>;

    // False, with `points` as they were, if the column must be sorted instead: zeros that are not listed, few
    // rows, an infinite range, no more distinct values than bins, a boundary nearest to several quantiles, or
    // most values in few buckets.
    bool cut(const Column& column, size_t n_bins, std::vector<double>& points);
    // A column without unlisted zeros.
    bool cut(const EachPiece& each_piece, size_t n_rows, size_t n_bins, std::vector<double>& points);

  private:
    std::vector<uint32_t> counts_, below_;
    std::vector<uint8_t> wanted_;
    std::vector<double> sorted_;
};

}  // namespace labelsieve
