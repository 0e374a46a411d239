// Distinct rows of targets, and what is left of them in a group of the columns.
#pragma once

#include <span>
#include <vector>

#include "simd/kernels.hpp"

namespace labelsieve {

// Targets of the caller: bits, row after row, from the highest bit of a word down, and numbers, column after
// column.
struct TargetRows {
    size_t n_rows = 0;
    const uint64_t* bits = nullptr;
    size_t n_words = 0;  // of a row
    const double* numbers = nullptr;
    size_t n_numbers = 0;
    const double* weights = nullptr;  // null: 1 each
};

// Columns that are clustered together.
struct TargetGroup {
    std::span<const uint32_t> bits, numbers;
};

// Distinct rows of a group. Rows of bits are kept twice: one after the other, and eight together.
struct Labelsets {
    size_t size = 0, n_words = 0, n_numbers = 0;
    std::vector<uint64_t> rows;
    Buffer<uint64_t> lanes;
    std::vector<uint32_t> bits;   // those that are set, row after row
    std::vector<size_t> ends;     // of each row in `bits`
    std::vector<double> numbers;  // column after column
    std::vector<double> weights;

    std::span<const uint32_t> bits_of(size_t i) const {
        const size_t start = i == 0 ? 0 : ends[i - 1];
        return {bits.data() + start, ends[i] - start};
    }
    const uint64_t* row(size_t i) const { return rows.data() + i * n_words; }
    BitLanes bit_lanes() const;
    // Takes the rows, eight together, from `rows`; space is padded to blocks of points.
    void arrange_lanes();
};

// The distinct rows of all targets in ascending order: what follows does not depend on the order of the rows.
class DistinctTargets {
  public:
    explicit DistinctTargets(const TargetRows& targets);

    size_t size() const { return weights_.size(); }
    std::span<const uint32_t> of_rows() const { return of_rows_; }  // the distinct row of each row

    // Distinct rows of a group, numbered by their first appearance here; number[i]: which one row i became.
    // Cost: a transposition of the bits of the group and one look-up of each row.
    class Restriction {
      public:
        explicit Restriction(const DistinctTargets& targets) : targets_(targets) {}
        void to(const TargetGroup& group);
        const Labelsets& labelsets() const { return labelsets_; }
        std::span<const uint32_t> number() const { return number_; }

      private:
        void read_bits(std::span<const uint32_t> bits);
        void list_bits(std::span<const uint32_t> bits);
        const DistinctTargets& targets_;
        Labelsets labelsets_;
        std::vector<uint64_t> bits_;
        std::vector<uint32_t> number_, slots_, origins_, positions_;
    };

  private:
    std::vector<uint32_t> of_rows_;
    std::vector<double> weights_;
    size_t column_words_ = 0, n_numbers_ = 0;
    std::vector<uint64_t> columns_;  // bits, column after column
    std::vector<uint32_t> bits_;     // those that are set, row after row
    std::vector<size_t> starts_;
    std::vector<double> numbers_;  // column after column
};

}  // namespace labelsieve
