// Votes of neighbors: how many of them have each label, and the answers that a table gives for those counts.
#pragma once

#include "common/csr_view.hpp"
#include "threads/pool.hpp"

namespace labelsieve {

using RowLists = CsrView<uint32_t>;

// histograms[(b * n_labels + l) * (most + 1) + j] = how many rows without (b = 0) or with (b = 1) label l
// have j neighbors with it, or for j = most more. `neighbors` are of the rows that `labels` describes.
void label_histograms(const RowLists& neighbors, const RowLists& labels, size_t n_labels, size_t most,
                      Pool& pool, int64_t* histograms);

// answers[i * n_labels + l] = table[l * (most + 1) + j] for query i, j of whose neighbors, or for j = most
// more, have label l.
void label_answers(const RowLists& neighbors, const RowLists& labels, const double* table, size_t n_labels,
                   size_t most, Pool& pool, double* answers);

}  // namespace labelsieve
