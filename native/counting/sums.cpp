#include "counting/sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "common/scratch.hpp"
#include "discretize/numbers.hpp"
#include "simd/kernels.hpp"

namespace labelsieve {
namespace {

constexpr size_t columns_per_task = 16;
constexpr size_t rows_per_task = 1024;               // of a table by rows: a part of a block of digits
constexpr size_t rows_split = 1024;                  // whose digits are written column by column
constexpr size_t rows_together = 8;                  // that are scanned together, each read in its order
constexpr size_t entries_at_once = size_t(1) << 16;  // products of 24 by 24 bits that 64 bits hold the sum of
constexpr double dense_bits = 1.0 / 16;  // a share of ones above which vectors are multiplied as bits
constexpr int64_t word = (int64_t(1) << 32) - 1;
constexpr uint32_t smallest_wide = 2048;  // numbers that low digits alone hold are smaller

template <class Work>
void each_task(size_t n_columns, double cost, Pool& pool, const Work& work) {
    pool.run((n_columns + columns_per_task - 1) / columns_per_task, cost, [&](size_t task, unsigned) {
        work(task * columns_per_task, std::min(n_columns, (task + 1) * columns_per_task));
    });
}

StridedNumbers some_columns(const StridedNumbers& numbers, size_t first, size_t last) {
    StridedNumbers part = numbers;
    part.data = static_cast<const uint8_t*>(numbers.data) + ptrdiff_t(first) * numbers.column_stride;
    part.n_columns = last - first;
    return part;
}

// visit(column, top, n, values) with the numbers of at most 4,096 rows from row `top`, a multiple of 32, as
// doubles; the rest of the last group of 32 rows is missing.
template <class Visit>
void each_piece(const StridedNumbers& numbers, const Visit& visit) {
    with_type(numbers.type, [&](auto zero) {
        using T = decltype(zero);
        std::array<double, most_together> buffer;
        each_stretch<T>(numbers, [&](size_t column, size_t top, size_t n, const T* from) {
            if constexpr (std::is_same_v<T, double>)
                if (n % digit_group == 0) return visit(column, top, n, from);
            for (size_t i = 0; i < n; ++i) buffer[i] = double(from[i]);
            for (size_t i = n; i < DigitColumns::padded(n); ++i)
                buffer[i] = std::numeric_limits<double>::quiet_NaN();
            visit(column, top, n, buffer.data());
        });
    });
}

bool by_rows(const StridedNumbers& numbers) {
    return std::abs(numbers.row_stride) > std::abs(numbers.column_stride);
}

size_t n_row_tasks(const StridedNumbers& numbers) {
    return (numbers.n_rows + rows_per_task - 1) / rows_per_task;
}

// A row as doubles.
void read_row(const StridedNumbers& numbers, size_t row, double* out) {
    with_type(numbers.type, [&](auto zero) {
        using T = decltype(zero);
        const auto* from = static_cast<const uint8_t*>(numbers.data) + ptrdiff_t(row) * numbers.row_stride;
        if (numbers.column_stride == ptrdiff_t(sizeof(T)))
            for (size_t j = 0; j < numbers.n_columns; ++j)
                out[j] = double(load_unaligned<T>(from + j * sizeof(T)));
        else
            for (size_t j = 0; j < numbers.n_columns; ++j)
                out[j] = double(load_unaligned<T>(from + ptrdiff_t(j) * numbers.column_stride));
    });
}

// True for rows of doubles, which need not be copied.
bool has_plain_rows(const StridedNumbers& numbers) {
    constexpr auto size = ptrdiff_t(sizeof(double));
    return numbers.type == Number::f64 && numbers.column_stride == size && numbers.row_stride > 0 &&
           numbers.row_stride % size == 0 && reinterpret_cast<uintptr_t>(numbers.data) % sizeof(double) == 0;
}

// visit(column, row, n, pitch, values) for 64 columns of a table by rows and n of its rows, at most
// `together` of up to 32. Rows of doubles are read where they are, `stretch` of them for 64 columns, then for
// the next 64; others are copied in the order in which they lie in memory.
template <class Visit>
void each_tile(const StridedNumbers& numbers, size_t first_row, size_t last_row, size_t together,
               size_t stretch, const Visit& visit) {
    constexpr size_t wide = 16 * scanned_columns;  // columns of 32 rows that a cache holds
    constexpr size_t pitch = wide + 8;             // no power of two: rows would share few lines of a cache
    const size_t n_plain =
        has_plain_rows(numbers) ? numbers.n_columns / scanned_columns * scanned_columns : 0;
    const auto* first = static_cast<const uint8_t*>(numbers.data);
    for (size_t start = first_row; n_plain != 0 && start < last_row; start += stretch) {
        const size_t end = std::min(last_row, start + stretch);
        for (size_t j = 0; j < n_plain; j += scanned_columns)
            for (size_t top = start; top < end; top += together) {
                const auto* row =
                    reinterpret_cast<const double*>(first + ptrdiff_t(top) * numbers.row_stride);
                visit(j, top, std::min(together, end - top), size_t(numbers.row_stride) / sizeof(double),
                      row + j);
            }
    }
    if (n_plain == numbers.n_columns) return;
    auto rows = Buffer<double>::unset(digit_group * pitch);
    for (size_t top = first_row; top < last_row; top += together)
        for (size_t left = n_plain; left < numbers.n_columns; left += wide) {
            const size_t n = std::min(together, last_row - top),
                         right = std::min(numbers.n_columns, left + wide);
            const StridedNumbers part = some_columns(numbers, left, right);
            for (size_t i = 0; i < n; ++i) read_row(part, top + i, rows.data() + i * pitch);
            for (size_t j = left; j < right; j += scanned_columns)
                visit(j, top, n, pitch, rows.data() + j - left);
        }
}

size_t whole_groups(size_t n_columns) {
    return (n_columns + scanned_columns - 1) / scanned_columns * scanned_columns;
}

// A table by rows is read in its order: a task has some rows, in which neighboring columns are compared
// together.
void scan_by_rows(const StridedNumbers& numbers, Pool& pool,
                  std::vector<std::vector<NumberScan>>& of_workers) {
    const double cost = double(numbers.n_rows) * double(numbers.n_columns);
    pool.run(n_row_tasks(numbers), cost, [&](size_t task, unsigned worker) {
        const size_t top = task * rows_per_task, n = whole_groups(numbers.n_columns);
        std::vector<double> low(n, std::numeric_limits<double>::infinity()), high(n, -low[0]), missing(n),
            zeros(n);
        each_tile(numbers, top, std::min(numbers.n_rows, top + rows_per_task), rows_together, rows_together,
                  [&](size_t j, size_t, size_t n_rows, size_t pitch, const double* values) {
                      kernels().scan_rows(values, pitch, n_rows, {&low[j], &high[j], &missing[j], &zeros[j]});
                  });
        std::vector<NumberScan>& scans = of_workers[worker];
        for (size_t j = 0; j < numbers.n_columns; ++j)
            scans[j] = {std::min(low[j], scans[j].low), std::max(high[j], scans[j].high),
                        scans[j].n_missing + size_t(missing[j]), scans[j].n_zeros + size_t(zeros[j])};
    });
}

void split_whole(const int32_t* values, size_t n, int16_t* digits) {
    for (size_t i = 0; i < n; i += digit_group) {
        int16_t* high = digits + 2 * i;
        int16_t* low = high + digit_group;
        for (size_t k = 0; k < digit_group && i + k < n; ++k) {
            const int32_t top = (values[i + k] + 2048) >> 12;
            high[k] = int16_t(top);
            low[k] = int16_t(values[i + k] - top * 4096);
        }
    }
}

// The vectors as digits, in blocks of rows; those of small numbers as low digits alone. Neighbors of a kind
// go through the columns together.
class VectorDigits {
  public:
    VectorDigits(const VectorPieces& vectors, const DigitColumns& columns, Pool& pool) : vectors_(vectors) {
        const size_t size = 2 * DigitColumns::padded(vectors.n_rows);
        cells_ = Buffer<int16_t>(checked_product(size, vectors.size));
        small_.resize(vectors.size);
        const double cost = 2 * double(vectors.n_rows) * double(vectors.size);
        pool.run(vectors.size, cost, [&](size_t v, unsigned) {
            const int32_t* values = vectors.values + v * vectors.n_rows;
            uint32_t beyond = 0;  // bits of numbers that low digits alone do not hold
            for (size_t i = 0; i < vectors.n_rows; ++i) beyond |= uint32_t(values[i]) + smallest_wide;
            small_[v] = beyond < 2 * smallest_wide;
            for (size_t block = 0; block < columns.n_blocks(); ++block) {
                const size_t n = columns.rows_of(block);
                int16_t* to = cells_.data() + v * size + 2 * block * digit_block;
                const int32_t* from = values + block * digit_block;
                if (small_[v])
                    for (size_t i = 0; i < n; ++i) to[i] = int16_t(from[i]);
                else
                    split_whole(from, n, to);
            }
        });
    }

