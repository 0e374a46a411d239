// The best partition of sorted values into k clusters: the k-means problem in one dimension, solved exactly.
//
// Clusters of an optimum are stretches of the sorted values, so D_q(j), the least cost of the first j values
// in q clusters, is the minimum over i of D_{q-1}(i) + cost(i, j). The best i does not fall as j rises, so
// the minima of a layer are found by halving: n log n steps for each cluster but the first and the last.
#include <algorithm>
#include <cmath>

#include "discretize/rules.hpp"

namespace labelsieve {

namespace {

constexpr size_t steps_between_polls = size_t(1) << 22;  // about a hundredth of a second

class Partition1D {
  public:
    Partition1D(const Distribution& values, size_t n_clusters, const Poll& poll)
        : n_(values.size()), n_clusters_(n_clusters), poll_(poll) {
        const double widest = std::max(std::abs(values.values().front()), std::abs(values.values().back()));
        scale_ = std::ldexp(1.0, std::ilogb(std::max(widest, 0x1p-1000)));
        double mean = 0;
        for (size_t k = 0; k < n_; ++k)
            mean += double(values.weights()[k]) / double(values.total()) * (values.values()[k] / scale_);
        weight_.assign(n_ + 1, 0.0);
        sum_.assign(n_ + 1, 0.0);
        squares_.assign(n_ + 1, 0.0);
        for (size_t k = 0; k < n_; ++k) {
            const double w = double(values.weights()[k]), z = values.values()[k] / scale_ - mean;
            weight_[k + 1] = weight_[k] + w;
            sum_[k + 1] = sum_[k] + w * z;
            squares_[k + 1] = squares_[k] + w * (z * z);
        }
        mean_ = mean;
    }

    // Where the clusters after the first begin.
    std::vector<size_t> solve() {
        least_.assign(n_ + 1, 0.0);
        for (size_t j = 1; j <= n_; ++j) least_[j] = cost(0, j);
        next_.assign(n_ + 1, 0.0);
        std::vector<std::vector<uint32_t>> best(n_clusters_ + 1);
        for (size_t q = 2; q < n_clusters_; ++q) {
            best[q].assign(n_ + 1, 0);
            layer(q, n_, q - 1, n_ - 1, best[q]);
            least_.swap(next_);
        }
        std::vector<size_t> begins;
        size_t end = n_;
        for (size_t q = n_clusters_; q >= 2; --q) {
            if (q == n_clusters_) {
                end = argmin(n_, q - 1, n_ - 1);
            } else {
                end = best[q][end];
            }
            begins.push_back(end);
        }
        std::reverse(begins.begin(), begins.end());
        return begins;
    }

    double center(size_t i, size_t j) const {
        return scale_ * (mean_ + (sum_[j] - sum_[i]) / (weight_[j] - weight_[i]));
    }

  private:
    double cost(size_t i, size_t j) const {
        const double sum = sum_[j] - sum_[i];
        return std::max(0.0, squares_[j] - squares_[i] - sum * sum / (weight_[j] - weight_[i]));
    }

    // The first i within [low, high] and below j that gives the least cost.
    size_t argmin(size_t j, size_t low, size_t high) {
        steps_ += high - low + 1;
        if (steps_ >= steps_between_polls) {
            poll_();
            steps_ = 0;
        }
        size_t best = low;
        double least = least_[low] + cost(low, j);
        for (size_t i = low + 1; i <= std::min(high, j - 1); ++i) {
            const double with = least_[i] + cost(i, j);
            if (with < least) {
                least = with;
                best = i;
            }
        }
        next_[j] = least;
        return best;
    }

    void layer(size_t first, size_t last, size_t low, size_t high, std::vector<uint32_t>& best) {
        if (first > last) return;
        const size_t j = first + (last - first) / 2, i = argmin(j, low, high);
        best[j] = uint32_t(i);
        layer(first, j - 1, low, i, best);
        layer(j + 1, last, i, high, best);
    }

    size_t n_, n_clusters_;
    const Poll& poll_;
    size_t steps_ = 0;  // since the last poll
    double scale_, mean_;
    std::vector<double> weight_, sum_, squares_, least_, next_;
};

}  // namespace

void cut_k_means(const Distribution& values, size_t n_clusters, std::vector<double>& points,
                 const Poll& poll) {
    if (n_clusters < 2) return;
    Partition1D partition(values, n_clusters, poll);
    std::vector<size_t> begins = partition.solve();
    begins.insert(begins.begin(), 0);
    begins.push_back(values.size());
    for (size_t k = 1; k + 1 < begins.size(); ++k) {
        const double below = values.values()[begins[k] - 1], above = values.values()[begins[k]];
        const double middle =
            between(partition.center(begins[k - 1], begins[k]), partition.center(begins[k], begins[k + 1]));
        points.push_back(middle > below && middle <= above ? middle : between(below, above));
    }
}

}  // namespace labelsieve
