// Targets of many cells, by groups of rows, and the columns that are counted one at a time.
#include <algorithm>
#include <numeric>

#include "counting/run.hpp"

namespace labelsieve {

namespace {

// The partition of some rows by the given column alone.
void group_known(std::span<const row_t> rows, const Given& given, Partition& out) {
    if (given.few()) {
        out.clear();
        return add_split(rows, given.bytes().data(), given.levels(), out);
    }
    const std::vector<uint32_t> same(given.codes().size(), 0);
    group_rows(rows, same.data(), given.codes().data(), given.levels(), out);
}

}  // namespace

void group_by(const Given& given, Partition& out) {
    std::vector<row_t> rows(given.n_rows());
    std::iota(rows.begin(), rows.end(), row_t(0));
    group_known(rows, given, out);
}

template <class Count>
void Panels<Count>::Run::all_grouped() {
    constexpr size_t together = 4;  // blocks of a task, which makes its partition itself
    const size_t n_ranges = (blocks.size() + together - 1) / together;
    struct Buffers {
        std::vector<uint32_t> classes;
        std::vector<row_t> sorted;
    };
    std::vector<Buffers> buffers(panels.pool_.size());
    const double cost = double(grouped.size()) * double(blocks.size()) * double(targets().n_rows()) * 20;
    panels.pool_.run(grouped.size() * n_ranges, cost, [&](size_t task, unsigned worker) {
        const size_t l = grouped[task / n_ranges], start = task % n_ranges * together;
        WorkerMemory<Count>& scratch = panels.scratch_[worker];
        auto& [classes, sorted] = buffers[worker];
        const double ratio = targets().known_ratio(l);
        // Large classes are split one by one, small ones by one sort of all rows.
        if (given.few() && targets().n_rows() >= 16 * targets().classes(l)) {
            scratch.partition.clear();
            targets().list_first(l, sorted);
            add_split(sorted, given.bytes().data(), n_given(), scratch.partition);
            for (size_t c = ratio == 0 ? 1 : 2; c < targets().classes(l); ++c)
                add_split(targets().rows(l, c), given.bytes().data(), n_given(), scratch.partition);
        } else {
            targets().expand(l, classes, sorted);
            if (given.few())
                group_rows(sorted, classes.data(), given.bytes().data(), n_given(), scratch.partition);
            else
                group_rows(sorted, classes.data(), given.codes().data(), n_given(), scratch.partition);
        }
        panels.terms_.complete(scratch.partition);
        if (ratio != 0) {
            targets().expand(l, classes, sorted);
            group_known(sorted, given, scratch.known_rows);
            panels.terms_.complete(scratch.known_rows);
        }
        for (size_t b = start; b < std::min(blocks.size(), start + together); ++b) {
            const Block<Count>& block = *blocks[b];
            const auto sum_groups = [&](const Partition& groups, Buffer<fixed_t>& sums) {
                sums.reserve(block.width());
                std::fill(sums.data(), sums.data() + block.width(), 0);
                block.add_groups(groups, panels.terms_, sums.data(), scratch);
            };
            sum_groups(scratch.partition, scratch.sums);
            if (request.known)
                for (size_t i = 0; i < block.features().size(); ++i)
                    store_known(block.features()[i], l, ratio, scratch.sums[i]);
            if (ratio != 0) {
                sum_groups(scratch.known_rows, scratch.known);
                for (size_t i = 0; i < block.features().size(); ++i)
                    scratch.sums[i] = known(ratio, block.features()[i], scratch.sums[i], scratch.known[i]);
            }
            store(block, l, scratch.sums.data(), worker);
        }
    });
}

// Columns with many levels.
template <class Count>
void Panels<Count>::Run::all_wide() {
    const auto& wide = features().wide();
    const size_t first = request.first, last = request.last;
    const size_t n_rows = features().n_rows(), n_entries = targets().n_rows(), n_targets = last - first;
    if (wide.empty()) return;
    size_t most_levels = 1;
    for (const size_t k : wide) most_levels = std::max<size_t>(most_levels, features().columns().levels(k));
    std::vector<std::vector<Count>> cells(panels.pool_.size());
    const auto sum = [&](const code_t* codes, const Partition& groups, unsigned worker) {
        cells[worker].resize(most_levels);
        return sum_cells(codes, groups, panels.terms_, cells[worker].data());
    };
    Partition by_given;
    group_by(given, by_given);
    panels.terms_.complete(by_given);
    const size_t at_a_time = std::max<size_t>(1, set_memory / sizeof(row_t) / std::max<size_t>(1, n_entries));
    std::vector<Partition> groups(std::min(n_targets, at_a_time)), known_rows(groups.size());
    // At least one round, also without targets: it has the sums of features and given column.
    for (size_t from = first; from < last || from == first; from += at_a_time) {
        const size_t to = std::min(last, from + at_a_time);
        const double cost = double(to - from + 1) * double(n_entries) * 4;
        panels.pool_.run(to - from, cost, [&](size_t task, unsigned) {
            std::vector<uint32_t> classes;
            std::vector<row_t> sorted;
            targets().expand(from + task, classes, sorted);
            group_rows(sorted, classes.data(), given.codes().data(), n_given(), groups[task]);
            panels.terms_.complete(groups[task]);
            if (targets().known_ratio(from + task) == 0) return;
            group_known(sorted, given, known_rows[task]);
            panels.terms_.complete(known_rows[task]);
        });
        const size_t columns = std::clamp<size_t>(size_t(longest_task / cost), 1, 16);
        const size_t n_tasks = (wide.size() + columns - 1) / columns;
        panels.pool_.run(n_tasks, cost * double(wide.size()), [&](size_t task, unsigned worker) {
            WorkerMemory<Count>& scratch = panels.scratch_[worker];
            const size_t start = task * columns, stop = std::min(wide.size(), start + columns);
            scratch.codes.reserve(columns * n_rows);
            // Neighboring columns are read in one pass over the rows.
            if (wide[stop - 1] - wide[start] == stop - 1 - start) {
                features().columns().read(wide[start], wide[stop - 1] + 1, scratch.codes.data());
            } else {
                for (size_t i = start; i < stop; ++i)
                    features().columns().read(wide[i], wide[i] + 1,
                                              scratch.codes.data() + (i - start) * n_rows);
            }
            for (size_t i = start; i < stop; ++i) {
                const code_t* codes = scratch.codes.data() + (i - start) * n_rows;
                if (from == first) request.with_given[wide[i]] = sum(codes, by_given, worker);
                for (size_t l = from; l < to; ++l) {
                    fixed_t total = sum(codes, groups[l - from], worker);
                    const double ratio = targets().known_ratio(l);
                    if (request.known) store_known(wide[i], l, ratio, total);
                    if (ratio != 0)
                        total = known(ratio, wide[i], total, sum(codes, known_rows[l - from], worker));
                    store(wide[i], l, total, worker);
                }
            }
        });
        if (from >= last) break;
    }
}

template void Panels<count_t>::Run::all_grouped();
template void Panels<double>::Run::all_grouped();
template void Panels<count_t>::Run::all_wide();
template void Panels<double>::Run::all_wide();

}  // namespace labelsieve
