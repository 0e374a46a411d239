// Exact sums of products of columns, for Python.
#include "bindings/python.hpp"
#include "counting/sums.hpp"

namespace labelsieve {
namespace {

using WideOut = nb::ndarray<int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Pieces = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

WideSums sums_of(const WideOut& high, const WideOut& low, size_t n_columns) {
    require(high.shape(0) == n_columns && low.shape(0) == n_columns && high.shape(1) == low.shape(1),
            "a row of sums for each column");
    return {.high = high.data(), .low = low.data(), .pitch = high.shape(1)};
}

VectorPieces pieces_of(const Pieces& values, const Vector<int32_t>& shifts, const Vector<int32_t>& into,
                       size_t n_rows, const WideSums& sums) {
    require(
        values.shape(1) == n_rows && shifts.shape(0) == values.shape(0) && into.shape(0) == values.shape(0),
        "shapes differ");
    for (size_t v = 0; v < values.shape(0); ++v) {
        const int32_t shift = shifts.data()[v], at = into.data()[v];
        require(shift == 0 || shift == 24 || shift == 48, "shifts are 0, 24 or 48");
        require(at >= 0 && size_t(at) < sums.pitch, "there is no such sum");
    }
    return {.values = values.data(),
            .n_rows = n_rows,
            .size = values.shape(0),
            .shifts = shifts.data(),
            .into = into.data()};
}

DigitColumns digits_of(const Vector<int16_t>& cells, size_t n_rows, size_t n_columns) {
    require_row_count(n_rows);
    require(cells.shape(0) == DigitColumns::n_cells(n_rows, n_columns), "digits of all cells");
    return {.cells = cells.data(), .n_rows = n_rows, .n_columns = n_columns};
}

CsrView<row_t, int32_t> lists_of(const Vector<int64_t>& starts, const Vector<row_t>& rows,
                                 const Vector<int32_t>& values, size_t limit) {
    const CsrView<row_t, int32_t> view{
        .starts = view_of(starts), .indices = view_of(rows), .values = view_of(values)};
    return checked(view, limit, Order::any);
}

void scan(Matrix values, OutVector<double> low, OutVector<double> high, OutVector<int64_t> n_missing,
          OutVector<int64_t> n_zeros, Pool& threads) {
    const StridedNumbers numbers = numbers_of(values);
    for (const size_t size : {low.shape(0), high.shape(0), n_missing.shape(0), n_zeros.shape(0)})
        require(size == numbers.n_columns, "a number for each column");
    const nb::gil_scoped_release released;
    scan_columns(
        numbers, threads,
        {.low = low.data(), .high = high.data(), .n_missing = n_missing.data(), .n_zeros = n_zeros.data()});
}

void split(Matrix values, Vector<int32_t> exponents, Vector<double> shifts, Vector<double> fills,
           OutVector<int16_t> cells, Pool& threads) {
    const StridedNumbers numbers = numbers_of(values);
    require_row_count(numbers.n_rows);
    for (const size_t size : {exponents.shape(0), shifts.shape(0), fills.shape(0)})
        require(size == numbers.n_columns, "a scale for each column");
    require(cells.shape(0) == DigitColumns::n_cells(numbers.n_rows, numbers.n_columns),
            "digits of all cells");
    const nb::gil_scoped_release released;
    split_columns(numbers, {.exponents = exponents.data(), .shifts = shifts.data(), .fills = fills.data()},
                  threads, cells.data());
}

void column(Vector<int16_t> cells, size_t n_columns, size_t j, OutVector<int32_t> out) {
    const DigitColumns columns = digits_of(cells, out.shape(0), n_columns);
    require(j < n_columns, "there is no such column");
    copy_column(columns, j, out.data());
}

void products_of_digits(Vector<int16_t> cells, size_t n_columns, Pieces vectors, Vector<int32_t> shifts,
                        Vector<int32_t> into, WideOut high, WideOut low, Pool& threads) {
    const DigitColumns columns = digits_of(cells, vectors.shape(1), n_columns);
    const WideSums sums = sums_of(high, low, n_columns);
    const VectorPieces pieces = pieces_of(vectors, shifts, into, columns.n_rows, sums);
    const nb::gil_scoped_release released;
    add_products(columns, pieces, threads, sums);
}

void products_of_own_digits(Vector<int16_t> cells, size_t n_rows, size_t n_columns, Vector<int64_t> some,
                            WideOut high, WideOut low, Pool& threads) {
    const DigitColumns columns = digits_of(cells, n_rows, n_columns);
    const WideSums sums = sums_of(high, low, n_columns);
    require(sums.pitch == some.shape(0), "a sum for each column");
    check_limit(view_of(some), n_columns);
    const nb::gil_scoped_release released;
    add_products(columns, view_of(some), threads, sums);
}

void products_of_lists(Vector<int64_t> starts, Vector<row_t> rows, Vector<int32_t> values, Pieces vectors,
                       Vector<int32_t> shifts, Vector<int32_t> into, WideOut high, WideOut low,
                       Pool& threads) {
    const CsrView<row_t, int32_t> columns = lists_of(starts, rows, values, vectors.shape(1));
    const WideSums sums = sums_of(high, low, columns.size());
    const VectorPieces pieces = pieces_of(vectors, shifts, into, vectors.shape(1), sums);
    const nb::gil_scoped_release released;
    add_products(columns, pieces, threads, sums);
}

void products_of_levels(Vector<code_t> levels, Pieces vectors, Vector<int32_t> shifts, Vector<int32_t> into,
                        WideOut high, WideOut low) {
    const size_t n_columns = high.shape(0);
    const WideSums sums = sums_of(high, low, n_columns);
    const VectorPieces pieces = pieces_of(vectors, shifts, into, levels.shape(0), sums);
    for (size_t i = 0; i < levels.shape(0); ++i)
        require(levels.data()[i] <= n_columns, "a column for each level");
    const nb::gil_scoped_release released;
    add_products(view_of(levels), n_columns, pieces, sums);
}

void products_by_rows(Vector<int64_t> starts, Vector<row_t> rows, Vector<int32_t> values,
                      Vector<int64_t> row_starts, Vector<row_t> vectors, Vector<int32_t> numbers, int shift,
                      WideOut high, WideOut low, Pool& threads) {
    const CsrView<row_t, int32_t> by_row = lists_of(row_starts, vectors, numbers, high.shape(1));
    const CsrView<row_t, int32_t> columns = lists_of(starts, rows, values, by_row.size());
    const WideSums sums = sums_of(high, low, columns.size());
    require(shift == 0 || shift == 24 || shift == 48, "shifts are 0, 24 or 48");
    const nb::gil_scoped_release released;
    add_products(columns, by_row, shift, sums.pitch, threads, sums);
}

void products_of_rows(Vector<int64_t> row_starts, Vector<row_t> columns, Vector<int32_t> numbers,
                      Vector<row_t> rows, Vector<int32_t> values, int shift, size_t into, WideOut high,
                      WideOut low) {
    const size_t n_columns = high.shape(0);
    const CsrView<row_t, int32_t> by_row{
        .starts = view_of(row_starts), .indices = view_of(columns), .values = view_of(numbers)};
    const WideSums sums = sums_of(high, low, n_columns);
    require(shift == 0 || shift == 24 || shift == 48, "shifts are 0, 24 or 48");
    require(rows.shape(0) == values.shape(0) && into < sums.pitch && numbers.shape(0) == columns.shape(0),
            "shapes differ");
    check_starts(by_row.starts, columns.shape(0));
    for (size_t i = 0; i < rows.shape(0); ++i) {
        require(rows.data()[i] < by_row.size(), "there is no such row");
        check_limit(by_row[rows.data()[i]], n_columns);  // other rows are not read
    }
    const nb::gil_scoped_release released;
    add_products(by_row, view_of(rows), view_of(values), shift, into, n_columns, sums);
}

void squares_of_digits(Vector<int16_t> cells, size_t n_rows, size_t n_columns,
                       std::optional<Vector<uint64_t>> weights, WideOut high, WideOut low, Pool& threads) {
    const DigitColumns columns = digits_of(cells, n_rows, n_columns);
    const WideSums sums = sums_of(high, low, n_columns);
    require(!weights || weights->shape(0) == n_rows, "a weight for each row");
    const nb::gil_scoped_release released;
    add_squares(columns, weights ? weights->data() : nullptr, threads, sums);
}

void common_counts(Vector<int64_t> starts, Vector<row_t> rows, size_t n_rows, WideOut counts, Pool& threads) {
    require_row_count(n_rows);
    const CsrView<row_t> columns = checked(view_of(starts, rows), n_rows, Order::any);
    require(counts.shape(0) == columns.size() && counts.shape(1) == columns.size(), "a count for each pair");
    const nb::gil_scoped_release released;
    count_common(columns, n_rows, threads, counts.data());
}

}  // namespace

void bind_sums(nb::module_& m) {
    m.def("scan_columns", &scan, "values"_a, "low"_a.noconvert(), "high"_a.noconvert(),
          "n_missing"_a.noconvert(), "n_zeros"_a.noconvert(), "threads"_a);
    m.def("split_columns", &split, "values"_a, "exponents"_a, "shifts"_a, "fills"_a, "cells"_a.noconvert(),
          "threads"_a);
    m.def("digit_column", &column, "cells"_a, "n_columns"_a, "column"_a, "out"_a.noconvert());
    m.def("add_digit_products", &products_of_digits, "cells"_a, "n_columns"_a, "vectors"_a, "shifts"_a,
          "into"_a, "high"_a.noconvert(), "low"_a.noconvert(), "threads"_a);
    m.def("add_own_products", &products_of_own_digits, "cells"_a, "n_rows"_a, "n_columns"_a, "columns"_a,
          "high"_a.noconvert(), "low"_a.noconvert(), "threads"_a);
    m.def("add_list_products", &products_of_lists, "starts"_a, "rows"_a, "values"_a, "vectors"_a, "shifts"_a,
          "into"_a, "high"_a.noconvert(), "low"_a.noconvert(), "threads"_a);
    m.def("add_level_products", &products_of_levels, "levels"_a, "vectors"_a, "shifts"_a, "into"_a,
          "high"_a.noconvert(), "low"_a.noconvert());
    m.def("add_listed_vectors", &products_by_rows, "starts"_a, "rows"_a, "values"_a, "row_starts"_a,
          "vectors"_a, "numbers"_a, "shift"_a, "high"_a.noconvert(), "low"_a.noconvert(), "threads"_a);
    m.def("add_row_products", &products_of_rows, "row_starts"_a, "columns"_a, "numbers"_a, "rows"_a,
          "values"_a, "shift"_a, "into"_a, "high"_a.noconvert(), "low"_a.noconvert());
    m.def("add_digit_squares", &squares_of_digits, "cells"_a, "n_rows"_a, "n_columns"_a, "weights"_a.none(),
          "high"_a.noconvert(), "low"_a.noconvert(), "threads"_a);
    m.def("count_common", &common_counts, "starts"_a, "rows"_a, "n_rows"_a, "counts"_a.noconvert(),
          "threads"_a);
}

}  // namespace labelsieve
