#include "panels.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace labelsieve {

namespace {

constexpr std::size_t few_classes = 64;                         // targets with more are always counted by groups
constexpr std::size_t class_memory = std::size_t(1) << 28;      // bytes of class counts that are kept rather than recounted
constexpr std::size_t set_memory = std::size_t(1) << 25;        // bytes of row lists, and of partitions, made at a time
constexpr double short_work = 6e5;                              // cycles: below, waking a thread costs more than it brings
constexpr double longest_task = 3e7;                            // cycles: an interrupt waits for one task at the most

// Consecutive items in one task until it is worth the name.
std::vector<std::size_t> cut(const std::vector<double>& cost, double limit) {
    std::vector<std::size_t> ends;
    double sum = 0;
    for (std::size_t i = 0; i < cost.size(); ++i) {
        sum += cost[i];
        if (sum >= limit || i + 1 == cost.size()) {
            ends.push_back(i + 1);
            sum = 0;
        }
    }
    return ends;
}

// Rows in the order of the first variable, as `group_rows` wants them, for the partition by the given column alone.
void group_by(const Given& given, bool keep_alone, Partition& out) {
    std::vector<row_t> rows(given.codes().size());
    std::iota(rows.begin(), rows.end(), row_t(0));
    const std::vector<std::uint32_t> same(rows.size(), 0);
    group_rows(rows, same.data(), given.codes().data(), given.levels(), keep_alone, out);
}

}  // namespace

struct Panels::Run {
    Panels& panels;
    const Given& given;
    std::size_t first, last;
    bool reduce;
    fixed_t* with_given;
    fixed_t* out;

    std::vector<std::size_t> split, grouped;      // targets counted by lists of rows and margins, and by groups
    std::vector<Buffer<count_t>> given_cells;     // for each block
    std::vector<std::vector<fixed_t>> accounts;   // for each worker, when targets are added up
    std::vector<row_t> set_rows;
    Buffer<std::uint64_t> set_bits_buffer;
    std::vector<Rows> sets;                       // (target, class, level given) of the targets at hand
    std::vector<count_t> set_sizes;               // (target, class, level given) with level 0
    std::vector<std::size_t> set_start;           // of each target at hand

    const Features& features() const { return panels.features_; }
    const Targets& targets() const { return panels.targets_; }
    std::size_t n_given() const { return given.levels(); }
    std::size_t n_words() const { return (features().n_rows() + 63) / 64; }

    void choose() {
        const std::size_t n_rows = features().n_rows();
        for (std::size_t l = first; l < last; ++l) {
            const std::size_t classes = targets().classes(l);
            const bool by_margins = given.few() && classes <= few_classes && n_given() * classes <= std::max<std::size_t>(64, n_rows / 8);
            (by_margins ? split : grouped).push_back(l);
        }
    }

    void store(const Block& block, std::size_t target, const fixed_t* sums, unsigned worker) {
        for (std::size_t i = 0; i < block.features().size(); ++i) store(block.features()[i], target, sums[i], worker);
    }
    void store(std::size_t feature, std::size_t target, fixed_t sum, unsigned worker) {
        if (reduce) {
            accounts[worker][feature] += sum;
        } else {
            out[feature * (last - first) + target - first] = sum;
        }
    }

    void count_given();
    void make_sets(std::size_t from, std::size_t to);
    void fill_sets(std::size_t target, std::size_t at);
    void count_split(std::size_t from, std::size_t to);
    void count_range(const Block& block, std::size_t b, std::size_t from, std::size_t to, std::size_t base, unsigned worker);
    void all_split();
    void all_grouped();
    void all_wide();
};

Panels::Panels(const Features& features, const Targets& targets, Terms terms, Pool& pool)
    : features_(features), targets_(targets), terms_(terms), pool_(pool), scratch_(pool.size()) {
    class_index_.assign(1, 0);
    for (std::size_t l = 0; l < targets.size(); ++l) {
        const std::size_t classes = targets.classes(l);
        class_index_.push_back(class_index_.back() + (classes <= few_classes ? classes - 1 : 0));
    }
}

