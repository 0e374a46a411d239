// Reading arrays of any number type and layout.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "discretize/encode.hpp"

namespace labelsieve {

template <class Visit>
auto with_type(Number type, Visit&& visit) {
    switch (type) {
        case Number::boolean:
        case Number::u8: return visit(uint8_t{});
        case Number::i8: return visit(int8_t{});
        case Number::i16: return visit(int16_t{});
        case Number::i32: return visit(int32_t{});
        case Number::i64: return visit(int64_t{});
        case Number::u16: return visit(uint16_t{});
        case Number::u32: return visit(uint32_t{});
        case Number::u64: return visit(uint64_t{});
        case Number::f32: return visit(float{});
        case Number::f64: break;
    }
    return visit(double{});
}

template <class T>
T load_unaligned(const uint8_t* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// A stretch of a column as contiguous numbers: where they lie when they are, else copied to `buffer`.
template <class T>
const T* stretch(const StridedNumbers& numbers, size_t column, size_t top, size_t n, T* buffer) {
    const auto* from = static_cast<const uint8_t*>(numbers.data) + ptrdiff_t(column) * numbers.column_stride +
                       ptrdiff_t(top) * numbers.row_stride;
    if (numbers.row_stride == ptrdiff_t(sizeof(T)) && reinterpret_cast<uintptr_t>(from) % alignof(T) == 0)
        return reinterpret_cast<const T*>(from);
    for (size_t row = 0; row < n; ++row, from += numbers.row_stride) buffer[row] = load_unaligned<T>(from);
    return buffer;
}

inline constexpr size_t most_together = 4096;  // rows of a stretch

// visit(column, top, n, values): by stripes of rows, so that a row-major table is read line by line.
template <class T, class Visit>
void each_stretch(const StridedNumbers& numbers, Visit&& visit) {
    const bool by_columns = std::abs(numbers.row_stride) <= std::abs(numbers.column_stride);
    const size_t rows = by_columns ? most_together : 256;
    std::vector<T> buffer(rows);
    const size_t wide = by_columns ? 1 : 64;  // columns that share the lines of a stripe
    for (size_t left = 0; left < numbers.n_columns; left += wide)
        for (size_t top = 0; top < numbers.n_rows; top += rows)
            for (size_t column = left; column < std::min(numbers.n_columns, left + wide); ++column) {
                const size_t n = std::min(rows, numbers.n_rows - top);
                visit(column, top, n, stretch<T>(numbers, column, top, n, buffer.data()));
            }
}

}  // namespace labelsieve
