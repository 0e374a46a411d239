// The search of medoids among rows of bits, in 16-bit distances.
//
// Among many labelsets two rounds try a few hundred each as medoids: first those with the smallest summed
// distance to all rows, which one addition for each label gives, and some random ones, which reach clusters
// far from the center; then those with the smallest summed distance within each cluster. After each round,
// the clusters move their medoids to the best of all their labelsets as long as that lowers the deviation of
// all rows.
#include <bit>
#include <cmath>

#include "medoids/medoids.hpp"

namespace labelsieve {

namespace {

constexpr size_t most_candidates = 1280;                          // of no more points all are candidates
constexpr size_t n_central = 192, n_random = 64, n_within = 160;  // see the benchmark of label spaces

// Half of what no distance exceeds.
size_t largest_row(const Labelsets& labelsets) {
    size_t largest = 0;
    for (size_t i = 0; i < labelsets.size; ++i) largest = std::max(largest, labelsets.bits_of(i).size());
    return largest;
}

// Summed distances of each labelset to the rows of its cluster, up to a constant of the cluster.
std::vector<double> distances_within(const Labelsets& labelsets, std::span<const uint32_t> clusters,
                                     size_t n_clusters) {
    const size_t n_bits = labelsets.n_words * 64;
    std::vector<double> with_bit(n_clusters * n_bits, 0.0), rows(n_clusters, 0.0), sums(labelsets.size, 0.0);
    for (size_t i = 0; i < labelsets.size; ++i) {
        double* counts = with_bit.data() + clusters[i] * n_bits;
        const double weight = labelsets.weights[i];
        rows[clusters[i]] += weight;
        for (const uint32_t bit : labelsets.bits_of(i)) counts[bit] += weight;
    }
    for (size_t i = 0; i < labelsets.size; ++i) {
        const double* counts = with_bit.data() + clusters[i] * n_bits;
        double sum = 0;
        for (const uint32_t bit : labelsets.bits_of(i)) sum += counts[bit];
        sums[i] = rows[clusters[i]] * double(labelsets.bits_of(i).size()) - 2 * sum;
    }
    return sums;
}

// Up to `n` labelsets with the smallest sums in each cluster join the others.
void add_central(const Labelsets& labelsets, std::span<const uint32_t> clusters, size_t n_clusters, size_t n,
                 std::vector<uint32_t>& candidates) {
    const auto sums = distances_within(labelsets, clusters, n_clusters);
    std::vector<std::vector<uint32_t>> members(n_clusters);
    for (size_t i = 0; i < labelsets.size; ++i)
        if (labelsets.weights[i] > 0) members[clusters[i]].push_back(uint32_t(i));
    for (auto& of_cluster : members) {
        const size_t some = std::min(n, of_cluster.size());
        std::nth_element(
            of_cluster.begin(), of_cluster.begin() + ptrdiff_t(some), of_cluster.end(),
            [&](uint32_t a, uint32_t b) { return sums[a] != sums[b] ? sums[a] < sums[b] : a < b; });
        candidates.insert(candidates.end(), of_cluster.begin(), of_cluster.begin() + ptrdiff_t(some));
    }
}

std::vector<uint32_t> sorted_once(std::vector<uint32_t> values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

void take_rows(const Labelsets& from, std::span<const uint32_t> which, Labelsets& to) {
    to.size = which.size();
    to.n_words = from.n_words;
    to.rows.clear();
    for (const uint32_t i : which) to.rows.insert(to.rows.end(), from.row(i), from.row(i) + from.n_words);
}

class Search {
  public:
    Search(const Labelsets& labelsets, const MedoidPointList& points, std::vector<uint32_t> candidates,
           double weight_unit, MedoidSpace& space)
        : candidates_(std::move(candidates)), is_medoid_(candidates_.size(), 0) {
        Labelsets& rows = space.points;
        take_rows(labelsets, points.labelsets, rows);
        rows.arrange_lanes();
        pitch_ = rows.bit_lanes().n_blocks * 8;
        space.short_distances.reserve(checked_product(candidates_.size(), pitch_));
        distances_ = space.short_distances.data();
        const BitLanes lanes = rows.bit_lanes();
        take_rows(labelsets, candidates_, rows);  // the lanes are kept
        kernels().hamming(lanes, rows.rows.data(), candidates_.size(), distances_, pitch_);
        space.short_state.reserve(pitch_ * (3 + most_short_medoids));
        int16_t* weights = space.short_state.data();
        space.present.resize(pitch_ / medoid_block);
        points_ = {.n = pitch_,
                   .weights = weights,
                   .first = weights + pitch_,
                   .second = weights + 2 * pitch_,
                   .of_medoid = weights + 3 * pitch_,
                   .present = space.present.data()};
        std::fill_n(weights, pitch_, int16_t(0));
        for (size_t i = 0; i < points.weights.size(); ++i)
            weights[i] = int16_t(std::max(1.0, std::floor(points.weights[i] / weight_unit + 0.5)));
    }

    // From BUILD, or from medoids among the candidates.
    std::vector<uint32_t> run(size_t n_clusters, std::span<const uint32_t> start = {}) {
        if (start.empty()) build(n_clusters);
        for (const uint32_t medoid : start) {
            const auto at = std::lower_bound(candidates_.begin(), candidates_.end(), medoid);
            medoids_.push_back(uint32_t(at - candidates_.begin()));
            is_medoid_[medoids_.back()] = 1;
        }
        exchange();
        std::vector<uint32_t> found;
        for (const uint32_t candidate : medoids_) found.push_back(candidates_[candidate]);
        return found;
    }

  private:
    const int16_t* distances(size_t candidate) const { return distances_ + candidate * pitch_; }

    void build(size_t n_clusters) {
        std::fill_n(points_.first, pitch_, most_short_distance);
        const auto gain_of = [&](uint32_t c) { return kernels().addition_gain(points_, distances(c)); };
        take_best(candidates_.size(), n_clusters, gain_of, [&](uint32_t candidate) {
            medoids_.push_back(candidate);
            is_medoid_[candidate] = 1;
            const int16_t* nearer = distances(candidate);
            for (size_t i = 0; i < pitch_; ++i) points_.first[i] = std::min(points_.first[i], nearer[i]);
        });
    }

    void exchange() {
        const size_t k = medoids_.size();
        int64_t removal[most_short_medoids], changes[most_short_medoids];
        const auto update = [&] {
            const int16_t* rows[most_short_medoids];
            for (size_t j = 0; j < k; ++j) rows[j] = distances(medoids_[j]);
            kernels().two_nearest(points_, rows, k, removal);
        };
        update();
        const size_t n = candidates_.size();
        for (size_t candidate = 0, since = 0; since < n;
             candidate = candidate + 1 == n ? 0 : candidate + 1, ++since) {
            if (is_medoid_[candidate]) continue;
            kernels().exchange_changes(points_, distances(candidate), k, changes);
            size_t best = 0;
            for (size_t j = 0; j < k; ++j)
                if (changes[j] + removal[j] < changes[best] + removal[best]) best = j;
            if (changes[best] + removal[best] >= 0) continue;
            is_medoid_[medoids_[best]] = 0;
            is_medoid_[candidate] = 1;
            medoids_[best] = uint32_t(candidate);
            update();
            since = 0;
        }
    }

    std::vector<uint32_t> candidates_;
    std::vector<uint8_t> is_medoid_;
    std::vector<uint32_t> medoids_;  // numbers of candidates
    MedoidPoints points_{};
    int16_t* distances_ = nullptr;
    size_t pitch_ = 0;
};

// Voronoi iteration over all labelsets, as long as it gains much.
void refine(const Labelsets& labelsets, MedoidSpace& space, std::vector<uint32_t>& medoids) {
    constexpr double much = 0.01;
    std::vector<uint32_t> clusters, moved;
    double deviation = assign_to_bit_medoids(labelsets, medoids, space, clusters);
    for (;;) {
        const auto sums = distances_within(labelsets, clusters, medoids.size());
        moved = medoids;
        for (size_t i = 0; i < labelsets.size; ++i)
            if (labelsets.weights[i] > 0 && sums[i] < sums[moved[clusters[i]]])
                moved[clusters[i]] = uint32_t(i);
        if (moved == medoids) return;
        const double found = assign_to_bit_medoids(labelsets, moved, space, clusters);
        if (found >= deviation) return;
        medoids = moved;
        if (found > (1 - much) * deviation) return;
        deviation = found;
    }
}

}  // namespace

bool bit_medoids(const Labelsets& labelsets, const MedoidPointList& points, size_t n_clusters,
                 SmallRandom& random, MedoidSpace& space, std::vector<uint32_t>& medoids) {
    if (labelsets.n_numbers > 0 || n_clusters > most_short_medoids) return false;
    if (2 * largest_row(labelsets) > size_t(most_short_distance)) return false;
    double heaviest = 0, total = 0;
    bool whole = true;
    for (const double weight : points.weights) {
        heaviest = std::max(heaviest, weight);
        total += weight;
        whole = whole && weight == std::floor(weight);
    }
    // The unit of 16-bit weights: 1 for whole numbers that fit.
    double unit = std::max(heaviest / 0x7fff, total * double(most_short_distance) / 0x7f000000);
    if (whole) unit = std::max(unit, 1.0);
    if (points.labelsets.size() <= most_candidates) {
        medoids = Search(labelsets, points, points.labelsets, unit, space).run(n_clusters);
        if (points.labelsets.size() < labelsets.size) refine(labelsets, space, medoids);
        return true;
    }
    std::vector<uint32_t> candidates, clusters(labelsets.size, 0);
    add_central(labelsets, clusters, 1, n_central, candidates);
    for (size_t i = 0; i < n_random; ++i)
        candidates.push_back(points.labelsets[random.below(points.labelsets.size())]);
    medoids = Search(labelsets, points, sorted_once(candidates), unit, space).run(n_clusters);
    refine(labelsets, space, medoids);
    assign_to_bit_medoids(labelsets, medoids, space, clusters);
    candidates = medoids;
    add_central(labelsets, clusters, n_clusters, std::max<size_t>(1, n_within / n_clusters), candidates);
    medoids = Search(labelsets, points, sorted_once(candidates), unit, space).run(n_clusters, medoids);
    refine(labelsets, space, medoids);
    return true;
}

// Minima of distance * 16 + medoid.
double assign_to_bit_medoids(const Labelsets& labelsets, std::span<const uint32_t> medoids,
                             MedoidSpace& space, std::vector<uint32_t>& clusters) {
    const BitLanes lanes = labelsets.bit_lanes();
    const size_t padded = lanes.n_blocks * 8;
    take_rows(labelsets, medoids, space.points);
    space.short_distances.reserve(padded * (medoids.size() + 1));
    int16_t *keys = space.short_distances.data(), *distances = keys + padded;
    kernels().hamming(lanes, space.points.rows.data(), medoids.size(), distances, padded);
    std::fill_n(keys, padded, int16_t(0x7fff));
    for (size_t j = 0; j < medoids.size(); ++j, distances += padded)
        for (size_t i = 0; i < padded; ++i)
            keys[i] = std::min(keys[i], int16_t(distances[i] * 16 + int16_t(j)));
    clusters.resize(labelsets.size);
    double sum = 0;
    for (size_t i = 0; i < labelsets.size; ++i) {
        clusters[i] = uint32_t(keys[i] & 15);
        sum += labelsets.weights[i] * (keys[i] >> 4);
    }
    return sum;
}

}  // namespace labelsieve
