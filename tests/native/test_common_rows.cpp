// Common rows of selected columns and targets against plain loops over all rows.
#include <vector>

#include "counting/common_rows.hpp"
#include "expect.hpp"
using namespace labelsieve;

namespace {

Below below(11);

struct Bits {  // columns of zeros and ones
    size_t n_rows, n_columns;
    std::vector<uint8_t> bits;

    Bits(size_t rows, size_t columns) : n_rows(rows), n_columns(columns), bits(rows * columns) {
        for (size_t j = 0; j < columns; ++j) {
            const size_t rarity = 1 + below(12);
            for (size_t i = 0; i < rows; ++i) bits[i * columns + j] = uint8_t(below(rarity) == 0);
        }
    }
    bool at(size_t row, size_t column) const { return bits[row * n_columns + column] != 0; }
};

template <class Index>
struct Lists {
    std::vector<int64_t> starts{0};
    std::vector<Index> indices;

    template <class Holds>
    Lists(size_t n_lists, size_t n_items, Holds holds) {
        for (size_t list = 0; list < n_lists; ++list) {
            for (size_t item = 0; item < n_items; ++item)
                if (holds(list, item)) indices.push_back(Index(item));
            starts.push_back(int64_t(indices.size()));
        }
    }
    CsrView<Index> view() const { return {.starts = starts, .indices = indices}; }
};

bool same_counts(const Bits& x, const Bits& y, size_t n_groups) {
    const size_t n = x.n_rows, d = x.n_columns, q = y.n_columns;
    const auto common = [&](auto... holds) {
        int64_t count = 0;
        for (size_t row = 0; row < n; ++row) count += int64_t((holds(row) && ...));
        return count;
    };
    const auto of = [](const Bits& bits, size_t column) {
        return [&bits, column](size_t row) { return bits.at(row, column); };
    };
    const Lists<int32_t> by_row(n, d, [&](size_t row, size_t column) { return x.at(row, column); });
    const Lists<int64_t> by_column(d, n, [&](size_t column, size_t row) { return x.at(row, column); });
    const Lists<int64_t> targets(q, n, [&](size_t target, size_t row) { return y.at(row, target); });
    const Lists<int32_t> pairs(
        q, d, [&](size_t target, size_t column) { return common(of(x, column), of(y, target)) > 0; });
    std::vector<int32_t> group_of(d);
    for (int32_t& group : group_of) group = int32_t(below(n_groups + 1)) - 1;
    std::vector<int64_t> newest(q), with_newest(pairs.indices.size()), with_both(with_newest.size());
    std::vector<int64_t> of_target(q), most(q * n_groups, -1);
    for (int64_t& column : newest) column = int64_t(below(std::min<size_t>(d, 4)));
    count_common_rows(
        {.by_row = by_row.view(), .by_column = by_column.view(), .group_of = group_of, .n_groups = n_groups},
        {.newest = newest,
         .targets = targets.view(),
         .pairs = pairs.view(),
         .with_newest = with_newest.data(),
         .with_both = with_both.data(),
         .of_target = of_target.data(),
         .most = most.data()});
    bool same = true;
    for (size_t target = 0; target < q; ++target) {
        const auto selected = of(x, size_t(newest[target])), own = of(y, target);
        std::vector<int64_t> expected(n_groups, 0);
        size_t pair = pairs.view().start(target);
        for (size_t column = 0; column < d; ++column) {
            const int64_t count = common(of(x, column), selected);
            if (common(of(x, column), own) > 0) {
                same = same && with_newest[pair] == count &&
                       with_both[pair] == common(of(x, column), selected, own);
                ++pair;
            } else if (group_of[column] >= 0) {
                int64_t& largest = expected[size_t(group_of[column])];
                largest = std::max(largest, count);
            }
        }
        same = same && of_target[target] == common(selected, own) &&
               std::equal(expected.begin(), expected.end(), most.begin() + ptrdiff_t(target * n_groups));
    }
    return same;
}

}  // namespace

void test_common_rows() {
    for (int repeat = 0; repeat < 20; ++repeat) {
        const size_t n = 1 + below(40);
        const Bits x(n, 1 + below(30)), y(n, 1 + below(12));
        EXPECT(same_counts(x, y, 1 + below(3)));
    }
}
