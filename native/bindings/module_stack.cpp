// Predictions of the explained share, and mean ranks, for Python.
#include <optional>

#include "bindings/python.hpp"
#include "prediction/ranks.hpp"
#include "prediction/ridge.hpp"
#include "prediction/stack.hpp"
#include "simd/kernels.hpp"

namespace labelsieve {
namespace {

using Parts = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
constexpr size_t most_parts = 16;  // all their subsets are tried

NewArray<double> weights_of(RowMatrix products, Vector<double> answers) {
    const size_t n = answers.shape(0);
    require(n >= 1 && n <= most_parts && products.shape(0) == n && products.shape(1) == n,
            "a square matrix of at most 16 parts, and an answer for each");
    std::vector<double> weights(n);
    stack_weights(products.data(), answers.data(), n, weights.data());
    return hand_over(std::move(weights));
}

std::pair<NewArray<double>, NewArray<double>> stack(Parts parts, RowMatrix truth, RowMatrix cells,
                                                    Vector<uint64_t> ends, RowMatrix low, RowMatrix high) {
    const size_t n_rows = parts.shape(1), n_columns = parts.shape(2), n_folds = ends.shape(0);
    require(parts.shape(0) >= 1 && parts.shape(0) <= most_parts, "between 1 and 16 parts");
    for (const RowMatrix* cell : {&truth, &cells})
        require(cell->shape(0) == n_rows && cell->shape(1) == n_columns, "a number for each cell");
    for (const RowMatrix* limit : {&low, &high})
        require(limit->shape(0) == n_folds && limit->shape(1) == n_columns,
                "a limit for each fold and column");
    std::vector<size_t> last(ends.data(), ends.data() + n_folds);
    require(n_folds >= 1 && std::is_sorted(last.begin(), last.end()) && last.back() == n_rows,
            "ends of the folds must rise up to the number of rows");
    std::vector<double> of_rows(n_rows), of_columns(n_columns);
    {
        const nb::gil_scoped_release released;
        stack_parts({.parts = parts.data(),
                     .n_parts = parts.shape(0),
                     .n_rows = n_rows,
                     .n_columns = n_columns,
                     .truth = truth.data(),
                     .cells = cells.data(),
                     .ends = last,
                     .low = low.data(),
                     .high = high.data()},
                    of_rows.data(), of_columns.data());
    }
    return {hand_over(std::move(of_rows)), hand_over(std::move(of_columns))};
}

// Where predictions of some rows are written: those of `n_rows` rows from `first` on, in parts from `part`
// on.
double* place_of(const Parts& parts, size_t part, size_t n_parts, size_t first, size_t n_rows) {
    require(part + n_parts <= parts.shape(0) && first + n_rows <= parts.shape(1),
            "parts and rows of the stack");
    return parts.data() + (part * parts.shape(1) + first) * parts.shape(2);
}

void means_of_rows(Vector<row_t> rows, size_t length, Vector<uint64_t> few, RowMatrix weighted,
                   Vector<double> weights, Parts parts, size_t part, size_t first) {
    const std::vector<size_t> counts(few.data(), few.data() + few.shape(0));
    require(!counts.empty() && counts.front() >= 1 && counts.back() <= length &&
                std::is_sorted(counts.begin(), counts.end()),
            "rising numbers of rows, at most as many as a list has");
    require(rows.shape(0) % length == 0, "lists of the same length");
    double* means = place_of(parts, part, counts.size(), first, rows.shape(0) / length);
    require(weights.shape(0) == weighted.shape(0), "a weight for each row");
    require(weighted.shape(1) % product_block == 0 && parts.shape(2) <= weighted.shape(1),
            "rows padded to a multiple of 8 columns");
    row_t largest = 0;
    for (size_t i = 0; i < rows.shape(0); ++i) largest = std::max(largest, rows.data()[i]);
    require(largest < weighted.shape(0), "numbers of rows of the table");
    const nb::gil_scoped_release released;
    neighbor_means({.lists = rows.data(),
                    .n_lists = rows.shape(0) / length,
                    .length = length,
                    .few = counts,
                    .weighted = weighted.data(),
                    .weights = weights.data(),
                    .pitch = weighted.shape(1),
                    .n_columns = parts.shape(2)},
                   parts.shape(1) * parts.shape(2), means);
}

void make_ridge(NestedRidge* self, RowMatrix all, std::optional<RowMatrix> left_out, Vector<uint64_t> columns,
                Vector<double> means, double total, RowMatrix answers, Vector<double> factors, double squares,
                RowMatrix tested, Vector<double> penalties, Vector<uint64_t> ends) {
    const size_t n = columns.shape(0), n_all = all.shape(0);
    require(
        all.shape(1) == n_all && (!left_out || (left_out->shape(0) == n_all && left_out->shape(1) == n_all)),
        "square matrices of products");
    for (size_t i = 0; i < n; ++i) require(columns.data()[i] < n_all, "columns that have products");
    require(means.shape(0) == n && answers.shape(0) == n && tested.shape(0) == n,
            "a mean, answers and test rows for each column");
    require(factors.shape(0) == answers.shape(1), "a factor for each target");
    const std::vector<size_t> last(ends.data(), ends.data() + ends.shape(0));
    require(
        !last.empty() && last.front() >= 1 && last.back() <= n && std::is_sorted(last.begin(), last.end()),
        "numbers of columns must rise, up to all");
    require(penalties.shape(0) >= 1, "a penalty");
    const nb::gil_scoped_release released;
    new (self) NestedRidge({.all = all.data(),
                            .left_out = left_out ? left_out->data() : nullptr,
                            .pitch = n_all,
                            .columns = view_of(columns),
                            .means = means.data(),
                            .total = total,
                            .answers = answers.data(),
                            .n_targets = answers.shape(1),
                            .factors = factors.data(),
                            .squares = squares},
                           {.columns = tested.data(), .n_rows = tested.shape(1)}, view_of(penalties), last);
}

void predict_step(NestedRidge& ridge, size_t step, Parts parts, size_t part, size_t first) {
    require(step < ridge.n_steps(), "a step of the regression");
    require(parts.shape(2) == ridge.n_targets(), "a column for each target");
    double* out = place_of(parts, part, 1, first, ridge.n_tested());
    const nb::gil_scoped_release released;
    ridge.predict(step, out);
}

void ranks_of_columns(RowMatrix columns, std::optional<Vector<double>> weights,
                      nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> ranks) {
    const size_t n_rows = columns.shape(1);
    require_row_count(n_rows);
    require(ranks.shape(0) == columns.shape(0) && ranks.shape(1) == n_rows, "a rank for each number");
    require(!weights || weights->shape(0) == n_rows, "a weight for each row");
    const nb::gil_scoped_release released;
    if (n_rows > 0)
        mid_ranks({columns.data(), columns.size()}, n_rows, weights ? weights->data() : nullptr,
                  ranks.data());
}

void standardize_columns(nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> columns,
                         Vector<double> weights, double most) {
    require(weights.shape(0) == columns.shape(1) && weights.shape(0) >= 1, "a weight for each row");
    const nb::gil_scoped_release released;
    standardize({columns.data(), columns.size()}, view_of(weights), most);
}

}  // namespace

void bind_stack(nb::module_& m) {
    m.def("stack_weights", &weights_of, "products"_a, "answers"_a);
    m.def("stack_parts", &stack, "parts"_a.noconvert(), "truth"_a.noconvert(), "cells"_a.noconvert(),
          "ends"_a, "low"_a.noconvert(), "high"_a.noconvert());
    m.def("mid_ranks", &ranks_of_columns, "columns"_a.noconvert(), "weights"_a.none(), "ranks"_a.noconvert());
    m.def("standardize", &standardize_columns, "columns"_a.noconvert(), "weights"_a, "most"_a);
    m.def("neighbor_means", &means_of_rows, "rows"_a, "length"_a, "few"_a, "weighted"_a.noconvert(),
          "weights"_a, "parts"_a.noconvert(), "part"_a, "first"_a);
    nb::class_<NestedRidge>(m, "NestedRidge", "Ridge regressions with the first columns up to several ends.")
        .def("__init__", &make_ridge, "all"_a, "left_out"_a.none(), "columns"_a, "means"_a, "total"_a,
             "answers"_a, "factors"_a, "squares"_a, "tested"_a, "penalties"_a, "ends"_a)
        .def("predict", &predict_step, "step"_a, "parts"_a.noconvert(), "part"_a, "first"_a);
}

}  // namespace labelsieve
