#include "discretize/quantiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "discretize/column_range.hpp"
#include "discretize/distribution.hpp"

namespace labelsieve {

namespace {

constexpr size_t fewest_rows = 4096;  // below, sorting is as fast
constexpr size_t n_buckets = 4096;
constexpr uint16_t missing = n_buckets;  // the bucket of missing values

// visit(value, bucket) for all values.
template <class Visit>
void each_bucket(std::span<const double> values, double least, double per_width, Visit&& visit) {
    std::array<uint16_t, 512> buckets;  // computed together, in vectors
    for (size_t start = 0; start < values.size(); start += buckets.size()) {
        const size_t n = std::min(buckets.size(), values.size() - start);
        const double* from = values.data() + start;
        for (size_t i = 0; i < n; ++i) {
            const double place = (from[i] - least) * per_width;
            const double last = place < double(n_buckets - 1) ? place : double(n_buckets - 1);
            buckets[i] = from[i] == from[i] ? uint16_t(int32_t(last)) : missing;
        }
        for (size_t i = 0; i < n; ++i) visit(from[i], buckets[i]);
    }
}

}  // namespace

bool QuantileCuts::cut(const Column& column, size_t n_bins, std::vector<double>& points) {
    if (column.has_unlisted()) return false;
    return cut([&](const Visit& visit) { visit(column.values); }, column.n_rows, n_bins, points);
}

bool QuantileCuts::cut(const EachPiece& each_piece, size_t n_rows, size_t n_bins,
                       std::vector<double>& points) {
    if (n_rows < fewest_rows || n_bins < 2 || n_bins > n_buckets / 16) return false;
    Range range = range_of({});
    FewValues few(n_bins);
    bool many = false;
    each_piece([&](std::span<const double> values) {
        const Range of_piece = range_of(values);
        range.least = std::min(range.least, of_piece.least);
        range.largest = std::max(range.largest, of_piece.largest);
        many = many || few.exceeded_by(values);
    });
    const double per_width = double(n_buckets) / (range.largest - range.least);
    if (!(range.largest > range.least) || !std::isfinite(per_width) || per_width == 0 || !many) return false;

    counts_.assign(n_buckets + 1, 0);
    each_piece([&](std::span<const double> values) {
        each_bucket(values, range.least, per_width, [&](double, uint16_t bucket) { ++counts_[bucket]; });
    });
    const size_t n = n_rows - counts_[missing];
    below_.assign(n_buckets + 1, 0);
    for (size_t b = 0; b < n_buckets; ++b) below_[b + 1] = below_[b] + counts_[b];

    // The bucket of each quantile, and those that hold the neighbors of its values.
    wanted_.assign(n_buckets + 1, 0);
    size_t n_wanted = 0;
    const auto want = [&](size_t bucket) {
        n_wanted += wanted_[bucket] ? 0 : counts_[bucket];
        wanted_[bucket] = 1;
    };
    std::vector<size_t> ranks(n_bins), of_quantile(n_bins);
    for (size_t i = 1; i < n_bins; ++i) {
        ranks[i] = (i * n + n_bins - 1) / n_bins - 1;  // the first value with i/n_bins of the rows up to it
        const auto bucket =
            size_t(std::upper_bound(below_.begin(), below_.end(), uint32_t(ranks[i])) - below_.begin()) - 1;
        of_quantile[i] = bucket;
        want(bucket);
        for (size_t b = bucket; b-- > 0;)
            if (counts_[b] > 0) {
                want(b);
                break;
            }
        for (size_t b = bucket + 1; b < n_buckets; ++b)
            if (counts_[b] > 0) {
                want(b);
                break;
            }
    }
    if (n_wanted > n / 4) return false;
    sorted_.clear();
    each_piece([&](std::span<const double> values) {
        each_bucket(values, range.least, per_width, [&](double value, uint16_t bucket) {
            if (wanted_[bucket]) sorted_.push_back(value + 0.0);
        });
    });
    std::sort(sorted_.begin(), sorted_.end());

    const size_t before = points.size();
    size_t first = 0, bucket = 0;  // sorted_[first] is the first value of the bucket
    double last_low = -std::numeric_limits<double>::infinity();
    for (size_t i = 1; i < n_bins; ++i) {
        for (; bucket < of_quantile[i]; ++bucket) first += wanted_[bucket] ? counts_[bucket] : 0;
        const double value = sorted_[first + ranks[i] - below_[bucket]];
        const auto low = std::lower_bound(sorted_.begin(), sorted_.end(), value);
        const auto high = std::upper_bound(low, sorted_.end(), value);
        const size_t rows_below = below_[bucket] + size_t(low - sorted_.begin()) - first;
        const size_t rows_up_to = below_[bucket] + size_t(high - sorted_.begin()) - first;
        const double wanted = double(i) * double(n);
        const bool lower =
            rows_below > 0 && (rows_up_to == n || std::abs(double(rows_below) * double(n_bins) - wanted) <=
                                                      std::abs(double(rows_up_to) * double(n_bins) - wanted));
        const double under = lower ? *(low - 1) : value, over = lower ? value : *high;
        if (under <= last_low) {  // the same boundary again
            points.resize(before);
            return false;
        }
        last_low = under;
        points.push_back(between(under, over));
    }
    return true;
}

}  // namespace labelsieve
