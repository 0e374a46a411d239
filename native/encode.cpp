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

// The cut points of one column, or its few distinct values.
class Cuts {
  public:
    Cuts(const double* values, std::size_t n, bool has_zero, EqualWidth rule) : rule_(rule) {
        double least = has_zero ? 0.0 : values[0], largest = least;
        for (std::size_t i = 0; i < n; ++i) {
            least = std::min(least, values[i]);
            largest = std::max(largest, values[i]);
        }
        if (has_zero) cuts_.push_back(0.0);
        for (std::size_t i = 0; i < n && cuts_.size() <= rule.n_bins; ++i) {
            if (i > 0 && values[i] == values[i - 1]) continue;
            const auto place = std::lower_bound(cuts_.begin(), cuts_.end(), values[i]);
            if (place == cuts_.end() || *place != values[i]) cuts_.insert(place, values[i]);
        }
        distinct_ = cuts_.size() <= rule.n_bins;
        if (distinct_) {
            levels_ = cuts_.size();
            return;
        }
        levels_ = rule.n_bins;
        cuts_.clear();
        const double bins = double(rule.n_bins), width = largest / bins - least / bins;  // no overflow for the widest range
        for (std::size_t i = 1; i < rule.n_bins; ++i) cuts_.push_back(least + double(i) * width);
    }

    std::size_t levels() const { return levels_; }

    code_t operator()(double value) const {
        const bool strict = distinct_ || rule_.closed_right;
        if (cuts_.size() <= 16) {
            std::size_t code = 0;
            if (strict) {
                for (const double cut : cuts_) code += cut < value;
            } else {
                for (const double cut : cuts_) code += cut <= value;
            }
            return code_t(code);
        }
        const auto place = strict ? std::lower_bound(cuts_.begin(), cuts_.end(), value) : std::upper_bound(cuts_.begin(), cuts_.end(), value);
        return code_t(place - cuts_.begin());
    }

  private:
    EqualWidth rule_;
    std::vector<double> cuts_;
    bool distinct_;
    std::size_t levels_;
};

}  // namespace

std::optional<Place> scan_codes(const Numbers& numbers, std::uint32_t* levels) {
    return with_type(numbers.type, [&](auto zero) { return scan<decltype(zero)>(numbers, levels); });
}

void copy_codes(const Numbers& numbers, std::uint8_t* out) { copy_all(numbers, out); }
void copy_codes(const Numbers& numbers, code_t* out) { copy_all(numbers, out); }

std::optional<Place> equal_width(const Numbers& numbers, EqualWidth rule, code_t* out, std::uint32_t* levels) {
    constexpr std::size_t together = 16;  // columns read at a time
    const std::size_t n = numbers.n_rows;
    std::vector<double> values(together * n);
    for (std::size_t first = 0; first < numbers.n_columns; first += together) {
        const std::size_t last = std::min(numbers.n_columns, first + together);
        with_type(numbers.type, [&](auto zero) {
            using T = decltype(zero);
            Numbers part = numbers;
            part.data = static_cast<const std::uint8_t*>(numbers.data) + std::ptrdiff_t(first) * numbers.column_stride;
            part.n_columns = last - first;
            each_stretch<T>(part, [&](std::size_t column, std::size_t top, std::size_t rows, const T* from) {
                for (std::size_t i = 0; i < rows; ++i) values[column * n + top + i] = double(from[i]);
            });
        });
        for (std::size_t column = first; column < last; ++column) {
            const double* of_column = values.data() + (column - first) * n;
            for (std::size_t row = 0; row < n; ++row)
                if (!std::isfinite(of_column[row])) return Place{row, column};
            const Cuts cuts(of_column, n, false, rule);
            levels[column] = std::uint32_t(cuts.levels());
            for (std::size_t row = 0; row < n; ++row) out[column * n + row] = cuts(of_column[row]);
        }
    }
    return std::nullopt;
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
        implicit[column] = has_zero ? cuts(0.0) : code_t(0);
        for (std::size_t i = 0; i < listed; ++i) out[starts[column] + std::int64_t(i)] = cuts(of_column[i]);
    }
    return std::nullopt;
}

}  // namespace labelsieve
