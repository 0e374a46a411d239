// The distinct values of a column in order with their weights: all that a cutting rule may look at.
//
// Weights are integers, so what is derived from them depends neither on the order of the rows nor on how they
// are stored, and a row of weight 3 is exactly three rows. A missing value (NaN) is no value.
#pragma once

#include <bit>

#include "discretize/values.hpp"

namespace labelsieve {

// Doubles as integers of the same order; minus zero is zero.
inline uint64_t key_of(double value) {
    const auto bits = std::bit_cast<uint64_t>(value + 0.0);
    return bits >> 63 ? ~bits : bits | uint64_t(1) << 63;
}
inline double value_of(uint64_t key) {
    return std::bit_cast<double>(key >> 63 ? key ^ uint64_t(1) << 63 : ~key);
}

struct Entry {
    uint64_t key;
    row_t row;
};

// By key; rows with the same key stay in their order. `buffer` is working memory.
void sort_entries(Scratch<Entry>& entries, Scratch<Entry>& buffer);

// A point between two neighboring values: above `low`, and no more than `high`.
inline double between(double low, double high) {
    const double sum = low + high,
                 middle = std::abs(sum) <= std::numeric_limits<double>::max() ? sum / 2 : low / 2 + high / 2;
    return middle > low ? middle : high;
}

class Distribution {
  public:
    // `weights` may be null, when every row weighs one.
    void read(const Column& column, const uint64_t* weights, uint64_t total_of_rows);

    size_t size() const { return values_.size(); }
    const Scratch<double>& values() const { return values_; }
    const Scratch<uint64_t>& weights() const { return weights_; }
    uint64_t total() const { return total_; }

  private:
    bool count_few(const Column& column, const uint64_t* weights);
    void read_weighted(const Column& column, const uint64_t* weights);
    void read_keys(const Column& column);
    void add(uint64_t key, uint64_t weight);
    void add_unlisted(uint64_t weight);

    Scratch<double> values_;
    Scratch<uint64_t> weights_;
    uint64_t total_ = 0;
    Scratch<Entry> entries_, buffer_;
    Scratch<uint64_t> keys_, key_buffer_;
};

}  // namespace labelsieve