    bool small(size_t v) const { return small_[v]; }
    size_t together(size_t v) const { return v + 1 < vectors_.size && small_[v] == small_[v + 1] ? 2 : 1; }
    const int16_t* at(size_t v, size_t block) const {
        return cells_.data() + v * 2 * DigitColumns::padded(vectors_.n_rows) + 2 * block * digit_block;
    }

  private:
    VectorPieces vectors_;
    Buffer<int16_t> cells_;
    std::vector<char> small_;
};

// Some of the columns themselves as vectors.
class OwnDigits {
  public:
    OwnDigits(const DigitColumns& columns, std::span<const int64_t> some) : columns_(columns), some_(some) {}

    bool small(size_t) const { return false; }
    size_t together(size_t v) const { return v + 1 < some_.size() ? 2 : 1; }
    const int16_t* at(size_t v, size_t block) const {
        return columns_.cells + columns_.place(size_t(some_[v]), block);
    }

  private:
    DigitColumns columns_;
    std::span<const int64_t> some_;
};

// add(column, vector, product) for parts of all products.
template <class Digits, class Add>
void multiply_digits(const DigitColumns& columns, const Digits& digits, size_t n_vectors, Pool& pool,
                     const Add& add) {
    const double cost = double(columns.n_rows) * double(columns.n_columns) * double(n_vectors) / 4;
    each_task(columns.n_columns, cost, pool, [&](size_t first, size_t last) {
        for (size_t block = 0; block < columns.n_blocks(); ++block) {
            const size_t n_groups = DigitColumns::padded(columns.rows_of(block)) / digit_group;
            for (size_t j = first; j < last;) {
                const size_t n_columns = last - j >= 4 ? 4 : 1;
                const int16_t* some[4] = {};
                for (size_t c = 0; c < n_columns; ++c) some[c] = columns.cells + columns.place(j + c, block);
                for (size_t v = 0; v < n_vectors;) {
                    const size_t n = digits.together(v);
                    const int16_t* with[2] = {digits.at(v, block),
                                              n == 2 ? digits.at(v + 1, block) : nullptr};
                    std::array<int64_t, 8> products{};
                    const auto multiply =
                        digits.small(v) ? kernels().multiply_small : kernels().multiply_digits;
                    multiply(some, n_columns, with, n, n_groups, products.data());
                    for (size_t c = 0; c < n_columns; ++c)
                        for (size_t k = 0; k < n; ++k) add(j + c, v + k, products[c * n + k]);
                    v += n;
                }
                j += n_columns;
            }
        }
    });
}

// Pieces of 24 bits of a number of 63: the last one has its sign.
struct Pieces {
    int64_t low, middle, high;
    explicit Pieces(int64_t value)
        : low(value & 0xffffff), middle(value >> 24 & 0xffffff), high(value >> 48) {}
};

// Adds up listed rows times their values, and calls add(entry, product) before a sum could overflow.
// `products` are zeros before and after.
template <class Add>
void add_listed(const CsrView<row_t, int32_t>& rows, std::span<const row_t> listed,
                std::span<const int32_t> values, std::vector<int64_t>& products, const Add& add) {
    for (size_t start = 0; start < listed.size(); start += entries_at_once) {
        const size_t end = std::min(listed.size(), start + entries_at_once);
        for (size_t i = start; i < end; ++i) {
            const auto entries = rows[listed[i]];
            const auto numbers = rows.values_of(listed[i]);
            for (size_t k = 0; k < entries.size(); ++k)
                products[entries[k]] += int64_t(values[i]) * numbers[k];
        }
        for (size_t entry = 0; entry < products.size(); ++entry) add(entry, products[entry]);
        std::fill(products.begin(), products.end(), 0);
    }
}

// With vectors of zeros and ones that are bits: those of 64 vectors in a row are added together.
void add_products_with_bits(const CsrView<row_t, int32_t>& columns, const CsrView<row_t, int32_t>& rows,
                            int shift, size_t n_vectors, Pool& pool, const WideSums& sums) {
    const size_t n_words = (n_vectors + 63) / 64;
    Buffer<uint64_t> bits(checked_product(rows.size(), n_words));
    for (size_t row = 0; row < rows.size(); ++row)
        for (const row_t v : rows[row]) bits.data()[row * n_words + v / 64] |= uint64_t(1) << v % 64;
    each_task(columns.size(), double(columns.indices.size()) * double(8 * n_words), pool,
              [&](size_t first, size_t last) {
                  std::vector<int64_t> products(64 * n_words);
                  for (size_t j = first; j < last; ++j) {
                      std::fill(products.begin(), products.end(), 0);  // 2^23 times 2^32 rows
                      kernels().add_masked(columns[j].data(), columns.values_of(j).data(), columns.length(j),
                                           bits.data(), n_words, products.data());
                      for (size_t v = 0; v < n_vectors; ++v) sums.add(j * sums.pitch + v, products[v], shift);
                  }
              });
}

}  // namespace

void WideSums::add(size_t at, int64_t value, int shift) const {
    uint64_t up = 0, down = uint64_t(value & word);
    if (shift == 48) {
        up = uint64_t(value) << 16;
        down = 0;
    } else {
        up = (uint64_t(value >> 32) << shift) + (down << shift >> 32);
        down = down << shift & uint64_t(word);
    }
    const uint64_t sum = uint64_t(low[at]) + down;
    low[at] = int64_t(sum & uint64_t(word));
    high[at] = int64_t(uint64_t(high[at]) + up + (sum >> 32));
}

void scan_columns(const StridedNumbers& numbers, Pool& pool, const ColumnScans& out) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double cost = double(numbers.n_rows) * double(numbers.n_columns);
    const std::vector<NumberScan> none(numbers.n_columns, {infinity, -infinity, 0, 0});
    std::vector<std::vector<NumberScan>> of_workers(by_rows(numbers) ? pool.size() : 1, none);
    if (by_rows(numbers)) {
        scan_by_rows(numbers, pool, of_workers);
    } else {
        each_task(numbers.n_columns, cost, pool, [&](size_t first, size_t last) {
            each_piece(some_columns(numbers, first, last),
                       [&](size_t column, size_t, size_t n, const double* values) {
                           kernels().scan_numbers(values, n, of_workers[0][first + column]);
                       });
        });
    }
    for (size_t j = 0; j < numbers.n_columns; ++j) {
        NumberScan all = none[j];
        for (const std::vector<NumberScan>& scans : of_workers)
            all = {std::min(all.low, scans[j].low), std::max(all.high, scans[j].high),
                   all.n_missing + scans[j].n_missing, all.n_zeros + scans[j].n_zeros};
        out.low[j] = all.low;
        out.high[j] = all.high;
        out.n_missing[j] = int64_t(all.n_missing);
        out.n_zeros[j] = int64_t(all.n_zeros);
    }
}

