#include "counting/panels.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "counting/non_empty.hpp"
#include "counting/run.hpp"

namespace labelsieve {

namespace {

constexpr size_t class_memory = size_t(1) << 28;  // bytes of class counts that are kept rather than recounted

// From `python -m benchmarks.strategies`: margins save rows and groups save empty cells, so with many cells
// groups win.
constexpr size_t few_cells = 64, rows_per_cell = 16;

constexpr size_t rows_of_part = 16384;  // of a feature that is given, read at a time

}  // namespace

template <class Count>
Panels<Count>::Panels(Features<Count>& features, const Targets& targets, const Terms<Count>& terms,
                      Pool& pool)
    : features_(features), targets_(targets), terms_(terms), pool_(pool), scratch_(pool.size()),
      classes_(std::make_shared<Classes>()) {
    class_index_.assign(1, 0);
    for (size_t l = 0; l < targets.size(); ++l) {
        const size_t classes = targets.classes(l);
        class_index_.push_back(class_index_.back() + (classes <= few_classes ? classes - 1 : 0));
    }
    if constexpr (std::is_same_v<Count, count_t>) {
        if (const auto& listed = features.deferred(); !listed.empty())
            non_empty_ = std::make_unique<NonEmptyTables>(
                dynamic_cast<const SparseColumns&>(features.columns()), listed, targets, terms.table, pool);
    }
}

template <class Count>
size_t Panels<Count>::bytes() const {
    size_t total = features_.bytes() + targets_.bytes() + classes_->bits.size() * sizeof(uint64_t);
    for (const auto& counts : classes_->counts) total += counts.size() * sizeof(Count);
    return total + (non_empty_ ? non_empty_->bytes() : 0);
}

template <class Count>
RowSet Panels<Count>::class_set(size_t target, size_t listed_class) const {
    const auto rows = targets_.rows(target, listed_class);
    const size_t n_words = (features_.n_rows() + 63) / 64, set = class_index_[target] + listed_class - 1;
    const Buffer<uint64_t>& bits = classes_->bits;
    return {.list = rows.data(),
            .size = rows.size(),
            .bits = bits.size() != 0 ? bits.data() + set * n_words : nullptr};
}

// Counted once and kept unless huge.
template <class Count>
void Panels<Count>::count_classes() {
    if (features_.wants_bits() && classes_->bits.size() == 0) {
        const size_t n_words = (features_.n_rows() + 63) / 64;
        auto bits = Buffer<uint64_t>(checked_product(class_index_.back(), n_words));
        pool_.run(targets_.size(), 2 * double(targets_.n_rows()), [&](size_t l, unsigned) {
            for (size_t c = 0; c < class_index_[l + 1] - class_index_[l]; ++c)
                set_bits(targets_.rows(l, c + 1), bits.data() + (class_index_[l] + c) * n_words);
        });
        classes_->bits = std::move(bits);
    }
    const size_t n_blocks = features_.blocks().size();
    if (classes_->counts.size() == n_blocks) return;
    classes_->counts.clear();
    size_t total = 0;
    for (const auto& block : features_.blocks()) total += block->pitch();
    if (total != 0 && class_index_.back() > class_memory / sizeof(Count) / total) return;
    std::vector<Buffer<Count>> counted(n_blocks);
    for (size_t b = 0; b < n_blocks; ++b)
        counted[b] = Buffer<Count>::unset(class_index_.back() * features_.blocks()[b]->pitch());
    std::vector<RowSet> sets;
    double rows = 0;
    for (size_t l = 0; l < targets_.size(); ++l)
        for (size_t c = 0; c < class_index_[l + 1] - class_index_[l]; ++c) {
            sets.push_back(class_set(l, c + 1));
            rows += double(sets.back().size) + 100;
        }
    // Sets of a task, so that an interrupt does not wait long for it.
    const size_t at_a_time =
        std::clamp<size_t>(size_t(longest_task / 10 * double(sets.size()) / (rows + 1)), 1, 256);
    const size_t n_ranges = (sets.size() + at_a_time - 1) / at_a_time;
    pool_.run(n_blocks * n_ranges, rows * 8 * double(n_blocks), [&](size_t task, unsigned worker) {
        const size_t b = task / n_ranges, from = task % n_ranges * at_a_time,
                     to = std::min(sets.size(), from + at_a_time);
        const Block<Count>& block = *features_.blocks()[b];
        block.count(sets.data() + from, to - from, counted[b].data() + from * block.pitch(),
                    scratch_[worker]);
    });
    classes_->counts = std::move(counted);
}

template <class Count>
void Panels<Count>::Run::assign_targets() {
    for (size_t l = request.first; l < request.last; ++l) {
        const size_t classes = targets().classes(l);
        const bool by_margins =
            request.shrunk ||
            (!features().by_groups() && !panels.terms_.rows && given.few() && classes <= few_classes &&
             n_given() * classes <= std::max(few_cells, features().n_rows() / rows_per_cell));
        (by_margins ? split : grouped).push_back(l);
    }
}

// A guess at the cycles of a panel, to decide whether it is worth waking threads.
template <class Count>
double Panels<Count>::cost(const PanelRequest& request) const {
    const size_t first = request.first, last = request.last;
    double listed = double(features_.n_rows());
    for (size_t l = first; l < last; ++l) listed += double(targets_.listed(l));
    const double cells = double(features_.size()) * double(last - first);
    return 4 * listed * double(features_.blocks().size()) + 8 * cells +
           4 * double(features_.wide().size()) * double(last - first + 1) * double(features_.n_rows());
}

template <class Count>
struct Panels<Count>::Lane {
    Pool pool{1};
    Panels panels;
    explicit Lane(const Panels& of)
        : panels(of.features_, of.targets_, of.terms_, pool, of.classes_, of.class_index_) {}
};

template <class Count>
Panels<Count>::Panels(Features<Count>& features, const Targets& targets, const Terms<Count>& terms,
                      Pool& pool, std::shared_ptr<Classes> classes, std::vector<size_t> class_index)
    : features_(features), targets_(targets), terms_(terms), pool_(pool), scratch_(pool.size()),
      class_index_(std::move(class_index)), classes_(std::move(classes)) {}

template <class Count>
Panels<Count>::~Panels() = default;

template <class Count>
void Panels<Count>::run(const PanelRequest& request) {
    const std::scoped_lock lock(mutex_);
    run_alone(request);
}

// A panel that is a good part of the work uses all threads; of the others, each thread takes one at a time.
template <class Count>
void Panels<Count>::run_each(std::span<const PanelRequest> requests) {
    const std::scoped_lock lock(mutex_);
    std::vector<double> costs;
    for (const PanelRequest& request : requests) costs.push_back(cost(request));
    const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
    std::vector<const PanelRequest*> small;
    for (size_t i = 0; i < requests.size(); ++i) {
        if (pool_.size() > 1 && costs[i] * 4 * pool_.size() < all) {
            small.push_back(&requests[i]);
        } else {
            run_alone(requests[i]);
        }
    }
    if (small.empty()) return;
    const Pool::KeepAwake awake(pool_, all);
    features_.pack_deferred(pool_);
    count_classes();
    while (lanes_.size() < pool_.size()) lanes_.push_back(std::make_unique<Lane>(*this));
    pool_.run(small.size(), all,
              [&](size_t task, unsigned worker) { lanes_[worker]->panels.run_alone(*small[task]); });
}

template <class Count>
void Panels<Count>::read_given(const PanelRequest& request) {
    if (!request.feature) return given_.assign(request.given, {}, request.n_given, pool_);
    const size_t n = features_.n_rows(), n_parts = (n + rows_of_part - 1) / rows_of_part;
    given_codes_.reserve(n);
    pool_.run(n_parts, double(n), [&](size_t part, unsigned) {
        const size_t from = part * rows_of_part;
        features_.columns().read_rows(*request.feature, from, std::min(n, from + rows_of_part),
                                      given_codes_.data() + from);
    });
    const std::span<const row_t> rows =
        terms_.rows ? std::span(terms_.rows, targets_.n_rows()) : std::span<const row_t>();
    given_.assign(std::span<const code_t>(given_codes_.data(), n), rows, request.n_given, pool_);
}

template <class Count>
void Panels<Count>::run_alone(const PanelRequest& request) {
    // First, so that threads wake up while the given column is read.
    const Pool::KeepAwake awake(pool_, cost(request));
    read_given(request);
    const bool by_tables = non_empty_ && NonEmptyTables::can_count(request);
    if (!by_tables) features_.pack_deferred(pool_);
    given_cells_.resize(features_.blocks().size());
    accumulators_.resize(pool_.size());
    Run run(*this, given_, request, by_tables ? features_.n_first_blocks() : features_.blocks().size());
    // Threads add up in separate arrays. Sums are integers, so the order in which these are joined does not
    // matter.
    if (request.reduce) {
        std::fill(request.out, request.out + features_.size(), 0);
        for (auto& accumulator : accumulators_) {
            accumulator.reserve(features_.size());
            std::fill(accumulator.data(), accumulator.data() + features_.size(), 0);
        }
    }
    if (!run.blocks.empty()) {
        run.assign_targets();
        if (!run.split.empty()) count_classes();
        run.count_given();
        if (request.shrunk && request.first == request.last) run.shrink_given();
        run.all_split();
        run.all_grouped();
    }
    if (!features_.wide().empty()) given_.need_codes();
    run.all_wide();
    if (!request.reduce) return;
    for (const auto& accumulator : accumulators_)
        for (size_t k = 0; k < features_.size(); ++k) request.out[k] += accumulator[k];
    if (by_tables) non_empty_->run(given_, request);
}

template <class Count>
bool Panels<Count>::can_shrink(size_t n_given) const {
    bool few = features_.wide().empty() && !terms_.rows && n_given <= Given::few_levels;
    for (size_t l = 0; l < targets_.size(); ++l)
        few = few && targets_.classes(l) <= few_classes && targets_.known_ratio(l) == 0;
    return few;
}

template <class Count>
void Panels<Count>::feature_sums(fixed_t* out) {
    const std::vector<uint32_t> same(targets_.n_rows(), 0);
    std::vector<fixed_t> none(features_.size());
    run({.given = same,
         .n_given = 1,
         .first = 0,
         .last = 0,
         .reduce = true,
         .with_given = out,
         .out = none.data()});
}

template <class Count>
void Panels<Count>::target_sums(fixed_t* out) {
    std::vector<uint32_t> classes;
    std::vector<row_t> sorted;
    for (size_t l = 0; l < targets_.size(); ++l) {
        std::vector<Count> cells(targets_.classes(l), 0);
        if (terms_.weights) {
            targets_.expand(l, classes, sorted);
            for (size_t entry = 0; entry < classes.size(); ++entry)
                cells[classes[entry]] += terms_.weight(terms_.rows ? terms_.rows[entry] : entry);
        } else {
            cells[0] = Count(targets_.n_rows() - targets_.listed(l));
            for (size_t c = 1; c < cells.size(); ++c) cells[c] = Count(targets_.rows(l, c).size());
        }
        const double ratio = targets_.known_ratio(l);
        const Count all = std::accumulate(cells.begin(), cells.end(), Count(0));
        const Count unknown = ratio == 0 ? Count(0) : std::exchange(cells[1], Count(0));
        out[l] = 0;
        for (const Count cell : cells) out[l] += terms_(cell);
        if (ratio != 0) out[l] = known_sum(ratio, terms_(all), out[l], terms_(all - unknown));
    }
}

template class Panels<count_t>;
template class Panels<double>;

}  // namespace labelsieve
