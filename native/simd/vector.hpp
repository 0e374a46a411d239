// A machine word of 128 to 512 bits, and what plain C++ cannot express well about one: adding three bits in
// every position, comparing 64 bytes at once, spreading 64 bits to bytes, and writing past the caches.
//
// GCC and Clang have vector types in the language; other compilers get a plain struct with the same
// operators. Where an instruction does the job it is used, with an equivalent in plain C++. All follows the
// instruction set of the including file.
#pragma once

#include <cstring>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define LABELSIEVE_X86 1
#include <immintrin.h>
#endif

#include "common/types.hpp"

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
typedef uint64_t vector_t __attribute__((vector_size(vector_bytes), may_alias));

#else

inline constexpr int vector_bytes = 32;
struct vector_t {
    uint64_t lane[4] = {0, 0, 0, 0};
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

// Bit i is set where codes[i] == value, for 64 codes.
inline uint64_t equal_mask(const uint8_t* codes, uint8_t value) {
#if defined(__AVX512BW__)
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(codes), _mm512_set1_epi8(char(value)));
#elif defined(__AVX2__)
    const __m256i wanted = _mm256_set1_epi8(char(value));
    uint64_t mask = 0;
    for (int part = 0; part < 2; ++part) {
        const __m256i codes_of = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + 32 * part));
        mask |= uint64_t(uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(codes_of, wanted)))) << (32 * part);
    }
    return mask;
#elif defined(LABELSIEVE_X86)
    const __m128i wanted = _mm_set1_epi8(char(value));
    uint64_t mask = 0;
    for (int part = 0; part < 4; ++part) {
        const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + 16 * part));
        mask |= uint64_t(uint32_t(_mm_movemask_epi8(_mm_cmpeq_epi8(sixteen, wanted)))) << (16 * part);
    }
    return mask;
#else
    uint64_t mask = 0;
    for (int group = 0; group < 8; ++group) {
        uint64_t eight = 0;
        for (int i = 0; i < 8; ++i) eight |= uint64_t(codes[8 * group + i] == value) << (8 * i);
        mask |= (eight * 0x0102040810204080u >> 56)
                << (8 * group);  // the product gathers the low bits into one byte
    }
    return mask;
#endif
}

// spread[b] has bit i of b as byte i.
struct SpreadTable {
    uint64_t of[256] = {};
    constexpr SpreadTable() {
        for (unsigned byte = 0; byte < 256; ++byte)
            for (unsigned i = 0; i < 8; ++i)
                if (byte >> i & 1) of[byte] |= uint64_t(1) << (8 * i);
    }
};
[[maybe_unused]] constexpr SpreadTable spread;

// bytes[i] gets bit i of planes[p * stride] as its bit p, for 64 bytes and up to 8 planes.
inline void interleave(const uint64_t* planes, size_t stride, unsigned n_planes, uint8_t* bytes) {
#if defined(__AVX512BW__)
    __m512i sum = _mm512_setzero_si512();
    for (unsigned p = 0; p < n_planes; ++p)
        sum = _mm512_or_si512(sum, _mm512_maskz_set1_epi8(planes[p * stride], char(1u << p)));
    _mm512_storeu_si512(bytes, sum);
#else
    for (int group = 0; group < 8; ++group) {
        uint64_t eight = 0;
        for (unsigned p = 0; p < n_planes; ++p)
            eight |= spread.of[planes[p * stride] >> (8 * group) & 255] << p;
        std::memcpy(bytes + 8 * group, &eight, 8);
    }
#endif
}

// to[i] = from[i], past the caches: what is written once and exceeds them need not be read into them first.
// Other threads see it after finish_streams().
inline void stream(const double* from, size_t n, double* to) {
    size_t i = 0;
#if defined(LABELSIEVE_X86)
    if (n > 0 && reinterpret_cast<uintptr_t>(to) % 16 != 0) {
        to[0] = from[0];
        i = 1;
    }
    for (; i + 2 <= n; i += 2) _mm_stream_pd(to + i, _mm_loadu_pd(from + i));
#endif
    for (; i < n; ++i) to[i] = from[i];
}

inline void finish_streams() {
#if defined(LABELSIEVE_X86)
    _mm_sfence();
#endif
}

}  // namespace
}  // namespace labelsieve
