// The core against plain loops, without Python: this is what runs under the sanitizers.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "discretize/encode.hpp"
#include "panel_inputs.hpp"

using namespace labelsieve;

// Of the other files.
void test_common_rows();
void test_candidates();
void test_candidates_check_codes();
void test_non_empty();
void test_weights();
void test_shrunk();
void test_sums();
void test_raw_counts();
void test_discretize();
void test_pursuit();
void test_simplex();
void test_medoids();
void test_relief();
void test_neighbors();
void test_votes();

namespace {

Below below(20260101);

using Key = std::tuple<code_t, uint32_t, code_t>;

// All rows by those whose code is below the last level; 0 where there is none of either kind.
std::vector<double> ratios_of(const CodeTable& y) {
    std::vector<double> ratios;
    for (size_t l = 0; l < y.levels.size(); ++l) {
        size_t known = 0;
        for (size_t i = 0; i < y.n_rows; ++i) known += y.at(i, l) + 1u < y.levels[l];
        ratios.push_back(known == 0 || known == y.n_rows ? 0 : double(y.n_rows) / double(known));
    }
    return ratios;
}

// With `unknown`, the last level of every target stands for unknown cells.
void compare(const CodeTable& x, const CodeTable& y, const std::vector<uint32_t>& given, size_t n_given,
             unsigned threads, Strategy strategy, bool sparse, bool unknown = false) {
    const std::vector<double> ratios = unknown ? ratios_of(y) : std::vector<double>(y.levels.size(), 0);
    const auto table = term_table(x.n_rows, 1000);
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
    panels.run(whole_panel(given, n_given, q, with_given, triple));
    panels.run(whole_panel(given, n_given, q, again, reduced, true));
    EXPECT(with_given == again);
    std::vector<fixed_t> joint(d * q);
    PanelRequest joint_sums = whole_panel(given, n_given, q, again, joint);
    joint_sums.joint = true;
    panels.run(joint_sums);
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
        const CodeTable x(below, n, x_levels, zeros), y(below, n, y_levels, 0.5);
        for (const size_t n_given : {size_t(1), size_t(2), size_t(5), size_t(70), n}) {
            std::vector<uint32_t> given(n);
            for (auto& code : given) code = uint32_t(below(n_given));
            for (const Strategy strategy : strategies)
                for (const bool unknown : {false, true})
                    compare(x, y, given, n_given, 1 + unsigned(below(3)), strategy, below(2) == 0, unknown);
        }
    }
}

// Bytes that lie row by row are packed in a way of their own: the same panels as from columns, for widths
// that are not whole words, and a code that is too large is found.
void test_row_major_bytes() {
    Pool pool(1);
    for (const uint32_t levels : {2u, 3u, 4u, 5u, 7u, 33u})
        for (const size_t d : {size_t(1), size_t(63), size_t(72), size_t(130), size_t(700)}) {
            const size_t n = 1 + below(150), stride = d + below(3);
            const CodeTable x(below, n, std::vector<uint32_t>(d, levels), 0.3), y(below, n, {2, 3}, 0.4);
            std::vector<uint8_t> bytes((n - 1) * stride + d, 255);  // what lies between rows is no code
            for (size_t i = 0; i < n; ++i)
                for (size_t k = 0; k < d; ++k) bytes[i * stride + k] = uint8_t(x.at(i, k));
            const DenseColumns by_columns = x.dense(), y_columns = y.dense();
            const DenseColumns by_rows({.data = bytes.data(),
                                        .item_size = 1,
                                        .row_stride = ptrdiff_t(stride),
                                        .column_stride = 1,
                                        .n_rows = n},
                                       x.levels);
            const auto table = term_table(n, 1000);
            const Targets targets(y_columns, pool);
            std::vector<uint32_t> given(n);
            for (auto& code : given) code = uint32_t(below(3));
            std::vector<fixed_t> pair(d), expected_pair(d), triple(2 * d), expected(2 * d);
            Features<count_t> packed(by_rows, nullptr, Strategy::positional, pool);
            Features<count_t> plain(by_columns, nullptr, Strategy::positional, pool);
            Panels<count_t> panels(packed, targets, {.table = table.data()}, pool);
            Panels<count_t> naive(plain, targets, {.table = table.data()}, pool);
            panels.run(whole_panel(given, 3, 2, pair, triple));
            naive.run(whole_panel(given, 3, 2, expected_pair, expected));
            EXPECT(pair == expected_pair);
            EXPECT(triple == expected);
            bytes[below(n) * stride + below(d)] = uint8_t(levels);
            EXPECT(throws<std::invalid_argument>(
                [&] { const Features<count_t> wrong(by_rows, nullptr, Strategy::positional, pool); }));
        }
}

