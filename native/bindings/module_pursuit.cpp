// Forward least squares from sums of products, for Python.
#include "bindings/python.hpp"
#include "solver/pursuit.hpp"

namespace labelsieve {
namespace {

using OutRows = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using WideRows = nb::ndarray<const int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Wide2 pair_of(const OutVector<double>& high, const OutVector<double>& low, size_t size) {
    require(high.shape(0) == size && low.shape(0) == size, "shapes differ");
    return {.high = high.data(), .low = low.data()};
}

WideNumbers wide_of(const Vector<int64_t>& high, const Vector<int64_t>& low, size_t size) {
    require(high.shape(0) == size && low.shape(0) == size, "shapes differ");
    return {.high = high.data(), .low = low.data()};
}

void center(WideRows high, WideRows low, Vector<int64_t> column_high, Vector<int64_t> column_low,
            Vector<int64_t> other_high, Vector<int64_t> other_low, double total,
            Vector<double> column_factors, Vector<double> other_factors, OutRows out, Pool& threads) {
    const size_t n = high.shape(0), m = high.shape(1);
    require(low.shape(0) == n && low.shape(1) == m && out.shape(0) == n && out.shape(1) == m &&
                column_factors.shape(0) == n && other_factors.shape(0) == m,
            "shapes differ");
    const ProductSums sums{.products = {.high = high.data(), .low = low.data()},
                           .columns = wide_of(column_high, column_low, n),
                           .others = wide_of(other_high, other_low, m),
                           .n_columns = n,
                           .n_others = m,
                           .total = total};
    const nb::gil_scoped_release released;
    center_products(sums, column_factors.data(), other_factors.data(), threads, out.data());
}

void center_own(Vector<int64_t> high, Vector<int64_t> low, Vector<int64_t> one_high, Vector<int64_t> one_low,
                Vector<int64_t> other_high, Vector<int64_t> other_low, double total, Vector<double> factors,
                Vector<double> other_factors, OutVector<double> out, OutVector<double> out_low) {
    const size_t n = high.shape(0);
    require(factors.shape(0) == n && other_factors.shape(0) == n, "shapes differ");
    const Wide2 to = pair_of(out, out_low, n);
    center_squares(wide_of(high, low, n), wide_of(one_high, one_low, n), wide_of(other_high, other_low, n), n,
                   total, factors.data(), other_factors.data(), to.high, to.low);
}

// A pursuit and the arrays of Python that it reads and changes.
class BoundPursuit {
  public:
    BoundPursuit(Vector<int64_t> starts, OutRows products, OutVector<double> squares,
                 OutVector<double> squares_low, Vector<int64_t> sums_high, Vector<int64_t> sums_low,
                 Vector<double> factors, Vector<double> least, OutVector<double> left,
                 Vector<double> explained, double total, double n_rows, double penalty, double weak,
                 double guard)
        : starts_(std::move(starts)), products_(std::move(products)), squares_(std::move(squares)),
          squares_low_(std::move(squares_low)), sums_high_(std::move(sums_high)),
          sums_low_(std::move(sums_low)), factors_(std::move(factors)), least_(std::move(least)),
          left_(std::move(left)), explained_(std::move(explained)),
          pursuit_({.state = state(),
                    .sums = wide_of(sums_high_, sums_low_, n_columns()),
                    .factors = factors_.data(),
                    .least = least_.data(),
                    .total = total,
                    .n_rows = n_rows,
                    .left = {left_.data(), left_.shape(0)},
                    .explained = explained_.data(),
                    .penalty = penalty,
                    .weak = weak,
                    .guard = guard}) {}

    void scores(OutVector<double> gains, Pool& threads) const {
        require(gains.shape(0) == n_features(), "a gain for each feature");
        const nb::gil_scoped_release released;
        pursuit_.scores(threads, gains.data());
    }

    void penalties(OutVector<double> penalties, OutVector<double> guards) const {
        require(penalties.shape(0) == left_.shape(0) && guards.shape(0) == left_.shape(0), "shapes differ");
        pursuit_.penalties(penalties.data(), guards.data());
    }

    void round(OutVector<double> gains) const { pursuit_.round({gains.data(), gains.shape(0)}); }

    bool can_take_out(size_t column) const {
        require(column < n_columns(), "there is no such column");
        return pursuit_.can_take_out(column);
    }

