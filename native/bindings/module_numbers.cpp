// Codes and cut points, for Python.
#include <nanobind/stl/vector.h>

#include <array>

#include "bindings/python.hpp"
#include "discretize/cuts.hpp"
#include "discretize/mdl.hpp"

namespace labelsieve {

namespace {

template <class Code>
void copy_numbers(Matrix numbers, OutMatrix<Code> out) {
    require(out.shape(0) == numbers.shape(0) && out.shape(1) == numbers.shape(1), "shapes differ");
    const StridedNumbers view = numbers_of(numbers);
    const nb::gil_scoped_release released;
    copy_codes(view, out.data());
}

using CodeMatrix = nb::ndarray<const code_t, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

// Numbers by columns and the arrays that they view.
struct NumberColumns {
    Matrix dense;
    CsrArrays<row_t, double> sparse;
    std::unique_ptr<Values> values;
};

NumberColumns* dense_numbers(Matrix numbers) {
    const StridedNumbers view = numbers_of(numbers);
    require_row_count(view.n_rows);
    auto columns = std::make_unique<NumberColumns>();
    columns->values = std::make_unique<Values>(view);
    columns->dense = std::move(numbers);
    return columns.release();
}

NumberColumns* sparse_numbers(Vector<int64_t> starts, Vector<row_t> rows, Vector<double> values,
                              size_t n_rows) {
    require_row_count(n_rows);
    auto columns = std::make_unique<NumberColumns>();
    columns->sparse = {.starts = std::move(starts), .indices = std::move(rows), .values = std::move(values)};
    columns->values =
        std::make_unique<Values>(checked(columns->sparse.view(), n_rows, Order::rising), n_rows);
    return columns.release();
}

auto cuts_as_arrays(ColumnCuts&& cuts) {
    return std::tuple(hand_over(std::move(cuts.starts)), hand_over(std::move(cuts.points)),
                      hand_over(std::move(cuts.kept)));
}

WeightsOfRows weights_of(const std::optional<Vector<uint64_t>>& weights, double unit, size_t n_rows) {
    if (!weights) return {.of_rows = nullptr, .unit = 1.0, .total = n_rows};
    require(weights->shape(0) == n_rows && unit > 0, "one weight for each row, and a unit");
    WeightsOfRows all{.of_rows = weights->data(), .unit = unit, .total = 0};
    for (const uint64_t weight : view_of(*weights)) all.total += weight;
    return all;
}

Rule rule_of(const std::string& name) {
    if (name == "equal-width") return Rule::equal_width;
    if (name == "equal-frequency") return Rule::equal_frequency;
    if (name == "k-means") return Rule::k_means;
    if (name == "mean-std") return Rule::mean_std;
    throw std::invalid_argument("rule must be 'equal-width', 'equal-frequency', 'k-means' or 'mean-std'");
}

auto cut_numbers(const NumberColumns& numbers, const std::string& rule, size_t n_bins, double factor,
                 double steps, bool keep_binary, std::optional<Vector<uint64_t>> weights, double unit) {
    const RuleSettings settings{.rule = rule_of(rule),
                                .n_bins = n_bins,
                                .factor = factor,
                                .steps = steps,
                                .keep_binary = keep_binary};
    require(settings.rule != Rule::mean_std || n_bins == 3 || n_bins == 5, "mean-std makes 3 or 5 levels");
    require(n_bins >= 1 && n_bins <= max_levels && steps >= 0, "bins out of range");
    const WeightsOfRows of_rows = weights_of(weights, unit, numbers.values->n_rows());
    ColumnCuts cuts;
    {
        const nb::gil_scoped_release released;
        cuts = cut_columns(*numbers.values, settings, of_rows, poll_signals);
    }
    return cuts_as_arrays(std::move(cuts));
}

// `classes` holds a column for each problem; with `starts` there is one problem, and rows may have any number
// of classes.
auto mdl_numbers(const NumberColumns& numbers, std::optional<Vector<int64_t>> starts, CodeMatrix classes,
                 Vector<uint32_t> n_classes, std::optional<Vector<uint64_t>> weights, double unit,
                 std::optional<Vector<fixed_t>> table, Vector<double> logs, double scale, bool count_values) {
    const size_t n_rows = numbers.values->n_rows(), n_problems = classes.shape(1);
    require(n_classes.shape(0) == n_problems && logs.shape(0) == WeightedTerm::n_logs + 1 && scale > 0,
            "shapes differ");
    if (starts) {
        require(n_problems == 1, "one problem when rows have several classes");
        require(starts->shape(0) == n_rows + 1, "a list of classes for each row");
        check_starts(view_of(*starts), classes.shape(0));
    } else {
        require(classes.shape(0) == n_rows, "one class for each row");
    }
    const WeightsOfRows of_rows = weights_of(weights, unit, n_rows);
    std::vector<ClassesOfRows> problems;
    for (size_t p = 0; p < n_problems; ++p) {
        const std::span<const code_t> of_problem{classes.data() + p * classes.shape(0), classes.shape(0)};
        check_limit(of_problem, n_classes.data()[p]);
        CsrView<code_t> lists{.starts = {}, .indices = of_problem};
        if (starts) lists.starts = view_of(*starts);
        problems.push_back({.lists = lists, .n_classes = n_classes.data()[p]});
    }
    uint64_t total = 0;  // the largest possible count
    for (size_t row = 0; row < n_rows; ++row)
        total += (starts ? problems[0].lists.length(row) : 1) * (of_rows.of_rows ? of_rows.of_rows[row] : 1);
    require(!table || table->shape(0) > total, "the table needs a value for every count");
    const WeightedTerm weighted{.logs = logs.data(), .scale = scale, .penalty = 0};
    const MdlSettings settings{.weights = of_rows,
                               .term = {.table = table ? table->data() : nullptr, .weighted = weighted},
                               .fixed_scale = scale,
                               .count_values = count_values};
    std::vector<ColumnCuts> cuts;
    {
        const nb::gil_scoped_release released;
        cuts = mdl_cuts(*numbers.values, problems, settings, poll_signals);
    }
    std::vector<decltype(cuts_as_arrays(ColumnCuts{}))> all;
    for (ColumnCuts& of_problem : cuts) all.push_back(cuts_as_arrays(std::move(of_problem)));
    return all;
}

// Codes of numbers: the number of cuts below, and one more than the largest for a missing value. `missing`
// says which columns have one.
template <class Code>
void apply_to_numbers(const NumberColumns& numbers, Vector<int64_t> cut_starts, Vector<double> cuts,
                      bool closed_right, OutVector<Code> out, OutVector<code_t> implicit,
                      OutVector<uint8_t> missing) {
    const Values& values = *numbers.values;
    const size_t n_columns = values.n_columns();
    const CsrView<row_t, double> points{
        .starts = view_of(cut_starts), .indices = {}, .values = view_of(cuts)};
    check_starts(points.starts, cuts.shape(0));
    const size_t n_codes =
        values.is_sparse() ? values.listed().values.size() : checked_product(values.n_rows(), n_columns);
    require(points.size() == n_columns && out.shape(0) == n_codes && implicit.shape(0) == n_columns &&
                missing.shape(0) == n_columns,
            "shapes differ");
    constexpr size_t most_cuts = sizeof(Code) == 1 ? 254 : max_levels - 1;
    for (size_t j = 0; j < n_columns; ++j) require(points.length(j) <= most_cuts, "too many cuts");
    const nb::gil_scoped_release released;
    apply_cuts<Code>(values, points, closed_right,
                     {.out = out.data(), .implicit = implicit.data(), .missing = missing.data()});
}

using Found = std::optional<std::pair<size_t, size_t>>;
Found found_at(const std::optional<Position>& position) {
    if (!position) return std::nullopt;
    return std::pair(position->row, position->column);
}

Found scan_number_codes(Matrix numbers, OutVector<uint32_t> levels) {
    require(levels.shape(0) == numbers.shape(1), "one number of levels for each column");
    const StridedNumbers view = numbers_of(numbers);
    const nb::gil_scoped_release released;
    return found_at(scan_codes(view, levels.data()));
}

Found scan_finite_numbers(Matrix numbers, bool allow_missing) {
    const StridedNumbers view = numbers_of(numbers);
    const nb::gil_scoped_release released;
    return found_at(scan_finite(view, allow_missing));
}

template <class Code>
Found bin_numbers(Matrix numbers, size_t n_bins, bool closed_right, OutMatrix<Code> out,
                  OutVector<uint32_t> levels) {
    require(out.shape(0) == numbers.shape(0) && out.shape(1) == numbers.shape(1), "shapes differ");
    require(levels.shape(0) == numbers.shape(1), "one number of levels for each column");
    require(numbers.shape(0) > 0 && n_bins >= 1 && n_bins <= (sizeof(Code) == 1 ? 256 : max_levels),
            "no rows, or bins out of range");
    const StridedNumbers view = numbers_of(numbers);
    const nb::gil_scoped_release released;
    const EqualWidth rule{.n_bins = n_bins, .closed_right = closed_right};
    return found_at(equal_width(view, rule, out.data(), levels.data()));
}

Found bin_sparse_numbers(Vector<int64_t> starts, Vector<double> values, size_t n_rows, size_t n_bins,
                         bool closed_right, OutVector<code_t> out, OutVector<code_t> implicit,
                         OutVector<uint32_t> levels) {
    const CsrView<row_t, double> columns{.starts = view_of(starts), .indices = {}, .values = view_of(values)};
    check_starts(columns.starts, values.shape(0));
    require(columns.size() == levels.shape(0) && implicit.shape(0) == columns.size() &&
                out.shape(0) == values.shape(0),
            "shapes differ");
    require(n_rows > 0 && n_bins >= 1 && n_bins <= max_levels, "no rows, or bins out of range");
    const nb::gil_scoped_release released;
    const EqualWidth rule{.n_bins = n_bins, .closed_right = closed_right};
    return found_at(equal_width(columns, n_rows, rule, out.data(), implicit.data(), levels.data()));
}

}  // namespace

void bind_numbers(nb::module_& m) {
    m.def("scan_codes", &scan_number_codes, "numbers"_a, "levels"_a.noconvert());
    m.def("copy_codes", &copy_numbers<uint8_t>, "numbers"_a, "out"_a.noconvert());
    m.def("copy_codes", &copy_numbers<code_t>, "numbers"_a, "out"_a.noconvert());
    m.def("equal_width", &bin_numbers<uint8_t>, "numbers"_a, "n_bins"_a, "closed_right"_a,
          "out"_a.noconvert(), "levels"_a.noconvert());
    m.def("equal_width", &bin_numbers<code_t>, "numbers"_a, "n_bins"_a, "closed_right"_a, "out"_a.noconvert(),
          "levels"_a.noconvert());
    m.def("equal_width_sparse", &bin_sparse_numbers, "starts"_a, "values"_a, "n_rows"_a, "n_bins"_a,
          "closed_right"_a, "out"_a.noconvert(), "implicit"_a.noconvert(), "levels"_a.noconvert());
    nb::class_<NumberColumns>(m, "NumberColumns");
    m.def("dense_numbers", &dense_numbers, "numbers"_a, nb::rv_policy::take_ownership);
    m.def("sparse_numbers", &sparse_numbers, "starts"_a, "rows"_a, "values"_a, "n_rows"_a,
          nb::rv_policy::take_ownership);
    m.def("scan_finite", &scan_finite_numbers, "numbers"_a, "allow_missing"_a);
    m.def("cut_numbers", &cut_numbers, "numbers"_a, "rule"_a, "n_bins"_a, "factor"_a, "steps"_a,
          "keep_binary"_a, "weights"_a.none(), "unit"_a);
    m.def("mdl_numbers", &mdl_numbers, "numbers"_a, "starts"_a.none(), "classes"_a, "n_classes"_a,
          "weights"_a.none(), "unit"_a, "table"_a.none(), "logs"_a, "scale"_a, "count_values"_a);
    m.def("apply_cuts", &apply_to_numbers<uint8_t>, "numbers"_a, "cut_starts"_a, "cuts"_a, "closed_right"_a,
          "out"_a.noconvert(), "implicit"_a.noconvert(), "missing"_a.noconvert());
    m.def("apply_cuts", &apply_to_numbers<code_t>, "numbers"_a, "cut_starts"_a, "cuts"_a, "closed_right"_a,
          "out"_a.noconvert(), "implicit"_a.noconvert(), "missing"_a.noconvert());
}

}  // namespace labelsieve
