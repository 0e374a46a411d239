// What the C++ tests share: a line for each condition that does not hold, random numbers, and n log n.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

inline int checks = 0, failures = 0;

inline void expect(bool holds, const char* what, const char* file, int line) {
    ++checks;
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "%s, line %d: %s\n", file, line, what);
}
#define EXPECT(condition) expect((condition), #condition, __FILE__, __LINE__)

template <class Error, class Call>
bool throws(const Call& call) {
    try {
        call();
    } catch (const Error&) {
        return true;
    }
    return false;
}

struct Below {  // random numbers below the one given
    std::mt19937_64 bits;
    explicit Below(uint64_t seed) : bits(seed) {}
    size_t operator()(size_t n) { return size_t(bits() % n); }
};

// n log n in fixed point of 20 bits, less a penalty; the first is 0.
inline std::vector<int64_t> term_table(size_t n, int64_t penalty = 0) {
    std::vector<int64_t> table(n + 1, 0);
    for (size_t i = 1; i <= n; ++i)
        table[i] = std::llround(std::ldexp(double(i) * std::log(double(i)), 20)) - penalty;
    return table;
}
