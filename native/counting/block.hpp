// Features that are counted together, and the ways to store them.
//
// A feature with r levels is r - 1 one-hot columns: level 0 is left out, since its counts follow from the
// others. What counts inside a set of rows is the same question for every way of storing; only the speed
// differs.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <vector>

#include "counting/columns.hpp"
#include "counting/terms.hpp"

namespace labelsieve {

size_t positional_capacity(size_t levels);       // features of a PositionalBlock
inline constexpr size_t sparse_capacity = 8192;  // and of a SparseBlock

// A set of rows: a list, or one bit per row. Each way of storing asks for the form that it needs.
struct RowSet {
    const row_t* list = nullptr;
    size_t size = 0;
    const uint64_t* bits = nullptr;
};

// Memory of one worker, kept between tasks.
template <class Count>
struct WorkerMemory {
    Buffer<uint64_t> planes;
    Buffer<Count> counts, cells, margins;
    Buffer<fixed_t> sums, known;
    Buffer<double> reals, shrunk;
    Buffer<code_t> codes;
    Buffer<row_t> rows;
    std::vector<RowSet> sets;
    Partition partition, known_rows;
};

// `weights` are those of the rows, null when every row counts once.
template <class Count>
class Block {
  public:
    Block(size_t levels, std::vector<size_t> features, const RowWeights<Count>* weights,
          size_t round_to = 16);
    virtual ~Block() = default;

    size_t levels() const { return levels_; }
    size_t width() const { return width_; }  // features, rounded up: a row of counts for one level
    size_t pitch() const { return pitch_; }  // counts of one set of rows: levels - 1 rows of width
    const std::vector<size_t>& features() const { return features_; }
    const Count* totals() const { return totals_.data(); }  // counts over all rows

    // counts[s * pitch + (a - 1) * width + i] = rows of set s in which feature i has level a, or their
    // weight.
    virtual void count(const RowSet* sets, size_t n_sets, Count* counts,
                       WorkerMemory<Count>& scratch) const = 0;

    // sums[i] += sum over the groups and the levels of feature i of the term of their count.
    virtual void add_groups(const Partition& groups, const Terms<Count>& terms, fixed_t* sums,
                            WorkerMemory<Count>& scratch) const = 0;

    // How many sets should be counted at a time: more than those of one target where reading the rows is what
    // costs.
    virtual size_t sets_at_a_time() const { return 1; }

    virtual size_t bytes() const = 0;

  protected:
    void set_pitch(size_t pitch) { pitch_ = pitch; }
    const RowWeights<Count>* weights() const { return weights_; }
    Buffer<Count> totals_;

  private:
    size_t levels_, width_, pitch_;
    std::vector<size_t> features_;
    const RowWeights<Count>* weights_;
};

// Row-major bits, 512 columns a row, added vertically: the fastest for all but the extremes. With weights,
// the columns are in the order of the kernel that adds them up.
template <class Count>
class PositionalBlock final : public Block<Count> {
  public:
    using Block<Count>::levels, Block<Count>::width, Block<Count>::pitch, Block<Count>::features;
    PositionalBlock(const Columns& columns, size_t levels, std::vector<size_t> features,
                    const RowWeights<Count>* weights);
    void count(const RowSet* sets, size_t n_sets, Count* counts, WorkerMemory<Count>& scratch) const override;
    void add_groups(const Partition& groups, const Terms<Count>& terms, fixed_t* sums,
                    WorkerMemory<Count>& scratch) const override;
    size_t sets_at_a_time() const override;
    size_t bytes() const override { return words_.size() * sizeof(uint64_t); }

    template <class Visit>  // visit(row, feature) for the set bits of a block of two-level features
    void each_bit(Visit&& visit) const {
        for (size_t row = 0; row < n_rows_; ++row)
            for (size_t w = 0; w < block_words; ++w)
                for (uint64_t word = words_[row * block_words + w]; word != 0; word &= word - 1)
                    visit(row, column_of_bit_[64 * w + size_t(std::countr_zero(word))]);
    }

