// Ridge regressions with the first columns up to several ends, for some penalties.
#pragma once

#include <span>
#include <vector>

#include "common/types.hpp"

namespace labelsieve {

// What a regression is fitted to: sums over the training rows. The products of columns i and j of the
// regression are all[c_i * pitch + c_j], less those over the rows that are left out, if given, and less
// total * means[i] * means[j].
struct RidgeSums {
    const double *all, *left_out;
    size_t pitch;
    std::span<const uint64_t> columns;  // c_i
    const double* means;
    double total;           // weight of the rows
    const double* answers;  // centered products with the targets, columns x n_targets
    size_t n_targets;
    const double* factors;  // of the squared errors of every target
    double squares;         // of the targets, times the factors
};

// Rows to predict, as columns x n_rows.
struct TestRows {
    const double* columns;
    size_t n_rows;
};

// With the Cholesky factor L of the products G of columns, with a penalty on the diagonal, A = L^-1 Z'Y and
// B = L^-1 T', the prediction for the test rows T with the first e columns is B[:e]'A[:e], because the
// leading block of L is the factor of the leading block. The penalty of every size is the one with the least
// generalized cross-validation error, over all targets. Results do not depend on the processor.
class NestedRidge {
  public:
    NestedRidge(const RidgeSums& sums, const TestRows& tested, std::span<const double> penalties,
                std::span<const size_t> ends);
    NestedRidge(const NestedRidge&) = delete;

    size_t n_steps() const { return ends_.size(); }
    size_t n_tested() const { return n_tested_; }
    size_t n_targets() const { return roots_.size(); }

    // Predicts the deviations of the targets (n_tested x n_targets) with the columns of a size, which is not
    // below that of the last call.
    void predict(size_t step, double* out);

  private:
    struct Path {                // of one penalty
        Buffer<double> inverse;  // of L
        Buffer<double> answers;  // A; times the roots of the factors until the best penalties are known
        Buffer<double> tested;   // B
        Buffer<double> known;    // the last prediction
        size_t done = 0;         // columns that it has
    };
    Buffer<double> equations_of(const RidgeSums& sums) const;
    // Finds the inverse and the answers of a path, and the error of every size. `rows` is working memory.
    void factorize(const RidgeSums& sums, const Buffer<double>& equations, double penalty,
                   Buffer<double>& rows, Path& path, std::vector<double>& errors);

    size_t n_columns_, n_tested_, n_padded_, tested_padded_, targets_padded_;
    std::vector<size_t> ends_;
    std::vector<double> roots_;
    std::vector<size_t> best_;  // penalty of every size
    std::vector<Path> paths_;
    size_t last_step_ = 0;
};

}  // namespace labelsieve
