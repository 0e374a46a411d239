// From arrays of any number type to codes: checking codes that are given, and equal-width bins.
#pragma once

#include <optional>

#include "common/csr_view.hpp"

namespace labelsieve {

enum class Number { boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64 };

// An array of numbers with any strides, in bytes.
struct StridedNumbers {
    const void* data;
    Number type;
    ptrdiff_t row_stride, column_stride;
    size_t n_rows, n_columns;
};

struct Position {
    size_t row, column;
};

inline constexpr size_t max_levels = 65'535;

// levels[column] = largest code + 1. Codes are whole numbers from 0 to 65,534; the first that is not is
// returned.
std::optional<Position> scan_codes(const StridedNumbers& numbers, uint32_t* levels);

// The numbers as codes, column after column. They must have passed `scan_codes`.
void copy_codes(const StridedNumbers& numbers, uint8_t* out);
void copy_codes(const StridedNumbers& numbers, code_t* out);

// The first value that is not finite; NaN passes where missing values are allowed.
std::optional<Position> scan_finite(const StridedNumbers& numbers, bool allow_missing);

// Equal-width bins of a column: [least, largest] in `n_bins` equal intervals, closed on the left but for the
// last, which is closed on both sides (`closed_right`: on the right, and the first on both). A column with no
// more than `n_bins` distinct values keeps them as levels. Returns the first value that is not finite.
struct EqualWidth {
    size_t n_bins;
    bool closed_right;
};
std::optional<Position> equal_width(const StridedNumbers& numbers, EqualWidth rule, uint8_t* out,
                                    uint32_t* levels);
std::optional<Position> equal_width(const StridedNumbers& numbers, EqualWidth rule, code_t* out,
                                    uint32_t* levels);

// The same for columns of listed values, every other row being 0; the view needs no row numbers.
// `implicit[column]` is the code of 0.
std::optional<Position> equal_width(const CsrView<row_t, double>& columns, size_t n_rows, EqualWidth rule,
                                    code_t* out, code_t* implicit, uint32_t* levels);

}  // namespace labelsieve
