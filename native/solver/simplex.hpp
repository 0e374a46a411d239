// Quadratic programs over the simplex, two weights at a time.
#pragma once

#include "common/types.hpp"
#include "threads/pool.hpp"

namespace labelsieve {

struct PairSteps {
    size_t steps = 0;
    double violation = 0;  // of the optimality conditions, after the last step
    double curvature = std::numeric_limits<double>::infinity();  // the smallest along the directions taken
};

struct QuadraticProgram {
    const double* matrix;  // Q, symmetric, n x n
    size_t n;
    double* weights;
    double* gradient;  // Qw + c on entry and, up to rounding, on return
};

// Lowers 1/2 w'Qw + c'w over weights that are not negative and keep their sum, by sequential minimal
// optimization: each step moves weight from one variable to another, optimally for that pair, until no
// variable with weight has a gradient more than `tolerance` above the lowest of all, or `max_steps` are done.
//
// The pair is the lowest gradient with the partner of the largest second-order gain (Fan, Chen and Lin 2005);
// ties go to the lowest index. A direction without positive curvature is followed to its end. A step reads
// two rows of Q and costs O(n).
PairSteps pair_steps(const QuadraticProgram& program, double tolerance, size_t max_steps);

// Sums of n log n over the tables of n features with some columns, those of the features from `first` on, and
// how they become information in bits.
struct PairSums {
    const fixed_t* sums;  // n x n_columns; rows before `first` are not read
    size_t n, n_columns, first;
    const fixed_t *of_rows, *of_columns;  // taken off
    double divisor;                       // for nats
    bool not_negative;                    // whatever the last bit of a sum is
};

// Writes the information of the pairs to the n x n matrix, in both places, and the sums of its fixed-point
// numbers over the columns to totals[i], for rows i from `first` on.
void information_of_pairs(const PairSums& pairs, double* matrix, fixed_t* totals, Pool& pool);

}  // namespace labelsieve
