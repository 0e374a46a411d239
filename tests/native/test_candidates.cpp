// Candidates that are evaluated only when they can be the best: the same scores as from whole tables in plain
// loops.
#include <map>
#include <tuple>

#include "counting/candidates.hpp"
#include "expect.hpp"
#include "panel_inputs.hpp"

using namespace labelsieve;

namespace {

Below below(11);

// The sum over the cells of the joint table of some columns.
fixed_t table_sum(size_t n_rows, const std::vector<std::pair<const CodeTable*, size_t>>& columns,
                  const std::vector<fixed_t>& terms) {
    std::map<std::vector<code_t>, size_t> cells;
    for (size_t row = 0; row < n_rows; ++row) {
        std::vector<code_t> cell;
        for (const auto& [table, column] : columns) cell.push_back(table->at(row, column));
        ++cells[cell];
    }
    fixed_t sum = 0;
    for (const auto& [cell, n] : cells) sum += terms[n];
    return sum;
}

fixed_t sum_of(const TableFactors& factors, const CodeTable& x, size_t feature, size_t given,
               const CodeTable& y, size_t target, const std::vector<fixed_t>& terms) {
    fixed_t sum = 0;
    for (size_t names = 0; names < 8; ++names) {
        if (factors[names] == 0) continue;
        std::vector<std::pair<const CodeTable*, size_t>> columns;
        if (names & 1) columns.emplace_back(&x, feature);
        if (names & 2) columns.emplace_back(&y, target);
        if (names & 4) columns.emplace_back(&x, given);
        sum += factors[names] * table_sum(x.n_rows, columns, terms);
    }
    return sum;
}

fixed_t plain_score(const FallingScore& score, const CodeTable& x, const CodeTable& y, size_t feature,
                    const std::vector<size_t>& selected, const std::vector<fixed_t>& terms) {
    fixed_t total = 0;
    for (size_t l = 0; l < y.levels.size(); ++l) {
        fixed_t least = std::numeric_limits<fixed_t>::max();
        if (score.has_limit) least = sum_of(score.limit, x, feature, 0, y, l, terms);
        for (const size_t s : selected)
            least = std::min(least, sum_of(score.body, x, feature, s, y, l, terms));
        total += score.positive ? std::max<fixed_t>(least, 0) : least;
    }
    return total;
}

void same_search(const FallingScore& score, const CodeTable& x, const Columns& columns, const CodeTable& y,
                 unsigned threads) {
    const size_t d = x.levels.size(), n_steps = std::min<size_t>(d, 4);
    Pool pool(threads);
    const std::vector<double> logs = log_table();
    std::vector<fixed_t> terms(x.n_rows + 1, 0);
    for (size_t n = 1; n <= x.n_rows; ++n) terms[n] = fixed_t(double(n) * std::log(double(n)) * 1e6);
    Candidates candidates(columns, y.dense(), terms.data(), pool);
    candidates.begin(score);
    std::vector<uint8_t> available(d, 1);
    std::vector<size_t> selected{below(d)};
    available[selected[0]] = 0;
    candidates.select(selected[0]);
    for (size_t step = 1; step < n_steps; ++step) {
        size_t best = d;
        fixed_t most = 0;
        for (size_t f = 0; f < d; ++f) {
            if (!available[f]) continue;
            const fixed_t found = plain_score(score, x, y, f, selected, terms);
            if (best == d || found > most) std::tie(best, most) = std::tuple(f, found);
        }
        EXPECT(candidates.find_best(available.data(), 3.0) == best);
        EXPECT(candidates.totals()[best] == most && candidates.is_exact(best));
        for (size_t f = 0; f < d; ++f)
            if (available[f]) EXPECT(candidates.totals()[f] >= plain_score(score, x, y, f, selected, terms));
        available[best] = 0;
        if (step + 1 == n_steps) break;
        selected.push_back(best);
        candidates.select(best);
    }
    std::vector<uint32_t> all(d);
    for (size_t f = 0; f < d; ++f) all[f] = uint32_t(f);
    candidates.advance(all);
    for (size_t f = 0; f < d; ++f)
        EXPECT(candidates.totals()[f] == plain_score(score, x, y, f, selected, terms));
    EXPECT(candidates.n_counted() <= d * selected.size());

    std::vector<fixed_t> of_features(d), of_targets(y.levels.size()), pairs(d * y.levels.size());
    candidates.single_sums(of_features.data(), of_targets.data());
    candidates.pair_sums(false, pairs.data());
    for (size_t f = 0; f < d; ++f) {
        EXPECT(of_features[f] == table_sum(x.n_rows, {{&x, f}}, terms));
        for (size_t l = 0; l < y.levels.size(); ++l) {
            EXPECT(of_targets[l] == table_sum(x.n_rows, {{&y, l}}, terms));
            EXPECT(pairs[f * y.levels.size() + l] == table_sum(x.n_rows, {{&x, f}, {&y, l}}, terms));
        }
    }
}

}  // namespace

