// Blocks of bits by rows, counted by vertical addition: a row costs a few logic operations for 512 columns
// together.
#include <algorithm>
#include <bit>

#include "counting/block.hpp"

namespace labelsieve {

namespace {

constexpr size_t rows_at_a_time = 8192;    // of 64 bytes each: half a megabyte, which the second cache holds
constexpr size_t sets_of_tall_data = 128;  // whose planes are kept while the rows go by

unsigned planes_for(size_t n) { return std::max(4u, unsigned(std::bit_width(n))); }

}  // namespace

Block::Block(size_t levels, std::vector<size_t> features, size_t round_to)
    : levels_(levels), width_((features.size() + round_to - 1) / round_to * round_to),
      pitch_((levels - 1) * width_), features_(std::move(features)) {}

size_t PositionalBlock::capacity(size_t levels) { return block_bits / (levels - 1) / 16 * 16; }

PositionalBlock::PositionalBlock(const Columns& columns, size_t levels, std::vector<size_t> features)
    : Block(levels, std::move(features)), n_rows_(columns.n_rows()),
      words_(checked_product(columns.n_rows() + 1, block_words)) {
    set_pitch(block_bits);  // planes are read 512 counters at a time
    if (const auto* sparse = dynamic_cast<const SparseColumns*>(&columns)) {
        pack(*sparse);
    } else {
        pack(dynamic_cast<const DenseColumns&>(columns));
    }
    totals_ = Buffer<count_t>(pitch());
    std::vector<row_t> all(n_rows_);
    for (size_t row = 0; row < n_rows_; ++row) all[row] = row_t(row);
    Scratch scratch;
    const RowSet set{.list = all.data(), .size = n_rows_};
    count(&set, 1, totals_.data(), scratch);
}

void PositionalBlock::pack(const DenseColumns& columns) {
    const size_t n_bits = (levels() - 1) * width();
    each_stripe(columns, *this, [&](size_t top, const uint64_t* bits) {
        const size_t rows = std::min<size_t>(64, n_rows_ - top);
        for (size_t w = 0; 64 * w < n_bits; ++w) {
            uint64_t matrix[64] = {};
            std::copy(bits + 64 * w, bits + std::min(n_bits, 64 * w + 64), matrix);
            kernels().transpose(matrix);
            for (size_t row = 0; row < rows; ++row) words_[(top + row) * block_words + w] = matrix[row];
        }
    });
}

void PositionalBlock::pack(const SparseColumns& columns) {
    for (size_t i = 0; i < features().size(); ++i)
        each_listed(columns, features()[i], [&](size_t level, row_t row) {
            const size_t bit = (level - 1) * width() + i;
            words_[row * block_words + bit / 64] |= uint64_t(1) << (bit % 64);
        });
}

void PositionalBlock::add_list(const row_t* rows, size_t n, uint64_t* planes, unsigned n_planes) const {
    const size_t whole = n / 16 * 16;
    if (whole != 0) kernels().add_rows(words_.data(), rows, whole, planes, n_planes);
    if (whole == n) return;
    row_t last[16];
    std::fill(std::copy(rows + whole, rows + n, last), last + 16, row_t(n_rows_));
    kernels().add_rows(words_.data(), last, 16, planes, n_planes);
}

size_t PositionalBlock::sets_at_a_time() const {
    return n_rows_ > 2 * rows_at_a_time ? sets_of_tall_data : 1;
}

void PositionalBlock::count(const RowSet* sets, size_t n_sets, count_t* counts, Scratch& scratch) const {
    if (n_sets == 1 || n_rows_ <= 2 * rows_at_a_time) {
        alignas(cache_line) uint64_t planes[max_planes * block_words];
        for (size_t s = 0; s < n_sets; ++s) {
            const unsigned n_planes = planes_for(sets[s].size);
            std::fill(planes, planes + n_planes * block_words, 0);
            add_list(sets[s].list, sets[s].size, planes, n_planes);
            kernels().read_planes(planes, n_planes, counts + s * pitch());
        }
        return;
    }
    // Tall data: a stretch of rows is read for all sets while it is in the cache, and every set keeps its
    // planes.
    constexpr size_t plane_pitch = max_planes * block_words;
    for (size_t first = 0; first < n_sets; first += sets_of_tall_data) {
        const size_t n = std::min(sets_of_tall_data, n_sets - first);
        scratch.planes.reserve(sets_of_tall_data * plane_pitch);
        std::fill(scratch.planes.data(), scratch.planes.data() + n * plane_pitch, 0);
        std::vector<size_t> done(n, 0);
        for (size_t end = rows_at_a_time;; end += rows_at_a_time) {
            for (size_t s = 0; s < n; ++s) {
                const RowSet& set = sets[first + s];
                const row_t* rest = set.list + done[s];
                const row_t* stop = std::lower_bound(rest, set.list + set.size, end);
                size_t now = size_t(stop - rest);
                if (end < n_rows_) now = now / 16 * 16;
                add_list(rest, now, scratch.planes.data() + s * plane_pitch, planes_for(set.size));
                done[s] += now;
            }
            if (end >= n_rows_) break;
        }
        for (size_t s = 0; s < n; ++s)
            kernels().read_planes(scratch.planes.data() + s * plane_pitch, planes_for(sets[first + s].size),
                                  counts + (first + s) * pitch());
    }
}

void PositionalBlock::add_groups(const Partition& groups, const fixed_t* table, fixed_t* sums,
                                 Scratch& scratch) const {
    scratch.counts.reserve(pitch() + width());
    count_t* level_zero = scratch.counts.data();
    count_t* counts = level_zero + width();
    for (size_t g = 0; g < groups.n_groups(); ++g) {
        const auto rows = groups.group(g);
        const RowSet set{.list = rows.data(), .size = rows.size()};
        count(&set, 1, counts, scratch);
        for (size_t i = 0; i < width(); ++i) level_zero[i] = count_t(rows.size());
        for (size_t a = 0; a + 1 < levels(); ++a)
            for (size_t i = 0; i < width(); ++i) level_zero[i] -= counts[a * width() + i];
        kernels().look_up(level_zero, levels(), width(), width(), table, sums);
    }
    for (size_t i = 0; i < width(); ++i) sums[i] += fixed_t(groups.n_singletons) * table[1];
}

}  // namespace labelsieve
