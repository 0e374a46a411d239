#include "discretize/encode.hpp"

#include <array>
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
std::optional<Position> scan(const StridedNumbers& numbers, uint32_t* levels) {
    std::optional<Position> bad;
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
            bad = Position{.row = top + size_t(std::find_if_not(values, values + n, is_code<T>) - values),
                           .column = column};
        }
    });
    return bad;
}

template <class Code>
void copy_all(const StridedNumbers& numbers, Code* out) {
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
    const EqualWidthCuts cuts(distinct, false, rule);
    std::vector<Code> codes(distinct.size());
    cuts.encode(distinct, codes.data());
    const bool consecutive =
        cuts.levels() == distinct.size() && distinct.size() == size_t(largest - least) + 1;
    if (consecutive) {  // the bins are the values, counted from the least
        for (size_t i = 0; i < n; ++i) out[i] = Code(values[i] - least);
    } else {
        Code of_value[256] = {};
        for (size_t k = 0; k < distinct.size(); ++k) of_value[int(distinct[k]) - least] = codes[k];
        for (size_t i = 0; i < n; ++i) out[i] = of_value[values[i] - least];
    }
    return uint32_t(cuts.levels());
}

template <class Code>
std::optional<Position> encode_equal_width(const StridedNumbers& numbers, EqualWidth rule, Code* out,
                                           uint32_t* levels) {
    constexpr size_t together = 16;  // columns read at a time
    const size_t n = numbers.n_rows;
    return with_type(numbers.type, [&](auto zero) -> std::optional<Position> {
        using T = decltype(zero);
        using Kept = std::conditional_t<sizeof(T) == 1, T, double>;
        Scratch<Kept> values(checked_product(std::min(together, numbers.n_columns), n));
        for (size_t first = 0; first < numbers.n_columns; first += together) {
            StridedNumbers part = numbers;
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
                        if (!std::isfinite(of_column[row]))
                            return Position{.row = row, .column = first + column};
                    const EqualWidthCuts cuts({of_column, n}, false, rule);
                    levels[first + column] = uint32_t(cuts.levels());
                    cuts.encode({of_column, n}, codes);
                }
            }
        }
        return std::nullopt;
    });
}

}  // namespace

std::optional<Position> scan_codes(const StridedNumbers& numbers, uint32_t* levels) {
    return with_type(numbers.type, [&](auto zero) { return scan<decltype(zero)>(numbers, levels); });
}

std::optional<Position> scan_finite(const StridedNumbers& numbers, bool allow_missing) {
    return with_type(numbers.type, [&](auto zero) -> std::optional<Position> {
        using T = decltype(zero);
        std::optional<Position> bad;
        if constexpr (std::is_floating_point_v<T>) {
            const auto good = [&](T value) {
                return std::isfinite(value) || (allow_missing && std::isnan(value));
            };
            each_stretch<T>(numbers, [&](size_t column, size_t top, size_t n, const T* values) {
                bool finite = true;
                for (size_t i = 0; i < n; ++i) finite &= std::abs(values[i]) <= std::numeric_limits<T>::max();
                if (finite) return;
                const auto first = size_t(std::find_if_not(values, values + n, good) - values);
                if (first < n && (!bad || std::pair(top + first, column) < std::pair(bad->row, bad->column)))
                    bad = Position{.row = top + first, .column = column};
            });
        }
        return bad;
    });
}

void copy_codes(const StridedNumbers& numbers, uint8_t* out) { copy_all(numbers, out); }
void copy_codes(const StridedNumbers& numbers, code_t* out) { copy_all(numbers, out); }

std::optional<Position> equal_width(const StridedNumbers& numbers, EqualWidth rule, uint8_t* out,
                                    uint32_t* levels) {
    return encode_equal_width(numbers, rule, out, levels);
}
std::optional<Position> equal_width(const StridedNumbers& numbers, EqualWidth rule, code_t* out,
                                    uint32_t* levels) {
    return encode_equal_width(numbers, rule, out, levels);
}

std::optional<Position> equal_width(const CsrView<row_t, double>& columns, size_t n_rows, EqualWidth rule,
                                    code_t* out, code_t* implicit, uint32_t* levels) {
    for (size_t column = 0; column < columns.size(); ++column) {
        const auto listed = columns.values_of(column);
        for (size_t i = 0; i < listed.size(); ++i)
            if (!std::isfinite(listed[i])) return Position{.row = i, .column = column};
        const bool has_zero = listed.size() < n_rows;
        const EqualWidthCuts cuts(listed, has_zero, rule);
        levels[column] = uint32_t(cuts.levels());
        implicit[column] = 0;
        if (has_zero) cuts.encode(std::array{0.0}, implicit + column);
        cuts.encode(listed, out + columns.start(column));
    }
    return std::nullopt;
}

template <class Code>
void apply_cuts(const Values& values, const CsrView<row_t, double>& points, bool strict,
                const CodesByCuts<Code>& codes) {
    std::fill_n(codes.missing, values.n_columns(), uint8_t(0));
    std::fill_n(codes.implicit, values.n_columns(), code_t(0));
    values.each_piece([&](size_t j, size_t top, std::span<const double> piece) {
        const auto cuts = points.values_of(j);
        Code* out = codes.out + top + (values.is_sparse() ? values.listed().start(j) : j * values.n_rows());
        count_cuts(cuts, strict, piece, out);
        bool any = false;
        for (const double value : piece) any |= std::isnan(value);
        if (any) {
            codes.missing[j] = 1;
            for (size_t i = 0; i < piece.size(); ++i)
                if (std::isnan(piece[i])) out[i] = Code(cuts.size() + 1);
        }
        if (values.is_sparse() && piece.size() < values.n_rows())
            count_cuts(cuts, strict, std::array{0.0}, codes.implicit + j);
    });
}
template void apply_cuts(const Values& values, const CsrView<row_t, double>& points, bool strict,
                         const CodesByCuts<uint8_t>& codes);
template void apply_cuts(const Values& values, const CsrView<row_t, double>& points, bool strict,
                         const CodesByCuts<code_t>& codes);

}  // namespace labelsieve
