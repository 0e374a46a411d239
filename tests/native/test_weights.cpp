// Weighted rows against plain loops: every strategy, weights of all sizes, and counts of both kinds.
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "panel_inputs.hpp"

using namespace labelsieve;

namespace {

using Key = std::tuple<code_t, uint32_t, code_t>;

Below below(20260606);

struct Case {
    CodeTable x, y;
    std::vector<uint64_t> weights;
    std::vector<row_t> rows;  // of every entry; empty when entry i is row i
    std::vector<uint32_t> given;
    size_t n_given;

    size_t row(size_t entry) const { return rows.empty() ? entry : rows[entry]; }
};

// What a panel must be, and whether it is.
template <class Count>
bool equals_plain_loops(const Case& data, Terms<Count> terms, const WeightedTerm& term, Strategy strategy,
                        unsigned threads) {
    const size_t d = data.x.levels.size(), q = data.y.levels.size();
    const RowWeights<Count> weights(data.weights);
    terms.weights = &weights;
    terms.rows = data.rows.empty() ? nullptr : data.rows.data();
    Pool pool(threads);
    const DenseColumns x = data.x.dense(), y = data.y.dense();
    Features<Count> features(x, &weights, strategy, pool);
    const Targets targets(y, pool);
    Panels<Count> panels(features, targets, terms, pool);
    std::vector<fixed_t> with_given(d), triple(d * q), sums(q), again(d), reduced(d);
    panels.run(whole_panel(data.given, data.n_given, q, with_given, triple));
    panels.run(whole_panel(data.given, data.n_given, q, again, reduced, true));
    panels.target_sums(sums.data());
    bool same = with_given == again;
    const auto sum_of = [&](const auto& key) {
        std::map<Key, uint64_t> cells;
        for (size_t entry = 0; entry < data.y.n_rows; ++entry)
            cells[key(entry)] += data.weights[data.row(entry)];
        fixed_t sum = 0;
        for (const auto& [of, weight] : cells) sum += term(weight);
        return sum;
    };
    for (size_t l = 0; l < q; ++l)
        same = same && sums[l] == sum_of([&](size_t i) { return Key{0, 0, data.y.at(i, l)}; });
    for (size_t k = 0; k < d; ++k) {
        same = same && with_given[k] ==
                           sum_of([&](size_t i) { return Key{data.x.at(data.row(i), k), data.given[i], 0}; });
        fixed_t sum = 0;
        for (size_t l = 0; l < q; ++l) {
            const fixed_t expected = sum_of(
                [&](size_t i) { return Key{data.x.at(data.row(i), k), data.given[i], data.y.at(i, l)}; });
            same = same && triple[k * q + l] == expected;
            sum += expected;
        }
        same = same && reduced[k] == sum;
    }
    return same;
}

}  // namespace

void test_weights() {
    const std::vector<double> logs = log_table();
    const WeightedTerm term{.logs = logs.data(), .scale = 1.0, .penalty = 7};
    for (const uint64_t w : {uint64_t(1), uint64_t(2), uint64_t(3), uint64_t(4095), uint64_t(1) << 40,
                             (uint64_t(1) << 40) - 1, uint64_t(123456789123)}) {
        const double exact = double(w) * std::log(double(w));
        EXPECT(std::abs(double(term(w) + 7) - exact) <= 1 + 1e-15 * exact);
    }
    EXPECT(term(0) == 0);

    const Strategy strategies[] = {Strategy::automatic, Strategy::positional, Strategy::grouped,
                                   Strategy::tiled,     Strategy::sparse,     Strategy::histogram};
    const uint64_t largest[] = {4, 1000, uint64_t(1) << 31, uint64_t(1) << 40};  // no term exceeds 2^52
    for (int round = 0; round < 12; ++round) {
        const bool tall = round == 11;
        const size_t n = tall ? 20'000 : round % 3 == 0 ? 1 + below(10) : 60 + below(200);
        std::vector<uint32_t> levels;
        for (size_t k = 0, d = tall ? 3 : 1 + below(round % 2 ? 200 : 40); k < d; ++k)
            levels.push_back(uint32_t(round % 4 == 0 ? 2 : 1 + below(below(20) == 0 ? 60 : 6)));
        const bool repeated = round % 5 == 3;
        const size_t n_entries = repeated ? 1 + below(2 * n) : n;
        Case data{.x = CodeTable(below, n, levels, round % 2 ? 0.0 : 0.97),
                  .y = CodeTable(below, n_entries, {2, 3, uint32_t(1 + below(90))}, 0.5),
                  .weights = {},
                  .rows = {},
                  .given = std::vector<uint32_t>(n_entries),
                  .n_given = 1};
        for (size_t i = 0; repeated && i < n_entries; ++i) data.rows.push_back(row_t(below(n)));
        const uint64_t most = tall ? 1000 : largest[round % 4];
        for (size_t i = 0; i < n; ++i)  // some weigh nothing, and one row in twenty most of all
            data.weights.push_back(below(20) == 0 ? below(most) : below(most / 4) * (below(10) != 0));
        uint64_t total = 0;
        for (size_t i = 0; i < n_entries; ++i) total += data.weights[data.row(i)];
        std::vector<fixed_t> table;
        if (total < 1'000'000 || tall)
            for (uint64_t w = 0; w <= total; ++w) table.push_back(term(w));
        for (const size_t n_given : {size_t(1), size_t(2), size_t(5), size_t(70)}) {
            if (tall && n_given != 5) continue;
            data.n_given = n_given;
            for (auto& code : data.given) code = uint32_t(below(n_given));
            for (const Strategy strategy : strategies) {
                const unsigned threads = 1 + unsigned(below(3));
                EXPECT(equals_plain_loops<double>(data, {.weighted = term}, term, strategy, threads));
                if (!table.empty())
                    EXPECT(
                        equals_plain_loops<count_t>(data, {.table = table.data()}, term, strategy, threads));
            }
        }
    }
}
