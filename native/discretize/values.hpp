// A table of numbers, column by column in double precision: dense, or listed with zero everywhere else.
#pragma once

#include <array>
#include <span>

#include "common/scratch.hpp"
#include "discretize/numbers.hpp"

namespace labelsieve {

struct Column {
    std::span<const double> values;
    std::span<const row_t> rows;  // of the values; none: the column has them all, in order
    size_t n_rows;

    row_t row(size_t i) const { return rows.empty() ? row_t(i) : rows[i]; }
    bool has_unlisted() const { return values.size() < n_rows; }  // rows that hold zero
};

class Values {
  public:
    explicit Values(const StridedNumbers& dense)
        : dense_(dense), n_rows_(dense.n_rows), n_columns_(dense.n_columns) {}
    Values(CsrView<row_t, double> columns, size_t n_rows)
        : listed_(columns), n_rows_(n_rows), n_columns_(columns.size()) {}

    size_t n_rows() const { return n_rows_; }
    size_t n_columns() const { return n_columns_; }
    bool is_sparse() const { return !listed_.starts.empty(); }
    const CsrView<row_t, double>& listed() const { return listed_; }

    // True when the numbers of a column lie near each other, so that it can be read in pieces at little cost.
    bool by_columns() const {
        return !is_sparse() && std::abs(dense_.row_stride) <= std::abs(dense_.column_stride);
    }

    // visit(number, column) for every column in turn. Columns of a row-major table are read a few at a time.
    template <class Visit>
    void each_column(Visit&& visit) const {
        each_column(visit, [](size_t) { return false; });
    }

    // The same; of a table by columns only those for which skip(number) is false are read.
    template <class Visit, class Skip>
    void each_column(Visit&& visit, Skip&& skip) const {
        const auto whole = [&](const double* from) {
            return Column{.values = {from, n_rows_}, .rows = {}, .n_rows = n_rows_};
        };
        if (is_sparse()) {
            for (size_t j = 0; j < n_columns_; ++j)
                visit(j, Column{.values = listed_.values_of(j), .rows = listed_[j], .n_rows = n_rows_});
            return;
        }
        if (by_columns()) {
            Scratch<double> buffer;
            for (size_t j = 0; j < n_columns_; ++j) {
                if (skip(j)) continue;
                buffer.clear();
                buffer.reserve(n_rows_);
                each_piece_of(j, [&](std::span<const double> piece) {
                    buffer.insert(buffer.end(), piece.begin(), piece.end());
                });
                visit(j, whole(buffer.data()));
            }
            return;
        }
        constexpr size_t together = 16;
        Scratch<double> buffer(checked_product(std::min(together, n_columns_), n_rows_));
        for (size_t first = 0; first < n_columns_; first += together) {
            const StridedNumbers part = columns(first, std::min(together, n_columns_ - first));
            with_type(part.type, [&](auto zero) {
                using T = decltype(zero);
                each_stretch<T>(part, [&](size_t column, size_t top, size_t rows, const T* from) {
                    for (size_t i = 0; i < rows; ++i) buffer[column * n_rows_ + top + i] = double(from[i]);
                });
            });
            for (size_t column = 0; column < part.n_columns; ++column)
                visit(first + column, whole(buffer.data() + column * n_rows_));
        }
    }

    // visit(values) for the pieces of a column of a dense table, in order.
    template <class Visit>
    void each_piece_of(size_t j, Visit&& visit) const {
        pieces(columns(j, 1), [&](size_t, size_t, std::span<const double> piece) { visit(piece); });
    }

    // visit(number, first row, values) for pieces of every column, as small as suits the order in memory.
    template <class Visit>
    void each_piece(Visit&& visit) const {
        if (is_sparse()) {
            for (size_t j = 0; j < n_columns_; ++j) visit(j, size_t(0), listed_.values_of(j));
            return;
        }
        pieces(dense_, visit);
    }

  private:
    StridedNumbers columns(size_t first, size_t n_columns) const {
        StridedNumbers part = dense_;
        part.data = static_cast<const uint8_t*>(dense_.data) + ptrdiff_t(first) * dense_.column_stride;
        part.n_columns = n_columns;
        return part;
    }

    template <class Visit>
    static void pieces(const StridedNumbers& numbers, Visit&& visit) {
        with_type(numbers.type, [&](auto zero) {
            using T = decltype(zero);
            std::array<double, most_together> buffer;
            each_stretch<T>(numbers, [&](size_t column, size_t top, size_t rows, const T* from) {
                for (size_t i = 0; i < rows; ++i) buffer[i] = double(from[i]);
                visit(column, top, std::span<const double>{buffer.data(), rows});
            });
        });
    }

    StridedNumbers dense_{};
    CsrView<row_t, double> listed_{};
    size_t n_rows_, n_columns_;
};

}  // namespace labelsieve
