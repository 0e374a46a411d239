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

template <class Count>
Block<Count>::Block(size_t levels, std::vector<size_t> features, const RowWeights<Count>* weights,
                    size_t round_to)
    : levels_(levels), width_((features.size() + round_to - 1) / round_to * round_to),
      pitch_((levels - 1) * width_), features_(std::move(features)), weights_(weights) {}

size_t positional_capacity(size_t levels) { return block_bits / (levels - 1) / 16 * 16; }

template <class Count>
PositionalBlock<Count>::PositionalBlock(const Columns& columns, size_t levels, std::vector<size_t> features,
                                        const RowWeights<Count>* weights)
    : Block<Count>(levels, std::move(features), weights), n_rows_(columns.n_rows()),
      words_(Buffer<uint64_t>::unset(checked_product(columns.n_rows() + 1, block_words))) {
    this->set_pitch(block_bits);  // planes are read 512 counters at a time
    for (size_t column = 0; column < block_bits; ++column) {
        bit_of_column_[column] = uint16_t(weights ? kernels().bit_of_column(column) : column);
        column_of_bit_[bit_of_column_[column]] = uint16_t(column);
    }
    if (const auto* sparse = dynamic_cast<const SparseColumns*>(&columns)) {
        pack(*sparse);
    } else {
        pack(dynamic_cast<const DenseColumns&>(columns));
    }
    this->totals_ = Buffer<Count>(pitch());
    std::vector<row_t> all(n_rows_);
    for (size_t row = 0; row < n_rows_; ++row) all[row] = row_t(row);
    WorkerMemory<Count> scratch;
    const RowSet set{.list = all.data(), .size = n_rows_};
    count(&set, 1, this->totals_.data(), scratch);
}

template <class Count>
void PositionalBlock<Count>::pack(const DenseColumns& columns) {
    RowMajorCodes by_rows{.codes = nullptr,
                          .row_stride = 0,
                          .n_rows = n_rows_,
                          .n_columns = features().size(),
                          .levels = levels(),
                          .width = width(),
                          .words = words_.data()};
    by_rows.codes = this->weights() ? nullptr : columns.rows_of_bytes(features(), by_rows.row_stride);
    if (by_rows.codes && n_rows_ != 0) {
        std::fill_n(words_.data() + n_rows_ * block_words, block_words, 0);
        if (kernels().pack_rows(by_rows)) return;
        // Some code is too large: the other way of packing says where.
    }
    clear();
    const size_t n_bits = (levels() - 1) * width();
    each_stripe(columns, *this, [&](size_t top, const uint64_t* bits) {
        const size_t rows = std::min<size_t>(64, n_rows_ - top);
        for (size_t w = 0; w < block_words; ++w) {
            uint64_t matrix[64] = {};
            bool empty = true;
            if (!this->weights()) {  // bits are in the order of the columns
                if (64 * w >= n_bits) break;
                std::copy(bits + 64 * w, bits + std::min(n_bits, 64 * w + 64), matrix);
                empty = false;
            } else {
                for (size_t bit = 0; bit < 64; ++bit) {
                    const size_t column = column_of_bit_[64 * w + bit];
                    if (column >= n_bits) continue;
                    matrix[bit] = bits[column];
                    empty = false;
                }
            }
            if (empty) continue;
            kernels().transpose(matrix);
            for (size_t row = 0; row < rows; ++row) words_[(top + row) * block_words + w] = matrix[row];
        }
    });
}

template <class Count>
void PositionalBlock<Count>::pack(const SparseColumns& columns) {
    clear();
    for (size_t i = 0; i < features().size(); ++i)
        each_listed(columns, features()[i], [&](size_t level, row_t row) {
            const size_t bit = bit_of_column_[(level - 1) * width() + i];
            words_[row * block_words + bit / 64] |= uint64_t(1) << (bit % 64);
        });
}

template <class Count>
void PositionalBlock<Count>::add_list(const row_t* rows, size_t n, uint64_t* planes,
                                      unsigned n_planes) const {
    const size_t whole = n / 16 * 16;
    if (whole != 0) kernels().add_rows(words_.data(), rows, whole, planes, n_planes);
    if (whole == n) return;
    row_t last[16];
    std::fill(std::copy(rows + whole, rows + n, last), last + 16, row_t(n_rows_));
    kernels().add_rows(words_.data(), last, 16, planes, n_planes);
}

