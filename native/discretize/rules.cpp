#include "discretize/rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "discretize/cuts.hpp"
#include "discretize/quantiles.hpp"

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

// Values number `first` to `last` - 1 of a column, and their weight.
struct Stretch {
    size_t first, last;
    double weight;

    size_t size() const { return last - first; }
};

// For i = 1 .. n - 1 the boundary between neighboring values that has nearest to i/n of the weight below it,
// the lower of two. A boundary is the number of the value above it.
void nearest_boundaries(const Distribution& values, const Stretch& part, size_t n_bins,
                        std::vector<size_t>& boundaries) {
    const double n = double(n_bins);
    double below = double(values.weights()[part.first]);
    size_t at = part.first + 1;  // the boundary before value number `at`, with `below` under it
    size_t last = part.first;    // no boundary yet
    for (size_t i = 1; i < n_bins; ++i) {
        const double wanted = double(i) * part.weight;
        while (at + 1 < part.last) {
            const double next = below + double(values.weights()[at]);
            if (std::abs(below * n - wanted) <= std::abs(next * n - wanted)) break;
            below = next;
            ++at;
        }
        if (at != last) boundaries.push_back(at);
        last = at;
    }
}

// Boundaries of bins of about equal weight, in order. Where a value is so heavy that one boundary is nearest
// to several quantiles, bins are left over: the heaviest value gets a bin, and those below and above it share
// the others in proportion to their weight, as far as these bins have about the weight `least`.
void share_bins(const Distribution& values, const Stretch& part, size_t n_bins, double least,
                std::vector<size_t>& boundaries) {
    if (part.size() < 2 || n_bins < 2) return;
    if (part.size() <= n_bins) {
        for (size_t at = part.first + 1; at < part.last; ++at) boundaries.push_back(at);
        return;
    }
    const size_t before = boundaries.size();
    nearest_boundaries(values, part, n_bins, boundaries);
    if (boundaries.size() - before == n_bins - 1) return;
    const auto start = values.weights().begin();
    const size_t heaviest = size_t(
        std::max_element(start + std::ptrdiff_t(part.first), start + std::ptrdiff_t(part.last)) - start);
    double weight_below = 0;
    for (size_t k = part.first; k < heaviest; ++k) weight_below += double(values.weights()[k]);
    const Stretch below{part.first, heaviest, weight_below};
    const Stretch above{heaviest + 1, part.last,
                        part.weight - weight_below - double(values.weights()[heaviest])};
    const size_t sides = size_t(below.size() > 0) + size_t(above.size() > 0), left = n_bins - 1;
    if (left < sides) return;  // two bins cannot separate three kinds of values
    boundaries.resize(before);
    const double share = double(left) * below.weight / (below.weight + above.weight);
    size_t for_below = below.size() == 0 ? 0 : std::max<size_t>(1, size_t(share + 0.5));
    if (above.size() > 0) for_below = std::min(for_below, left - 1);
    const auto heavy_enough = [&](const Stretch& side, size_t bins) {
        return std::min(bins, std::max<size_t>(1, size_t(side.weight / least)));
    };
    share_bins(values, below, heavy_enough(below, for_below), least, boundaries);
    if (below.size() > 0) boundaries.push_back(heaviest);
    if (above.size() > 0) boundaries.push_back(heaviest + 1);
    share_bins(values, above, heavy_enough(above, left - for_below), least, boundaries);
}

void cut_equal_frequency(const Distribution& values, size_t n_bins, std::vector<double>& points) {
    std::vector<size_t> boundaries;
    const double total = double(values.total());
    share_bins(values, {0, values.size(), total}, n_bins, total / (2 * double(n_bins)), boundaries);
    for (const size_t at : boundaries)
        points.push_back(between(values.values()[at - 1], values.values()[at]));
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
    QuantileCuts quantiles;
    size_t n_read = 0;
    const bool by_quantiles =
        settings.rule == Rule::equal_frequency && !settings.keep_binary && !weights.of_rows;
    const auto begin_column = [&](size_t j) {
        n_read += values.n_rows();
        if (j % 16 == 0 || n_read >= rows_between_polls) {
            poll();
            n_read = 0;
        }
    };
    const auto cut_in_pieces = [&](size_t j) {  // without a copy of the column
        if (!by_quantiles) return false;
        begin_column(j);
        const auto each_piece = [&](const QuantileCuts::Visit& visit) { values.each_piece_of(j, visit); };
        const bool found = quantiles.cut(each_piece, values.n_rows(), settings.n_bins, cuts.points);
        if (found) cuts.end_column(false);
        return found;
    };
    const auto cut_column = [&](size_t j, const Column& column) {
        begin_column(j);
        if (settings.rule == Rule::equal_width) {
            cuts.end_column(cut_equal_width(column, settings.n_bins, present, cuts.points));
            return;
        }
        if (by_quantiles && !values.by_columns() && quantiles.cut(column, settings.n_bins, cuts.points)) {
            cuts.end_column(false);
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
    };
    values.each_column(cut_column, cut_in_pieces);
    return cuts;
}

}  // namespace labelsieve
