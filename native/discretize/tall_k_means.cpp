#include "discretize/tall_k_means.hpp"

#include <bit>

#include "discretize/column_range.hpp"
#include "discretize/monotone.hpp"

namespace labelsieve {

namespace {

using Place = TallKMeans::Place;

constexpr size_t fewest_rows = size_t(1) << 14;  // below, sorting is as fast
constexpr size_t most_clusters = 16;
constexpr size_t few_clusters = 6;
constexpr unsigned bits_for_few = 12, bits_for_many = 14;  // of the number of the first buckets
constexpr size_t few_rows = size_t(1) << 12;               // few enough to sort
constexpr double narrowest = 0x1p16;  // units between means: with fewer, rounding decides
constexpr int most_rounds = 100;
constexpr uint32_t nowhere = ~uint32_t(0);

// Clusters between places: the gain of a partition is the sum of (sum of numbers)^2 / rows, relative to the
// mean of all, and the most gain is the least sum of squares.
class Gains {
  public:
    Gains(const std::vector<Place>& places, uint64_t n_rows, uint64_t total)
        : places_(places), n_rows_(double(n_rows)), center_(total / n_rows) {
        const auto centered = [&](uint64_t sum, uint64_t rows) {
            return double(int64_t(sum) - int64_t(rows) * int64_t(center_));
        };
        total_ = centered(total, n_rows);
        for (const Place& place : places) {
            before_.push_back({double(place.rows_before), centered(place.sum_before, place.rows_before)});
            up_to_.push_back({double(place.rows_up_to), centered(place.sum_up_to, place.rows_up_to)});
            // A chord is above the square.
            const double rows = double(place.rows_up_to - place.rows_before), width = double(place.width);
            const double least = double(int64_t(place.first) - int64_t(center_));
            bonus_.push_back(rows * least * least +
                             (2 * least + width) * (up_to_.back().sum - before_.back().sum - rows * least));
        }
    }

    size_t size() const { return places_.size(); }
    double bonus(size_t j) const { return bonus_[j]; }
    double first(size_t j) const { return gain(before_[j].rows, before_[j].sum); }
    double last(size_t i) const { return gain(n_rows_ - up_to_[i].rows, total_ - up_to_[i].sum); }
    double between(size_t i, size_t j) const {
        return gain(before_[j].rows - up_to_[i].rows, before_[j].sum - up_to_[i].sum);
    }

  private:
    struct Prefix {
        double rows, sum;
    };
    static double gain(double rows, double sum) { return rows > 0 ? sum * sum / rows : 0; }

