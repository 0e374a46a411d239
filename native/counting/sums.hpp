// Exact sums of products of columns of whole numbers with vectors of whole numbers.
//
// Numbers of a column have at most 23 bits and a sign. They are kept as digits (see simd/digits.hpp), as
// lists of the rows where they are not 0, or as levels, of which every one is a column of zeros and ones.
// Vectors are cut into pieces of as many bits, so that weights of any size are exact, too. Sums are integers
// of 95 bits: no order of addition, no number of threads and no instruction set changes them.
#pragma once

#include "common/csr_view.hpp"
#include "discretize/encode.hpp"
#include "threads/pool.hpp"

namespace labelsieve {

// sums[column * pitch + k] = high * 2^32 + low, with 0 <= low < 2^32.
struct WideSums {
    int64_t* high;
    int64_t* low;
    size_t pitch;

    // Adds value * 2^shift; the shift is 0, 24 or 48.
    void add(size_t at, int64_t value, int shift) const;
};

// Vectors of whole numbers of at most 24 bits, one after the other. Vector v counts 2^shifts[v] times, for
// the sums of number into[v].
struct VectorPieces {
    const int32_t* values;
    size_t n_rows, size;
    const int32_t* shifts;
    const int32_t* into;
};

inline constexpr size_t digit_block = 4096;  // rows; the digits of all columns of a block lie together

// Columns of digits: block after block, in each column after column.
struct DigitColumns {
    const int16_t* cells;
    size_t n_rows, n_columns;

    static size_t padded(size_t n_rows) { return (n_rows + 31) / 32 * 32; }
    static size_t n_cells(size_t n_rows, size_t n_columns) {
        return checked_product(2 * padded(n_rows), n_columns);
    }
    size_t n_blocks() const { return (n_rows + digit_block - 1) / digit_block; }
    size_t rows_of(size_t block) const {
        return n_rows - block * digit_block < digit_block ? n_rows - block * digit_block : digit_block;
    }
    size_t place(size_t column, size_t block) const {
        return 2 * (block * digit_block * n_columns + column * padded(rows_of(block)));
    }
};

// Lowest and highest number of every column (infinities if none is known), missing cells and zeros.
struct ColumnScans {
    double *low, *high;
    int64_t *n_missing, *n_zeros;
};
void scan_columns(const StridedNumbers& numbers, Pool& pool, const ColumnScans& out);

// Whole numbers of all columns, round(x * 2^exponent) - shift, as digits; `fills` where a cell is missing.
struct ColumnScales {
    const int32_t* exponents;
    const double *shifts, *fills;
};
void split_columns(const StridedNumbers& numbers, const ColumnScales& scales, Pool& pool, int16_t* cells);

void copy_column(const DigitColumns& columns, size_t column, int32_t* out);

// Adds the sums of products of all columns with all vectors.
void add_products(const DigitColumns& columns, const VectorPieces& vectors, Pool& pool, const WideSums& sums);
// The same with some of the columns themselves, in rows that count once.
void add_products(const DigitColumns& columns, std::span<const int64_t> some, Pool& pool,
                  const WideSums& sums);
void add_products(const CsrView<row_t, int32_t>& columns, const VectorPieces& vectors, Pool& pool,
                  const WideSums& sums);
// Column k of a variable with levels is 1 where the level is k + 1; level 0 has none.
void add_products(std::span<const code_t> levels, size_t n_columns, const VectorPieces& vectors,
                  const WideSums& sums);

// The same for vectors that are listed by rows, each row with the vectors in which it is not 0.
void add_products(const CsrView<row_t, int32_t>& columns, const CsrView<row_t, int32_t>& rows, int shift,
                  size_t n_vectors, Pool& pool, const WideSums& sums);

// The same for one vector that is 0 but in some rows, with the columns listed by rows: `rows` has, for every
// row, the columns in which it is not 0. Cost: the entries of these rows.
void add_products(const CsrView<row_t, int32_t>& rows, std::span<const row_t> some,
                  std::span<const int32_t> values, int shift, size_t into, size_t n_columns,
                  const WideSums& sums);

// Adds the sums of squares of every column, in rows that count as often as their weights say; null: once.
void add_squares(const DigitColumns& columns, const uint64_t* weights, Pool& pool, const WideSums& sums);

// counts[i * n + j] = rows that columns i and j of n, each a list of rows, have in common.
void count_common(const CsrView<row_t>& columns, size_t n_rows, Pool& pool, int64_t* counts);

}  // namespace labelsieve
