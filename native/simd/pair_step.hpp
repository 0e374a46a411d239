// The two passes of a step over the simplex: moving the gradient, and finding a partner. Included by
// kernels.cpp alone.
//
// Every number is computed on its own in a fixed order, and extremes do not depend on theirs: the same bits
// on every machine.
#pragma once

#include <bit>
#include <limits>

#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

namespace labelsieve {
namespace {

constexpr size_t pair_running = 2;  // running extremes that do not wait for each other

// The first i < n with values[i] <= bound, or n.
inline size_t first_up_to(const double* values, size_t n, double bound) {
    constexpr size_t wide = in_line<double>;
    size_t i = 0;
    for (; i + wide <= n; i += wide)
        if (const uint64_t mask = up_to(values + i, bound)) return i + size_t(std::countr_zero(mask));
    for (; i < n && !(values[i] <= bound); ++i);
    return i;
}

// The least of running extremes.
inline double least_of(const Lanes<double>* running, double least) {
    for (size_t r = 0; r < pair_running; ++r) {
        double values[Lanes<double>::width];
        running[r].store(values);
        for (const double value : values) least = value < least ? value : least;
    }
    return least;
}

size_t move_gradient(const double* up, const double* down, double weight, size_t n, double* gradient) {
    using Vector = Lanes<double>::vector;
    constexpr size_t width = Lanes<double>::width, wide = width * pair_running;
    constexpr double most = std::numeric_limits<double>::infinity();
    Lanes<double> low[pair_running];
    for (auto& lane : low) lane.values = Vector{} + most;
    size_t i = 0;
    for (; i + wide <= n; i += wide)
        for (size_t r = 0; r < pair_running; ++r) {
            const size_t at = i + r * width;
            auto moved = Lanes<double>::load(gradient + at);
            moved.values +=
                weight * (Lanes<double>::load(up + at).values - Lanes<double>::load(down + at).values);
            moved.store(gradient + at);
            low[r].keep_least(moved);
        }
    double least = least_of(low, most);
    for (; i < n; ++i) {
        gradient[i] += weight * (up[i] - down[i]);
        least = gradient[i] < least ? gradient[i] : least;
    }
    const size_t first = first_up_to(gradient, n, least);
    return first < n ? first : 0;  // none where numbers are not finite
}

// With Value a number, or many of them. `promise` is minus the gain, for the least of them, and 1 for
// variables that cannot give weight.
template <class Value>
inline void promise_of(const PairSearch& search, const Value& gradient, const Value& weights,
                       const Value& diagonal, const Value& row, Value& promise, Value& below) {
    constexpr double none = std::numeric_limits<double>::infinity();
    const Value nothing = Value{};
    const Value slope = gradient - search.gradient_to;
    const Value curvature = search.diagonal_to + diagonal - 2.0 * row;
    const Value least = nothing + search.least_curvature;
    const Value gain = slope * slope / (curvature > least ? curvature : least);
    promise = (weights > nothing) & (slope > nothing) ? -gain : nothing + 1.0;
    below = weights > nothing ? -gradient : nothing + none;
}

size_t best_partner(const PairSearch& search, double* highest) {
    using Vector = Lanes<double>::vector;
    constexpr size_t width = Lanes<double>::width, wide = width * pair_running;
    constexpr double none = std::numeric_limits<double>::infinity();
    Lanes<double> best[pair_running], low[pair_running];
    for (auto& lane : best) lane.values = Vector{} + 1.0;
    for (auto& lane : low) lane.values = Vector{} + none;
    size_t i = 0;
    for (; i + wide <= search.n; i += wide)
        for (size_t r = 0; r < pair_running; ++r) {
            const size_t at = i + r * width;
            const auto load = [&](const double* from) { return Lanes<double>::load(from + at).values; };
            Lanes<double> promise, below;
            promise_of<Vector>(search, load(search.gradient), load(search.weights), load(search.diagonal),
                               load(search.row_to), promise.values, below.values);
            promise.store(search.promises + at);
            best[r].keep_least(promise);
            low[r].keep_least(below);
        }
    double most = least_of(best, 1.0), lowest = least_of(low, none);
    for (; i < search.n; ++i) {
        double below;
        promise_of<double>(search, search.gradient[i], search.weights[i], search.diagonal[i],
                           search.row_to[i], search.promises[i], below);
        most = search.promises[i] < most ? search.promises[i] : most;
        lowest = below < lowest ? below : lowest;
    }
    *highest = -lowest;
    return most < 1.0 ? first_up_to(search.promises, search.n, most) : search.n;
}

}  // namespace
}  // namespace labelsieve
