// Stacked predictions of the explained share, and mean ranks, for Python.
#include <optional>

#include "bindings/python.hpp"
#include "prediction/ranks.hpp"
#include "prediction/stack.hpp"

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

void means_of_rows(Vector<row_t> rows, size_t length, Vector<uint64_t> few, RowMatrix deviations,
                   Vector<double> weights, Parts means) {
    const std::vector<size_t> counts(few.data(), few.data() + few.shape(0));
    require(!counts.empty() && counts.front() >= 1 && counts.back() <= length &&
                std::is_sorted(counts.begin(), counts.end()),
            "rising numbers of rows, at most as many as a list has");
    require(rows.shape(0) == length * means.shape(1) && means.shape(0) == counts.size(),
            "a list for each query");
    require(weights.shape(0) == deviations.shape(0) && means.shape(2) == deviations.shape(1),
            "a weight for each row and a mean for each column");
    for (size_t i = 0; i < rows.shape(0); ++i)
        require(rows.data()[i] < deviations.shape(0), "numbers of rows of the table");
    const nb::gil_scoped_release released;
    neighbor_means({.lists = rows.data(),
                    .n_lists = means.shape(1),
                    .length = length,
                    .few = counts,
                    .deviations = deviations.data(),
                    .weights = weights.data(),
                    .n_columns = deviations.shape(1)},
                   means.data());
}

NewArray<double> squares_of_coefficients(RowMatrix inverse, RowMatrix answers, Vector<uint64_t> ends) {
    const size_t n = inverse.shape(0);
    require(inverse.shape(1) == n && answers.shape(0) == n,
            "a square matrix, and answers for each of its rows");
    const std::vector<size_t> columns(ends.data(), ends.data() + ends.shape(0));
    require(std::is_sorted(columns.begin(), columns.end()) && (columns.empty() || columns.back() <= n),
            "numbers of columns must rise, up to all");
    std::vector<double> squares(columns.size());
    {
        const nb::gil_scoped_release released;
        squared_coefficients(inverse.data(), answers.data(), n, answers.shape(1), columns, squares.data());
    }
    return hand_over(std::move(squares));
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

}  // namespace

void bind_stack(nb::module_& m) {
    m.def("stack_weights", &weights_of, "products"_a, "answers"_a);
    m.def("stack_parts", &stack, "parts"_a.noconvert(), "truth"_a.noconvert(), "cells"_a.noconvert(),
          "ends"_a, "low"_a.noconvert(), "high"_a.noconvert());
    m.def("squared_coefficients", &squares_of_coefficients, "inverse"_a.noconvert(), "answers"_a.noconvert(),
          "ends"_a);
    m.def("mid_ranks", &ranks_of_columns, "columns"_a.noconvert(), "weights"_a.none(), "ranks"_a.noconvert());
    m.def("neighbor_means", &means_of_rows, "rows"_a, "length"_a, "few"_a, "deviations"_a.noconvert(),
          "weights"_a, "means"_a.noconvert());
}

}  // namespace labelsieve
