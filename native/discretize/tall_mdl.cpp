#include "discretize/tall_mdl.hpp"

#include <bit>

#include "discretize/column_range.hpp"

namespace labelsieve {

namespace {

constexpr size_t fewest_rows = size_t(1) << 14;  // below, sorting is as fast
constexpr size_t most_buckets = size_t(1) << 15, fewest_buckets = size_t(1) << 8;
constexpr size_t most_counts = size_t(1) << 17;  // of all buckets and classes: a megabyte

}  // namespace

TallMdl::TallMdl(std::span<const ClassesOfRows> problems, const MdlSettings& settings)
    : problems_(problems), settings_(settings), test_{settings} {
    for (const ClassesOfRows& problem : problems) most_classes_ = std::max(most_classes_, problem.n_classes);
}

bool TallMdl::read(const Column& column) {
    values_ = column.values;
    if (column.has_unlisted() || values_.size() < fewest_rows || settings_.count_values ||
        most_classes_ * fewest_buckets > most_counts)
        return false;
    const size_t n = std::min(most_buckets, std::bit_floor(most_counts / std::max<size_t>(1, most_classes_)));
    const Range range = range_of(values_);
    const double per_width = double(n) / (range.largest - range.least);
    if (!(range.largest > range.least) || !std::isfinite(per_width) || per_width == 0) return false;
    buckets_.resize(values_.size());
    starts_.assign(n + 2, 0);
    for (size_t i = 0; i < values_.size(); ++i) {
        const double place = (values_[i] - range.least) * per_width;
        const double last = place < double(n - 1) ? place : double(n - 1);
        buckets_[i] = values_[i] == values_[i] ? uint16_t(int32_t(last)) : uint16_t(n);  // n: missing
    }
    for (const uint16_t bucket : buckets_) ++starts_[bucket + 1];
    for (size_t b = 0; b <= n; ++b) starts_[b + 1] += starts_[b];
    rows_.resize(values_.size());
    std::vector<uint32_t> next(starts_.begin(), starts_.end());
    for (size_t i = 0; i < buckets_.size(); ++i) rows_[next[buckets_[i]]++] = row_t(i);
    return true;
}

void TallMdl::cut(size_t problem, std::vector<double>& points) {
    problem_ = &problems_[problem];
    left_.assign(problem_->n_classes, 0);
    right_.assign(problem_->n_classes, 0);
    std::vector<double> found;
    std::vector<Items> open{count_buckets()};
    while (!open.empty()) {
        Items items = std::move(open.back());
        open.pop_back();
        const auto at = ptrdiff_t(split(items));
        if (at == 0) continue;
        found.push_back(between(value_at(items[size_t(at) - 1], true), value_at(items[size_t(at)], false)));
        open.emplace_back(items.begin() + at, items.end());
        items.erase(items.begin() + at, items.end());
        open.push_back(std::move(items));
    }
    std::sort(found.begin(), found.end());
    points.insert(points.end(), found.begin(), found.end());
}

// The buckets that have rows with classes.
TallMdl::Items TallMdl::count_buckets() {
    const size_t n = starts_.size() - 2, k = problem_->n_classes;
    counts_.assign((n + 1) * k, 0);
    for (size_t i = 0; i < buckets_.size(); ++i)
        each_class(*problem_, settings_.weights, row_t(i),
                   [&](code_t c, uint64_t weight) { counts_[buckets_[i] * k + c] += weight; });
    Items items;
    cells_.clear();
    for (size_t b = 0; b < n; ++b) {
        const auto first = uint32_t(cells_.size());
        for (size_t c = 0; c < k; ++c)
            if (counts_[b * k + c] > 0)
                cells_.push_back({.of_class = code_t(c), .weight = counts_[b * k + c]});
        if (cells_.size() > first)
            items.push_back({.first_row = starts_[b],
                             .last_row = starts_[b + 1],
                             .first_cell = first,
                             .last_cell = uint32_t(cells_.size()),
                             .value = std::nan("")});
    }
    return items;
}

// The item before which the items are best cut, or 0 when they are better left whole. Sorts the buckets that
// may hold the best cut.
size_t TallMdl::split(Items& items) {
    const CountTerm& term = settings_.term;
    std::fill(right_.begin(), right_.end(), 0);
    Side whole;
    for (const Item& item : items)
        for (uint32_t c = item.first_cell; c < item.last_cell; ++c) whole.add(right_, cells_[c], term);
    if (whole.n_classes < 2) return 0;
    const std::vector<uint64_t> totals = right_;
    const double needed = test_.least_score(whole);
    for (;;) {
        std::fill(left_.begin(), left_.end(), 0);
        right_ = totals;
        Side low, high = whole, best_low, best_high;
        fixed_t best = std::numeric_limits<fixed_t>::min();
        size_t at = 0;
        bounds_.assign(items.size(), -std::numeric_limits<double>::infinity());
        for (size_t g = 0; g < items.size(); ++g) {
            const Item& item = items[g];
            if (std::isnan(item.value)) bounds_[g] = bound(item, low, high);
            for (uint32_t c = item.first_cell; c < item.last_cell; ++c) {
                high.remove(right_, cells_[c], term);
                low.add(left_, cells_[c], term);
            }
            if (g + 1 == items.size()) break;
            const fixed_t score = low.sum - term(low.total) + high.sum - term(high.total);
            if (score <= best) continue;
            best = score;
            at = g + 1;
            best_low = low;
            best_high = high;
        }
        const double enough = std::max(at > 0 ? double(best) : needed, needed - 1e-9 * std::abs(needed));
        if (std::none_of(bounds_.begin(), bounds_.end(), [&](double most) { return most >= enough; })) {
            const bool gains = at > 0 && best > whole.sum - term(whole.total);
            return gains && test_.accepts(whole, best_low, best_high, 0) ? at : 0;
        }
        Items refined;
        for (size_t g = 0; g < items.size(); ++g) {
            if (bounds_[g] >= enough) {
                refine(items[g], refined);
            } else {
                refined.push_back(items[g]);
            }
        }
        items.swap(refined);
    }
}

// No cut within the bucket has a higher score.
double TallMdl::bound(const Item& item, const Side& low, const Side& high) const {
    const CountTerm& term = settings_.term;
    uint64_t inside = 0;
    for (uint32_t c = item.first_cell; c < item.last_cell; ++c) inside += cells_[c].weight;
    const uint64_t total = low.total + high.total;
    const uint64_t middle = std::min(std::max<uint64_t>(low.total + inside / 2, 1), total - 1);
    const double tangent =
        settings_.fixed_scale * (std::log(double(middle)) - std::log(double(total - middle)));
    double most = double(low.sum + high.sum - term(middle) - term(total - middle)) +
                  tangent * (double(middle) - double(low.total));
    double rounding = 8;  // units: of f, and of sums of doubles
    for (uint32_t k = item.first_cell; k < item.last_cell; ++k) {
        const auto [c, n] = cells_[k];
        const fixed_t chord = term(left_[c] + n) - term(left_[c]) + term(right_[c] - n) - term(right_[c]);
        most += std::max(0.0, double(chord) - double(n) * tangent);
        rounding += 8;
    }
    return most + rounding + 1e-12 * std::abs(most);
}

bool TallMdl::has_class(row_t row) const {
    bool any = false;
    each_class(*problem_, settings_.weights, row, [&](code_t, uint64_t) { any = true; });
    return any;
}

// The values of a bucket as items.
void TallMdl::refine(const Item& bucket, Items& out) {
    entries_.clear();
    for (uint32_t i = bucket.first_row; i < bucket.last_row; ++i)
        if (has_class(rows_[i])) entries_.push_back({.key = key_of(values_[rows_[i]]), .row = rows_[i]});
    sort_entries(entries_, buffer_);
    for (size_t i = 0, next = 0; i < entries_.size(); i = next) {
        const auto first = uint32_t(cells_.size());
        while (next < entries_.size() && entries_[next].key == entries_[i].key) {
            each_class(*problem_, settings_.weights, entries_[next].row, [&](code_t c, uint64_t weight) {
                cells_.push_back({.of_class = c, .weight = weight});
            });
            ++next;
        }
        if (cells_.size() - first > 2 * problem_->n_classes) join_cells(first);
        out.push_back({.first_row = 0,
                       .last_row = 0,
                       .first_cell = first,
                       .last_cell = uint32_t(cells_.size()),
                       .value = value_of(entries_[i].key)});
    }
}

// One cell for each class.
void TallMdl::join_cells(uint32_t first) {
    std::vector<uint64_t> sums(problem_->n_classes, 0);
    for (size_t c = first; c < cells_.size(); ++c) sums[cells_[c].of_class] += cells_[c].weight;
    cells_.resize(first);
    for (size_t c = 0; c < sums.size(); ++c)
        if (sums[c] > 0) cells_.push_back({.of_class = code_t(c), .weight = sums[c]});
}

double TallMdl::value_at(const Item& item, bool largest) const {
    if (!std::isnan(item.value)) return item.value;
    double value = std::nan("");
    for (uint32_t i = item.first_row; i < item.last_row; ++i) {
        const double other = values_[rows_[i]] + 0.0;
        if (has_class(rows_[i]) && !(largest ? other <= value : other >= value)) value = other;
    }
    return value;
}

}  // namespace labelsieve
