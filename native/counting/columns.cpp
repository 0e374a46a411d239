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
    const size_t n = n_rows();
    for (size_t top = 0; top < n; top += stripe) {
        const size_t bottom = std::min(n, top + stripe);
        for (size_t column = first; column < last; ++column) {
            code_t largest = 0;
            const uint8_t* from = data_ + ptrdiff_t(column) * column_stride_ + ptrdiff_t(top) * row_stride_;
            code_t* to = out + (column - first) * n;
            if (item_size_ == 1) {
                for (size_t row = top; row < bottom; ++row, from += row_stride_) to[row] = *from;
            } else {
                for (size_t row = top; row < bottom; ++row, from += row_stride_)
                    std::memcpy(to + row, from, sizeof(code_t));
            }
            for (size_t row = top; row < bottom; ++row) largest = std::max(largest, to[row]);
            check(column, largest);
        }
    }
}

void DenseColumns::read_bytes(const size_t* columns, size_t n_columns, size_t first_row, size_t n_rows,
                              uint8_t* out, size_t pitch) const {
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

SparseColumns::SparseColumns(const int64_t* starts, const row_t* rows, const code_t* codes,
                             const code_t* implicit, size_t n_listed, size_t n_rows,
                             std::vector<uint32_t> levels)
    : Columns(n_rows, std::move(levels)), starts_(starts), rows_(rows), codes_(codes), implicit_(implicit) {
    if (starts[0] != 0 || starts[size()] != int64_t(n_listed))
        throw std::invalid_argument("sparse columns: starts do not span the entries");
    for (size_t column = 0; column < size(); ++column)
        if (starts[column + 1] < starts[column])
            throw std::invalid_argument("sparse columns: starts must not fall");
    for (size_t column = 0; column < size(); ++column) {
        uint32_t largest = implicit[column];
        bool rising = true;
        for (int64_t i = starts[column]; i < starts[column + 1]; ++i) {
            largest = std::max<uint32_t>(largest, codes[i]);
            rising &= rows[i] < n_rows && (i == starts[column] || rows[i] > rows[i - 1]);
        }
        check(column, largest);
        if (!rising)
            throw std::invalid_argument(
                "sparse columns: the rows of column " + std::to_string(column) +
                " must rise and lie in the table; were they changed after the Codes were made?");
    }
}

void SparseColumns::read(size_t first, size_t last, code_t* out) const {
    const size_t n = n_rows();
    for (size_t column = first; column < last; ++column, out += n) {
        std::fill(out, out + n, implicit_[column]);
        const row_t* row = rows(column);
        const code_t* code = codes(column);
        for (size_t i = 0, listed_rows = listed(column); i < listed_rows; ++i) out[row[i]] = code[i];
    }
}

}  // namespace labelsieve
