// Terms of the counts, joint variables and accumulators, for Python.
#include "bindings/python.hpp"
#include "counting/evaluate.hpp"
#include "counting/partition.hpp"
#include "counting/terms.hpp"

namespace labelsieve {
namespace {

void fixed_terms(uint64_t first, Vector<double> logs, double scale, fixed_t penalty, OutVector<fixed_t> out) {
    require(logs.shape(0) == WeightedTerm::n_logs + 1, "4,097 logarithms");
    require(first < uint64_t(1) << 52 && out.shape(0) < uint64_t(1) << 52, "counts below 2^53");
    const nb::gil_scoped_release released;
    fill_terms({.logs = logs.data(), .scale = scale, .penalty = penalty}, first, {out.data(), out.shape(0)});
}

size_t refine_joint(OutVector<uint32_t> joint, size_t n_joint, Vector<code_t> column, size_t n_levels) {
    require(n_joint >= 1 && n_levels >= 1, "a variable has at least one level");
    require(joint.shape(0) == column.shape(0), "the joint variable and the column must have the same rows");
    for (size_t row = 0; row < joint.shape(0); ++row)
        require(joint.data()[row] < n_joint && column.data()[row] < n_levels,
                "a code is not below the number of levels");
    const nb::gil_scoped_release released;
    return refine({joint.data(), joint.shape(0)}, n_joint, column.data(), n_levels);
}

void fold_into(OutVector<fixed_t> accumulator, std::optional<Vector<fixed_t>> fixed, Vector<fixed_t> pair,
               fixed_t pair_factor, Vector<fixed_t> triple, fixed_t triple_factor, fixed_t constant) {
    const size_t n = accumulator.shape(0);
    require(pair.shape(0) == n && triple.shape(0) == n && (!fixed || fixed->shape(0) == n),
            "one number for each feature");
    const PanelTerms terms{.constant = constant,
                           .fixed = fixed ? fixed->data() : nullptr,
                           .pair_factor = pair_factor,
                           .triple_factor = triple_factor};
    fold_panel(terms, pair.data(), triple.data(), n, accumulator.data());
}

}  // namespace

void bind_terms(nb::module_& m) {
    m.def("fold_panel", &fold_into, "accumulator"_a.noconvert(), "fixed"_a.none(), "pair"_a, "pair_factor"_a,
          "triple"_a, "triple_factor"_a, "constant"_a);
    m.def("fixed_terms", &fixed_terms, "first"_a, "logs"_a, "scale"_a, "penalty"_a, "out"_a.noconvert());
    m.def("refine", &refine_joint, "joint"_a.noconvert(), "n_joint"_a, "column"_a, "n_levels"_a);
}

}  // namespace labelsieve
