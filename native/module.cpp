// The Python face of the counting core. The module*.cpp files are the only ones that know Python: they check shapes, let go of
// the interpreter and hand over.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "cuts.hpp"
#include "encode.hpp"
#include "mdl.hpp"
#include "panels.hpp"
#include "python.hpp"
#include "rules.hpp"
#include "simplex.hpp"

namespace labelsieve {
namespace {

using SquareMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Number number_of(const nb::dlpack::dtype& type) {
    if (type == nb::dtype<bool>()) return Number::boolean;
    if (type == nb::dtype<std::int8_t>()) return Number::i8;
    if (type == nb::dtype<std::int16_t>()) return Number::i16;
    if (type == nb::dtype<std::int32_t>()) return Number::i32;
    if (type == nb::dtype<std::int64_t>()) return Number::i64;
    if (type == nb::dtype<std::uint8_t>()) return Number::u8;
    if (type == nb::dtype<std::uint16_t>()) return Number::u16;
    if (type == nb::dtype<std::uint32_t>()) return Number::u32;
    if (type == nb::dtype<std::uint64_t>()) return Number::u64;
    if (type == nb::dtype<float>()) return Number::f32;
    if (type == nb::dtype<double>()) return Number::f64;
    throw std::invalid_argument("numbers must be booleans, integers of up to 64 bits, float32 or float64");
}

Numbers numbers_of(const Matrix& array) {
    const auto item = std::ptrdiff_t(array.itemsize());
    return {array.data(), number_of(array.dtype()), array.stride(0) * item, array.stride(1) * item, array.shape(0), array.shape(1)};
}

using Where = std::optional<std::pair<std::size_t, std::size_t>>;
Where where(const std::optional<Place>& place) {
    if (!place) return std::nullopt;
    return std::pair(place->row, place->column);
}

std::vector<std::uint32_t> levels_of(const Vector<std::uint32_t>& levels, std::size_t n_columns) {
    require(levels.shape(0) == n_columns, "one number of levels for each column");
    std::vector<std::uint32_t> all(levels.data(), levels.data() + n_columns);
    for (const std::uint32_t n : all) require(n >= 1 && n <= max_levels, "levels must be between 1 and 65,535");
    return all;
}

void require_starts(const Vector<std::int64_t>& starts, std::size_t n_parts, std::size_t n_entries) {
    require(starts.shape(0) == n_parts + 1 && starts.data()[0] == 0, "one start more than parts, from 0");
    for (std::size_t c = 0; c < n_parts; ++c) require(starts.data()[c] <= starts.data()[c + 1], "starts must rise");
    require(starts.data()[n_parts] == std::int64_t(n_entries), "starts must end with the entries");
}

// A table of codes and the arrays that it looks at.
struct Table {
    Matrix dense;
    Vector<std::int64_t> starts;
    Vector<row_t> rows;
    Vector<code_t> codes, implicit;
    std::unique_ptr<Columns> columns;
};

Table* dense_table(Matrix codes, Vector<std::uint32_t> levels) {
    const Numbers numbers = numbers_of(codes);
    require(numbers.type == Number::u8 || numbers.type == Number::u16, "codes must be uint8 or uint16");
    require(numbers.n_rows >= 1 && numbers.n_rows < std::numeric_limits<row_t>::max(), "between 1 and 4,294,967,294 rows");
    auto table = std::make_unique<Table>();
    table->columns = std::make_unique<DenseColumns>(numbers.data, numbers.type == Number::u8 ? 1 : 2, numbers.row_stride,
                                                    numbers.column_stride, numbers.n_rows, levels_of(levels, numbers.n_columns));
    table->dense = std::move(codes);
    return table.release();
}

Table* sparse_table(Vector<std::int64_t> starts, Vector<row_t> rows, Vector<code_t> codes, Vector<code_t> implicit, std::size_t n_rows,
                    Vector<std::uint32_t> levels) {
    require(n_rows >= 1 && n_rows < std::numeric_limits<row_t>::max(), "between 1 and 4,294,967,294 rows");
    require(starts.shape(0) == implicit.shape(0) + 1, "one start more than columns");
    require(rows.shape(0) == codes.shape(0), "as many rows as codes");
    auto table = std::make_unique<Table>();
    table->columns = std::make_unique<SparseColumns>(starts.data(), rows.data(), codes.data(), implicit.data(), rows.shape(0), n_rows,
                                                     levels_of(levels, implicit.shape(0)));
    table->starts = std::move(starts);
    table->rows = std::move(rows);
    table->codes = std::move(codes);
    table->implicit = std::move(implicit);
    return table.release();
}

Strategy strategy_of(const std::string& name) {
    if (name == "auto") return Strategy::automatic;
    if (name == "positional") return Strategy::positional;
    if (name == "grouped") return Strategy::grouped;
    if (name == "tiled") return Strategy::tiled;
    if (name == "sparse") return Strategy::sparse;
    if (name == "histogram") return Strategy::histogram;
    throw std::invalid_argument("strategy must be 'auto', 'positional', 'grouped', 'tiled', 'sparse' or 'histogram'");
}

struct Weights {
    Vector<std::uint64_t> of_rows;
    Vector<double> logs;
    double scale;
    fixed_t penalty;
};

// Features and targets packed, with everything that they look at.
class Session {
  public:
    Session(nb::object x, nb::object y, std::optional<Vector<fixed_t>> table, std::optional<Weights> weights,
            unsigned n_threads, const std::string& strategy, const std::optional<Vector<row_t>>& rows)
        : x_(std::move(x)),
          y_(std::move(y)),
          table_(std::move(table)),
          weights_(std::move(weights)),
          pool_(n_threads, poll_signals) {
        const Columns& features = *nb::cast<const Table&>(x_).columns;
        const Columns& targets = *nb::cast<const Table&>(y_).columns;
        const std::size_t n_entries = rows ? rows->shape(0) : features.n_rows();
        require(n_entries == targets.n_rows(), "features and targets must have the same rows");
        require(table_.has_value() != weights_.has_value(), "a table of counts or weights, not both");
        Terms terms;
        if (table_) {
            require(table_->shape(0) == n_entries + 1, "the table needs a value for every count from 0 to the number of rows");
            require(table_->data()[0] == 0, "the table must be 0 at 0");
            terms.table = table_->data();
        } else {
            require(weights_->of_rows.shape(0) == features.n_rows(), "one weight for each row");
            require(weights_->logs.shape(0) == WeightedTerm::n_logs + 1, "4,097 logarithms");
            terms.weights = weights_->of_rows.data();
            terms.weighted = {weights_->logs.data(), weights_->scale, weights_->penalty};
        }
        if (rows) {
            rows_.assign(rows->data(), rows->data() + n_entries);  // a copy, since it is trusted once it has been checked
            for (const row_t row : rows_) require(row < features.n_rows(), "an entry names a row that does not exist");
            terms.rows = rows_.data();
        }
        const Strategy how = weights_ ? Strategy::histogram : strategy_of(strategy);
        nb::gil_scoped_release released;
        const Pool::Shift shift(pool_, 0.7 * double(features.n_rows()) * double(features.size() + targets.size()));
        features_.emplace(features, how, pool_);
        targets_.emplace(targets, pool_);
        panels_.emplace(*features_, *targets_, terms, pool_);
    }