std::size_t Panels::bytes() const {
    std::size_t total = features_.bytes() + targets_.bytes() + class_bits_.size() * sizeof(std::uint64_t);
    for (const auto& counts : with_class_) total += counts.size() * sizeof(count_t);
    return total;
}

// Levels of every feature in every class of every target: the margins of all panels, counted once and kept unless huge.
void Panels::count_classes() {
    if (features_.wants_bits() && class_bits_.size() == 0) {
        const std::size_t n_words = (features_.n_rows() + 63) / 64;
        class_bits_ = Buffer<std::uint64_t>(checked_product(class_index_.back(), n_words));
        for (std::size_t l = 0; l < targets_.size(); ++l)
            for (std::size_t c = 0; c < class_index_[l + 1] - class_index_[l]; ++c)
                set_bits(targets_.rows(l, c + 1), class_bits_.data() + (class_index_[l] + c) * n_words);
    }
    if (!with_class_.empty()) return;
    std::size_t total = 0;
    for (const auto& block : features_.blocks()) total += block->pitch();
    if (total != 0 && class_index_.back() > class_memory / sizeof(count_t) / total) return;
    const std::size_t n_blocks = features_.blocks().size(), n_words = (features_.n_rows() + 63) / 64;
    std::vector<Buffer<count_t>> counted(n_blocks);
    for (std::size_t b = 0; b < n_blocks; ++b) counted[b] = Buffer<count_t>(class_index_.back() * features_.blocks()[b]->pitch());
    std::vector<Rows> sets;
    double rows = 0;
    for (std::size_t l = 0; l < targets_.size(); ++l)
        for (std::size_t c = 0; c < class_index_[l + 1] - class_index_[l]; ++c) {
            const auto list = targets_.rows(l, c + 1);
            rows += double(list.size()) + 100;
            sets.push_back({list.data(), list.size(), class_bits_.size() ? class_bits_.data() + (class_index_[l] + c) * n_words : nullptr});
        }
    const std::size_t at_a_time = std::clamp<std::size_t>(std::size_t(longest_task / 10 * double(sets.size()) / (rows + 1)), 1, 256);
    const std::size_t n_ranges = (sets.size() + at_a_time - 1) / at_a_time;
    pool_.run(n_blocks * n_ranges, rows * 8 * double(n_blocks) < short_work, [&](std::size_t task, unsigned worker) {
        const std::size_t b = task / n_ranges, from = task % n_ranges * at_a_time, to = std::min(sets.size(), from + at_a_time);
        const Block& block = *features_.blocks()[b];
        block.count(sets.data() + from, to - from, counted[b].data() + from * block.pitch(), scratch_[worker]);
    });
    with_class_ = std::move(counted);
}

// The tables of every feature with the given column: needed for the cells of the most frequent class, and wanted by itself.
void Panels::Run::count_given() {
    const auto& blocks = features().blocks();
    given_cells.resize(blocks.size());
    std::vector<Rows> levels;
    Partition groups;
    Buffer<std::uint64_t> bits;
    if (given.few()) {
        if (features().wants_bits()) bits = Buffer<std::uint64_t>((n_given() - 1) * n_words());
        for (std::size_t v = 1; v < n_given(); ++v) {
            const auto rows = given.rows(v);
            std::uint64_t* words = bits.size() ? bits.data() + (v - 1) * n_words() : nullptr;
            if (words) set_bits(rows, words);
            levels.push_back({rows.data(), rows.size(), words});
        }
    } else {
        group_by(given, false, groups);
    }
    const fixed_t* table = panels.terms_.table;
    const double cost = double(features().n_rows()) * 5 * double(blocks.size());
    panels.pool_.run(blocks.size(), cost < short_work, [&](std::size_t b, unsigned worker) {
        const Block& block = *blocks[b];
        Scratch& scratch = panels.scratch_[worker];
        Buffer<fixed_t> sums(block.width());
        if (given.few()) {
            given_cells[b] = Buffer<count_t>(block.levels() * n_given() * block.width());
            scratch.counts.reserve(n_given() * block.pitch());
            block.count(levels.data(), levels.size(), scratch.counts.data(), scratch);
            fill_given_cells(block, scratch.counts.data(), given.sizes().data(), n_given(), given_cells[b].data());
            kernels().look_up(given_cells[b].data(), block.levels() * n_given(), block.width(), block.width(), table, sums.data());
        } else {
            block.add_groups(groups, table, sums.data(), scratch);
        }
        for (std::size_t i = 0; i < block.features().size(); ++i) with_given[block.features()[i]] = sums[i];
    });
}

