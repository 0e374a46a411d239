#include "encode.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

namespace labelsieve {

namespace {

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

template <class T>
bool is_code(T value) {
    if constexpr (std::is_floating_point_v<T>) {
        return value >= 0 && value < T(max_levels) && value == std::floor(value);
    } else {
        return value >= T(0) && std::uint64_t(value) < max_levels;
    }
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

template <class T>
std::optional<Place> scan(const Numbers& numbers, std::uint32_t* levels) {
    std::optional<Place> bad;
    std::fill(levels, levels + numbers.n_columns, 1);
    each_stretch<T>(numbers, [&](std::size_t column, std::size_t top, std::size_t n, const T* values) {
        bool good = true;
        T largest = 0;
        for (std::size_t i = 0; i < n; ++i) {
            good &= is_code(values[i]);
            largest = values[i] > largest ? values[i] : largest;
        }
        if (good) {
            levels[column] = std::max(levels[column], std::uint32_t(largest) + 1);
        } else if (!bad || std::pair(top, column) < std::pair(bad->row, bad->column)) {
            bad = Place{top + std::size_t(std::find_if_not(values, values + n, is_code<T>) - values), column};
        }
    });
    return bad;
}

template <class Code>
void copy_all(const Numbers& numbers, Code* out) {
    with_type(numbers.type, [&](auto zero) {
        using T = decltype(zero);
        each_stretch<T>(numbers, [&](std::size_t column, std::size_t top, std::size_t n, const T* values) {
            Code* to = out + column * numbers.n_rows + top;
            for (std::size_t i = 0; i < n; ++i) to[i] = Code(values[i]);
        });
    });
}

constexpr std::size_t stretch_rows = 256;  // values that are compared together, in the first cache
constexpr std::size_t few_cuts = 32;       // up to which comparing with all beats searching

// The cut points of one column, or its few distinct values.
class Cuts {
  public:
    Cuts(const double* values, std::size_t n, bool has_zero, EqualWidth rule) : closed_right_(rule.closed_right) {
        double least = has_zero ? 0.0 : values[0], largest = least;
        for (std::size_t i = 0; i < n; ++i) {
            least = values[i] < least ? values[i] : least;
            largest = values[i] > largest ? values[i] : largest;
        }
        if (has_zero) cuts_.push_back(0.0);
        distinct_ = collect_distinct(values, n, rule.n_bins);
        levels_ = distinct_ ? cuts_.size() : rule.n_bins;
        if (distinct_) return;
        cuts_.clear();
        // A quarter of the widest range of doubles does not overflow; dividing by four is exact but for the tiniest.
        const double scale = std::isfinite(largest - least) ? 1.0 : 4.0, low = least / scale;
        const double width = (largest / scale - low) / double(rule.n_bins);
        for (std::size_t i = 1; i < rule.n_bins; ++i) cuts_.push_back(scale * (low + double(i) * width));
    }

    std::size_t levels() const { return levels_; }

    // Codes are the number of cuts below a value, counting one that equals it when bins are closed on the left.
    template <class Code>
    void encode(const double* values, std::size_t n, Code* out) const {
        const bool strict = distinct_ || closed_right_;
        for (std::size_t start = 0; start < n; start += stretch_rows) {
            const std::size_t stop = std::min(n, start + stretch_rows);
            if (cuts_.size() > few_cuts) {
                for (std::size_t i = start; i < stop; ++i) {
                    const auto place = strict ? std::lower_bound(cuts_.begin(), cuts_.end(), values[i])
                                              : std::upper_bound(cuts_.begin(), cuts_.end(), values[i]);
                    out[i] = Code(place - cuts_.begin());
                }
                continue;
            }
            std::fill(out + start, out + stop, Code(0));
            for (const double cut : cuts_) {
                if (strict) {
                    for (std::size_t i = start; i < stop; ++i) out[i] = Code(out[i] + (cut < values[i]));
                } else {
                    for (std::size_t i = start; i < stop; ++i) out[i] = Code(out[i] + (cut <= values[i]));
                }
            }
        }
    }

  private:
    // Adds the distinct values to `cuts_`, in order; false as soon as there are more than `limit`.
    bool collect_distinct(const double* values, std::size_t n, std::size_t limit) {
        for (std::size_t start = 0; start < n; start += stretch_rows) {
            const std::size_t size = std::min(n - start, stretch_rows);
            std::uint8_t known[stretch_rows] = {};
            if (cuts_.size() <= few_cuts)
                for (const double cut : cuts_)
                    for (std::size_t i = 0; i < size; ++i) known[i] |= values[start + i] == cut;
            for (std::size_t i = 0; i < size; ++i) {
                if (known[i]) continue;
                const auto place = std::lower_bound(cuts_.begin(), cuts_.end(), values[start + i]);
                if (place != cuts_.end() && *place == values[start + i]) continue;
                if (cuts_.size() == limit) return false;
                cuts_.insert(place, values[start + i]);
            }
        }
        return true;
    }

    bool closed_right_;
    std::vector<double> cuts_;
    bool distinct_;
    std::size_t levels_;
};

// Bytes have so few values that each is encoded once, and a column looked up.
template <class Byte, class Code>
std::uint32_t encode_bytes(const Byte* values, std::size_t n, EqualWidth rule, Code* out) {
    Byte least = values[0], largest = values[0];
    for (std::size_t i = 0; i < n; ++i) {
        least = std::min(least, values[i]);
        largest = std::max(largest, values[i]);
    }
    bool present[256] = {};
    if (largest - least <= 16) {
        for (int value = least; value <= largest; ++value) present[value - least] = std::find(values, values + n, Byte(value)) != values + n;
    } else {
        for (std::size_t i = 0; i < n; ++i) present[values[i] - least] = true;
    }
    std::vector<double> distinct;
    for (int value = least; value <= largest; ++value)
        if (present[value - least]) distinct.push_back(value);
    const Cuts cuts(distinct.data(), distinct.size(), false, rule);
    std::vector<Code> codes(distinct.size());
    cuts.encode(distinct.data(), distinct.size(), codes.data());
    const bool as_they_are = cuts.levels() == distinct.size() && distinct.size() == std::size_t(largest - least + 1);
    if (as_they_are) {  // the bins are the values, counted from the least
        for (std::size_t i = 0; i < n; ++i) out[i] = Code(values[i] - least);
    } else {
        Code of_value[256] = {};
        for (std::size_t k = 0; k < distinct.size(); ++k) of_value[int(distinct[k]) - least] = codes[k];
        for (std::size_t i = 0; i < n; ++i) out[i] = of_value[values[i] - least];
    }
    return std::uint32_t(cuts.levels());
}

template <class Code>
std::optional<Place> encode_equal_width(const Numbers& numbers, EqualWidth rule, Code* out, std::uint32_t* levels) {
    constexpr std::size_t together = 16;  // columns read at a time
    const std::size_t n = numbers.n_rows;
    return with_type(numbers.type, [&](auto zero) -> std::optional<Place> {
        using T = decltype(zero);
        using Kept = std::conditional_t<sizeof(T) == 1, T, double>;
        std::vector<Kept> values(together * n);
        for (std::size_t first = 0; first < numbers.n_columns; first += together) {
            Numbers part = numbers;
            part.data = static_cast<const std::uint8_t*>(numbers.data) + std::ptrdiff_t(first) * numbers.column_stride;
            part.n_columns = std::min(together, numbers.n_columns - first);
            each_stretch<T>(part, [&](std::size_t column, std::size_t top, std::size_t rows, const T* from) {
                for (std::size_t i = 0; i < rows; ++i) values[column * n + top + i] = Kept(from[i]);
            });
            for (std::size_t column = 0; column < part.n_columns; ++column) {
                const Kept* of_column = values.data() + column * n;
                Code* codes = out + (first + column) * n;
                if constexpr (sizeof(T) == 1) {
                    levels[first + column] = encode_bytes(of_column, n, rule, codes);
                } else {
                    for (std::size_t row = 0; row < n; ++row)
                        if (!std::isfinite(of_column[row])) return Place{row, first + column};
                    const Cuts cuts(of_column, n, false, rule);
                    levels[first + column] = std::uint32_t(cuts.levels());
                    cuts.encode(of_column, n, codes);
                }
            }
        }
        return std::nullopt;
    });
}

}  // namespace

std::optional<Place> scan_codes(const Numbers& numbers, std::uint32_t* levels) {
    return with_type(numbers.type, [&](auto zero) { return scan<decltype(zero)>(numbers, levels); });
}

void copy_codes(const Numbers& numbers, std::uint8_t* out) { copy_all(numbers, out); }
void copy_codes(const Numbers& numbers, code_t* out) { copy_all(numbers, out); }

std::optional<Place> equal_width(const Numbers& numbers, EqualWidth rule, std::uint8_t* out, std::uint32_t* levels) {
    return encode_equal_width(numbers, rule, out, levels);
}
std::optional<Place> equal_width(const Numbers& numbers, EqualWidth rule, code_t* out, std::uint32_t* levels) {
    return encode_equal_width(numbers, rule, out, levels);
}

std::optional<Place> equal_width(const std::int64_t* starts, const double* values, std::size_t n_rows, std::size_t n_columns,
                                 EqualWidth rule, code_t* out, code_t* implicit, std::uint32_t* levels) {
    for (std::size_t column = 0; column < n_columns; ++column) {
        const std::size_t listed = std::size_t(starts[column + 1] - starts[column]);
        const double* of_column = values + starts[column];
        for (std::size_t i = 0; i < listed; ++i)
            if (!std::isfinite(of_column[i])) return Place{i, column};
        const bool has_zero = listed < n_rows;
        const Cuts cuts(of_column, listed, has_zero, rule);
        levels[column] = std::uint32_t(cuts.levels());
        const double nothing = 0.0;
        implicit[column] = 0;
        if (has_zero) cuts.encode(&nothing, 1, implicit + column);
        cuts.encode(of_column, listed, out + starts[column]);
    }
    return std::nullopt;
}

}  // namespace labelsieve