    void feature_sums(OutVector<fixed_t> out) {
        require(out.shape(0) == features_->size(), "one sum for each feature");
        nb::gil_scoped_release released;
        panels_->feature_sums(out.data());
    }

    void target_sums(OutVector<fixed_t> out) {
        require(out.shape(0) == targets_->size(), "one sum for each target");
        nb::gil_scoped_release released;
        panels_->target_sums(out.data());
    }

    void run(Vector<std::uint32_t> given, std::size_t n_given, std::size_t first, std::size_t last, bool reduce,
             OutVector<fixed_t> with_given, OutVector<fixed_t> out) {
        require(given.shape(0) == targets_->n_rows(), "one given code for each row or entry");
        check_panel(first, last, reduce, with_given, out);
        nb::gil_scoped_release released;
        panels_->run({given.data(), given.shape(0)}, n_given, first, last, reduce, with_given.data(), out.data());
    }

    // The same, given one of the features.
    void run_feature(std::size_t feature, std::size_t first, std::size_t last, bool reduce, OutVector<fixed_t> with_given,
                     OutVector<fixed_t> out) {
        require(feature < features_->size(), "there is no such feature");
        check_panel(first, last, reduce, with_given, out);
        nb::gil_scoped_release released;
        panels_->run(column_of(feature), features_->columns().levels(feature), first, last, reduce, with_given.data(), out.data());
    }