template <class Count>
size_t PositionalBlock<Count>::sets_at_a_time() const {
    return n_rows_ > 2 * rows_at_a_time ? sets_of_tall_data : 1;
}

template <class Count>
void PositionalBlock<Count>::count(const RowSet* sets, size_t n_sets, Count* counts,
                                   WorkerMemory<Count>& scratch) const {
    if constexpr (std::is_same_v<Count, count_t>)
        if (!this->weights()) return count_rows(sets, n_sets, counts, scratch);
    count_weights(sets, n_sets, counts, scratch);
}

template <class Count>
void PositionalBlock<Count>::count_rows(const RowSet* sets, size_t n_sets, count_t* counts,
                                        WorkerMemory<count_t>& scratch) const {
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

template <class Count>
void PositionalBlock<Count>::add_weights(const row_t* rows, size_t n, Count* counts,
                                         WorkerMemory<Count>& scratch) const {
    WeightedRows listed{.words = words_.data(),
                        .rows = rows,
                        .size = n,
                        .zero_row = n_rows_,
                        .weights = this->weights()->low(),
                        .scale = 1,
                        .n_columns = (levels() - 1) * width()};
    if constexpr (std::is_same_v<Count, count_t>) {
        kernels().add_weights(listed, counts);
    } else {
        kernels().add_wide_weights(listed, counts);
        const uint32_t* high = this->weights()->high();
        if (!high) return;
        scratch.rows.reserve(n + 1);
        row_t* heavy = scratch.rows.data();
        size_t n_heavy = 0;
        for (size_t i = 0; i < n; ++i) {
            heavy[n_heavy] = rows[i];
            n_heavy += high[rows[i]] != 0;
        }
        if (n_heavy == 0) return;
        listed.rows = heavy;
        listed.size = n_heavy;
        listed.weights = high;
        listed.scale = double(uint64_t(1) << RowWeights<Count>::high_bits);
        kernels().add_wide_weights(listed, counts);
    }
}

// Tall data in stretches of rows, as above.
template <class Count>
void PositionalBlock<Count>::count_weights(const RowSet* sets, size_t n_sets, Count* counts,
                                           WorkerMemory<Count>& scratch) const {
    std::fill(counts, counts + n_sets * pitch(), Count(0));
    std::vector<size_t> done(n_sets, 0);
    const size_t stretch = n_sets == 1 || n_rows_ <= 2 * rows_at_a_time ? n_rows_ : rows_at_a_time;
    for (size_t end = stretch;; end += stretch) {
        for (size_t s = 0; s < n_sets; ++s) {
            const row_t *rest = sets[s].list + done[s], *last = sets[s].list + sets[s].size;
            const size_t now = size_t((end < n_rows_ ? std::lower_bound(rest, last, end) : last) - rest);
            add_weights(rest, now, counts + s * pitch(), scratch);
            done[s] += now;
        }
        if (end >= n_rows_) break;
    }
}

template <class Count>
void PositionalBlock<Count>::add_groups(const Partition& groups, const Terms<Count>& terms, fixed_t* sums,
                                        WorkerMemory<Count>& scratch) const {
    const size_t n = width(), n_counted = (levels() - 1) * n;
    scratch.counts.reserve(pitch() + n);
    Count* level_zero = scratch.counts.data();
    Count* counts = level_zero + n;
    for (size_t g = 0; g < groups.n_groups(); ++g) {
        const auto rows = groups.group(g);
        const RowSet set{.list = rows.data(), .size = rows.size()};
        count(&set, 1, counts, scratch);
        std::fill_n(level_zero, n, terms.weight(rows));
        for (size_t start = 0; start < n_counted; start += n)
            for (size_t i = 0; i < n; ++i) level_zero[i] -= counts[start + i];
        terms.add(level_zero, levels(), n, n, sums);
    }
    for (size_t i = 0; i < n; ++i) sums[i] += groups.singleton_sum;
}

template class Block<count_t>;
template class Block<double>;
template class PositionalBlock<count_t>;
template class PositionalBlock<double>;

}  // namespace labelsieve
