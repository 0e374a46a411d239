#include "discretize/mdl.hpp"

#include "discretize/mdl_sides.hpp"
#include "discretize/tall_mdl.hpp"

namespace labelsieve {

namespace {

// A column as groups of equal values. The rows of its most frequent value are not listed: they are all the
// others.
struct ValueGroups {
    Scratch<double> values;
    Scratch<size_t> starts;  // of the listed rows of each group; empty for the unlisted one
    Scratch<row_t> rows;
    Scratch<row_t> missing;
    size_t unlisted = 0;  // group number; values.size(): none

    void read(const Column& column) {
        values.clear();
        starts.assign(1, 0);
        rows.clear();
        missing.clear();
        entries_.clear();
        entries_.reserve(column.values.size());
        const bool zeros = column.has_unlisted();
        for (size_t i = 0; i < column.values.size(); ++i) {
            const double value = column.values[i];
            if (std::isnan(value)) {
                missing.push_back(column.row(i));
            } else if (!zeros || value != 0) {
                entries_.push_back({.key = key_of(value), .row = column.row(i)});
            }
        }
        sort_entries(entries_, buffer_);
        const uint64_t common = zeros ? key_of(0.0) : most_frequent();
        bool met = !zeros;  // an unlisted zero is inserted in order
        for (size_t i = 0, next = 0; i < entries_.size(); i = next) {
            while (next < entries_.size() && entries_[next].key == entries_[i].key) ++next;
            if (!met && entries_[i].key > common) {
                met = true;
                close(0.0);
            }
            if (entries_[i].key != common)
                for (size_t k = i; k < next; ++k) rows.push_back(entries_[k].row);
            close(value_of(entries_[i].key));
        }
        if (!met) close(0.0);
        unlisted = size_t(std::lower_bound(values.begin(), values.end(), value_of(common)) - values.begin());
    }

  private:
    void close(double value) {
        values.push_back(value);
        starts.push_back(rows.size());
    }
    uint64_t most_frequent() const {
        uint64_t key = key_of(0.0);
        size_t most = 0;
        for (size_t i = 0, next = 0; i < entries_.size(); i = next) {
            while (next < entries_.size() && entries_[next].key == entries_[i].key) ++next;
            if (next - i > most) {
                most = next - i;
                key = entries_[i].key;
            }
        }
        return key;
    }
    Scratch<Entry> entries_, buffer_;
};

// Cuts of one column for one problem.
class Splitter {
  public:
    Splitter(const ClassesOfRows& problem, const MdlSettings& settings, size_t n_rows)
        : problem_(problem), weights_(settings.weights), term_(settings.term), test_{settings},
          totals_(problem.n_classes), left_(problem.n_classes), right_(problem.n_classes) {
        for (row_t row = 0; row < n_rows; ++row)
            each_class(row, [&](code_t c, uint64_t w) { totals_[c] += w; });
    }

    void cut(const ValueGroups& groups, std::vector<double>& points) {
        gather(groups);
        std::vector<double> found;
        std::vector<std::pair<size_t, size_t>> open{{0, values_.size()}};
        while (!open.empty()) {
            const auto [first, last] = open.back();
            open.pop_back();
            const size_t at = split(first, last);
            if (at == first) continue;
            found.push_back(between(values_[at - 1], values_[at]));
            open.emplace_back(first, at);
            open.emplace_back(at, last);
        }
        std::sort(found.begin(), found.end());
        points.insert(points.end(), found.begin(), found.end());
    }

  private:
    template <class Visit>
    void each_class(row_t row, Visit&& visit) const {
        labelsieve::each_class(problem_, weights_, row, visit);
    }