    // The same, added over the targets and folded into an account: see fold_panel.
    void fold_feature(std::size_t feature, std::size_t first, std::size_t last, OutVector<fixed_t> account,
                      std::optional<Vector<fixed_t>> fixed, fixed_t pair_factor, fixed_t triple_factor, fixed_t constant) {
        const std::size_t n = features_->size();
        require(feature < n, "there is no such feature");
        require(first <= last && last <= targets_->size(), "targets out of range");
        require(account.shape(0) == n && (!fixed || fixed->shape(0) == n), "one number for each feature");
        nb::gil_scoped_release released;
        std::vector<fixed_t> sums(2 * n);
        panels_->run(column_of(feature), features_->columns().levels(feature), first, last, true, sums.data(), sums.data() + n);
        fold_panel({constant, fixed ? fixed->data() : nullptr, pair_factor, triple_factor}, sums.data(), sums.data() + n, n, account.data());
    }

    std::size_t bytes() const { return panels_->bytes(); }

  private:
    // The codes of a feature, one for each row or entry.
    std::vector<std::uint32_t> column_of(std::size_t feature) const {
        std::vector<code_t> codes(features_->n_rows());
        features_->columns().read(feature, feature + 1, codes.data());
        if (rows_.empty()) return {codes.begin(), codes.end()};
        std::vector<std::uint32_t> given(rows_.size());
        for (std::size_t entry = 0; entry < rows_.size(); ++entry) given[entry] = codes[rows_[entry]];
        return given;
    }

    void check_panel(std::size_t first, std::size_t last, bool reduce, const OutVector<fixed_t>& with_given, const OutVector<fixed_t>& out) const {
        require(first <= last && last <= targets_->size(), "targets out of range");
        require(with_given.shape(0) == features_->size(), "one sum for each feature");
        require(out.shape(0) == features_->size() * (reduce ? 1 : last - first), "one sum for each feature and target");
    }

