#include "counting/non_empty.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include "counting/features.hpp"

namespace labelsieve {

namespace {

// From `python -m benchmarks.extreme`: a visit of a common row costs about as much as two empty tables.
constexpr double tables_per_visit = 2;
constexpr size_t many_targets = 512;  // with fewer, blocks of features are as fast
constexpr double task_visits = 2e6;
// Rows of a feature lead to scattered places in memory, which are asked for in advance.
constexpr size_t ahead = 8;

inline void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(address);
#endif
}

}  // namespace

NonEmptyTables::TargetsOfRows::TargetsOfRows(const Targets& of, size_t first, size_t last)
    : starts(of.n_rows() + 1, 0), n_targets(last - first) {
    std::vector<size_t> order(n_targets);
    std::iota(order.begin(), order.end(), first);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return of.listed(a) > of.listed(b); });
    size_t total = 0;
    for (const size_t l : order) {
        if (of.classes(l) == 1) break;
        total += of.listed(l);
        for (const row_t row : of.rows(l, 1)) ++starts[row + 1];
    }
    for (size_t row = 0; row < of.n_rows(); ++row) starts[row + 1] += starts[row];
    targets.resize(total);
    std::vector<uint32_t> next(starts.begin(), starts.end() - 1);
    for (size_t number = 0; number < n_targets && of.classes(order[number]) > 1; ++number)
        for (const row_t row : of.rows(order[number], 1)) targets[next[row]++] = uint32_t(number);
}

std::vector<bool> NonEmptyTables::suited(const Columns& columns, const Targets& targets, bool always) {
    const auto* sparse = dynamic_cast<const SparseColumns*>(&columns);
    const size_t n_targets = targets.size();
    if (!sparse || n_targets >= std::numeric_limits<uint32_t>::max() || (!always && n_targets < many_targets))
        return {};
    std::vector<uint32_t> n_listing(targets.n_rows(), 0);  // targets that list a row
    size_t total = 0;
    for (size_t l = 0; l < n_targets; ++l) {
        if (targets.classes(l) > 2 || targets.known_ratio(l) != 0) return {};
        if (targets.classes(l) == 1) continue;
        total += targets.listed(l);
        for (const row_t row : targets.rows(l, 1)) ++n_listing[row];
    }
    if (total > std::numeric_limits<uint32_t>::max()) return {};
    std::vector<bool> marked(columns.size(), false);
    bool any = false;
    for (size_t k = 0; k < columns.size(); ++k) {
        if (columns.levels(k) > Features<count_t>::narrow_levels) continue;
        double visits = double(sparse->n_listed(k));
        for (const row_t row : sparse->rows(k)) visits += n_listing[row];
        marked[k] = always || visits * tables_per_visit < double(n_targets);
        any = any || marked[k];
    }
    return any ? marked : std::vector<bool>{};
}

NonEmptyTables::NonEmptyTables(const SparseColumns& columns, const std::vector<size_t>& features,
                               const Targets& targets, const fixed_t* terms, Pool& pool)
    : columns_(columns), features_(features), targets_(targets), terms_(terms), pool_(pool),
      all_(targets, 0, targets.size()) {
    double visits = 0;
    for (size_t i = 0; i < features_.size(); ++i) {
        for (const row_t row : columns_.rows(features_[i])) visits += 1 + double(all_[row].size());
        visits += 50;
        if (visits < task_visits && i + 1 < features_.size()) continue;
        task_ends_.push_back(i + 1);
        work_ += std::exchange(visits, 0);
    }
}

size_t NonEmptyTables::bytes() const {
    return all_.starts.size() * sizeof(uint32_t) + all_.targets.size() * sizeof(uint32_t);
}

// Counts of the targets that list a row of the current feature. Everything is zero between two features.
struct NonEmptyTables::Work {
    std::vector<uint32_t> touched;  // those targets
    // By target: the number of common rows; given two levels, that of all rows in the low half and of level 1
    // in the high half; and, in general, one more than its position among the touched ones.
    std::vector<uint32_t> common;
    std::vector<uint64_t> many_common;  // the same, for features with many rows
    std::vector<count_t> cells;         // in general: [touched][level given][level of the feature from 1]
    std::vector<count_t> margins;       // [level given][level of the feature from 1]

    explicit Work(size_t n_targets)
        : touched(n_targets + 1),  // one more: a target is written down before it is known to be new
          common(n_targets, 0) {}
};

struct NonEmptyTables::Call {
    static constexpr fixed_t unknown = std::numeric_limits<fixed_t>::min();

