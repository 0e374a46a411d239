// Blocks of non-zero entries by rows: only the ones are visited.
#include <algorithm>

#include "counting/block.hpp"

namespace labelsieve {

namespace {

std::vector<size_t> features_of(const std::vector<std::unique_ptr<Block>>& blocks, size_t first,
                                size_t last) {
    std::vector<size_t> all;
    for (size_t b = first; b < last; ++b)
        all.insert(all.end(), blocks[b]->features().begin(), blocks[b]->features().end());
    return all;
}

}  // namespace

// `each` calls visit(row, feature) for every one, feature by feature or row by row: once to count them, once
// to place them.
template <class Each>
void SparseBlock::fill(size_t n_rows, Each&& each) {
    totals_ = Buffer<count_t>(pitch());
    starts_.assign(n_rows + 1, 0);
    each([&](size_t row, size_t i) {
        ++totals_[i];
        ++starts_[row + 1];
    });
    for (size_t row = 0; row < n_rows; ++row) starts_[row + 1] += starts_[row];
    offsets_.resize(starts_.back());
    std::vector<size_t> next(starts_.begin(), starts_.end() - 1);
    each([&](size_t row, size_t i) { offsets_[next[row]++] = uint16_t(i); });
}

SparseBlock::SparseBlock(const SparseColumns& columns, std::vector<size_t> features)
    : Block(2, std::move(features)) {
    fill(columns.n_rows(), [&](auto&& visit) {
        for (size_t i = 0; i < this->features().size(); ++i)
            each_listed(columns, this->features()[i], [&](size_t, row_t row) { visit(row, i); });
    });
}

SparseBlock::SparseBlock(const std::vector<std::unique_ptr<Block>>& positional, size_t first, size_t last,
                         size_t n_rows)
    : Block(2, features_of(positional, first, last)) {
    fill(n_rows, [&](auto&& visit) {
        size_t before = 0;
        for (size_t b = first; b < last; ++b) {
            dynamic_cast<const PositionalBlock&>(*positional[b]).each_bit([&](size_t row, size_t i) {
                visit(row, before + i);
            });
            before += positional[b]->features().size();
        }
    });
}

void SparseBlock::count(const RowSet* sets, size_t n_sets, count_t* counts, Scratch&) const {
    for (size_t s = 0; s < n_sets; ++s, counts += pitch()) {
        std::fill(counts, counts + pitch(), 0);
        for (size_t i = 0; i < sets[s].size; ++i) {
            const size_t row = sets[s].list[i];
            for (size_t p = starts_[row]; p < starts_[row + 1]; ++p) ++counts[offsets_[p]];
        }
    }
}

// A feature that is zero throughout a group adds table[size]; only those that are not are visited.
void SparseBlock::add_groups(const Partition& groups, const fixed_t* table, fixed_t* sums,
                             Scratch& scratch) const {
    scratch.counts.reserve(2 * pitch() +
                           1);  // one more: a feature is written down before it is known to be new
    count_t* counts = scratch.counts.data();
    count_t* touched = counts + pitch();
    std::fill(counts, counts + pitch(), 0);
    fixed_t common = fixed_t(groups.n_singletons) * table[1];
    for (size_t g = 0; g < groups.n_groups(); ++g) {
        const auto rows = groups.group(g);
        size_t n_touched = 0;
        for (const size_t row : rows)
            for (size_t p = starts_[row]; p < starts_[row + 1]; ++p) {
                touched[n_touched] = offsets_[p];
                n_touched += counts[offsets_[p]]++ == 0;
            }
        const fixed_t untouched = table[rows.size()];
        common += untouched;
        for (size_t t = 0; t < n_touched; ++t) {
            count_t& count = counts[touched[t]];
            sums[touched[t]] += table[count] + table[rows.size() - count] - untouched;
            count = 0;
        }
    }
    for (size_t i = 0; i < width(); ++i) sums[i] += common;
}

}  // namespace labelsieve
