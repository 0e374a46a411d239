// Products of a row with several vectors, and multiples of it added to several. Included by kernels.cpp
// alone.
//
// A product has eight running sums, whatever the width of a vector: the same bits on every machine.
#pragma once

#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

namespace labelsieve {
namespace {

void row_products(const double* row, size_t n, const double* vectors, size_t n_vectors, double* products) {
    constexpr size_t running = 8, width = Lanes<double>::width;
    for (size_t v = 0; v < n_vectors; ++v, vectors += n) {
        Lanes<double> sums[running / width] = {};
        for (size_t i = 0; i < n; i += running)
            for (size_t k = 0; k < running / width; ++k)
                sums[k].values += Lanes<double>::load(row + i + k * width).values *
                                  Lanes<double>::load(vectors + i + k * width).values;
        double s[running];
        for (size_t k = 0; k < running / width; ++k) sums[k].store(s + k * width);
        products[v] = ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
    }
}

void add_multiples(const double* row, size_t n, const double* factors, size_t n_vectors, double* vectors) {
    constexpr size_t width = Lanes<double>::width;
    for (size_t v = 0; v < n_vectors; ++v, vectors += n)
        for (size_t i = 0; i < n; i += width) {
            auto sum = Lanes<double>::load(vectors + i);
            sum.values += factors[v] * Lanes<double>::load(row + i).values;
            sum.store(vectors + i);
        }
}

}  // namespace
}  // namespace labelsieve
