// The two sides of a cut, and the test that accepts it.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "discretize/mdl.hpp"

namespace labelsieve {

struct Cell {
    code_t of_class;
    uint64_t weight;
};

// What a side of a cut holds. `sum` is the sum of f over its classes.
struct Side {
    fixed_t sum = 0;
    uint64_t total = 0;
    size_t n_classes = 0;

    void add(std::vector<uint64_t>& counts, const Cell& cell, const CountTerm& term) {
        uint64_t& n = counts[cell.of_class];
        n_classes += n == 0;
        sum += term(n + cell.weight) - term(n);
        total += cell.weight;
        n += cell.weight;
    }
    void remove(std::vector<uint64_t>& counts, const Cell& cell, const CountTerm& term) {
        uint64_t& n = counts[cell.of_class];
        n -= cell.weight;
        n_classes -= n == 0;
        sum += term(n) - term(n + cell.weight);
        total -= cell.weight;
    }
};

template <class Visit>
void each_class(const ClassesOfRows& problem, const WeightsOfRows& weights, row_t row, Visit&& visit) {
    const uint64_t weight = weights.of_rows ? weights.of_rows[row] : 1;
    if (problem.lists.starts.empty()) return visit(problem.lists.indices[row], weight);
    for (const code_t of_class : problem.lists[row]) visit(of_class, weight);
}

// Fayyad and Irani's test.
struct GainTest {
    const MdlSettings& settings;

    double rows(uint64_t weight) const { return double(weight) / settings.weights.unit; }
    double entropy(const Side& side) const {  // in bits
        return double(settings.term(side.total) - side.sum) / settings.fixed_scale / double(side.total) /
               std::numbers::ln2;
    }
    // log2(3^k - 2) that does not overflow.
    static double class_bits(const Side& whole) {
        const auto k = double(whole.n_classes);
        return k * std::log2(3.0) + std::log1p(-2 * std::pow(3.0, -k)) / std::numbers::ln2;
    }
    // Bits that name the boundary.
    double boundary_bits(const Side& whole, size_t n_boundaries) const {
        return std::log2(settings.count_values ? double(n_boundaries) : std::max(1.0, rows(whole.total) - 1));
    }

    bool accepts(const Side& whole, const Side& low, const Side& high, size_t n_boundaries) const {
        const double n = rows(whole.total), before = entropy(whole);
        const double below = entropy(low), above = entropy(high);
        const double gain = before - (rows(low.total) * below + rows(high.total) * above) / n;
        const double delta =
            class_bits(whole) - (double(whole.n_classes) * before - double(low.n_classes) * below -
                                 double(high.n_classes) * above);
        return gain > (boundary_bits(whole, n_boundaries) + delta) / n;
    }

    // No cut with a lower sum of f less f of the totals passes the test: its sides would have no entropy.
    double least_score(const Side& whole) const {
        const double bits =
            boundary_bits(whole, 0) + class_bits(whole) - double(whole.n_classes) * entropy(whole);
        return double(whole.sum - settings.term(whole.total)) +
               bits * settings.weights.unit * settings.fixed_scale * std::numbers::ln2;
    }
};

}  // namespace labelsieve
