// Counts of blocks of rows for Python.
#include "bindings/python.hpp"
#include "counting/raw_counts.hpp"

namespace labelsieve {
namespace {

constexpr size_t most_packed_levels = 255;

DenseColumns columns_of(const Matrix& codes, const Vector<uint32_t>& levels) {
    const StridedNumbers numbers = numbers_of(codes);
    require(numbers.type == Number::u8 || numbers.type == Number::u16, "codes must be uint8 or uint16");
    require_row_count(numbers.n_rows);
    require(levels.shape(0) == numbers.n_columns, "one number of levels for each column");
    return {{.data = numbers.data,
             .item_size = numbers.type == Number::u8 ? size_t(1) : size_t(2),
             .row_stride = numbers.row_stride,
             .column_stride = numbers.column_stride,
             .n_rows = numbers.n_rows},
            {levels.data(), levels.data() + levels.shape(0)}};
}

size_t blocks_in(size_t n_words, size_t n_rows) {
    const size_t words_of_block = checked_product(n_rows + 1, block_words);
    require(n_words % words_of_block == 0, "words must be whole blocks of 512 columns");
    return n_words / words_of_block;
}

void pack_into(Matrix codes, Vector<uint32_t> levels, Vector<int64_t> first, OutVector<uint64_t> words) {
    const DenseColumns columns = columns_of(codes, levels);
    require(first.shape(0) == columns.size(), "a first bit for each column");
    const size_t n_bits = blocks_in(words.shape(0), columns.n_rows()) * block_bits;
    for (size_t j = 0; j < columns.size(); ++j) {
        if (first.data()[j] < 0) continue;
        require(columns.levels(j) <= most_packed_levels, "a packed column has at most 255 levels");
        require(size_t(first.data()[j]) + columns.levels(j) - 1 <= n_bits, "a bit beyond the last block");
    }
    const nb::gil_scoped_release released;
    pack_rows(columns, view_of(first), words.data());
}

// What counts; it keeps its threads between calls.
class RawCounter {
  public:
    explicit RawCounter(unsigned n_threads) : pool_(n_threads, poll_signals) {}

    void add(Vector<uint64_t> words, size_t n_rows, Vector<int64_t> starts, Vector<uint32_t> columns,
             size_t n_listed, std::optional<Vector<row_t>> rows, Vector<uint32_t> given,
             Vector<uint32_t> given_cell, Matrix targets, Vector<uint32_t> levels,
             Vector<uint32_t> class_cell, std::optional<Vector<uint64_t>> weights, OutVector<int64_t> counts,
             OutVector<int64_t> sizes) {
        require_row_count(n_rows);
        require(words.shape(0) == 0 || reinterpret_cast<uintptr_t>(words.data()) % cache_line == 0,
                "words must be aligned");
        const PackedRows packed{.words = words.data(),
                                .n_blocks = blocks_in(words.shape(0), n_rows),
                                .n_rows = n_rows,
                                .listed = checked(view_of(starts, columns), n_listed, Order::any),
                                .n_listed = n_listed};
        require(n_listed == 0 || starts.shape(0) == n_rows + 1, "a list for each row");
        const DenseColumns classes = columns_of(targets, levels);
        require(given.shape(0) == classes.n_rows(), "a given code for each entry");
        require(rows ? rows->shape(0) == classes.n_rows() : n_rows == classes.n_rows(),
                "a row for each entry");
        if (rows) check_limit(view_of(*rows), n_rows);
        require(!weights || weights->shape(0) == n_rows, "a weight for each row");
        const size_t n_given = number_of_cells(view_of(given_cell));
        std::vector<int64_t> class_starts{0}, sets{0};
        for (size_t l = 0; l < classes.size(); ++l) {
            require(size_t(class_starts.back()) + classes.levels(l) <= class_cell.shape(0),
                    "a cell for each class");
            const size_t n =
                number_of_cells(view_of(class_cell).subspan(size_t(class_starts.back()), classes.levels(l)));
            class_starts.push_back(class_starts.back() + int64_t(classes.levels(l)));
            sets.push_back(sets.back() + int64_t(checked_product(n, n_given)));
        }
        require(sizes.shape(0) == size_t(sets.back()) &&
                    counts.shape(0) == checked_product(sizes.shape(0), packed.n_columns()),
                "a size for each set of rows and a count for each of the columns");
        const RawRequest request{.rows = rows ? view_of(*rows) : std::span<const row_t>(),
                                 .given = view_of(given),
                                 .given_cell = view_of(given_cell),
                                 .n_given = n_given,
                                 .targets = classes,
                                 .class_cell = view_of(class_cell),
                                 .class_starts = class_starts,
                                 .sets = sets,
                                 .weights = weights ? view_of(*weights) : std::span<const uint64_t>(),
                                 .counts = counts.data(),
                                 .sizes = sizes.data()};
        const nb::gil_scoped_release released;
        add_raw_counts(packed, request, pool_);
    }

  private:
    static size_t number_of_cells(std::span<const uint32_t> cells) {
        size_t n = 0;
        for (const uint32_t cell : cells)
            if (cell != not_counted) n = std::max(n, size_t(cell) + 1);
        require(n <= cells.size(), "as many cells as levels at the most");
        return n;
    }

    Pool pool_;
};

}  // namespace

void bind_raw_counts(nb::module_& m) {
    m.def("pack_rows", &pack_into, "codes"_a, "levels"_a, "first"_a, "words"_a.noconvert());
    nb::class_<RawCounter>(m, "RawCounter")
        .def(nb::init<unsigned>(), "n_threads"_a)
        .def("add", &RawCounter::add, "words"_a, "n_rows"_a, "starts"_a, "columns"_a, "n_listed"_a,
             "rows"_a.none(), "given"_a, "given_cell"_a, "targets"_a, "levels"_a, "class_cell"_a,
             "weights"_a.none(), "counts"_a.noconvert(), "sizes"_a.noconvert());
}

}  // namespace labelsieve
