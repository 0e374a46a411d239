// The core against plain loops, without Python: this is what runs under the sanitizers.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "counting/panels.hpp"
#include "discretize/encode.hpp"

using namespace labelsieve;

int pursuit_failures();        // test_pursuit.cpp
int simplex_failures();        // test_simplex.cpp
int logistic_failures();       // test_logistic.cpp
int squared_hinge_failures();  // test_squared_hinge.cpp
void test_medoids(void (*expect)(bool, const char*, int));
void test_quotes(void (*expect)(bool, const char*, int));
void test_relief(void (*expect)(bool, const char*, int));
void test_neighbors(void (*expect)(bool, const char*, int));
void test_votes(void (*expect)(bool, const char*, int));
void test_common_rows(void (*expect)(bool, const char*, int));
void test_non_empty(void (*expect)(bool, const char*, int));
void test_weights(void (*expect)(bool, const char*, int));
void test_shrunk(void (*expect)(bool, const char*, int));
void test_raw_counts(void (*expect)(bool, const char*, int));

namespace {

int checks = 0, failures = 0;

void expect(bool holds, const char* what, int line) {
    ++checks;
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "line %d: %s\n", line, what);
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

std::mt19937_64 random_bits(20260101);
size_t below(size_t n) { return size_t(random_bits() % n); }

// A table of codes, column-major, also as sparse columns.
struct Table {
    size_t n_rows;
    std::vector<uint32_t> levels;
    std::vector<code_t> codes;
    std::vector<int64_t> starts;
    std::vector<row_t> rows;
    std::vector<code_t> listed, implicit;