    const fixed_t* terms;
    const TargetsOfRows& targets_of;
    const uint8_t* level;         // given, of each row
    std::vector<count_t> sizes;   // rows of each level given
    std::vector<count_t> listed;  // [target][level given]: rows that the target lists
    std::vector<std::vector<std::pair<count_t, fixed_t>>> margins;  // of each level given: value, targets
    fixed_t of_targets = 0;  // cells of the targets' rarer classes, with all of their rows
    std::vector<std::vector<std::atomic<fixed_t>>> of_rest;  // [level given][margin of a feature], once known

    Call(const Given& given, const TargetsOfRows& of, const fixed_t* all_terms)
        : terms(all_terms), targets_of(of), level(given.bytes().data()), sizes(given.sizes()),
          listed(of.n_targets * given.levels(), 0), margins(given.levels()) {
        const size_t n_given = given.levels();
        for (size_t row = 0; row + 1 < of.starts.size(); ++row)
            for (const uint32_t target : of[row]) ++listed[target * n_given + level[row]];
        for (size_t v = 0; v < n_given; ++v) {
            std::vector<fixed_t> n_targets(sizes[v] + 1, 0);
            for (size_t target = 0; target < of.n_targets; ++target) {
                ++n_targets[listed[target * n_given + v]];
                of_targets += terms[listed[target * n_given + v]];
            }
            for (size_t n = 0; n < n_targets.size(); ++n)
                if (n_targets[n] != 0) margins[v].emplace_back(count_t(n), n_targets[n]);
            std::vector<std::atomic<fixed_t>> unknowns(sizes[v] + 1);
            for (auto& value : unknowns) value.store(unknown, std::memory_order_relaxed);
            of_rest.push_back(std::move(unknowns));
        }
    }

    // The cells of the rows that neither a feature of this margin nor a target lists, of all targets as if no
    // row were listed by both. A margin that leaves fewer rows than a target lists is never that of an empty
    // table: its term is taken off again by every target concerned, so that any value serves.
    fixed_t rest(size_t v, count_t margin) {
        std::atomic<fixed_t>& known = of_rest[v][margin];
        fixed_t sum = known.load(std::memory_order_relaxed);
        if (sum != unknown) return sum;
        sum = 0;
        for (const auto& [n, n_targets] : margins[v]) sum += n_targets * empty(v, margin, n);
        known.store(sum, std::memory_order_relaxed);
        return sum;
    }
    fixed_t empty(size_t v, count_t margin, count_t n) const {
        return n > sizes[v] - margin ? 0 : terms[sizes[v] - margin - n];
    }

    // The sum over all targets as if no row were listed by a target and the feature; `cells` are the rows of
    // each level given and level of the feature from 1, `margin` their sums over those levels. Also the sum
    // of the feature and the given column alone.
    fixed_t empty_tables(const count_t* margin, size_t n_levels, const count_t* cells, fixed_t& with_given) {
        fixed_t own = 0, sum = of_targets;
        with_given = 0;
        for (size_t v = 0; v < sizes.size(); ++v) {
            for (size_t a = 0; a < n_levels; ++a) own += terms[cells[v * n_levels + a]];
            with_given += terms[sizes[v] - margin[v]];
            sum += rest(v, margin[v]);
        }
        with_given += own;
        return sum + fixed_t(targets_of.n_targets) * own;
    }

    // What `common` rows change in a table, besides the cells of the feature's own levels.
    fixed_t change(size_t v, count_t margin, count_t n, count_t common) const {
        return terms[n - common] - terms[n] + terms[sizes[v] - margin - n + common] - empty(v, margin, n);
    }
};

