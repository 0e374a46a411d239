// The best partition of sorted values into k clusters: the k-means problem in one dimension, solved exactly.
//
// Clusters of an optimum are stretches of the sorted values, so D_q(j), the least cost of the first j values
// in q clusters, is the minimum over i of D_{q-1}(i) + cost(i, j). The best i does not fall as j rises, so
// the minima of a layer are found by halving: n log n steps for each cluster but the first and the last.
//
// Of many values, most cannot begin a cluster of an optimum, and bounds show that before the program is
// solved for the others. See `Partition1D::prune`.
#include <algorithm>
#include <cmath>

#include "discretize/rules.hpp"

namespace labelsieve {

namespace {

constexpr size_t steps_between_polls = size_t(1) << 22;  // about a hundredth of a second
constexpr size_t ranges_per_cluster = 512;               // of places, which share a bound
constexpr size_t most_ranges = 8192;
constexpr size_t few_places = 4;  // for each range, for which bounds do not pay

// Sums over the first values: entry p is about those before place p. The cost of a stretch follows from the
// sums at its ends.
struct RunningSums {
    Scratch<double> weight, sum, squares;

    size_t size() const { return weight.size(); }
    void add(double w, double s, double q) {
        weight.push_back(w);
        sum.push_back(s);
        squares.push_back(q);
    }
    void reserve(size_t n) {
        weight.reserve(n);
        sum.reserve(n);
        squares.reserve(n);
    }
    void add_from(const RunningSums& other, size_t p) {
        add(other.weight[p], other.sum[p], other.squares[p]);
    }
    // The same sums over the last values: the order of the places is reversed.
    RunningSums reversed(double all_weight, double all_sum, double all_squares) const {
        RunningSums out;
        for (size_t p = size(); p-- > 0;)
            out.add(all_weight - weight[p], all_sum - sum[p], all_squares - squares[p]);
        return out;
    }
};

// The sum of squares around the mean of the values from place i of `from` to place j of `to`.
double cost(const RunningSums& from, size_t i, const RunningSums& to, size_t j) {
    const double sum = to.sum[j] - from.sum[i];
    return std::max(0.0, to.squares[j] - from.squares[i] - sum * sum / (to.weight[j] - from.weight[i]));
}

// One layer after the other of the dynamic program, for clusters from a place of `from` to a place of `to`.
class Layers {
  public:
    Layers(const RunningSums& from, const RunningSums& to, const Poll& poll)
        : from_(from), to_(to), poll_(poll), next_(to.size()) {}

    // least[j] becomes the minimum over low <= i < j of least[i] + cost(i, j), for j > low. Returns the first
    // i that gives it.
    std::vector<uint32_t> advance(std::vector<double>& least, size_t low) {
        std::vector<uint32_t> best(least.size(), 0);
        halve(least, low + 1, least.size() - 1, low, least.size() - 2, best);
        least.swap(next_);
        return best;
    }

    size_t argmin(const std::vector<double>& least, size_t j, size_t low, size_t high) {
        steps_ += high - low + 1;
        if (steps_ >= steps_between_polls) {
            poll_();
            steps_ = 0;
        }
        size_t best = low;
        double lowest = least[low] + cost(from_, low, to_, j);
        for (size_t i = low + 1; i <= std::min(high, j - 1); ++i) {
            const double with = least[i] + cost(from_, i, to_, j);
            if (with < lowest) {
                lowest = with;
                best = i;
            }
        }
        next_[j] = lowest;
        return best;
    }

  private:
    void halve(const std::vector<double>& least, size_t first, size_t last, size_t low, size_t high,
               std::vector<uint32_t>& best) {
        if (first > last) return;
        const size_t j = first + (last - first) / 2, i = argmin(least, j, low, high);
        best[j] = uint32_t(i);
        halve(least, first, j - 1, low, i, best);
        halve(least, j + 1, last, i, high, best);
    }

    const RunningSums &from_, &to_;
    const Poll& poll_;
    size_t steps_ = 0;  // since the last poll
    std::vector<double> next_;
};

struct Best {
    std::vector<size_t> begins;  // the numbers of the places where clusters after the first begin
    double cost;
};

// The best partition into clusters that begin at given places. The first place is before all values, and the
// last, at which no cluster begins, after them.
Best best_partition(const RunningSums& places, size_t n_clusters, const Poll& poll) {
    const size_t n = places.size() - 1;
    std::vector<double> least(n + 1, 0.0);
    for (size_t j = 1; j <= n; ++j) least[j] = cost(places, 0, places, j);
    Layers layers(places, places, poll);
    std::vector<std::vector<uint32_t>> best(n_clusters + 1);
    for (size_t q = 2; q < n_clusters; ++q) best[q] = layers.advance(least, q - 1);
    Best found{.begins = {}, .cost = 0};
    size_t end = layers.argmin(least, n, n_clusters - 1, n - 1);
    found.cost = least[end] + cost(places, end, places, n);
    found.begins.push_back(end);
    for (size_t q = n_clusters - 1; q >= 2; --q) found.begins.push_back(end = best[q][end]);
    std::reverse(found.begins.begin(), found.begins.end());
    return found;
}

// bounds[q][b]: what the first q + 1 clusters cost at least, if the next begins in range b of places. They
// are only charged for the values between the last place of one range and the first place of the next.
std::vector<std::vector<double>> bounds_below(const RunningSums& firsts, const RunningSums& lasts,
                                              size_t n_boundaries, const Poll& poll) {
    const RunningSums zero{{0}, {0}, {0}};
    std::vector<std::vector<double>> bounds(n_boundaries, std::vector<double>(firsts.size()));
    for (size_t b = 0; b < firsts.size(); ++b) bounds[0][b] = cost(zero, 0, firsts, b);
    Layers layers(lasts, firsts, poll);
    for (size_t q = 1; q < n_boundaries; ++q) {
        bounds[q] = bounds[q - 1];
        layers.advance(bounds[q], 0);
        bounds[q][0] = bounds[q - 1][0];
        for (size_t b = 0; b < firsts.size(); ++b)  // both clusters begin in the same range
            bounds[q][b] = std::min(bounds[q][b], bounds[q - 1][b]);
    }
    return bounds;
}

class Partition1D {
  public:
    Partition1D(const Distribution& values, size_t n_clusters, const Poll& poll)
        : n_(values.size()), n_clusters_(n_clusters), poll_(poll) {
        const double widest = std::max(std::abs(values.values().front()), std::abs(values.values().back()));
        scale_ = std::ldexp(1.0, std::ilogb(std::max(widest, 0x1p-1000)));
        for (size_t k = 0; k < n_; ++k)
            mean_ += double(values.weights()[k]) / double(values.total()) * (values.values()[k] / scale_);
        sums_.reserve(n_ + 1);
        sums_.add(0, 0, 0);
        for (size_t k = 0; k < n_; ++k) {
            const double w = double(values.weights()[k]), z = values.values()[k] / scale_ - mean_;
            sums_.add(sums_.weight[k] + w, sums_.sum[k] + w * z, sums_.squares[k] + w * (z * z));
        }
    }

