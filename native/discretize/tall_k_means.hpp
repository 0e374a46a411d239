// One-dimensional k-means of a tall column, solved exactly without sorting it.
#pragma once

#include "discretize/rules.hpp"

namespace labelsieve {

// Values become whole numbers in proportion to their distance from the least one, so that sums are exact and
// do not depend on the order of the rows. They are counted in buckets. A partition whose boundaries lie in
// given buckets costs no less than its clusters without the values of these buckets; so dynamic programming
// over buckets shows which of them may hold a boundary of the best partition. Only those are divided further.
// At the end the values that are left are sorted, and the exact program is solved for them.
//
// Cost: usually three passes over the column and the sort of a hundredth of it.
class TallKMeans {
  public:
    // False, with `points` as they were, if the column must be sorted instead: zeros that are not listed, few
    // rows, a range that is infinite or too wide for its clusters, no more distinct values than clusters, or
    // too many rows in buckets that may hold a boundary.
    bool cut(const Column& column, size_t n_clusters, std::vector<double>& points);

    // Where a cluster may end: somewhere in a bucket, or between two values.
    struct Place {
        uint64_t first, width;             // numbers from `first` to `first + width`
        uint64_t rows_before, rows_up_to;  // of the column: before the place, and up to its end
        uint64_t sum_before, sum_up_to;    // of their numbers
    };

  private:
    bool read(std::span<const double> values, unsigned bucket_bits);
    void count();
    void divide(const std::vector<uint8_t>& possible);
    void add_places(const Place& whole, size_t first_bucket, size_t n_buckets);
    bool solve(size_t n_clusters, std::vector<double>& points);

    double least_ = 0, per_unit_ = 0;
    uint64_t n_rows_ = 0, total_ = 0;
    size_t n_buckets_ = 0;
    unsigned shift_ = 0;          // bits of a number below those that give its bucket
    Scratch<uint64_t> numbers_;   // those that may be next to a boundary
    Scratch<uint32_t> of_place_;  // the place of each
    std::vector<uint32_t> counts_, place_of_bucket_;
    std::vector<uint64_t> sums_;
    std::vector<Place> places_;
};

}  // namespace labelsieve
