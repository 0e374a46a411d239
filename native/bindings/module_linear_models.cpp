// Linear support vector machines on shared sparse rows, and logistic regression on dense ones, for Python.
#include "bindings/python.hpp"
#include "solver/logistic.hpp"
#include "solver/squared_hinge.hpp"

namespace labelsieve {
namespace {

size_t minimize(CsrArrays<int32_t, double> inputs, size_t n_inputs, double constant, Vector<double> costs,
                Vector<int64_t> own_starts, Vector<int32_t> own_rows, Vector<uint8_t> present,
                double tolerance, OutVector<double> weights) {
    const HingeRows rows{.inputs = checked(inputs.view(), n_inputs, Order::any),
                         .n_inputs = n_inputs,
                         .constant = constant,
                         .costs = view_of(costs)};
    const CsrView<int32_t> own = checked(view_of(own_starts, own_rows), rows.inputs.size(), Order::any);
    require(costs.shape(0) == rows.inputs.size() && present.shape(0) == rows.inputs.size(),
            "a cost and a label for each row");
    require(weights.shape(0) == size_t(constant != 0) + n_inputs + own.size(), "a weight for each input");
    const nb::gil_scoped_release released;
    return minimize_squared_hinge(rows, own, view_of(present), tolerance, {weights.data(), weights.shape(0)});
}

size_t logistic(RowMatrix rows, size_t n_free, Vector<double> costs, RowMatrix gram, Vector<uint32_t> classes,
                Vector<double> curvatures, RowMatrix directions, double tolerance,
                OutVector<double> weights) {
    const size_t n = rows.shape(0), n_inputs = rows.shape(1);
    require(gram.shape(0) == n_inputs && gram.shape(1) == n_inputs && n_free <= n_inputs,
            "a product for each pair of inputs");
    require(costs.shape(0) == n && classes.shape(0) == n, "a cost and a class for each row");
    const size_t n_columns = curvatures.shape(0), n_classes = std::max<size_t>(2, n_columns);
    require(n_columns >= 1 && directions.shape(0) == n_columns && directions.shape(1) == n_columns,
            "a direction for each curvature");
    require(weights.shape(0) == n_inputs * n_columns, "a weight for each input and class");
    for (size_t i = 0; i < n; ++i) require(classes.data()[i] < n_classes, "classes below their number");
    const nb::gil_scoped_release released;
    const LogisticRows given{.rows = rows.data(),
                             .n = n,
                             .n_inputs = n_inputs,
                             .n_free = n_free,
                             .costs = view_of(costs),
                             .gram = gram.data()};
    const LogisticClasses of_rows{
        .of_rows = view_of(classes), .curvatures = view_of(curvatures), .directions = directions.data()};
    return minimize_logistic(given, of_rows, tolerance, {weights.data(), weights.shape(0)});
}

}  // namespace

void bind_linear_models(nb::module_& m) {
    m.def("minimize_logistic", &logistic, "rows"_a, "n_free"_a, "costs"_a, "gram"_a, "classes"_a,
          "curvatures"_a, "directions"_a, "tolerance"_a, "weights"_a.noconvert());
    m.def(
        "minimize_squared_hinge",
        [](Vector<int64_t> starts, Vector<int32_t> indices, Vector<double> values, size_t n_inputs,
           double constant, Vector<double> costs, Vector<int64_t> own_starts, Vector<int32_t> own_rows,
           Vector<uint8_t> present, double tolerance, OutVector<double> weights) {
            return minimize({.starts = starts, .indices = indices, .values = values}, n_inputs, constant,
                            costs, own_starts, own_rows, present, tolerance, weights);
        },
        "starts"_a, "indices"_a, "values"_a, "n_inputs"_a, "constant"_a, "costs"_a, "own_starts"_a,
        "own_rows"_a, "present"_a, "tolerance"_a, "weights"_a.noconvert());
}

}  // namespace labelsieve
