#include "counting/histogram.hpp"

namespace labelsieve {

namespace {

template <class Count, class Weight>
fixed_t sum_groups(const code_t* codes, const Partition& groups, const Terms<Count>& terms, Count* cells,
                   const Weight& weight) {
    fixed_t sum = groups.singleton_sum;
    for (size_t g = 0; g < groups.n_groups(); ++g) {
        for (const row_t row : groups.group(g)) cells[codes[row]] += weight(row);
        for (const row_t row : groups.group(g)) {
            sum += terms(cells[codes[row]]);  // the term of 0 is 0: a level is added once
            cells[codes[row]] = 0;
        }
    }
    return sum;
}

}  // namespace

template <class Count>
fixed_t sum_cells(const code_t* codes, const Partition& groups, const Terms<Count>& terms, Count* cells) {
    if (!terms.weights) return sum_groups(codes, groups, terms, cells, [](row_t) { return Count(1); });
    return sum_groups(codes, groups, terms, cells, [&](row_t row) { return (*terms.weights)[row]; });
}

template fixed_t sum_cells(const code_t*, const Partition&, const Terms<count_t>&, count_t*);
template fixed_t sum_cells(const code_t*, const Partition&, const Terms<double>&, double*);

}  // namespace labelsieve
