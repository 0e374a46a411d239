// Counts themselves, not their sums of n log n: what adds up over blocks of rows, and over machines.
//
// A feature with r levels is r - 1 one-hot columns, numbered one after the other; level 0 is left out, since
// its counts follow from the others. A column is stored as a bit of every row, 512 columns to a block, or, if
// it is rarely set, in a list for every row.
#pragma once

#include <span>
#include <vector>

#include "common/csr_view.hpp"
#include "counting/columns.hpp"
#include "simd/kernels.hpp"
#include "threads/pool.hpp"

namespace labelsieve {

// Some rows of the features.
struct PackedRows {
    const uint64_t* words;  // blocks of n_rows + 1 rows of 512 bits, the last of which is zero
    size_t n_blocks, n_rows;
    CsrView<uint32_t> listed;  // columns of every row; no lists at all when there are none
    size_t n_listed;           // number of these columns

    size_t n_columns() const { return n_blocks * block_bits + n_listed; }
};

// A cell that is not counted, because it follows from the others.
inline constexpr uint32_t not_counted = std::numeric_limits<uint32_t>::max();

// Entries are rows, or a list that names some rows several times. Each has a level of the column conditioned
// on and a class of every target; the cells of a target are pairs of these.
struct RawRequest {
    std::span<const row_t> rows;           // of every entry; empty: entry i is row i
    std::span<const uint32_t> given;       // the level of every entry
    std::span<const uint32_t> given_cell;  // of every level
    size_t n_given;                        // cells of them
    const DenseColumns& targets;
    std::span<const uint32_t> class_cell;   // of every class, target after target
    std::span<const int64_t> class_starts;  // of every target in it
    std::span<const int64_t> sets;          // of every target: where its cells begin; the end
    std::span<const uint64_t> weights;      // of every row; empty: one
    // out: counts[set * n_columns + column] and sizes[set] are increased; set = first of the target +
    // class cell * n_given + given cell.
    int64_t *counts, *sizes;
};

void add_raw_counts(const PackedRows& rows, const RawRequest& request, Pool& pool);

// Sets the bits of the codes of some rows: code a of column j is bit first[j] + a - 1, in the blocks `words`
// of n_rows + 1 rows; columns with a negative `first` are left out, the others have at most
// 255 levels. Throws std::invalid_argument for a code
// that is no level.
void pack_rows(const DenseColumns& columns, std::span<const int64_t> first, uint64_t* words);

}  // namespace labelsieve
