// Sums over many rare targets of the tables of sparse features, from the non-empty tables.
//
// Rows are listed where a feature has another level than its most frequent one, and where a target is in its
// rarer class. Most features and targets have no listed row in common. The cells of such a table are margins,
// so its sum is a function of two margins, which is added up over all targets by the distinct values of
// their margins. Only tables with a common row are visited, and corrected by the difference.
#pragma once

#include <vector>

#include "counting/panels.hpp"

namespace labelsieve {

class NonEmptyTables {
  public:
    // Marks the features for which this is the fastest way, or, with `always`, all that it can count; empty
    // when there are none. Targets must have two classes at the most, all of them known.
    static std::vector<bool> suited(const Columns& columns, const Targets& targets, bool always);

    // For some features of sparse columns. Everything must stay alive.
    NonEmptyTables(const SparseColumns& columns, const std::vector<size_t>& features, const Targets& targets,
                   const fixed_t* terms, Pool& pool);

    // Whether it can answer: sums over the targets, within the levels of a column of few levels.
    static bool can_count(const PanelRequest& request) {
        return request.reduce && !request.shrunk && !request.joint && request.n_given <= Given::few_levels;
    }

    // Writes with_given[k] and out[k] of its features.
    void run(const Given& given, const PanelRequest& request);

    double work() const { return work_; }  // pairs of a listed row of a feature and one of its targets
    size_t bytes() const;

  private:
    // The targets that list a row, numbered from the most frequent one down: those share cache lines.
    struct TargetsOfRows {
        std::vector<uint32_t> starts;  // narrow, so that more of them stay in the cache
        std::vector<uint32_t> targets;
        size_t n_targets = 0;
        TargetsOfRows() = default;
        TargetsOfRows(const Targets& targets, size_t first, size_t last);
        std::span<const uint32_t> operator[](size_t row) const {
            return {targets.data() + starts[row], starts[row + 1] - starts[row]};
        }
    };
    struct Work;  // memory of one worker
    struct Call;  // what all tables of one call share
    template <size_t n_given, class Packed>
    fixed_t count_pairs(Call& call, size_t feature, std::vector<uint32_t>& touched,
                        std::vector<Packed>& in_common, fixed_t& with_given) const;
    fixed_t count_levels(Call& call, size_t feature, Work& work, fixed_t& with_given) const;

    const SparseColumns& columns_;
    const std::vector<size_t>& features_;
    const Targets& targets_;
    const fixed_t* terms_;
    Pool& pool_;
    TargetsOfRows all_;
    std::vector<size_t> task_ends_;
    double work_ = 0;
};

}  // namespace labelsieve
