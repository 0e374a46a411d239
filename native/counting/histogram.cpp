#include "counting/histogram.hpp"

#include <bit>
#include <cmath>

namespace labelsieve {

fixed_t WeightedTerm::operator()(uint64_t n) const {
    if (n == 0) return 0;
    const int exponent = int(std::bit_width(n)) - 1;
    const double mantissa = std::ldexp(double(n), -exponent);  // in [1, 2), exact below 2^53
    const auto index = size_t((mantissa - 1.0) * double(n_logs));
    const double center = 1.0 + double(index) / double(n_logs);
    const double r = (mantissa - center) / center;  // below 1/4096, so four terms of log(1 + r) are enough
    const double series = r * (1.0 - r * (0.5 - r * (1.0 / 3.0 - r * 0.25)));
    const double log = double(exponent) * logs[n_logs] + (logs[index] + series);
    return fixed_t(std::floor(double(n) * log * scale + 0.5)) - penalty;
}

fixed_t sum_cells(const code_t* codes, const Partition& groups, const fixed_t* table, count_t* cells) {
    fixed_t sum = fixed_t(groups.n_singletons) * table[1];
    for (size_t g = 0; g < groups.n_groups(); ++g) {
        for (const row_t row : groups.group(g)) ++cells[codes[row]];
        for (const row_t row : groups.group(g)) {
            sum += table[cells[codes[row]]];  // table[0] is 0: a level is added once
            cells[codes[row]] = 0;
        }
    }
    return sum;
}

fixed_t sum_weighted_cells(const code_t* codes, const Partition& groups, const uint64_t* weights,
                           const WeightedTerm& term, uint64_t* cells) {
    fixed_t sum = 0;
    for (size_t g = 0; g < groups.n_groups(); ++g) {
        for (const row_t row : groups.group(g)) cells[codes[row]] += weights[row];
        for (const row_t row : groups.group(g)) {
            sum += term(cells[codes[row]]);
            cells[codes[row]] = 0;
        }
    }
    return sum;
}

}  // namespace labelsieve