void split_columns(const StridedNumbers& numbers, const ColumnScales& scales, Pool& pool, int16_t* cells) {
    const DigitColumns columns{cells, numbers.n_rows, numbers.n_columns};
    const double cost = 2 * double(numbers.n_rows) * double(numbers.n_columns);
    const auto scale_of = [&](size_t j) {
        const int half = scales.exponents[j] / 2;
        return DigitScale{.factor = std::ldexp(1.0, half),
                          .more = std::ldexp(1.0, scales.exponents[j] - half),
                          .shift = scales.shifts[j],
                          .fill = scales.fills[j]};
    };
    const auto split = [&](const StridedNumbers& part, size_t first_column) {
        each_piece(part, [&](size_t column, size_t top, size_t n, const double* values) {
            const size_t j = first_column + column, block = top / digit_block;
            int16_t* to = cells + columns.place(j, block) + 2 * (top - block * digit_block);
            kernels().split_digits(values, DigitColumns::padded(n), scale_of(j), to);
            // What fills up the last group counts as 0.
            for (size_t i = n; i < DigitColumns::padded(n); ++i) {
                int16_t* group = to + 2 * (i / digit_group * digit_group);
                group[i % digit_group] = group[digit_group + i % digit_group] = 0;
            }
        });
    };
    if (!by_rows(numbers)) {
        each_task(numbers.n_columns, cost, pool,
                  [&](size_t first, size_t last) { split(some_columns(numbers, first, last), first); });
        return;
    }
    std::vector<DigitScales> of_groups(whole_groups(numbers.n_columns) / scanned_columns);
    for (size_t j = 0; j < numbers.n_columns; ++j) {
        DigitScales& of = of_groups[j / scanned_columns];
        const DigitScale one = scale_of(j);
        const size_t at = j % scanned_columns;
        of.factor[at] = one.factor;
        of.more[at] = one.more;
        of.shift[at] = one.shift;
        of.fill[at] = one.fill;
    }
    pool.run(n_row_tasks(numbers), cost, [&](size_t task, unsigned) {
        const size_t end = std::min(numbers.n_rows, (task + 1) * rows_per_task);
        int16_t digits[scanned_columns * 2 * digit_group];
        each_tile(numbers, task * rows_per_task, end, digit_group, rows_split,
                  [&](size_t first, size_t top, size_t n, size_t pitch, const double* values) {
                      kernels().split_rows(values, pitch, n, of_groups[first / scanned_columns], digits);
                      const size_t last = std::min(numbers.n_columns, first + scanned_columns);
                      for (size_t j = first; j < last; ++j) {
                          const size_t block = top / digit_block;
                          std::copy_n(digits + 2 * digit_group * (j - first), 2 * digit_group,
                                      cells + columns.place(j, block) + 2 * (top - block * digit_block));
                      }
                  });
    });
}

