// Many numbers at once: adding squares, comparing a line of 64 bytes with a limit, finding a value by its
// rank. Included by kernels.cpp alone.
#pragma once

#include <bit>
#include <limits>

#include "simd/kernels.hpp"
#include "simd/vector.hpp"

namespace labelsieve {
namespace {

template <class T>
inline constexpr size_t in_line = 64 / sizeof(T);
// What no sum exceeds. Squares of huge numbers overflow to infinity, and such rows are neighbors too if there
// are no others.
template <class T>
inline constexpr T greatest =
    std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();

#if defined(__GNUC__) || defined(__clang__)

typedef double wide_vector __attribute__((vector_size(vector_bytes), may_alias, aligned(8)));
typedef float single_vector __attribute__((vector_size(vector_bytes), may_alias, aligned(4)));
typedef int16_t narrow_vector __attribute__((vector_size(vector_bytes), may_alias, aligned(2)));
typedef int8_t binary_vector __attribute__((vector_size(vector_bytes), may_alias, aligned(1)));
template <class T>
struct VectorOf;
template <>
struct VectorOf<double> {
    using type = wide_vector;
};
template <>
struct VectorOf<float> {
    using type = single_vector;
};
template <>
struct VectorOf<int16_t> {
    using type = narrow_vector;
};
template <>
struct VectorOf<int8_t> {
    using type = binary_vector;
};

// As many numbers as a machine word holds. Those of one byte are zeros and ones.
template <class T>
struct Lanes {
    static constexpr size_t width = vector_bytes / sizeof(T);
    using vector = VectorOf<T>::type;
    vector values;
    static Lanes load(const T* from) { return {*reinterpret_cast<const vector*>(from)}; }
    void store(T* to) const { *reinterpret_cast<vector*>(to) = values; }
    void add_square(const Lanes& column, T at) {
        if constexpr (sizeof(T) == 1) {
            values += column.values ^ at;
        } else {
            const vector far = column.values - at;
            values += far * far;
        }
    }
    void keep_least(const Lanes& other) { values = other.values < values ? other.values : values; }
    template <bool negative>
    void add_multiple(const Lanes& other, T factor) {
        if constexpr (negative)
            values -= other.values * factor;
        else
            values += other.values * factor;
    }
};

#else

template <class T>
struct Lanes {
    static constexpr size_t width = 1;
    using vector = T;
    vector values;
    static Lanes load(const T* from) { return {*from}; }
    void store(T* to) const { *to = values; }
    void add_square(const Lanes& column, T at) {
        if constexpr (sizeof(T) == 1) {
            values = T(values + (column.values ^ at));
        } else {
            const T far = T(column.values - at);
            values = T(values + T(far * far));
        }
    }
    void keep_least(const Lanes& other) { values = other.values < values ? other.values : values; }
    template <bool negative>
    void add_multiple(const Lanes& other, T factor) {
        values += (negative ? -factor : factor) * other.values;
    }
};

#endif

// Bit i is set where values[i] <= limit, for one line.
template <class T>
inline uint64_t up_to_one_by_one(const T* values, T limit) {
    uint64_t mask = 0;
    for (size_t i = 0; i < in_line<T>; ++i) mask |= uint64_t(values[i] <= limit) << i;
    return mask;
}
inline uint64_t up_to(const double* values, double limit) {
#if defined(__AVX512F__)
    return _mm512_cmp_pd_mask(_mm512_loadu_pd(values), _mm512_set1_pd(limit), _CMP_LE_OQ);
#elif defined(LABELSIEVE_X86)
    const __m128d most = _mm_set1_pd(limit);
    uint32_t mask = 0;
    for (int part = 0; part < 4; ++part)
        mask |= uint32_t(_mm_movemask_pd(_mm_cmple_pd(_mm_loadu_pd(values + 2 * part), most))) << (2 * part);
    return mask;
#else
    return up_to_one_by_one(values, limit);
#endif
}
inline uint64_t up_to(const float* values, float limit) {
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask(_mm512_loadu_ps(values), _mm512_set1_ps(limit), _CMP_LE_OQ);
#elif defined(LABELSIEVE_X86)
    const __m128 most = _mm_set1_ps(limit);
    uint32_t mask = 0;
    for (int part = 0; part < 4; ++part)
        mask |= uint32_t(_mm_movemask_ps(_mm_cmple_ps(_mm_loadu_ps(values + 4 * part), most))) << (4 * part);
    return mask;
#else
    return up_to_one_by_one(values, limit);
#endif
}
inline uint64_t up_to(const int16_t* values, int16_t limit) {
#if defined(__AVX512BW__)
    return _mm512_cmple_epi16_mask(_mm512_loadu_si512(values), _mm512_set1_epi16(limit));
#elif defined(LABELSIEVE_X86)
    const __m128i most = _mm_set1_epi16(limit);
    uint32_t beyond = 0;
    for (int half = 0; half < 2; ++half) {
        const auto* from = reinterpret_cast<const __m128i*>(values + 16 * half);
        const __m128i low = _mm_cmpgt_epi16(_mm_loadu_si128(from), most),
                      high = _mm_cmpgt_epi16(_mm_loadu_si128(from + 1), most);
        beyond |= uint32_t(_mm_movemask_epi8(_mm_packs_epi16(low, high))) << (16 * half);
    }
    return ~beyond;
#else
    return up_to_one_by_one(values, limit);
#endif
}
inline uint64_t up_to(const int8_t* values, int8_t limit) {
#if defined(__AVX512BW__)
    return _mm512_cmple_epi8_mask(_mm512_loadu_si512(values), _mm512_set1_epi8(limit));
#elif defined(LABELSIEVE_X86)
    const __m128i most = _mm_set1_epi8(limit);
    uint64_t beyond = 0;
    for (int part = 0; part < 4; ++part) {
        const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values + 16 * part));
        beyond |= uint64_t(uint32_t(_mm_movemask_epi8(_mm_cmpgt_epi8(sixteen, most)))) << (16 * part);
    }
    return ~beyond;
#else
    return up_to_one_by_one(values, limit);
#endif
}

