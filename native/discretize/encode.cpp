#include "discretize/encode.hpp"

#include <cmath>
#include <type_traits>

#include "discretize/cuts.hpp"
#include "discretize/numbers.hpp"

namespace labelsieve {

namespace {

template <class T>
bool is_code(T value) {
    if constexpr (std::is_floating_point_v<T>) {
        return value >= 0 && value < T(max_levels) && value == std::floor(value);
    } else {
        return value >= T(0) && uint64_t(value) < max_levels;
    }
}

template <class T>
std::optional<Place> scan(const Numbers& numbers, uint32_t* levels) {
    std::optional<Place> bad;
    std::fill(levels, levels + numbers.n_columns, 1);
    each_stretch<T>(numbers, [&](size_t column, size_t top, size_t n, const T* values) {
        bool good = true;
        T largest = 0;
        for (size_t i = 0; i < n; ++i) {
            good &= is_code(values[i]);
            largest = values[i] > largest ? values[i] : largest;
        }
        if (good) {
            levels[column] = std::max(levels[column], uint32_t(largest) + 1);
        } else if (!bad || std::pair(top, column) < std::pair(bad->row, bad->column)) {
            bad = Place{top + size_t(std::find_if_not(values, values + n, is_code<T>) - values), column};
        }
    });
    return bad;
}

template <class Code>
void copy_all(const Numbers& numbers, Code* out) {
    with_type(numbers.type, [&](auto zero) {
        using T = decltype(zero);
        each_stretch<T>(numbers, [&](size_t column, size_t top, size_t n, const T* values) {
            Code* to = out + column * numbers.n_rows + top;
            for (size_t i = 0; i < n; ++i) to[i] = Code(values[i]);
        });
    });
}

// Bytes have so few values that each is encoded once, and a column looked up.
template <class Byte, class Code>
uint32_t encode_bytes(const Byte* values, size_t n, EqualWidth rule, Code* out) {
    Byte least = values[0], largest = values[0];
    for (size_t i = 0; i < n; ++i) {
        least = std::min(least, values[i]);
        largest = std::max(largest, values[i]);
    }
    bool present[256] = {};
    if (largest - least <= 16) {
        for (int value = least; value <= largest; ++value)
            present[value - least] = std::find(values, values + n, Byte(value)) != values + n;
    } else {
        for (size_t i = 0; i < n; ++i) present[values[i] - least] = true;
    }
    std::vector<double> distinct;
    for (int value = least; value <= largest; ++value)
        if (present[value - least]) distinct.push_back(value);
    const Cuts cuts(distinct.data(), distinct.size(), false, rule);
    std::vector<Code> codes(distinct.size());
    cuts.encode(distinct.data(), distinct.size(), codes.data());
    const bool as_they_are =
        cuts.levels() == distinct.size() && distinct.size() == size_t(largest - least + 1);
    if (as_they_are) {  // the bins are the values, counted from the least
        for (size_t i = 0; i < n; ++i) out[i] = Code(values[i] - least);
    } else {
        Code of_value[256] = {};
        for (size_t k = 0; k < distinct.size(); ++k) of_value[int(distinct[k]) - least] = codes[k];
        for (size_t i = 0; i < n; ++i) out[i] = of_value[values[i] - least];
    }
    return uint32_t(cuts.levels());
}

template <class Code>
std::optional<Place> encode_equal_width(const Numbers& numbers, EqualWidth rule, Code* out,
                                        uint32_t* levels) {
    constexpr size_t together = 16;  // columns read at a time
    const size_t n = numbers.n_rows;
    return with_type(numbers.type, [&](auto zero) -> std::optional<Place> {
        using T = decltype(zero);
        using Kept = std::conditional_t<sizeof(T) == 1, T, double>;
        std::vector<Kept> values(together * n);
        for (size_t first = 0; first < numbers.n_columns; first += together) {
            Numbers part = numbers;
            part.data = static_cast<const uint8_t*>(numbers.data) + ptrdiff_t(first) * numbers.column_stride;
            part.n_columns = std::min(together, numbers.n_columns - first);
            each_stretch<T>(part, [&](size_t column, size_t top, size_t rows, const T* from) {
                for (size_t i = 0; i < rows; ++i) values[column * n + top + i] = Kept(from[i]);
            });
            for (size_t column = 0; column < part.n_columns; ++column) {
                const Kept* of_column = values.data() + column * n;
                Code* codes = out + (first + column) * n;
                if constexpr (sizeof(T) == 1) {
                    levels[first + column] = encode_bytes(of_column, n, rule, codes);
                } else {
                    for (size_t row = 0; row < n; ++row)
                        if (!std::isfinite(of_column[row])) return Place{row, first + column};
                    const Cuts cuts(of_column, n, false, rule);
                    levels[first + column] = uint32_t(cuts.levels());
                    cuts.encode(of_column, n, codes);
                }
            }
        }
        return std::nullopt;
    });
}

}  // namespace

std::optional<Place> scan_codes(const Numbers& numbers, uint32_t* levels) {
    return with_type(numbers.type, [&](auto zero) { return scan<decltype(zero)>(numbers, levels); });
}

std::optional<Place> scan_finite(const Numbers& numbers, bool allow_missing) {
    return with_type(numbers.type, [&](auto zero) -> std::optional<Place> {
        using T = decltype(zero);
        std::optional<Place> bad;
        if constexpr (std::is_floating_point_v<T>) {
            const auto good = [&](T value) {
                return std::isfinite(value) || (allow_missing && std::isnan(value));
            };
            each_stretch<T>(numbers, [&](size_t column, size_t top, size_t n, const T* values) {
                T sum = 0;
                for (size_t i = 0; i < n; ++i) sum += values[i] * T(0);  // 0, unless one is not finite
                if (sum == 0) return;
                const auto place = size_t(std::find_if_not(values, values + n, good) - values);
                if (place < n && (!bad || std::pair(top + place, column) < std::pair(bad->row, bad->column)))
                    bad = Place{top + place, column};
            });
        }
        return bad;
    });
}

void copy_codes(const Numbers& numbers, uint8_t* out) { copy_all(numbers, out); }
void copy_codes(const Numbers& numbers, code_t* out) { copy_all(numbers, out); }

std::optional<Place> equal_width(const Numbers& numbers, EqualWidth rule, uint8_t* out, uint32_t* levels) {
    return encode_equal_width(numbers, rule, out, levels);
}
std::optional<Place> equal_width(const Numbers& numbers, EqualWidth rule, code_t* out, uint32_t* levels) {
    return encode_equal_width(numbers, rule, out, levels);
}

std::optional<Place> equal_width(const int64_t* starts, const double* values, size_t n_rows, size_t n_columns,
                                 EqualWidth rule, code_t* out, code_t* implicit, uint32_t* levels) {
    for (size_t column = 0; column < n_columns; ++column) {
        const size_t listed = size_t(starts[column + 1] - starts[column]);
        const double* of_column = values + starts[column];
        for (size_t i = 0; i < listed; ++i)
            if (!std::isfinite(of_column[i])) return Place{i, column};
        const bool has_zero = listed < n_rows;
        const Cuts cuts(of_column, listed, has_zero, rule);
        levels[column] = uint32_t(cuts.levels());
        const double nothing = 0.0;
        implicit[column] = 0;
        if (has_zero) cuts.encode(&nothing, 1, implicit + column);
        cuts.encode(of_column, listed, out + starts[column]);
    }
    return std::nullopt;
}

}  // namespace labelsieve