void copy_column(const DigitColumns& columns, size_t column, int32_t* out) {
    for (size_t block = 0; block < columns.n_blocks(); ++block) {
        const int16_t* from = columns.cells + columns.place(column, block);
        for (size_t i = 0; i < columns.rows_of(block); ++i) {
            const int16_t* group = from + 2 * (i / digit_group * digit_group) + i % digit_group;
            out[block * digit_block + i] = int32_t(group[0]) * 4096 + group[digit_group];
        }
    }
}

void add_products(const DigitColumns& columns, const VectorPieces& vectors, Pool& pool,
                  const WideSums& sums) {
    multiply_digits(columns, VectorDigits(vectors, columns, pool), vectors.size, pool,
                    [&](size_t j, size_t v, int64_t product) {
                        sums.add(j * sums.pitch + size_t(vectors.into[v]), product, vectors.shifts[v]);
                    });
}

void add_products(const DigitColumns& columns, std::span<const int64_t> some, Pool& pool,
                  const WideSums& sums) {
    multiply_digits(columns, OwnDigits(columns, some), some.size(), pool,
                    [&](size_t j, size_t v, int64_t product) { sums.add(j * sums.pitch + v, product, 0); });
}

void add_products(const CsrView<row_t, int32_t>& columns, const VectorPieces& vectors, Pool& pool,
                  const WideSums& sums) {
    const double cost = 2 * double(columns.indices.size()) * double(vectors.size);
    each_task(columns.size(), cost, pool, [&](size_t first, size_t last) {
        for (size_t j = first; j < last; ++j) {
            const auto rows = columns[j];
            const auto values = columns.values_of(j);
            for (size_t v = 0; v < vectors.size; ++v) {
                const int32_t* vector = vectors.values + v * vectors.n_rows;
                for (size_t start = 0; start < rows.size(); start += entries_at_once) {
                    const size_t end = std::min(rows.size(), start + entries_at_once);
                    int64_t product = 0;
                    for (size_t i = start; i < end; ++i) product += int64_t(values[i]) * vector[rows[i]];
                    sums.add(j * sums.pitch + size_t(vectors.into[v]), product, vectors.shifts[v]);
                }
            }
        }
    });
}