    // Where the clusters after the first begin.
    std::vector<size_t> solve() {
        std::vector<Range> ranges{{1, n_}};
        prune(ranges);
        if (ranges.size() == 1) return best_partition(sums_, n_clusters_, poll_).begins;
        RunningSums left;
        std::vector<size_t> places{0};
        left.add_from(sums_, 0);
        for (const Range& range : ranges)
            for (size_t p = range.first; p < range.last; ++p) {
                places.push_back(p);
                left.add_from(sums_, p);
            }
        left.add_from(sums_, n_);
        std::vector<size_t> begins = best_partition(left, n_clusters_, poll_).begins;
        for (size_t& begin : begins) begin = places[begin];
        return begins;
    }

    double center(size_t i, size_t j) const {
        return scale_ * (mean_ + (sums_.sum[j] - sums_.sum[i]) / (sums_.weight[j] - sums_.weight[i]));
    }

  private:
    // Places from `first` to `last` - 1.
    struct Range {
        size_t first, last;
    };
    static size_t n_places(const std::vector<Range>& ranges) {
        size_t n = 0;
        for (const Range& range : ranges) n += range.last - range.first;
        return n;
    }

    // Keeps the ranges of places that may begin a cluster of an optimum, until few places are left.
    //
    // Clusters that begin somewhere in given ranges cost at least as much as the values between these ranges.
    // So dynamic programming over ranges gives a lower bound for all partitions with a cluster that begins in
    // a range, and no optimum has one if the bound exceeds the cost of a partition that is known.
    void prune(std::vector<Range>& ranges) const {
        const size_t n_ranges = std::min(most_ranges, ranges_per_cluster * n_clusters_);
        for (size_t n = n_places(ranges), before = 2 * n; n > few_places * n_ranges && 2 * n <= before;) {
            before = n;
            divide(ranges, n_ranges);
            keep_possible(ranges);
            n = n_places(ranges);
        }
    }

    // The share of the values before a place in the weight and in the squares of all. The bounds of a range
    // are loose if it has a large share of either.
    double share(size_t p) const {
        return sums_.weight[p] / sums_.weight[n_] + sums_.squares[p] / sums_.squares[n_];
    }

    // About `n` ranges of the same share, of the same places.
    void divide(std::vector<Range>& ranges, size_t n) const {
        double all = 0;
        for (const Range& range : ranges) all += share(range.last) - share(range.first);
        const double most = all / double(n);
        std::vector<Range> parts;
        for (const Range& range : ranges)
            for (size_t first = range.first, last = first; first < range.last; first = last) {
                size_t high = range.last;  // the last place up to which the share is no larger
                for (last = first + 1; last < high;) {
                    const size_t middle = last + (high - last + 1) / 2;
                    if (share(middle) - share(first) <= most) {
                        last = middle;
                    } else {
                        high = middle - 1;
                    }
                }
                parts.push_back({first, last});
            }
        ranges.swap(parts);
    }

    void keep_possible(std::vector<Range>& ranges) const {
        const size_t n = ranges.size();
        RunningSums begins, firsts, lasts;  // of the ranges
        begins.add_from(sums_, 0);
        for (const Range& range : ranges) {
            begins.add_from(sums_, range.first);
            firsts.add_from(sums_, range.first);
            lasts.add_from(sums_, range.last - 1);
        }
        begins.add_from(sums_, n_);
        const double squares = sums_.squares[n_];
        const double most = best_partition(begins, n_clusters_, poll_).cost + 1e-9 * squares;  // for rounding
        const auto mirrored = [&](const RunningSums& places) {
            return places.reversed(sums_.weight[n_], sums_.sum[n_], squares);
        };
        const size_t n_boundaries = n_clusters_ - 1;
        const auto below = bounds_below(firsts, lasts, n_boundaries, poll_);
        const auto above = bounds_below(mirrored(lasts), mirrored(firsts), n_boundaries, poll_);
        size_t n_kept = 0;
        for (size_t b = 0; b < n; ++b) {
            bool possible = false;
            for (size_t q = 0; q < n_boundaries; ++q)
                possible |= below[q][b] + above[n_boundaries - 1 - q][n - 1 - b] <= most;
            if (possible) ranges[n_kept++] = ranges[b];
        }
        ranges.resize(n_kept);
    }

    size_t n_, n_clusters_;
    const Poll& poll_;
    double scale_, mean_ = 0;
    RunningSums sums_;
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
