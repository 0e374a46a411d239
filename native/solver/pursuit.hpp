// Forward least squares for many targets, from sums of products: centered products, what is left of columns
// and targets after a column was taken out, and the gain of every feature.
//
// A feature is a group of adjacent columns; most have one. What is left of a column may be 1e-8 of its
// variance, so coefficients and squares are numbers of 106 bits. Products with targets are doubles. All have
// a fixed order of additions, and a task owns whole features: results are the same bits on any number of
// threads.
#pragma once

#include <vector>

#include "common/csr_view.hpp"
#include "common/double_double.hpp"
#include "counting/sums.hpp"
#include "threads/pool.hpp"

namespace labelsieve {

// Integers of 95 bits, high * 2^32 + low with 0 <= low < 2^32.
struct WideNumbers {
    const int64_t* high;
    const int64_t* low;
};

// Sums over rows, whose weights add up to `total`: products of columns and others, and sums of each.
struct ProductSums {
    WideNumbers products;  // [column * n_others + other]
    WideNumbers columns, others;
    size_t n_columns, n_others;
    double total;
};

// out = (mean of the product - product of the means) * column_factors[column] * other_factors[other].
void center_products(const ProductSums& sums, const double* column_factors, const double* other_factors,
                     Pool& pool, double* out);

// What is centered of the products of a column with itself or with its neighbor.
void center_squares(const WideNumbers& squares, const WideNumbers& ones, const WideNumbers& others, size_t n,
                    double total, const double* factors, const double* other_factors, double* high,
                    double* low);

// Coefficients of all columns on the direction of column `s`: (products - sum_k rows_k rows_k[s]) /
// sqrt(left). The products are changed. Directions taken out before have their coefficients in `rows`, one
// direction after the other, `pitch` apart.
struct Directions {
    Wide2 rows;
    size_t size, n_columns, pitch;
};
void project(const Directions& before, const Wide2& products, size_t s, Double2 left, Pool& pool,
             const Wide2& out);

// What a pursuit knows of the features: products of what is left of the columns with what is left of the
// targets, and with each other within a group.
struct PursuitState {
    std::span<const int64_t> starts;  // first column of every feature, and the end of the last
    size_t n_targets = 0;
    double* products = nullptr;  // columns x targets
    Wide2 squares = {};  // lower triangles of the features, row after row, one feature after the other

    size_t size() const { return starts.size() - 1; }
    size_t width(size_t f) const { return size_t(starts[f + 1] - starts[f]); }
};

// After a direction of unit length was taken out of columns and targets: `of_columns` and `of_targets` are
// its products with them.
void fold_direction(const PursuitState& state, const Wide2& of_columns, const double* of_targets, Pool& pool);

// What counts of the drop of the squares of a target: penalties[t] is taken off for each column. A column
// with at most least[column] left counts nothing, and one with at most `weak` left only where its drop
// exceeds guards[t].
struct GainRules {
    const double* least;
    double weak;
    const double *penalties, *guards;
};

// gains[f] = sum_t max(0, drop of the squares of target t when f is added - penalties[t] * degrees), degrees
// the columns of f that have more than least[column] left given those before them. 0 where none has.
// Cost: p^2 (p + n_targets) for a feature of p columns.
void pursuit_gains(const PursuitState& state, const GainRules& rules, Pool& pool, double* gains);

// Arrays of the caller, which a pursuit reads and changes.
struct PursuitArrays {
    PursuitState state;
    WideNumbers sums;       // of every column
    const double* factors;  // of every column
    const double* least;    // as in GainRules
    double total;           // weight of all rows
    double n_rows;
    std::span<double> left;   // squares of every target
    const double* explained;  // what is left of a target that cannot be explained any better
    double penalty;           // for each column, in units of what a column of noise takes off a target
    double weak, guard;       // as in GainRules, the guard in the same units
};

// A forward search, step by step: gains of all features, and the columns of the best one taken out.
class Pursuit {
  public:
    explicit Pursuit(const PursuitArrays& arrays);

    // Gains of all features, rounded to multiples of the largest one's power of two divided by 2^40.
    void scores(Pool& pool, double* gains) const;
    void penalties(double* penalties, double* guards) const;
    void round(std::span<double> gains) const;

    bool can_take_out(size_t column) const;
    // Takes out a column, given the sums of its products with all columns, and its products with what is left
    // of the targets, null where the arrays have them.
    void take_out(size_t column, const WideNumbers& products, const double* products_left, Pool& pool);

    // Takes out a feature of which the columns are there. Products with up to `ahead` columns are added up
    // together: those of features with the largest expected scores will probably be needed.
    void select(size_t feature, const DigitColumns& columns, const double* expected, size_t ahead,
                Pool& pool);
    // The best features one after the other, of which the last one is not taken out. None that is found stays
    // available. `gains` has the last scores. Fewer than asked for where no more are available.
    size_t select_best(const DigitColumns& columns, size_t ahead, Pool& pool, uint8_t* available,
                       std::span<uint32_t> features, double* scores, double* gains);

    // Coefficients of all columns and of all targets on the direction that was taken out last.
    std::span<const double> of_columns() const;
    const std::vector<double>& of_targets() const { return of_targets_; }

  private:
    struct Known {
        size_t column;
        std::vector<int64_t> high, low;
    };
    void ask(size_t first, size_t last, const DigitColumns& columns, const double* expected, size_t ahead,
             Pool& pool);
    std::vector<Known>::iterator find(size_t column);

    PursuitArrays of_;
    std::vector<size_t> square_of_;  // the place of every column's own square
    std::vector<double> means_, means_low_;
    std::vector<double> rows_, rows_low_, with_all_, with_all_low_, of_targets_;
    size_t n_directions_ = 0;
    std::vector<Known> known_;  // products that were asked for ahead
    std::vector<uint8_t> selected_;
};

// Products of sparse columns with sparse targets that are never stored: those of a column are added up from
// its rows when its gain is asked for, and directions that were taken out are subtracted in their order.
struct ListedProducts {
    CsrView<row_t, int32_t> columns;  // the rows of each column, and its numbers there
    CsrView<row_t, int32_t> targets;  // the targets of each row; the numbers are in `pieces`
    std::span<const int32_t>
        pieces;  // of the numbers times the weights, 24 bits: [piece * n_entries + entry]
    WideNumbers column_sums, target_sums;
    double total;
    const double *column_factors, *target_factors;
    std::span<const double> along;  // coefficients on the directions: [column * n_directions + direction]
    std::span<const double> of_targets;  // the same of the targets: [target * n_directions + direction]
    // A column may gain by targets without a common row among the first n_near[column] of `ranked`, by no
    // other.
    std::span<const row_t> ranked;
    std::span<const int64_t> n_near;
    size_t n_targets, n_directions;
};

// gains[column] as of pursuit_gains, to the last bit, for features of one column with squares[column] left.
// Cost: the pairs of a cell of X and a target of its row, and what is near, each with all directions.
void listed_gains(const ListedProducts& products, const double* squares, const GainRules& rules, Pool& pool,
                  double* gains);

}  // namespace labelsieve
