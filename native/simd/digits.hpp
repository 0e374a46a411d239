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

// See Kernels::add_masked. Sums of 255 numbers stay below 2^31.
void add_masked(const row_t* rows, const int32_t* values, size_t n, const uint64_t* bits, size_t n_words,
                int64_t* sums) {
    constexpr size_t together = 255;
    for (size_t start = 0; start < n; start += together) {
        const size_t end = start + together < n ? start + together : n;
        for (size_t w = 0; w < n_words; ++w) {
            int32_t some[64] = {};
#if defined(__AVX512BW__)
            __m512i sixteen[4];
            for (__m512i& each : sixteen) each = _mm512_setzero_si512();
            for (size_t i = start; i < end; ++i) {
                const uint64_t mask = bits[rows[i] * n_words + w];
                const __m512i value = _mm512_set1_epi32(values[i]);
                for (size_t k = 0; k < 4; ++k)
                    sixteen[k] =
                        _mm512_mask_add_epi32(sixteen[k], __mmask16(mask >> 16 * k), sixteen[k], value);
            }
            std::memcpy(some, sixteen, sizeof some);
#else
            for (size_t i = start; i < end; ++i) {
                const uint64_t mask = bits[rows[i] * n_words + w];
                for (size_t half = 0; half < 2; ++half) {
                    const uint32_t of_half = uint32_t(mask >> 32 * half);
                    for (size_t v = 0; v < 32; ++v)
                        some[32 * half + v] += values[i] & -int32_t(of_half >> v & 1);
                }
            }
#endif
            for (size_t v = 0; v < 64; ++v) sums[64 * w + v] += some[v];
        }
    }
}

// The nearest whole number, of two the even one.
inline double nearest_whole(double value) {
#if defined(__SSE4_1__) || defined(__aarch64__)
    return __builtin_rint(value);
#else
    // Adding and subtracting 2^52 rounds a positive number; what is larger is a whole number already.
    constexpr double large = 4503599627370496.0;
    const double size = std::fabs(value), rounded = std::copysign((size + large) - large, value);
    return size < large ? rounded : value;
#endif
}

inline double of_scale(double value, size_t) { return value; }
inline double of_scale(const double* values, size_t i) { return values[i]; }

// The first n values become digits: round(x * factor * more) - shift, or `fill` where x is missing. The scale
// has one value of each for all of them, or one for each. Loops of one kind of number each become vectors.
template <size_t n, class Scale>
void split_numbers(const double* values, const Scale& scale, int16_t* high, int16_t* low) {
    int32_t whole[n];
    for (size_t k = 0; k < n; ++k) {
        const double scaled = values[k] * of_scale(scale.factor, k) * of_scale(scale.more, k);
        const double shifted = nearest_whole(scaled) - of_scale(scale.shift, k);
        const double fill = of_scale(scale.fill, k);  // read in any case, or the loop becomes no vectors
        whole[k] = int32_t(shifted == shifted ? shifted : fill);
    }
    for (size_t k = 0; k < n; ++k) high[k] = int16_t((whole[k] + 2048) >> 12);
    for (size_t k = 0; k < n; ++k) low[k] = int16_t(whole[k] - ((whole[k] + 2048) >> 12) * 4096);
}

// See Kernels::split_digits.
void split_digits(const double* values, size_t n, const DigitScale& scale, int16_t* digits) {
    for (size_t i = 0; i < n; i += digit_group)
        split_numbers<digit_group>(values + i, scale, digits + 2 * i, digits + 2 * i + digit_group);
}

// to[column * to_pitch + row] = from[row * from_pitch + column] for eight rows and columns.
inline void transpose_eight(const int16_t* from, size_t from_pitch, int16_t* to, size_t to_pitch) {
#if defined(LABELSIEVE_X86)
    __m128i a[8], b[8];
    for (size_t i = 0; i < 8; ++i)
        a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * from_pitch));
    for (size_t i = 0; i < 4; ++i) {
        b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
        b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
    }
    for (size_t i = 0; i < 4; ++i) {
        a[2 * i] = _mm_unpacklo_epi16(b[i], b[i + 4]);
        a[2 * i + 1] = _mm_unpackhi_epi16(b[i], b[i + 4]);
    }
    for (size_t i = 0; i < 4; ++i) {
        b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
        b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
    }
    for (size_t i = 0; i < 8; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * to_pitch), b[i]);
#else
    for (size_t row = 0; row < 8; ++row)
        for (size_t column = 0; column < 8; ++column)
            to[column * to_pitch + row] = from[row * from_pitch + column];
#endif
}

// See Kernels::split_rows.
void split_rows(const double* values, size_t pitch, size_t n_rows, const DigitScales& scales,
                int16_t* digits) {
    int16_t rows[2][digit_group][scanned_columns];
    for (size_t row = 0; row < n_rows; ++row)
        split_numbers<scanned_columns>(values + row * pitch, scales, rows[0][row], rows[1][row]);
    for (auto& of_digit : rows) std::memset(of_digit[n_rows], 0, (digit_group - n_rows) * sizeof of_digit[0]);
    for (size_t j = 0; j < scanned_columns; j += 8)
        for (size_t digit = 0; digit < 2; ++digit)
            for (size_t row = 0; row < digit_group; row += 8)
                transpose_eight(rows[digit][row] + j, scanned_columns,
                                digits + 2 * digit_group * j + digit * digit_group + row, 2 * digit_group);
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

// See Kernels::scan_rows. What is known of sixteen columns stays in registers.
void scan_rows(const double* values, size_t pitch, size_t n_rows, const ColumnScan& scan) {
    constexpr size_t together = NumberScan::together;
    for (size_t first = 0; first < scanned_columns; first += together) {
        double low[together], high[together], missing[together], zeros[together];
        for (size_t j = 0; j < together; ++j) {
            low[j] = scan.low[first + j];
            high[j] = scan.high[first + j];
            missing[j] = zeros[j] = 0;
        }
        for (size_t row = 0; row < n_rows; ++row) {
            const double* of_row = values + row * pitch + first;
            for (size_t j = 0; j < together; ++j) {
                low[j] = of_row[j] < low[j] ? of_row[j] : low[j];
                high[j] = of_row[j] > high[j] ? of_row[j] : high[j];
                missing[j] += of_row[j] == of_row[j] ? 0.0 : 1.0;
                zeros[j] += of_row[j] == 0 ? 1.0 : 0.0;
            }
        }
        for (size_t j = 0; j < together; ++j) {
            scan.low[first + j] = low[j];
            scan.high[first + j] = high[j];
            scan.n_missing[first + j] += missing[j];
            scan.n_zeros[first + j] += zeros[j];
        }
    }
}

}  // namespace
}  // namespace labelsieve