// The rows of every class at every level of the given column but its most frequent.
void Panels::Run::fill_sets(std::size_t target, std::size_t at) {
    const std::size_t n_classes = targets().classes(target), levels = n_given();
    count_t* sizes = set_sizes.data() + set_start[at] / (levels - 1) * levels;
    for (std::size_t c = 1; c < n_classes; ++c, sizes += levels) {
        Rows* set = sets.data() + set_start[at] + (c - 1) * (levels - 1);
        const auto rows = targets().rows(target, c);
        if (features().wants_bits()) {
            const std::uint64_t* members = panels.class_bits_.data() + (panels.set_index(target) + c - 1) * n_words();
            sizes[0] = count_t(rows.size());
            for (std::size_t v = 1; v < levels; ++v) {
                auto* words = const_cast<std::uint64_t*>(set[v - 1].bits);
                const std::uint64_t* at_level = set_bits_buffer.data() + (v - 1) * n_words();
                count_t size = 0;
                for (std::size_t w = 0; w < n_words(); ++w) {
                    words[w] = members[w] & at_level[w];
                    size += count_t(std::popcount(words[w]));
                }
                set[v - 1].size = sizes[v] = size;
                sizes[0] -= size;
            }
            continue;
        }
        const std::uint8_t* level = given.bytes().data();
        if (levels == 2) {  // every row is written and kept or overwritten: no branch to mispredict
            auto* list = const_cast<row_t*>(set[0].list);
            std::size_t n = 0;
            for (const row_t row : rows) {
                list[n] = row;
                n += level[row];
            }
            set[0].size = n;
        } else {
            row_t* next[Given::few_levels];
            row_t ignored = 0;
            next[0] = &ignored;
            for (std::size_t v = 1; v < levels; ++v) next[v] = const_cast<row_t*>(set[v - 1].list);
            for (const row_t row : rows) {
                const std::uint8_t v = level[row];
                *next[v] = row;
                next[v] += v != 0;
            }
            for (std::size_t v = 1; v < levels; ++v) set[v - 1].size = std::size_t(next[v] - set[v - 1].list);
        }
        sizes[0] = count_t(rows.size());
        for (std::size_t v = 1; v < levels; ++v) {
            sizes[v] = count_t(set[v - 1].size);
            sizes[0] -= sizes[v];
        }
    }
}

