#include "prediction/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "discretize/distribution.hpp"
#include "simd/kernels.hpp"

namespace labelsieve {

void mid_ranks(std::span<const double> columns, size_t n_rows, const double* weights, double* ranks) {
    Scratch<Entry> entries, buffer;
    for (size_t start = 0; start < columns.size(); start += n_rows) {
        const double* column = columns.data() + start;
        double* out = ranks + start;
        entries.clear();
        entries.reserve(n_rows);
        for (size_t row = 0; row < n_rows; ++row) {
            if (std::isnan(column[row]))
                out[row] = column[row];
            else
                entries.push_back({key_of(column[row]), row_t(row)});
        }
        if (entries.empty()) continue;
        sort_entries(entries, buffer);
        double before = 0;
        const auto weight = [&](const Entry& entry) { return weights ? weights[entry.row] : 1.0; };
        for (size_t first = 0, end; first < entries.size(); first = end) {
            double equal = 0;
            for (end = first; end < entries.size() && entries[end].key == entries[first].key; ++end)
                equal += weight(entries[end]);
            before += equal;
            for (size_t i = first; i < end; ++i) out[entries[i].row] = before - equal / 2;
        }
        const double total = std::max(before, std::numeric_limits<double>::min());
        for (const Entry& entry : entries) out[entry.row] /= total;
    }
}

namespace {

// The largest absolute value; NaN where a number is.
double largest_of(std::span<const double> values) {
    constexpr size_t lanes = 8;
    double largest[lanes] = {};
    double sum[lanes] = {};  // NaN where a number is
    const auto look = [&](size_t i, size_t lane) {
        const double value = std::abs(values[i]);
        largest[lane] = value > largest[lane] ? value : largest[lane];
        sum[lane] += value;
    };
    size_t i = 0;
    for (; i + lanes <= values.size(); i += lanes)
        for (size_t lane = 0; lane < lanes; ++lane) look(i + lane, lane);
    for (size_t lane = 0; i < values.size(); ++i, ++lane) look(i, lane);
    for (const double of_lane : sum)
        if (std::isnan(of_lane)) return of_lane;
    return *std::max_element(largest, largest + lanes);
}

}  // namespace

void standardize(std::span<double> columns, std::span<const double> weights, double most) {
    constexpr double constant = 1e-12;  // a deviation up to this fraction of the largest value is rounding
    const size_t n = weights.size();
    std::vector<double> weighted(n);
    std::vector<size_t> gaps;
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double* column = columns.data(); column < columns.data() + columns.size(); column += n) {
        double largest = largest_of({column, n}), known = all;
        gaps.clear();
        for (size_t i = 0; std::isnan(largest) && i < n; ++i)
            if (std::isnan(column[i])) {
                gaps.push_back(i);
                column[i] = 0;
                known -= weights[i];
            }
        if (!gaps.empty()) largest = largest_of({column, n});
        known = std::max(known, std::numeric_limits<double>::min());
        if (largest > 0x1p400 || largest < 0x1p-400) {  // squares would overflow, or vanish
            const double scale = std::max(largest, std::numeric_limits<double>::min());
            for (size_t i = 0; i < n; ++i) column[i] /= scale;
            largest /= scale;
        }
        const double mean = kernels().dot(column, weights.data(), n) / known;
        for (size_t i = 0; i < n; ++i) column[i] -= mean;
        for (const size_t i : gaps) column[i] = 0;
        for (size_t i = 0; i < n; ++i) weighted[i] = column[i] * weights[i];
        const double deviation = std::sqrt(kernels().dot(column, weighted.data(), n) / known);
        const double factor = deviation > constant * largest ? 1 / deviation : 0.0;
        for (size_t i = 0; i < n; ++i) {
            const double scaled = column[i] * factor;
            column[i] = scaled > most ? most : scaled < -most ? -most : scaled;
        }
    }
}

}  // namespace labelsieve
