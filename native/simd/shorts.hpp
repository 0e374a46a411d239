// Numbers of 16 bits, as many as a machine word holds, and sums of their products in half as many of 32 bits.
// Included by digits.hpp and exchange.hpp.
#pragma once

#include "simd/vector.hpp"

namespace labelsieve {
namespace {

#if defined(__GNUC__) || defined(__clang__)

struct Shorts {
    typedef int16_t vector __attribute__((vector_size(vector_bytes), may_alias, aligned(2)));
    static constexpr size_t width = vector_bytes / 2;
    vector values;
    static Shorts load(const int16_t* from) { return {*reinterpret_cast<const vector*>(from)}; }
    static Shorts all(int16_t value) { return {vector{} + value}; }
    void store(int16_t* to) const { *reinterpret_cast<vector*>(to) = values; }
    friend Shorts operator+(Shorts a, Shorts b) { return {a.values + b.values}; }
    friend Shorts operator-(Shorts a, Shorts b) { return {a.values - b.values}; }
    friend Shorts operator&(Shorts a, Shorts b) { return {a.values & b.values}; }
    Shorts shifted_left(int by) const { return {values << by}; }
    Shorts shifted_right(int by) const { return {values >> by}; }
    friend Shorts least(Shorts a, Shorts b) { return {a.values < b.values ? a.values : b.values}; }
    friend Shorts greatest_of(Shorts a, Shorts b) { return {a.values > b.values ? a.values : b.values}; }
    // The values where `of` equals `wanted`, else zero.
    Shorts where(Shorts of, int16_t wanted) const { return {values & (of.values == wanted)}; }
};

struct Sums {
    typedef int32_t vector __attribute__((vector_size(vector_bytes), may_alias));
    vector values{};
    void add_products(Shorts a, Shorts b) {
#if defined(__AVX512VNNI__)
        values = (vector)_mm512_dpwssd_epi32((__m512i)values, (__m512i)a.values, (__m512i)b.values);
#elif defined(__AVX512BW__)
        values += (vector)_mm512_madd_epi16((__m512i)a.values, (__m512i)b.values);
#elif defined(__AVX2__)
        values += (vector)_mm256_madd_epi16((__m256i)a.values, (__m256i)b.values);
#elif defined(LABELSIEVE_X86)
        values += (vector)_mm_madd_epi16((__m128i)a.values, (__m128i)b.values);
#else
        for (size_t i = 0; i < Shorts::width; ++i) values[i / 2] += int32_t(a.values[i]) * b.values[i];
#endif
    }
    int64_t total() const {
        int64_t sum = 0;
        for (size_t i = 0; i < Shorts::width / 2; ++i) sum += values[i];
        return sum;
    }
};

#else

struct Shorts {
    static constexpr size_t width = 1;
    int16_t values;
    static Shorts load(const int16_t* from) { return {*from}; }
    static Shorts all(int16_t value) { return {value}; }
    void store(int16_t* to) const { *to = values; }
    friend Shorts operator+(Shorts a, Shorts b) { return {int16_t(a.values + b.values)}; }
    friend Shorts operator-(Shorts a, Shorts b) { return {int16_t(a.values - b.values)}; }
    friend Shorts operator&(Shorts a, Shorts b) { return {int16_t(a.values & b.values)}; }
    Shorts shifted_left(int by) const { return {int16_t(values << by)}; }
    Shorts shifted_right(int by) const { return {int16_t(values >> by)}; }
    friend Shorts least(Shorts a, Shorts b) { return a.values < b.values ? a : b; }
    friend Shorts greatest_of(Shorts a, Shorts b) { return a.values > b.values ? a : b; }
    Shorts where(Shorts of, int16_t wanted) const { return {of.values == wanted ? values : int16_t(0)}; }
};

struct Sums {
    int64_t sum = 0;
    void add_products(Shorts a, Shorts b) { sum += int32_t(a.values) * b.values; }
    int64_t total() const { return sum; }
};

#endif

}  // namespace
}  // namespace labelsieve
