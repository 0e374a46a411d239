#include "counting/common_rows.hpp"

#include <numeric>
#include <vector>

namespace labelsieve {

namespace {

// The rows that the current selected column has in common with all others.
class Selected {
  public:
    explicit Selected(const ListedColumns& columns)
        : columns_(columns), common_(columns.by_column.size(), 0), lists_(columns.by_row.size(), 0) {}

    void change_to(size_t column) {
        for (const int32_t other : touched_) common_[size_t(other)] = 0;
        touched_.clear();
        mark(column_, 0);
        mark(column_ = column, 1);
        for (const int64_t row : columns_.by_column[column])
            for (const int32_t other : columns_.by_row[size_t(row)])
                if (common_[size_t(other)]++ == 0) touched_.push_back(other);
    }
    bool lists(int64_t row) const { return lists_[size_t(row)] != 0; }
    int64_t common(int32_t column) const { return common_[size_t(column)]; }
    const std::vector<int32_t>& touched() const { return touched_; }

  private:
    void mark(size_t column, uint8_t value) {
        for (const int64_t row : columns_.by_column[column]) lists_[size_t(row)] = value;
    }

    const ListedColumns& columns_;
    size_t column_ = 0;
    std::vector<uint32_t> common_;
    std::vector<uint8_t> lists_;  // by row
    std::vector<int32_t> touched_;
};

}  // namespace

void count_common_rows(const ListedColumns& columns, const CommonRequest& request) {
    std::vector<size_t> order(request.newest.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::ranges::stable_sort(order, {}, [&](size_t target) { return request.newest[target]; });
    Selected selected(columns);
    std::vector<uint32_t> both(columns.by_column.size(), 0);
    std::vector<uint8_t> is_paired(columns.by_column.size(), 0);
    for (size_t i = 0; i < order.size(); ++i) {
        const size_t target = order[i];
        if (i == 0 || request.newest[target] != request.newest[order[i - 1]])
            selected.change_to(size_t(request.newest[target]));
        int64_t n_rows = 0;
        for (const int64_t row : request.targets[target]) {
            if (!selected.lists(row)) continue;
            ++n_rows;
            for (const int32_t column : columns.by_row[size_t(row)]) ++both[size_t(column)];
        }
        request.of_target[target] = n_rows;
        const auto paired = request.pairs[target];
        const size_t first = request.pairs.start(target);
        for (size_t p = 0; p < paired.size(); ++p) {
            const auto column = size_t(paired[p]);
            request.with_newest[first + p] = selected.common(paired[p]);
            request.with_both[first + p] = std::exchange(both[column], 0);
            is_paired[column] = 1;
        }
        int64_t* most = request.most + target * columns.n_groups;
        std::fill_n(most, columns.n_groups, 0);
        for (const int32_t column : selected.touched()) {
            const int32_t group = columns.group_of[size_t(column)];
            if (group >= 0 && is_paired[size_t(column)] == 0)
                most[group] = std::max(most[group], selected.common(column));
        }
        for (const int32_t column : paired) is_paired[size_t(column)] = 0;
    }
}

}  // namespace labelsieve
