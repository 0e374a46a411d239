// Counting for Python. The module*.cpp files alone know Python: they check shapes, release the interpreter
// lock and call the core.
#include "bindings/python.hpp"
#include "counting/non_empty.hpp"

namespace labelsieve {
namespace {

std::vector<uint32_t> levels_of(const Vector<uint32_t>& levels, size_t n_columns) {
    require(levels.shape(0) == n_columns, "one number of levels for each column");
    std::vector<uint32_t> all(levels.data(), levels.data() + n_columns);
    for (const uint32_t n : all) require(n >= 1 && n <= max_levels, "levels must be between 1 and 65,535");
    return all;
}

Table* dense_table(Matrix codes, Vector<uint32_t> levels) {
    const StridedNumbers numbers = numbers_of(codes);
    require(numbers.type == Number::u8 || numbers.type == Number::u16, "codes must be uint8 or uint16");
    require_row_count(numbers.n_rows);
    auto table = std::make_unique<Table>();
    const DenseColumns::Layout layout{.data = numbers.data,
                                      .item_size = numbers.type == Number::u8 ? size_t(1) : size_t(2),
                                      .row_stride = numbers.row_stride,
                                      .column_stride = numbers.column_stride,
                                      .n_rows = numbers.n_rows};
    table->columns = std::make_unique<DenseColumns>(layout, levels_of(levels, numbers.n_columns));
    table->dense = std::move(codes);
    return table.release();
}

Table* sparse_table(Vector<int64_t> starts, Vector<row_t> rows, Vector<code_t> codes, Vector<code_t> implicit,
                    size_t n_rows, Vector<uint32_t> levels) {
    require_row_count(n_rows);
    auto table = std::make_unique<Table>();
    table->sparse = {.starts = std::move(starts), .indices = std::move(rows), .values = std::move(codes)};
    table->implicit = std::move(implicit);
    table->columns = std::make_unique<SparseColumns>(table->sparse.view(), view_of(table->implicit), n_rows,
                                                     levels_of(levels, table->implicit.shape(0)));
    return table.release();
}

Strategy strategy_of(const std::string& name) {
    if (name == "auto") return Strategy::automatic;
    if (name == "positional") return Strategy::positional;
    if (name == "grouped") return Strategy::grouped;
    if (name == "tiled") return Strategy::tiled;
    if (name == "sparse") return Strategy::sparse;
    if (name == "non-empty") return Strategy::non_empty;
    if (name == "histogram") return Strategy::histogram;
    throw std::invalid_argument(
        "strategy must be 'auto', 'positional', 'grouped', 'tiled', 'sparse', 'non-empty' or 'histogram'");
}

struct Weights {
    Vector<uint64_t> of_rows;
    Vector<double> logs;
    double scale;
    fixed_t penalty;
};

// Features and targets as they are counted.
struct Packed {
    virtual ~Packed() = default;
    virtual AnyPanels& panels() = 0;
};

template <class Count>
class PackedAs final : public Packed {
  public:
    PackedAs(const Columns& features, const Columns& targets, Terms<Count> terms,
             std::optional<RowWeights<Count>> weights, Strategy strategy, std::span<const double> ratios,
             Pool& pool)
        : weights_(std::move(weights)), targets_(targets, pool, ratios),
          features_(features, weights_ ? &*weights_ : nullptr, strategy, pool,
                    deferred(features, terms, strategy)),
          panels_(features_, targets_, with_weights(terms), pool) {}
    AnyPanels& panels() override { return panels_; }

  private:
    // Features that are counted by their non-empty tables: of rows that count once.
    std::vector<bool> deferred(const Columns& features, const Terms<Count>& terms, Strategy strategy) const {
        const bool always = strategy == Strategy::non_empty;
        if (!terms.table || weights_ || terms.rows || (!always && strategy != Strategy::automatic)) return {};
        return NonEmptyTables::suited(features, targets_, always);
    }
    Terms<Count> with_weights(Terms<Count> terms) const {
        terms.weights = weights_ ? &*weights_ : nullptr;
        return terms;
    }