    Table(size_t n, std::vector<uint32_t> all_levels, double zeros)
        : n_rows(n), levels(std::move(all_levels)) {
        starts.push_back(0);
        for (size_t k = 0; k < levels.size(); ++k) {
            implicit.push_back(code_t(below(levels[k])));
            for (size_t i = 0; i < n; ++i) {
                const bool zero = double(random_bits() % 1000) < 1000 * zeros;
                codes.push_back(zero ? 0 : code_t(below(levels[k])));
                if (codes.back() == implicit[k]) continue;
                rows.push_back(row_t(i));
                listed.push_back(codes.back());
            }
            starts.push_back(int64_t(rows.size()));
        }
    }
    code_t at(size_t row, size_t column) const { return codes[column * n_rows + row]; }
    DenseColumns dense() const {
        return {{.data = codes.data(),
                 .item_size = sizeof(code_t),
                 .row_stride = sizeof(code_t),
                 .column_stride = ptrdiff_t(n_rows * sizeof(code_t)),
                 .n_rows = n_rows},
                levels};
    }
    SparseColumns sparse() const {
        return {{.starts = starts, .indices = rows, .values = listed}, implicit, n_rows, levels};
    }
};

std::vector<fixed_t> make_table(size_t n) {
    std::vector<fixed_t> table(n + 1, 0);
    for (size_t i = 1; i <= n; ++i)
        table[i] = std::llround(std::ldexp(double(i) * std::log(double(i)), 20)) - 1000;
    return table;
}

using Key = std::tuple<code_t, uint32_t, code_t>;

// All rows by those whose code is below the last level; 0 where there is none of either kind.
std::vector<double> ratios_of(const Table& y) {
    std::vector<double> ratios;
    for (size_t l = 0; l < y.levels.size(); ++l) {
        size_t known = 0;
        for (size_t i = 0; i < y.n_rows; ++i) known += y.at(i, l) + 1u < y.levels[l];
        ratios.push_back(known == 0 || known == y.n_rows ? 0 : double(y.n_rows) / double(known));
    }
    return ratios;
}

// With `unknown`, the last level of every target stands for unknown cells.
void compare(const Table& x, const Table& y, const std::vector<uint32_t>& given, size_t n_given,
             unsigned threads, Strategy strategy, bool sparse, bool unknown = false) {
    const std::vector<double> ratios = unknown ? ratios_of(y) : std::vector<double>(y.levels.size(), 0);
    const auto table = make_table(x.n_rows);
    Pool pool(threads);
    const DenseColumns x_dense = x.dense(), y_dense = y.dense();
    const SparseColumns x_sparse = x.sparse(), y_sparse = y.sparse();
    const Columns& x_columns = sparse ? static_cast<const Columns&>(x_sparse) : x_dense;
    const Columns& y_columns = sparse ? static_cast<const Columns&>(y_sparse) : y_dense;
    Features<count_t> features(x_columns, nullptr, strategy, pool);
    const Targets targets(y_columns, pool, ratios);
    Panels<count_t> panels(features, targets, {.table = table.data()}, pool);
    const size_t d = x.levels.size(), q = y.levels.size();
    std::vector<fixed_t> with_given(d), triple(d * q), reduced(d), again(d);
    panels.run({.given = given,
                .n_given = n_given,
                .first = 0,
                .last = q,
                .reduce = false,
                .with_given = with_given.data(),
                .out = triple.data()});
    panels.run({.given = given,
                .n_given = n_given,
                .first = 0,
                .last = q,
                .reduce = true,
                .with_given = again.data(),
                .out = reduced.data()});
    EXPECT(with_given == again);
    std::vector<fixed_t> joint(d * q);
    panels.run({.given = given,
                .n_given = n_given,
                .first = 0,
                .last = q,
                .reduce = false,
                .joint = true,
                .with_given = again.data(),
                .out = joint.data()});
    bool same = true, same_given = true, same_sum = true;
    for (size_t k = 0; k < d; ++k) {
        fixed_t sum = 0;
        std::map<Key, size_t> pair;
        for (size_t i = 0; i < x.n_rows; ++i) ++pair[{x.at(i, k), given[i], 0}];
        fixed_t expected_pair = 0;
        for (const auto& [key, count] : pair) expected_pair += table[count];
        same_given = same_given && with_given[k] == expected_pair;
        for (size_t l = 0; l < q; ++l) {
            std::map<Key, size_t> cells, known;
            for (size_t i = 0; i < x.n_rows; ++i) {
                if (ratios[l] != 0 && y.at(i, l) + 1u == y.levels[l]) continue;
                ++cells[{x.at(i, k), given[i], y.at(i, l)}];
                ++known[{x.at(i, k), given[i], 0}];
            }
            fixed_t expected = 0, alone = 0;
            for (const auto& [key, count] : cells) expected += table[count];
            for (const auto& [key, count] : known) alone += table[count];
            const double scaled = ratios[l] == 0 ? 1.0 : ratios[l];
            same = same && joint[k * q + l] == fixed_t(std::floor(double(expected) * scaled + 0.5));
            if (ratios[l] != 0)
                expected = expected_pair + fixed_t(std::floor(double(expected - alone) * ratios[l] + 0.5));
            same = same && triple[k * q + l] == expected;
            sum += expected;
        }
        same_sum = same_sum && reduced[k] == sum;
    }
    EXPECT(same_given);
    EXPECT(same);
    EXPECT(same_sum);
}

void test_panels() {
    const Strategy strategies[] = {Strategy::automatic, Strategy::positional, Strategy::grouped,
                                   Strategy::tiled,     Strategy::sparse,     Strategy::histogram};
    for (int round = 0; round < 24; ++round) {
        const size_t n = round % 3 == 0 ? 1 + below(40) : round % 3 == 1 ? 200 + below(300) : 70;
        std::vector<uint32_t> x_levels, y_levels;
        for (size_t k = 0, d = 1 + below(round % 2 ? 40 : 600); k < d; ++k)
            x_levels.push_back(uint32_t(round % 4 == 0 ? 2 : 1 + below(below(20) == 0 ? 60 : 6)));
        for (size_t l = 0, q = 1 + below(5); l < q; ++l)
            y_levels.push_back(uint32_t(below(3) == 0 ? 1 + below(90) : 2));
        const double zeros = round % 2 ? 0.0 : 0.95;
        const Table x(n, x_levels, zeros), y(n, y_levels, 0.5);
        for (const size_t n_given : {size_t(1), size_t(2), size_t(5), size_t(70), n}) {
            std::vector<uint32_t> given(n);
            for (auto& code : given) code = uint32_t(below(n_given));
            for (const Strategy strategy : strategies)
                for (const bool unknown : {false, true})
                    compare(x, y, given, n_given, 1 + unsigned(below(3)), strategy, below(2) == 0, unknown);
        }
    }
}

// A ratio for a target whose last level is never, or always, the code.
void test_wrong_ratios() {
    Pool pool(1);
    for (const code_t code : {code_t(0), code_t(1)}) {
        Table y(5, {2}, 0.5);
        std::fill(y.codes.begin(), y.codes.end(), code);
        const DenseColumns columns = y.dense();
        const std::vector<double> ratios{1.25};
        bool refused = false;
        try {
            const Targets targets(columns, pool, ratios);
        } catch (const std::invalid_argument&) {
            refused = true;
        }
        EXPECT(refused);
    }
}

void test_tall_data() {
    const size_t n = 40'000;
    const Table x(n, {2, 5, 5, 3, 33, 40, 1, 2}, 0.3), y(n, {2, 3, 2}, 0.4);
    std::vector<uint32_t> given(n);
    for (auto& code : given) code = uint32_t(below(4));
    for (const Strategy strategy :
         {Strategy::positional, Strategy::tiled, Strategy::sparse, Strategy::histogram})
        for (const bool unknown : {false, true}) compare(x, y, given, 4, 2, strategy, false, unknown);
}

// A row index with repetition counts a row as often as it is named.
void test_row_index() {
    const Strategy strategies[] = {Strategy::automatic, Strategy::positional, Strategy::tiled,
                                   Strategy::sparse, Strategy::histogram};
    for (int round = 0; round < 10; ++round) {
        const size_t n = 1 + below(80), n_entries = 1 + below(200), d = 1 + below(round % 2 ? 5 : 600);
        const Table x(n, std::vector<uint32_t>(d, round % 4 < 2 ? 2 : 40), 0.8);
        Table repeated = x;
        repeated.n_rows = n_entries;
        repeated.codes.resize(n_entries * d);
        std::vector<row_t> rows(n_entries);
        for (size_t i = 0; i < n_entries; ++i) {
            rows[i] = row_t(below(n));
            for (size_t k = 0; k < d; ++k) repeated.codes[k * n_entries + i] = x.at(rows[i], k);
        }
        const Table y(n_entries, {2, 70, 3}, 0.4);
        const auto table = make_table(n_entries);
        const DenseColumns x_columns = x.dense(), all_columns = repeated.dense(), y_columns = y.dense();
        for (const size_t n_given : {size_t(1), size_t(3), size_t(70)}) {
            std::vector<uint32_t> codes(n_entries);
            for (auto& code : codes) code = uint32_t(below(n_given));
            for (const Strategy strategy : strategies) {
                Pool pool(1 + unsigned(below(2)));
                Features<count_t> features(x_columns, nullptr, strategy, pool);
                Features<count_t> all(all_columns, nullptr, strategy, pool);
                const Targets targets(y_columns, pool);
                Panels<count_t> panels(features, targets, {.table = table.data(), .rows = rows.data()}, pool);
                Panels<count_t> naive(all, targets, {.table = table.data()}, pool);
                std::vector<fixed_t> pair(d), expected_pair(d), triple(3 * d), expected(3 * d);
                panels.run({.given = codes,
                            .n_given = n_given,
                            .first = 0,
                            .last = 3,
                            .reduce = false,
                            .with_given = pair.data(),
                            .out = triple.data()});
                naive.run({.given = codes,
                           .n_given = n_given,
                           .first = 0,
                           .last = 3,
                           .reduce = false,
                           .with_given = expected_pair.data(),
                           .out = expected.data()});
                EXPECT(pair == expected_pair);
                EXPECT(triple == expected);
                panels.feature_sums(pair.data());
                naive.feature_sums(expected_pair.data());
                EXPECT(pair == expected_pair);
            }
        }
    }
}

// Panels given features, several at a time and on several threads, equal those given the same columns on one.
void test_several_panels() {
    struct Case {
        size_t n_rows, n_features;
        Strategy strategy;
    };
    for (const auto& [n_rows, d, strategy] :
         {Case{40'000, 20, Strategy::automatic}, Case{40'000, 30, Strategy::positional},
          Case{3'000, 200, Strategy::automatic}, Case{3'000, 40, Strategy::histogram}}) {
        const Table x(n_rows, std::vector<uint32_t>(d, 4), 0.5), y(n_rows, {2, 3, 2, 5}, 0.4);
        const auto table = make_table(n_rows);
        const DenseColumns x_columns = x.dense(), y_columns = y.dense();
        Pool one(1), three(3);
        Features<count_t> features(x_columns, nullptr, strategy, three);
        Features<count_t> plain(x_columns, nullptr, strategy, one);
        const Targets targets(y_columns, three);
        Panels<count_t> panels(features, targets, {.table = table.data()}, three);
        Panels<count_t> expected(plain, targets, {.table = table.data()}, one);
        std::vector<fixed_t> pairs(d * d), triples(d * d * 4), pair(d), triple(d * 4);
        std::vector<PanelRequest> requests;
        for (size_t k = 0; k < d; ++k)  // the first has all targets, the others one or two
            requests.push_back({.given = {},
                                .n_given = 4,
                                .first = k == 0 ? 0 : k % 3,
                                .last = k == 0 ? 4 : k % 3 + 1 + k % 2,
                                .reduce = false,
                                .with_given = pairs.data() + k * d,
                                .out = triples.data() + 4 * k * d,
                                .feature = k});
        panels.run_each(requests);
        for (size_t k = 0; k < d; ++k) {
            std::vector<uint32_t> codes(n_rows);
            for (size_t row = 0; row < n_rows; ++row) codes[row] = x.at(row, k);
            PanelRequest request = requests[k];
            request.feature = {};
            request.given = codes;
            request.with_given = pair.data();
            request.out = triple.data();
            expected.run(request);
            EXPECT(std::equal(pair.begin(), pair.end(), pairs.begin() + ptrdiff_t(k * d)));
            const size_t size = d * (request.last - request.first);
            EXPECT(std::equal(triple.begin(), triple.begin() + ptrdiff_t(size),
                              triples.begin() + ptrdiff_t(4 * k * d)));
        }
    }
}

void test_refine() {
    for (const size_t levels : {size_t(3), size_t(60'000)}) {
        const size_t n = 5000;
        std::vector<uint32_t> joint(n, 0);
        std::vector<std::vector<code_t>> columns(3, std::vector<code_t>(n));
        size_t n_levels = 1;
        for (auto& column : columns) {
            for (auto& code : column) code = code_t(below(levels));
            n_levels = refine(joint, n_levels, column.data(), levels);
        }
        std::map<Key, uint32_t> number;
        bool same = true;
        for (size_t i = 0; i < n; ++i)
            same =
                same &&
                number.try_emplace({columns[0][i], columns[1][i], columns[2][i]}, joint[i]).first->second ==
                    joint[i];
        EXPECT(same);
        EXPECT(number.size() == n_levels);
    }
}

void test_pool() {
    Pool pool(4);
    for (int round = 0; round < 200; ++round) {
        std::atomic<size_t> sum{0};
        pool.run(100, 1e9, [&](size_t task, unsigned) { sum += task; });
        EXPECT(sum == 4950);
    }
    for (int round = 0; round < 200;
         ++round) {  // stages that come at once, a little later, and when all threads sleep
        const Pool::KeepAwake awake(pool, 1e9);
        for (int stage = 0; stage < 4; ++stage) {
            if (stage > 1)
                std::this_thread::sleep_for(std::chrono::microseconds(stage == 2 ? 5 : round % 200));
            std::vector<int> done(1 + round % 40, 0);
            pool.run(done.size(), 1e9, [&](size_t task, unsigned) { ++done[task]; });
            EXPECT(std::count(done.begin(), done.end(), 1) == ptrdiff_t(done.size()));
        }
    }
    bool thrown = false;
    try {
        pool.run(100, 1e9, [](size_t task, unsigned) {
            if (task == 57) throw std::runtime_error("task 57");
        });
    } catch (const std::runtime_error&) {
        thrown = true;
    }
    EXPECT(thrown);
    Pool polled(2, [] { throw std::runtime_error("interrupted"); });
    thrown = false;
    try {
        polled.run(1'000'000, 1e9, [](size_t, unsigned) {
            volatile double x = 1;
            for (int i = 0; i < 10'000; ++i) x = x * 1.0001;
        });
    } catch (const std::runtime_error&) {
        thrown = true;
    }
    EXPECT(thrown);
}

void test_sizes() {
    bool refused = false;
    try {
        checked_product(size_t(1) << 40, size_t(1) << 40);
    } catch (const std::bad_alloc&) {
        refused = true;
    }
    EXPECT(refused);
}

}  // namespace

int test_discretize();  // how many checks failed

int main() {
    test_sizes();
    test_pool();
    test_several_panels();
    test_refine();
    test_panels();
    test_wrong_ratios();
    test_tall_data();
    test_row_index();
    test_common_rows(expect);
    test_non_empty(expect);
    test_weights(expect);
    test_shrunk(expect);
    test_raw_counts(expect);
    EXPECT(test_discretize() == 0);
    EXPECT(pursuit_failures() == 0);
    EXPECT(simplex_failures() == 0);
    EXPECT(logistic_failures() == 0);
    EXPECT(squared_hinge_failures() == 0);
    test_medoids(expect);
    test_quotes(expect);
    test_relief(expect);
    test_neighbors(expect);
    test_votes(expect);
    std::printf("%s kernels: %d passed, %d failed\n", kernels().name, checks - failures, failures);
    return failures != 0;
}