    nb::object x_, y_;
    std::optional<Vector<fixed_t>> table_;
    std::optional<Weights> weights_;
    std::vector<row_t> rows_;
    Pool pool_;
    std::optional<Features> features_;
    std::optional<Targets> targets_;
    std::optional<Panels> panels_;
};

template <class Code>
void copy_numbers(Matrix numbers, OutMatrix<Code> out) {
    require(out.shape(0) == numbers.shape(0) && out.shape(1) == numbers.shape(1), "shapes differ");
    const Numbers view = numbers_of(numbers);
    nb::gil_scoped_release released;
    copy_codes(view, out.data());
}

template <class Code>
Where bin_numbers(Matrix numbers, std::size_t n_bins, bool closed_right, OutMatrix<Code> out, OutVector<std::uint32_t> levels) {
    require(out.shape(0) == numbers.shape(0) && out.shape(1) == numbers.shape(1), "shapes differ");
    require(levels.shape(0) == numbers.shape(1), "one number of levels for each column");
    require(numbers.shape(0) > 0 && n_bins >= 1 && n_bins <= (sizeof(Code) == 1 ? 256 : max_levels), "no rows, or bins out of range");
    const Numbers view = numbers_of(numbers);
    nb::gil_scoped_release released;
    return where(equal_width(view, {n_bins, closed_right}, out.data(), levels.data()));
}

// Numbers by columns and the arrays that they look at.
struct NumberColumns {
    Matrix dense;
    Vector<std::int64_t> starts;
    Vector<row_t> rows;
    Vector<double> listed;
    std::unique_ptr<Values> values;
};

NumberColumns* dense_numbers(Matrix numbers) {
    const Numbers view = numbers_of(numbers);
    require(view.n_rows >= 1 && view.n_rows < std::numeric_limits<row_t>::max(), "between 1 and 4,294,967,294 rows");
    auto columns = std::make_unique<NumberColumns>();
    columns->values = std::make_unique<Values>(view);
    columns->dense = std::move(numbers);
    return columns.release();
}

NumberColumns* sparse_numbers(Vector<std::int64_t> starts, Vector<row_t> rows, Vector<double> values, std::size_t n_rows) {
    require(n_rows >= 1 && n_rows < std::numeric_limits<row_t>::max(), "between 1 and 4,294,967,294 rows");
    require(starts.shape(0) >= 1 && rows.shape(0) == values.shape(0), "as many rows as values");
    const std::size_t n_columns = starts.shape(0) - 1;
    require_starts(starts, n_columns, values.shape(0));
    for (std::size_t j = 0; j < n_columns; ++j)
        for (std::int64_t k = starts.data()[j]; k < starts.data()[j + 1]; ++k)
            require(rows.data()[k] < n_rows && (k == starts.data()[j] || rows.data()[k - 1] < rows.data()[k]), "rows must rise in a column");
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
    return std::tuple(handed_over(std::move(cuts.starts)), handed_over(std::move(cuts.points)), handed_over(std::move(cuts.kept)));
}

WeightsOfRows weights_of(const std::optional<Vector<std::uint64_t>>& weights, double unit, std::size_t n_rows) {
    if (!weights) return {nullptr, 1.0, n_rows};
    require(weights->shape(0) == n_rows && unit > 0, "one weight for each row, and a unit");
    WeightsOfRows all{weights->data(), unit, 0};
    for (std::size_t row = 0; row < n_rows; ++row) all.total += weights->data()[row];
    return all;
}

auto cut_numbers(const NumberColumns& numbers, const std::string& rule, std::size_t n_bins, double factor, double steps, bool keep_binary,
                 std::optional<Vector<std::uint64_t>> weights, double unit) {
    const Rule which = rule == "equal-width" ? Rule::equal_width : rule == "equal-frequency" ? Rule::equal_frequency
                     : rule == "k-means" ? Rule::k_means : Rule::mean_std;
    require(which != Rule::mean_std || (rule == "mean-std" && (n_bins == 3 || n_bins == 5)), "unknown rule, or levels other than 3 and 5");
    require(n_bins >= 1 && n_bins <= max_levels && steps >= 0, "bins out of range");
    const WeightsOfRows of_rows = weights_of(weights, unit, numbers.values->n_rows());
    ColumnCuts cuts;
    {
        nb::gil_scoped_release released;
        cuts = cut_columns(*numbers.values, {which, n_bins, factor, steps, keep_binary}, of_rows, poll_signals);
    }
    return handed_over(std::move(cuts));
}

// `classes` holds a column for each problem; with `starts` there is one problem, and rows may have any number of classes.
nb::list mdl_numbers(const NumberColumns& numbers, std::optional<Vector<std::int64_t>> starts, nb::ndarray<const code_t, nb::ndim<2>, nb::f_contig, nb::device::cpu> classes,
                     Vector<std::uint32_t> n_classes, std::optional<Vector<std::uint64_t>> weights, double unit,
                     std::optional<Vector<fixed_t>> table, Vector<double> logs, double scale, bool kononenko, bool count_values) {
    const std::size_t n_rows = numbers.values->n_rows(), n_problems = classes.shape(1);
    require(n_classes.shape(0) == n_problems && logs.shape(0) == WeightedTerm::n_logs + 1 && scale > 0, "shapes differ");
    if (starts) {
        require(n_problems == 1, "one problem when rows have several classes");
        require_starts(*starts, n_rows, classes.shape(0));
    } else {
        require(classes.shape(0) == n_rows, "one class for each row");
    }
    const WeightsOfRows of_rows = weights_of(weights, unit, n_rows);
    std::uint64_t total = 0;  // the largest count there can be
    for (std::size_t row = 0; row < n_rows; ++row)
        total += (starts ? std::uint64_t(starts->data()[row + 1] - starts->data()[row]) : 1) * (of_rows.of_rows ? of_rows.of_rows[row] : 1);
    require(!table || table->shape(0) > total, "the table needs a value for every count");
    std::vector<ClassesOfRows> problems;
    for (std::size_t p = 0; p < n_problems; ++p) {
        const code_t* of_problem = classes.data() + p * classes.shape(0);
        for (std::size_t k = 0; k < classes.shape(0); ++k) require(of_problem[k] < n_classes.data()[p], "a class is not below their number");
        problems.push_back({starts ? starts->data() : nullptr, of_problem, n_classes.data()[p]});
    }
    const CountTerm term{table ? table->data() : nullptr, {logs.data(), scale, 0}};
    std::vector<ColumnCuts> cuts;
    {
        nb::gil_scoped_release released;
        cuts = mdl_cuts(*numbers.values, problems, of_rows, term, scale, {kononenko, count_values}, poll_signals);
    }
    nb::list all;
    for (ColumnCuts& of_problem : cuts) all.append(nb::cast(handed_over(std::move(of_problem))));
    return all;
}

// Codes of numbers: how many cuts lie below, and one more than that can be for a missing value. Says which columns have one.
template <class Code>
void apply_to_numbers(const NumberColumns& numbers, Vector<std::int64_t> cut_starts, Vector<double> cuts, bool closed_right, OutVector<Code> out,
                      OutVector<code_t> implicit, OutVector<std::uint8_t> missing) {
    const Values& values = *numbers.values;
    const std::size_t n_columns = values.n_columns();
    require_starts(cut_starts, n_columns, cuts.shape(0));
    const std::size_t n_codes = values.is_sparse() ? numbers.listed.shape(0) : checked_product(values.n_rows(), n_columns);
    require(out.shape(0) == n_codes && implicit.shape(0) == n_columns && missing.shape(0) == n_columns, "shapes differ");
    for (std::size_t j = 0; j < n_columns; ++j)
        require(std::size_t(cut_starts.data()[j + 1] - cut_starts.data()[j]) + (sizeof(Code) == 1 ? 2 : 1) <= (sizeof(Code) == 1 ? 256 : max_levels),
                "too many cuts");
    nb::gil_scoped_release released;
    values.each_column([&](std::size_t j, const Column& column) {
        const double* of_column = cuts.data() + cut_starts.data()[j];
        const auto n_cuts = std::size_t(cut_starts.data()[j + 1] - cut_starts.data()[j]);
        Code* to = out.data() + (values.is_sparse() ? std::size_t(values.starts()[j]) : j * values.n_rows());
        missing.data()[j] = encode_column(column, of_column, n_cuts, closed_right, to);
        const double zero = 0.0;
        implicit.data()[j] = 0;
        if (column.has_unlisted()) count_cuts(of_column, n_cuts, closed_right, &zero, 1, implicit.data() + j);
    });
}

std::size_t refine_joint(OutVector<std::uint32_t> joint, std::size_t n_joint, Vector<code_t> column, std::size_t n_levels) {
    require(n_joint >= 1 && n_levels >= 1, "a variable has at least one level");
    require(joint.shape(0) == column.shape(0), "the joint variable and the column must have the same rows");
    for (std::size_t row = 0; row < joint.shape(0); ++row)
        require(joint.data()[row] < n_joint && column.data()[row] < n_levels, "a code is not below the number of levels");
    nb::gil_scoped_release released;
    return refine({joint.data(), joint.shape(0)}, n_joint, column.data(), n_levels);
}

}  // namespace
}  // namespace labelsieve