// Sets for the targets split[from .. to).
void Panels::Run::make_sets(std::size_t from, std::size_t to) {
    const std::size_t levels = n_given();
    set_start.assign(1, 0);
    sets.clear();
    set_sizes.clear();
    if (levels == 1) {  // nothing to count: the classes themselves are the sets
        for (std::size_t t = from; t < to; ++t)
            for (std::size_t c = 1; c < targets().classes(split[t]); ++c) set_sizes.push_back(count_t(targets().rows(split[t], c).size()));
        return;
    }
    std::vector<std::size_t> place;
    std::size_t room = 0;
    std::vector<double> cost;
    for (std::size_t t = from; t < to; ++t) {
        for (std::size_t c = 1; c < targets().classes(split[t]); ++c)
            for (std::size_t v = 1; v < levels; ++v) {
                place.push_back(room);
                const std::size_t most = std::min<std::size_t>(targets().rows(split[t], c).size(), given.sizes()[v]);
                room += features().wants_bits() ? n_words() : most + 1;
            }
        set_start.push_back(place.size());
        cost.push_back(double(targets().listed(split[t])) * 1.5 + 50);
    }
    sets.resize(place.size());
    set_sizes.resize(place.size() / (levels - 1) * levels);
    if (features().wants_bits()) {
        const std::size_t given_words = (levels - 1) * n_words();
        set_bits_buffer = Buffer<std::uint64_t>(given_words + room);
        for (std::size_t v = 1; v < levels; ++v) set_bits(given.rows(v), set_bits_buffer.data() + (v - 1) * n_words());
        for (std::size_t s = 0; s < sets.size(); ++s) sets[s].bits = set_bits_buffer.data() + given_words + place[s];
    } else {
        if (set_rows.size() < room) set_rows.resize(room);
        for (std::size_t s = 0; s < sets.size(); ++s) sets[s].list = set_rows.data() + place[s];
    }
    const double all = std::accumulate(cost.begin(), cost.end(), 0.0);
    const auto ends = cut(cost, std::max(1e5, all / (4.0 * panels.pool_.size())));
    panels.pool_.run(ends.size(), all < short_work, [&](std::size_t task, unsigned) {
        for (std::size_t t = task ? ends[task - 1] : 0; t < ends[task]; ++t) fill_sets(split[from + t], t);
    });
}

// Counts and evaluates the targets split[from .. to) for one block; `base` is the first target that has sets now.
void Panels::Run::count_range(const Block& block, std::size_t b, std::size_t from, std::size_t to, std::size_t base, unsigned worker) {
    Scratch& scratch = panels.scratch_[worker];
    const std::size_t levels = n_given(), pitch = block.pitch();
    const bool kept = !panels.with_class_.empty();
    scratch.sums.reserve(block.width());
    const auto sets_of = [&](std::size_t t) { return levels == 1 ? 0 : set_start[t - base]; };
    for (std::size_t t = from, stop; t < to; t = stop) {
        // As many targets as the block likes to count at a time, at least one.
        for (stop = t + 1; stop < to && sets_of(stop + 1) - sets_of(t) <= block.sets_at_a_time();) ++stop;
        const std::size_t n_sets = sets_of(stop) - sets_of(t);
        scratch.counts.reserve(n_sets * pitch + 1);
        if (n_sets != 0) block.count(sets.data() + sets_of(t), n_sets, scratch.counts.data(), scratch);
        for (std::size_t at = t; at < stop; ++at) {
            const std::size_t l = split[at], classes = targets().classes(l);
            const count_t* with_class = nullptr;
            if (kept) {
                with_class = panels.with_class_[b].data() + panels.set_index(l) * pitch;
            } else {
                scratch.touched.reserve((classes - 1) * pitch + 1);
                scratch.sets.clear();
                for (std::size_t c = 1; c < classes; ++c) {
                    const auto rows = targets().rows(l, c);
                    const std::uint64_t* bits = panels.class_bits_.size() ? panels.class_bits_.data() + (panels.set_index(l) + c - 1) * n_words() : nullptr;
                    scratch.sets.push_back({rows.data(), rows.size(), bits});
                }
                block.count(scratch.sets.data(), classes - 1, scratch.touched.data(), scratch);
                with_class = scratch.touched.data();
            }
            const count_t* sizes = levels == 1 ? nullptr : set_sizes.data() + sets_of(at) / (levels - 1) * levels;
            std::vector<count_t> class_sizes;
            if (levels == 1) {
                for (std::size_t c = 1; c < classes; ++c) class_sizes.push_back(count_t(targets().rows(l, c).size()));
                sizes = class_sizes.data();
            }
            std::fill(scratch.sums.data(), scratch.sums.data() + block.width(), 0);
            add_target(block, {classes, levels, scratch.counts.data() + (sets_of(at) - sets_of(t)) * pitch, with_class, sizes},
                       given_cells[b].data(), panels.terms_.table, scratch.sums.data(), scratch);
            store(block, l, scratch.sums.data(), worker);
        }
    }
}