    std::optional<RowWeights<Count>> weights_;
    Targets targets_;
    Features<Count> features_;
    Panels<Count> panels_;
};

// Features and targets packed, with everything that they look at.
class Session {
  public:
    Session(nb::object x, nb::object y, std::optional<Vector<fixed_t>> table, std::optional<Weights> weights,
            unsigned n_threads, const std::string& strategy, const std::optional<Vector<row_t>>& rows,
            const std::optional<Vector<double>>& known_ratios)
        : x_(std::move(x)), y_(std::move(y)), table_(std::move(table)), weights_(std::move(weights)),
          pool_(n_threads, poll_signals), features_(*nb::cast<const Table&>(x_).columns),
          targets_(*nb::cast<const Table&>(y_).columns) {
        const size_t n_entries = rows ? rows->shape(0) : features_.n_rows();
        require(n_entries == targets_.n_rows(), "features and targets must have the same rows");
        require(table_ || weights_, "a table of counts, weights, or both");
        if (rows) {  // a copy, since it is trusted once it has been checked
            rows_.assign(rows->data(), rows->data() + n_entries);
            for (const row_t row : rows_)
                require(row < features_.n_rows(), "the row index names a row that does not exist");
        }
        const uint64_t total = weights_ ? sum_of_weights() : n_entries;
        if (table_) {
            require(table_->shape(0) == total + 1 && total <= std::numeric_limits<count_t>::max(),
                    "the table needs a value for every count from 0 to the number of rows, or their weight");
            require(table_->data()[0] == 0, "the table must be 0 at 0");
        } else {
            require(weights_->logs.shape(0) == WeightedTerm::n_logs + 1, "4,097 logarithms");
            require(total < uint64_t(1) << 53 && weighted()(total) <= fixed_t(1) << 52,
                    "weights and their scale must be such that sums are exact");
        }
        std::vector<double> ratios;
        if (known_ratios) {
            require(known_ratios->shape(0) == targets_.size(), "one ratio for each target");
            ratios.assign(known_ratios->data(), known_ratios->data() + targets_.size());
            for (const double ratio : ratios)
                require(ratio == 0 || (ratio > 1 && std::isfinite(ratio)), "ratios must be 0 or above 1");
        }
        const Strategy counting = strategy_of(strategy);
        const nb::gil_scoped_release released;
        const double cost = 0.7 * double(features_.n_rows()) * double(features_.size() + targets_.size());
        const Pool::KeepAwake awake(pool_, cost);
        if (table_) {
            packed_ = pack<count_t>({.table = table_->data()}, counting, ratios);
        } else {
            packed_ = pack<double>({.weighted = weighted()}, counting, ratios);
        }
    }

    void feature_sums(OutVector<fixed_t> out) {
        require(out.shape(0) == features_.size(), "one sum for each feature");
        const nb::gil_scoped_release released;
        packed_->panels().feature_sums(out.data());
    }

    void target_sums(OutVector<fixed_t> out) {
        require(out.shape(0) == targets_.size(), "one sum for each target");
        const nb::gil_scoped_release released;
        packed_->panels().target_sums(out.data());
    }

    void run(Vector<uint32_t> given, size_t n_given, size_t first, size_t last, bool reduce,
             OutVector<fixed_t> with_given, OutVector<fixed_t> out, bool joint,
             std::optional<OutVector<fixed_t>> known, size_t first_feature) {
        require(given.shape(0) == targets_.n_rows(), "one given code for each row or entry");
        PanelRequest request{.given = view_of(given),
                             .n_given = n_given,
                             .first = first,
                             .last = last,
                             .reduce = reduce,
                             .joint = joint,
                             .with_given = with_given.data(),
                             .out = out.data(),
                             .first_feature = first_feature};
        check_shapes(request, with_given.shape(0), out.shape(0));
        if (known) {
            require(!reduce && known->shape(0) == out.shape(0), "one sum for each feature and target");
            request.known = known->data();
        }
        const nb::gil_scoped_release released;
        packed_->panels().run(request);
    }

    // The same, given one of the features.
    void run_feature(size_t feature, size_t first, size_t last, bool reduce, OutVector<fixed_t> with_given,
                     OutVector<fixed_t> out, bool joint) {
        PanelRequest request = given_feature(feature, first, last, reduce, with_given.data(), out.data());
        request.joint = joint;
        check_shapes(request, with_given.shape(0), out.shape(0));
        const nb::gil_scoped_release released;
        packed_->panels().run(request);
    }

