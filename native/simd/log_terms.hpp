// Terms that need logarithms: of weighted counts, and of shrunk tables. Included by kernels.cpp alone.
#pragma once

#include "simd/kernels.hpp"
#include "simd/vector.hpp"

namespace labelsieve {
namespace {

#if defined(__AVX2__) && defined(LABELSIEVE_X86)

typedef double reals_t __attribute__((vector_size(vector_bytes), may_alias));
typedef int64_t wholes_t __attribute__((vector_size(vector_bytes), may_alias));
constexpr uint64_t two_52 = 0x4330000000000000u;  // 2^52 as a double: its last bits count ones

// Lanes after the last column hold anything, so that sums of theirs may overflow: they are added without
// signs.
inline wholes_t plus(wholes_t a, wholes_t b) { return (wholes_t)((vector_t)a + (vector_t)b); }

#if defined(__AVX512DQ__)
inline reals_t gather(const double* from, vector_t index) {
    return (reals_t)_mm512_mask_i64gather_pd(_mm512_setzero_pd(), 0xFF, (__m512i)index, from, 8);
}
inline wholes_t truncate(reals_t value) { return (wholes_t)_mm512_maskz_cvttpd_epi64(0xFF, (__m512d)value); }
#else
inline reals_t gather(const double* from, vector_t index) {
    return (reals_t)_mm256_i64gather_pd(from, (__m256i)index, 8);
}
inline wholes_t truncate(reals_t value) {  // from 0 to 2^52
    const __m256d whole = _mm256_round_pd((__m256d)value, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    return plus((wholes_t)((reals_t)whole + 4503599627370496.0), (wholes_t)(vector_t{} - two_52));
}
#endif

// What table_log does, operation by operation.
inline reals_t table_log(reals_t n, const double* logs) {
    constexpr uint64_t one = 0x3FF0000000000000u, leading = 0x000FFF0000000000u,
                       fraction = 0x000FFFFFFFFFFFFFu;
    const vector_t bits = (vector_t)n;
    const reals_t exponent = (reals_t)(bits >> 52 | two_52) - (4503599627370496.0 + 1023.0);
    const reals_t mantissa = (reals_t)((bits & fraction) | one);
    const reals_t center = (reals_t)((bits & leading) | one);
    const reals_t log_center = gather(logs, (bits & leading) >> 40);
    const reals_t r = (mantissa - center) / center;
    const reals_t series = r * (1.0 - r * (0.5 - r * (1.0 / 3.0 - r * 0.25)));
    return exponent * logs[WeightedTerm::n_logs] + (log_center + series);
}

// A cell of 0 adds 0.5, truncated.
void add_terms(const double* cells, size_t n_cells, size_t pitch, size_t n, const WeightedTerm& term,
               fixed_t* sums) {
    const double *logs = term.logs, scale = term.scale;
    const fixed_t penalty = term.penalty;
    for (size_t i = 0; i < n; i += vector_bytes / 8) {
        wholes_t sum;
        std::memcpy(&sum, sums + i, sizeof sum);
        for (size_t cell = 0; cell < n_cells; ++cell) {
            reals_t count;
            std::memcpy(&count, cells + cell * pitch + i, sizeof count);
            sum = plus(sum, truncate(count * table_log(count, logs) * scale + 0.5));
            if (penalty != 0) sum = plus(sum, (wholes_t)(count != 0.0) & -penalty);
        }
        std::memcpy(sums + i, &sum, sizeof sum);
    }
}

// sums[i] -= p log p for p = times * alpha[i] + beta[i] * counts[i], in units of 2^-52. Rounding may bring p
// above 1, where p log p would be negative, and is truncated differently.
inline void add_entropies(const double* counts, size_t n, const double* alpha, double times,
                          const double* beta, const double* logs, fixed_t* sums) {
    for (size_t i = 0; i < n; i += vector_bytes / 8) {
        wholes_t sum;
        reals_t count, of_uniform, of_count;
        std::memcpy(&sum, sums + i, sizeof sum);
        std::memcpy(&count, counts + i, sizeof count);
        std::memcpy(&of_uniform, alpha + i, sizeof of_uniform);
        std::memcpy(&of_count, beta + i, sizeof of_count);
        reals_t p = of_uniform * times + of_count * count;
        p = p > 1.0 ? reals_t{} + 1.0 : p;
        sum = plus(sum, truncate(p * table_log(p, logs) * -4503599627370496.0 + 0.5));
        std::memcpy(sums + i, &sum, sizeof sum);
    }
}

#else

void add_terms(const double* cells, size_t n_cells, size_t pitch, size_t n, const WeightedTerm& term,
               fixed_t* sums) {
    for (size_t cell = 0; cell < n_cells; ++cell)
        for (size_t i = 0; i < n; ++i) sums[i] += weighted_term(term, cells[cell * pitch + i]);
}

inline void add_entropies(const double* counts, size_t n, const double* alpha, double times,
                          const double* beta, const double* logs, fixed_t* sums) {
    for (size_t i = 0; i < n; ++i) {
        double p = alpha[i] * times + beta[i] * counts[i];
        p = p > 1.0 ? 1.0 : p;
        if (p > 0) sums[i] += fixed_t(p * table_log(p, logs) * -4503599627370496.0 + 0.5);
    }
}

#endif

// Shrinks tables towards uniform ones: Hausser and Strimmer (2009), eq. 6, whose sum of (t - p)^2 is the sum
// of p^2 less t. Levels of a feature that do not occur have no cells.
//
// Squares of weights, which are whole numbers up to 2^41, are larger than a double is exact for, and their
// sum would depend on the order of the cells. So high and low bits are added up separately, each sum being
// exact.
template <class Count>
void shrink(const ShrunkTables<Count>& of) {
    const size_t levels = of.levels, given = of.given, classes = of.classes, pitch = of.pitch, n = of.n;
    double* table = of.work;                                   // the counts as doubles
    double* alpha = table + levels * given * classes * pitch;  // of each level, 0 where it does not occur
    double* all_levels = alpha + levels * pitch;               // alpha times the levels that occur
    double *beta = all_levels + pitch, *squares = beta + pitch, *totals = squares + pitch;
    double *margin = totals + pitch, *mixed = margin + pitch, *low_squares = mixed + pitch;
    for (size_t i = 0; i < n; ++i) squares[i] = mixed[i] = low_squares[i] = totals[i] = all_levels[i] = 0;
    for (size_t a = 0; a < levels; ++a) {
        double* level = alpha + a * pitch;
        for (size_t i = 0; i < n; ++i) level[i] = 0;
        for (size_t b = 0; b < classes; ++b)
            for (size_t v = 0; v < given; ++v) {
                const size_t at = ((b * levels + a) * given + v) * pitch;
                for (size_t i = 0; i < n; ++i) {
                    const double count = double(of.cells[at + i]);
                    table[at + i] = count;
                    level[i] += count;
                    const double high = (count * 0x1p-16 + 0x1p52) - 0x1p52, low = count - high * 0x1p16;
                    squares[i] += high * high;
                    mixed[i] += high * low;
                    low_squares[i] += low * low;
                }
            }
        for (size_t i = 0; i < n; ++i) {
            totals[i] += level[i];
            all_levels[i] += level[i] > 0 ? 1.0 : 0.0;
        }
    }
    for (size_t i = 0; i < n; ++i) {
        const double target = 1.0 / (all_levels[i] * double(given * classes));
        const double all_squares = squares[i] * 0x1p32 + mixed[i] * 0x1p17 + low_squares[i];
        const double mean = all_squares / totals[i] / totals[i];
        const double spread = (of.n_rows - 1.0) * (mean - target), doubt = 1.0 - mean;
        double share = spread > 0 && doubt < spread ? doubt / spread : 1.0;
        share = share > 0 ? share : 0.0;
        beta[i] = (1.0 - share) / totals[i];
        squares[i] = share * target;  // alpha
        all_levels[i] *= squares[i];
    }
    for (size_t a = 0; a < levels; ++a)
        for (size_t i = 0; i < n; ++i) alpha[a * pitch + i] = alpha[a * pitch + i] > 0 ? squares[i] : 0.0;
    for (size_t i = 0; i < n; ++i) of.out[i] = 0;
    for (unsigned set = 1; set < 8; ++set) {
        if (of.factors[set] == 0) continue;
        const bool x = set & 1, y = set & 2, z = set & 4;
        fixed_t* entropies = of.sums;
        for (size_t i = 0; i < n; ++i) entropies[i] = 0;
        const double times = double((y ? 1 : classes) * (z ? 1 : given));
        for (size_t b = 0; b < (y ? classes : 1); ++b)
            for (size_t a = 0; a < (x ? levels : 1); ++a)
                for (size_t v = 0; v < (z ? given : 1); ++v) {
                    const double* counts = table + ((b * levels + a) * given + v) * pitch;
                    if (set != 7) {
                        for (size_t i = 0; i < n; ++i) margin[i] = 0;
                        for (size_t c = b; c < (y ? b + 1 : classes); ++c)
                            for (size_t k = a; k < (x ? a + 1 : levels); ++k)
                                for (size_t u = v; u < (z ? v + 1 : given); ++u) {
                                    const double* cell = table + ((c * levels + k) * given + u) * pitch;
                                    for (size_t i = 0; i < n; ++i) margin[i] += cell[i];
                                }
                        counts = margin;
                    }
                    add_entropies(counts, n, x ? alpha + a * pitch : all_levels, times, beta, of.logs,
                                  entropies);
                }
        for (size_t i = 0; i < n; ++i)
            of.out[i] += of.factors[set] * (double(entropies[i]) * (1.0 / 4503599627370496.0));
    }
}

}  // namespace
}  // namespace labelsieve
