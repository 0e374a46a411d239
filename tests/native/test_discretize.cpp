// Cut points against plain loops, dense and sparse, without Python: this is what runs under the
// sanitizers.
#include <cmath>
#include <map>
#include <random>

#include "discretize/cuts.hpp"
#include "discretize/mdl.hpp"
#include "discretize/rules.hpp"
#include "expect.hpp"

using namespace labelsieve;

namespace {

Below below(20260102);

Values dense_values(const std::vector<double>& numbers, size_t n_rows) {  // column after column
    return Values(StridedNumbers{.data = numbers.data(),
                                 .type = Number::f64,
                                 .row_stride = 8,
                                 .column_stride = ptrdiff_t(8 * n_rows),
                                 .n_rows = n_rows,
                                 .n_columns = numbers.size() / n_rows});
}

// A table of numbers, many of them zero and some missing, also as sparse columns; some zeros are listed.
struct Table {
    size_t n_rows, n_columns;
    std::vector<double> numbers, listed;
    std::vector<int64_t> starts{0};
    std::vector<row_t> rows;

    Table(size_t n, size_t d, size_t n_values) : n_rows(n), n_columns(d) {
        for (size_t j = 0; j < d; ++j) {
            for (size_t i = 0; i < n; ++i) {
                double value = (double(below(n_values)) - 3) / 4;
                if (below(10) == 0) value = std::nan("");
                if (j % 2 == 0 && below(3) != 0) value = 0;
                numbers.push_back(value);
                if (value == 0 && below(5) != 0) continue;
                listed.push_back(value);
                rows.push_back(row_t(i));
            }
            starts.push_back(int64_t(rows.size()));
        }
    }
    Values dense() const { return dense_values(numbers, n_rows); }
    Values sparse() const { return {{.starts = starts, .indices = rows, .values = listed}, n_rows}; }
};

bool same(const ColumnCuts& a, const ColumnCuts& b) {
    return a.starts == b.starts && a.points == b.points && a.kept == b.kept;
}

void test_distribution(const Table& table, const std::vector<uint64_t>& weights) {
    uint64_t total = 0;
    for (const uint64_t weight : weights) total += weight;
    for (const Values& values : {table.dense(), table.sparse()}) {
        Distribution found;
        values.each_column([&](size_t j, const Column& column) {
            std::map<double, uint64_t> expected;
            for (size_t i = 0; i < table.n_rows; ++i)
                if (!std::isnan(table.numbers[j * table.n_rows + i]))
                    expected[table.numbers[j * table.n_rows + i]] += weights[i];
            found.read(column, weights.data(), total);
            bool equal = found.size() == expected.size();
            size_t k = 0;
            for (const auto& [value, weight] : expected) {
                equal = equal && found.values()[k] == value && found.weights()[k] == weight;
                ++k;
            }
            EXPECT(equal);
        });
    }
}

void test_rules(const Table& table, const WeightsOfRows& weights) {
    for (const Rule rule : {Rule::equal_width, Rule::equal_frequency, Rule::k_means, Rule::mean_std})
        for (const size_t n_bins : {3, 5}) {
            const RuleSettings settings{
                .rule = rule, .n_bins = n_bins, .factor = 0.5, .steps = 1000, .keep_binary = true};
            const ColumnCuts cuts = cut_columns(table.dense(), settings, weights, [] {});
            EXPECT(same(cuts, cut_columns(table.sparse(), settings, weights, [] {})));
            for (size_t j = 0; j < table.n_columns; ++j) {
                const auto first = cuts.points.begin() + cuts.starts[j],
                           last = cuts.points.begin() + cuts.starts[j + 1];
                EXPECT(std::is_sorted(first, last));
                EXPECT(size_t(last - first) <= (cuts.kept[j] ? n_bins : n_bins - 1));
            }
        }
}

void test_mdl(const Table& table, const WeightsOfRows& weights, uint64_t largest) {
    const size_t n_classes = 3;
    std::vector<code_t> classes, several;
    std::vector<int64_t> starts{0};
    for (size_t i = 0; i < table.n_rows; ++i) {
        const double value = table.numbers[i];
        classes.push_back(value > 0.5 ? 2 : below(4) == 0 ? 1 : 0);
        for (size_t c = 0; c < n_classes; ++c)
            if (below(3) == 0) several.push_back(code_t(c));
        starts.push_back(int64_t(several.size()));
    }
    const std::vector<fixed_t> logs = term_table(largest * n_classes);
    const ClassesOfRows one_each{.lists = {.starts = {}, .indices = classes}, .n_classes = n_classes};
    const ClassesOfRows any_number{.lists = {.starts = starts, .indices = several}, .n_classes = n_classes};
    for (const bool count_values : {false, true})
        for (const ClassesOfRows& problem : {one_each, any_number}) {
            const MdlSettings settings{.weights = weights,
                                       .term = {.table = logs.data()},
                                       .fixed_scale = 0x1p20,
                                       .count_values = count_values};
            const auto dense = mdl_cuts(table.dense(), {&problem, 1}, settings, [] {});
            const auto sparse = mdl_cuts(table.sparse(), {&problem, 1}, settings, [] {});
            EXPECT(same(dense[0], sparse[0]));
        }
}

// Tall columns are cut without a sort; sparse ones, here with a single value that is not listed, are sorted.
void test_tall_mdl(const std::vector<double>& numbers, size_t n, size_t d) {
    std::vector<double> with_zero = numbers, listed;
    std::vector<int64_t> starts{0}, first_label{0};
    std::vector<row_t> rows;
    std::vector<code_t> labels, classes;
    for (size_t j = 0; j < d; ++j) {
        with_zero[j * n] = 0;
        for (size_t i = 1; i < n; ++i) {
            rows.push_back(row_t(i));
            listed.push_back(numbers[j * n + i]);
        }
        starts.push_back(int64_t(rows.size()));
    }
    for (size_t i = 0; i < n; ++i) {
        const double value = with_zero[i];
        classes.push_back(value > 0.5 ? 2 : below(4) == 0 ? 1 : 0);
        for (code_t c = 0; c < 3; ++c)
            if (below(3) == 0 || (c == 1 && value < -1)) labels.push_back(c);
        first_label.push_back(int64_t(labels.size()));
    }
    const std::vector<fixed_t> logs = term_table(3 * n);
    const Values dense = dense_values(with_zero, n);
    const Values sparse({.starts = starts, .indices = rows, .values = listed}, n);
    const std::vector<ClassesOfRows> problems{
        {.lists = {.starts = {}, .indices = classes}, .n_classes = 3},
        {.lists = {.starts = first_label, .indices = labels}, .n_classes = 3}};
    const MdlSettings settings{
        .weights = {.total = n}, .term = {.table = logs.data()}, .fixed_scale = 0x1p20};
    const auto found = mdl_cuts(dense, problems, settings, [] {}),
               sorted = mdl_cuts(sparse, problems, settings, [] {});
    for (size_t p = 0; p < problems.size(); ++p) EXPECT(same(found[p], sorted[p]));
    EXPECT(!found[0].points.empty() && !found[1].points.empty());
}

// Tall columns are cut without a sort; weighted ones are sorted.
void test_tall() {
    constexpr size_t n = 20000, d = 4;
    std::vector<double> numbers;
    std::normal_distribution<double> normal;
    for (size_t j = 0; j < d; ++j)
        for (size_t i = 0; i < n; ++i) {
            const double value = normal(below.bits);
            numbers.push_back(below(50) == 0 ? std::nan("")
                              : j == 1       ? std::exp(value)
                              : j == 2       ? std::round(value * 100) / 100
                              : j == 3       ? value + 20 * double(below(3))
                                             : value);
        }
    const Values table = dense_values(numbers, n);
    test_tall_mdl(numbers, n, d);
    const std::vector<uint64_t> twice(n, 2);
    for (const size_t n_bins : {2, 5, 8}) {
        const RuleSettings settings{.rule = Rule::equal_frequency, .n_bins = n_bins};
        const ColumnCuts found = cut_columns(table, settings, {.total = n}, [] {});
        const ColumnCuts sorted =
            cut_columns(table, settings, {.of_rows = twice.data(), .unit = 2, .total = 2 * n}, [] {});
        EXPECT(same(found, sorted));
    }
}

}  // namespace

void test_discretize() {
    test_tall();
    for (int round = 0; round < 30; ++round) {
        const Table table(1 + below(round % 2 ? 40 : 700), 1 + below(20), 2 + below(round % 3 ? 10 : 1000));
        std::vector<uint64_t> weights;
        uint64_t total = 0;
        for (size_t i = 0; i < table.n_rows; ++i) total += weights.emplace_back(1 + below(4));
        test_distribution(table, weights);
        const WeightsOfRows equal{.of_rows = nullptr, .unit = 1, .total = table.n_rows};
        const WeightsOfRows weighted{.of_rows = weights.data(), .unit = 1, .total = total};
        for (const WeightsOfRows& of_rows : {equal, weighted}) {
            test_rules(table, of_rows);
            test_mdl(table, of_rows, of_rows.total);
        }
    }
}
