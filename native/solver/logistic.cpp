#include "solver/logistic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "simd/kernels.hpp"

namespace labelsieve {
namespace {

using Numbers = std::vector<double>;

constexpr size_t memory = 30;
constexpr double sufficient = 1e-4,
                 smallest_step = 1e-9;  // Armijo's constant, and when only rounding is left
constexpr double rounding = 1e-6;       // of the objective: what a step that fails may still promise
constexpr size_t factors = 512;         // between 1 and 2, whose product stays finite
constexpr size_t unchecked = 1 << 22;   // multiplications between two checks

// Four running sums, so that additions do not wait for each other.
double product(const double* a, const double* b, size_t n) {
    double sums[4] = {};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
    for (; i < n; ++i) sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void add(double factor, const double* from, size_t n, double* to) {
    for (size_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

// Lower triangle of the Cholesky decomposition of a matrix, row by row; false unless it is positive definite.
bool decompose(Numbers& matrix, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        double* row = matrix.data() + i * n;
        for (size_t j = 0; j < i; ++j) {
            const double* other = matrix.data() + j * n;
            row[j] = (row[j] - product(row, other, j)) / other[j];
        }
        const double rest = row[i] - product(row, row, i);
        if (!(rest > 0)) return false;
        row[i] = std::sqrt(rest);
    }
    return true;
}

class Regression {
  public:
    Regression(const LogisticRows& rows, const LogisticClasses& classes, const LogisticLimits& limits)
        : rows_(rows), limits_(limits), classes_(classes.of_rows), n_columns_(classes.curvatures.size()),
          width_(logistic_width(rows.n_inputs)),
          mask_(std::bit_floor(std::max<size_t>(1, unchecked / (width_ * n_columns_))) - 1),
          directions_(classes.directions), weights_(n_columns_ * width_, 0.0), gradient_(weights_.size()),
          off_(n_columns_) {
        for (const double curvature : classes.curvatures) {
            limits.check();
            guesses_.push_back(decomposed_guess(curvature));
        }
    }

    double weight(size_t column, size_t input) const { return weights_[column * width_ + input]; }

    LogisticEnd minimize() {
        double value = evaluate(weights_.data(), gradient_);
        Numbers direction, candidate(weights_.size()), slopes(weights_.size());
        std::vector<Numbers> steps, changes;
        Numbers curvatures;
        for (size_t step = 0;; ++step) {
            const double promise = first_guess(gradient_, direction);
            if (promise <= limits_.tolerance * value) return {step, true};
            if (step == limits_.max_steps) return {step, false};
            two_loops(steps, changes, curvatures, direction);
            const double slope = product(gradient_.data(), direction.data(), direction.size());
            double size = 1, next = 0;
            for (;; size /= 2) {
                std::copy(weights_.begin(), weights_.end(), candidate.begin());
                add(-size, direction.data(), direction.size(), candidate.data());
                next = evaluate(candidate.data(), slopes);
                if (next <= value - sufficient * size * slope) break;
                if (size < smallest_step) return {step, promise <= rounding * value};
            }
            if (steps.size() == memory) {
                steps.erase(steps.begin());
                changes.erase(changes.begin());
                curvatures.erase(curvatures.begin());
            }
            Numbers moved(candidate), change(slopes);
            add(-1, weights_.data(), moved.size(), moved.data());
            add(-1, gradient_.data(), change.size(), change.data());
            const double curvature = product(moved.data(), change.data(), moved.size());
            if (curvature > 0) {
                steps.push_back(std::move(moved));
                changes.push_back(std::move(change));
                curvatures.push_back(curvature);
            }
            std::copy(candidate.begin(), candidate.end(), weights_.begin());
            gradient_.swap(slopes);
            value = next;
        }
    }

  private:
    size_t width() const { return width_; }

    const double* row(size_t i) const {
        if ((i & mask_) == 0) limits_.check();
        return rows_.rows + i * rows_.pitch;
    }

    // The decomposition of the Gram matrix times a curvature, and the penalty.
    Numbers decomposed_guess(double curvature) const {
        Numbers guess(width() * width(), 0.0);
        for (size_t j = 0; j < rows_.n_inputs; ++j)
            add(curvature, rows_.gram + j * rows_.n_inputs, rows_.n_inputs, guess.data() + j * width());
        for (size_t j = rows_.n_free; j < width(); ++j) guess[j * width() + j] += 1;
        // Without a penalty an input may be the sum of others, up to rounding.
        for (double shift = 0; shift < 1; shift = std::max(10 * shift, 1e-12)) {
            Numbers decomposed = guess;
            for (size_t j = 0; j < width(); ++j) decomposed[j * width() + j] *= 1 + shift;
            if (decompose(decomposed, width())) return decomposed;
        }
        Numbers none(width() * width(), 0.0);  // where numbers are not finite
        for (size_t j = 0; j < width(); ++j) none[j * width() + j] = 1;
        return none;
    }

    // direction = the step of the first guess; returns what it promises.
    double first_guess(const Numbers& gradient, Numbers& direction) const {
        direction = gradient;
        solve(direction);
        return 0.5 * product(gradient.data(), direction.data(), direction.size());
    }

    void solve(Numbers& values) const {
        const size_t n = width();
        Numbers sums(values.size(), 0.0), x(n);
        for (size_t k = 0; k < n_columns_; ++k) {
            const double *direction = directions_ + k * n_columns_, *guess = guesses_[k].data();
            std::fill(x.begin(), x.end(), 0.0);
            for (size_t c = 0; c < n_columns_; ++c) add(direction[c], values.data() + c * n, n, x.data());
            for (size_t i = 0; i < n; ++i)
                x[i] = (x[i] - product(guess + i * n, x.data(), i)) / guess[i * n + i];
            for (size_t i = n; i-- > 0;) {
                x[i] /= guess[i * n + i];
                add(-x[i], guess + i * n, i, x.data());
            }
            for (size_t c = 0; c < n_columns_; ++c) add(direction[c], x.data(), n, sums.data() + c * n);
        }
        values = std::move(sums);
    }

    // Nocedal's recursion, from the gradient to the direction.
    void two_loops(const std::vector<Numbers>& steps, const std::vector<Numbers>& changes,
                   const Numbers& curvatures, Numbers& direction) const {
        if (steps.empty()) return;
        const size_t n = direction.size();
        Numbers along(steps.size());
        direction = gradient_;
        for (size_t k = steps.size(); k-- > 0;) {
            along[k] = product(steps[k].data(), direction.data(), n) / curvatures[k];
            add(-along[k], changes[k].data(), n, direction.data());
        }
        Numbers image = changes.back();
        solve(image);
        const double scale = curvatures.back() / product(changes.back().data(), image.data(), n);
        solve(direction);
        for (double& value : direction) value *= scale;
        for (size_t k = 0; k < steps.size(); ++k) {
            const double other = product(changes[k].data(), direction.data(), n) / curvatures[k];
            add(along[k] - other, steps[k].data(), n, direction.data());
        }
    }

    double evaluate(const double* weights, Numbers& gradient) {
        const size_t n = width();
        double penalty = 0;
        for (size_t column = 0; column < n_columns_; ++column)
            for (size_t j = 0; j < n; ++j) {
                const double weight = j < rows_.n_free ? 0 : weights[column * n + j];
                gradient[column * n + j] = weight;
                penalty += weight * weight;
            }
        const double loss =
            n_columns_ == 1 ? two_classes(weights, gradient) : many_classes(weights, gradient);
        for (size_t column = 0; column < n_columns_; ++column)  // what follows the inputs has no weight
            std::fill_n(gradient.data() + column * n + rows_.n_inputs, n - rows_.n_inputs, 0.0);
        return 0.5 * penalty + loss;
    }

    // Logarithms are taken of products of rows with the same cost.
    double two_classes(const double* weights, Numbers& gradient) {
        const size_t n = width();
        double loss = 0, together = 1, cost = 0;
        size_t n_together = 0;
        for (size_t i = 0; i < rows_.n; ++i) {
            const double* input = row(i);
            double odds = 0;
            kernels().row_products(input, n, weights, 1, &odds);
            const double sign = classes_[i] ? 1.0 : -1.0;
            const double small = std::exp(-std::abs(odds)), wrong = sign * odds > 0 ? small : 1.0;
            if (rows_.costs[i] != cost || n_together == factors) {
                loss += cost * std::log(together);
                together = 1, n_together = 0, cost = rows_.costs[i];
            }
            together *= 1 + small, ++n_together;
            if (sign * odds < 0) loss += cost * std::abs(odds);
            const double factor = -cost * sign * wrong / (1 + small);
            kernels().add_multiples(input, n, &factor, 1, gradient.data());
        }
        return loss + cost * std::log(together);
    }

    double many_classes(const double* weights, Numbers& gradient) {
        const size_t n = width();
        double loss = 0;
        for (size_t i = 0; i < rows_.n; ++i) {
            const double* input = row(i);
            kernels().row_products(input, n, weights, n_columns_, off_.data());
            const double highest = *std::max_element(off_.begin(), off_.end()), of_class = off_[classes_[i]];
            double all = 0;
            for (double& value : off_) all += value = std::exp(value - highest);
            loss += rows_.costs[i] * (std::log(all) + highest - of_class);
            for (double& value : off_) value *= rows_.costs[i] / all;
            off_[classes_[i]] -= rows_.costs[i];
            kernels().add_multiples(input, n, off_.data(), n_columns_, gradient.data());
        }
        return loss;
    }

    const LogisticRows& rows_;
    const LogisticLimits& limits_;
    std::span<const uint32_t> classes_;
    size_t n_columns_, width_;  // inputs, rounded up
    size_t mask_;               // of row numbers, for a check
    const double* directions_;
    Numbers weights_;
    std::vector<Numbers> guesses_;  // for each direction
    Numbers gradient_, off_;
};

}  // namespace

LogisticEnd minimize_logistic(const LogisticRows& rows, const LogisticClasses& classes,
                              const LogisticLimits& limits, std::span<double> weights) {
    Regression regression(rows, classes, limits);
    const LogisticEnd end = regression.minimize();
    for (size_t c = 0; c < classes.curvatures.size(); ++c)
        for (size_t j = 0; j < rows.n_inputs; ++j) weights[c * rows.n_inputs + j] = regression.weight(c, j);
    return end;
}

}  // namespace labelsieve
