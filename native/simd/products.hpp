// Products of matrices in tiles whose sums stay in registers. Included by kernels.cpp alone.
#pragma once

#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

namespace labelsieve {
namespace {

template <size_t rows, size_t vectors, bool negative>
inline void add_tile(const ProductBlock& of, size_t row, size_t column) {
    using Line = Lanes<double>;
    Line sums[rows][vectors];
    double* out = of.out + row * of.out_pitch + column;
    for (size_t r = 0; r < rows; ++r)
        for (size_t v = 0; v < vectors; ++v)
            sums[r][v] = Line::load(out + r * of.out_pitch + v * Line::width);
    const double *factor = of.factors + row * of.factor_pitch, *from = of.rows + column;
    for (size_t k = 0; k < of.depth; ++k, factor += of.factor_step, from += of.pitch) {
        Line line[vectors];
        for (size_t v = 0; v < vectors; ++v) line[v] = Line::load(from + v * Line::width);
        for (size_t r = 0; r < rows; ++r)
            for (size_t v = 0; v < vectors; ++v)
                sums[r][v].template add_multiple<negative>(line[v], factor[r * of.factor_pitch]);
    }
    for (size_t r = 0; r < rows; ++r)
        for (size_t v = 0; v < vectors; ++v) sums[r][v].store(out + r * of.out_pitch + v * Line::width);
}

// See ProductBlock. Every sum has the order of k.
template <bool negative>
void add_products(const ProductBlock& of) {
    constexpr size_t width = Lanes<double>::width;
    constexpr size_t rows = vector_bytes == 64 ? 8 : 4;  // as many sums as there are registers for
    for (size_t row = 0; row < of.n_rows; row += rows) {
        size_t column = 0;
        for (; column + 2 * width <= of.n_columns; column += 2 * width)
            add_tile<rows, 2, negative>(of, row, column);
        for (; column < of.n_columns; column += width) add_tile<rows, 1, negative>(of, row, column);
    }
}

template <size_t vectors>
inline void add_listed_tile(const row_t* rows, size_t n, const double* table, size_t pitch, double* sums) {
    using Line = Lanes<double>;
    Line line[vectors];
    for (size_t v = 0; v < vectors; ++v) line[v] = Line::load(sums + v * Line::width);
    for (size_t i = 0; i < n; ++i)
        for (size_t v = 0; v < vectors; ++v)
            line[v].template add_multiple<false>(Line::load(table + rows[i] * pitch + v * Line::width), 1.0);
    for (size_t v = 0; v < vectors; ++v) line[v].store(sums + v * Line::width);
}

// sums[j] += the sum of table[row * pitch + j] over the rows, in their order.
inline void add_listed(const row_t* rows, size_t n, const double* table, size_t pitch, size_t n_columns,
                       double* sums) {
    constexpr size_t width = Lanes<double>::width;
    size_t column = 0;
    for (; column + 8 * width <= n_columns; column += 8 * width)
        add_listed_tile<8>(rows, n, table + column, pitch, sums + column);
    for (; column < n_columns; column += width)
        add_listed_tile<1>(rows, n, table + column, pitch, sums + column);
}

}  // namespace
}  // namespace labelsieve
