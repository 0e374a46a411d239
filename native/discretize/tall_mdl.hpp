// Cuts of tall columns by classes, without sorting them as a whole.
#pragma once

#include "discretize/mdl_sides.hpp"

namespace labelsieve {

// Rows are counted in buckets of equal width. The score of a cut, a sum of f over the classes of both sides
// less f of their totals, is bounded within a bucket: for each class the sum of f over both sides is convex
// in what lies below, so a chord is above it, and f of the totals is above a tangent. Only buckets whose
// bound reaches the best score so far, and what the test asks for at least, are sorted. So the cuts are those
// of the sorted column.
//
// Cost: usually four passes over the column, the sort of a tenth of it, and for each level of the recursion a
// pass over the buckets.
class TallMdl {
  public:
    TallMdl(std::span<const ClassesOfRows> problems, const MdlSettings& settings);

    // False if the column must be sorted: few rows, zeros that are not listed, a range that is infinite or
    // empty, another rule than Fayyad and Irani's for rows, or very many classes.
    bool read(const Column& column);
    // The cuts of one problem, in order.
    void cut(size_t problem, std::vector<double>& points);

  private:
    // A bucket, or rows of the same value.
    struct Item {
        uint32_t first_row, last_row;
        uint32_t first_cell, last_cell;
        double value;  // NaN: a bucket
    };
    using Items = std::vector<Item>;

    Items count_buckets();
    size_t split(Items& items);
    double bound(const Item& item, const Side& low, const Side& high) const;
    void refine(const Item& item, Items& out);
    void join_cells(uint32_t first);
    double value_at(const Item& item, bool largest) const;
    bool has_class(row_t row) const;

    std::span<const ClassesOfRows> problems_;
    const MdlSettings& settings_;
    GainTest test_;
    size_t most_classes_ = 0;
    const ClassesOfRows* problem_ = nullptr;
    std::span<const double> values_;
    Scratch<uint16_t> buckets_;     // of each row
    std::vector<uint32_t> starts_;  // of the rows of each bucket
    Scratch<row_t> rows_;           // by bucket
    std::vector<uint64_t> counts_, left_, right_;
    std::vector<Cell> cells_;
    std::vector<double> bounds_;
    Scratch<Entry> entries_, buffer_;
};

}  // namespace labelsieve
