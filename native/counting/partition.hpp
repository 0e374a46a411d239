// Rows put together by the value of a variable, and the joint variable of several columns.
#pragma once

#include <span>
#include <vector>

#include "common/types.hpp"

namespace labelsieve {

// Groups of rows. Groups of one row are kept apart: whatever the feature, such a row is a cell of its own.
struct Partition {
    std::vector<row_t> rows;     // group after group
    std::vector<size_t> starts;  // of every group, and the end of the last
    std::vector<row_t> singletons;
    fixed_t singleton_sum = 0;  // of their terms: see Terms::complete

    void clear() {
        rows.clear();
        starts.assign(1, 0);
        singletons.clear();
    }
    size_t n_groups() const { return starts.size() - 1; }
    std::span<const row_t> group(size_t i) const {
        return {rows.data() + starts[i], starts[i + 1] - starts[i]};
    }
};

// Rows by (outer, inner): `inner_rows` lists all rows, sorted by the inner variable; `outer[row]` is below
// `n_outer`. `inner[row]` changes where the inner variable does. Cost: a few passes over the rows.
template <class Level>
void group_rows(std::span<const row_t> inner_rows, const uint32_t* inner, const Level* outer, size_t n_outer,
                Partition& out);

// The same for few levels of the outer variable and the rows of one value of the inner one: adds their groups
// to `out`, which has been emptied before the first value. `levels` has a level below `n_levels` for each
// row.
void add_split(std::span<const row_t> rows, const uint8_t* levels, size_t n_levels, Partition& out);

// Refines a joint variable by one more column: rows get the same number when they agree in both, in order
// of first appearance. Returns the number of levels. `joint` is overwritten.
size_t refine(std::span<uint32_t> joint, size_t n_joint, const code_t* column, size_t n_levels);

}  // namespace labelsieve