    // Several panels: row i of `requests` has a feature and the first and last of its targets. Row i of
    // `pairs` gets the sums with the feature; those with targets follow each other in `out`.
    void run_features(nb::ndarray<const int64_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu> requests,
                      nb::ndarray<fixed_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> pairs,
                      OutVector<fixed_t> out, bool joint) {
        const size_t n = requests.shape(0);
        require(pairs.shape(0) == n && pairs.shape(1) == features_.size(), "one sum for each feature");
        std::vector<PanelRequest> panels;
        size_t used = 0;
        for (size_t i = 0; i < n; ++i) {
            const int64_t* row = requests.data() + 3 * i;
            require(row[0] >= 0 && row[1] >= 0 && row[1] <= row[2], "a feature, and targets in order");
            PanelRequest request = given_feature(size_t(row[0]), size_t(row[1]), size_t(row[2]), false,
                                                 pairs.data() + i * features_.size(), out.data() + used);
            request.joint = joint;
            const size_t size = features_.size() * (request.last - request.first);
            check_shapes(request, features_.size(), size);
            used += size;
            require(used <= out.shape(0), "one sum for each feature and target");
            panels.push_back(request);
        }
        const nb::gil_scoped_release released;
        packed_->panels().run_each(panels);
    }

    // The same, added over the targets and folded into an accumulator: see fold_panel.
    void fold_feature(size_t feature, size_t first, size_t last, OutVector<fixed_t> accumulator,
                      std::optional<Vector<fixed_t>> fixed, fixed_t pair_factor, fixed_t triple_factor,
                      fixed_t constant) {
        const size_t n = features_.size();
        require(accumulator.shape(0) == n && (!fixed || fixed->shape(0) == n), "one number for each feature");
        std::vector<fixed_t> pair(n), triple(n);
        const PanelRequest request = given_feature(feature, first, last, true, pair.data(), triple.data());
        check_shapes(request, n, n);
        const nb::gil_scoped_release released;
        packed_->panels().run(request);
        const PanelTerms terms{.constant = constant,
                               .fixed = fixed ? fixed->data() : nullptr,
                               .pair_factor = pair_factor,
                               .triple_factor = triple_factor};
        fold_panel(terms, pair.data(), triple.data(), n, accumulator.data());
    }

    // False, and nothing is written, where tables cannot be shrunk: see AnyPanels::can_shrink.
    bool shrink(Vector<uint32_t> given, size_t n_given, size_t first, size_t last, Vector<double> factors,
                double n_rows, Vector<double> logs, OutVector<double> out) {
        require(given.shape(0) == targets_.n_rows(), "one given code for each row");
        require(first <= last && last <= targets_.size(), "targets out of range");
        require(out.shape(0) == features_.size() * std::max<size_t>(1, last - first),
                "one sum for each feature and target");
        require(factors.shape(0) == 8 && logs.shape(0) == WeightedTerm::n_logs + 1,
                "a factor for each set of variables, and 4,097 logarithms");
        if (!packed_->panels().can_shrink(n_given)) return false;
        std::vector<fixed_t> pair(features_.size());
        ShrunkTerms terms{.factors = {}, .n_rows = n_rows, .logs = logs.data(), .out = out.data()};
        std::copy_n(factors.data(), 8, terms.factors);
        const PanelRequest request{.given = view_of(given),
                                   .n_given = n_given,
                                   .first = first,
                                   .last = last,
                                   .reduce = false,
                                   .with_given = pair.data(),
                                   .out = nullptr,
                                   .shrunk = &terms};
        const nb::gil_scoped_release released;
        packed_->panels().run(request);
        return true;
    }

    size_t bytes() const { return packed_->panels().bytes(); }

  private:
    PanelRequest given_feature(size_t feature, size_t first, size_t last, bool reduce, fixed_t* with_given,
                               fixed_t* out) const {
        require(feature < features_.size(), "there is no such feature");
        return {.given = {},
                .n_given = features_.levels(feature),
                .first = first,
                .last = last,
                .reduce = reduce,
                .with_given = with_given,
                .out = out,
                .feature = feature};
    }

