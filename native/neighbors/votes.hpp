// What labels neighbors have: how often, and what that tells.
#pragma once

#include <span>

#include "threads/pool.hpp"

namespace labelsieve {

struct RowLists {  // list i is places[starts[i]] to places[starts[i + 1] - 1]
    std::span<const int64_t> starts;
    std::span<const uint32_t> places;
    size_t size() const { return starts.size() - 1; }
    std::span<const uint32_t> operator[](size_t i) const {
        return places.subspan(size_t(starts[i]), size_t(starts[i + 1] - starts[i]));
    }
};

// histograms[(b * n_labels + l) * (most + 1) + j] = how many rows without (b = 0) or with (b = 1) label l
// have j neighbors with it, or for j = most more. `neighbors` are of the rows that `labels` describes.
void label_histograms(const RowLists& neighbors, const RowLists& labels, size_t n_labels, size_t most,
                      Pool& pool, int64_t* histograms);

// answers[i * n_labels + l] = table[l * (most + 1) + j] for query i, j of whose neighbors, or for j = most
// more, have label l.
void label_answers(const RowLists& neighbors, const RowLists& labels, const double* table, size_t n_labels,
                   size_t most, Pool& pool, double* answers);

}  // namespace labelsieve
