// Sums from the tables that are not empty against those of packed bits.
#include <random>

#include "counting/non_empty.hpp"
#include "expect.hpp"

using namespace labelsieve;

namespace {

Below below(7);

struct Listed {  // sparse columns; the implicit code of some is not their most frequent one
    size_t n_rows;
    std::vector<uint32_t> levels;
    std::vector<int64_t> starts{0};
    std::vector<row_t> rows;
    std::vector<code_t> codes, implicit;

    Listed(size_t n, size_t n_columns, size_t most_levels, size_t one_in) : n_rows(n) {
        for (size_t k = 0; k < n_columns; ++k) {
            levels.push_back(uint32_t(1 + below(most_levels)));
            implicit.push_back(code_t(below(8) == 0 ? below(levels[k]) : 0));
            const size_t rarity = 1 + below(one_in);
            for (size_t row = 0; row < n; ++row) {
                if (below(rarity) != 0) continue;
                rows.push_back(row_t(row));
                codes.push_back(code_t(below(levels[k])));
            }
            starts.push_back(int64_t(rows.size()));
        }
    }
    SparseColumns columns() const {
        return {{.starts = starts, .indices = rows, .values = codes}, implicit, n_rows, levels};
    }
};

bool same_sums(const Listed& x, const Listed& y, size_t n_given, unsigned threads) {
    Pool pool(threads);
    const SparseColumns features = x.columns(), labels = y.columns();
    const Targets targets(labels, pool);
    std::vector<fixed_t> terms(x.n_rows + 1, 0);
    for (size_t n = 1; n <= x.n_rows; ++n) terms[n] = fixed_t(below.bits() >> 30) - (1 << 20);
    Features<count_t> deferred(features, nullptr, Strategy::non_empty, pool,
                               NonEmptyTables::suited(features, targets, true));
    Features<count_t> packed(features, nullptr, Strategy::positional, pool);
    Panels<count_t> panels(deferred, targets, {.table = terms.data()}, pool);
    Panels<count_t> plain(packed, targets, {.table = terms.data()}, pool);
    std::vector<uint32_t> given(x.n_rows);
    for (uint32_t& code : given) code = uint32_t(below(3) == 0 ? below(n_given) : 0);
    const size_t d = features.size(), q = targets.size();
    bool same = deferred.deferred().size() == d;
    // Sums by target in between: they pack the deferred features, which must not be counted twice afterwards.
    for (const bool reduce : {true, false, true})
        for (const auto& [first, last] : {std::pair<size_t, size_t>{0, q}, {q / 3, q}, {0, 0}}) {
            const size_t width = reduce ? 1 : last - first;
            std::vector<fixed_t> pair(d), triple(d * width), other_pair(d), other(d * width);
            PanelRequest request{.given = given,
                                 .n_given = n_given,
                                 .first = first,
                                 .last = last,
                                 .reduce = reduce,
                                 .with_given = pair.data(),
                                 .out = triple.data()};
            panels.run(request);
            request.with_given = other_pair.data();
            request.out = other.data();
            plain.run(request);
            same = same && pair == other_pair && triple == other;
        }
    return same;
}

}  // namespace

void test_non_empty() {
    for (const unsigned threads : {1u, 2u})
        for (const size_t n_given : {size_t(1), size_t(2), size_t(3), size_t(100)})
            for (const size_t most_levels : {size_t(2), size_t(5)}) {
                const size_t n = 1 + below(200), d = 1 + below(60);
                const Listed x(n, d, most_levels, 30), y(n, 1 + below(70), 2, 40);
                EXPECT(same_sums(x, y, n_given, threads));
            }
    // More common rows than half of a packed number holds.
    const Listed x(70000, 3, 2, 1), y(70000, 4, 2, 2);
    EXPECT(same_sums(x, y, 2, 2));
    // Targets of three classes, and few targets unless asked for, are not suited.
    Pool pool(1);
    const Listed features(50, 5, 2, 10), classes(50, 3, 9, 2), few(50, 5, 2, 10);
    const SparseColumns columns = features.columns(), of_classes = classes.columns(), of_few = few.columns();
    EXPECT(NonEmptyTables::suited(columns, Targets(of_few, pool), false).empty());
    const Targets many_classes(of_classes, pool);
    size_t most = 0;
    for (size_t l = 0; l < many_classes.size(); ++l) most = std::max(most, many_classes.classes(l));
    EXPECT(most <= 2 || NonEmptyTables::suited(columns, many_classes, true).empty());
}
