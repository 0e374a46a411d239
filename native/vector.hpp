// A machine word of 128 to 512 bits, and the two logic functions of a carry-save adder.
//
// GCC and Clang have vector types in the language; other compilers get a plain struct with the same operators.
// The width follows the instruction set that the including file is compiled for.
#pragma once

#include <cstdint>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace labelsieve {
namespace {

#if defined(__GNUC__) || defined(__clang__)

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif
typedef std::uint64_t vector_t __attribute__((vector_size(vector_bytes), may_alias));

#else

inline constexpr int vector_bytes = 32;
struct vector_t {
    std::uint64_t lane[4] = {0, 0, 0, 0};
    friend vector_t operator&(const vector_t& a, const vector_t& b) {
        return {{a.lane[0] & b.lane[0], a.lane[1] & b.lane[1], a.lane[2] & b.lane[2], a.lane[3] & b.lane[3]}};
    }
    friend vector_t operator|(const vector_t& a, const vector_t& b) {
        return {{a.lane[0] | b.lane[0], a.lane[1] | b.lane[1], a.lane[2] | b.lane[2], a.lane[3] | b.lane[3]}};
    }
    friend vector_t operator^(const vector_t& a, const vector_t& b) {
        return {{a.lane[0] ^ b.lane[0], a.lane[1] ^ b.lane[1], a.lane[2] ^ b.lane[2], a.lane[3] ^ b.lane[3]}};
    }
};

#endif

// Adds three bits in every position: a + b + c = 2 * carry + sum.
inline void add3(vector_t& carry, vector_t& sum, vector_t a, vector_t b, vector_t c) {
#if defined(__AVX512F__)
    // One instruction each, where the compilers do not find the majority by themselves.
    const __m512i x = (__m512i)a, y = (__m512i)b, z = (__m512i)c;
    carry = (vector_t)_mm512_ternarylogic_epi64(x, y, z, 0xE8);
    sum = (vector_t)_mm512_ternarylogic_epi64(x, y, z, 0x96);
#else
    const vector_t half = a ^ b;
    carry = (a & b) | (half & c);
    sum = half ^ c;
#endif
}

}  // namespace
}  // namespace labelsieve
