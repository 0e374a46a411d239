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
            Vector<double> column_factors, Vector<double> other_factors, OutRows out,
            std::optional<OutRows> out_low, Pool& threads) {
    const size_t n = high.shape(0), m = high.shape(1);
    require(low.shape(0) == n && low.shape(1) == m && out.shape(0) == n && out.shape(1) == m &&
                column_factors.shape(0) == n && other_factors.shape(0) == m &&
                (!out_low || (out_low->shape(0) == n && out_low->shape(1) == m)),
            "shapes differ");
    const ProductSums sums{.products = {.high = high.data(), .low = low.data()},
                           .columns = wide_of(column_high, column_low, n),
                           .others = wide_of(other_high, other_low, m),
                           .n_columns = n,
                           .n_others = m,
                           .total = total};
    const nb::gil_scoped_release released;
    center_products(sums, column_factors.data(), other_factors.data(), threads, out.data(),
                    out_low ? out_low->data() : nullptr);
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

void project_columns(OutRows rows, OutRows rows_low, size_t n_before, OutVector<double> products,
                     OutVector<double> products_low, size_t s, double left, double left_low, Pool& threads) {
    const size_t n = rows.shape(1);
    require(rows_low.shape(0) == rows.shape(0) && rows_low.shape(1) == n && n_before < rows.shape(0) && s < n,
            "shapes differ");
    const Directions before{
        .rows = {.high = rows.data(), .low = rows_low.data()}, .size = n_before, .n_columns = n, .pitch = n};
    const Wide2 out{.high = rows.data() + n_before * n, .low = rows_low.data() + n_before * n};
    const Wide2 given = pair_of(products, products_low, n);
    const nb::gil_scoped_release released;
    project(before, given, s, {left, left_low}, threads, out);
}

PursuitState state_of(const Vector<int64_t>& starts, const OutRows& products,
                      const OutVector<double>& squares, const OutVector<double>& squares_low) {
    check_starts(view_of(starts), products.shape(0));
    PursuitState state{
        .starts = view_of(starts), .n_targets = products.shape(1), .products = products.data()};
    size_t n_squares = 0;
    for (size_t f = 0; f < state.size(); ++f) n_squares += state.width(f) * (state.width(f) + 1) / 2;
    state.squares = pair_of(squares, squares_low, n_squares);
    return state;
}

void fold(Vector<int64_t> starts, OutRows products, OutVector<double> squares, OutVector<double> squares_low,
          OutVector<double> of_columns, OutVector<double> of_columns_low, Vector<double> of_targets,
          Pool& threads) {
    const PursuitState state = state_of(starts, products, squares, squares_low);
    const Wide2 along = pair_of(of_columns, of_columns_low, products.shape(0));
    require(of_targets.shape(0) == state.n_targets, "shapes differ");
    const nb::gil_scoped_release released;
    fold_direction(state, along, of_targets.data(), threads);
}

void gains(Vector<int64_t> starts, OutRows products, OutVector<double> squares, OutVector<double> squares_low,
           Vector<double> least, double weak, Vector<double> penalties, Vector<double> guards,
           OutVector<double> out, Pool& threads) {
    const PursuitState state = state_of(starts, products, squares, squares_low);
    require(least.shape(0) == products.shape(0) && penalties.shape(0) == state.n_targets &&
                guards.shape(0) == state.n_targets && out.shape(0) == state.size(),
            "shapes differ");
    const GainRules rules{
        .least = least.data(), .weak = weak, .penalties = penalties.data(), .guards = guards.data()};
    const nb::gil_scoped_release released;
    pursuit_gains(state, rules, threads, out.data());
}

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
          "other_low"_a, "total"_a, "column_factors"_a, "other_factors"_a, "out"_a.noconvert(),
          "out_low"_a.noconvert().none(), "threads"_a);
    m.def("center_squares", &center_own, "high"_a, "low"_a, "one_high"_a, "one_low"_a, "other_high"_a,
          "other_low"_a, "total"_a, "factors"_a, "other_factors"_a, "out"_a.noconvert(),
          "out_low"_a.noconvert());
    m.def("project_columns", &project_columns, "rows"_a.noconvert(), "rows_low"_a.noconvert(), "n_before"_a,
          "products"_a.noconvert(), "products_low"_a.noconvert(), "column"_a, "left"_a, "left_low"_a,
          "threads"_a);
    m.def("fold_direction", &fold, "starts"_a, "products"_a.noconvert(), "squares"_a.noconvert(),
          "squares_low"_a.noconvert(), "of_columns"_a.noconvert(), "of_columns_low"_a.noconvert(),
          "of_targets"_a, "threads"_a);
    m.def("pursuit_gains", &gains, "starts"_a, "products"_a.noconvert(), "squares"_a.noconvert(),
          "squares_low"_a.noconvert(), "least"_a, "weak"_a, "penalties"_a, "guards"_a, "out"_a.noconvert(),
          "threads"_a);
    m.def("listed_gains", &gains_of_lists, "starts"_a, "rows"_a, "numbers"_a, "row_starts"_a, "targets"_a,
          "pieces"_a, "column_high"_a, "column_low"_a, "target_high"_a, "target_low"_a, "total"_a,
          "column_factors"_a, "target_factors"_a, "along"_a, "of_targets"_a, "ranked"_a, "n_near"_a,
          "squares"_a, "least"_a, "weak"_a, "penalties"_a, "guards"_a, "out"_a.noconvert(), "threads"_a);
}

}  // namespace labelsieve