    void check_shapes(const PanelRequest& request, size_t n_with_given, size_t n_out) const {
        const size_t first = request.first, last = request.last;
        require(first <= last && last <= targets_.size(), "targets out of range");
        require(n_with_given == features_.size(), "one sum for each feature");
        require(n_out == features_.size() * (request.reduce ? 1 : last - first),
                "one sum for each feature and target");
    }

    // Of all entries; 2^53, which is refused, when it is that or more.
    uint64_t sum_of_weights() const {
        constexpr uint64_t most = uint64_t(1) << 53;
        require(weights_->of_rows.shape(0) == features_.n_rows(), "one weight for each row");
        uint64_t total = 0;
        for (size_t entry = 0; entry < targets_.n_rows(); ++entry) {
            const uint64_t weight = weights_->of_rows.data()[rows_.empty() ? entry : rows_[entry]];
            total = std::min(most, total + std::min(most, weight));
        }
        return total;
    }

    WeightedTerm weighted() const {
        return {.logs = weights_->logs.data(), .scale = weights_->scale, .penalty = weights_->penalty};
    }

    template <class Count>
    std::unique_ptr<Packed> pack(Terms<Count> terms, Strategy strategy, std::span<const double> ratios) {
        std::optional<RowWeights<Count>> weights;
        if (weights_) weights.emplace(view_of(weights_->of_rows));
        terms.rows = rows_.empty() ? nullptr : rows_.data();
        return std::make_unique<PackedAs<Count>>(features_, targets_, terms, std::move(weights), strategy,
                                                 ratios, pool_);
    }

    nb::object x_, y_;
    std::optional<Vector<fixed_t>> table_;
    std::optional<Weights> weights_;
    std::vector<row_t> rows_;
    Pool pool_;
    const Columns& features_;
    const Columns& targets_;
    std::unique_ptr<Packed> packed_;
};

}  // namespace
}  // namespace labelsieve

NB_MODULE(_native, m) {
    using namespace labelsieve;
    m.doc() = "Core of labelsieve: counting, the search for neighbors, and the scan of text.";
    // A selector that a program still holds at its end is not a leak of ours: no warnings for users.
    nb::set_leak_warnings(false);
    main_thread =
        nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
    bind_numbers(m);
    bind_neighbors(m);
    bind_candidates(m);
    bind_common_rows(m);
    bind_raw_counts(m);
    bind_pursuit(m);
    bind_medoids(m);
    bind_relief(m);
    bind_simplex(m);
    bind_stack(m);
    bind_sums(m);
    bind_terms(m);

    m.def("kernel_name", [] { return std::string(kernels().name); });

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
               const std::optional<Vector<row_t>>& rows, const std::optional<Vector<double>>& known_ratios) {
                new (self) Session(std::move(x), std::move(y), std::move(table), std::move(weights),
                                   n_threads, strategy, rows, known_ratios);
            },
            "x"_a, "y"_a, "table"_a.none(), "weights"_a.none(), "n_threads"_a, "strategy"_a,
            "rows"_a = nb::none(), "known_ratios"_a = nb::none())
        .def("feature_sums", &Session::feature_sums, "out"_a.noconvert())
        .def("target_sums", &Session::target_sums, "out"_a.noconvert())
        .def("run", &Session::run, "given"_a, "n_given"_a, "first"_a, "last"_a, "reduce"_a,
             "with_given"_a.noconvert(), "out"_a.noconvert(), "joint"_a = false,
             "known"_a.noconvert() = nb::none(), "first_feature"_a = 0)
        .def("run_feature", &Session::run_feature, "feature"_a, "first"_a, "last"_a, "reduce"_a,
             "with_given"_a.noconvert(), "out"_a.noconvert(), "joint"_a = false)
        .def("run_features", &Session::run_features, "requests"_a, "pairs"_a.noconvert(), "out"_a.noconvert(),
             "joint"_a = false)
        .def("fold_feature", &Session::fold_feature, "feature"_a, "first"_a, "last"_a,
             "accumulator"_a.noconvert(), "fixed"_a.none(), "pair_factor"_a, "triple_factor"_a, "constant"_a)
        .def("shrink", &Session::shrink, "given"_a, "n_given"_a, "first"_a, "last"_a, "factors"_a, "n_rows"_a,
             "logs"_a, "out"_a.noconvert())
        .def_prop_ro("bytes", &Session::bytes);
}
