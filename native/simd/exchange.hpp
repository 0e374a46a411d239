// Hamming distances, and the sums that an exchange of medoids changes, many points at once. Included by
// kernels.cpp alone.
#pragma once

#include <bit>

#include "simd/kernels.hpp"
#include "simd/shorts.hpp"

namespace labelsieve {
namespace {

// Different bits of eight points and each of some rows.
template <size_t n_rows, class T>
inline void hamming_of_eight(const uint64_t* points, const uint64_t* rows, size_t n_words, T* out,
                             size_t pitch) {
#if defined(__AVX512VPOPCNTDQ__)
    __m512i sums[n_rows] = {};
    for (size_t w = 0; w < n_words; ++w) {
        const __m512i point = _mm512_loadu_si512(points + w * 8);
        for (size_t r = 0; r < n_rows; ++r) {
            const __m512i row = _mm512_set1_epi64((long long)(rows[r * n_words + w]));
            sums[r] = _mm512_add_epi64(sums[r], _mm512_popcnt_epi64(_mm512_xor_si512(point, row)));
        }
    }
    for (size_t r = 0; r < n_rows; ++r) {
        if constexpr (sizeof(T) == 2)
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + r * pitch),
                             _mm512_maskz_cvtepi64_epi16(0xff, sums[r]));
        else
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + r * pitch),
                                _mm512_maskz_cvtepi64_epi32(0xff, sums[r]));
    }
#else
    for (size_t r = 0; r < n_rows; ++r) {
        int sums[8] = {};
        for (size_t w = 0; w < n_words; ++w)
            for (size_t i = 0; i < 8; ++i)
                sums[i] += std::popcount(points[w * 8 + i] ^ rows[r * n_words + w]);
        for (size_t i = 0; i < 8; ++i) out[r * pitch + i] = T(sums[i]);
    }
#endif
}

// Four rows share every load of the points.
template <class T>
void hamming(const BitLanes& points, const uint64_t* rows, size_t n_rows, T* out, size_t pitch) {
    constexpr size_t many = 4;
    const size_t n_words = points.n_words;
    for (; n_rows > 0; rows += many * n_words, out += many * pitch) {
        const uint64_t* eight = points.words;
        for (size_t block = 0; block < points.n_blocks; ++block, eight += 8 * n_words) {
            if (n_rows >= many) {
                hamming_of_eight<many>(eight, rows, n_words, out + block * 8, pitch);
            } else {
                for (size_t r = 0; r < n_rows; ++r)
                    hamming_of_eight<1>(eight, rows + r * n_words, n_words, out + r * pitch + block * 8, 0);
            }
        }
        n_rows -= n_rows < many ? n_rows : many;
    }
}

// Nearest and second nearest come from minima of distance * 16 + medoid.
int64_t two_nearest(const MedoidPoints& points, const int16_t* const* distances, size_t n_medoids,
                    int64_t* removal) {
    constexpr size_t most = most_short_medoids;
    Sums deviation, losses[most];
    for (size_t start = 0, block = 0; start < points.n; start += medoid_block, ++block) {
        int16_t* of_medoid = points.of_medoid + start * most;
        uint32_t present = 0;
        for (size_t part = 0; part < medoid_block; part += Shorts::width) {
            const size_t at = start + part;
            Shorts first = Shorts::all(0x7fff), second = first;
            for (size_t j = 0; j < n_medoids; ++j) {
                const Shorts key = Shorts::load(distances[j] + at).shifted_left(4) + Shorts::all(int16_t(j));
                second = least(second, greatest_of(key, first));
                first = least(first, key);
            }
            const Shorts nearest = first & Shorts::all(15), weight = Shorts::load(points.weights + at);
            first = first.shifted_right(4);
            second = second.shifted_right(4);
            first.store(points.first + at);
            second.store(points.second + at);
            deviation.add_products(weight, first);
            for (size_t j = 0; j < n_medoids; ++j) {
                const Shorts own = weight.where(nearest, int16_t(j));
                own.store(of_medoid + j * medoid_block + part);
                losses[j].add_products(own, second - first);
            }
            int16_t numbers[Shorts::width];
            nearest.store(numbers);
            for (size_t i = 0; i < Shorts::width; ++i)
                present |= uint32_t(points.weights[at + i] != 0) << numbers[i];
        }
        points.present[block] = present;
    }
    for (size_t j = 0; j < n_medoids; ++j) removal[j] = losses[j].total();
    return deviation.total();
}

int64_t addition_gain(const MedoidPoints& points, const int16_t* distances) {
    Sums gain;
    for (size_t i = 0; i < points.n; i += Shorts::width) {
        const Shorts nearer = Shorts::load(points.first + i) - Shorts::load(distances + i);
        gain.add_products(Shorts::load(points.weights + i), greatest_of(nearer, Shorts::all(0)));
    }
    return gain.total();
}

// Only medoids that are nearest to a point of the block are visited.
void exchange_changes(const MedoidPoints& points, const int16_t* distances, size_t n_medoids,
                      int64_t* changes) {
    constexpr size_t most = most_short_medoids;
    Sums gain, sums[most];
    for (size_t start = 0, block = 0; start < points.n; start += medoid_block, ++block) {
        const int16_t* of_medoid = points.of_medoid + start * most;
        for (size_t part = 0; part < medoid_block; part += Shorts::width) {
            const Shorts distance = Shorts::load(distances + start + part),
                         first = Shorts::load(points.first + start + part),
                         second = Shorts::load(points.second + start + part);
            gain.add_products(Shorts::load(points.weights + start + part),
                              least(distance - first, Shorts::all(0)));
            const Shorts change = least(greatest_of(distance, first), second) - second;
            for (uint32_t present = points.present[block]; present; present &= present - 1) {
                const size_t j = size_t(std::countr_zero(present));
                sums[j].add_products(Shorts::load(of_medoid + j * medoid_block + part), change);
            }
        }
    }
    for (size_t j = 0; j < n_medoids; ++j) changes[j] = gain.total() + sums[j].total();
}

}  // namespace
}  // namespace labelsieve
