// The best partner of every position, when it does not fall as the position rises.
#pragma once

#include "common/types.hpp"

namespace labelsieve {

// find(j, low, high) returns the best partner of j among low .. high. It is called for every j from `first`
// to `last`, the middle one first, so that the others need to look at only some of the partners: in all about
// (last - first + high - low) log(last - first).
template <class Find>
void each_monotone(ptrdiff_t first, ptrdiff_t last, ptrdiff_t low, ptrdiff_t high, Find&& find) {
    if (first > last) return;
    const ptrdiff_t j = first + (last - first) / 2, i = find(j, low, high);
    each_monotone(first, j - 1, low, i, find);
    each_monotone(j + 1, last, i, high, find);
}

}  // namespace labelsieve
