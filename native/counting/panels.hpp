// Panels: sums of n log n for the joint tables of all features and all targets, also within the levels of one
// more column.
//
// This is all that the layers above ask of the core. Integers come back, and sums of integers do not depend
// on their order: the same bits for any number of threads and any way of counting.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "counting/evaluate.hpp"
#include "counting/features.hpp"
#include "counting/histogram.hpp"
#include "counting/targets.hpp"

namespace labelsieve {

// Targets first <= l < last, within the levels of a given column; one level makes pairs.
struct PanelRequest {
    std::span<const uint32_t> given;  // one code below `n_given` for each entry; not needed with `feature`
    size_t n_given, first, last;
    bool reduce;          // add over the targets
    bool joint = false;   // of targets with unknown cells: the sum over the known rows, times N/K, alone
    fixed_t* with_given;  // [k]: cells of (feature k, given)
    fixed_t* out;         // [k], or [k * (last - first) + l - first]: cells of (feature k, given, target l)
    fixed_t* known = nullptr;  // like `out`, for every target: the sum over the known rows, times N/K
    const ShrunkTerms* shrunk =
        nullptr;                         // asked for instead of `out`; without targets, of (feature k, given)
    std::optional<size_t> feature = {};  // that is given, instead of a column
    size_t first_feature = 0;            // sums of earlier ones are not needed, and may be anything
};

class AnyPanels {
  public:
    virtual ~AnyPanels() = default;
    virtual void feature_sums(fixed_t* out) = 0;  // (d,)
    virtual void target_sums(fixed_t* out) = 0;   // (q,)
    virtual void run(const PanelRequest& request) = 0;
    virtual void run_each(std::span<const PanelRequest> requests) = 0;  // small ones at the same time
    virtual size_t bytes() const = 0;

    // Whether tables can be shrunk here: columns of few levels, given columns and targets of few classes that
    // are all known, and every row is one entry.
    virtual bool can_shrink(size_t n_given) const = 0;
};

class NonEmptyTables;

template <class Count>
class Panels final : public AnyPanels {
  public:
    // Deferred features are packed when tables are asked for that NonEmptyTables does not count.
    Panels(Features<Count>& features, const Targets& targets, const Terms<Count>& terms, Pool& pool);
    ~Panels() override;

    void feature_sums(fixed_t* out) override;
    void target_sums(fixed_t* out) override;
    void run(const PanelRequest& request) override;
    void run_each(std::span<const PanelRequest> requests) override;
    size_t bytes() const override;
    bool can_shrink(size_t n_given) const override;

  private:
    // Levels of every feature in every class of every target: the margins of all panels.
    struct Classes {
        std::vector<Buffer<Count>> counts;  // for each block
        Buffer<uint64_t> bits;              // the classes as bits, for blocks that want them
    };
    struct Run;   // the state of one call
    struct Lane;  // panels on one thread, with the packed data and the margins of these
    Panels(Features<Count>& features, const Targets& targets, const Terms<Count>& terms, Pool& pool,
           std::shared_ptr<Classes> classes, std::vector<size_t> class_index);
    void run_alone(const PanelRequest& request);
    void read_given(const PanelRequest& request);
    void count_classes();
    double cost(const PanelRequest& request) const;
    size_t set_index(size_t target) const { return class_index_[target]; }
    RowSet class_set(size_t target, size_t listed_class) const;

    Features<Count>& features_;
    const Targets& targets_;
    std::unique_ptr<NonEmptyTables> non_empty_;  // of the deferred features; null when there are none
    Terms<Count> terms_;
    Pool& pool_;
    std::mutex mutex_;
    std::vector<WorkerMemory<Count>> scratch_;  // one for each worker
    std::vector<size_t>
        class_index_;  // where the sets of a target begin; only targets of few classes have any
    std::shared_ptr<Classes> classes_;
    std::vector<std::unique_ptr<Lane>> lanes_;  // one for each worker, when panels are small
    // Memory of one call, kept for the next: fresh memory would cost page faults at every step.
    Given given_;
    Buffer<code_t> given_codes_;
    Buffer<uint64_t> set_words_;
    Buffer<row_t> set_rows_;
    std::vector<Buffer<Count>> given_cells_;     // for each block
    std::vector<Buffer<fixed_t>> accumulators_;  // for each worker, when targets are added up
};

}  // namespace labelsieve
