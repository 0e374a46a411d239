// k-medoids of labelsets: each group of targets becomes one variable, the cluster of every row.
//
// Medoids start from the greedy choice of one after the other (BUILD) and are exchanged as long as an
// exchange lowers the deviation, the weighted sum of distances to the nearest medoid (FasterPAM, Schubert and
// Rousseeuw 2021). The distance is the number of different bits times `bit_distance`; with numbers it is the
// root of that plus the squared Euclidean distance. Ties go to the first labelset in ascending order.
#pragma once

#include <algorithm>

#include "medoids/labelsets.hpp"
#include "threads/pool.hpp"

namespace labelsieve {

struct MedoidSettings {
    size_t n_clusters = 1;
    size_t max_labelsets = 0;  // points of the search; of more distinct labelsets a sample of rows is taken
    uint64_t seed = 0;         // of the sample
    double bit_distance = 1;
};

// The points of a search: labelsets among which medoids are sought, and their weights.
struct MedoidPointList {
    std::vector<uint32_t> labelsets;
    std::vector<double> weights;
};

// Working memory of a search, used again by the next one.
struct MedoidSpace {
    Labelsets points;
    Buffer<int16_t> short_distances, short_state;
    Buffer<int32_t> wide_distances;
    Buffer<double> distances;
    std::vector<uint32_t> present;
};

// Random numbers by SplitMix64: the same on every machine.
class SmallRandom {
  public:
    explicit SmallRandom(uint64_t seed) : state_(seed) {}
    uint64_t operator()();
    uint64_t below(uint64_t n) { return (*this)() % n; }
    double uniform() { return double((*this)() >> 11) * 0x1p-53; }

  private:
    uint64_t state_;
};

// The greedy choice of `n` candidates, one after the other (BUILD), exact but lazy: what a candidate gains
// only falls as others are taken, so an old gain bounds a new one and few are evaluated again. Ties go to the
// first.
template <class GainOf, class Take>
void take_best(size_t n_candidates, size_t n, const GainOf& gain_of, const Take& take) {
    struct Gain {
        decltype(gain_of(uint32_t(0))) most;  // what the candidate gained when it was last evaluated
        uint32_t candidate;
        uint32_t n_taken;  // how many others were taken when it was last evaluated
        bool operator<(const Gain& other) const {
            return most != other.most ? most < other.most : candidate > other.candidate;
        }
    };
    std::vector<Gain> heap(n_candidates);
    for (uint32_t c = 0; c < n_candidates; ++c) heap[c] = {.most = gain_of(c), .candidate = c, .n_taken = 0};
    std::make_heap(heap.begin(), heap.end());
    for (uint32_t n_taken = 0; n_taken < n;) {
        std::pop_heap(heap.begin(), heap.end());
        Gain& best = heap.back();
        if (best.n_taken == n_taken) {
            take(best.candidate);
            ++n_taken;
            heap.pop_back();
            continue;
        }
        best = {.most = gain_of(best.candidate), .candidate = best.candidate, .n_taken = n_taken};
        std::push_heap(heap.begin(), heap.end());
    }
}

// All labelsets with weight; of more than `max_labelsets`, those of a sample of that many rows: drawn without
// replacement if weights are whole numbers, else by weight.
MedoidPointList sampled_points(const Labelsets& labelsets, size_t max_labelsets, SmallRandom& random);

// Medoids of at most 16 clusters of bits. Of more than 1,280 points not all are tried as medoids: see
// bit_medoids.cpp. Returns false, and does nothing, if distances are too large for 16 bits.
bool bit_medoids(const Labelsets& labelsets, const MedoidPointList& points, size_t n_clusters,
                 SmallRandom& random, MedoidSpace& space, std::vector<uint32_t>& medoids);

// Medoids of any labelsets, among all points. Memory: a double for each pair of points.
void dense_medoids(const Labelsets& labelsets, const MedoidPointList& points, const MedoidSettings& settings,
                   MedoidSpace& space, std::vector<uint32_t>& medoids);

// out[i] = distance of labelset `from` of `labelsets` to labelset i of `to`.
void distances_from(const Labelsets& labelsets, size_t from, const Labelsets& to, double bit_distance,
                    MedoidSpace& space, double* out);

// The nearest medoid of each labelset, the first of equally near ones.
void assign_to_medoids(const Labelsets& labelsets, std::span<const uint32_t> medoids, double bit_distance,
                       MedoidSpace& space, std::vector<uint32_t>& clusters);

// What assign_to_medoids does, for medoids that bit_medoids found. Returns the deviation.
double assign_to_bit_medoids(const Labelsets& labelsets, std::span<const uint32_t> medoids,
                             MedoidSpace& space, std::vector<uint32_t>& clusters);

// out[g * n_rows + row]: the cluster of each row in group g, numbered by ascending medoids. Groups with no
// more labelsets than clusters have a cluster for each. The same for any number of threads.
void cluster_groups(const TargetRows& targets, std::span<const TargetGroup> groups,
                    std::span<const MedoidSettings> settings, Pool& pool, code_t* out);

}  // namespace labelsieve
