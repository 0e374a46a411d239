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

inline bool has_more_values(std::span<const double> values, size_t limit) {
    std::vector<double> known;
    for (const double value : values) {
        if (std::isnan(value)) continue;
        const auto at = std::lower_bound(known.begin(), known.end(), value);
        if (at != known.end() && *at == value) continue;
        if (known.size() == limit) return true;
        known.insert(at, value);
    }
    return false;
}

}  // namespace labelsieve
