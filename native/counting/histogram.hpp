// Counting one column at a time: for columns with many levels.
#pragma once

#include "counting/terms.hpp"

namespace labelsieve {

// Sum over groups and levels of the terms of their cells. `cells` has space for every level and is zero
// before and after.
template <class Count>
fixed_t sum_cells(const code_t* codes, const Partition& groups, const Terms<Count>& terms, Count* cells);

}  // namespace labelsieve
