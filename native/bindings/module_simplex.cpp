// Quadratic programs over the simplex, and their matrix.
#include "bindings/python.hpp"
#include "solver/simplex.hpp"

namespace labelsieve {
namespace {

std::tuple<size_t, double, double> steps_of_pairs(RowMatrix matrix, OutVector<double> weights,
                                                  OutVector<double> gradient, double tolerance,
                                                  size_t max_steps) {
    const size_t n = weights.shape(0);
    require(matrix.shape(0) == n && matrix.shape(1) == n && gradient.shape(0) == n,
            "a square matrix, and a weight and a gradient for each row");
    require(tolerance >= 0, "the tolerance must not be negative");
    const nb::gil_scoped_release released;
    const PairSteps done =
        pair_steps({.matrix = matrix.data(), .n = n, .weights = weights.data(), .gradient = gradient.data()},
                   tolerance, max_steps);
    return {done.steps, done.violation, done.curvature};
}

NewArray<fixed_t> information(nb::ndarray<const fixed_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> sums,
                              Vector<fixed_t> of_rows, Vector<fixed_t> of_columns, double divisor,
                              bool not_negative,
                              nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> matrix,
                              size_t first, Pool& threads) {
    const size_t n = sums.shape(0), n_columns = sums.shape(1);
    require(of_rows.shape(0) == n && of_columns.shape(0) == n_columns,
            "a number for each row and each column");
    require(matrix.shape(0) == n && matrix.shape(1) == n && first + n_columns <= n, "space for the columns");
    std::vector<fixed_t> totals(n);
    {
        const nb::gil_scoped_release released;
        information_of_pairs({.sums = sums.data(),
                              .n = n,
                              .n_columns = n_columns,
                              .first = first,
                              .of_rows = of_rows.data(),
                              .of_columns = of_columns.data(),
                              .divisor = divisor,
                              .not_negative = not_negative},
                             matrix.data(), totals.data(), threads);
    }
    return hand_over(std::move(totals));
}

}  // namespace

void bind_simplex(nb::module_& m) {
    // Threads that wait for the next call; for one caller at a time.
    nb::class_<Pool>(m, "Threads")
        .def(
            "__init__", [](Pool* self, unsigned n_threads) { new (self) Pool(n_threads, poll_signals); },
            "n_threads"_a);
    m.def("pair_steps", &steps_of_pairs, "matrix"_a.noconvert(), "weights"_a.noconvert(),
          "gradient"_a.noconvert(), "tolerance"_a, "max_steps"_a);
    m.def("information_of_pairs", &information, "sums"_a, "of_rows"_a, "of_columns"_a, "divisor"_a,
          "not_negative"_a, "matrix"_a.noconvert(), "first"_a, "threads"_a);
}

}  // namespace labelsieve
