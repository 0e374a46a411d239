// Tables of codes, as they were handed in: dense with any strides, or sparse by columns. Nothing is copied.
#pragma once

#include <vector>

#include "counting/types.hpp"

namespace labelsieve {

class Columns {
  public:
    Columns(size_t n_rows, std::vector<uint32_t> levels) : n_rows_(n_rows), levels_(std::move(levels)) {}
    virtual ~Columns() = default;

    size_t n_rows() const { return n_rows_; }
    size_t size() const { return levels_.size(); }
    uint32_t levels(size_t column) const { return levels_[column]; }

    // The codes of columns first .. last - 1, one column after the other. Throws std::invalid_argument when a
    // code is not below the column's levels: the memory belongs to somebody else, who may have written to it
    // since it was checked.
    virtual void read(size_t first, size_t last, code_t* out) const = 0;

    // Throws std::invalid_argument unless `largest` is a code of the column.
    void check(size_t column, uint32_t largest) const;

  private:
    size_t n_rows_;
    std::vector<uint32_t> levels_;
};

class DenseColumns final : public Columns {
  public:
    // Strides in bytes; `item_size` is 1 or 2.
    DenseColumns(const void* data, size_t item_size, ptrdiff_t row_stride, ptrdiff_t column_stride,
                 size_t n_rows, std::vector<uint32_t> levels)
        : Columns(n_rows, std::move(levels)), data_(static_cast<const uint8_t*>(data)), item_size_(item_size),
          row_stride_(row_stride), column_stride_(column_stride) {}

    void read(size_t first, size_t last, code_t* out) const override;

    // `n_rows` codes of the listed columns as bytes, column j at `out + j * pitch`; a code above 255 becomes
    // 255, which is no code of a narrow column either.
    void read_bytes(const size_t* columns, size_t n_columns, size_t first_row, size_t n_rows, uint8_t* out,
                    size_t pitch) const;

    // A column as contiguous bytes when it lies so in memory, else null.
    const uint8_t* bytes(size_t column) const {
        return item_size_ == 1 && row_stride_ == 1 ? data_ + ptrdiff_t(column) * column_stride_ : nullptr;
    }

  private:
    const uint8_t* data_;
    size_t item_size_;
    ptrdiff_t row_stride_, column_stride_;
};

// Every row that a column does not list has the column's implicit code.
class SparseColumns final : public Columns {
  public:
    // Throws std::invalid_argument when starts, rows or codes point outside the table of `n_listed` entries.
    SparseColumns(const int64_t* starts, const row_t* rows, const code_t* codes, const code_t* implicit,
                  size_t n_listed, size_t n_rows, std::vector<uint32_t> levels);

    void read(size_t first, size_t last, code_t* out) const override;

    size_t listed(size_t column) const { return size_t(starts_[column + 1] - starts_[column]); }
    const row_t* rows(size_t column) const { return rows_ + starts_[column]; }
    const code_t* codes(size_t column) const { return codes_ + starts_[column]; }
    code_t implicit(size_t column) const { return implicit_[column]; }

  private:
    const int64_t* starts_;
    const row_t* rows_;
    const code_t* codes_;
    const code_t* implicit_;
};

}  // namespace labelsieve
