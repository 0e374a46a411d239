// Raw counts of chunks of rows, added up, against plain loops over all rows.
#include <stdexcept>

#include "counting/raw_counts.hpp"
#include "expect.hpp"

using namespace labelsieve;

namespace {

Below below(20260707);

struct Table {
    std::vector<uint32_t> levels;
    std::vector<uint8_t> codes;  // by columns
    size_t n_rows;

    Table(size_t n, std::vector<uint32_t> of) : levels(std::move(of)), n_rows(n) {
        for (const uint32_t level : levels)
            for (size_t i = 0; i < n; ++i) codes.push_back(uint8_t(below(3) == 0 ? 0 : below(level)));
    }
    uint8_t at(size_t row, size_t column) const { return codes[column * n_rows + row]; }
    DenseColumns columns(size_t first, size_t n) const {
        return {{.data = codes.data() + first,
                 .item_size = 1,
                 .row_stride = 1,
                 .column_stride = ptrdiff_t(n_rows),
                 .n_rows = n},
                levels};
    }
};

// Cells of the levels of a variable: one is not counted, as if it were the most frequent.
std::vector<uint32_t> cells_of(size_t n_levels) {
    const size_t left_out = below(n_levels);
    std::vector<uint32_t> cells;
    for (size_t level = 0, next = 0; level < n_levels; ++level)
        cells.push_back(level == left_out && n_levels > 1 ? not_counted : uint32_t(next++));
    return cells;
}

size_t counted(std::span<const uint32_t> cells) {
    return size_t(
        std::count_if(cells.begin(), cells.end(), [](uint32_t cell) { return cell != not_counted; }));
}

struct Case {
    Table x, y;                               // y has a row for every entry
    std::vector<row_t> rows;                  // of every entry, in order; empty: entry i is row i
    std::vector<uint32_t> given, given_cell;  // of every entry, of every level
    std::vector<uint32_t> class_cell;         // target after target
    std::vector<uint64_t> weights;            // of every row; empty: one
    std::vector<int64_t> first;               // bit of every feature; negative: listed
    std::vector<size_t> listed_first;         // of the features that are listed
    std::vector<int64_t> class_starts{0}, sets{0};
    size_t n_blocks = 0, n_listed = 0;