  private:
    void clear() { std::memset(words_.data(), 0, words_.size() * sizeof(uint64_t)); }
    void pack(const DenseColumns& columns);
    void pack(const SparseColumns& columns);
    void add_list(const row_t* rows, size_t n, uint64_t* planes, unsigned n_planes) const;
    void count_rows(const RowSet* sets, size_t n_sets, count_t* counts, WorkerMemory<count_t>& scratch) const;
    void count_weights(const RowSet* sets, size_t n_sets, Count* counts, WorkerMemory<Count>& scratch) const;
    void add_weights(const row_t* rows, size_t n, Count* counts, WorkerMemory<Count>& scratch) const;

    size_t n_rows_;
    std::array<uint16_t, block_bits> column_of_bit_, bit_of_column_;
    Buffer<uint64_t> words_;  // one more row than there are, all zero: lists are filled up with it
};

// The non-zeros of two-level features, row by row: for columns that are almost always zero.
template <class Count>
class SparseBlock final : public Block<Count> {
  public:
    using Block<Count>::width, Block<Count>::pitch, Block<Count>::features, Block<Count>::totals_;
    SparseBlock(const SparseColumns& columns, std::vector<size_t> features, const RowWeights<Count>* weights);
    SparseBlock(const std::vector<std::unique_ptr<Block<Count>>>& positional, size_t first, size_t last,
                size_t n_rows, const RowWeights<Count>* weights);
    void count(const RowSet* sets, size_t n_sets, Count* counts, WorkerMemory<Count>& scratch) const override;
    void add_groups(const Partition& groups, const Terms<Count>& terms, fixed_t* sums,
                    WorkerMemory<Count>& scratch) const override;
    size_t bytes() const override {
        return offsets_.size() * sizeof(uint16_t) + starts_.size() * sizeof(size_t);
    }

  private:
    template <class Each>
    void fill(size_t n_rows, Each&& each);
    Count weight(size_t row) const { return this->weights() ? (*this->weights())[row] : Count(1); }

    std::vector<size_t> starts_;     // of every row
    std::vector<uint16_t> offsets_;  // the features that are not zero in it
};

// Column-major bits, four columns against four sets: for few features, and rows that count once.
class TiledBlock final : public Block<count_t> {
  public:
    TiledBlock(const Columns& columns, size_t levels, std::vector<size_t> features);
    void count(const RowSet* sets, size_t n_sets, count_t* counts,
               WorkerMemory<count_t>& scratch) const override;
    void add_groups(const Partition& groups, const Terms<count_t>& terms, fixed_t* sums,
                    WorkerMemory<count_t>& scratch) const override;
    size_t sets_at_a_time() const override { return 64; }
    size_t bytes() const override { return words_.size() * sizeof(uint64_t); }

  private:
    size_t n_rows_, n_words_;
    Buffer<uint64_t> words_;
};

// Packs 64-row stripes of byte codes: visit(first_row, stripe, bits), where bits[(a - 1) * width + i] masks
// the rows of the stripe in which feature i has level a. Used by both ways of storing bits.
template <class Count, class Visit>
void each_stripe(const DenseColumns& columns, const Block<Count>& block, Visit&& visit) {
    constexpr size_t stripes = 8;  // 512 rows at a time: a line of every column is read once
    const size_t n = columns.n_rows(), n_features = block.features().size();
    const size_t n_bits = (block.levels() - 1) * block.width();
    Buffer<uint64_t> bits(stripes * n_bits);
    Buffer<uint8_t> bytes(n_features * 64 * stripes);
    for (size_t top = 0; top < n; top += 64 * stripes) {
        const size_t rows = n - top < 64 * stripes ? n - top : 64 * stripes;
        const bool whole = rows == 64 * stripes && columns.bytes(block.features()[0]) != nullptr;
        if (!whole) {
            if (rows < 64 * stripes) std::memset(bytes.data(), 0, bytes.size());
            columns.read_bytes(block.features(), top, rows, bytes.data(), 64 * stripes);
        }
        for (size_t i = 0; i < n_features; ++i) {
            const uint8_t* codes =
                whole ? columns.bytes(block.features()[i]) + top : bytes.data() + i * 64 * stripes;
            uint64_t unknown = 0;
            for (size_t s = 0; s < stripes; ++s)
                unknown |= kernels().match_levels(codes + 64 * s, block.levels(),
                                                  bits.data() + s * n_bits + i, block.width());
            if (unknown != 0) columns.check(block.features()[i], 255);
        }
        for (size_t s = 0; 64 * s < rows; ++s) visit(top + 64 * s, bits.data() + s * n_bits);
    }
}

}  // namespace labelsieve
