#include "medoids/medoids.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace labelsieve {

uint64_t SmallRandom::operator()() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

MedoidPointList sampled_points(const Labelsets& labelsets, size_t max_labelsets, SmallRandom& random) {
    MedoidPointList points;
    std::vector<double> ends;  // running sums of the weights
    bool whole = true;
    double total = 0;
    for (size_t i = 0; i < labelsets.size; ++i) {
        const double weight = labelsets.weights[i];
        if (weight <= 0) continue;
        whole = whole && weight == std::floor(weight);
        total += weight;
        points.labelsets.push_back(uint32_t(i));
        points.weights.push_back(weight);
        ends.push_back(total);
    }
    if (points.labelsets.size() <= max_labelsets) return points;
    std::vector<double> drawn;  // positions in the running sums
    if (whole && total < 0x1p53) {
        // Floyd's sample without replacement: each of the last `max_labelsets` positions, or instead of it a
        // random one up to it that is not taken yet.
        constexpr uint64_t empty = ~uint64_t(0);
        const auto rows = uint64_t(total);
        std::vector<uint64_t> taken(std::bit_ceil(2 * max_labelsets), empty);
        const auto take = [&](uint64_t position) {
            size_t slot = position * 0x9e3779b97f4a7c15u >> 32 & (taken.size() - 1);
            while (taken[slot] != empty && taken[slot] != position) slot = (slot + 1) & (taken.size() - 1);
            if (taken[slot] == position) return false;
            taken[slot] = position;
            return true;
        };
        for (uint64_t last = rows - max_labelsets; last < rows; ++last)
            if (!take(random.below(last + 1))) take(last);
        for (const uint64_t position : taken)
            if (position != empty) drawn.push_back(double(position));
    } else {
        for (size_t i = 0; i < max_labelsets; ++i) drawn.push_back(random.uniform() * total);
    }
    std::vector<double> times(ends.size(), 0.0);
    for (const double position : drawn) {
        const auto at = size_t(std::upper_bound(ends.begin(), ends.end(), position) - ends.begin());
        times[std::min(at, ends.size() - 1)] += 1;
    }
    MedoidPointList sample;
    for (size_t i = 0; i < times.size(); ++i) {
        if (times[i] == 0) continue;
        sample.labelsets.push_back(points.labelsets[i]);
        sample.weights.push_back(times[i]);
    }
    return sample;
}

void distances_from(const Labelsets& labelsets, size_t from, const Labelsets& to, double bit_distance,
                    MedoidSpace& space, double* out) {
    std::fill_n(out, to.size, 0.0);
    if (to.n_words > 0) {
        const BitLanes lanes = to.bit_lanes();
        space.wide_distances.reserve(lanes.n_blocks * 8);
        kernels().hamming_wide(lanes, labelsets.row(from), 1, space.wide_distances.data(), 0);
        for (size_t i = 0; i < to.size; ++i) out[i] = space.wide_distances[i] * bit_distance;
    }
    if (to.n_numbers == 0) return;
    std::vector<double> point(to.n_numbers);
    for (size_t c = 0; c < to.n_numbers; ++c) point[c] = labelsets.numbers[c * labelsets.size + from];
    kernels().add_squares(to.numbers.data(), to.size, point.data(), to.n_numbers, to.size, out);
    for (size_t i = 0; i < to.size; ++i) out[i] = std::sqrt(out[i]);
}

void assign_to_medoids(const Labelsets& labelsets, std::span<const uint32_t> medoids, double bit_distance,
                       MedoidSpace& space, std::vector<uint32_t>& clusters) {
    clusters.assign(labelsets.size, 0);
    space.distances.reserve(2 * labelsets.size);
    double *nearest = space.distances.data(), *distances = nearest + labelsets.size;
    std::fill_n(nearest, labelsets.size, std::numeric_limits<double>::infinity());
    for (size_t j = 0; j < medoids.size(); ++j) {
        distances_from(labelsets, medoids[j], labelsets, bit_distance, space, distances);
        for (size_t i = 0; i < labelsets.size; ++i) {
            const bool nearer = distances[i] < nearest[i];
            nearest[i] = nearer ? distances[i] : nearest[i];
            clusters[i] = nearer ? uint32_t(j) : clusters[i];
        }
    }
}

namespace {

struct Worker {
    DistinctTargets::Restriction restriction;
    MedoidSpace space;
    std::vector<uint32_t> medoids, clusters;

    void cluster(const TargetGroup& group, const MedoidSettings& settings) {
        restriction.to(group);
        const Labelsets& labelsets = restriction.labelsets();
        SmallRandom random(settings.seed);
        const MedoidPointList points = sampled_points(labelsets, settings.max_labelsets, random);
        medoids.clear();
        bool short_distances = false;
        if (points.labelsets.size() <= settings.n_clusters) {
            medoids = points.labelsets;
        } else {
            short_distances = bit_medoids(labelsets, points, settings.n_clusters, random, space, medoids);
            if (!short_distances) dense_medoids(labelsets, points, settings, space, medoids);
        }
        std::sort(medoids.begin(), medoids.end());
        if (short_distances) {
            assign_to_bit_medoids(labelsets, medoids, space, clusters);
        } else {
            assign_to_medoids(labelsets, medoids, settings.bit_distance, space, clusters);
        }
    }
};

}  // namespace

void cluster_groups(const TargetRows& targets, std::span<const TargetGroup> groups,
                    std::span<const MedoidSettings> settings, Pool& pool, code_t* out) {
    const DistinctTargets distinct(targets);
    std::vector<std::unique_ptr<Worker>> workers(pool.size());
    const double cost = double(groups.size()) * double(distinct.size()) * 1000;
    pool.run(groups.size(), cost, [&](size_t group, unsigned number) {
        if (!workers[number])
            workers[number] =
                std::make_unique<Worker>(Worker{.restriction = DistinctTargets::Restriction(distinct),
                                                .space = {},
                                                .medoids = {},
                                                .clusters = {}});
        Worker& worker = *workers[number];
        worker.cluster(groups[group], settings[group]);
        const auto to_group = worker.restriction.number();
        std::vector<code_t> cluster_of(distinct.size());
        for (size_t i = 0; i < distinct.size(); ++i) cluster_of[i] = code_t(worker.clusters[to_group[i]]);
        code_t* column = out + group * targets.n_rows;
        const auto of_rows = distinct.of_rows();
        for (size_t row = 0; row < targets.n_rows; ++row) column[row] = cluster_of[of_rows[row]];
    });
}

}  // namespace labelsieve
