// Exact sums of products equal plain sums in wide integers, for extreme digits, on any number of threads.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "counting/sums.hpp"
#include "expect.hpp"

using namespace labelsieve;

namespace {

struct Wide {
    std::vector<int64_t> high, low;
    explicit Wide(size_t size) : high(size), low(size) {}
    WideSums sums(size_t pitch) { return {.high = high.data(), .low = low.data(), .pitch = pitch}; }
    bool operator==(const Wide&) const = default;
};

const std::vector<int32_t> extreme{8388607, -8388607, 8386560, -8386560, 2048, -2048, 2047, 0, 1, -1};

struct Table {
    size_t n_rows, n_columns;
    std::vector<double> values;  // column after column
    std::vector<int32_t> whole;
    std::vector<int16_t> cells;

    Table(size_t n_rows, size_t n_columns, Below& below)
        : n_rows(n_rows), n_columns(n_columns), values(n_rows * n_columns), whole(values.size()),
          cells(DigitColumns::n_cells(n_rows, n_columns), int16_t(77)) {
        for (size_t i = 0; i < values.size(); ++i) {
            const size_t column = i / n_rows;  // the first two have one value, where sums are largest
            whole[i] = extreme[column < 2 ? column : below(extreme.size())];
            values[i] = whole[i];
        }
        const std::vector<int32_t> exponents(n_columns, 0);
        const std::vector<double> none(n_columns, 0.0);
        Pool pool(1);
        split_columns({.data = values.data(),
                       .type = Number::f64,
                       .row_stride = 8,
                       .column_stride = ptrdiff_t(8 * n_rows),
                       .n_rows = n_rows,
                       .n_columns = n_columns},
                      {.exponents = exponents.data(), .shifts = none.data(), .fills = none.data()}, pool,
                      cells.data());
    }

    DigitColumns digits() const { return {.cells = cells.data(), .n_rows = n_rows, .n_columns = n_columns}; }

