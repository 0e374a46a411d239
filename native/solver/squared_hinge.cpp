#include "solver/squared_hinge.hpp"

#include <cmath>
#include <numeric>
#include <vector>

namespace labelsieve {
namespace {

constexpr size_t most_passes = 300, most_steps = 200, most_products = 1000;
constexpr double sufficient = 1e-4;     // Armijo's constant
constexpr double smallest_step = 1e-9;  // of a direction
constexpr double roughest = 0.1;        // residual of the conjugate gradients, relative to the gradient
constexpr double infinite = std::numeric_limits<double>::infinity();

using Numbers = std::vector<double>;

double product(std::span<const double> a, std::span<const double> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

class Machine {
  public:
    Machine(const HingeRows& rows, const CsrView<int32_t>& own, std::span<const uint8_t> present,
            std::span<double> weights, const std::function<void()>& check)
        : costs_(rows.costs), weights_(weights), check_(check), starts_(present.size() + 1),
          signs_(present.size()) {
        const size_t first = rows.constant == 0 ? 0 : 1;
        std::vector<size_t> n_own(present.size());
        for (const int32_t i : own.indices) ++n_own[size_t(i)];
        for (size_t i = 0; i < present.size(); ++i) {
            signs_[i] = present[i] ? 1.0 : -1.0;
            starts_[i + 1] = starts_[i] + first + rows.inputs.length(i) + n_own[i];
        }
        indices_.resize(starts_.back());
        values_.resize(starts_.back(), 1.0);
        for (size_t i = 0; i < present.size(); ++i) {
            size_t to = starts_[i];
            if (first) indices_[to] = 0, values_[to++] = rows.constant;
            const auto indices = rows.inputs[i];
            const auto values = rows.inputs.values_of(i);
            for (size_t e = 0; e < indices.size(); ++e, ++to)
                indices_[to] = first + size_t(indices[e]), values_[to] = values[e];
        }
        for (size_t j = 0; j < own.size(); ++j)
            for (const int32_t i : own[j])
                indices_[starts_[size_t(i) + 1] - n_own[size_t(i)]--] = first + rows.n_inputs + j;
    }

    size_t minimize(double tolerance) {
        const size_t passes = descend(tolerance);
        return passes < most_passes ? passes : passes + newton(tolerance * tolerance);
    }

  private:
    size_t size() const { return signs_.size(); }

    double times(size_t i, std::span<const double> w) const {
        double sum = 0;
        for (size_t e = starts_[i]; e < starts_[i + 1]; ++e) sum += values_[e] * w[indices_[e]];
        return sum;
    }

    void add(size_t i, double factor, std::span<double> out) const {
        for (size_t e = starts_[i]; e < starts_[i + 1]; ++e) out[indices_[e]] += factor * values_[e];
    }

    // Passes over the rows, each of which gets its best multiplier given the others.
    size_t descend(double tolerance) {
        Numbers multipliers(size()), squares(size());
        std::vector<size_t> order(size());
        std::iota(order.begin(), order.end(), size_t(0));
        for (size_t i = 0; i < size(); ++i) {
            squares[i] = 0.5 / costs_[i];
            for (size_t e = starts_[i]; e < starts_[i + 1]; ++e) squares[i] += values_[e] * values_[e];
        }
        std::fill(weights_.begin(), weights_.end(), 0.0);
        uint64_t random = 88172645463325252u;  // xorshift
        size_t n_active = size();
        double outside = infinite;  // the slope beyond which a row without multiplier is left out
        for (size_t pass = 1; pass <= most_passes; ++pass) {
            check_();
            for (size_t k = 0; k + 1 < n_active; ++k) {
                random ^= random << 13, random ^= random >> 7, random ^= random << 17;
                std::swap(order[k], order[k + size_t((random >> 32) * uint64_t(n_active - k) >> 32)]);
            }
            double highest = -infinite, lowest = infinite;
            for (size_t k = 0; k < n_active;) {
                const size_t i = order[k];
                const double before = multipliers[i];
                double slope = signs_[i] * times(i, weights_) - 1 + before * (0.5 / costs_[i]);
                if (before == 0 && slope > outside) {
                    std::swap(order[k], order[--n_active]);
                    continue;
                }
                ++k;
                if (before == 0 && slope > 0) slope = 0;
                highest = std::max(highest, slope);
                lowest = std::min(lowest, slope);
                if (slope == 0) continue;
                multipliers[i] = std::max(0.0, before - slope / squares[i]);
                add(i, (multipliers[i] - before) * signs_[i], weights_);
            }
            if (highest - lowest <= tolerance || n_active == 0) {
                if (n_active == size()) return pass;
                n_active = size(), outside = infinite;
            } else {
                outside = highest > 0 ? highest : infinite;
            }
        }
        return most_passes;
    }

    // Steps from the present weights.
    size_t newton(double tolerance) {
        gradient_.resize(weights_.size());
        direction_.resize(weights_.size());
        predicted_.resize(size());
        moved_.resize(size());
        for (size_t i = 0; i < size(); ++i) add(i, -2 * costs_[i] * signs_[i], gradient_);
        const double first = std::sqrt(product(gradient_, gradient_));
        for (size_t i = 0; i < size(); ++i) predicted_[i] = times(i, weights_);
        objective_ = objective(product(weights_, weights_), 0);
        for (size_t step = 0; step < most_steps; ++step) {
            look();
            const double length = std::sqrt(product(gradient_, gradient_));
            if (!(length > tolerance * first)) return step;
            solve(std::max(std::min(roughest, length / first), 0.1 * tolerance * first / length) * length);
            if (!advance()) return step;
        }
        return most_steps;
    }

    // The rows inside the margin, the gradient there, and the diagonal of the second derivatives.
    void look() {
        inside_.clear();
        std::copy(weights_.begin(), weights_.end(), gradient_.begin());
        scales_.assign(weights_.size(), 1.0);
        for (size_t i = 0; i < size(); ++i) {
            const double off = predicted_[i] - signs_[i];
            if (off * signs_[i] >= 0) continue;
            inside_.push_back(i);
            add(i, 2 * costs_[i] * off, gradient_);
            for (size_t e = starts_[i]; e < starts_[i + 1]; ++e)
                scales_[indices_[e]] += 2 * costs_[i] * values_[e] * values_[e];
        }
    }

    // The direction of Newton's step, by conjugate gradients scaled by the diagonal.
    void solve(double enough) {
        const size_t n = weights_.size();
        Numbers residual(n), search(n), image(n);
        std::fill(direction_.begin(), direction_.end(), 0.0);
        for (size_t j = 0; j < n; ++j) residual[j] = -gradient_[j], search[j] = residual[j] / scales_[j];
        double energy = product(residual, search);
        for (size_t k = 0; k < most_products && std::sqrt(product(residual, residual)) > enough; ++k) {
            check_();
            image = search;
            for (const size_t i : inside_) add(i, 2 * costs_[i] * times(i, search), image);
            const double along = energy / product(search, image);
            double next = 0;
            for (size_t j = 0; j < n; ++j) {
                direction_[j] += along * search[j];
                residual[j] -= along * image[j];
                next += residual[j] * residual[j] / scales_[j];
            }
            const double kept = next / energy;
            energy = next;
            for (size_t j = 0; j < n; ++j) search[j] = residual[j] / scales_[j] + kept * search[j];
        }
    }

    double objective(double squares, double step) const {
        double loss = 0;
        for (size_t i = 0; i < size(); ++i) {
            const double short_by = std::max(0.0, 1 - signs_[i] * (predicted_[i] + step * moved_[i]));
            loss += costs_[i] * short_by * short_by;
        }
        return 0.5 * squares + loss;
    }

    // A step along the direction, halved until the objective falls; false if only rounding is left.
    bool advance() {
        for (size_t i = 0; i < size(); ++i) moved_[i] = times(i, direction_);
        const double slope = product(gradient_, direction_), squares = product(weights_, weights_),
                     across = product(weights_, direction_), length = product(direction_, direction_);
        for (double step = 1; step > smallest_step; step /= 2) {
            const double value = objective(squares + step * (2 * across + step * length), step);
            if (!(value <= objective_ + sufficient * step * slope)) continue;
            objective_ = value;
            for (size_t j = 0; j < weights_.size(); ++j) weights_[j] += step * direction_[j];
            for (size_t i = 0; i < size(); ++i) predicted_[i] += step * moved_[i];
            return true;
        }
        return false;
    }

    std::span<const double> costs_;
    std::span<double> weights_;
    const std::function<void()>& check_;
    std::vector<size_t> starts_, indices_, inside_;  // all inputs by rows
    Numbers values_, signs_;
    Numbers predicted_, moved_, gradient_, direction_, scales_;
    double objective_ = 0;
};

}  // namespace

size_t minimize_squared_hinge(const HingeRows& rows, const CsrView<int32_t>& own,
                              std::span<const uint8_t> present, double tolerance, std::span<double> weights,
                              const std::function<void()>& check) {
    return Machine(rows, own, present, weights, check).minimize(tolerance);
}

}  // namespace labelsieve
