#include "counting/columns.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace labelsieve {

void Columns::check(size_t column, uint32_t largest) const {
    if (largest < levels_[column]) return;
    throw std::invalid_argument("column " + std::to_string(column) + " holds code " +
                                std::to_string(largest) + " but has " + std::to_string(levels_[column]) +
                                " levels; was the array changed after the Codes were made?");
}

void DenseColumns::read(size_t first, size_t last, code_t* out) const {
    // Rows outside, columns inside: a row-major table is then read line by line.
    constexpr size_t stripe = 1024;
    for (size_t top = 0; top < n_rows(); top += stripe)
        for (size_t column = first; column < last; ++column)
            read_rows(column, top, std::min(n_rows(), top + stripe), out + (column - first) * n_rows() + top);
}

void DenseColumns::read_rows(size_t column, size_t from, size_t to, code_t* out) const {
    const uint8_t* code = data_ + ptrdiff_t(column) * column_stride_ + ptrdiff_t(from) * row_stride_;
    const size_t n = to - from;
    if (item_size_ == 1) {
        for (size_t i = 0; i < n; ++i, code += row_stride_) out[i] = *code;
    } else {
        for (size_t i = 0; i < n; ++i, code += row_stride_) std::memcpy(out + i, code, sizeof(code_t));
    }
    code_t largest = 0;
    for (size_t i = 0; i < n; ++i) largest = std::max(largest, out[i]);
    check(column, largest);
}

void DenseColumns::read_bytes(std::span<const size_t> columns, size_t first_row, size_t n_rows, uint8_t* out,
                              size_t pitch) const {
    const size_t n_columns = columns.size();
    if (item_size_ == 1 && row_stride_ == 1) {
        for (size_t j = 0; j < n_columns; ++j)
            std::memcpy(out + j * pitch, bytes(columns[j]) + first_row, n_rows);
        return;
    }
    // Sixty-four columns by sixteen rows at a time: both the lines read and the lines written stay in the
    // first cache.
    for (size_t left = 0; left < n_columns; left += 64) {
        const size_t right = std::min(n_columns, left + 64);
        for (size_t top = 0; top < n_rows; top += 16) {
            const size_t bottom = std::min(n_rows, top + 16);
            for (size_t j = left; j < right; ++j) {
                const uint8_t* from =
                    data_ + ptrdiff_t(columns[j]) * column_stride_ + ptrdiff_t(first_row + top) * row_stride_;
                uint8_t* to = out + j * pitch;
                if (item_size_ == 1) {
                    for (size_t row = top; row < bottom; ++row, from += row_stride_) to[row] = *from;
                } else {
                    for (size_t row = top; row < bottom; ++row, from += row_stride_) {
                        code_t code;
                        std::memcpy(&code, from, sizeof code);
                        to[row] = uint8_t(std::min<code_t>(code, 255));
                    }
                }
            }
        }
    }
}

SparseColumns::SparseColumns(CsrView<row_t, code_t> listed, std::span<const code_t> implicit, size_t n_rows,
                             std::vector<uint32_t> levels)
    : Columns(n_rows, std::move(levels)), listed_(listed), implicit_(implicit) {
    if (listed.starts.size() != size() + 1 || implicit.size() != size())
        throw std::invalid_argument("sparse columns: a start, an implicit code and levels for each column");
    checked(listed, n_rows, Order::rising, "; were the rows changed after the Codes were made?");
    for (size_t column = 0; column < size(); ++column) {
        uint32_t largest = implicit[column];
        for (const code_t code : codes(column)) largest = std::max<uint32_t>(largest, code);
        check(column, largest);
    }
}

void SparseColumns::read(size_t first, size_t last, code_t* out) const {
    for (size_t column = first; column < last; ++column, out += n_rows()) read_rows(column, 0, n_rows(), out);
}

void SparseColumns::read_rows(size_t column, size_t from, size_t to, code_t* out) const {
    std::fill(out, out + (to - from), implicit_[column]);
    const auto listed_rows = rows(column);
    const auto listed_codes = codes(column);
    const auto first = std::lower_bound(listed_rows.begin(), listed_rows.end(), from);
    for (size_t i = size_t(first - listed_rows.begin()); i < listed_rows.size() && listed_rows[i] < to; ++i)
        out[listed_rows[i] - from] = listed_codes[i];
}

}  // namespace labelsieve
