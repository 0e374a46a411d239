// Targets as lists of rows, one for every class but the most frequent, and the column that a panel is
// conditioned on.
#pragma once

#include <span>
#include <vector>

#include "counting/columns.hpp"
#include "threads/pool.hpp"

namespace labelsieve {

class Targets {
  public:
    // `known_ratios` has, for each target whose last level stands for unknown cells, all rows (or their
    // weight) by the known ones, and 0 for the others; empty when all cells are known.
    Targets(const Columns& columns, Pool& pool, std::span<const double> known_ratios = {});

    size_t size() const { return targets_.size(); }
    size_t n_rows() const { return n_rows_; }

    // Classes that occur, at least one. Class 0 is the most frequent (known) one and has no list. The unknown
    // cells of a target that has any are class 1.
    size_t classes(size_t target) const { return targets_[target].starts.size(); }
    std::span<const row_t> rows(size_t target, size_t listed_class) const {
        const Target& t = targets_[target];
        return {t.rows.data() + t.starts[listed_class - 1],
                t.starts[listed_class] - t.starts[listed_class - 1]};
    }
    size_t listed(size_t target) const { return targets_[target].rows.size(); }
    double known_ratio(size_t target) const { return targets_[target].known_ratio; }  // 0: all are known
    size_t bytes() const;

    // The rows of class 0.
    void list_first(size_t target, std::vector<row_t>& rows) const;

    // The class of every row, and all known rows sorted by class.
    void expand(size_t target, std::vector<uint32_t>& classes, std::vector<row_t>& sorted) const;

  private:
    struct Target {
        std::vector<row_t> rows;     // class after class, ascending within a class
        std::vector<size_t> starts;  // of classes 1, 2, ..., and the end
        double known_ratio = 0;
    };
    void fill(Target& target, const code_t* codes, size_t levels) const;
    bool fill_binary(Target& target, const uint8_t* codes) const;
    void fill_listed(Target& target, const SparseColumns& columns, size_t column) const;

    size_t n_rows_;
    std::vector<Target> targets_;
};

// The column that a panel is conditioned on. Its levels are renumbered from the most frequent down.
class Given {
  public:
    // Entry i has the code of row rows[i], or of row i when there is no list. The memory of the column before
    // is used again.
    template <class Code>
    void assign(std::span<const Code> codes, std::span<const row_t> rows, size_t n_levels, Pool& pool);

    size_t levels() const { return sizes_.size(); }
    size_t n_rows() const { return few() ? bytes_.size() : codes_.size(); }
    const std::vector<count_t>& sizes() const { return sizes_; }
    // One code for each row, for what counts by groups or column by column; call `need_codes` before, on one
    // thread.
    const std::vector<uint32_t>& codes() const { return codes_; }
    void need_codes() const {
        if (codes_.empty()) codes_.assign(bytes_.begin(), bytes_.end());
    }
    // Codes as bytes and the lists of rows for levels 1, 2, ...: only while there are few levels.
    const std::vector<uint8_t>& bytes() const { return bytes_; }
    std::span<const row_t> rows(size_t level) const {
        return {rows_.data() + starts_[level - 1], sizes_[level]};
    }
    static constexpr size_t few_levels = 64;
    bool few() const { return levels() <= few_levels; }

  private:
    template <class CodeOf>
    void fill(size_t n, const CodeOf& code_of, size_t n_levels, Pool& pool);

    std::vector<count_t> sizes_;
    mutable std::vector<uint32_t> codes_;
    std::vector<uint8_t> bytes_;
    std::vector<row_t> rows_;
    std::vector<size_t> starts_;
};

// bits[row / 64] gets the bits of the listed rows; the words must be zero.
void set_bits(std::span<const row_t> rows, uint64_t* bits);

}  // namespace labelsieve
