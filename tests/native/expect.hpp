// What the C++ tests expect: a line for each condition that does not hold, and their number for each file.
#pragma once

#include <cstdio>

static int failures = 0;

static void expect(bool holds, const char* what, const char* file, int line) {
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "%s, line %d: %s\n", file, line, what);
}
#define EXPECT(condition) expect((condition), #condition, __FILE__, __LINE__)