void add_products(std::span<const code_t> levels, size_t n_columns, const VectorPieces& vectors,
                  const WideSums& sums) {
    std::vector<int64_t> products(n_columns + 1);
    for (size_t v = 0; v < vectors.size; ++v) {
        std::fill(products.begin(), products.end(), 0);  // 2^23 times 2^32 rows
        const int32_t* vector = vectors.values + v * vectors.n_rows;
        for (size_t i = 0; i < levels.size(); ++i) products[levels[i]] += vector[i];
        for (size_t k = 0; k < n_columns; ++k)
            sums.add(k * sums.pitch + size_t(vectors.into[v]), products[k + 1], vectors.shifts[v]);
    }
}

void add_products(const CsrView<row_t, int32_t>& columns, const CsrView<row_t, int32_t>& rows, int shift,
                  size_t n_vectors, Pool& pool, const WideSums& sums) {
    if (double(rows.indices.size()) > dense_bits * double(rows.size()) * double(n_vectors) &&
        std::all_of(rows.values.begin(), rows.values.end(), [](int32_t value) { return value == 1; })) {
        add_products_with_bits(columns, rows, shift, n_vectors, pool, sums);
        return;
    }
    const double per_row = double(rows.indices.size()) / double(std::max<size_t>(1, rows.size()));
    const double cost = 2 * double(columns.indices.size()) * (1 + per_row);
    each_task(columns.size(), cost, pool, [&](size_t first, size_t last) {
        std::vector<int64_t> products(n_vectors, 0);
        for (size_t j = first; j < last; ++j)
            add_listed(rows, columns[j], columns.values_of(j), products,
                       [&](size_t v, int64_t product) { sums.add(j * sums.pitch + v, product, shift); });
    });
}

