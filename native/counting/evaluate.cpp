#include "counting/evaluate.hpp"

#include <algorithm>

namespace labelsieve {

namespace {

// Counts of a tile are written to the first cache and looked up from there: 24 kB for the cells and what they
// leave.
constexpr size_t tile_bytes = 24 << 10;

template <class Count>
size_t tile_width(size_t n_cells, size_t width) {
    const size_t fitting = tile_bytes / sizeof(Count) / (2 * n_cells) / 16 * 16;
    return std::min(width, std::clamp<size_t>(fitting, 16, 256));
}

void split(const ClassCells<count_t>& of_class) { kernels().split_class(of_class); }
void split(const ClassCells<double>& of_class) { kernels().split_weighted_class(of_class); }
void shrink(const ShrunkTables<count_t>& tables) { kernels().shrink_counts(tables); }
void shrink(const ShrunkTables<double>& tables) { kernels().shrink_weights(tables); }

}  // namespace

template <class Count>
void fill_given_cells(const Block<Count>& block, const Count* counted, const Count* given_sizes, size_t given,
                      Count* cells, WorkerMemory<Count>& scratch) {
    const size_t width = block.width();
    // One class with all rows: what `split` leaves over is of no use.
    scratch.cells.reserve(block.levels() * given * width);
    split(ClassCells<Count>{.counted = counted,
                            .counted_pitch = block.pitch(),
                            .with_class = block.totals(),
                            .width = width,
                            .given_sizes = given_sizes,
                            .levels = block.levels(),
                            .given = given,
                            .n_candidates = width,
                            .cells = cells,
                            .pitch = width,
                            .rest_in = scratch.cells.data(),
                            .rest_pitch = width,
                            .rest_out = scratch.cells.data()});
}

template <class Count>
void add_target(const Block<Count>& block, const TargetCounts<Count>& counts, const Count* given_cells,
                const Terms<Count>& terms, bool has_unknown, size_t skipped, fixed_t* sums, fixed_t* alone,
                WorkerMemory<Count>& scratch) {
    const size_t width = block.width(), n_cells = block.levels() * counts.given;
    const size_t tile = tile_width<Count>(n_cells, width);
    const size_t pitch = tile + 16;  // no power of two: rows of cells would compete for the same cache lines
    // The cells of a class and, behind them, what they leave: the last class looks both up in one call.
    scratch.cells.reserve(2 * n_cells * pitch);
    Count* cells = scratch.cells.data();
    Count* left = cells + n_cells * pitch;
    const size_t set = block.pitch();
    for (size_t start = skipped / 16 * 16; start < width; start += tile) {
        const size_t n = std::min(tile, width - start);
        if (counts.classes == 1) terms.add(given_cells + start, n_cells, width, n, sums + start);
        for (size_t b = 0; b + 1 < counts.classes; ++b) {
            const bool first = b == 0, last = b + 2 == counts.classes;
            split(ClassCells<Count>{.counted = counts.counted + b * (counts.given - 1) * set + start,
                                    .counted_pitch = set,
                                    .with_class = counts.with_class + b * set + start,
                                    .width = width,
                                    .given_sizes = counts.given_sizes + b * counts.given,
                                    .levels = block.levels(),
                                    .given = counts.given,
                                    .n_candidates = n,
                                    .cells = cells,
                                    .pitch = pitch,
                                    .rest_in = first ? given_cells + start : left,
                                    .rest_pitch = first ? width : pitch,
                                    .rest_out = left});
            // The first listed class is that of unknown rows: what it leaves are the rows in which the target
            // is known.
            if (first && has_unknown) {
                if (alone) terms.add(left, n_cells, pitch, n, alone + start);
                if (last) terms.add(left, n_cells, pitch, n, sums + start);
                continue;
            }
            terms.add(cells, last ? 2 * n_cells : n_cells, pitch, n, sums + start);
        }
    }
}

template <class Count>
void shrink_target(const Block<Count>& block, const TargetCounts<Count>& counts, const Count* given_cells,
                   const ShrunkTerms& terms, double* out, WorkerMemory<Count>& scratch) {
    const size_t width = block.width(), n_cells = block.levels() * counts.given, set = block.pitch();
    const size_t fitting =
        tile_bytes / (sizeof(Count) + sizeof(double)) / (n_cells * counts.classes) / 16 * 16;
    const size_t tile = std::min(width, std::clamp<size_t>(fitting, 16, 256));
    const size_t pitch = tile + 16;
    scratch.cells.reserve(n_cells * counts.classes * pitch);
    scratch.reals.reserve(shrunk_work(block.levels(), counts.given, counts.classes, pitch));
    scratch.known.reserve(pitch);
    Count* cells = scratch.cells.data();
    // What the classes leave is the most frequent class; it ends up behind the others, and the table is
    // whole.
    Count* left = cells + (counts.classes - 1) * n_cells * pitch;
    for (size_t start = 0; start < width; start += tile) {
        const size_t n = std::min(tile, width - start);
        if (counts.classes == 1)
            for (size_t c = 0; c < n_cells; ++c)
                std::copy_n(given_cells + c * width + start, n, cells + c * pitch);
        for (size_t b = 0; b + 1 < counts.classes; ++b)
            split(ClassCells<Count>{.counted = counts.counted + b * (counts.given - 1) * set + start,
                                    .counted_pitch = set,
                                    .with_class = counts.with_class + b * set + start,
                                    .width = width,
                                    .given_sizes = counts.given_sizes + b * counts.given,
                                    .levels = block.levels(),
                                    .given = counts.given,
                                    .n_candidates = n,
                                    .cells = cells + b * n_cells * pitch,
                                    .pitch = pitch,
                                    .rest_in = b == 0 ? given_cells + start : left,
                                    .rest_pitch = b == 0 ? width : pitch,
                                    .rest_out = left});
        shrink(ShrunkTables<Count>{.cells = cells,
                                   .levels = block.levels(),
                                   .given = counts.given,
                                   .classes = counts.classes,
                                   .pitch = pitch,
                                   .n = n,
                                   .factors = terms.factors,
                                   .n_rows = terms.n_rows,
                                   .logs = terms.logs,
                                   .work = scratch.reals.data(),
                                   .sums = scratch.known.data(),
                                   .out = out + start});
    }
}

void fold_panel(const PanelTerms& terms, const fixed_t* pair, const fixed_t* triple, size_t n_features,
                fixed_t* accumulator) {
    for (size_t k = 0; k < n_features; ++k) {
        const fixed_t always = terms.constant + (terms.fixed ? terms.fixed[k] : 0);
        accumulator[k] += always + terms.pair_factor * pair[k] + terms.triple_factor * triple[k];
    }
}

template void fill_given_cells(const Block<count_t>&, const count_t*, const count_t*, size_t, count_t*,
                               WorkerMemory<count_t>&);
template void fill_given_cells(const Block<double>&, const double*, const double*, size_t, double*,
                               WorkerMemory<double>&);
template void shrink_target(const Block<count_t>&, const TargetCounts<count_t>&, const count_t*,
                            const ShrunkTerms&, double*, WorkerMemory<count_t>&);
template void shrink_target(const Block<double>&, const TargetCounts<double>&, const double*,
                            const ShrunkTerms&, double*, WorkerMemory<double>&);
template void add_target(const Block<count_t>&, const TargetCounts<count_t>&, const count_t*,
                         const Terms<count_t>&, bool, size_t, fixed_t*, fixed_t*, WorkerMemory<count_t>&);
template void add_target(const Block<double>&, const TargetCounts<double>&, const double*,
                         const Terms<double>&, bool, size_t, fixed_t*, fixed_t*, WorkerMemory<double>&);

}  // namespace labelsieve