    size_t row(size_t entry) const { return rows.empty() ? entry : rows[entry]; }
    size_t n_columns() const { return n_blocks * block_bits + n_listed; }
};

Case make_case(size_t n, size_t n_features, bool repeated, uint64_t most_weight) {
    std::vector<uint32_t> levels;
    for (size_t j = 0; j < n_features; ++j) levels.push_back(uint32_t(1 + below(j % 5 == 0 ? 40 : 4)));
    const size_t n_entries = repeated ? below(2 * n) : n;
    Case data{.x = Table(n, levels),
              .y = Table(n_entries, {2, 3, 1, 7}),
              .rows = {},
              .given = {},
              .given_cell = cells_of(1 + below(6)),
              .class_cell = {},
              .weights = {},
              .first = {},
              .listed_first = {}};
    for (size_t i = 0; repeated && i < n_entries; ++i) data.rows.push_back(row_t(below(n)));
    std::sort(data.rows.begin(), data.rows.end());
    for (size_t i = 0; i < n_entries; ++i) data.given.push_back(uint32_t(below(data.given_cell.size())));
    for (size_t i = 0; most_weight && i < n; ++i) data.weights.push_back(below(most_weight + 1));
    for (const uint32_t classes : data.y.levels) {
        const std::vector<uint32_t> cells = cells_of(classes);
        data.class_cell.insert(data.class_cell.end(), cells.begin(), cells.end());
        data.class_starts.push_back(int64_t(data.class_cell.size()));
        data.sets.push_back(data.sets.back() + int64_t(counted(cells) * counted(data.given_cell)));
    }
    size_t n_bits = 0;
    for (const uint32_t level : levels) {
        const bool packed = level <= 20;
        data.first.push_back(packed ? int64_t(n_bits) : -1);
        data.listed_first.push_back(data.n_listed);
        (packed ? n_bits : data.n_listed) += level - 1;
    }
    data.n_blocks = (n_bits + block_bits - 1) / block_bits;
    return data;
}

struct Counts {
    std::vector<int64_t> counts, sizes;
    bool operator==(const Counts&) const = default;
};

Counts plain_loops(const Case& data) {
    const size_t n_given = counted(data.given_cell);
    Counts out{.counts = std::vector<int64_t>(size_t(data.sets.back()) * data.n_columns()),
               .sizes = std::vector<int64_t>(size_t(data.sets.back()))};
    for (size_t entry = 0; entry < data.y.n_rows; ++entry) {
        const size_t row = data.row(entry);
        const int64_t weight = data.weights.empty() ? 1 : int64_t(data.weights[row]);
        const uint32_t given = data.given_cell[data.given[entry]];
        for (size_t l = 0; l < data.y.levels.size(); ++l) {
            const uint32_t cell = data.class_cell[size_t(data.class_starts[l]) + data.y.at(entry, l)];
            if (given == not_counted || cell == not_counted) continue;
            const size_t set = size_t(data.sets[l]) + cell * n_given + given;
            out.sizes[set] += weight;
            for (size_t j = 0; j < data.x.levels.size(); ++j) {
                if (data.x.at(row, j) == 0) continue;
                const size_t start = data.first[j] >= 0 ? size_t(data.first[j])
                                                        : data.n_blocks * block_bits + data.listed_first[j];
                out.counts[set * data.n_columns() + start + data.x.at(row, j) - 1] += weight;
            }
        }
    }
    return out;
}

// Adds the rows from `top`, of which the entries are those from `entry` on.
void add_chunk(const Case& data, size_t top, size_t n, size_t entry, size_t n_entries, Counts& out,
               Pool& pool) {
    Buffer<uint64_t> words(data.n_blocks * (n + 1) * block_words);
    const DenseColumns x = data.x.columns(top, n);
    pack_rows(x, data.first, words.data());
    std::vector<int64_t> starts{0};
    std::vector<uint32_t> columns;
    for (size_t row = top; row < top + n; ++row) {
        for (size_t j = 0; j < data.first.size(); ++j)
            if (data.first[j] < 0 && data.x.at(row, j) != 0)
                columns.push_back(uint32_t(data.listed_first[j] + data.x.at(row, j) - 1));
        starts.push_back(int64_t(columns.size()));
    }
    std::vector<row_t> rows;
    for (size_t i = 0; !data.rows.empty() && i < n_entries; ++i)
        rows.push_back(data.rows[entry + i] - row_t(top));
    const PackedRows packed{.words = words.data(),
                            .n_blocks = data.n_blocks,
                            .n_rows = n,
                            .listed = {.starts = starts, .indices = columns},
                            .n_listed = data.n_listed};
    const DenseColumns targets = data.y.columns(entry, n_entries);
    const std::span<const uint64_t> weights(data.weights);
    add_raw_counts(packed,
                   {.rows = rows,
                    .given = std::span(data.given).subspan(entry, n_entries),
                    .given_cell = data.given_cell,
                    .n_given = counted(data.given_cell),
                    .targets = targets,
                    .class_cell = data.class_cell,
                    .class_starts = data.class_starts,
                    .sets = data.sets,
                    .weights = weights.empty() ? weights : weights.subspan(top, n),
                    .counts = out.counts.data(),
                    .sizes = out.sizes.data()},
                   pool);
}

Counts by_chunks(const Case& data, size_t chunk_rows, unsigned threads) {
    Pool pool(threads);
    Counts out{.counts = std::vector<int64_t>(size_t(data.sets.back()) * data.n_columns()),
               .sizes = std::vector<int64_t>(size_t(data.sets.back()))};
    size_t entry = 0;
    for (size_t top = 0; top < data.x.n_rows; top += chunk_rows) {
        const size_t n = std::min(chunk_rows, data.x.n_rows - top);
        size_t end = entry;
        while (end < data.y.n_rows && data.row(end) < top + n) ++end;
        if (end != entry) add_chunk(data, top, n, entry, end - entry, out, pool);
        entry = end;
    }
    return out;
}

}  // namespace

void test_raw_counts() {
    for (int round = 0; round < 40; ++round) {
        const uint64_t weights[] = {0, 1, 5, uint64_t(1) << 33};
        const size_t n = 1 + below(round % 3 == 0 ? 20 : 400);
        const Case data =
            make_case(n, 1 + below(round % 4 == 0 ? 400 : 30), round % 2 == 1, weights[round % 4]);
        const Counts expected = plain_loops(data);
        for (const size_t chunk_rows : {n, size_t(1) + below(n), size_t(64)})
            EXPECT(by_chunks(data, chunk_rows, 1 + unsigned(below(3))) == expected);
    }
    Case data = make_case(50, 12, false, 0);
    data.given[17] = uint32_t(data.given_cell.size());
    EXPECT(throws<std::invalid_argument>([&] { by_chunks(data, 50, 1); }));
    data = make_case(50, 12, false, 0);
    data.y.codes[3] = 2;  // of two classes
    EXPECT(throws<std::invalid_argument>([&] { by_chunks(data, 50, 2); }));
    data = make_case(50, 12, false, 0);
    data.x.codes[50 + 7] = uint8_t(data.x.levels[1]);
    EXPECT(throws<std::invalid_argument>([&] { by_chunks(data, 50, 1); }));
}
