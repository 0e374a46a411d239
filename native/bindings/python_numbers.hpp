// Tables of numbers as Python hands them over. Only module*.cpp include this.
#pragma once

#include <optional>
#include <utility>

#include "bindings/python.hpp"
#include "discretize/encode.hpp"

namespace labelsieve {

inline Number number_of(const nb::dlpack::dtype& type) {
    if (type == nb::dtype<bool>()) return Number::boolean;
    if (type == nb::dtype<int8_t>()) return Number::i8;
    if (type == nb::dtype<int16_t>()) return Number::i16;
    if (type == nb::dtype<int32_t>()) return Number::i32;
    if (type == nb::dtype<int64_t>()) return Number::i64;
    if (type == nb::dtype<uint8_t>()) return Number::u8;
    if (type == nb::dtype<uint16_t>()) return Number::u16;
    if (type == nb::dtype<uint32_t>()) return Number::u32;
    if (type == nb::dtype<uint64_t>()) return Number::u64;
    if (type == nb::dtype<float>()) return Number::f32;
    if (type == nb::dtype<double>()) return Number::f64;
    throw std::invalid_argument("numbers must be booleans, integers of up to 64 bits, float32 or float64");
}

inline Numbers numbers_of(const Matrix& array) {
    const auto item = ptrdiff_t(array.itemsize());
    return {array.data(),           number_of(array.dtype()), array.stride(0) * item,
            array.stride(1) * item, array.shape(0),           array.shape(1)};
}

using Where = std::optional<std::pair<size_t, size_t>>;
inline Where where(const std::optional<Place>& place) {
    if (!place) return std::nullopt;
    return std::pair(place->row, place->column);
}

inline void require_starts(const Vector<int64_t>& starts, size_t n_parts, size_t n_entries) {
    require(starts.shape(0) == n_parts + 1 && starts.data()[0] == 0, "one start more than parts, from 0");
    for (size_t c = 0; c < n_parts; ++c)
        require(starts.data()[c] <= starts.data()[c + 1], "starts must rise");
    require(starts.data()[n_parts] == int64_t(n_entries), "starts must end with the entries");
}

}  // namespace labelsieve
