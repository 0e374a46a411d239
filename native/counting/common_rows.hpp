// Rows that sparse features have in common with the feature selected last for a target, and with the target.
#pragma once

#include "common/csr_view.hpp"

namespace labelsieve {

// Sparse columns in which every row is listed by the columns that have it.
struct ListedColumns {
    CsrView<int32_t> by_row;            // the columns of each row
    CsrView<int64_t> by_column;         // the rows of each column
    std::span<const int32_t> group_of;  // of each column; negative: in none
    size_t n_groups;
};

struct CommonRequest {
    std::span<const int64_t> newest;  // for each target: the column that was selected for it
    CsrView<int64_t> targets;         // the rows of each target
    CsrView<int32_t> pairs;           // for each target: all columns that have a row in common with it
    int64_t* with_newest;             // of each pair: rows in common with the selected column,
    int64_t* with_both;               // and with the target as well
    int64_t* of_target;               // of each target: rows in common with its selected column
    int64_t* most;  // [target][group]: most rows that a column in no pair has in common with the selected one
};

// Writes the counts. Targets with the same selected column share the pass over its rows.
void count_common_rows(const ListedColumns& columns, const CommonRequest& request);

}  // namespace labelsieve
