// What is known about a column without sorting it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "discretize/values.hpp"

namespace labelsieve {

struct Range {
    double least, largest;
};

// Infinite if a value is, or if all are missing.
inline Range range_of(std::span<const double> values) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Range range{.least = infinity, .largest = -infinity};
    for (const double value : values) {  // comparisons with missing values do not hold
        range.least = value < range.least ? value : range.least;
        range.largest = value > range.largest ? value : range.largest;
    }
    return range;
}

// The distinct values that were met, in order, up to a limit.
class FewValues {
  public:
    explicit FewValues(size_t limit) : limit_(limit) {}

    // True once more than the limit were met; missing values do not count.
    bool exceeded_by(std::span<const double> values) {
        for (size_t i = 0; i < values.size() && !exceeded_; ++i) {
            if (std::isnan(values[i])) continue;
            const auto at = std::lower_bound(known_.begin(), known_.end(), values[i]);
            if (at != known_.end() && *at == values[i]) continue;
            exceeded_ = known_.size() == limit_;
            if (!exceeded_) known_.insert(at, values[i]);
        }
        return exceeded_;
    }

  private:
    size_t limit_;
    bool exceeded_ = false;
    std::vector<double> known_;
};

}  // namespace labelsieve
