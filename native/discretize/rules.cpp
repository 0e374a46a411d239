#include "discretize/rules.hpp"

#include <cmath>

#include "discretize/cuts.hpp"

namespace labelsieve {

namespace {

// No sort is needed: the least, the largest, and whether there are few.
bool cut_equal_width(const Column& column, size_t n_bins, std::vector<double>& present,
                     std::vector<double>& points) {
    std::span<const double> values = column.values;
    if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) {
        present.clear();
        std::copy_if(values.begin(), values.end(), std::back_inserter(present),
                     [](double value) { return !std::isnan(value); });
        values = present;
    }
    if (values.empty() && !column.has_unlisted()) return false;
    const EqualWidthCuts cuts(values, column.has_unlisted(), {.n_bins = n_bins, .closed_right = false});
    points.insert(points.end(), cuts.cuts().begin(), cuts.cuts().end());
    return cuts.distinct();
}

// For i = 1 .. n - 1 the boundary between neighboring values that has nearest to i/n of the weight below it,
// the lower of two.
void cut_equal_frequency(const Distribution& values, size_t n_bins, std::vector<double>& points) {
    const double n = double(n_bins), total = double(values.total());
    double below = double(values.weights()[0]);
    size_t last = values.size();  // no boundary yet
    size_t at = 1;                // the boundary before value number `at`, with `below` under it
    for (size_t i = 1; i < n_bins; ++i) {
        const double wanted = double(i) * total;
        while (at + 1 < values.size()) {
            const double next = below + double(values.weights()[at]);
            if (std::abs(below * n - wanted) <= std::abs(next * n - wanted)) break;
            below = next;
            ++at;
        }
        if (at != last) points.push_back(between(values.values()[at - 1], values.values()[at]));
        last = at;
    }
}

constexpr size_t rows_between_polls = size_t(1) << 18;  // sorting them takes less than a tenth of a second

double rounded(double value, double steps) {
    return steps == 0 || std::abs(value) > 0x1p52 / steps ? value : std::nearbyint(value * steps) / steps;
}

void cut_mean_std(const Distribution& values, const RuleSettings& settings, double unit,
                  std::vector<double>& points) {
    const double least = values.values().front(), largest = values.values().back();
    // Squares of scaled values do not overflow; a power of two costs no digit.
    const double scale =
        std::ldexp(1.0, std::ilogb(std::max({std::abs(least), std::abs(largest), 0x1p-1000})));
    double sum = 0, squares = 0;
    for (size_t k = 0; k < values.size(); ++k)
        sum += double(values.weights()[k]) * (values.values()[k] / scale);
    const double mean = sum / double(values.total());
    for (size_t k = 0; k < values.size(); ++k) {
        const double away = values.values()[k] / scale - mean;
        squares += double(values.weights()[k]) * (away * away);
    }
    const double deviation = std::sqrt(squares / (double(values.total()) - unit));
    const int reach = settings.n_bins == 3 ? 1 : 2;
    double last = least;
    for (int step = -reach; step <= reach; ++step) {
        if (step == 0) continue;
        const double cut =
            rounded(scale * (mean + double(step) * settings.factor * deviation), settings.steps);
        if (cut > last && cut <= largest) points.push_back(last = cut);  // others separate nothing
    }
}

}  // namespace

ColumnCuts cut_columns(const Values& values, const RuleSettings& settings, const WeightsOfRows& weights,
                       const Poll& poll) {
    ColumnCuts cuts;
    Distribution column_values;
    std::vector<double> present;
    size_t n_read = 0;
    values.each_column([&](size_t j, const Column& column) {
        n_read += values.n_rows();
        if (j % 16 == 0 || n_read >= rows_between_polls) {
            poll();
            n_read = 0;
        }
        if (settings.rule == Rule::equal_width) {
            cuts.end_column(cut_equal_width(column, settings.n_bins, present, cuts.points));
            return;
        }
        column_values.read(column, weights.of_rows, weights.total);
        const auto& all = column_values.values();
        const bool by_number = settings.rule != Rule::mean_std && all.size() <= settings.n_bins;
        const bool binary = settings.keep_binary &&
                            std::all_of(all.begin(), all.end(), [](double x) { return x == 0 || x == 1; });
        if (by_number || binary) {
            cuts.points.insert(cuts.points.end(), all.begin(), all.end());
            cuts.end_column(!all.empty());
            return;
        }
        if (all.size() > 1) {
            if (settings.rule == Rule::equal_frequency)
                cut_equal_frequency(column_values, settings.n_bins, cuts.points);
            if (settings.rule == Rule::k_means)
                cut_k_means(column_values, settings.n_bins, cuts.points, poll);
            if (settings.rule == Rule::mean_std)
                cut_mean_std(column_values, settings, weights.unit, cuts.points);
        }
        cuts.end_column(false);
    });
    return cuts;
}

}  // namespace labelsieve
