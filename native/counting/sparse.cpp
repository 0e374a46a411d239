// Blocks of non-zero entries by rows: only the ones are visited.
#include <algorithm>

#include "counting/block.hpp"

namespace labelsieve {

namespace {

template <class Count>
std::vector<size_t> features_of(const std::vector<std::unique_ptr<Block<Count>>>& blocks, size_t first,
                                size_t last) {
    std::vector<size_t> all;
    for (size_t b = first; b < last; ++b)
        all.insert(all.end(), blocks[b]->features().begin(), blocks[b]->features().end());
    return all;
}

}  // namespace

// `each` calls visit(row, feature) for every one, feature by feature or row by row: once to count them, once
// to place them.
template <class Count>
template <class Each>
void SparseBlock<Count>::fill(size_t n_rows, Each&& each) {
    totals_ = Buffer<Count>(pitch());
    starts_.assign(n_rows + 1, 0);
    each([&](size_t row, size_t i) {
        totals_[i] += weight(row);
        ++starts_[row + 1];
    });
    for (size_t row = 0; row < n_rows; ++row) starts_[row + 1] += starts_[row];
    offsets_.resize(starts_.back());
    std::vector<size_t> next(starts_.begin(), starts_.end() - 1);
    each([&](size_t row, size_t i) { offsets_[next[row]++] = uint16_t(i); });
}

template <class Count>
SparseBlock<Count>::SparseBlock(const SparseColumns& columns, std::vector<size_t> features,
                                const RowWeights<Count>* weights)
    : Block<Count>(2, std::move(features), weights) {
    fill(columns.n_rows(), [&](auto&& visit) {
        for (size_t i = 0; i < this->features().size(); ++i)
            each_listed(columns, this->features()[i], [&](size_t, row_t row) { visit(row, i); });
    });
}

template <class Count>
SparseBlock<Count>::SparseBlock(const std::vector<std::unique_ptr<Block<Count>>>& positional, size_t first,
                                size_t last, size_t n_rows, const RowWeights<Count>* weights)
    : Block<Count>(2, features_of(positional, first, last), weights) {
    fill(n_rows, [&](auto&& visit) {
        size_t before = 0;
        for (size_t b = first; b < last; ++b) {
            dynamic_cast<const PositionalBlock<Count>&>(*positional[b]).each_bit([&](size_t row, size_t i) {
                visit(row, before + i);
            });
            before += positional[b]->features().size();
        }
    });
}

template <class Count>
void SparseBlock<Count>::count(const RowSet* sets, size_t n_sets, Count* counts, WorkerMemory<Count>&) const {
    const auto add = [&](const RowSet& set, const auto& weight) {
        for (size_t i = 0; i < set.size; ++i) {
            const size_t row = set.list[i];
            const Count more = weight(row);
            for (size_t p = starts_[row]; p < starts_[row + 1]; ++p) counts[offsets_[p]] += more;
        }
    };
    for (size_t s = 0; s < n_sets; ++s, counts += pitch()) {
        std::fill(counts, counts + pitch(), Count(0));
        if (this->weights()) {
            add(sets[s], [&](size_t row) { return (*this->weights())[row]; });
        } else {
            add(sets[s], [](size_t) { return Count(1); });
        }
    }
}

// A feature that is zero throughout a group adds the term of its size; only those that are not are visited.
template <class Count>
void SparseBlock<Count>::add_groups(const Partition& groups, const Terms<Count>& terms, fixed_t* sums,
                                    WorkerMemory<Count>& scratch) const {
    scratch.counts.reserve(pitch());
    scratch.rows.reserve(pitch() + 1);  // one more: a feature is written down before it is known to be new
    Count* counts = scratch.counts.data();
    row_t* touched = scratch.rows.data();
    std::fill(counts, counts + pitch(), Count(0));
    fixed_t common = groups.singleton_sum;
    for (size_t g = 0; g < groups.n_groups(); ++g) {
        const auto rows = groups.group(g);
        const Count all = terms.weight(rows);
        size_t n_touched = 0;
        for (const size_t row : rows) {
            const Count more = weight(row);
            if (more == Count(0)) continue;
            for (size_t p = starts_[row]; p < starts_[row + 1]; ++p) {
                touched[n_touched] = offsets_[p];
                n_touched += counts[offsets_[p]] == Count(0);
                counts[offsets_[p]] += more;
            }
        }
        const fixed_t untouched = terms(all);
        common += untouched;
        for (size_t t = 0; t < n_touched; ++t) {
            Count& count = counts[touched[t]];
            sums[touched[t]] += terms(count) + terms(all - count) - untouched;
            count = 0;
        }
    }
    for (size_t i = 0; i < width(); ++i) sums[i] += common;
}

template class SparseBlock<count_t>;
template class SparseBlock<double>;

}  // namespace labelsieve
