// A table of features, packed for counting: blocks of columns with few levels, and the columns that have too
// many.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "counting/block.hpp"
#include "threads/pool.hpp"

namespace labelsieve {

enum class Strategy { automatic, positional, grouped, tiled, sparse, non_empty, histogram };

template <class Count>
class Features {
  public:
    // `columns` and `weights` must stay alive: wide columns are read from it when they are counted. Weighted
    // rows, those with `weights`, are never tiled.
    //
    // Features that `deferred` marks are not packed until `pack_deferred`: see NonEmptyTables.
    Features(const Columns& columns, const RowWeights<Count>* weights, Strategy strategy, Pool& pool,
             const std::vector<bool>& deferred = {});

    void pack_deferred(Pool& pool);
    const std::vector<size_t>& deferred() const { return deferred_; }
    size_t n_first_blocks() const { return n_first_blocks_; }  // those of the features that are not deferred

    const Columns& columns() const { return columns_; }
    size_t n_rows() const { return columns_.n_rows(); }
    size_t size() const { return columns_.size(); }
    const std::vector<std::unique_ptr<Block<Count>>>& blocks() const { return blocks_; }
    const std::vector<size_t>& wide() const { return wide_; }
    bool wants_bits() const { return wants_bits_; }  // sets of rows as bits, not as lists
    bool by_groups() const { return by_groups_; }    // never from margins
    size_t bytes() const;

    static constexpr size_t narrow_levels =
        33;  // the most levels with sixteen features in a block of 512 bits

  private:
    void pack(std::vector<size_t> narrow, Pool& pool);
    void make_sparse(Pool& pool);

    const Columns& columns_;
    const RowWeights<Count>* weights_;
    Strategy strategy_;
    std::vector<std::unique_ptr<Block<Count>>> blocks_;
    std::vector<size_t> wide_, deferred_;
    size_t n_first_blocks_ = 0;
    bool wants_bits_ = false, by_groups_ = false;
};

}  // namespace labelsieve
