#include "evaluate.hpp"

#include <algorithm>

namespace labelsieve {

namespace {

// Counts of a tile are written to the first cache and looked up from there: 24 kB for the cells and what they leave.
constexpr std::size_t tile_counts = 6144;

std::size_t tile_width(std::size_t n_cells, std::size_t width) {
    const std::size_t fitting = tile_counts / (2 * n_cells) / 16 * 16;
    return std::min(width, std::clamp<std::size_t>(fitting, 16, 256));
}

}  // namespace

void fill_given_cells(const Block& block, const count_t* counted, const count_t* given_sizes, std::size_t given, count_t* cells) {
    const std::size_t width = block.width();
    // One class with all rows: what `split_class` leaves over is then zero, and of no use.
    Buffer<count_t> all(block.levels() * given * width);
    kernels().split_class(counted, block.pitch(), block.totals(), width, given_sizes, block.levels(), given, width, cells, width,
                          all.data(), width, all.data());
}

void add_target(const Block& block, const TargetCounts& counts, const count_t* given_cells, const fixed_t* table, fixed_t* sums,
                Scratch& scratch) {
    const std::size_t width = block.width(), n_cells = block.levels() * counts.given;
    const std::size_t tile = tile_width(n_cells, width);
    const std::size_t pitch = tile + 16;  // not a power of two, or the rows of cells would fight for the same cache lines
    scratch.cells.reserve(n_cells * pitch);
    scratch.rest.reserve(n_cells * pitch);
    const std::size_t set = block.pitch();
    for (std::size_t start = 0; start < width; start += tile) {
        const std::size_t n = std::min(tile, width - start);
        const count_t* rest = given_cells + start;
        std::size_t rest_pitch = width;
        for (std::size_t b = 0; b + 1 < counts.classes; ++b) {
            kernels().split_class(counts.counted + b * (counts.given - 1) * set + start, set, counts.with_class + b * set + start,
                                  width, counts.given_sizes + b * counts.given, block.levels(), counts.given, n,
                                  scratch.cells.data(), pitch, rest, rest_pitch, scratch.rest.data());
            kernels().look_up(scratch.cells.data(), n_cells, pitch, n, table, sums + start);
            rest = scratch.rest.data();
            rest_pitch = pitch;
        }
        kernels().look_up(rest, n_cells, rest_pitch, n, table, sums + start);
    }
}

}  // namespace labelsieve