// A ratio for a target whose last level is never, or always, the code.
void test_wrong_ratios() {
    Pool pool(1);
    for (const code_t code : {code_t(0), code_t(1)}) {
        CodeTable y(below, 5, {2}, 0.5);
        std::fill(y.codes.begin(), y.codes.end(), code);
        const DenseColumns columns = y.dense();
        const std::vector<double> ratios{1.25};
        EXPECT(throws<std::invalid_argument>([&] { const Targets targets(columns, pool, ratios); }));
    }
}

void test_tall_data() {
    const size_t n = 40'000;
    const CodeTable x(below, n, {2, 5, 5, 3, 33, 40, 1, 2}, 0.3), y(below, n, {2, 3, 2}, 0.4);
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
        const CodeTable x(below, n, std::vector<uint32_t>(d, round % 4 < 2 ? 2 : 40), 0.8);
        CodeTable repeated = x;
        repeated.n_rows = n_entries;
        repeated.codes.resize(n_entries * d);
        std::vector<row_t> rows(n_entries);
        for (size_t i = 0; i < n_entries; ++i) {
            rows[i] = row_t(below(n));
            for (size_t k = 0; k < d; ++k) repeated.codes[k * n_entries + i] = x.at(rows[i], k);
        }
        const CodeTable y(below, n_entries, {2, 70, 3}, 0.4);
        const auto table = term_table(n_entries, 1000);
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
                panels.run(whole_panel(codes, n_given, 3, pair, triple));
                naive.run(whole_panel(codes, n_given, 3, expected_pair, expected));
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
        const CodeTable x(below, n_rows, std::vector<uint32_t>(d, 4), 0.5),
            y(below, n_rows, {2, 3, 2, 5}, 0.4);
        const auto table = term_table(n_rows, 1000);
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
    EXPECT(throws<std::runtime_error>([&] {
        pool.run(100, 1e9, [](size_t task, unsigned) {
            if (task == 57) throw std::runtime_error("task 57");
        });
    }));
    Pool polled(2, [] { throw std::runtime_error("interrupted"); });
    EXPECT(throws<std::runtime_error>([&] {
        polled.run(1'000'000, 1e9, [](size_t, unsigned) {
            volatile double x = 1;
            for (int i = 0; i < 10'000; ++i) x = x * 1.0001;
        });
    }));
}

void test_sizes() {
    EXPECT(throws<std::bad_alloc>([] { checked_product(size_t(1) << 40, size_t(1) << 40); }));
}

}  // namespace

int main() {
    test_sizes();
    test_pool();
    test_several_panels();
    test_refine();
    test_panels();
    test_row_major_bytes();
    test_wrong_ratios();
    test_tall_data();
    test_row_index();
    test_common_rows();
    test_candidates();
    test_candidates_check_codes();
    test_non_empty();
    test_weights();
    test_shrunk();
    test_sums();
    test_raw_counts();
    test_discretize();
    test_pursuit();
    test_simplex();
    test_medoids();
    test_relief();
    test_neighbors();
    test_votes();
    std::printf("%s kernels: %d passed, %d failed\n", kernels().name, checks - failures, failures);
    return failures != 0;
}