    void take_out(size_t column, Vector<int64_t> high, Vector<int64_t> low,
                  std::optional<Vector<double>> products_left, Pool& threads) {
        require(can_take_out(column), "nothing is left of this column");
        const WideNumbers products = wide_of(high, low, n_columns());
        require(
            products_left ? products_left->shape(0) == left_.shape(0) : products_.shape(1) == left_.shape(0),
            "a product for each target");
        const nb::gil_scoped_release released;
        pursuit_.take_out(column, products, products_left ? products_left->data() : nullptr, threads);
    }

    void select(size_t feature, Vector<int16_t> cells, size_t n_rows, Vector<double> expected, size_t ahead,
                Pool& threads) {
        const DigitColumns columns = digits_of(cells, n_rows);
        require(feature < n_features() && expected.shape(0) == n_features(), "there is no such feature");
        const nb::gil_scoped_release released;
        pursuit_.select(feature, columns, expected.data(), ahead, threads);
    }

    size_t select_best(Vector<int16_t> cells, size_t n_rows, size_t ahead, OutVector<bool> available,
                       OutVector<uint32_t> features, OutVector<double> scores, OutVector<double> gains,
                       Pool& threads) {
        const DigitColumns columns = digits_of(cells, n_rows);
        require(available.shape(0) == n_features() && gains.shape(0) == n_features() &&
                    scores.shape(0) == features.shape(0),
                "shapes differ");
        const nb::gil_scoped_release released;
        return pursuit_.select_best(columns, ahead, threads, reinterpret_cast<uint8_t*>(available.data()),
                                    {features.data(), features.shape(0)}, scores.data(), gains.data());
    }

    // Coefficients of the columns and of the targets on the direction that was taken out last.
    std::pair<NewArray<double>, NewArray<double>> direction() const {
        const std::span<const double> of_columns = pursuit_.of_columns();
        return {hand_over(std::vector<double>(of_columns.begin(), of_columns.end())),
                hand_over(std::vector<double>(pursuit_.of_targets()))};
    }

  private:
    size_t n_columns() const { return products_.shape(0); }
    size_t n_features() const { return starts_.shape(0) - 1; }

    PursuitState state() const {
        check_starts(view_of(starts_), n_columns());
        PursuitState state{
            .starts = view_of(starts_), .n_targets = products_.shape(1), .products = products_.data()};
        size_t n_squares = 0;
        for (size_t f = 0; f < state.size(); ++f) n_squares += state.width(f) * (state.width(f) + 1) / 2;
        require(squares_.shape(0) == n_squares && squares_low_.shape(0) == n_squares &&
                    factors_.shape(0) == n_columns() && least_.shape(0) == n_columns() &&
                    explained_.shape(0) == left_.shape(0) &&
                    (products_.shape(1) == 0 || products_.shape(1) == left_.shape(0)),
                "shapes differ");
        state.squares = {.high = squares_.data(), .low = squares_low_.data()};
        return state;
    }

    DigitColumns digits_of(const Vector<int16_t>& cells, size_t n_rows) const {
        require_row_count(n_rows);
        require(cells.shape(0) == DigitColumns::n_cells(n_rows, n_columns()), "digits of all cells");
        require(products_.shape(1) == left_.shape(0), "products with all targets");
        return {.cells = cells.data(), .n_rows = n_rows, .n_columns = n_columns()};
    }