    // Products are below 2^46 and there are few rows, so that 64 bits hold the sum.
    int64_t product(size_t j, size_t k) const {
        int64_t sum = 0;
        for (size_t i = 0; i < n_rows; ++i) sum += int64_t(whole[j * n_rows + i]) * whole[k * n_rows + i];
        return sum;
    }
};

void test_products_of_extreme_digits() {
    Below below(1);
    for (const size_t n_rows : {1, 31, 4096, 9001}) {
        const Table table(n_rows, 70, below);
        const size_t d = table.n_columns;
        std::vector<int32_t> column(n_rows), shifts(d, 0), into(d);
        for (size_t j = 0; j < d; ++j) into[j] = int32_t(j);
        copy_column(table.digits(), 3, column.data());
        EXPECT(std::equal(column.begin(), column.end(), table.whole.begin() + ptrdiff_t(3 * n_rows)));
        const VectorPieces vectors{.values = table.whole.data(),
                                   .n_rows = n_rows,
                                   .size = d,
                                   .shifts = shifts.data(),
                                   .into = into.data()};
        Wide expected(d * d), one(d * d), two(d * d), squares(d), plain(d);
        for (size_t j = 0; j < d; ++j) {
            for (size_t k = 0; k < d; ++k) expected.sums(d).add(j * d + k, table.product(j, k), 0);
            plain.sums(1).add(j, table.product(j, j), 0);
        }
        Pool alone(1), three(3);
        add_products(table.digits(), vectors, alone, one.sums(d));
        add_products(table.digits(), vectors, three, two.sums(d));
        EXPECT(one == expected && two == expected);
        std::vector<int64_t> every(d);
        for (size_t j = 0; j < d; ++j) every[j] = int64_t(j);
        Wide own(d * d);
        add_products(table.digits(), every, three, own.sums(d));
        EXPECT(own == expected);
        add_squares(table.digits(), nullptr, three, squares.sums(1));
        EXPECT(squares == plain);
        const std::vector<uint64_t> weights(n_rows, uint64_t(1) << 38);
        Wide weighted(d), shifted(d);
        add_squares(table.digits(), weights.data(), three, weighted.sums(1));
        for (size_t j = 0; j < d; ++j) {  // 38 = 14 + 24
            const int64_t product = table.product(j, j);
            shifted.sums(1).add(j, (product & 0xffffffff) << 14, 24);
            shifted.sums(1).add(j, (product >> 32) << 22, 48);
        }
        EXPECT(weighted == shifted);
    }
}

void test_lists_and_levels() {
    const std::vector<int64_t> starts{0, 2, 2};
    const std::vector<row_t> rows{1, 3};
    const std::vector<int32_t> values{3, -5}, vector{1, 2, 3, 4}, shift{24}, into{0};
    const VectorPieces pieces{
        .values = vector.data(), .n_rows = 4, .size = 1, .shifts = shift.data(), .into = into.data()};
    const CsrView<row_t, int32_t> columns{.starts = starts, .indices = rows, .values = values};
    Pool pool(1);
    Wide sums(2), expected(2);
    add_products(columns, pieces, pool, sums.sums(1));
    expected.sums(1).add(0, 3 * 2 - 5 * 4, 24);
    EXPECT(sums == expected);
    EXPECT(sums.high[0] == -1 && sums.low[0] == (int64_t(1) << 32) - 14 * (1 << 24));
    const std::vector<int64_t> row_starts{0, 0, 1, 1, 3};  // row 1: vector 1 is 7; row 3: 2 and 1
    const std::vector<row_t> listed{1, 0, 1};
    const std::vector<int32_t> numbers{7, 2, 1};
    Wide by_rows(4);
    add_products(columns, {.starts = row_starts, .indices = listed, .values = numbers}, 0, 2, pool,
                 by_rows.sums(2));
    EXPECT(by_rows.high[0] == -1 && by_rows.low[0] == (int64_t(1) << 32) - 10 && by_rows.low[1] == 16);
    const std::vector<code_t> levels{2, 0, 2, 1};
    Wide of_levels(2);
    add_products(levels, 2, pieces, of_levels.sums(1));
    EXPECT(of_levels.low[0] == 4 * (1 << 24) && of_levels.low[1] == 4 * (1 << 24));
}

// Digits of a number by the definition, whatever the order in which a table lies in memory.
void test_scaled_numbers_in_any_order() {
    Below below(2);
    const double missing = std::numeric_limits<double>::quiet_NaN();
    for (const size_t n_rows : {1, 33, 4097}) {
        const size_t d = 131;
        std::vector<double> by_rows(n_rows * d), by_columns(by_rows.size()), shifts(d), fills(d);
        std::vector<int32_t> exponents(d);
        for (size_t j = 0; j < d; ++j) {
            exponents[j] = int32_t(j) - 60;
            shifts[j] = double(below(9)) - 4;
            fills[j] = double(below(5000));
        }
        for (size_t i = 0; i < n_rows; ++i)
            for (size_t j = 0; j < d; ++j) {
                // Halves, which are rounded to even numbers, and zeros.
                const double value = double(int64_t(below(1 << 23)) - (1 << 22)) / 2;
                const double scaled = below(20) == 0 ? missing : below(20) == 0 ? 0 : value;
                by_rows[i * d + j] = by_columns[j * n_rows + i] = std::ldexp(scaled, -exponents[j]);
            }
        const StridedNumbers rows{by_rows.data(), Number::f64, ptrdiff_t(8 * d), 8, n_rows, d};
        const StridedNumbers columns{by_columns.data(), Number::f64, 8, ptrdiff_t(8 * n_rows), n_rows, d};
        const ColumnScales scales{exponents.data(), shifts.data(), fills.data()};
        std::vector<int16_t> cells(DigitColumns::n_cells(n_rows, d), 77), others(cells.size(), 88);
        Pool pool(2);
        split_columns(rows, scales, pool, cells.data());
        split_columns(columns, scales, pool, others.data());
        EXPECT(cells == others);
        std::vector<int32_t> found(n_rows);
        bool same = true;
        for (size_t j = 0; j < d; ++j) {
            copy_column({cells.data(), n_rows, d}, j, found.data());
            for (size_t i = 0; i < n_rows; ++i) {
                const double x = by_columns[j * n_rows + i];
                const double whole =
                    std::isnan(x) ? fills[j] : std::nearbyint(std::ldexp(x, exponents[j])) - shifts[j];
                same = same && found[i] == int32_t(whole);
            }
        }
        EXPECT(same);

        std::vector<double> low(2 * d), high(2 * d);
        std::vector<int64_t> n_missing(2 * d), n_zeros(2 * d);
        for (const size_t at : {size_t(0), d})
            scan_columns(at == 0 ? rows : columns, pool, {&low[at], &high[at], &n_missing[at], &n_zeros[at]});
        const auto repeats = [&](const auto& both) {
            return std::equal(both.begin(), both.begin() + ptrdiff_t(d), both.begin() + ptrdiff_t(d));
        };
        EXPECT(repeats(low) && repeats(high) && repeats(n_missing) && repeats(n_zeros));
        const double* first = by_columns.data();
        EXPECT(n_missing[0] == std::count_if(first, first + n_rows, [](double x) { return std::isnan(x); }));
        EXPECT(n_zeros[0] == std::count(first, first + n_rows, 0.0));
    }
}

// Frequent labels are multiplied as bits.
void test_frequent_labels() {
    Below below(3);
    const size_t n_rows = 700, n_labels = 130;
    std::vector<int64_t> starts{0}, row_starts{0};
    std::vector<row_t> rows, labels;
    std::vector<int32_t> values, ones;
    for (size_t i = 0; i < n_rows; ++i) {
        for (size_t l = 0; l < n_labels; ++l)
            if (l == 0 || below(4) == 0) labels.push_back(row_t(l));
        row_starts.push_back(int64_t(labels.size()));
    }
    ones.assign(labels.size(), 1);
    for (size_t j = 0; j < 20; ++j) {  // the first has all rows, and the largest numbers
        for (size_t i = 0; i < n_rows; ++i)
            if (j == 0 || below(3) == 0) {
                rows.push_back(row_t(i));
                values.push_back(j == 0 ? 8388607 : extreme[below(extreme.size())]);
            }
        starts.push_back(int64_t(rows.size()));
    }
    Wide expected(20 * n_labels), found(20 * n_labels);
    for (size_t j = 0; j < 20; ++j)
        for (int64_t e = starts[j]; e < starts[j + 1]; ++e) {
            const row_t row = rows[size_t(e)];
            for (int64_t k = row_starts[row]; k < row_starts[row + 1]; ++k)
                expected.sums(n_labels).add(j * n_labels + labels[size_t(k)], values[size_t(e)], 24);
        }
    Pool pool(2);
    add_products({.starts = starts, .indices = rows, .values = values},
                 {.starts = row_starts, .indices = labels, .values = ones}, 24, n_labels, pool,
                 found.sums(n_labels));
    EXPECT(found == expected);
}

// More columns than one task has, and more rows than are counted at once.
void test_common_rows_of_labels() {
    Below below(4);
    const size_t n_rows = 70001, n = 11;
    std::vector<int64_t> starts{0};
    std::vector<row_t> rows;
    std::vector<std::vector<char>> has(n, std::vector<char>(n_rows));
    for (size_t j = 0; j < n; ++j) {
        for (size_t i = 0; i < n_rows; ++i)
            if (j != 3 && below(2 + j) == 0) {
                has[j][i] = 1;
                rows.push_back(row_t(i));
            }
        starts.push_back(int64_t(rows.size()));
    }
    Pool pool(2);
    std::vector<int64_t> counts(n * n, -1);
    count_common({.starts = starts, .indices = rows}, n_rows, pool, counts.data());
    for (size_t a = 0; a < n; ++a)
        for (size_t b = 0; b < n; ++b) {
            int64_t expected = 0;
            for (size_t i = 0; i < n_rows; ++i) expected += has[a][i] && has[b][i];
            EXPECT(counts[a * n + b] == expected);
        }
}

}  // namespace

void test_sums() {
    test_common_rows_of_labels();
    test_products_of_extreme_digits();
    test_scaled_numbers_in_any_order();
    test_lists_and_levels();
    test_frequent_labels();
}