// Two levels of the feature, and one or two of the column given: all counts of a target are in one number.
template <size_t n_given, class Packed>
fixed_t NonEmptyTables::count_pairs(Call& call, size_t feature, std::vector<uint32_t>& touched,
                                    std::vector<Packed>& in_common, fixed_t& with_given) const {
    constexpr unsigned half = 4 * sizeof(Packed);
    in_common.resize(touched.size() - 1);
    count_t margin[2] = {0, 0};
    size_t n_touched = 0;
    const auto rows = columns_.rows(feature);
    const auto codes = columns_.codes(feature);
    const TargetsOfRows& of = call.targets_of;
    for (size_t i = 0; i < rows.size(); ++i) {
        if (i + 2 * ahead < rows.size()) {
            prefetch(of.starts.data() + rows[i + 2 * ahead]);
            prefetch(of.targets.data() + of.starts[rows[i + ahead]]);
        }
        if (codes[i] == columns_.implicit(feature)) continue;
        const size_t v = n_given == 1 ? 0 : call.level[rows[i]];
        const auto more = Packed(1 + (Packed(v) << half));
        ++margin[v];
        for (const uint32_t target : of[rows[i]]) {
            touched[n_touched] = target;
            n_touched += in_common[target] == 0;
            in_common[target] += more;
        }
    }
    fixed_t sum = call.empty_tables(margin, 1, margin, with_given);
    const auto add = [&](size_t v, uint32_t target, count_t common) {
        sum += terms_[common] + terms_[margin[v] - common] - terms_[margin[v]] +
               call.change(v, margin[v], call.listed[target * n_given + v], common);
    };
    for (size_t i = 0; i < n_touched; ++i) {
        const uint32_t target = touched[i];
        if (i + 2 * ahead < n_touched) prefetch(call.listed.data() + touched[i + 2 * ahead] * n_given);
        const Packed all = std::exchange(in_common[target], Packed(0));
        if constexpr (n_given == 1) {
            add(0, target, count_t(all));
        } else {
            const auto of_level = count_t(all >> half), of_all = count_t(all & ((Packed(1) << half) - 1));
            add(0, target, of_all - of_level);
            if (of_level != 0) add(1, target, of_level);
        }
    }
    return sum;
}

// Any number of levels.
fixed_t NonEmptyTables::count_levels(Call& call, size_t feature, Work& work, fixed_t& with_given) const {
    const size_t n_given = call.sizes.size(), n_levels = std::max<size_t>(2, columns_.levels(feature)) - 1;
    const size_t n_cells = n_given * n_levels;
    work.margins.assign(n_cells, 0);
    work.cells.clear();
    size_t n_touched = 0;
    each_listed(columns_, feature, [&](size_t level, row_t row) {
        const size_t cell = call.level[row] * n_levels + level - 1;
        ++work.margins[cell];
        for (const uint32_t target : call.targets_of[row]) {
            if (work.common[target] == 0) {
                work.touched[n_touched] = target;
                work.common[target] = uint32_t(++n_touched);
                work.cells.resize(n_touched * n_cells, 0);
            }
            ++work.cells[(work.common[target] - 1) * n_cells + cell];
        }
    });
    std::vector<count_t> margin(n_given, 0);
    for (size_t v = 0; v < n_given; ++v)
        for (size_t a = 0; a < n_levels; ++a) margin[v] += work.margins[v * n_levels + a];
    fixed_t sum = call.empty_tables(margin.data(), n_levels, work.margins.data(), with_given);
    for (size_t i = 0; i < n_touched; ++i) {
        const uint32_t target = work.touched[i];
        work.common[target] = 0;
        const count_t* cells = work.cells.data() + i * n_cells;
        for (size_t v = 0; v < n_given; ++v) {
            count_t common = 0;
            for (size_t a = 0; a < n_levels; ++a) {
                const count_t cell = cells[v * n_levels + a], all = work.margins[v * n_levels + a];
                sum += terms_[cell] + terms_[all - cell] - terms_[all];
                common += cell;
            }
            sum += call.change(v, margin[v], call.listed[target * n_given + v], common);
        }
    }
    return sum;
}

void NonEmptyTables::run(const Given& given, const PanelRequest& request) {
    const bool all = request.first == 0 && request.last == targets_.size();
    const TargetsOfRows some = all ? TargetsOfRows() : TargetsOfRows(targets_, request.first, request.last);
    Call call(given, all ? all_ : some, terms_);
    const size_t n_targets = request.last - request.first;
    std::vector<Work> works;
    for (unsigned worker = 0; worker < pool_.size(); ++worker) works.emplace_back(n_targets);
    const auto count = [&](size_t k, Work& work) {
        fixed_t& pair = request.with_given[k];
        if (columns_.levels(k) > 2 || given.levels() > 2) return count_levels(call, k, work, pair);
        const bool few = columns_.n_listed(k) <= std::numeric_limits<uint16_t>::max();
        if (given.levels() == 1) return count_pairs<1>(call, k, work.touched, work.common, pair);
        return few ? count_pairs<2>(call, k, work.touched, work.common, pair)
                   : count_pairs<2>(call, k, work.touched, work.many_common, pair);
    };
    pool_.run(task_ends_.size(), 6 * work_, [&](size_t task, unsigned worker) {
        for (size_t i = task ? task_ends_[task - 1] : 0; i < task_ends_[task]; ++i)
            request.out[features_[i]] = count(features_[i], works[worker]);
    });
}

}  // namespace labelsieve
