// What rows weigh, and what the cells of a table add to a sum.
//
// A Count is what a cell holds: a count_t while a table has f(n) for every count, else a double that holds a
// whole number below 2^53, so that sums and differences are exact.
#pragma once

#include <numeric>
#include <type_traits>

#include "counting/partition.hpp"
#include "simd/kernels.hpp"

namespace labelsieve {

// Whole weights of rows. Blocks of bits add up numbers of 32 bits: heavy rows have a second part.
template <class Count>
class RowWeights {
  public:
    explicit RowWeights(std::span<const uint64_t> weights);

    Count operator[](size_t row) const { return values_[row]; }
    Count total() const { return total_; }

    // For every row, and one more that weighs nothing.
    const uint32_t* low() const;
    const uint32_t* high() const { return high_.data(); }  // in units of 2^high_bits; null when no row has it
    static constexpr unsigned high_bits = 26;

  private:
    Buffer<Count> values_;
    Count total_ = 0;
    Buffer<uint32_t> low_, high_;
};

// What is counted are entries: the rows of the features, or a list that names some of them several times and
// others never. Targets and given columns have one value for each entry, weights one for each row.
template <class Count>
struct Terms {
    const fixed_t* table = nullptr;              // of a count_t: f(n) for every count, 0 at 0
    WeightedTerm weighted = {};                  // of a double
    const RowWeights<Count>* weights = nullptr;  // null when every row counts once
    const row_t* rows = nullptr;                 // of every entry; null when entry i is row i

    fixed_t operator()(Count n) const {
        if constexpr (std::is_same_v<Count, count_t>) {
            return table[n];
        } else {
            return weighted_term(weighted, n);
        }
    }

    // sums[i] += the terms of cells[c * pitch + i] for n_cells cells c; n is a multiple of 8.
    void add(const Count* cells, size_t n_cells, size_t pitch, size_t n, fixed_t* sums) const {
        if constexpr (std::is_same_v<Count, count_t>) {
            kernels().look_up(cells, n_cells, pitch, n, table, sums);
        } else {
            kernels().add_terms(cells, n_cells, pitch, n, weighted, sums);
        }
    }

    Count weight(size_t row) const { return weights ? (*weights)[row] : Count(1); }
    Count weight(std::span<const row_t> listed) const {
        if (!weights) return Count(listed.size());
        return std::accumulate(listed.begin(), listed.end(), Count(0),
                               [&](Count sum, row_t row) { return sum + (*weights)[row]; });
    }

    // Makes groups of entries groups of rows, and adds up what its groups of one row count.
    void complete(Partition& groups) const;
};

// out[i] = the term of the count first + i.
void fill_terms(const WeightedTerm& term, uint64_t first, std::span<fixed_t> out);

}  // namespace labelsieve