void add_products(const CsrView<row_t, int32_t>& rows, std::span<const row_t> some,
                  std::span<const int32_t> values, int shift, size_t into, size_t n_columns,
                  const WideSums& sums) {
    std::vector<int64_t> products(n_columns, 0);
    add_listed(rows, some, values, products,
               [&](size_t j, int64_t product) { sums.add(j * sums.pitch + into, product, shift); });
}

void add_squares(const DigitColumns& columns, const uint64_t* weights, Pool& pool, const WideSums& sums) {
    const size_t n_columns = columns.n_columns;
    const double cost = double(columns.n_rows) * double(n_columns) * (weights ? 4 : 0.25);
    each_task(n_columns, cost, pool, [&](size_t first, size_t last) {
        std::vector<int32_t> numbers(weights ? digit_block : 0);
        for (size_t block = 0; block < columns.n_blocks(); ++block)
            for (size_t j = first; j < last; ++j) {
                const int16_t* column = columns.cells + columns.place(j, block);
                const size_t n = columns.rows_of(block);
                if (!weights) {
                    int64_t product = 0;
                    kernels().multiply_digits(&column, 1, &column, 1, DigitColumns::padded(n) / digit_group,
                                              &product);
                    sums.add(j * sums.pitch, product, 0);
                    continue;
                }
                copy_column({column, n, 1}, 0, numbers.data());
                const uint64_t* of_rows = weights + block * digit_block;
                int64_t low = 0, middle = 0, high = 0;
                for (size_t i = 0; i < n; ++i) {
                    const Pieces pieces{numbers[i] * int64_t(of_rows[i])};
                    low += numbers[i] * pieces.low;
                    middle += numbers[i] * pieces.middle;
                    high += numbers[i] * pieces.high;
                }
                sums.add(j * sums.pitch, low, 0);
                sums.add(j * sums.pitch, middle, 24);
                sums.add(j * sums.pitch, high, 48);
            }
    });
}

void count_common(const CsrView<row_t>& columns, size_t n_rows, Pool& pool, int64_t* counts) {
    constexpr size_t together = 8,
                     words_at_once = 1024;  // columns of a task, and words of each that a cache holds
    const size_t n = columns.size(), n_words = (n_rows + 63) / 64;
    Buffer<uint64_t> bits(checked_product(n, n_words));
    const double cost = double(n) * double(n) * double(n_words) / 8 + double(columns.indices.size());
    pool.run(n, cost, [&](size_t j, unsigned) {
        for (const row_t row : columns[j]) bits.data()[j * n_words + row / 64] |= uint64_t(1) << row % 64;
    });
    pool.run((n + together - 1) / together, cost, [&](size_t task, unsigned) {
        const size_t first = task * together, width = std::min(together, n - first);
        std::vector<count_t> found(n * width);
        for (size_t word = 0; word < n_words; word += words_at_once)
            kernels().count_common({bits.data() + first * n_words + word, n_words, width},
                                   {bits.data() + word, n_words, n}, std::min(words_at_once, n_words - word),
                                   found.data(), width);
        for (size_t j = 0; j < n; ++j)
            for (size_t i = 0; i < width; ++i) counts[(first + i) * n + j] = int64_t(found[j * width + i]);
    });
}

}  // namespace labelsieve
