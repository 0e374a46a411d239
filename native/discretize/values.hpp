// A table of numbers, column by column in double precision: dense, or listed with zero everywhere else.
#pragma once

#include <span>

#include "discretize/numbers.hpp"

namespace labelsieve {

struct Column {
    std::span<const double> values;
    const row_t* rows;  // of the values; nullptr: the column has them all, in order
    size_t n_rows;

    row_t row(size_t i) const { return rows ? rows[i] : row_t(i); }
    bool has_unlisted() const { return values.size() < n_rows; }  // rows that hold zero
};

class Values {
  public:
    explicit Values(const Numbers& dense)
        : dense_(dense), n_rows_(dense.n_rows), n_columns_(dense.n_columns) {}
    Values(const int64_t* starts, const row_t* rows, const double* values, size_t n_rows, size_t n_columns)
        : starts_(starts), rows_(rows), listed_(values), n_rows_(n_rows), n_columns_(n_columns) {}

    size_t n_rows() const { return n_rows_; }
    size_t n_columns() const { return n_columns_; }
    bool is_sparse() const { return starts_ != nullptr; }
    const int64_t* starts() const { return starts_; }

    // visit(number, column) for every column in turn. Columns of a row-major table are read a few at a time.
    template <class Visit>
    void each_column(Visit&& visit) const {
        if (is_sparse()) {
            for (size_t j = 0; j < n_columns_; ++j) {
                const auto first = size_t(starts_[j]), n = size_t(starts_[j + 1]) - first;
                // Without entries `rows_` may be null, which would say that the column is dense.
                static constexpr row_t nowhere = 0;
                visit(j, Column{{listed_ + first, n}, rows_ ? rows_ + first : &nowhere, n_rows_});
            }
            return;
        }
        constexpr size_t together = 16;
        std::vector<double> room(checked_product(together, n_rows_));
        for (size_t first = 0; first < n_columns_; first += together) {
            Numbers part = dense_;
            part.data = static_cast<const uint8_t*>(dense_.data) + ptrdiff_t(first) * dense_.column_stride;
            part.n_columns = std::min(together, n_columns_ - first);
            with_type(part.type, [&](auto zero) {
                using T = decltype(zero);
                each_stretch<T>(part, [&](size_t column, size_t top, size_t rows, const T* from) {
                    for (size_t i = 0; i < rows; ++i) room[column * n_rows_ + top + i] = double(from[i]);
                });
            });
            for (size_t column = 0; column < part.n_columns; ++column)
                visit(first + column, Column{{room.data() + column * n_rows_, n_rows_}, nullptr, n_rows_});
        }
    }

  private:
    Numbers dense_{};
    const int64_t* starts_ = nullptr;
    const row_t* rows_ = nullptr;
    const double* listed_ = nullptr;
    size_t n_rows_, n_columns_;
};

}  // namespace labelsieve
