// One call of Panels::run: margins.cpp counts the targets of few cells, groups.cpp the others and the wide
// columns.
#pragma once

#include <algorithm>

#include "counting/panels.hpp"

namespace labelsieve {

inline constexpr size_t few_classes = 64;  // targets with more are always counted by groups
inline constexpr size_t set_memory = size_t(1)
                                     << 25;  // bytes of row lists, and of partitions, made at a time
inline constexpr double longest_task = 3e7;  // cycles: an interrupt waits for one task at the most

// The partition of the rows by the given column alone.
void group_by(const Given& given, Partition& out);

template <class Count>
struct Panels<Count>::Run {
    Panels& panels;
    const Given& given;
    const PanelRequest& request;
    std::span<const std::unique_ptr<Block<Count>>> blocks;  // that are counted
    Run(Panels& of, const Given& by, const PanelRequest& asked, size_t n_blocks)
        : panels(of), given(by), request(asked), blocks(of.features_.blocks().data(), n_blocks) {}

    std::vector<size_t> split, grouped;  // targets counted by row lists and margins, and by groups
    Buffer<uint64_t> given_bits;     // of the levels given but the most frequent, for blocks that want them
    std::vector<RowSet> sets;        // (target, class, level given) of the current targets
    std::vector<size_t> set_offset;  // of each set, in the rows or bits of all sets
    std::vector<Count> set_sizes;    // (target, class, level given) with level 0
    std::vector<size_t> set_start;   // of each current target, in `sets`
    std::vector<size_t> size_start;  // and in `set_sizes`

    const Features<Count>& features() const { return panels.features_; }
    const Targets& targets() const { return panels.targets_; }
    size_t n_given() const { return given.levels(); }
    size_t n_words() const { return (features().n_rows() + 63) / 64; }

    void assign_targets();
    // Features at the start of a block that are not needed.
    size_t skipped(const Block<Count>& block) const {
        const auto needed = [&](size_t feature) { return feature >= request.first_feature; };
        const auto& all = block.features();
        return size_t(std::find_if(all.begin(), all.end(), needed) - all.begin());
    }
    void store(const Block<Count>& block, size_t target, const fixed_t* sums, unsigned worker) {
        for (size_t i = 0; i < block.features().size(); ++i)
            store(block.features()[i], target, sums[i], worker);
    }
    void store(size_t feature, size_t target, fixed_t sum, unsigned worker) {
        if (request.reduce) {
            panels.accumulators_[worker][feature] += sum;
        } else {
            request.out[feature * (request.last - request.first) + target - request.first] = sum;
        }
    }

    // The sum over the rows in which a target is known, times N/K; where all are, the table itself.
    void store_known(size_t feature, size_t target, double ratio, fixed_t joint) {
        request.known[feature * (request.last - request.first) + target - request.first] =
            ratio == 0 ? joint : known_sum(ratio, 0, joint, 0);
    }

    // The table of a feature and a target with unknown cells, from sums over its known rows.
    fixed_t known(double ratio, size_t feature, fixed_t joint, fixed_t alone) const {
        return request.joint ? known_sum(ratio, 0, joint, 0)
                             : known_sum(ratio, request.with_given[feature], joint, alone);
    }

    void make_given_bits();
    const uint64_t* bits_of_level(size_t level) const {
        return given_bits.size() ? given_bits.data() + (level - 1) * n_words() : nullptr;
    }
    void count_given();
    void shrink_given();
    void store_shrunk(const Block<Count>& block, size_t target, const double* shrunk) {
        const size_t n_targets = std::max<size_t>(1, request.last - request.first);
        for (size_t i = 0; i < block.features().size(); ++i)
            request.shrunk->out[block.features()[i] * n_targets + target - request.first] = shrunk[i];
    }
    void make_sets(size_t from, size_t to);
    void fill_sets(size_t target, size_t at);
    void count_split(size_t from, size_t to);
    struct Range {  // targets split[from .. to) of a block
        size_t block, from, to;
    };
    void count_range(const Range& range, size_t base, unsigned worker);
    void all_split();
    void all_grouped();
    void all_wide();
};

}  // namespace labelsieve
