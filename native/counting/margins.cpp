// Targets of few cells: counted for the rarer classes within the rarer levels given, the rest by subtraction.
#include <algorithm>
#include <bit>
#include <numeric>

#include "counting/run.hpp"

namespace labelsieve {

namespace {

// Ends of tasks of consecutive items, each of at least the cost `limit`.
std::vector<size_t> cut_tasks(const std::vector<double>& cost, double limit) {
    std::vector<size_t> ends;
    double sum = 0;
    for (size_t i = 0; i < cost.size(); ++i) {
        sum += cost[i];
        if (sum >= limit || i + 1 == cost.size()) {
            ends.push_back(i + 1);
            sum = 0;
        }
    }
    return ends;
}

}  // namespace

template <class Count>
void Panels<Count>::Run::make_given_bits() {
    if (!features().wants_bits() || n_given() == 1) return;
    given_bits = Buffer<uint64_t>((n_given() - 1) * n_words());
    panels.pool_.run(n_given() - 1, 2 * double(given.n_rows()), [&](size_t level, unsigned) {
        set_bits(given.rows(level + 1), given_bits.data() + level * n_words());
    });
}

// The tables of every feature with the given column: needed for the cells of the most frequent class, and
// wanted by itself.
template <class Count>
void Panels<Count>::Run::count_given() {
    std::vector<RowSet> levels;
    std::vector<Count> sizes(given.sizes().begin(), given.sizes().end());
    Partition groups;
    const bool by_lists = given.few() && !panels.terms_.rows;
    if (by_lists) {
        make_given_bits();
        for (size_t v = 1; v < n_given(); ++v)
            levels.push_back(
                {.list = given.rows(v).data(), .size = given.rows(v).size(), .bits = bits_of_level(v)});
        if (panels.terms_.weights) {
            sizes[0] = panels.terms_.weights->total();
            for (size_t v = 1; v < n_given(); ++v) sizes[0] -= sizes[v] = panels.terms_.weight(given.rows(v));
        }
    } else {
        group_by(given, groups);
        panels.terms_.complete(groups);
    }
    const double cost = double(targets().n_rows()) * 5 * double(blocks.size());
    panels.pool_.run(blocks.size(), cost, [&](size_t b, unsigned worker) {
        const Block<Count>& block = *blocks[b];
        WorkerMemory<Count>& scratch = panels.scratch_[worker];
        scratch.sums.reserve(block.width());
        fixed_t* sums = scratch.sums.data();
        std::fill(sums, sums + block.width(), 0);
        if (by_lists) {
            panels.given_cells_[b].reserve(block.levels() * n_given() * block.width());
            scratch.counts.reserve(n_given() * block.pitch());
            block.count(levels.data(), levels.size(), scratch.counts.data(), scratch);
            fill_given_cells(block, scratch.counts.data(), sizes.data(), n_given(),
                             panels.given_cells_[b].data(), scratch);
            panels.terms_.add(panels.given_cells_[b].data(), block.levels() * n_given(), block.width(),
                              block.width(), sums);
        } else {
            block.add_groups(groups, panels.terms_, sums, scratch);
        }
        for (size_t i = 0; i < block.features().size(); ++i)
            request.with_given[block.features()[i]] = sums[i];
    });
}

// Whole tables of the features and the given column.
template <class Count>
void Panels<Count>::Run::shrink_given() {
    const double cost = 100 * double(features().size()) * double(n_given());
    panels.pool_.run(blocks.size(), cost, [&](size_t b, unsigned worker) {
        WorkerMemory<Count>& scratch = panels.scratch_[worker];
        const Block<Count>& block = *blocks[b];
        scratch.shrunk.reserve(block.width());
        const TargetCounts<Count> none{.classes = 1,
                                       .given = n_given(),
                                       .counted = nullptr,
                                       .with_class = nullptr,
                                       .given_sizes = nullptr};
        shrink_target(block, none, panels.given_cells_[b].data(), *request.shrunk, scratch.shrunk.data(),
                      scratch);
        store_shrunk(block, request.first, scratch.shrunk.data());
    });
}

// The rows of every class at every level of the given column but its most frequent.
template <class Count>
void Panels<Count>::Run::fill_sets(size_t target, size_t at) {
    const size_t n_classes = targets().classes(target), levels = n_given();
    Count* sizes = set_sizes.data() + size_start[at];
    for (size_t c = 1; c < n_classes; ++c, sizes += levels) {
        const size_t first_set = set_start[at] + (c - 1) * (levels - 1);
        RowSet* set = sets.data() + first_set;
        const size_t* offset = set_offset.data() + first_set;
        const auto rows = targets().rows(target, c);
        if (features().wants_bits()) {
            const uint64_t* members = panels.class_set(target, c).bits;
            sizes[0] = Count(rows.size());
            for (size_t v = 1; v < levels; ++v) {
                uint64_t* words = panels.set_words_.data() + offset[v - 1];
                const uint64_t* at_level = bits_of_level(v);
                size_t size = 0;
                for (size_t w = 0; w < n_words(); ++w) {
                    words[w] = members[w] & at_level[w];
                    size += size_t(std::popcount(words[w]));
                }
                set[v - 1].size = size;
                sizes[v] = Count(size);
                sizes[0] -= sizes[v];
            }
            continue;
        }
        const uint8_t* level = given.bytes().data();
        if (levels == 1) {
            // Nothing is given: the class itself is the only set, and its counts are the margins.
        } else if (levels == 2) {  // every row is written and kept or overwritten: no branch to mispredict
            row_t* list = panels.set_rows_.data() + offset[0];
            size_t n = 0;
            for (const row_t row : rows) {
                list[n] = row;
                n += level[row];
            }
            set[0].size = n;
        } else {
            row_t* next[Given::few_levels];
            row_t ignored = 0;
            next[0] = &ignored;
            for (size_t v = 1; v < levels; ++v) next[v] = panels.set_rows_.data() + offset[v - 1];
            for (const row_t row : rows) {
                const uint8_t v = level[row];
                *next[v] = row;
                next[v] += v != 0;
            }
            for (size_t v = 1; v < levels; ++v) set[v - 1].size = size_t(next[v] - set[v - 1].list);
        }
        sizes[0] = panels.terms_.weight(rows);
        for (size_t v = 1; v < levels; ++v) {
            sizes[v] = panels.terms_.weight({set[v - 1].list, set[v - 1].size});
            sizes[0] -= sizes[v];
        }
    }
}

// Sets for the targets split[from .. to).
template <class Count>
void Panels<Count>::Run::make_sets(size_t from, size_t to) {
    const size_t levels = n_given();
    set_start.assign(1, 0);
    size_start.assign(1, 0);
    set_offset.clear();
    const size_t words = features().wants_bits() ? n_words() : 0;
    size_t space = 0;
    std::vector<double> cost;
    for (size_t t = from; t < to; ++t) {
        for (size_t c = 1; c < targets().classes(split[t]); ++c)
            for (size_t v = 1; v < levels; ++v) {
                set_offset.push_back(space);
                const size_t most = std::min<size_t>(targets().rows(split[t], c).size(), given.sizes()[v]);
                space += words ? words : most + 1;
            }
        set_start.push_back(set_offset.size());
        size_start.push_back(size_start.back() + (targets().classes(split[t]) - 1) * levels);
        cost.push_back(double(targets().listed(split[t])) * 1.5 + 50);
    }
    sets.assign(set_offset.size(), {});
    set_sizes.resize(size_start.back());
    if (features().wants_bits()) {
        panels.set_words_.reserve(space);
        for (size_t s = 0; s < sets.size(); ++s) sets[s].bits = panels.set_words_.data() + set_offset[s];
    } else {
        panels.set_rows_.reserve(space);
        for (size_t s = 0; s < sets.size(); ++s) sets[s].list = panels.set_rows_.data() + set_offset[s];
    }
    const double all = std::accumulate(cost.begin(), cost.end(), 0.0);
    const auto ends = cut_tasks(cost, std::max(1e4, all / (4.0 * panels.pool_.size())));
    panels.pool_.run(ends.size(), all, [&](size_t task, unsigned) {
        for (size_t t = task ? ends[task - 1] : 0; t < ends[task]; ++t) fill_sets(split[from + t], t);
    });
}

// Counts and evaluates a range of targets; `base` is the first target that has sets now.
template <class Count>
void Panels<Count>::Run::count_range(const Range& range, size_t base, unsigned worker) {
    const Block<Count>& block = *blocks[range.block];
    WorkerMemory<Count>& scratch = panels.scratch_[worker];
    const size_t levels = n_given(), pitch = block.pitch(), n_skipped = skipped(block);
    const bool kept = !panels.classes_->counts.empty();
    scratch.sums.reserve(block.width());
    std::fill(scratch.sums.data(), scratch.sums.data() + block.width(), 0);
    // For targets with unknown cells: sums with and without the target, and the table of all rows.
    scratch.known.reserve(3 * block.width());
    for (size_t i = 0; i < block.features().size(); ++i)
        scratch.known[2 * block.width() + i] = request.joint ? 0 : request.with_given[block.features()[i]];
    const auto sets_of = [&](size_t t) { return set_start[t - base]; };
    for (size_t t = range.from, stop; t < range.to; t = stop) {
        // As many targets as the block counts at a time, at least one.
        for (stop = t + 1; stop < range.to && sets_of(stop + 1) - sets_of(t) <= block.sets_at_a_time();)
            ++stop;
        const size_t n_sets = sets_of(stop) - sets_of(t);
        scratch.counts.reserve(n_sets * pitch + 1);
        if (n_sets != 0) block.count(sets.data() + sets_of(t), n_sets, scratch.counts.data(), scratch);
        for (size_t at = t; at < stop; ++at) {
            const size_t l = split[at], classes = targets().classes(l);
            const Count* with_class = nullptr;
            if (kept) {
                with_class = panels.classes_->counts[range.block].data() + panels.set_index(l) * pitch;
            } else {
                scratch.margins.reserve((classes - 1) * pitch + 1);
                scratch.sets.clear();
                for (size_t c = 1; c < classes; ++c) scratch.sets.push_back(panels.class_set(l, c));
                block.count(scratch.sets.data(), classes - 1, scratch.margins.data(), scratch);
                with_class = scratch.margins.data();
            }
            const TargetCounts<Count> counts{
                .classes = classes,
                .given = levels,
                .counted = scratch.counts.data() + (sets_of(at) - sets_of(t)) * pitch,
                .with_class = with_class,
                .given_sizes = set_sizes.data() + size_start[at - base]};
            const Count* given_cells = panels.given_cells_[range.block].data();
            if (request.shrunk) {
                scratch.shrunk.reserve(block.width());
                shrink_target(block, counts, given_cells, *request.shrunk, scratch.shrunk.data(), scratch);
                store_shrunk(block, l, scratch.shrunk.data());
                continue;
            }
            const double ratio = targets().known_ratio(l);
            fixed_t *joint = scratch.known.data(), *alone = joint + block.width();
            if (ratio == 0) {
                joint = scratch.sums.data();
                add_target(block, counts, given_cells, panels.terms_, false, n_skipped, joint, nullptr,
                           scratch);
            } else {
                std::fill(joint, alone + block.width(), 0);
                add_target(block, counts, given_cells, panels.terms_, true, n_skipped, joint,
                           request.joint ? nullptr : alone, scratch);
                kernels().add_known(alone + block.width(), joint, alone, ratio, block.features().size(),
                                    scratch.sums.data());
            }
            if (request.known)
                for (size_t i = 0; i < block.features().size(); ++i)
                    store_known(block.features()[i], l, ratio, joint[i]);
            if (request.reduce) continue;  // the sums go on, and are stored once
            store(block, l, scratch.sums.data(), worker);
            std::fill(scratch.sums.data(), scratch.sums.data() + block.width(), 0);
        }
    }
    if (request.reduce) store(block, request.first, scratch.sums.data(), worker);
}

template <class Count>
void Panels<Count>::Run::count_split(size_t from, size_t to) {
    make_sets(from, to);
    std::vector<Range> ranges;
    std::vector<std::vector<double>> cost(blocks.size());
    double all = 0;
    for (size_t b = 0; b < blocks.size(); ++b) {
        const size_t n_skipped = skipped(*blocks[b]), n_needed = blocks[b]->width() - n_skipped;
        if (n_skipped == blocks[b]->features().size()) continue;
        for (size_t t = from; t < to; ++t) {
            const size_t classes = targets().classes(split[t]);
            const double cells = double(blocks[b]->levels() * n_given() * classes * n_needed);
            cost[b].push_back(double(targets().listed(split[t])) * (n_given() > 1 ? 4 : 0) +
                              (request.shrunk ? 8 : 2) * cells);
            all += cost[b].back();
        }
    }
    const double limit = std::clamp(all / (16.0 * panels.pool_.size()), 5e4, longest_task);
    for (size_t b = 0; b < blocks.size(); ++b) {
        size_t start = from;
        for (const size_t end : cut_tasks(cost[b], limit)) {
            ranges.push_back({.block = b, .from = start, .to = from + end});
            start = from + end;
        }
    }
    panels.pool_.run(ranges.size(), all,
                     [&](size_t task, unsigned worker) { count_range(ranges[task], from, worker); });
}

template <class Count>
void Panels<Count>::Run::all_split() {
    for (size_t from = 0, to; from < split.size(); from = to) {
        size_t bytes = 0;
        for (to = from; to < split.size() && (to == from || bytes < set_memory); ++to)
            bytes += n_given() == 1 ? 0
                     : features().wants_bits()
                         ? (targets().classes(split[to]) - 1) * (n_given() - 1) * n_words() * sizeof(uint64_t)
                         : targets().listed(split[to]) * sizeof(row_t);
        count_split(from, to);
    }
}

template void Panels<count_t>::Run::count_given();
template void Panels<double>::Run::count_given();
template void Panels<count_t>::Run::shrink_given();
template void Panels<double>::Run::shrink_given();
template void Panels<count_t>::Run::all_split();
template void Panels<double>::Run::all_split();

}  // namespace labelsieve
