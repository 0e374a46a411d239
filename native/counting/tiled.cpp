// Blocks of bits by columns: a word of 64 rows is intersected and its bits counted at once.
#include <algorithm>

#include "counting/block.hpp"

namespace labelsieve {

TiledBlock::TiledBlock(const Columns& columns, size_t levels, std::vector<size_t> features)
    : Block(levels, std::move(features), nullptr, 4), n_rows_(columns.n_rows()),
      n_words_((columns.n_rows() + 63) / 64), words_(checked_product(n_words_, pitch())) {
    if (const auto* sparse = dynamic_cast<const SparseColumns*>(&columns)) {
        for (size_t i = 0; i < this->features().size(); ++i)
            each_listed(*sparse, this->features()[i], [&](size_t level, row_t row) {
                words_[((level - 1) * width() + i) * n_words_ + row / 64] |= uint64_t(1) << (row % 64);
            });
    } else {
        each_stripe(dynamic_cast<const DenseColumns&>(columns), *this, [&](size_t top, const uint64_t* bits) {
            for (size_t column = 0; column < pitch(); ++column)
                words_[column * n_words_ + top / 64] = bits[column];
        });
    }
    totals_ = Buffer<count_t>(pitch());
    for (size_t column = 0; column < pitch(); ++column)
        for (size_t w = 0; w < n_words_; ++w)
            totals_[column] += count_t(std::popcount(words_[column * n_words_ + w]));
}

void TiledBlock::count(const RowSet* sets, size_t n_sets, count_t* counts,
                       WorkerMemory<count_t>& scratch) const {
    std::fill(counts, counts + n_sets * pitch(), 0);
    // Sixteen sets at a time lie one after the other, as the kernel wants them.
    constexpr size_t together = 16;
    scratch.planes.reserve(together * n_words_);
    for (size_t first = 0; first < n_sets; first += together) {
        const size_t n = std::min(together, n_sets - first);
        for (size_t s = 0; s < n; ++s)
            std::copy(sets[first + s].bits, sets[first + s].bits + n_words_,
                      scratch.planes.data() + s * n_words_);
        const BitColumns columns{.words = words_.data(), .stride = n_words_, .size = pitch()};
        const BitColumns copied{.words = scratch.planes.data(), .stride = n_words_, .size = n};
        kernels().count_common(columns, copied, n_words_, counts + first * pitch(), pitch());
    }
}

// Groups are short lists, for which bits of all rows are the wrong form: this goes over each row's levels.
void TiledBlock::add_groups(const Partition& groups, const Terms<count_t>& terms, fixed_t* sums,
                            WorkerMemory<count_t>& scratch) const {
    scratch.counts.reserve(levels());
    count_t* counts = scratch.counts.data();
    const size_t column_step = width() * n_words_;
    for (size_t i = 0; i < features().size(); ++i) {
        const uint64_t* feature = words_.data() + i * n_words_;
        fixed_t sum = groups.singleton_sum;
        for (size_t g = 0; g < groups.n_groups(); ++g) {
            std::fill(counts, counts + levels(), 0);
            for (const size_t row : groups.group(g)) {
                size_t level = 0;
                for (size_t a = 1; a < levels(); ++a)
                    level += a * (feature[(a - 1) * column_step + row / 64] >> (row % 64) & 1);
                ++counts[level];
            }
            for (size_t a = 0; a < levels(); ++a) sum += terms(counts[a]);
        }
        sums[i] += sum;
    }
}

}  // namespace labelsieve