    const std::vector<Place>& places_;
    double n_rows_, total_ = 0;
    uint64_t center_;
    std::vector<Prefix> before_, up_to_;
    std::vector<double> bonus_;
};

using Layer = std::vector<double>;

// The most gain of the clusters below (or above) a boundary in each place, from that of the next boundary on
// this side, and the place of the next one.
template <bool below>
Layer next_layer(const Gains& gains, const Layer& next, std::vector<uint32_t>* partners = nullptr) {
    const auto m = ptrdiff_t(gains.size());
    Layer layer(gains.size());
    if (partners) partners->resize(gains.size());
    each_monotone(0, m - 1, 0, m - 1, [&](ptrdiff_t j, ptrdiff_t low, ptrdiff_t high) {
        ptrdiff_t best = below ? low : high;
        double most = -std::numeric_limits<double>::infinity();
        const ptrdiff_t first = below ? low : std::max(low, j), last = below ? std::min(high, j) : high;
        for (ptrdiff_t i = first; i <= last; ++i) {
            const size_t lower = size_t(below ? i : j), upper = size_t(below ? j : i);
            const double with = next[size_t(i)] + gains.between(lower, upper);
            if (with > most) {
                most = with;
                best = i;
            }
        }
        layer[size_t(j)] = most + gains.bonus(size_t(j));
        if (partners) (*partners)[size_t(j)] = uint32_t(best);
        return best;
    });
    return layer;
}

// For boundary number q = 0, 1, ... in place j: the most gain of the clusters below it.
std::vector<Layer> gains_below(const Gains& gains, size_t n_boundaries,
                               std::vector<std::vector<uint32_t>>& partners) {
    std::vector<Layer> layers(n_boundaries, Layer(gains.size()));
    partners.resize(n_boundaries, std::vector<uint32_t>(gains.size()));
    for (size_t j = 0; j < gains.size(); ++j) layers[0][j] = gains.first(j) + gains.bonus(j);
    for (size_t q = 1; q < n_boundaries; ++q)
        layers[q] = next_layer<true>(gains, layers[q - 1], &partners[q]);
    return layers;
}

// The same of the clusters above it.
std::vector<Layer> gains_above(const Gains& gains, size_t n_boundaries) {
    std::vector<Layer> layers(n_boundaries, Layer(gains.size()));
    for (size_t i = 0; i < gains.size(); ++i) layers[n_boundaries - 1][i] = gains.last(i) + gains.bonus(i);
    for (size_t q = n_boundaries - 1; q-- > 0;) layers[q] = next_layer<false>(gains, layers[q + 1]);
    return layers;
}

// Which places may hold a boundary of the best partition.
std::vector<uint8_t> possible_places(const std::vector<Place>& places, uint64_t n_rows, uint64_t total,
                                     size_t n_boundaries) {
    const Gains gains(places, n_rows, total);
    std::vector<std::vector<uint32_t>> partners;
    const std::vector<Layer> below = gains_below(gains, n_boundaries, partners);
    const std::vector<Layer> above = gains_above(gains, n_boundaries);
    // A partition that ends its clusters before the places of the largest bound.
    size_t at = 0;
    double bound = -std::numeric_limits<double>::infinity();
    for (size_t j = 0; j < gains.size(); ++j) {
        const double with = below.back()[j] + gains.last(j);
        if (with > bound) {
            bound = with;
            at = j;
        }
    }
    std::vector<Place> ends;
    for (size_t q = n_boundaries; q-- > 0; at = partners[q][at]) {
        Place end = places[at];
        end.rows_up_to = end.rows_before;
        end.sum_up_to = end.sum_before;
        ends.insert(ends.begin(), end);
    }
    const Gains attained(ends, n_rows, total);
    double gain = attained.first(0) + attained.last(n_boundaries - 1);
    for (size_t q = 1; q < n_boundaries; ++q) gain += attained.between(q - 1, q);

    const double enough = gain - 1e-12 * std::abs(gain);
    std::vector<uint8_t> possible(gains.size());
    for (size_t q = 0; q < n_boundaries; ++q)
        for (size_t j = 0; j < gains.size(); ++j)
            possible[j] |= below[q][j] + above[q][j] - gains.bonus(j) >= enough;
    return possible;
}

}  // namespace

bool TallKMeans::cut(const Column& column, size_t n_clusters, std::vector<double>& points) {
    if (column.has_unlisted() || column.values.size() < fewest_rows || n_clusters < 2 ||
        n_clusters > most_clusters ||
        !read(column.values, n_clusters <= few_clusters ? bits_for_few : bits_for_many) ||
        !has_more_values(column.values, n_clusters))
        return false;
    count();
    for (;;) {
        const std::vector<uint8_t> possible = possible_places(places_, n_rows_, total_, n_clusters - 1);
        size_t n_left = 0;
        for (size_t j = 0; j < places_.size(); ++j)
            if (possible[j]) n_left += places_[j].rows_up_to - places_[j].rows_before;
        const size_t n_now = numbers_.size();
        if (n_left > n_rows_ / 2) return false;
        divide(possible);
        if (n_left <= few_rows || 2 * n_left > n_now || shift_ == 0) break;
    }
    return solve(n_clusters, points);
}

// The column as numbers of so many bits that their sum has no more than 62.
bool TallKMeans::read(std::span<const double> values, unsigned bucket_bits) {
    const Range range = range_of(values);
    const unsigned bits = 62 - unsigned(std::bit_width(values.size()));
    per_unit_ = (range.largest - range.least) / std::ldexp(1.0, int(bits));
    const double units = 1 / per_unit_;
    if (!(range.largest > range.least) || !std::isfinite(range.largest - range.least) ||
        !std::isnormal(per_unit_) || !std::isnormal(units))
        return false;
    least_ = range.least;
    shift_ = bits - bucket_bits;
    n_buckets_ = size_t(1) << bucket_bits;
    numbers_.resize(values.size());
    size_t n = 0;
    for (const double value : values) {
        const bool known = value == value;
        numbers_[n] = uint64_t(int64_t(known ? (value - range.least) * units + 0.5 : 0.0));
        n += known;
    }
    numbers_.resize(n);
    n_rows_ = n;
    return true;
}

// The first places: buckets of equal width.
void TallKMeans::count() {
    counts_.assign(n_buckets_, 0);
    sums_.assign(n_buckets_, 0);
    for (const uint64_t number : numbers_) {
        const size_t bucket = std::min<size_t>(number >> shift_, n_buckets_ - 1);
        ++counts_[bucket];
        sums_[bucket] += number;
    }
    total_ = 0;
    for (const uint64_t sum : sums_) total_ += sum;
    places_.clear();
    place_of_bucket_.resize(n_buckets_);
    add_places({.first = 0, .width = 0, .rows_before = 0, .rows_up_to = 0, .sum_before = 0, .sum_up_to = 0},
               0, n_buckets_);
    of_place_.resize(numbers_.size());
    for (size_t i = 0; i < numbers_.size(); ++i)
        of_place_[i] = place_of_bucket_[std::min<size_t>(numbers_[i] >> shift_, n_buckets_ - 1)];
}

// The places that are not empty among the buckets that divide a place.
void TallKMeans::add_places(const Place& whole, size_t first_bucket, size_t n) {
    uint64_t rows = whole.rows_before, sum = whole.sum_before;
    for (size_t b = 0; b < n; ++b) {
        const size_t bucket = first_bucket + b;
        if (counts_[bucket] == 0) continue;
        place_of_bucket_[bucket] = uint32_t(places_.size());
        places_.push_back({.first = whole.first + (uint64_t(b) << shift_),
                           .width = (uint64_t(1) << shift_) + 1,  // the last of all holds one more
                           .rows_before = rows,
                           .rows_up_to = rows + counts_[bucket],
                           .sum_before = sum,
                           .sum_up_to = sum + sums_[bucket]});
        rows += counts_[bucket];
        sum += sums_[bucket];
    }
}

// Keeps the possible places only, and divides each into as many.
void TallKMeans::divide(const std::vector<uint8_t>& possible) {
    std::vector<uint32_t> number_of(places_.size(), nowhere);
    std::vector<Place> kept;
    for (size_t j = 0; j < places_.size(); ++j)
        if (possible[j]) {
            number_of[j] = uint32_t(kept.size());
            kept.push_back(places_[j]);
        }
    unsigned bits = 1;
    while (bits < shift_ && (kept.size() << (bits + 1)) <= 2 * n_buckets_) ++bits;
    bits = std::min(bits, shift_);
    shift_ -= bits;
    const size_t in_each = size_t(1) << bits;
    counts_.assign(kept.size() * in_each, 0);
    sums_.assign(counts_.size(), 0);
    size_t n = 0;
    for (size_t i = 0; i < numbers_.size(); ++i) {
        const uint32_t place = number_of[of_place_[i]];
        if (place == nowhere) continue;
        const uint64_t number = numbers_[i];
        const size_t bucket =
            place * in_each + std::min<size_t>((number - kept[place].first) >> shift_, in_each - 1);
        ++counts_[bucket];
        sums_[bucket] += number;
        numbers_[n] = number;
        of_place_[n++] = uint32_t(bucket);
    }
    numbers_.resize(n);
    of_place_.resize(n);
    places_.clear();
    place_of_bucket_.resize(counts_.size());
    for (size_t j = 0; j < kept.size(); ++j) add_places(kept[j], j * in_each, in_each);
    for (uint32_t& place : of_place_) place = place_of_bucket_[place];
}

// Boundaries between the numbers that are left. The first and the last of a stretch of places are not known
// from both sides.
bool TallKMeans::solve(size_t n_clusters, std::vector<double>& points) {
    std::sort(numbers_.begin(), numbers_.end());
    std::vector<Place> ends;
    std::vector<uint64_t> below, above;  // the numbers next to each; `unknown` at the ends of a stretch
    constexpr uint64_t unknown = ~uint64_t(0);
    const auto add = [&](uint64_t rows, uint64_t sum, uint64_t under, uint64_t over) {
        if (!ends.empty() && ends.back().rows_before == rows) {
            above.back() = over;
            return;
        }
        ends.push_back({.first = 0,
                        .width = 0,
                        .rows_before = rows,
                        .rows_up_to = rows,
                        .sum_before = sum,
                        .sum_up_to = sum});
        below.push_back(under);
        above.push_back(over);
    };
    size_t i = 0;
    for (const Place& place : places_) {
        uint64_t rows = place.rows_before, sum = place.sum_before;
        while (rows < place.rows_up_to) {
            const uint64_t number = numbers_[i];
            add(rows, sum, unknown, number);
            for (; rows < place.rows_up_to && numbers_[i] == number; ++i, ++rows) sum += number;
            add(rows, sum, number, unknown);
        }
    }
    const size_t n_boundaries = n_clusters - 1;
    std::vector<size_t> chosen(n_boundaries);
    {
        const Gains gains(ends, n_rows_, total_);
        std::vector<std::vector<uint32_t>> partners;
        const std::vector<Layer> layers = gains_below(gains, n_boundaries, partners);
        size_t at = 0;
        for (size_t j = 1; j < ends.size(); ++j)
            if (layers.back()[j] + gains.last(j) > layers.back()[at] + gains.last(at)) at = j;
        for (size_t q = n_boundaries; q-- > 0; at = partners[q][at]) chosen[q] = at;
    }
    // Half-way between the means: rounding may have chosen a neighbor of the best boundary.
    std::vector<double> cuts(n_boundaries);
    for (int round = 0; round < most_rounds; ++round) {
        double last = 0;
        for (size_t q = 0; q <= n_boundaries; ++q) {
            const uint64_t rows_before = q == 0 ? 0 : ends[chosen[q - 1]].rows_before;
            const uint64_t sum_before = q == 0 ? 0 : ends[chosen[q - 1]].sum_before;
            const uint64_t rows = (q == n_boundaries ? n_rows_ : ends[chosen[q]].rows_before) - rows_before;
            const uint64_t sum = (q == n_boundaries ? total_ : ends[chosen[q]].sum_before) - sum_before;
            if (rows == 0 || rows > n_rows_) return false;
            const double mean = double(sum) / double(rows);
            if (q > 0) {
                if (mean - last < narrowest) return false;
                cuts[q - 1] = (last + mean) / 2;
            }
            last = mean;
        }
        bool settled = true;
        for (size_t q = 0; q < n_boundaries; ++q) {
            const size_t at = chosen[q];
            if (below[at] == unknown || above[at] == unknown) return false;
            if (double(below[at]) < cuts[q] && cuts[q] <= double(above[at])) continue;
            settled = false;
            size_t low = at, high = at;
            while (low > 0 && below[low] != unknown && double(below[low]) >= cuts[q]) --low;
            while (high + 1 < ends.size() && above[high] != unknown && double(above[high]) < cuts[q]) ++high;
            chosen[q] = low < at ? low : high;
        }
        if (settled) {
            for (const double cut : cuts) points.push_back(least_ + cut * per_unit_);
            return true;
        }
    }
    return false;
}

}  // namespace labelsieve