void test_candidates() {
    // I(f; y | s) = T(f, s, y) - T(f, s) - T(s, y) + T(s), and I(f, s; y) = T(f, s, y) - T(f, s) - T(y) +
    // T().
    const TableFactors given{0, 0, 0, 0, 1, -1, -1, 1}, joint{1, 0, -1, 0, 0, -1, 0, 1}, alone{1, -1, -1, 1};
    // A difference of tables that may be negative.
    const TableFactors mixed{0, 1, 0, -1, 0, 0, 0, 1};
    const FallingScore scores[] = {{.body = given, .has_limit = false, .limit = {}, .positive = false},
                                   {.body = given, .has_limit = true, .limit = alone, .positive = false},
                                   {.body = joint, .has_limit = false, .limit = {}, .positive = false},
                                   {.body = mixed, .has_limit = false, .limit = {}, .positive = true}};
    for (const FallingScore& score : scores)
        for (const unsigned threads : {1u, 3u})
            for (const size_t most_classes : {size_t(2), size_t(4)})
                // More than one group of 64 columns, or of 512 rows.
                for (const auto& [n, n_features] : {std::pair<size_t, size_t>{1, 4}, {30, 66}, {530, 5}}) {
                    std::vector<uint32_t> levels, classes;
                    const size_t n_targets = 1 + below(4);
                    for (size_t k = 0; k < n_features; ++k)
                        levels.push_back(uint32_t(1 + below(k % 5 == 4 ? 7 : 3)));
                    for (size_t l = 0; l < n_targets; ++l)
                        classes.push_back(uint32_t(most_classes == 2 ? 2 : 1 + below(most_classes)));
                    const CodeTable x(below, n, levels, n > 100 ? 0.9 : 0.3), y(below, n, classes, 0.5);
                    same_search(score, x, x.dense(), y, threads);
                    same_search(score, x, x.sparse(), y, threads);
                    std::vector<uint8_t> by_rows, by_columns;
                    for (size_t row = 0; row < n; ++row)
                        for (size_t k = 0; k < levels.size(); ++k) by_rows.push_back(uint8_t(x.at(row, k)));
                    by_columns.assign(x.codes.begin(), x.codes.end());
                    const ptrdiff_t d = ptrdiff_t(levels.size());
                    same_search(score, x, DenseColumns({by_rows.data(), 1, d, 1, n}, levels), y, threads);
                    same_search(score, x, DenseColumns({by_columns.data(), 1, 1, ptrdiff_t(n), n}, levels), y,
                                threads);
                }
}

void test_candidates_check_codes() {
    const uint8_t codes[] = {0, 1, 2, 0, 1, 1};
    Pool pool(1);
    const std::vector<fixed_t> terms(4, 0);
    const uint8_t labels[] = {0, 1, 1};
    const DenseColumns y({labels, 1, 1, 3, 3}, {2});
    const DenseColumns by_rows({codes, 1, 2, 1, 3}, {2, 2}), by_columns({codes, 1, 1, 3, 3}, {2, 2});
    for (const DenseColumns* x : {&by_rows, &by_columns})
        EXPECT(throws<std::invalid_argument>([&] { Candidates(*x, y, terms.data(), pool); }));
}
