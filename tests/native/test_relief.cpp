// Nearest rows and sums of differences, dense and sparse, against plain loops.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "expect.hpp"
#include "neighbors/relief.hpp"

using namespace labelsieve;

namespace {

// A matrix in every form: padded rows, and lists by rows and by columns.
struct Matrix {
    size_t n_rows, n_columns, width;
    std::vector<double> values;
    std::vector<int64_t> row_starts{0}, column_starts{0};
    std::vector<uint32_t> columns, rows;
    std::vector<double> row_values, column_values;

    Matrix(size_t n, size_t d, std::mt19937_64& random)
        : n_rows(n), n_columns(d), width((d + 7) / 8 * 8), values(n * width) {
        for (size_t i = 0; i < n; ++i) {
            for (size_t c = 0; c < d; ++c) {
                const double number = double(int64_t(random() % 2001) - 1000);
                values[i * width + c] = random() % 3 ? 0.0 : (c % 2 ? number : number * 1e6);
                if (at(i, c) == 0) continue;
                columns.push_back(uint32_t(c));
                row_values.push_back(at(i, c));
            }
            row_starts.push_back(int64_t(columns.size()));
        }
        for (size_t c = 0; c < d; ++c) {
            for (size_t i = 0; i < n; ++i) {
                if (at(i, c) == 0) continue;
                rows.push_back(uint32_t(i));
                column_values.push_back(at(i, c));
            }
            column_starts.push_back(int64_t(rows.size()));
        }
    }
    double at(size_t i, size_t c) const { return values[i * width + c]; }
    double distance(size_t i, size_t j) const {
        double sum = 0;
        for (size_t c = n_columns; c-- > 0;)
            sum += std::fabs(at(i, c) - at(j, c));  // backwards: the order must not matter
        return sum;
    }
    std::unique_ptr<Points> dense() const { return dense_points(values.data(), n_rows, n_columns, width); }
    std::unique_ptr<Points> sparse() const {
        return sparse_points({.starts = row_starts, .indices = columns, .values = row_values},
                             {.starts = column_starts, .indices = rows, .values = column_values});
    }
};

}  // namespace

void test_relief() {
    std::mt19937_64 random(7);
    for (const auto& [n, d] : {std::pair<size_t, size_t>{1, 1}, {2, 9}, {70, 5}, {133, 24}}) {
        const Matrix matrix(n, d, random);
        std::vector<int64_t> starts{0};
        std::vector<row_t> members;
        for (const size_t step : {1, 3, 50}) {  // all, a third, a few
            for (size_t i = 0; i < n; i += step) members.push_back(row_t(i));
            starts.push_back(int64_t(members.size()));
        }
        std::vector<row_t> references;
        for (size_t i = 0; i < n; ++i)
            if (i % 7 != 3) references.push_back(row_t(i));
        const size_t k = 5, n_groups = 3, n_found = references.size() * n_groups * k;
        std::vector<row_t> expected(n_found, no_row);
        for (size_t r = 0; r < references.size(); ++r)
            for (size_t g = 0; g < n_groups; ++g) {
                std::vector<std::pair<double, row_t>> all;
                for (int64_t at = starts[g]; at < starts[g + 1]; ++at)
                    if (members[at] != references[r])
                        all.emplace_back(matrix.distance(references[r], members[at]), members[at]);
                std::sort(all.begin(), all.end());
                for (size_t i = 0; i < std::min(k, all.size()); ++i)
                    expected[(r * n_groups + g) * k + i] = all[i].second;
            }
        std::vector<double> factors(n_found), first;
        for (double& factor : factors) factor = double(random() % 1000) / 300 - 1;
        std::vector<double> plain(d);
        for (size_t i = 0; i < n_found; ++i)
            for (size_t c = 0; c < d && expected[i] != no_row; ++c)
                plain[c] += factors[i] * std::fabs(matrix.at(references[i / (n_groups * k)], c) -
                                                   matrix.at(expected[i], c));
        for (const unsigned threads : {1u, 3u})
            for (const auto& points : {matrix.dense(), matrix.sparse()}) {
                Pool pool(threads);
                std::vector<row_t> found(n_found);
                nearest_rows(*points, references, {.starts = starts, .indices = members}, k, pool,
                             found.data());
                EXPECT(found == expected);
                std::vector<double> sums(d);
                add_differences(*points, references, found, factors, pool, sums.data());
                if (first.empty()) first = sums;
                EXPECT(sums == first);
                for (size_t c = 0; c < d; ++c)
                    EXPECT(std::fabs(sums[c] - plain[c]) < 1e-3);  // of a billion and more
            }
    }
}
