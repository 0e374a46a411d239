// Rules that cut a column by its values alone.
#pragma once

#include <functional>

#include "discretize/distribution.hpp"

namespace labelsieve {

// For every column its cut points or, where `kept`, the values that it keeps as levels: both in order.
struct ColumnCuts {
    std::vector<int64_t> starts{0};
    std::vector<double> points;
    std::vector<uint8_t> kept;

    void end_column(bool as_levels) {
        starts.push_back(int64_t(points.size()));
        kept.push_back(as_levels);
    }
};

enum class Rule { equal_width, equal_frequency, k_means, mean_std };

struct RuleSettings {
    Rule rule;
    size_t n_bins;
    double factor = 1;         // mean_std: of the standard deviation
    double steps = 0;          // mean_std: cuts are rounded to whole multiples of 1/steps, unless it is 0
    bool keep_binary = false;  // mean_std: leave columns of zeros and ones alone
};

struct WeightsOfRows {
    const uint64_t* of_rows = nullptr;  // null: every row weighs one
    double unit = 1;                    // what a row of weight one counts
    uint64_t total = 0;
};

using Poll = std::function<void()>;

ColumnCuts cut_columns(const Values& values, const RuleSettings& settings, const WeightsOfRows& weights,
                       const Poll& poll);

// Cuts that separate the values as k-means with the least sum of squares does (rules_k_means.cpp).
void cut_k_means(const Distribution& values, size_t n_clusters, std::vector<double>& points,
                 const Poll& poll);

}  // namespace labelsieve
