// Linear support vector machines on shared sparse rows, for Python.
#include "bindings/python.hpp"
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

}  // namespace

void bind_squared_hinge(nb::module_& m) {
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
