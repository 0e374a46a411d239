// Whole numbers of 24 bits as two digits of 12 bits, and exact sums of their products.
//
// z = high * 4096 + low with -2048 <= low < 2048. Rows come in groups of 32: their 32 high digits, then their
// 32 low ones. One instruction multiplies a vector of digits and adds neighboring products into lanes of 32
// bits; four of them make the products of 24 by 24 bits. A lane holds the products of 256 rows: then it is
// added to 64 bits.
#pragma once

#include <cmath>

#include "simd/kernels.hpp"
#include "simd/vector.hpp"

namespace labelsieve {
namespace {

#if defined(__AVX512BW__)
typedef __m512i digits_t;
inline digits_t no_digits() { return _mm512_setzero_si512(); }
inline digits_t load_digits(const int16_t* from) { return _mm512_loadu_si512(from); }
inline digits_t add_products(digits_t sums, digits_t a, digits_t b) {
#if defined(__AVX512VNNI__)
    return _mm512_dpwssd_epi32(sums, a, b);
#else
    return _mm512_add_epi32(sums, _mm512_madd_epi16(a, b));
#endif
}
#elif defined(__AVX2__)
typedef __m256i digits_t;
inline digits_t no_digits() { return _mm256_setzero_si256(); }
inline digits_t load_digits(const int16_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
inline digits_t add_products(digits_t sums, digits_t a, digits_t b) {
    return _mm256_add_epi32(sums, _mm256_madd_epi16(a, b));
}
#elif defined(LABELSIEVE_X86)
typedef __m128i digits_t;
inline digits_t no_digits() { return _mm_setzero_si128(); }
inline digits_t load_digits(const int16_t* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
inline digits_t add_products(digits_t sums, digits_t a, digits_t b) {
    return _mm_add_epi32(sums, _mm_madd_epi16(a, b));
}
#else
struct digits_t {  // 8 numbers of 16 bits, or 4 sums of 32
    union {
        int16_t digit[8];
        int32_t sum[4];
    };
};
inline digits_t no_digits() { return {}; }
inline digits_t load_digits(const int16_t* from) {
    digits_t digits;
    std::memcpy(digits.digit, from, sizeof digits.digit);
    return digits;
}
inline digits_t add_products(digits_t sums, digits_t a, digits_t b) {
    for (int i = 0; i < 4; ++i)
        sums.sum[i] += a.digit[2 * i] * b.digit[2 * i] + a.digit[2 * i + 1] * b.digit[2 * i + 1];
    return sums;
}
#endif

constexpr size_t digits_in_vector = sizeof(digits_t) / 2;
constexpr size_t vectors_in_group = digit_group / digits_in_vector;
constexpr size_t groups_in_lanes = 4 * digits_in_vector;  // 256 rows for every lane of 32 bits

inline int64_t sum_of_lanes(digits_t sums) {
    int32_t lanes_of[sizeof(digits_t) / 4];
    std::memcpy(lanes_of, &sums, sizeof sums);
    int64_t total = 0;
    for (const int32_t lane : lanes_of) total += lane;
    return total;
}

// C columns by V vectors. `two_digits`: the vectors have high and low digits; otherwise low ones alone.
template <size_t C, size_t V, bool two_digits>
void digit_tile(const int16_t* const* columns, const int16_t* const* vectors, size_t n_groups,
                int64_t* sums) {
    constexpr size_t pitch = two_digits ? 2 * digit_group : digit_group;
    for (size_t first = 0; first < n_groups; first += groups_in_lanes) {
        const size_t last = first + groups_in_lanes < n_groups ? first + groups_in_lanes : n_groups;
        digits_t high[C][V], mixed[C][V], low[C][V];
        for (size_t c = 0; c < C; ++c)
            for (size_t v = 0; v < V; ++v) high[c][v] = mixed[c][v] = low[c][v] = no_digits();
        for (size_t group = first; group < last; ++group)
            for (size_t part = 0; part < vectors_in_group; ++part) {
                digits_t of_high[V], of_low[V];
                for (size_t v = 0; v < V; ++v) {
                    const int16_t* from = vectors[v] + group * pitch + part * digits_in_vector;
                    of_high[v] = load_digits(from);
                    of_low[v] = two_digits ? load_digits(from + digit_group) : of_high[v];
                }
                for (size_t c = 0; c < C; ++c) {
                    const int16_t* from = columns[c] + group * 2 * digit_group + part * digits_in_vector;
                    const digits_t h = load_digits(from), l = load_digits(from + digit_group);
                    for (size_t v = 0; v < V; ++v) {
                        if (two_digits) high[c][v] = add_products(high[c][v], h, of_high[v]);
                        mixed[c][v] = add_products(mixed[c][v], h, of_low[v]);
                        if (two_digits) mixed[c][v] = add_products(mixed[c][v], l, of_high[v]);
                        low[c][v] = add_products(low[c][v], l, of_low[v]);
                    }
                }
            }
        for (size_t c = 0; c < C; ++c)
            for (size_t v = 0; v < V; ++v) {
                int64_t sum = sum_of_lanes(mixed[c][v]) * 4096 + sum_of_lanes(low[c][v]);
                if (two_digits) sum += sum_of_lanes(high[c][v]) * (4096 * 4096);
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
