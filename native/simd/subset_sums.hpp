// Weighted counting by subset sums. Included by kernels.cpp alone.
//
// The sums of all subsets of the weights of a few rows fill one vector. The bits of these rows, interleaved
// to one small number for each column, index it: a permutation and an addition count a few rows for all
// lanes.
#pragma once

#include <type_traits>

#include "simd/kernels.hpp"
#include "simd/vector.hpp"

namespace labelsieve {
namespace {

// Four rows of bits to four words of numbers of four bits: word p has bits p, p + 4, ...
template <class Word>
inline void interleave_rows(Word a, Word b, Word c, Word d, Word* out) {
    constexpr uint64_t pairs = 0x5555555555555555u, fours = 0x3333333333333333u;
    const Word even_low = (a & pairs) | ((b << 1) & ~pairs), odd_low = ((a >> 1) & pairs) | (b & ~pairs);
    const Word even_high = (c & pairs) | ((d << 1) & ~pairs), odd_high = ((c >> 1) & pairs) | (d & ~pairs);
    out[0] = (even_low & fours) | ((even_high << 2) & ~fours);
    out[1] = (odd_low & fours) | ((odd_high << 2) & ~fours);
    out[2] = ((even_low >> 2) & fours) | (even_high & ~fours);
    out[3] = ((odd_low >> 2) & fours) | (odd_high & ~fours);
}

#if defined(__AVX2__) && defined(LABELSIEVE_X86)

constexpr size_t subset_lanes = vector_bytes / 4;           // sums in a vector
constexpr size_t subset_rows = subset_lanes == 16 ? 4 : 3;  // rows whose subset sums they are
constexpr size_t subset_parts = 64 / vector_bytes;          // vectors in a row of a block
constexpr size_t part_columns = block_bits / subset_parts;
constexpr size_t step_columns = 8 * subset_lanes;  // counted from one vector of interleaved bits
constexpr size_t subset_groups = 32;               // of rows, whose counts stay in 32 bits
typedef uint32_t sums_t __attribute__((vector_size(vector_bytes), may_alias));

#if defined(__AVX512F__)
inline sums_t subset_sums(const uint32_t* w) {
    return (sums_t)_mm512_maskz_set1_epi32(0xAAAA, int(w[0])) +
           (sums_t)_mm512_maskz_set1_epi32(0xCCCC, int(w[1])) +
           (sums_t)_mm512_maskz_set1_epi32(0xF0F0, int(w[2])) +
           (sums_t)_mm512_maskz_set1_epi32(0xFF00, int(w[3]));
}
// Higher bits of the index are ignored.
inline sums_t select_sums(sums_t sums, sums_t index) {
    return (sums_t)_mm512_maskz_permutexvar_epi32(0xFFFF, (__m512i)index, (__m512i)sums);
}
#else
inline sums_t subset_sums(const uint32_t* w) {
    constexpr uint32_t all = ~uint32_t(0);
    constexpr sums_t first{0, all, 0, all, 0, all, 0, all}, second{0, 0, all, all, 0, 0, all, all};
    constexpr sums_t third{0, 0, 0, 0, all, all, all, all};
    return (first & w[0]) + (second & w[1]) + (third & w[2]);
}
inline sums_t select_sums(sums_t sums, sums_t index) {
    return (sums_t)_mm256_permutevar8x32_epi32((__m256i)sums, (__m256i)index);
}
#endif

// Lane by lane of 32 bits, every fourth bit, so that no count has to be moved.
size_t bit_of_column(size_t column) {
    const size_t part = column / part_columns, within = column % part_columns;
    const size_t lane = within % subset_lanes, at = within / subset_lanes;
    return part * part_columns + 32 * lane + 4 * (at % 8) + at / 8;
}

inline void add_sums(const uint32_t* sums, double, uint32_t* counts) {
    for (size_t i = 0; i < step_columns; ++i) counts[i] += sums[i];
}

inline void add_sums(const uint32_t* sums, double scale, double* counts) {
    for (size_t i = 0; i < step_columns; ++i)  // as a signed number, which every vector unit converts
        counts[i] += (double(int32_t(sums[i] ^ 0x80000000u)) + 2147483648.0) * scale;
}

template <class Count>
void add_weights(const WeightedRows& rows, Count* counts) {
    sums_t sums[subset_groups];
    vector_t numbers[subset_groups][4 * subset_parts];
    const size_t n = rows.size;
    for (size_t t = 0; t < n;) {
        size_t groups = 0;
        uint64_t sum = 0;
        for (; groups < subset_groups && t < n; ++groups, t += subset_rows) {
            const uint64_t* words[4];
            uint32_t weights[4];
            uint64_t more = 0;
            for (size_t i = 0; i < subset_rows; ++i) {
                const size_t row = t + i < n ? rows.rows[t + i] : rows.zero_row;
                words[i] = rows.words + row * block_words;
                weights[i] = rows.weights[row];
                more += weights[i];
            }
            if (std::is_same_v<Count, double> && groups != 0 && sum + more > ~uint32_t(0)) break;
            sum += more;
            sums[groups] = subset_sums(weights);
            for (size_t part = 0; part < subset_parts; ++part) {
                const auto bits = [&](size_t i) {
                    return *reinterpret_cast<const vector_t*>(words[i] + part * (vector_bytes / 8));
                };
                interleave_rows(bits(0), bits(1), bits(2),
                                subset_rows == 4 ? bits(subset_rows - 1) : vector_t{},
                                numbers[groups] + 4 * part);
            }
        }
        // Eight vectors of counts stay in registers while the groups go by.
        for (size_t step = 0; step * step_columns < rows.n_columns; ++step) {
            sums_t count[8] = {};
            for (size_t g = 0; g < groups; ++g) {
                const sums_t number = (sums_t)numbers[g][step], of = sums[g];
                count[0] += select_sums(of, number);
                count[1] += select_sums(of, number >> 4);
                count[2] += select_sums(of, number >> 8);
                count[3] += select_sums(of, number >> 12);
                count[4] += select_sums(of, number >> 16);
                count[5] += select_sums(of, number >> 20);
                count[6] += select_sums(of, number >> 24);
                count[7] += select_sums(of, number >> 28);
            }
            alignas(64) uint32_t flat[step_columns];
            std::memcpy(flat, count, sizeof flat);
            add_sums(flat, rows.scale, counts + step * step_columns);
        }
    }
}

#else

// Byte by byte, so that no count has to be moved.
size_t bit_of_column(size_t column) { return column / 64 * 64 + 8 * (column % 8) + column / 8 % 8; }

// Without such a permutation: the sums of eight rows in memory, indexed by a byte for each column.
template <class Count>
void add_weights(const WeightedRows& rows, Count* counts) {
    constexpr uint64_t nibbles = 0x0F0F0F0F0F0F0F0Fu;
    const size_t n = rows.size;
    for (size_t t = 0; t < n; t += 8) {
        Count sums[256];
        const uint64_t* words[8];
        sums[0] = 0;
        for (size_t i = 0; i < 8; ++i) {
            const size_t row = t + i < n ? rows.rows[t + i] : rows.zero_row, half = size_t(1) << i;
            words[i] = rows.words + row * block_words;
            const Count weight = Count(rows.weights[row]) * Count(rows.scale);
            for (size_t j = 0; j < half; ++j) sums[half + j] = sums[j] + weight;
        }
        for (size_t w = 0; 64 * w < rows.n_columns; ++w) {
            uint64_t low[4], high[4], numbers[8];
            interleave_rows(words[0][w], words[1][w], words[2][w], words[3][w], low);
            interleave_rows(words[4][w], words[5][w], words[6][w], words[7][w], high);
            for (size_t p = 0; p < 4; ++p) {
                numbers[p] = (low[p] & nibbles) | ((high[p] & nibbles) << 4);
                numbers[4 + p] = ((low[p] >> 4) & nibbles) | (high[p] & ~nibbles);
            }
            uint8_t index[64];
            std::memcpy(index, numbers, sizeof index);
            for (size_t i = 0; i < 64; ++i) counts[64 * w + i] += sums[index[i]];
        }
    }
}

#endif

}  // namespace
}  // namespace labelsieve
