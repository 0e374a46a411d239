// Stacked predictions: weighted means of several predictions of the same cells, whose weights come from other
// folds. And what such predictions are made of.
#pragma once

#include <span>

#include "common/types.hpp"

namespace labelsieve {

// The least of w'Pw - 2a'w over weights that are not negative and at most 1 in all; products are P (n x n,
// row after row). The best weights solve the equations of some subset of the parts, with a sum of 1 where
// that of the free solution is larger. Parts are few, so all subsets are solved, the lowest numbers first.
void stack_weights(const double* products, const double* answers, size_t n, double* weights);

// Predictions of the test rows of all folds, one fold after the other, as deviations from the means of their
// training rows.
struct Stack {
    double* parts;  // n_parts x n_rows x n_columns; the last is replaced by the stacked predictions
    size_t n_parts, n_rows, n_columns;
    const double *truth, *cells;   // n_rows x n_columns: deviations, and the weight of each cell
    std::span<const size_t> ends;  // the last row of every fold, and one
    const double *low, *high;      // for every fold and column: limits of the predictions
};

// Stacks the parts of every fold with weights from the rows of the other folds. `of_rows` and `of_columns`
// get how much smaller the weighted squared errors are than those of a prediction of 0, summed over the cells
// of every row and of every column. Sums have a fixed order: results do not depend on the processor.
void stack_parts(const Stack& stack, double* of_rows, double* of_columns);

// Weighted means of the first rows of every list, which has `length`: of as many as every number in `few`,
// which rise. For each number they are n_lists x n_columns, `step` apart. `weighted` has the rows times their
// weights, each padded to a multiple of product_block numbers.
struct NeighborMeans {
    const row_t* lists;
    size_t n_lists, length;
    std::span<const size_t> few;
    const double *weighted, *weights;
    size_t pitch, n_columns;
};
void neighbor_means(const NeighborMeans& lists, size_t step, double* means);

}  // namespace labelsieve
