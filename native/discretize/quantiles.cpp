#include "discretize/quantiles.hpp"

#include <algorithm>
#include <cmath>

#include "discretize/column_range.hpp"
#include "discretize/distribution.hpp"

namespace labelsieve {

namespace {

constexpr size_t fewest_rows = 4096;  // below, sorting is as fast
constexpr size_t n_buckets = 4096;
constexpr uint16_t missing = n_buckets;  // the bucket of missing values

}  // namespace

bool QuantileCuts::cut(const Column& column, size_t n_bins, std::vector<double>& points) {
    const std::span<const double> values = column.values;
    if (column.has_unlisted() || values.size() < fewest_rows || n_bins < 2 || n_bins > n_buckets / 16)
        return false;
    const Range range = range_of(values);
    const double per_width = double(n_buckets) / (range.largest - range.least);
    if (!(range.largest > range.least) || !std::isfinite(per_width) || per_width == 0 ||
        !has_more_values(values, n_bins))
        return false;

    buckets_.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
        const double place = (values[i] - range.least) * per_width;
        const double last = place < double(n_buckets - 1) ? place : double(n_buckets - 1);
        buckets_[i] = values[i] == values[i] ? uint16_t(int32_t(last)) : missing;
    }
    counts_.assign(n_buckets + 1, 0);
    for (const uint16_t bucket : buckets_) ++counts_[bucket];
    const size_t n = values.size() - counts_[missing];
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
    for (size_t i = 0; i < values.size(); ++i)
        if (wanted_[buckets_[i]]) sorted_.push_back(values[i] + 0.0);
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