    Vector<int64_t> starts_;
    OutRows products_;
    OutVector<double> squares_, squares_low_;
    Vector<int64_t> sums_high_, sums_low_;
    Vector<double> factors_, least_;
    OutVector<double> left_;
    Vector<double> explained_;
    Pursuit pursuit_;
};

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using PieceRows = nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void gains_of_lists(Vector<int64_t> starts, Vector<row_t> rows, Vector<int32_t> numbers,
                    Vector<int64_t> row_starts, Vector<row_t> targets, PieceRows pieces,
                    Vector<int64_t> column_high, Vector<int64_t> column_low, Vector<int64_t> target_high,
                    Vector<int64_t> target_low, double total, Vector<double> column_factors,
                    Vector<double> target_factors, Rows along, Rows of_targets, Vector<row_t> ranked,
                    Vector<int64_t> n_near, Vector<double> squares, Vector<double> least, double weak,
                    Vector<double> penalties, Vector<double> guards, OutVector<double> out, Pool& threads) {
    const size_t q = target_factors.shape(0), n = column_factors.shape(0);
    require(pieces.shape(0) <= 3 && pieces.shape(1) == targets.shape(0), "pieces of all targets");
    const CsrView<row_t, int32_t> by_row{.starts = view_of(row_starts),
                                         .indices = view_of(targets),
                                         .values = {pieces.data(), targets.shape(0)}};
    checked(by_row, q, Order::rising);
    const CsrView<row_t, int32_t> columns{
        .starts = view_of(starts), .indices = view_of(rows), .values = view_of(numbers)};
    checked(columns, by_row.size(), Order::any);
    check_limit(view_of(ranked), q);
    require(columns.size() == n && along.shape(0) == n && of_targets.shape(0) == q &&
                along.shape(1) == of_targets.shape(1) && ranked.shape(0) == q && n_near.shape(0) == n &&
                squares.shape(0) == n && least.shape(0) == n && penalties.shape(0) == q &&
                guards.shape(0) == q && out.shape(0) == n,
            "shapes differ");
    for (size_t j = 0; j < n; ++j)
        require(n_near.data()[j] >= 0 && size_t(n_near.data()[j]) <= q, "there are not so many targets");
    const size_t n_directions = along.shape(1);
    const ListedProducts products{.columns = columns,
                                  .targets = by_row,
                                  .pieces = {pieces.data(), pieces.size()},
                                  .column_sums = wide_of(column_high, column_low, n),
                                  .target_sums = wide_of(target_high, target_low, q),
                                  .total = total,
                                  .column_factors = column_factors.data(),
                                  .target_factors = target_factors.data(),
                                  .along = {along.data(), along.size()},
                                  .of_targets = {of_targets.data(), of_targets.size()},
                                  .ranked = view_of(ranked),
                                  .n_near = view_of(n_near),
                                  .n_targets = q,
                                  .n_directions = n_directions};
    const GainRules rules{
        .least = least.data(), .weak = weak, .penalties = penalties.data(), .guards = guards.data()};
    const nb::gil_scoped_release released;
    listed_gains(products, squares.data(), rules, threads, out.data());
}

}  // namespace

void bind_pursuit(nb::module_& m) {
    m.def("center_products", &center, "high"_a, "low"_a, "column_high"_a, "column_low"_a, "other_high"_a,
          "other_low"_a, "total"_a, "column_factors"_a, "other_factors"_a, "out"_a.noconvert(), "threads"_a);
    m.def("center_squares", &center_own, "high"_a, "low"_a, "one_high"_a, "one_low"_a, "other_high"_a,
          "other_low"_a, "total"_a, "factors"_a, "other_factors"_a, "out"_a.noconvert(),
          "out_low"_a.noconvert());
    nb::class_<BoundPursuit>(m, "Pursuit")
        .def(nb::init<Vector<int64_t>, OutRows, OutVector<double>, OutVector<double>, Vector<int64_t>,
                      Vector<int64_t>, Vector<double>, Vector<double>, OutVector<double>, Vector<double>,
                      double, double, double, double, double>(),
             "starts"_a.noconvert(), "products"_a.noconvert(), "squares"_a.noconvert(),
             "squares_low"_a.noconvert(), "sums_high"_a, "sums_low"_a, "factors"_a, "least"_a,
             "left"_a.noconvert(), "explained"_a, "total"_a, "n_rows"_a, "penalty"_a, "weak"_a, "guard"_a)
        .def("scores", &BoundPursuit::scores, "gains"_a.noconvert(), "threads"_a)
        .def("penalties", &BoundPursuit::penalties, "penalties"_a.noconvert(), "guards"_a.noconvert())
        .def("round", &BoundPursuit::round, "gains"_a.noconvert())
        .def("can_take_out", &BoundPursuit::can_take_out, "column"_a)
        .def("take_out", &BoundPursuit::take_out, "column"_a, "high"_a, "low"_a, "products_left"_a.none(),
             "threads"_a)
        .def("select", &BoundPursuit::select, "feature"_a, "cells"_a, "n_rows"_a, "expected"_a, "ahead"_a,
             "threads"_a)
        .def("select_best", &BoundPursuit::select_best, "cells"_a, "n_rows"_a, "ahead"_a,
             "available"_a.noconvert(), "features"_a.noconvert(), "scores"_a.noconvert(),
             "gains"_a.noconvert(), "threads"_a)
        .def("direction", &BoundPursuit::direction);
    m.def("listed_gains", &gains_of_lists, "starts"_a, "rows"_a, "numbers"_a, "row_starts"_a, "targets"_a,
          "pieces"_a, "column_high"_a, "column_low"_a, "target_high"_a, "target_low"_a, "total"_a,
          "column_factors"_a, "target_factors"_a, "along"_a, "of_targets"_a, "ranked"_a, "n_near"_a,
          "squares"_a, "least"_a, "weak"_a, "penalties"_a, "guards"_a, "out"_a.noconvert(), "threads"_a);
}

}  // namespace labelsieve
