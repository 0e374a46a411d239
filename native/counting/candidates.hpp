// Candidates of a forward search whose scores can only fall as features are selected, so that most of them
// need not be counted: a score that is out of date is an upper bound.
//
// The score of feature f is the sum over the targets y of the least value, over the selected features s, of a
// sum of tables of (f, y, s). Every candidate keeps these least values and how many selected features they
// account for, and is brought up to date alone, by intersecting columns of bits. Sums of integers do not
// depend on their order: scores have the same bits as when the panels of all features are counted.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "common/scratch.hpp"
#include "counting/targets.hpp"
#include "simd/kernels.hpp"

namespace labelsieve {

// The factors of the tables of a set of variables: bit 0 of the index stands for the candidate, 1 for the
// target and 2 for the selected feature.
using TableFactors = std::array<fixed_t, 8>;

struct FallingScore {
    TableFactors body;  // whose least value over the selected features is taken
    bool has_limit;     // the least value is at most a sum of tables without selected features
    TableFactors limit;
    bool positive;  // least values below 0 count as 0
};

class Candidates {
  public:
    // `table` has n log n of every count and must stay alive, the columns need not. Rows count once.
    Candidates(const Columns& features, const Columns& targets, const fixed_t* table, Pool& pool);

    size_t size() const { return levels_.size(); }
    size_t n_targets() const { return first_set_.size() - 1; }
    size_t bytes() const;

    // Sums over the cells of the tables of every feature and of every target.
    void single_sums(fixed_t* of_features, fixed_t* of_targets) const;
    // out[k * n_targets + l]: cells of (feature k, target l); or added over the targets, out[k].
    void pair_sums(bool reduce, fixed_t* out);

    // Before the first feature is selected.
    void begin(const FallingScore& score);
    void select(size_t feature);
    size_t n_selected() const { return selected_.size(); }

    // The first of the available candidates with the largest score; its score is exact, and what is known of
    // the others suffices to say so. Scores are compared as totals divided by `divisor`, where two may become
    // equal.
    size_t find_best(const uint8_t* available, double divisor);

    // Brings some candidates up to date.
    void advance(std::span<const uint32_t> features);

    // For every candidate, its score or an upper bound, and whether it is the score.
    std::span<const fixed_t> totals() const { return totals_; }
    bool is_exact(size_t feature) const {
        return depths_[feature] == selected_.size() || (score_.positive && totals_[feature] == 0);
    }

    // Tables (candidate, selected feature) that were counted, each with all targets.
    uint64_t n_counted() const;

  private:
    struct Selected {
        size_t feature;
        std::vector<fixed_t> constant;  // what does not depend on the candidate, for every target
        Buffer<uint64_t> within;  // rows of each level, and of each class within it; empty when never needed
    };
    struct Memory {  // of one worker
        Buffer<count_t> counts, left;
        std::vector<fixed_t> sums, pairs;
        uint64_t n_counted = 0;
    };

    void pack(const Columns& columns);
    void pack_listed(const SparseColumns& columns, size_t feature);
    void pack_columns(const DenseColumns& columns, std::span<const size_t> features);
    void pack_tile(const DenseColumns& columns, std::span<const uint8_t> codes, size_t stride, size_t rows,
                   size_t word, size_t first, size_t last);
    void read_targets(const Columns& columns);
    void count_margins(size_t feature);
    void count_lists(size_t feature, const Selected& given, count_t* counts) const;
    void add_cell(const count_t* in_sets, count_t all, fixed_t* sums) const;
    void add_pair(size_t feature, Memory& memory, fixed_t* sums) const;
    fixed_t alone(size_t feature) const;
    fixed_t limit_of(size_t target, fixed_t own, const fixed_t* pairs) const;
    double list_cost(size_t feature, size_t given) const;
    double word_cost(size_t feature, size_t given) const;
    void advance_once(size_t feature, Memory& memory);
    uint64_t* words(size_t feature) { return words_.data() + first_column_[feature] * n_words_; }
    const uint64_t* words(size_t feature) const { return words_.data() + first_column_[feature] * n_words_; }
    const count_t* margins(size_t feature) const {
        return margins_.data() + first_column_[feature] * n_sets_;
    }
    const count_t* sizes(size_t feature) const { return sizes_.data() + first_column_[feature]; }

    Pool& pool_;
    const fixed_t* table_;
    size_t n_rows_, n_words_;           // words of a column of bits: whole cache lines
    std::vector<size_t> levels_;        // of every feature, at least 2
    std::vector<size_t> first_column_;  // of every feature: it has a column for each level but the first
    Scratch<uint64_t> words_;
    Scratch<count_t> sizes_, margins_;  // rows of every column: all of them, and those in each set
    std::vector<double> listed_;        // rows of every feature that are in one of its columns

    // A set is a class of a target other than its most frequent one.
    size_t n_sets_ = 0;
    bool one_set_each_ = true;
    std::vector<size_t> first_set_;  // of every target, and the end
    Buffer<uint64_t> set_words_;
    std::vector<count_t> set_sizes_;
    std::vector<size_t> row_starts_;  // sets that each row is in
    std::vector<uint32_t> row_sets_;
    std::vector<fixed_t> target_sums_;

    FallingScore score_{};
    std::vector<Selected> selected_;
    std::vector<uint32_t> depths_;  // selected features that each candidate accounts for
    std::vector<fixed_t> totals_;
    Scratch<fixed_t> least_;  // [candidate * n_targets + target]; undefined until the first one is counted
    std::vector<Memory> memory_;
};

}  // namespace labelsieve
