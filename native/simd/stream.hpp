// Writing past the caches: what is written once and is larger than they are need not be read into them first.
#pragma once

#include "simd/vector.hpp"

namespace labelsieve {
namespace {

// to[i] = from[i]. Others see it after finish_streams().
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
