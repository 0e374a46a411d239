// Tables of codes, as they were handed in: dense with any strides, or sparse by columns. Nothing is copied.
#pragma once

#include <vector>

#include "common/csr_view.hpp"

namespace labelsieve {

class Columns {
  public:
    Columns(size_t n_rows, std::vector<uint32_t> levels) : n_rows_(n_rows), levels_(std::move(levels)) {}
    virtual ~Columns() = default;

    size_t n_rows() const { return n_rows_; }
    size_t size() const { return levels_.size(); }
    uint32_t levels(size_t column) const { return levels_[column]; }

    // The codes of columns first .. last - 1, one column after the other. Throws std::invalid_argument when a
    // code is not below the column's levels: the caller owns the memory and may have written to it since it
    // was checked.
    virtual void read(size_t first, size_t last, code_t* out) const = 0;

    // The codes of rows from .. to - 1 of one column, checked as above.
    virtual void read_rows(size_t column, size_t from, size_t to, code_t* out) const = 0;

    // Throws std::invalid_argument unless `largest` is a code of the column.
    void check(size_t column, uint32_t largest) const;

  private:
    size_t n_rows_;
    std::vector<uint32_t> levels_;
};

class DenseColumns final : public Columns {
  public:
    struct Layout {
        const void* data;
        size_t item_size;                     // 1 or 2
        ptrdiff_t row_stride, column_stride;  // in bytes
        size_t n_rows;
    };
    DenseColumns(const Layout& layout, std::vector<uint32_t> levels)
        : Columns(layout.n_rows, std::move(levels)), data_(static_cast<const uint8_t*>(layout.data)),
          item_size_(layout.item_size), row_stride_(layout.row_stride), column_stride_(layout.column_stride) {
    }

    void read(size_t first, size_t last, code_t* out) const override;
    void read_rows(size_t column, size_t from, size_t to, code_t* out) const override;

    // `n_rows` codes of the listed columns as bytes, column j at `out + j * pitch`; a code above 255 becomes
    // 255, which is no code of a narrow column either.
    void read_bytes(std::span<const size_t> columns, size_t first_row, size_t n_rows, uint8_t* out,
                    size_t pitch) const;

    // A column as contiguous bytes when it lies so in memory, else null.
    const uint8_t* bytes(size_t column) const {
        return item_size_ == 1 && row_stride_ == 1 ? data_ + ptrdiff_t(column) * column_stride_ : nullptr;
    }

    // The first of some columns that follow each other in every row as bytes, else null; `stride` is that of
    // the rows.
    const uint8_t* rows_of_bytes(std::span<const size_t> columns, size_t& stride) const {
        if (item_size_ != 1 || column_stride_ != 1 || row_stride_ < ptrdiff_t(size())) return nullptr;
        for (size_t j = 1; j < columns.size(); ++j)
            if (columns[j] != columns[0] + j) return nullptr;
        stride = size_t(row_stride_);
        return data_ + columns[0];
    }

  private:
    const uint8_t* data_;
    size_t item_size_;
    ptrdiff_t row_stride_, column_stride_;
};

// Every row that a column does not list has the column's implicit code.
class SparseColumns final : public Columns {
  public:
    // Throws std::invalid_argument when starts, rows or codes are out of range.
    SparseColumns(CsrView<row_t, code_t> listed, std::span<const code_t> implicit, size_t n_rows,
                  std::vector<uint32_t> levels);

    void read(size_t first, size_t last, code_t* out) const override;
    void read_rows(size_t column, size_t from, size_t to, code_t* out) const override;

    size_t n_listed(size_t column) const { return listed_.length(column); }
    std::span<const row_t> rows(size_t column) const { return listed_[column]; }
    std::span<const code_t> codes(size_t column) const { return listed_.values_of(column); }
    code_t implicit(size_t column) const { return implicit_[column]; }

  private:
    CsrView<row_t, code_t> listed_;
    std::span<const code_t> implicit_;
};

// visit(level, row) for every entry of a sparse column that is not its implicit code. That code is exchanged
// with level 0, so that the level left out is the one that is not stored.
template <class Visit>
void each_listed(const SparseColumns& columns, size_t column, const Visit& visit) {
    const code_t implicit = columns.implicit(column);
    const auto rows = columns.rows(column);
    const auto codes = columns.codes(column);
    for (size_t i = 0; i < rows.size(); ++i)
        if (codes[i] != implicit) visit(size_t(codes[i] == 0 ? implicit : codes[i]), rows[i]);
}

}  // namespace labelsieve
