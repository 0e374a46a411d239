// Whole numbers of 24 bits as two digits of 12 bits, and exact sums of their products.
//
// z = high * 4096 + low with -2048 <= low < 2048. Rows come in groups of 32: their 32 high digits, then their
// 32 low ones. One instruction multiplies a vector of digits and adds neighboring products into lanes of 32
// bits; four of them make the products of 24 by 24 bits. A lane holds the products of 256 rows: then it is
// added to 64 bits.
#pragma once

#include <cmath>

#include "simd/kernels.hpp"
#include "simd/shorts.hpp"

namespace labelsieve {
namespace {

constexpr size_t vectors_in_group = digit_group / Shorts::width;
constexpr size_t groups_in_lanes = 4 * Shorts::width;  // 256 rows for every lane of 32 bits

// C columns by V vectors. `two_digits`: the vectors have high and low digits; otherwise low ones alone.
template <size_t C, size_t V, bool two_digits>
void digit_tile(const int16_t* const* columns, const int16_t* const* vectors, size_t n_groups,
                int64_t* sums) {
    constexpr size_t pitch = two_digits ? 2 * digit_group : digit_group;
    for (size_t first = 0; first < n_groups; first += groups_in_lanes) {
        const size_t last = first + groups_in_lanes < n_groups ? first + groups_in_lanes : n_groups;
        Sums high[C][V], mixed[C][V], low[C][V];
        for (size_t group = first; group < last; ++group)
            for (size_t part = 0; part < vectors_in_group; ++part) {
                Shorts of_high[V], of_low[V];
                for (size_t v = 0; v < V; ++v) {
                    const int16_t* from = vectors[v] + group * pitch + part * Shorts::width;
                    of_high[v] = Shorts::load(from);
                    of_low[v] = two_digits ? Shorts::load(from + digit_group) : of_high[v];
                }
                for (size_t c = 0; c < C; ++c) {
                    const int16_t* from = columns[c] + group * 2 * digit_group + part * Shorts::width;
                    const Shorts h = Shorts::load(from), l = Shorts::load(from + digit_group);
                    for (size_t v = 0; v < V; ++v) {
                        if (two_digits) high[c][v].add_products(h, of_high[v]);
                        mixed[c][v].add_products(h, of_low[v]);
                        if (two_digits) mixed[c][v].add_products(l, of_high[v]);
                        low[c][v].add_products(l, of_low[v]);
                    }
                }
            }
        for (size_t c = 0; c < C; ++c)
            for (size_t v = 0; v < V; ++v) {
                int64_t sum = mixed[c][v].total() * 4096 + low[c][v].total();
                if (two_digits) sum += high[c][v].total() * (4096 * 4096);
                sums[c * V + v] += sum;
            }
    }
}

// See Kernels::multiply_digits. 32 registers hold four columns by two vectors, 16 one column.
template <bool two_digits>
void multiply_digits(const int16_t* const* columns, size_t n_columns, const int16_t* const* vectors,
                     size_t n_vectors, size_t n_groups, int64_t* sums) {
#if defined(__AVX512BW__)
    if (n_columns == 4) {
        if (n_vectors == 2) return digit_tile<4, 2, two_digits>(columns, vectors, n_groups, sums);
        return digit_tile<4, 1, two_digits>(columns, vectors, n_groups, sums);
    }
#endif
    for (size_t c = 0; c < n_columns; ++c) {
        if (n_vectors == 2)
            digit_tile<1, 2, two_digits>(columns + c, vectors, n_groups, sums + 2 * c);
        else
            digit_tile<1, 1, two_digits>(columns + c, vectors, n_groups, sums + c);
    }
}

// See Kernels::split_digits. Adding and subtracting 2^52 rounds a positive number to the nearest whole one;
// what is larger is a whole number already.
void split_digits(const double* values, size_t n, const DigitScale& scale, int16_t* digits) {
    constexpr double large = 4503599627370496.0;
    for (size_t i = 0; i < n; i += digit_group) {
        int16_t* high = digits + 2 * i;
        int16_t* low = high + digit_group;
        for (size_t k = 0; k < digit_group; ++k) {
            const double scaled = values[i + k] * scale.factor * scale.more;
            const double size = std::fabs(scaled), rounded = std::copysign((size + large) - large, scaled);
            const double whole = (size < large ? rounded : scaled) - scale.shift;
            const double kept = whole == whole ? whole : scale.fill;
            const int32_t z = int32_t(kept), top = (z + 2048) >> 12;
            high[k] = int16_t(top);
            low[k] = int16_t(z - top * 4096);
        }
    }
}

// See Kernels::scan_numbers. Comparisons with NaN are false.
void scan_numbers(const double* values, size_t n, NumberScan& scan) {
    constexpr size_t together = NumberScan::together;
    double low[together], high[together], missing[together] = {}, zeros[together] = {};
    for (size_t k = 0; k < together; ++k) {
        low[k] = scan.low;
        high[k] = scan.high;
    }
    const auto add = [&](double value, size_t k) {
        low[k] = value < low[k] ? value : low[k];
        high[k] = value > high[k] ? value : high[k];
        missing[k] += value == value ? 0.0 : 1.0;
        zeros[k] += value == 0 ? 1.0 : 0.0;
    };
    size_t i = 0;
    for (; i + together <= n; i += together)
        for (size_t k = 0; k < together; ++k) add(values[i + k], k);
    for (size_t k = 0; i + k < n; ++k) add(values[i + k], k);
    for (size_t k = 0; k < together; ++k) {
        scan.low = low[k] < scan.low ? low[k] : scan.low;
        scan.high = high[k] > scan.high ? high[k] : scan.high;
        scan.n_missing += size_t(missing[k]);
        scan.n_zeros += size_t(zeros[k]);
    }
}

// See Kernels::scan_row.
void scan_row(const double* row, double* low, double* high, double* n_missing, double* n_zeros) {
    for (size_t j = 0; j < scanned_columns; ++j) {
        low[j] = row[j] < low[j] ? row[j] : low[j];
        high[j] = row[j] > high[j] ? row[j] : high[j];
        n_missing[j] += row[j] == row[j] ? 0.0 : 1.0;
        n_zeros[j] += row[j] == 0 ? 1.0 : 0.0;
    }
}

}  // namespace
}  // namespace labelsieve