void Panels::Run::count_split(std::size_t from, std::size_t to) {
    make_sets(from, to);
    struct Range {
        std::size_t block, from, to;
    };
    std::vector<Range> ranges;
    const auto& blocks = features().blocks();
    std::vector<std::vector<double>> cost(blocks.size());
    double all = 0;
    for (std::size_t b = 0; b < blocks.size(); ++b)
        for (std::size_t t = from; t < to; ++t) {
            const std::size_t classes = targets().classes(split[t]);
            const double cells = double(blocks[b]->levels() * n_given() * classes * blocks[b]->width());
            cost[b].push_back(double(targets().listed(split[t])) * (n_given() > 1 ? 4 : 0) + 2 * cells);
            all += cost[b].back();
        }
    const double limit = std::clamp(all / (6.0 * panels.pool_.size()), 1e5, longest_task);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        std::size_t start = from;
        for (const std::size_t end : cut(cost[b], limit)) {
            ranges.push_back({b, start, from + end});
            start = from + end;
        }
    }
    panels.pool_.run(ranges.size(), all < short_work, [&](std::size_t task, unsigned worker) {
        const Range& range = ranges[task];
        count_range(*blocks[range.block], range.block, range.from, range.to, from, worker);
    });
}

void Panels::Run::all_split() {
    for (std::size_t from = 0, to; from < split.size(); from = to) {
        std::size_t bytes = 0;
        for (to = from; to < split.size() && (to == from || bytes < set_memory); ++to)
            bytes += n_given() == 1 ? 0
                     : features().wants_bits()
                         ? (targets().classes(split[to]) - 1) * (n_given() - 1) * n_words() * sizeof(std::uint64_t)
                         : targets().listed(split[to]) * sizeof(row_t);
        count_split(from, to);
    }
}

void Panels::Run::all_grouped() {
    const auto& blocks = features().blocks();
    constexpr std::size_t together = 4;  // blocks of a task, which makes its partition itself
    const std::size_t n_ranges = (blocks.size() + together - 1) / together;
    struct Buffers {
        std::vector<std::uint32_t> classes;
        std::vector<row_t> sorted;
    };
    std::vector<Buffers> buffers(panels.pool_.size());
    const double cost = double(grouped.size()) * double(blocks.size()) * double(features().n_rows()) * 20;
    panels.pool_.run(grouped.size() * n_ranges, cost < short_work, [&](std::size_t task, unsigned worker) {
        const std::size_t l = grouped[task / n_ranges], start = task % n_ranges * together;
        Scratch& scratch = panels.scratch_[worker];
        targets().expand(l, buffers[worker].classes, buffers[worker].sorted);
        group_rows(buffers[worker].sorted, buffers[worker].classes.data(), given.codes().data(), n_given(), false, scratch.partition);
        for (std::size_t b = start; b < std::min(blocks.size(), start + together); ++b) {
            scratch.sums.reserve(blocks[b]->width());
            std::fill(scratch.sums.data(), scratch.sums.data() + blocks[b]->width(), 0);
            blocks[b]->add_groups(scratch.partition, panels.terms_.table, scratch.sums.data(), scratch);
            store(*blocks[b], l, scratch.sums.data(), worker);
        }
    });
}

