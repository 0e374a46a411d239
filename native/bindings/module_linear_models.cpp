// Linear support vector machines on shared sparse rows, and logistic regression on dense ones, for Python.
#include "bindings/python.hpp"
#include "solver/logistic_links.hpp"
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
    Pool pool(1, poll_signals);
    return minimize_squared_hinge(rows, own, view_of(present), tolerance, {weights.data(), weights.shape(0)},
                                  [&] { pool.check(0); });
}

LogisticRows logistic_rows(const RowMatrix& rows, size_t n_free, const Vector<double>& costs,
                           const RowMatrix& gram) {
    const size_t n = rows.shape(0), n_inputs = gram.shape(0);
    require(gram.shape(1) == n_inputs && n_free <= n_inputs, "a product for each pair of inputs");
    require(rows.shape(1) >= logistic_width(n_inputs), "rows that are filled up to a multiple of eight");
    require(costs.shape(0) == n, "a cost for each row");
    return {.rows = rows.data(),
            .n = n,
            .pitch = rows.shape(1),
            .n_inputs = n_inputs,
            .n_free = n_free,
            .costs = view_of(costs),
            .gram = gram.data()};
}

std::pair<size_t, bool> logistic(RowMatrix rows, size_t n_free, Vector<double> costs, RowMatrix gram,
                                 Vector<uint32_t> classes, Vector<double> curvatures, RowMatrix directions,
                                 double tolerance, size_t max_steps, OutVector<double> weights) {
    const LogisticRows given = logistic_rows(rows, n_free, costs, gram);
    require(classes.shape(0) == given.n, "a class for each row");
    const size_t n_columns = curvatures.shape(0), n_classes = std::max<size_t>(2, n_columns);
    require(n_columns >= 1 && directions.shape(0) == n_columns && directions.shape(1) == n_columns,
            "a direction for each curvature");
    require(weights.shape(0) == given.n_inputs * n_columns, "a weight for each input and class");
    for (size_t i = 0; i < given.n; ++i) require(classes.data()[i] < n_classes, "classes below their number");
    const LogisticClasses of_rows{
        .of_rows = view_of(classes), .curvatures = view_of(curvatures), .directions = directions.data()};
    const nb::gil_scoped_release released;
    Pool pool(1, poll_signals);
    const LogisticEnd end = minimize_logistic(
        given, of_rows, {.tolerance = tolerance, .max_steps = max_steps, .check = [&] { pool.check(0); }},
        {weights.data(), weights.shape(0)});
    return {end.steps, end.converged};
}

// Steps and convergence of the labels.
std::pair<NewArray<int32_t>, NewArray<uint8_t>> logistic_links(
    RowMatrix rows, size_t n_free, Vector<double> costs, RowMatrix gram, size_t n_shared,
    Vector<int64_t> own_starts, Vector<int32_t> own_columns, Vector<uint8_t> present, double tolerance,
    size_t max_steps, unsigned n_threads, OutVector<double> weights) {
    const LogisticRows all = logistic_rows(rows, n_free, costs, gram);
    const CsrView<int32_t> own = checked(view_of(own_starts, own_columns), all.n_inputs, Order::any);
    require(n_free <= n_shared && n_shared <= all.n_inputs, "shared inputs among all of them");
    require(present.shape(0) == own.size() * all.n, "a value for each label and row");
    require(weights.shape(0) == own.size() * n_shared + own.indices.size(), "a weight for each input");
    std::vector<LogisticEnd> ends(own.size());
    {
        const nb::gil_scoped_release released;
        Pool pool(n_threads, poll_signals);
        minimize_links({.all = all, .n_shared = n_shared, .own = own, .present = present.data()}, tolerance,
                       max_steps, {weights.data(), weights.shape(0)}, ends, pool);
    }
    std::vector<int32_t> steps;
    std::vector<uint8_t> converged;
    for (const LogisticEnd& end : ends)
        steps.push_back(int32_t(end.steps)), converged.push_back(end.converged);
    return {hand_over(std::move(steps)), hand_over(std::move(converged))};
}

}  // namespace

void bind_linear_models(nb::module_& m) {
    m.def("minimize_logistic", &logistic, "rows"_a, "n_free"_a, "costs"_a, "gram"_a, "classes"_a,
          "curvatures"_a, "directions"_a, "tolerance"_a, "max_steps"_a, "weights"_a.noconvert());
    m.def("minimize_logistic_links", &logistic_links, "rows"_a, "n_free"_a, "costs"_a, "gram"_a, "n_shared"_a,
          "own_starts"_a, "own_columns"_a, "present"_a, "tolerance"_a, "max_steps"_a, "n_threads"_a,
          "weights"_a.noconvert());
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