NB_MODULE(_native, m) {
    using namespace labelsieve;
    m.doc() = "Core of labelsieve: counting, and the search for neighbours.";
    bind_neighbours(m);
    bind_relief(m);

    m.def("kernel_name", [] { return std::string(kernels().name); });
    m.def("scan_codes", [](Matrix numbers, OutVector<std::uint32_t> levels) {
        require(levels.shape(0) == numbers.shape(1), "one number of levels for each column");
        const Numbers view = numbers_of(numbers);
        nb::gil_scoped_release released;
        return where(scan_codes(view, levels.data()));
    }, "numbers"_a, "levels"_a.noconvert());
    m.def("copy_codes", &copy_numbers<std::uint8_t>, "numbers"_a, "out"_a.noconvert());
    m.def("copy_codes", &copy_numbers<code_t>, "numbers"_a, "out"_a.noconvert());
    m.def("equal_width", &bin_numbers<std::uint8_t>, "numbers"_a, "n_bins"_a, "closed_right"_a, "out"_a.noconvert(), "levels"_a.noconvert());
    m.def("equal_width", &bin_numbers<code_t>, "numbers"_a, "n_bins"_a, "closed_right"_a, "out"_a.noconvert(), "levels"_a.noconvert());
    m.def("equal_width_sparse", [](Vector<std::int64_t> starts, Vector<double> values, std::size_t n_rows, std::size_t n_bins,
                                   bool closed_right, OutVector<code_t> out, OutVector<code_t> implicit, OutVector<std::uint32_t> levels) {
        const std::size_t n_columns = levels.shape(0);
        require(starts.shape(0) == n_columns + 1 && implicit.shape(0) == n_columns && out.shape(0) == values.shape(0), "shapes differ");
        require(n_rows > 0 && n_bins >= 1 && n_bins <= max_levels, "no rows, or bins out of range");
        std::int64_t before = 0;
        for (std::size_t c = 0; c <= n_columns; ++c) {
            require(starts.data()[c] >= before && starts.data()[c] <= std::int64_t(values.shape(0)), "starts must rise within the values");
            before = starts.data()[c];
        }
        nb::gil_scoped_release released;
        return where(equal_width(starts.data(), values.data(), n_rows, n_columns, {n_bins, closed_right}, out.data(), implicit.data(),
                                 levels.data()));
    }, "starts"_a, "values"_a, "n_rows"_a, "n_bins"_a, "closed_right"_a, "out"_a.noconvert(), "implicit"_a.noconvert(), "levels"_a.noconvert());
    m.def("fold_panel", [](OutVector<fixed_t> account, std::optional<Vector<fixed_t>> fixed, Vector<fixed_t> pair, fixed_t pair_factor,
                           Vector<fixed_t> triple, fixed_t triple_factor, fixed_t constant) {
        const std::size_t n = account.shape(0);
        require(pair.shape(0) == n && triple.shape(0) == n && (!fixed || fixed->shape(0) == n), "one number for each feature");
        fold_panel({constant, fixed ? fixed->data() : nullptr, pair_factor, triple_factor}, pair.data(), triple.data(), n, account.data());
    }, "account"_a.noconvert(), "fixed"_a.none(), "pair"_a, "pair_factor"_a, "triple"_a, "triple_factor"_a, "constant"_a);
    nb::class_<NumberColumns>(m, "NumberColumns");
    m.def("dense_numbers", &dense_numbers, "numbers"_a, nb::rv_policy::take_ownership);
    m.def("sparse_numbers", &sparse_numbers, "starts"_a, "rows"_a, "values"_a, "n_rows"_a, nb::rv_policy::take_ownership);
    m.def("scan_finite", [](Matrix numbers, bool allow_missing) {
        const Numbers view = numbers_of(numbers);
        nb::gil_scoped_release released;
        return where(scan_finite(view, allow_missing));
    }, "numbers"_a, "allow_missing"_a);
    m.def("cut_numbers", &cut_numbers, "numbers"_a, "rule"_a, "n_bins"_a, "factor"_a, "steps"_a, "keep_binary"_a, "weights"_a.none(), "unit"_a);
    m.def("mdl_numbers", &mdl_numbers, "numbers"_a, "starts"_a.none(), "classes"_a, "n_classes"_a, "weights"_a.none(), "unit"_a,
          "table"_a.none(), "logs"_a, "scale"_a, "kononenko"_a, "count_values"_a);
    m.def("apply_cuts", &apply_to_numbers<std::uint8_t>, "numbers"_a, "cut_starts"_a, "cuts"_a, "closed_right"_a, "out"_a.noconvert(),
          "implicit"_a.noconvert(), "missing"_a.noconvert());
    m.def("apply_cuts", &apply_to_numbers<code_t>, "numbers"_a, "cut_starts"_a, "cuts"_a, "closed_right"_a, "out"_a.noconvert(),
          "implicit"_a.noconvert(), "missing"_a.noconvert());
    m.def("pair_steps", [](SquareMatrix matrix, OutVector<double> weights, OutVector<double> gradient, double tolerance, std::size_t max_steps) {
        const std::size_t n = weights.shape(0);
        require(matrix.shape(0) == n && matrix.shape(1) == n && gradient.shape(0) == n, "a square matrix, and a weight and a gradient for each row");
        require(tolerance >= 0, "the tolerance must not be negative");
        nb::gil_scoped_release released;
        const PairSteps done = pair_steps(matrix.data(), n, weights.data(), gradient.data(), tolerance, max_steps);
        return std::tuple(done.steps, done.violation, done.curvature);
    }, "matrix"_a.noconvert(), "weights"_a.noconvert(), "gradient"_a.noconvert(), "tolerance"_a, "max_steps"_a);
    m.def("refine", &refine_joint, "joint"_a.noconvert(), "n_joint"_a, "column"_a, "n_levels"_a);

    nb::class_<Table>(m, "Table");
    m.def("dense_table", &dense_table, "codes"_a, "levels"_a, nb::rv_policy::take_ownership);
    m.def("sparse_table", &sparse_table, "starts"_a, "rows"_a, "codes"_a, "implicit"_a, "n_rows"_a, "levels"_a,
          nb::rv_policy::take_ownership);
    nb::class_<Weights>(m, "Weights")
        .def("__init__", [](Weights* self, Vector<std::uint64_t> of_rows, Vector<double> logs, double scale, fixed_t penalty) {
            new (self) Weights{std::move(of_rows), std::move(logs), scale, penalty};
        }, "of_rows"_a, "logs"_a, "scale"_a, "penalty"_a);
    nb::class_<Session>(m, "Session")
        .def("__init__", [](Session* self, nb::object x, nb::object y, std::optional<Vector<fixed_t>> table, std::optional<Weights> weights,
                            unsigned n_threads, const std::string& strategy, const std::optional<Vector<row_t>>& rows) {
            new (self) Session(std::move(x), std::move(y), std::move(table), std::move(weights), n_threads, strategy, rows);
        }, "x"_a, "y"_a, "table"_a.none(), "weights"_a.none(), "n_threads"_a, "strategy"_a, "rows"_a = nb::none())
        .def("feature_sums", &Session::feature_sums, "out"_a.noconvert())
        .def("target_sums", &Session::target_sums, "out"_a.noconvert())
        .def("run", &Session::run, "given"_a, "n_given"_a, "first"_a, "last"_a, "reduce"_a, "with_given"_a.noconvert(), "out"_a.noconvert())
        .def("run_feature", &Session::run_feature, "feature"_a, "first"_a, "last"_a, "reduce"_a, "with_given"_a.noconvert(),
             "out"_a.noconvert())
        .def("fold_feature", &Session::fold_feature, "feature"_a, "first"_a, "last"_a, "account"_a.noconvert(), "fixed"_a.none(),
             "pair_factor"_a, "triple_factor"_a, "constant"_a)
        .def_prop_ro("bytes", &Session::bytes);
}