// Columns with many levels, and every column when rows are weighted.
void Panels::Run::all_wide() {
    const auto& wide = features().wide();
    const std::size_t n_rows = features().n_rows(), n_targets = last - first;
    if (wide.empty()) return;
    const bool weighted = panels.terms_.weights != nullptr;
    std::size_t most_levels = 1;
    for (const std::size_t k : wide) most_levels = std::max<std::size_t>(most_levels, features().columns().levels(k));
    std::vector<std::vector<std::uint64_t>> cells(panels.pool_.size());
    const auto sum = [&](const code_t* codes, const Partition& groups, unsigned worker) {
        auto& room = cells[worker];
        if (room.empty()) room.assign(most_levels, 0);
        if (weighted) return sum_weighted_cells(codes, groups, panels.terms_.weights, panels.terms_.weighted, room.data());
        return sum_cells(codes, groups, panels.terms_.table, reinterpret_cast<count_t*>(room.data()));
    };
    Partition alone;
    group_by(given, weighted, alone);
    const std::size_t at_a_time = std::max<std::size_t>(1, set_memory / sizeof(row_t) / std::max<std::size_t>(1, n_rows));
    std::vector<Partition> groups(std::min(n_targets, at_a_time));
    for (std::size_t from = first; from < last || from == first; from += at_a_time) {
        const std::size_t to = std::min(last, from + at_a_time);
        const double cost = double(to - from + 1) * double(n_rows) * 4;
        panels.pool_.run(to - from, cost < short_work, [&](std::size_t task, unsigned) {
            std::vector<std::uint32_t> classes;
            std::vector<row_t> sorted;
            targets().expand(from + task, classes, sorted);
            group_rows(sorted, classes.data(), given.codes().data(), n_given(), weighted, groups[task]);
        });
        const std::size_t columns = std::clamp<std::size_t>(std::size_t(longest_task / cost), 1, 16);
        const std::size_t n_tasks = (wide.size() + columns - 1) / columns;
        panels.pool_.run(n_tasks, cost * double(wide.size()) < short_work, [&](std::size_t task, unsigned worker) {
            Scratch& scratch = panels.scratch_[worker];
            const std::size_t start = task * columns, stop = std::min(wide.size(), start + columns);
            scratch.codes.reserve(columns * n_rows);
            if (wide[stop - 1] - wide[start] == stop - 1 - start) {
                features().columns().read(wide[start], wide[stop - 1] + 1, scratch.codes.data());
            } else {
                for (std::size_t i = start; i < stop; ++i)
                    features().columns().read(wide[i], wide[i] + 1, scratch.codes.data() + (i - start) * n_rows);
            }
            for (std::size_t i = start; i < stop; ++i) {
                const code_t* codes = scratch.codes.data() + (i - start) * n_rows;
                if (from == first) with_given[wide[i]] = sum(codes, alone, worker);
                for (std::size_t l = from; l < to; ++l) store(wide[i], l, sum(codes, groups[l - from], worker), worker);
            }
        });
        if (from >= last) break;
    }
}

void Panels::run(const Given& given, std::size_t first, std::size_t last, bool reduce, fixed_t* with_given, fixed_t* out) {
    std::lock_guard lock(mutex_);
    Run run{*this, given, first, last, reduce, with_given, out, {}, {}, {}, {}, {}, {}, {}, {}, {}};
    if (reduce) {
        std::fill(out, out + features_.size(), 0);
        run.accounts.assign(pool_.size(), std::vector<fixed_t>(features_.size(), 0));
    }
    if (!features_.blocks().empty()) {
        run.choose();
        if (!run.split.empty()) count_classes();
        run.count_given();
        run.all_split();
        run.all_grouped();
    }
    run.all_wide();
    for (const auto& account : run.accounts)
        for (std::size_t k = 0; k < account.size(); ++k) out[k] += account[k];
}

void Panels::feature_sums(fixed_t* out) {
    const std::vector<std::uint32_t> same(features_.n_rows(), 0);
    const Given constant(same, 1);
    std::vector<fixed_t> none(features_.size());
    run(constant, 0, 0, true, out, none.data());
}

void Panels::target_sums(fixed_t* out) {
    for (std::size_t l = 0; l < targets_.size(); ++l) {
        if (!terms_.weights) {
            out[l] = targets_.sum(l, terms_.table);
            continue;
        }
        std::vector<std::uint32_t> classes;
        std::vector<row_t> sorted;
        targets_.expand(l, classes, sorted);
        std::vector<std::uint64_t> weights(targets_.classes(l), 0);
        for (std::size_t row = 0; row < classes.size(); ++row) weights[classes[row]] += terms_.weights[row];
        out[l] = 0;
        for (const std::uint64_t weight : weights) out[l] += terms_.weighted(weight);
    }
}

}  // namespace labelsieve
