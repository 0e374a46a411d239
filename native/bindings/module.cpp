// The Python face of the counting core. The module*.cpp files are the only ones that know Python: they check
// shapes, let go of the interpreter and hand over.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <string>

#include "bindings/python_numbers.hpp"
#include "counting/panels.hpp"
#include "solver/simplex.hpp"

namespace labelsieve {
namespace {

using SquareMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::vector<uint32_t> levels_of(const Vector<uint32_t>& levels, size_t n_columns) {
    require(levels.shape(0) == n_columns, "one number of levels for each column");
    std::vector<uint32_t> all(levels.data(), levels.data() + n_columns);
    for (const uint32_t n : all) require(n >= 1 && n <= max_levels, "levels must be between 1 and 65,535");
    return all;
}

// A table of codes and the arrays that it looks at.
struct Table {
    Matrix dense;
    Vector<int64_t> starts;
    Vector<row_t> rows;
    Vector<code_t> codes, implicit;
    std::unique_ptr<Columns> columns;
};

Table* dense_table(Matrix codes, Vector<uint32_t> levels) {
    const Numbers numbers = numbers_of(codes);
    require(numbers.type == Number::u8 || numbers.type == Number::u16, "codes must be uint8 or uint16");
    require(numbers.n_rows >= 1 && numbers.n_rows < std::numeric_limits<row_t>::max(),
            "between 1 and 4,294,967,294 rows");
    auto table = std::make_unique<Table>();
    table->columns = std::make_unique<DenseColumns>(numbers.data, numbers.type == Number::u8 ? 1 : 2,
                                                    numbers.row_stride, numbers.column_stride, numbers.n_rows,
                                                    levels_of(levels, numbers.n_columns));
    table->dense = std::move(codes);
    return table.release();
}

Table* sparse_table(Vector<int64_t> starts, Vector<row_t> rows, Vector<code_t> codes, Vector<code_t> implicit,
                    size_t n_rows, Vector<uint32_t> levels) {
    require(n_rows >= 1 && n_rows < std::numeric_limits<row_t>::max(), "between 1 and 4,294,967,294 rows");
    require(starts.shape(0) == implicit.shape(0) + 1, "one start more than columns");
    require(rows.shape(0) == codes.shape(0), "as many rows as codes");
    auto table = std::make_unique<Table>();
    table->columns =
        std::make_unique<SparseColumns>(starts.data(), rows.data(), codes.data(), implicit.data(),
                                        rows.shape(0), n_rows, levels_of(levels, implicit.shape(0)));
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
    throw std::invalid_argument(
        "strategy must be 'auto', 'positional', 'grouped', 'tiled', 'sparse' or 'histogram'");
}

struct Weights {
    Vector<uint64_t> of_rows;
    Vector<double> logs;
    double scale;
    fixed_t penalty;
};

// Features and targets packed, with everything that they look at.
class Session {
  public:
    Session(nb::object x, nb::object y, std::optional<Vector<fixed_t>> table, std::optional<Weights> weights,
            unsigned n_threads, const std::string& strategy, const std::optional<Vector<row_t>>& rows)
        : x_(std::move(x)), y_(std::move(y)), table_(std::move(table)), weights_(std::move(weights)),
          pool_(n_threads, poll_signals) {
        const Columns& features = *nb::cast<const Table&>(x_).columns;
        const Columns& targets = *nb::cast<const Table&>(y_).columns;
        const size_t n_entries = rows ? rows->shape(0) : features.n_rows();
        require(n_entries == targets.n_rows(), "features and targets must have the same rows");
        require(table_.has_value() != weights_.has_value(), "a table of counts or weights, not both");
        Terms terms;
        if (table_) {
            require(table_->shape(0) == n_entries + 1,
                    "the table needs a value for every count from 0 to the number of rows");
            require(table_->data()[0] == 0, "the table must be 0 at 0");
            terms.table = table_->data();
        } else {
            require(weights_->of_rows.shape(0) == features.n_rows(), "one weight for each row");
            require(weights_->logs.shape(0) == WeightedTerm::n_logs + 1, "4,097 logarithms");
            terms.weights = weights_->of_rows.data();
            terms.weighted = {weights_->logs.data(), weights_->scale, weights_->penalty};
        }
        if (rows) {
            rows_.assign(rows->data(),
                         rows->data() + n_entries);  // a copy, since it is trusted once it has been checked
            for (const row_t row : rows_)
                require(row < features.n_rows(), "an entry names a row that does not exist");
            terms.rows = rows_.data();
        }
        const Strategy how = weights_ ? Strategy::histogram : strategy_of(strategy);
        nb::gil_scoped_release released;
        const Pool::Shift shift(pool_,
                                0.7 * double(features.n_rows()) * double(features.size() + targets.size()));
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

    void run(Vector<uint32_t> given, size_t n_given, size_t first, size_t last, bool reduce,
             OutVector<fixed_t> with_given, OutVector<fixed_t> out) {
        require(given.shape(0) == targets_->n_rows(), "one given code for each row or entry");
        check_panel(first, last, reduce, with_given, out);
        nb::gil_scoped_release released;
        panels_->run({given.data(), given.shape(0)}, n_given, first, last, reduce, with_given.data(),
                     out.data());
    }

    // The same, given one of the features.
    void run_feature(size_t feature, size_t first, size_t last, bool reduce, OutVector<fixed_t> with_given,
                     OutVector<fixed_t> out) {
        require(feature < features_->size(), "there is no such feature");
        check_panel(first, last, reduce, with_given, out);
        nb::gil_scoped_release released;
        panels_->run(column_of(feature), features_->columns().levels(feature), first, last, reduce,
                     with_given.data(), out.data());
    }

    // The same, added over the targets and folded into an account: see fold_panel.
    void fold_feature(size_t feature, size_t first, size_t last, OutVector<fixed_t> account,
                      std::optional<Vector<fixed_t>> fixed, fixed_t pair_factor, fixed_t triple_factor,
                      fixed_t constant) {
        const size_t n = features_->size();
        require(feature < n, "there is no such feature");
        require(first <= last && last <= targets_->size(), "targets out of range");
        require(account.shape(0) == n && (!fixed || fixed->shape(0) == n), "one number for each feature");
        nb::gil_scoped_release released;
        std::vector<fixed_t> sums(2 * n);
        panels_->run(column_of(feature), features_->columns().levels(feature), first, last, true, sums.data(),
                     sums.data() + n);
        fold_panel({constant, fixed ? fixed->data() : nullptr, pair_factor, triple_factor}, sums.data(),
                   sums.data() + n, n, account.data());
    }

    size_t bytes() const { return panels_->bytes(); }

  private:
    // The codes of a feature, one for each row or entry.
    std::vector<uint32_t> column_of(size_t feature) const {
        std::vector<code_t> codes(features_->n_rows());
        features_->columns().read(feature, feature + 1, codes.data());
        if (rows_.empty()) return {codes.begin(), codes.end()};
        std::vector<uint32_t> given(rows_.size());
        for (size_t entry = 0; entry < rows_.size(); ++entry) given[entry] = codes[rows_[entry]];
        return given;
    }

    void check_panel(size_t first, size_t last, bool reduce, const OutVector<fixed_t>& with_given,
                     const OutVector<fixed_t>& out) const {
        require(first <= last && last <= targets_->size(), "targets out of range");
        require(with_given.shape(0) == features_->size(), "one sum for each feature");
        require(out.shape(0) == features_->size() * (reduce ? 1 : last - first),
                "one sum for each feature and target");
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

size_t refine_joint(OutVector<uint32_t> joint, size_t n_joint, Vector<code_t> column, size_t n_levels) {
    require(n_joint >= 1 && n_levels >= 1, "a variable has at least one level");
    require(joint.shape(0) == column.shape(0), "the joint variable and the column must have the same rows");
    for (size_t row = 0; row < joint.shape(0); ++row)
        require(joint.data()[row] < n_joint && column.data()[row] < n_levels,
                "a code is not below the number of levels");
    nb::gil_scoped_release released;
    return refine({joint.data(), joint.shape(0)}, n_joint, column.data(), n_levels);
}

}  // namespace
}  // namespace labelsieve

NB_MODULE(_native, m) {
    using namespace labelsieve;
    m.doc() = "Core of labelsieve: counting, and the search for neighbors.";
    bind_numbers(m);
    bind_neighbors(m);
    bind_relief(m);

    m.def("kernel_name", [] { return std::string(kernels().name); });
    m.def(
        "fold_panel",
        [](OutVector<fixed_t> account, std::optional<Vector<fixed_t>> fixed, Vector<fixed_t> pair,
           fixed_t pair_factor, Vector<fixed_t> triple, fixed_t triple_factor, fixed_t constant) {
            const size_t n = account.shape(0);
            require(pair.shape(0) == n && triple.shape(0) == n && (!fixed || fixed->shape(0) == n),
                    "one number for each feature");
            fold_panel({constant, fixed ? fixed->data() : nullptr, pair_factor, triple_factor}, pair.data(),
                       triple.data(), n, account.data());
        },
        "account"_a.noconvert(), "fixed"_a.none(), "pair"_a, "pair_factor"_a, "triple"_a, "triple_factor"_a,
        "constant"_a);
    m.def(
        "pair_steps",
        [](SquareMatrix matrix, OutVector<double> weights, OutVector<double> gradient, double tolerance,
           size_t max_steps) {
            const size_t n = weights.shape(0);
            require(matrix.shape(0) == n && matrix.shape(1) == n && gradient.shape(0) == n,
                    "a square matrix, and a weight and a gradient for each row");
            require(tolerance >= 0, "the tolerance must not be negative");
            nb::gil_scoped_release released;
            const PairSteps done =
                pair_steps(matrix.data(), n, weights.data(), gradient.data(), tolerance, max_steps);
            return std::tuple(done.steps, done.violation, done.curvature);
        },
        "matrix"_a.noconvert(), "weights"_a.noconvert(), "gradient"_a.noconvert(), "tolerance"_a,
        "max_steps"_a);
    m.def("refine", &refine_joint, "joint"_a.noconvert(), "n_joint"_a, "column"_a, "n_levels"_a);

    nb::class_<Table>(m, "Table");
    m.def("dense_table", &dense_table, "codes"_a, "levels"_a, nb::rv_policy::take_ownership);
    m.def("sparse_table", &sparse_table, "starts"_a, "rows"_a, "codes"_a, "implicit"_a, "n_rows"_a,
          "levels"_a, nb::rv_policy::take_ownership);
    nb::class_<Weights>(m, "Weights")
        .def(
            "__init__",
            [](Weights* self, Vector<uint64_t> of_rows, Vector<double> logs, double scale, fixed_t penalty) {
                new (self) Weights{std::move(of_rows), std::move(logs), scale, penalty};
            },
            "of_rows"_a, "logs"_a, "scale"_a, "penalty"_a);
    nb::class_<Session>(m, "Session")
        .def(
            "__init__",
            [](Session* self, nb::object x, nb::object y, std::optional<Vector<fixed_t>> table,
               std::optional<Weights> weights, unsigned n_threads, const std::string& strategy,
               const std::optional<Vector<row_t>>& rows) {
                new (self) Session(std::move(x), std::move(y), std::move(table), std::move(weights),
                                   n_threads, strategy, rows);
            },
            "x"_a, "y"_a, "table"_a.none(), "weights"_a.none(), "n_threads"_a, "strategy"_a,
            "rows"_a = nb::none())
        .def("feature_sums", &Session::feature_sums, "out"_a.noconvert())
        .def("target_sums", &Session::target_sums, "out"_a.noconvert())
        .def("run", &Session::run, "given"_a, "n_given"_a, "first"_a, "last"_a, "reduce"_a,
             "with_given"_a.noconvert(), "out"_a.noconvert())
        .def("run_feature", &Session::run_feature, "feature"_a, "first"_a, "last"_a, "reduce"_a,
             "with_given"_a.noconvert(), "out"_a.noconvert())
        .def("fold_feature", &Session::fold_feature, "feature"_a, "first"_a, "last"_a,
             "account"_a.noconvert(), "fixed"_a.none(), "pair_factor"_a, "triple_factor"_a, "constant"_a)
        .def_prop_ro("bytes", &Session::bytes);
}
