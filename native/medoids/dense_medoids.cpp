// The search of medoids from a matrix of distances.
#include <numeric>

#include "medoids/medoids.hpp"

namespace labelsieve {

namespace {

constexpr double least_improvement = 1e-10;  // relative: smaller ones may be rounding

struct Nearest {
    uint32_t first, second;  // positions in the list of medoids
    double to_first, to_second;
};

class Search {
  public:
    Search(const double* distances, std::span<const double> weights)
        : distances_(distances), weights_(weights), n_(weights.size()), is_medoid_(n_, 0), nearest_(n_) {
        // With one medoid the second nearest is farther than all points.
        beyond_ = 1 + *std::max_element(distances, distances + n_ * n_);
    }

    std::vector<uint32_t> run(size_t n_clusters) {
        build(n_clusters);
        for (size_t i = 0; i < n_; ++i) find_nearest(i);
        exchange();
        return medoids_;
    }

  private:
    double distance(size_t medoid, size_t point) const { return distances_[medoid * n_ + point]; }

    void build(size_t n_clusters) {
        std::vector<double> nearest(n_, beyond_);
        const auto gain_of = [&](uint32_t candidate) {
            double gain = 0;
            for (size_t i = 0; i < n_; ++i)
                gain += weights_[i] * std::max(nearest[i] - distance(candidate, i), 0.0);
            return gain;
        };
        take_best(n_, n_clusters, gain_of, [&](uint32_t candidate) {
            medoids_.push_back(candidate);
            is_medoid_[candidate] = 1;
            for (size_t i = 0; i < n_; ++i) nearest[i] = std::min(nearest[i], distance(candidate, i));
        });
    }

    void find_nearest(size_t point) {
        Nearest found{.first = 0, .second = 0, .to_first = beyond_, .to_second = beyond_};
        for (uint32_t j = 0; j < medoids_.size(); ++j) {
            const double to = distance(medoids_[j], point);
            if (to < found.to_first) {
                found.second = found.first;
                found.to_second = found.to_first;
                found.first = j;
                found.to_first = to;
            } else if (to < found.to_second) {
                found.second = j;
                found.to_second = to;
            }
        }
        nearest_[point] = found;
    }

    // After medoid `j` was replaced.
    void update_nearest(uint32_t j) {
        for (size_t i = 0; i < n_; ++i) {
            Nearest& of = nearest_[i];
            const double to = distance(medoids_[j], i);
            if (of.first == j || (of.second == j && medoids_.size() > 1)) {
                find_nearest(i);
            } else if (to < of.to_first) {
                of = {.first = j, .second = of.first, .to_first = to, .to_second = of.to_first};
            } else if (to < of.to_second) {
                of.second = j;
                of.to_second = to;
            }
        }
    }

    void exchange() {
        const size_t k = medoids_.size();
        std::vector<double> removal(k), changes(k);
        double deviation = 0;
        const auto update_sums = [&] {
            std::fill(removal.begin(), removal.end(), 0.0);
            deviation = 0;
            for (size_t i = 0; i < n_; ++i) {
                const Nearest& of = nearest_[i];
                removal[of.first] += weights_[i] * (of.to_second - of.to_first);
                deviation += weights_[i] * of.to_first;
            }
        };
        update_sums();
        for (size_t candidate = 0, since = 0; since < n_;
             candidate = candidate + 1 == n_ ? 0 : candidate + 1, ++since) {
            if (is_medoid_[candidate]) continue;
            changes = removal;
            double gain = 0;
            for (size_t i = 0; i < n_; ++i) {
                const Nearest& of = nearest_[i];
                const double to = distance(candidate, i);
                if (to < of.to_first) {
                    gain += weights_[i] * (to - of.to_first);
                    changes[of.first] += weights_[i] * (of.to_first - of.to_second);
                } else if (to < of.to_second) {
                    changes[of.first] += weights_[i] * (to - of.to_second);
                }
            }
            const auto best = std::min_element(changes.begin(), changes.end());
            if (gain + *best >= -least_improvement * deviation) continue;
            const auto j = uint32_t(best - changes.begin());
            is_medoid_[medoids_[j]] = 0;
            is_medoid_[candidate] = 1;
            medoids_[j] = uint32_t(candidate);
            update_nearest(j);
            update_sums();
            since = 0;
        }
    }

    const double* distances_;
    std::span<const double> weights_;
    size_t n_;
    std::vector<uint8_t> is_medoid_;
    std::vector<uint32_t> medoids_;
    std::vector<Nearest> nearest_;
    double beyond_;
};

}  // namespace

void dense_medoids(const Labelsets& labelsets, const MedoidPointList& points, const MedoidSettings& settings,
                   MedoidSpace& space, std::vector<uint32_t>& medoids) {
    const size_t n = points.labelsets.size();
    Labelsets& some = space.points;
    some.size = n;
    some.n_words = labelsets.n_words;
    some.n_numbers = labelsets.n_numbers;
    some.rows.clear();
    some.numbers.clear();
    for (const uint32_t i : points.labelsets)
        some.rows.insert(some.rows.end(), labelsets.row(i), labelsets.row(i) + labelsets.n_words);
    for (size_t c = 0; c < labelsets.n_numbers; ++c)
        for (const uint32_t i : points.labelsets)
            some.numbers.push_back(labelsets.numbers[c * labelsets.size + i]);
    some.arrange_lanes();
    space.distances.reserve(checked_product(n, n));
    double* distances = space.distances.data();
    for (size_t i = 0; i < n; ++i)
        distances_from(some, i, some, settings.bit_distance, space, distances + i * n);
    for (const uint32_t point : Search(distances, points.weights).run(settings.n_clusters))
        medoids.push_back(points.labelsets[point]);
}

}  // namespace labelsieve
