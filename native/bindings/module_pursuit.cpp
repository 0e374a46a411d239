// Orthogonal matching pursuit, for Python.
#include "bindings/python.hpp"
#include "solver/pursuit.hpp"

namespace labelsieve {
namespace {

using OutRows = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ColumnMatrix = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

// Columns with the arrays that they view, and threads.
class PursuitColumns {
  public:
    PursuitColumns(ColumnMatrix values, unsigned n_threads)
        : dense_(std::move(values)), pool_(n_threads, poll_signals) {
        require_row_count(dense_.shape(0));
        view_ = {.n_rows = dense_.shape(0), .n_columns = dense_.shape(1), .dense = dense_.data()};
    }

    PursuitColumns(CsrArrays<row_t, double> sparse, size_t n_rows, Vector<double> centers,
                   Vector<double> factors, unsigned n_threads)
        : sparse_(std::move(sparse)), centers_(std::move(centers)), factors_(std::move(factors)),
          pool_(n_threads, poll_signals) {
        require_row_count(n_rows);
        const CsrView<row_t, double> columns = checked(sparse_.view(), n_rows, Order::rising);
        require(centers_.shape(0) == columns.size() && factors_.shape(0) == columns.size(),
                "a center and a factor for each column");
        view_ = {.n_rows = n_rows,
                 .n_columns = columns.size(),
                 .sparse = columns,
                 .centers = centers_.data(),
                 .factors = factors_.data()};
    }

    void times(Vector<double> vector, OutVector<double> out) {
        require(vector.shape(0) == view_.n_rows && out.shape(0) == view_.n_columns, "shapes differ");
        const nb::gil_scoped_release released;
        multiply(view_, vector.data(), pool_, out.data());
    }

    void times_targets(Vector<int64_t> starts, Vector<row_t> targets, Vector<double> values, OutRows out) {
        const CsrArrays<row_t, double> arrays{
            .starts = std::move(starts), .indices = std::move(targets), .values = std::move(values)};
        const CsrView<row_t, double> rows = checked(arrays.view(), out.shape(1), Order::rising);
        require(rows.size() == view_.n_rows && out.shape(0) == view_.n_columns, "shapes differ");
        const nb::gil_scoped_release released;
        multiply(view_, rows, out.shape(1), pool_, out.data());
    }

    void column(size_t j, OutVector<double> out) {
        require(j < view_.n_columns && out.shape(0) == view_.n_rows, "there is no such column");
        copy_column(view_, j, out.data());
    }

    void fold(Vector<int64_t> starts, OutRows products, OutVector<double> squares, Vector<double> of_columns,
              Vector<double> of_targets) {
        const PursuitState state = state_of(starts, products, squares);
        require(of_columns.shape(0) == view_.n_columns && of_targets.shape(0) == state.n_targets,
                "shapes differ");
        const nb::gil_scoped_release released;
        fold_direction(state, of_columns.data(), of_targets.data(), pool_);
    }

    void gains(Vector<int64_t> starts, OutRows products, OutVector<double> squares, Vector<double> least,
               Vector<double> penalties, OutVector<double> out) {
        const PursuitState state = state_of(starts, products, squares);
        require(least.shape(0) == view_.n_columns && penalties.shape(0) == state.n_targets &&
                    out.shape(0) == state.size(),
                "shapes differ");
        const nb::gil_scoped_release released;
        pursuit_gains(state, least.data(), penalties.data(), pool_, out.data());
    }

  private:
    PursuitState state_of(const Vector<int64_t>& starts, const OutRows& products,
                          const OutVector<double>& squares) const {
        check_starts(view_of(starts), view_.n_columns);
        PursuitState state{.starts = view_of(starts),
                           .n_targets = products.shape(1),
                           .products = products.data(),
                           .squares = squares.data()};
        size_t n_squares = 0;
        for (size_t f = 0; f < state.size(); ++f) n_squares += state.width(f) * (state.width(f) + 1) / 2;
        require(products.shape(0) == view_.n_columns && squares.shape(0) == n_squares, "shapes differ");
        return state;
    }

    ColumnMatrix dense_;
    CsrArrays<row_t, double> sparse_;
    Vector<double> centers_, factors_;
    Pool pool_;
    LinearColumns view_;
};

double orthogonalize_vector(RowMatrix basis, size_t n_basis, OutVector<double> vector) {
    require(n_basis <= basis.shape(0) && basis.shape(1) == vector.shape(0), "shapes differ");
    const nb::gil_scoped_release released;
    return orthogonalize(basis.data(), n_basis, vector.data(), vector.shape(0));
}

}  // namespace

void bind_pursuit(nb::module_& m) {
    const auto from_sparse = [](PursuitColumns* self, Vector<int64_t> starts, Vector<row_t> rows,
                                Vector<double> values, size_t n_rows, Vector<double> centers,
                                Vector<double> factors, unsigned n_threads) {
        CsrArrays<row_t, double> sparse{
            .starts = std::move(starts), .indices = std::move(rows), .values = std::move(values)};
        new (self)
            PursuitColumns(std::move(sparse), n_rows, std::move(centers), std::move(factors), n_threads);
    };
    nb::class_<PursuitColumns>(m, "PursuitColumns")
        .def(nb::init<ColumnMatrix, unsigned>(), "values"_a, "n_threads"_a)
        .def("__init__", from_sparse, "starts"_a, "rows"_a, "values"_a, "n_rows"_a, "centers"_a, "factors"_a,
             "n_threads"_a)
        .def("times", &PursuitColumns::times, "vector"_a, "out"_a.noconvert())
        .def("times_targets", &PursuitColumns::times_targets, "starts"_a, "targets"_a, "values"_a,
             "out"_a.noconvert())
        .def("column", &PursuitColumns::column, "column"_a, "out"_a.noconvert())
        .def("fold", &PursuitColumns::fold, "starts"_a, "products"_a.noconvert(), "squares"_a.noconvert(),
             "of_columns"_a, "of_targets"_a)
        .def("gains", &PursuitColumns::gains, "starts"_a, "products"_a.noconvert(), "squares"_a.noconvert(),
             "least"_a, "penalties"_a, "out"_a.noconvert());
    m.def("orthogonalize", &orthogonalize_vector, "basis"_a.noconvert(), "n_basis"_a, "vector"_a.noconvert());
}

}  // namespace labelsieve
