// The nearest rows against sorting all distances, and the labels of neighbors against plain counts.
#include <algorithm>
#include <random>
#include <vector>

#include "expect.hpp"
#include "neighbors/neighbors.hpp"
#include "neighbors/votes.hpp"

using namespace labelsieve;

namespace {

// Rows on a small grid, where many tie.
struct Grid {
    size_t n_rows, n_queries, d;
    std::vector<double> columns, queries;

    Grid(size_t rows, size_t asked, size_t width, unsigned levels, double unit, std::mt19937& random)
        : n_rows(rows), n_queries(asked), d(width), columns(rows * width), queries(asked * width) {
        for (double& value : columns) value = double(random() % levels) * unit - 5;
        for (double& value : queries) value = double(random() % levels) * unit - 5;
    }
    std::vector<std::pair<double, row_t>> sorted(size_t query, size_t size) const {
        std::vector<std::pair<double, row_t>> all;
        for (size_t row = 0; row < n_rows; ++row) {
            double sum = 0;
            for (size_t f = 0; f < size; ++f) {
                const double apart = queries[query * d + f] - columns[f * n_rows + row];
                sum += apart * apart;
            }
            all.emplace_back(sum, row_t(row));
        }
        std::sort(all.begin(), all.end());
        return all;
    }
};

void expect_nearest(const Grid& grid, size_t k) {
    Pool pool(3);
    const std::vector<size_t> sizes = {1, grid.d};
    const DenseTable table{.columns = grid.columns.data(), .n_rows = grid.n_rows, .n_columns = grid.d};
    for (const bool all_ties : {false, true}) {
        NeighborSettings settings{.k = k, .all_ties = all_ties, .leave_out = false, .squares = true};
        const NeighborLists lists = nearest(table, grid.queries, sizes, settings, pool);
        settings.squares = false;
        const NeighborLists rows_only = nearest(table, grid.queries, sizes, settings, pool);
        EXPECT(rows_only.rows == lists.rows && rows_only.ends == lists.ends && rows_only.squares.empty());
        EXPECT(lists.ends.size() == 2 * grid.n_queries);
        for (size_t list = 0; list < lists.ends.size(); ++list) {
            const auto all = grid.sorted(list % grid.n_queries, sizes[list / grid.n_queries]);
            size_t kept = std::min(k, grid.n_rows);
            while (all_ties && kept < grid.n_rows && all[kept].first == all[kept - 1].first) ++kept;
            const size_t start = list ? lists.ends[list - 1] : 0;
            bool same = lists.ends[list] - start == kept;
            for (size_t i = 0; same && i < kept; ++i)
                same = lists.rows[start + i] == all[i].second && lists.squares[start + i] == all[i].first;
            EXPECT(same);
        }
    }
}

}  // namespace

void test_neighbors() {
    std::mt19937 random(5);
    const std::pair<unsigned, double> kinds[] = {
        {2, 1.0}, {3, 1.0}, {3, 70.0}, {3, 1.0 / 7}};  // binary, narrow, whole, real
    for (const size_t n_rows : {1, 2, 63, 64, 65, 200, 600})
        for (const size_t k : {1, 7, 20, 62, 63, 64, 300}) {
            const auto [levels, unit] = kinds[random() % 4];
            expect_nearest(Grid(n_rows, 37, 3, levels, unit, random), k);
        }
    // More than 64 stripes of each kind.
    expect_nearest(Grid(33'000, 2, 20, 2, 1.0, random), 10);
    expect_nearest(Grid(17'000, 2, 9, 5, 1.0, random), 10);
    expect_nearest(Grid(4'500, 3, 5, 1000, 1.0 / 7, random), 10);
}

void test_votes() {
    std::mt19937 random(6);
    // Few labels and many, and more answers than the caches hold.
    for (const auto& [n_labels, n_queries] :
         {std::pair<size_t, size_t>{1, 5}, {63, 300}, {65, 300}, {1001, 2200}}) {
        const size_t n_rows = 350, most = 4, width = most + 1;
        std::vector<std::vector<bool>> has(n_rows, std::vector<bool>(n_labels));
        std::vector<int64_t> label_starts{0}, starts{0}, table_starts{0};
        std::vector<uint32_t> labels, rows, table_rows;
        for (size_t row = 0; row < n_rows; ++row) {
            for (size_t label = 0; label < n_labels; ++label)
                if (random() % 30 == 0) {
                    has[row][label] = true;
                    labels.push_back(uint32_t(label));
                }
            label_starts.push_back(int64_t(labels.size()));
        }
        for (size_t query = 0; query < n_queries; ++query) {
            for (size_t i = query % 40 == 0 ? 300 : query % 11; i > 0; --i)
                rows.push_back(uint32_t(random() % n_rows));
            starts.push_back(int64_t(rows.size()));
        }
        for (size_t row = 0; row < n_rows; ++row) {
            for (size_t i = 0; i < 9; ++i) table_rows.push_back(uint32_t(random() % n_rows));
            table_starts.push_back(int64_t(table_rows.size()));
        }
        std::vector<double> table(n_labels * width);
        for (double& value : table) value = double(random() % 1000) / 7;
        const RowLists of_rows{.starts = label_starts, .indices = labels},
            found{.starts = starts, .indices = rows}, of_table{.starts = table_starts, .indices = table_rows};
        const auto votes = [&](const RowLists& lists, size_t list, size_t label) {
            size_t count = 0;
            for (const uint32_t row : lists[list]) count += has[row][label];
            return std::min(count, most);
        };
        Pool pool(3);
        std::vector<double> answers(n_queries * n_labels + 1);
        double* to = answers.data() + 1;  // not on a boundary of 16 bytes
        label_answers(found, of_rows, table.data(), n_labels, most, pool, to);
        bool same = true;
        for (size_t query = 0; query < n_queries; ++query)
            for (size_t label = 0; label < n_labels; ++label)
                same =
                    same && to[query * n_labels + label] == table[label * width + votes(found, query, label)];
        EXPECT(same);

        std::vector<int64_t> histograms(2 * n_labels * width), expected(histograms.size(), 0);
        label_histograms(of_table, of_rows, n_labels, most, pool, histograms.data());
        for (size_t row = 0; row < n_rows; ++row)
            for (size_t label = 0; label < n_labels; ++label)
                ++expected[(has[row][label] * n_labels + label) * width + votes(of_table, row, label)];
        EXPECT(histograms == expected);
    }
}
