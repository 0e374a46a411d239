// Candidates of a search whose scores can only fall, for Python.
#include "bindings/python.hpp"
#include "counting/candidates.hpp"

namespace labelsieve {
namespace {

TableFactors factors_of(const Vector<fixed_t>& factors) {
    require(factors.shape(0) == 8, "a factor for each set of variables");
    TableFactors of;
    std::copy_n(factors.data(), of.size(), of.begin());
    return of;
}

// Columns of bits, which need the codes no more, and the table of n log n.
class PackedCandidates {
  public:
    PackedCandidates(const Table& x, const Table& y, Vector<fixed_t> table, unsigned n_threads)
        : table_(std::move(table)), pool_(n_threads, poll_signals) {
        require(x.columns->n_rows() == y.columns->n_rows(), "features and targets must have the same rows");
        require(table_.shape(0) == x.columns->n_rows() + 1,
                "the table needs a value for every count of rows");
        const nb::gil_scoped_release released;
        const double cost = double(x.columns->n_rows()) * double(x.columns->size() + y.columns->size());
        const Pool::KeepAwake awake(pool_, cost);
        candidates_.emplace(*x.columns, *y.columns, table_.data(), pool_);
    }

    void single_sums(OutVector<fixed_t> features, OutVector<fixed_t> targets) {
        require(features.shape(0) == candidates_->size() && targets.shape(0) == candidates_->n_targets(),
                "one sum for each feature, and for each target");
        candidates_->single_sums(features.data(), targets.data());
    }

    void pair_sums(bool reduce, OutVector<fixed_t> out) {
        const size_t n = candidates_->size() * (reduce ? 1 : candidates_->n_targets());
        require(out.shape(0) == n, "one sum for each feature and target");
        const nb::gil_scoped_release released;
        candidates_->pair_sums(reduce, out.data());
    }

    void begin(const Vector<fixed_t>& body, const std::optional<Vector<fixed_t>>& limit, bool positive) {
        FallingScore score{
            .body = factors_of(body), .has_limit = limit.has_value(), .limit = {}, .positive = positive};
        if (limit) score.limit = factors_of(*limit);
        const nb::gil_scoped_release released;
        candidates_->begin(score);
    }

    void select(size_t feature) {
        require(feature < candidates_->size(), "there is no such feature");
        const nb::gil_scoped_release released;
        candidates_->select(feature);
    }

    // The best features one after the other: their numbers and totals. The last one is not among the selected
    // ones yet, and none that is found stays available. Fewer than asked for where no more are available.
    size_t find_best(OutVector<bool> available, double divisor, OutVector<uint32_t> features,
                     OutVector<fixed_t> totals) {
        const size_t n = features.shape(0);
        require(available.shape(0) == candidates_->size(), "whether each feature is available");
        require(totals.shape(0) == n, "a total for each step");
        const nb::gil_scoped_release released;
        auto* open = reinterpret_cast<uint8_t*>(available.data());
        for (size_t step = 0; step < n; ++step) {
            if (step != 0) candidates_->select(features.data()[step - 1]);
            const size_t best = candidates_->find_best(open, divisor);
            if (best == candidates_->size()) return step;
            features.data()[step] = uint32_t(best);
            totals.data()[step] = candidates_->totals()[best];
            open[best] = 0;
        }
        return n;
    }

    void advance(const Vector<uint32_t>& features) {
        for (size_t i = 0; i < features.shape(0); ++i)
            require(features.data()[i] < candidates_->size() &&
                        (i == 0 || features.data()[i - 1] < features.data()[i]),
                    "features must be ascending");
        const nb::gil_scoped_release released;
        candidates_->advance(view_of(features));
    }

    void read(OutVector<fixed_t> totals, OutVector<bool> exact) const {
        const size_t n = candidates_->size();
        require(totals.shape(0) == n && exact.shape(0) == n, "one value for each feature");
        for (size_t f = 0; f < n; ++f) {
            totals.data()[f] = candidates_->totals()[f];
            exact.data()[f] = candidates_->is_exact(f);
        }
    }

    uint64_t n_counted() const { return candidates_->n_counted(); }
    size_t bytes() const { return candidates_->bytes(); }

  private:
    Vector<fixed_t> table_;
    Pool pool_;
    std::optional<Candidates> candidates_;
};

}  // namespace

void bind_candidates(nb::module_& m) {
    nb::class_<PackedCandidates>(m, "Candidates")
        .def(nb::init<const Table&, const Table&, Vector<fixed_t>, unsigned>(), "x"_a, "y"_a, "table"_a,
             "n_threads"_a)
        .def("single_sums", &PackedCandidates::single_sums, "features"_a.noconvert(), "targets"_a.noconvert())
        .def("pair_sums", &PackedCandidates::pair_sums, "reduce"_a, "out"_a.noconvert())
        .def("begin", &PackedCandidates::begin, "body"_a, "limit"_a.none(), "positive"_a)
        .def("select", &PackedCandidates::select, "feature"_a)
        .def("find_best", &PackedCandidates::find_best, "available"_a.noconvert(), "divisor"_a,
             "features"_a.noconvert(), "totals"_a.noconvert())
        .def("advance", &PackedCandidates::advance, "features"_a)
        .def("read", &PackedCandidates::read, "totals"_a.noconvert(), "exact"_a.noconvert())
        .def_prop_ro("n_counted", &PackedCandidates::n_counted)
        .def_prop_ro("bytes", &PackedCandidates::bytes);
}

}  // namespace labelsieve
