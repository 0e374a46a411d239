#include "solver/pursuit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace labelsieve {
namespace {

constexpr size_t lanes = 8;  // partial sums of a dot product
constexpr size_t columns_per_task = 32;

double total(const std::array<double, lanes>& sums) {
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

double dot(const double* a, const double* b, size_t n) {
    std::array<double, lanes> sums{};
    size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (size_t lane = 0; lane < lanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    for (size_t lane = 0; i < n; ++i, ++lane) sums[lane] += a[i] * b[i];
    return total(sums);
}

double sum(const double* a, size_t n) {
    std::array<double, lanes> sums{};
    for (size_t i = 0; i < n; ++i) sums[i % lanes] += a[i];
    return total(sums);
}

template <class Work>
void each_block(size_t n, double cost, Pool& pool, const Work& work) {
    pool.run((n + columns_per_task - 1) / columns_per_task, cost, [&](size_t task, unsigned) {
        work(task * columns_per_task, std::min(n, (task + 1) * columns_per_task));
    });
}

double entries(const LinearColumns& columns) {
    return columns.dense ? double(columns.n_rows) * double(columns.n_columns)
                         : double(columns.sparse.indices.size());
}

// Twice the positive part, without a branch: signs are as good as random.
double twice_positive(double value) { return value + std::abs(value); }

// sum_t max(0, of_target(t) - penalty[t]), for finite penalties
template <class OfTarget>
double positive_parts(const double* penalties, size_t n, const OfTarget& of_target) {
    std::array<double, lanes> sums{};
    size_t t = 0;
    for (; t + lanes <= n; t += lanes)
        for (size_t lane = 0; lane < lanes; ++lane)
            sums[lane] += twice_positive(of_target(t + lane) - penalties[t + lane]);
    for (size_t lane = 0; t < n; ++t, ++lane) sums[lane] += twice_positive(of_target(t) - penalties[t]);
    return total(sums) / 2;
}

double gain_of_column(const double* products, double square, double least, const double* penalties,
                      size_t n_targets) {
    if (!(square > least)) return 0;
    const double inverse = 1 / square;
    return positive_parts(penalties, n_targets,
                          [&](size_t t) { return products[t] * products[t] * inverse; });
}

struct GroupScratch {
    std::vector<double> factor, solved, drops, penalties;
};

// By a Cholesky factorization of the squares, column after column: each is orthogonal to those before it.
double gain_of_group(const double* products, const double* squares, const double* least,
                     const double* penalties, size_t n_columns, size_t n_targets, GroupScratch& scratch) {
    scratch.factor.assign(n_columns * n_columns, 0.0);
    scratch.solved.assign(n_columns * n_targets, 0.0);
    scratch.drops.assign(n_targets, 0.0);
    double* factor = scratch.factor.data();
    size_t degrees = 0;
    for (size_t i = 0; i < n_columns; ++i) {
        const double* row = squares + i * (i + 1) / 2;
        double* of_row = factor + i * n_columns;
        double left = row[i];
        for (size_t k = 0; k < i; ++k) {
            if (factor[k * n_columns + k] == 0) continue;
            double entry = row[k];
            for (size_t m = 0; m < k; ++m) entry -= of_row[m] * factor[k * n_columns + m];
            of_row[k] = entry / factor[k * n_columns + k];
            left -= of_row[k] * of_row[k];
        }
        if (!(left > least[i])) continue;
        of_row[i] = std::sqrt(left);
        ++degrees;
        double* solved = scratch.solved.data() + i * n_targets;
        for (size_t t = 0; t < n_targets; ++t) solved[t] = products[i * n_targets + t];
        for (size_t k = 0; k < i; ++k) {
            const double* before = scratch.solved.data() + k * n_targets;
            for (size_t t = 0; t < n_targets; ++t) solved[t] -= of_row[k] * before[t];
        }
        for (size_t t = 0; t < n_targets; ++t) {
            solved[t] /= of_row[i];
            scratch.drops[t] += solved[t] * solved[t];
        }
    }
    scratch.penalties.resize(n_targets);
    for (size_t t = 0; t < n_targets; ++t) scratch.penalties[t] = double(degrees) * penalties[t];
    return positive_parts(scratch.penalties.data(), n_targets, [&](size_t t) { return scratch.drops[t]; });
}

size_t triangle(size_t n) { return n * (n + 1) / 2; }

}  // namespace

void multiply(const LinearColumns& columns, const double* vector, Pool& pool, double* out) {
    const double all = columns.dense ? 0 : sum(vector, columns.n_rows);
    each_block(columns.n_columns, 2 * entries(columns), pool, [&](size_t first, size_t last) {
        for (size_t j = first; j < last; ++j) {
            if (columns.dense) {
                out[j] = dot(columns.dense + j * columns.n_rows, vector, columns.n_rows);
                continue;
            }
            const auto rows = columns.sparse[j];
            const auto values = columns.sparse.values_of(j);
            double product = 0;
            for (size_t i = 0; i < rows.size(); ++i) product += values[i] * vector[rows[i]];
            out[j] = (product - columns.centers[j] * all) * columns.factors[j];
        }
    });
}

void multiply(const LinearColumns& columns, const CsrView<row_t, double>& targets, size_t n_targets,
              Pool& pool, double* out) {
    std::vector<double> totals(n_targets, 0.0);
    for (size_t entry = 0; entry < targets.indices.size(); ++entry)
        totals[targets.indices[entry]] += targets.values[entry];
    const double per_row = double(targets.indices.size()) / double(std::max<size_t>(1, columns.n_rows));
    const double cost = 4 * entries(columns) * (1 + per_row);
    each_block(columns.n_columns, cost, pool, [&](size_t first, size_t last) {
        std::fill(out + first * n_targets, out + last * n_targets, 0.0);
        const auto add = [&](double* to, double value, size_t row) {
            const auto of_row = targets[row];
            const auto values = targets.values_of(row);
            for (size_t i = 0; i < of_row.size(); ++i) to[of_row[i]] += value * values[i];
        };
        for (size_t j = first; j < last; ++j) {
            double* to = out + j * n_targets;
            if (columns.dense) {
                for (size_t row = 0; row < columns.n_rows; ++row)
                    add(to, columns.dense[j * columns.n_rows + row], row);
                continue;
            }
            const auto rows = columns.sparse[j];
            const auto values = columns.sparse.values_of(j);
            for (size_t i = 0; i < rows.size(); ++i) add(to, values[i], rows[i]);
            for (size_t t = 0; t < n_targets; ++t)
                to[t] = (to[t] - columns.centers[j] * totals[t]) * columns.factors[j];
        }
    });
}

void copy_column(const LinearColumns& columns, size_t j, double* out) {
    if (columns.dense) {
        std::copy_n(columns.dense + j * columns.n_rows, columns.n_rows, out);
        return;
    }
    const double factor = columns.factors[j], center = columns.centers[j];
    std::fill_n(out, columns.n_rows, -center * factor);
    const auto rows = columns.sparse[j];
    const auto values = columns.sparse.values_of(j);
    for (size_t i = 0; i < rows.size(); ++i) out[rows[i]] = (values[i] - center) * factor;
}

double orthogonalize(const double* basis, size_t n_basis, double* vector, size_t n_rows) {
    for (int pass = 0; pass < 2; ++pass)
        for (size_t b = 0; b < n_basis; ++b) {
            const double* direction = basis + b * n_rows;
            const double along = dot(direction, vector, n_rows);
            for (size_t i = 0; i < n_rows; ++i) vector[i] -= along * direction[i];
        }
    return dot(vector, vector, n_rows);
}

void fold_direction(const PursuitState& state, const double* of_columns, const double* of_targets,
                    Pool& pool) {
    const size_t q = state.n_targets;
    const double cost = 2 * double(state.starts.back()) * double(q + 1);
    std::vector<size_t> first_square(state.size() + 1, 0);
    for (size_t f = 0; f < state.size(); ++f)
        first_square[f + 1] = first_square[f] + triangle(state.width(f));
    each_block(state.size(), cost, pool, [&](size_t first, size_t last) {
        for (size_t f = first; f < last; ++f) {
            double* squares = state.squares + first_square[f];
            const double* along = of_columns + state.starts[f];
            for (size_t i = 0; i < state.width(f); ++i) {
                for (size_t k = 0; k <= i; ++k) squares[triangle(i) + k] -= along[i] * along[k];
                double* products = state.products + (size_t(state.starts[f]) + i) * q;
                for (size_t t = 0; t < q; ++t) products[t] -= along[i] * of_targets[t];
            }
        }
    });
}

void pursuit_gains(const PursuitState& state, const double* least, const double* penalties, Pool& pool,
                   double* gains) {
    const size_t q = state.n_targets;
    std::vector<size_t> first_square(state.size() + 1, 0);
    double cost = 0;
    for (size_t f = 0; f < state.size(); ++f) {
        const size_t width = state.width(f);
        first_square[f + 1] = first_square[f] + triangle(width);
        cost += 2 * double(width * width) * double(width + q);
    }
    each_block(state.size(), cost, pool, [&](size_t first, size_t last) {
        GroupScratch scratch;
        for (size_t f = first; f < last; ++f) {
            const size_t column = size_t(state.starts[f]), width = state.width(f);
            const double* products = state.products + column * q;
            const double* squares = state.squares + first_square[f];
            gains[f] = width == 1
                           ? gain_of_column(products, squares[0], least[column], penalties, q)
                           : gain_of_group(products, squares, least + column, penalties, width, q, scratch);
        }
    });
}

}  // namespace labelsieve
