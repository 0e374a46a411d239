// Orthogonal matching pursuit for many targets: products with columns, and the gain of every feature.
//
// Every sum has a fixed order of additions, and a task owns whole columns, so results are the same bits on
// any number of threads. A feature is a group of adjacent columns; most have one.
#pragma once

#include "common/csr_view.hpp"
#include "threads/pool.hpp"

namespace labelsieve {

// Columns of numbers, dense or sparse. They view memory of the caller. Column j stands for
// (values - centers[j]) * factors[j] when it is sparse, and for its values as they are when it is dense.
struct LinearColumns {
    size_t n_rows = 0, n_columns = 0;
    const double* dense = nullptr;  // column after column; null for a sparse matrix
    CsrView<row_t, double> sparse = {};
    const double* centers = nullptr;
    const double* factors = nullptr;
};

// out[j] = sum_i column j[i] * vector[i]
void multiply(const LinearColumns& columns, const double* vector, Pool& pool, double* out);

// out[j * n_targets + t] = sum_i column j[i] * target t[i], targets listed by rows. Cost: the entries of the
// columns times the mean length of a row of targets.
void multiply(const LinearColumns& columns, const CsrView<row_t, double>& targets, size_t n_targets,
              Pool& pool, double* out);

void copy_column(const LinearColumns& columns, size_t j, double* out);

// Subtracts from `vector` its projections onto `n_basis` orthonormal vectors, twice: once leaves rounding
// errors that grow with the size of what was subtracted. Returns what is left of its squared length.
double orthogonalize(const double* basis, size_t n_basis, double* vector, size_t n_rows);

// What a pursuit knows of the features: products of what is left of the columns with what is left of the
// targets, and with each other within a group.
struct PursuitState {
    std::span<const int64_t> starts;  // first column of every feature, and the end of the last
    size_t n_targets = 0;
    double* products = nullptr;  // columns x targets
    double* squares = nullptr;  // lower triangles of the features, row after row, one feature after the other

    size_t size() const { return starts.size() - 1; }
    size_t width(size_t f) const { return size_t(starts[f + 1] - starts[f]); }
};

// After a direction of unit length was taken out of columns and targets: `of_columns` and `of_targets` are
// its products with them.
void fold_direction(const PursuitState& state, const double* of_columns, const double* of_targets,
                    Pool& pool);

// gains[f] = sum_t max(0, drop of the squares of target t when f is added - penalties[t] * degrees), degrees
// the columns of f that have more than least[column] left given those before them. 0 where none has.
// Cost: p^2 (p + n_targets) for a feature of p columns.
void pursuit_gains(const PursuitState& state, const double* least, const double* penalties, Pool& pool,
                   double* gains);

}  // namespace labelsieve