    // Cells (class, weight) of every group, groups without any left out. In a large group a class has one
    // cell.
    void gather(const ValueGroups& groups) {
        values_.clear();
        cell_ranges_.clear();
        cells_.clear();
        rest_ = totals_;
        size_t unlisted = 0;  // rank of the unlisted group
        for (size_t g = 0; g < groups.values.size(); ++g) {
            if (g == groups.unlisted) unlisted = values_.size();
            const std::span<const row_t> rows{groups.rows.data() + groups.starts[g],
                                              groups.starts[g + 1] - groups.starts[g]};
            const size_t first = cells_.size();
            if (rows.size() > 2 * left_.size()) {
                for (const row_t row : rows) each_class(row, [&](code_t c, uint64_t w) { left_[c] += w; });
                for (size_t c = 0; c < left_.size(); ++c)
                    if (left_[c] > 0)
                        cells_.push_back({.of_class = code_t(c), .weight = std::exchange(left_[c], 0)});
            } else {
                for (const row_t row : rows)
                    each_class(row,
                               [&](code_t c, uint64_t w) { cells_.push_back({.of_class = c, .weight = w}); });
            }
            close(groups.values[g], first, values_.size());
        }
        for (const Cell& cell : cells_) rest_[cell.of_class] -= cell.weight;
        for (const row_t row : groups.missing) each_class(row, [&](code_t c, uint64_t w) { rest_[c] -= w; });
        const size_t first = cells_.size();
        if (groups.unlisted == groups.values.size()) return;
        for (size_t c = 0; c < rest_.size(); ++c)
            if (rest_[c] > 0) cells_.push_back({.of_class = code_t(c), .weight = rest_[c]});
        close(groups.values[groups.unlisted], first, unlisted);
    }

    void close(double value, size_t first_cell, size_t rank) {
        if (cells_.size() == first_cell) return;
        values_.insert(values_.begin() + ptrdiff_t(rank), value);
        cell_ranges_.insert(cell_ranges_.begin() + ptrdiff_t(rank), {first_cell, cells_.size()});
    }

    template <class Visit>
    void each_cell(size_t first, size_t last, Visit&& visit) const {
        for (size_t g = first; g < last; ++g)
            for (size_t k = cell_ranges_[g].first; k < cell_ranges_[g].second; ++k) visit(cells_[k]);
    }

    // The group before which [first, last) is best cut, or `first` when it is better left whole.
    size_t split(size_t first, size_t last) {
        if (last - first < 2) return first;
        classes_.clear();
        each_cell(first, last, [&](const Cell& cell) {
            if (right_[cell.of_class] == 0) classes_.push_back(cell.of_class);
            right_[cell.of_class] += cell.weight;
        });
        Side whole, low;
        whole.n_classes = classes_.size();
        for (const code_t c : classes_) {
            whole.sum += term_(right_[c]);
            whole.total += right_[c];
        }
        Side high = whole;
        fixed_t best = std::numeric_limits<fixed_t>::min();
        size_t at = first;
        Side best_low, best_high;
        for (size_t g = first; whole.n_classes > 1 && g + 1 < last; ++g) {
            each_cell(g, g + 1, [&](const Cell& cell) {
                high.remove(right_, cell, term_);
                low.add(left_, cell, term_);
            });
            const fixed_t score = low.sum - term_(low.total) + high.sum - term_(high.total);
            if (score <= best) continue;
            best = score;
            at = g + 1;
            best_low = low;
            best_high = high;
        }
        const bool gains = at > first && best > whole.sum - term_(whole.total);
        const bool accepted = gains && test_.accepts(whole, best_low, best_high, last - first - 1);
        for (const code_t c : classes_) left_[c] = right_[c] = 0;
        return accepted ? at : first;
    }

    const ClassesOfRows& problem_;
    const WeightsOfRows& weights_;
    const CountTerm& term_;
    GainTest test_;
    std::vector<uint64_t> totals_, left_, right_, rest_;
    std::vector<code_t> classes_;  // that occur in the part that is looked at
    Scratch<double> values_;
    Scratch<std::pair<size_t, size_t>> cell_ranges_;  // of the cells, one for each value
    Scratch<Cell> cells_;
};

}  // namespace

std::vector<ColumnCuts> mdl_cuts(const Values& values, std::span<const ClassesOfRows> problems,
                                 const MdlSettings& settings, const Poll& poll) {
    std::vector<ColumnCuts> cuts(problems.size());
    std::vector<Splitter> splitters;
    splitters.reserve(problems.size());
    for (const ClassesOfRows& problem : problems) splitters.emplace_back(problem, settings, values.n_rows());
    ValueGroups groups;
    TallMdl tall(problems, settings);
    values.each_column([&](size_t, const Column& column) {
        poll();
        if (tall.read(column)) {
            for (size_t p = 0; p < problems.size(); ++p) {
                tall.cut(p, cuts[p].points);
                cuts[p].end_column(false);
            }
            return;
        }
        groups.read(column);
        for (size_t p = 0; p < problems.size(); ++p) {
            splitters[p].cut(groups, cuts[p].points);
            cuts[p].end_column(false);
        }
    });
    return cuts;
}

}  // namespace labelsieve
