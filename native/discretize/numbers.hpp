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
        case Number::u8: return visit(std::uint8_t{});
        case Number::i8: return visit(std::int8_t{});
        case Number::i16: return visit(std::int16_t{});
        case Number::i32: return visit(std::int32_t{});
        case Number::i64: return visit(std::int64_t{});
        case Number::u16: return visit(std::uint16_t{});
        case Number::u32: return visit(std::uint32_t{});
        case Number::u64: return visit(std::uint64_t{});
        case Number::f32: return visit(float{});
        case Number::f64: break;
    }
    return visit(double{});
}

template <class T>
T load(const std::uint8_t* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// A stretch of a column as contiguous numbers: in place when it lies so, else copied to `room`.
template <class T>
const T* stretch(const Numbers& numbers, std::size_t column, std::size_t top, std::size_t n, T* room) {
    const auto* from = static_cast<const std::uint8_t*>(numbers.data) + std::ptrdiff_t(column) * numbers.column_stride +
                       std::ptrdiff_t(top) * numbers.row_stride;
    if (numbers.row_stride == std::ptrdiff_t(sizeof(T)) && reinterpret_cast<std::uintptr_t>(from) % alignof(T) == 0)
        return reinterpret_cast<const T*>(from);
    for (std::size_t row = 0; row < n; ++row, from += numbers.row_stride) room[row] = load<T>(from);
    return room;
}

// visit(column, top, n, values): by stripes of rows, so that a row-major table is read line by line.
template <class T, class Visit>
void each_stretch(const Numbers& numbers, Visit&& visit) {
    const bool by_columns = std::abs(numbers.row_stride) <= std::abs(numbers.column_stride);
    const std::size_t rows = by_columns ? 4096 : 256;
    std::vector<T> room(rows);
    const std::size_t wide = by_columns ? 1 : 64;  // columns that share the lines of a stripe
    for (std::size_t left = 0; left < numbers.n_columns; left += wide)
        for (std::size_t top = 0; top < numbers.n_rows; top += rows)
            for (std::size_t column = left; column < std::min(numbers.n_columns, left + wide); ++column) {
                const std::size_t n = std::min(rows, numbers.n_rows - top);
                visit(column, top, n, stretch<T>(numbers, column, top, n, room.data()));
            }
}

}  // namespace labelsieve
