// The Python face of codes and cut points.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>

#include "bindings/python_numbers.hpp"
#include "discretize/cuts.hpp"
#include "discretize/mdl.hpp"
#include "discretize/rules.hpp"

namespace labelsieve {

namespace {

template <class Code>
void copy_numbers(Matrix numbers, OutMatrix<Code> out) {
    require(out.shape(0) == numbers.shape(0) && out.shape(1) == numbers.shape(1), "shapes differ");
    const Numbers view = numbers_of(numbers);
    nb::gil_scoped_release released;
    copy_codes(view, out.data());
}

template <class Code>
Where bin_numbers(Matrix numbers, size_t n_bins, bool closed_right, OutMatrix<Code> out,
                  OutVector<uint32_t> levels) {
    require(out.shape(0) == numbers.shape(0) && out.shape(1) == numbers.shape(1), "shapes differ");
    require(levels.shape(0) == numbers.shape(1), "one number of levels for each column");
    require(numbers.shape(0) > 0 && n_bins >= 1 && n_bins <= (sizeof(Code) == 1 ? 256 : max_levels),
            "no rows, or bins out of range");
    const Numbers view = numbers_of(numbers);
    nb::gil_scoped_release released;
    return where(equal_width(view, {n_bins, closed_right}, out.data(), levels.data()));
}

// Numbers by columns and the arrays that they look at.
struct NumberColumns {
    Matrix dense;
    Vector<int64_t> starts;
    Vector<row_t> rows;
    Vector<double> listed;
    std::unique_ptr<Values> values;
};

NumberColumns* dense_numbers(Matrix numbers) {
    const Numbers view = numbers_of(numbers);
    require(view.n_rows >= 1 && view.n_rows < std::numeric_limits<row_t>::max(),
            "between 1 and 4,294,967,294 rows");
    auto columns = std::make_unique<NumberColumns>();
    columns->values = std::make_unique<Values>(view);
    columns->dense = std::move(numbers);
    return columns.release();
}

NumberColumns* sparse_numbers(Vector<int64_t> starts, Vector<row_t> rows, Vector<double> values,
                              size_t n_rows) {
    require(n_rows >= 1 && n_rows < std::numeric_limits<row_t>::max(), "between 1 and 4,294,967,294 rows");
    require(starts.shape(0) >= 1 && rows.shape(0) == values.shape(0), "as many rows as values");
    const size_t n_columns = starts.shape(0) - 1;
    require_starts(starts, n_columns, values.shape(0));
    for (size_t j = 0; j < n_columns; ++j)
        for (int64_t k = starts.data()[j]; k < starts.data()[j + 1]; ++k)
            require(rows.data()[k] < n_rows && (k == starts.data()[j] || rows.data()[k - 1] < rows.data()[k]),
                    "rows must rise in a column");
    auto columns = std::make_unique<NumberColumns>();
    columns->values = std::make_unique<Values>(starts.data(), rows.data(), values.data(), n_rows, n_columns);
    columns->starts = std::move(starts);
    columns->rows = std::move(rows);
    columns->listed = std::move(values);
    return columns.release();
}

template <class T>
auto handed_over(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* given) noexcept { delete static_cast<std::vector<T>*>(given); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

auto handed_over(ColumnCuts&& cuts) {
    return std::tuple(handed_over(std::move(cuts.starts)), handed_over(std::move(cuts.points)),
                      handed_over(std::move(cuts.kept)));
}

WeightsOfRows weights_of(const std::optional<Vector<uint64_t>>& weights, double unit, size_t n_rows) {
    if (!weights) return {nullptr, 1.0, n_rows};
    require(weights->shape(0) == n_rows && unit > 0, "one weight for each row, and a unit");
    WeightsOfRows all{weights->data(), unit, 0};
    for (size_t row = 0; row < n_rows; ++row) all.total += weights->data()[row];
    return all;
}

auto cut_numbers(const NumberColumns& numbers, const std::string& rule, size_t n_bins, double factor,
                 double steps, bool keep_binary, std::optional<Vector<uint64_t>> weights, double unit) {
    const Rule which = rule == "equal-width"       ? Rule::equal_width
                       : rule == "equal-frequency" ? Rule::equal_frequency
                       : rule == "k-means"         ? Rule::k_means
                                                   : Rule::mean_std;
    require(which != Rule::mean_std || (rule == "mean-std" && (n_bins == 3 || n_bins == 5)),
            "unknown rule, or levels other than 3 and 5");
    require(n_bins >= 1 && n_bins <= max_levels && steps >= 0, "bins out of range");
    const WeightsOfRows of_rows = weights_of(weights, unit, numbers.values->n_rows());
    ColumnCuts cuts;
    {
        nb::gil_scoped_release released;
        cuts =
            cut_columns(*numbers.values, {which, n_bins, factor, steps, keep_binary}, of_rows, poll_signals);
    }
    return handed_over(std::move(cuts));
}

// `classes` holds a column for each problem; with `starts` there is one problem, and rows may have any number
// of classes.
nb::list mdl_numbers(const NumberColumns& numbers, std::optional<Vector<int64_t>> starts,
                     nb::ndarray<const code_t, nb::ndim<2>, nb::f_contig, nb::device::cpu> classes,
                     Vector<uint32_t> n_classes, std::optional<Vector<uint64_t>> weights, double unit,
                     std::optional<Vector<fixed_t>> table, Vector<double> logs, double scale, bool kononenko,
                     bool count_values) {
    const size_t n_rows = numbers.values->n_rows(), n_problems = classes.shape(1);
    require(n_classes.shape(0) == n_problems && logs.shape(0) == WeightedTerm::n_logs + 1 && scale > 0,
            "shapes differ");
    if (starts) {
        require(n_problems == 1, "one problem when rows have several classes");
        require_starts(*starts, n_rows, classes.shape(0));
    } else {
        require(classes.shape(0) == n_rows, "one class for each row");
    }
    const WeightsOfRows of_rows = weights_of(weights, unit, n_rows);
    uint64_t total = 0;  // the largest count there can be
    for (size_t row = 0; row < n_rows; ++row)
        total += (starts ? uint64_t(starts->data()[row + 1] - starts->data()[row]) : 1) *
                 (of_rows.of_rows ? of_rows.of_rows[row] : 1);
    require(!table || table->shape(0) > total, "the table needs a value for every count");
    std::vector<ClassesOfRows> problems;
    for (size_t p = 0; p < n_problems; ++p) {
        const code_t* of_problem = classes.data() + p * classes.shape(0);
        for (size_t k = 0; k < classes.shape(0); ++k)
            require(of_problem[k] < n_classes.data()[p], "a class is not below their number");
        problems.push_back({starts ? starts->data() : nullptr, of_problem, n_classes.data()[p]});
    }
    const CountTerm term{table ? table->data() : nullptr, {logs.data(), scale, 0}};
    std::vector<ColumnCuts> cuts;
    {
        nb::gil_scoped_release released;
        cuts = mdl_cuts(*numbers.values, problems, of_rows, term, scale, {kononenko, count_values},
                        poll_signals);
    }
    nb::list all;
    for (ColumnCuts& of_problem : cuts) all.append(nb::cast(handed_over(std::move(of_problem))));
    return all;
}

// Codes of numbers: how many cuts lie below, and one more than that can be for a missing value. Says which
// columns have one.
template <class Code>
void apply_to_numbers(const NumberColumns& numbers, Vector<int64_t> cut_starts, Vector<double> cuts,
                      bool closed_right, OutVector<Code> out, OutVector<code_t> implicit,
                      OutVector<uint8_t> missing) {
    const Values& values = *numbers.values;
    const size_t n_columns = values.n_columns();
    require_starts(cut_starts, n_columns, cuts.shape(0));
    const size_t n_codes =
        values.is_sparse() ? numbers.listed.shape(0) : checked_product(values.n_rows(), n_columns);
    require(out.shape(0) == n_codes && implicit.shape(0) == n_columns && missing.shape(0) == n_columns,
            "shapes differ");
    for (size_t j = 0; j < n_columns; ++j)
        require(size_t(cut_starts.data()[j + 1] - cut_starts.data()[j]) + (sizeof(Code) == 1 ? 2 : 1) <=
                    (sizeof(Code) == 1 ? 256 : max_levels),
                "too many cuts");
    nb::gil_scoped_release released;
    values.each_column([&](size_t j, const Column& column) {
        const double* of_column = cuts.data() + cut_starts.data()[j];
        const auto n_cuts = size_t(cut_starts.data()[j + 1] - cut_starts.data()[j]);
        Code* to = out.data() + (values.is_sparse() ? size_t(values.starts()[j]) : j * values.n_rows());
        missing.data()[j] = encode_column(column, of_column, n_cuts, closed_right, to);
        const double zero = 0.0;
        implicit.data()[j] = 0;
        if (column.has_unlisted()) count_cuts(of_column, n_cuts, closed_right, &zero, 1, implicit.data() + j);
    });
}

}  // namespace

void bind_numbers(nb::module_& m) {
    m.def(
        "scan_codes",
        [](Matrix numbers, OutVector<uint32_t> levels) {
            require(levels.shape(0) == numbers.shape(1), "one number of levels for each column");
            const Numbers view = numbers_of(numbers);
            nb::gil_scoped_release released;
            return where(scan_codes(view, levels.data()));
        },
        "numbers"_a, "levels"_a.noconvert());
    m.def("copy_codes", &copy_numbers<uint8_t>, "numbers"_a, "out"_a.noconvert());
    m.def("copy_codes", &copy_numbers<code_t>, "numbers"_a, "out"_a.noconvert());
    m.def("equal_width", &bin_numbers<uint8_t>, "numbers"_a, "n_bins"_a, "closed_right"_a,
          "out"_a.noconvert(), "levels"_a.noconvert());
    m.def("equal_width", &bin_numbers<code_t>, "numbers"_a, "n_bins"_a, "closed_right"_a, "out"_a.noconvert(),
          "levels"_a.noconvert());
    m.def(
        "equal_width_sparse",
        [](Vector<int64_t> starts, Vector<double> values, size_t n_rows, size_t n_bins, bool closed_right,
           OutVector<code_t> out, OutVector<code_t> implicit, OutVector<uint32_t> levels) {
            const size_t n_columns = levels.shape(0);
            require(starts.shape(0) == n_columns + 1 && implicit.shape(0) == n_columns &&
                        out.shape(0) == values.shape(0),
                    "shapes differ");
            require(n_rows > 0 && n_bins >= 1 && n_bins <= max_levels, "no rows, or bins out of range");
            int64_t before = 0;
            for (size_t c = 0; c <= n_columns; ++c) {
                require(starts.data()[c] >= before && starts.data()[c] <= int64_t(values.shape(0)),
                        "starts must rise within the values");
                before = starts.data()[c];
            }
            nb::gil_scoped_release released;
            return where(equal_width(starts.data(), values.data(), n_rows, n_columns, {n_bins, closed_right},
                                     out.data(), implicit.data(), levels.data()));
        },
        "starts"_a, "values"_a, "n_rows"_a, "n_bins"_a, "closed_right"_a, "out"_a.noconvert(),
        "implicit"_a.noconvert(), "levels"_a.noconvert());
    nb::class_<NumberColumns>(m, "NumberColumns");
    m.def("dense_numbers", &dense_numbers, "numbers"_a, nb::rv_policy::take_ownership);
    m.def("sparse_numbers", &sparse_numbers, "starts"_a, "rows"_a, "values"_a, "n_rows"_a,
          nb::rv_policy::take_ownership);
    m.def(
        "scan_finite",
        [](Matrix numbers, bool allow_missing) {
            const Numbers view = numbers_of(numbers);
            nb::gil_scoped_release released;
            return where(scan_finite(view, allow_missing));
        },
        "numbers"_a, "allow_missing"_a);
    m.def("cut_numbers", &cut_numbers, "numbers"_a, "rule"_a, "n_bins"_a, "factor"_a, "steps"_a,
          "keep_binary"_a, "weights"_a.none(), "unit"_a);
    m.def("mdl_numbers", &mdl_numbers, "numbers"_a, "starts"_a.none(), "classes"_a, "n_classes"_a,
          "weights"_a.none(), "unit"_a, "table"_a.none(), "logs"_a, "scale"_a, "kononenko"_a,
          "count_values"_a);
    m.def("apply_cuts", &apply_to_numbers<uint8_t>, "numbers"_a, "cut_starts"_a, "cuts"_a, "closed_right"_a,
          "out"_a.noconvert(), "implicit"_a.noconvert(), "missing"_a.noconvert());
    m.def("apply_cuts", &apply_to_numbers<code_t>, "numbers"_a, "cut_starts"_a, "cuts"_a, "closed_right"_a,
          "out"_a.noconvert(), "implicit"_a.noconvert(), "missing"_a.noconvert());
}

}  // namespace labelsieve