// The largest number below a sum of squares.
inline double below(double sum) {
    return sum > 0 ? std::bit_cast<double>(std::bit_cast<uint64_t>(sum) - 1) : -1.0;
}
inline float below(float sum) {
    return sum > 0 ? std::bit_cast<float>(std::bit_cast<uint32_t>(sum) - 1) : -1.0f;
}
inline int16_t below(int16_t sum) { return int16_t(sum - 1); }
inline int8_t below(int8_t sum) { return int8_t(sum - 1); }

// How many of the values in whole lines are at most `limit`.
template <class T>
inline size_t count_up_to(const T* values, size_t n, T limit) {
    size_t count = 0;
    for (size_t i = 0; i < n; i += in_line<T>) count += size_t(std::popcount(up_to(values + i, limit)));
    return count;
}

// Bit i is set where line i, of up to 64, has such values.
template <class T>
inline uint64_t lines_up_to(const T* values, size_t n_lines, T limit) {
    uint64_t lines = 0;
    for (size_t i = 0; i < n_lines; ++i) lines |= uint64_t(up_to(values + i * in_line<T>, limit) != 0) << i;
    return lines;
}

// Numbers from zero upwards in the order of their bits.
inline uint64_t bits_of(double value) { return std::bit_cast<uint64_t>(value); }
inline uint64_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }
template <class T>
inline uint64_t bits_of(T value) {
    return uint64_t(value);
}
inline void from_bits(uint64_t bits, double& value) { value = std::bit_cast<double>(bits); }
inline void from_bits(uint64_t bits, float& value) { value = std::bit_cast<float>(uint32_t(bits)); }
template <class T>
inline void from_bits(uint64_t bits, T& value) {
    value = T(bits);
}

// The value that comes after `k` others when they are sorted; n > k, in whole lines, none below zero. No
// branch depends on the values: they are unpredictable to the processor, and guessing wrong costs more than
// looking at all of them.
template <class T>
inline T value_at_rank(const T* values, size_t n, size_t k) {
    uint64_t found = ~uint64_t(0);
    for (size_t i = 0; i < n; ++i) {
        const uint64_t too_low =
            uint64_t(0) - uint64_t(count_up_to(values, n, values[i]) <= k);  // no bits or all
        const uint64_t bits = bits_of(values[i]) | too_low;
        found = bits < found ? bits : found;
    }
    T value;
    from_bits(found, value);
    return value;
}

}  // namespace
}  // namespace labelsieve
