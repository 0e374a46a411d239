#include "prediction/ridge.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "simd/kernels.hpp"

namespace labelsieve {

namespace {

constexpr size_t block = product_block;

size_t padded(size_t n) { return (n + block - 1) / block * block; }

// What is left of a column, given those before it, is at least its penalty, but for rounding.
double root_of(double left) {
    if (!(left > 0)) throw std::domain_error("products of features are not positive definite");
    return std::sqrt(left);
}

}  // namespace

NestedRidge::NestedRidge(const RidgeSums& sums, const TestRows& tested, std::span<const double> penalties,
                         std::span<const size_t> ends)
    : n_columns_(sums.columns.size()), n_tested_(tested.n_rows), n_padded_(padded(n_columns_)),
      tested_padded_(padded(tested.n_rows)), targets_padded_(padded(sums.n_targets)),
      ends_(ends.begin(), ends.end()), paths_(penalties.size()) {
    for (size_t y = 0; y < sums.n_targets; ++y) roots_.push_back(std::sqrt(sums.factors[y]));
    const Buffer<double> equations = equations_of(sums);
    auto rows = Buffer<double>::unset(checked_product(n_padded_, 2 * n_padded_ + targets_padded_));
    std::vector<std::vector<double>> errors(paths_.size());
    for (size_t p = 0; p < paths_.size(); ++p)
        factorize(sums, equations, penalties[p], rows, paths_[p], errors[p]);
    std::vector<size_t> used(paths_.size());  // columns of each path that predict
    for (size_t step = 0; step < ends_.size(); ++step) {
        size_t best = 0;
        for (size_t p = 1; p < paths_.size(); ++p)
            if (errors[p][step] < errors[best][step]) best = p;
        best_.push_back(best);
        used[best] = ends_[step];
    }
    auto of_tests = Buffer<double>(checked_product(n_padded_, tested_padded_));
    for (size_t i = 0; i < n_columns_; ++i)
        for (size_t row = 0; row < n_tested_; ++row)
            of_tests[i * tested_padded_ + row] = tested.columns[i * n_tested_ + row] - sums.means[i];
    for (size_t p = 0; p < paths_.size(); ++p) {
        Path& path = paths_[p];
        if (used[p] == 0) {
            path = {};
            continue;
        }
        path.tested = Buffer<double>(checked_product(padded(used[p]), tested_padded_));
        for (size_t i = 0; i < used[p]; i += block)
            kernels().add_products({.factors = path.inverse.data() + i * n_padded_,
                                    .factor_pitch = n_padded_,
                                    .factor_step = 1,
                                    .rows = of_tests.data(),
                                    .pitch = tested_padded_,
                                    .depth = i + block,
                                    .out = path.tested.data() + i * tested_padded_,
                                    .out_pitch = tested_padded_,
                                    .n_rows = block,
                                    .n_columns = tested_padded_});
        path.inverse = {};
        for (size_t i = 0; i < n_columns_; ++i)
            for (size_t y = 0; y < roots_.size(); ++y) path.answers[i * targets_padded_ + y] /= roots_[y];
        path.known = Buffer<double>(checked_product(tested_padded_, targets_padded_));
    }
}

// Rows of [G | Z'Y], the first from the diagonal on.
Buffer<double> NestedRidge::equations_of(const RidgeSums& sums) const {
    Buffer<double> equations(checked_product(n_padded_, n_padded_ + targets_padded_));
    for (size_t i = 0; i < n_columns_; ++i) {
        double* row = equations.data() + i * (n_padded_ + targets_padded_);
        const double* all = sums.all + sums.columns[i] * sums.pitch;
        const double mean = sums.total * sums.means[i];
        for (size_t j = i; j < n_columns_; ++j) row[j] = all[sums.columns[j]] - mean * sums.means[j];
        if (sums.left_out) {
            const double* left_out = sums.left_out + sums.columns[i] * sums.pitch;
            for (size_t j = i; j < n_columns_; ++j) row[j] -= left_out[sums.columns[j]];
        }
        for (size_t y = 0; y < roots_.size(); ++y)
            row[n_padded_ + y] = sums.answers[i * roots_.size() + y] * roots_[y];
    }
    return equations;
}

// Rows of [G | Z'Y | I] become those of [L' | A | L^-1]: every row less multiples of those before it, over
// the root of what is left on the diagonal. Row i has nothing before column i of the first part nor after
// column i of the last, so that what is to be changed lies together. Columns of padding have nothing but a
// diagonal.
void NestedRidge::factorize(const RidgeSums& sums, const Buffer<double>& equations, double penalty,
                            Buffer<double>& rows, Path& path, std::vector<double>& errors) {
    const size_t n = n_padded_, q = targets_padded_, pitch = 2 * n + q, last = n + q;
    for (size_t i = 0; i < n; ++i) {
        double* row = rows.data() + i * pitch;
        std::copy(equations.data() + i * last + i, equations.data() + (i + 1) * last, row + i);
        std::fill_n(row + last, n, 0.0);
        row[i] += i < n_columns_ ? penalty : 1.0;
        row[last + i] = 1.0;
    }
    for (size_t i = 0; i < n; i += block) {
        double* out = rows.data() + i * (pitch + 1);
        kernels().subtract_products({.factors = rows.data() + i,
                                     .factor_pitch = 1,
                                     .factor_step = pitch,
                                     .rows = rows.data() + i,
                                     .pitch = pitch,
                                     .depth = i,
                                     .out = out,
                                     .out_pitch = pitch,
                                     .n_rows = block,
                                     .n_columns = last + block});
        for (size_t r = 0; r < block; ++r) {
            double* row = out + r * pitch;
            for (size_t s = 0; s < r; ++s)
                kernels().add_weighted(out + s * pitch + r, -out[s * pitch + r], last + block - r, row + r);
            const double root = root_of(row[r]);
            for (size_t j = r; j < last + block; ++j) row[j] /= root;
        }
    }

    path.inverse = Buffer<double>::unset(checked_product(n, n));
    path.answers = Buffer<double>::unset(checked_product(n, q));
    for (size_t i = 0; i < n; ++i) {
        const double* row = rows.data() + i * pitch;
        std::copy_n(row + last, n, path.inverse.data() + i * n);
        std::copy_n(row + n, q, path.answers.data() + i * q);
    }
    // Sizes one after the other: what is fitted, the trace of the inverse of the leading block of G, and the
    // coefficients inverse(L)'A of the leading rows.
    Buffer<double> coefficients(checked_product(n, q));
    double fitted = 0, trace = 0;
    for (size_t step = 0, i = 0; step < ends_.size(); ++step) {
        const size_t start = i, end = ends_[step], total = padded(end);
        for (; i < end; ++i) {
            const double *answers = path.answers.data() + i * q, *inverse = path.inverse.data() + i * n;
            fitted += kernels().dot(answers, answers, q);
            trace += kernels().dot(inverse, inverse, i + 1);
        }
        kernels().add_products({.factors = path.inverse.data() + start * n,
                                .factor_pitch = 1,
                                .factor_step = n,
                                .rows = path.answers.data() + start * q,
                                .pitch = q,
                                .depth = end - start,
                                .out = coefficients.data(),
                                .out_pitch = q,
                                .n_rows = total,
                                .n_columns = q});
        const double squared = kernels().dot(coefficients.data(), coefficients.data(), total * q);
        const double residual = std::max(sums.squares - fitted - penalty * squared, 0.0);
        const double left =
            1 - (double(end) - penalty * trace + 1) / sums.total;  // of the degrees of freedom
        errors.push_back(residual / (std::max(left, 1e-3) * std::max(left, 1e-3)));
    }
}

void NestedRidge::predict(size_t step, double* out) {
    Path& path = paths_[best_[step]];
    const size_t start = path.done, q = roots_.size();
    if (step < last_step_) throw std::invalid_argument("sizes that rise");
    last_step_ = step;
    if (ends_[step] > start)
        kernels().add_products({.factors = path.tested.data() + start * tested_padded_,
                                .factor_pitch = 1,
                                .factor_step = tested_padded_,
                                .rows = path.answers.data() + start * targets_padded_,
                                .pitch = targets_padded_,
                                .depth = ends_[step] - start,
                                .out = path.known.data(),
                                .out_pitch = targets_padded_,
                                .n_rows = tested_padded_,
                                .n_columns = targets_padded_});
    path.done = ends_[step];
    for (size_t row = 0; row < n_tested_; ++row)
        std::copy_n(path.known.data() + row * targets_padded_, q, out + row * q);
}

}  // namespace labelsieve
