// Nearest rows, for Python.
#include "bindings/python.hpp"
#include "neighbors/relief.hpp"

namespace labelsieve {
namespace {

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Starts of `n` lists: they rise from 0 to the length of what they point into.
void require_starts(const Vector<int64_t>& starts, size_t n, size_t length) {
    require(starts.shape(0) == n + 1 && starts.data()[0] == 0 && starts.data()[n] == int64_t(length),
            "starts must span the lists");
    for (size_t i = 0; i < n; ++i) require(starts.data()[i] <= starts.data()[i + 1], "starts must rise");
}

// Lists of indices below `limit`, each in rising order.
void require_lists(const Vector<int64_t>& starts, const Vector<uint32_t>& indices, size_t n, size_t limit) {
    require_starts(starts, n, indices.shape(0));
    for (size_t i = 0; i < n; ++i)
        for (int64_t at = starts.data()[i]; at < starts.data()[i + 1]; ++at)
            require(indices.data()[at] < limit &&
                        (at == starts.data()[i] || indices.data()[at - 1] < indices.data()[at]),
                    "indices must rise and stay below their limit");
}

struct SparseArrays {
    Vector<int64_t> starts;
    Vector<uint32_t> indices;
    Vector<double> values;

    SparseSide checked(size_t n, size_t limit) const {
        require(indices.shape(0) == values.shape(0), "as many indices as values");
        require_lists(starts, indices, n, limit);
        return {starts.data(), indices.data(), values.data()};
    }
};

// Rows among which neighbors are sought, with the arrays that they look at.
class Neighbors {
  public:
    Neighbors(Rows values, size_t n_columns, unsigned n_threads)
        : dense_(std::move(values)), pool_(n_threads, poll_signals) {
        require(dense_.shape(0) >= 1 && dense_.shape(0) < no_row, "between 1 and 4,294,967,294 rows");
        require(dense_.shape(1) % lane_doubles == 0 && n_columns <= dense_.shape(1),
                "rows must be padded to a multiple of 8");
        points_ = dense_points(dense_.data(), dense_.shape(0), n_columns, dense_.shape(1));
    }

    Neighbors(SparseArrays by_rows, SparseArrays by_columns, unsigned n_threads)
        : by_rows_(std::move(by_rows)), by_columns_(std::move(by_columns)), pool_(n_threads, poll_signals) {
        require(by_rows_.starts.shape(0) >= 2 && by_columns_.starts.shape(0) >= 1, "at least one row");
        const size_t n_rows = by_rows_.starts.shape(0) - 1, n_columns = by_columns_.starts.shape(0) - 1;
        require(n_rows < no_row && n_columns < no_row, "at most 4,294,967,294 rows and columns");
        points_ = sparse_points(by_rows_.checked(n_rows, n_columns), by_columns_.checked(n_columns, n_rows),
                                n_rows, n_columns);
    }

    void nearest(Vector<row_t> references, Vector<int64_t> starts, Vector<row_t> rows, size_t k,
                 OutVector<row_t> out) {
        check_rows(references);
        require(starts.shape(0) >= 1 && k >= 1, "at least one neighbor");
        const size_t n_groups = starts.shape(0) - 1;
        require_lists(starts, rows, n_groups, points_->n_rows());
        require(out.shape(0) == checked_product(checked_product(references.shape(0), n_groups), k),
                "k places for each reference and group");
        nb::gil_scoped_release released;
        nearest_rows(*points_, {references.data(), references.shape(0)},
                     {starts.data(), rows.data(), n_groups}, k, pool_, out.data());
    }

    void add(Vector<row_t> references, Vector<row_t> neighbors, Vector<double> factors,
             OutVector<double> sums) {
        check_rows(references);
        const size_t n = references.shape(0) ? neighbors.shape(0) / references.shape(0) : 0;
        require(neighbors.shape(0) == n * references.shape(0) && factors.shape(0) == neighbors.shape(0),
                "as many factors as neighbors");
        require(sums.shape(0) == points_->n_columns(), "one sum for each column");
        for (size_t i = 0; i < neighbors.shape(0); ++i)
            require(neighbors.data()[i] < points_->n_rows() || neighbors.data()[i] == no_row,
                    "there is no such row");
        nb::gil_scoped_release released;
        add_differences(*points_, {references.data(), references.shape(0)}, neighbors.data(), factors.data(),
                        n, pool_, sums.data());
    }

  private:
    void check_rows(const Vector<row_t>& rows) const {
        for (size_t i = 0; i < rows.shape(0); ++i)
            require(rows.data()[i] < points_->n_rows(), "there is no such row");
    }

    Rows dense_;
    SparseArrays by_rows_, by_columns_;
    Pool pool_;
    std::unique_ptr<Points> points_;
};

}  // namespace

void bind_relief(nb::module_& m) {
    nb::class_<Neighbors>(m, "ReliefRows")
        .def(nb::init<Rows, size_t, unsigned>(), "values"_a, "n_columns"_a, "n_threads"_a)
        .def(
            "__init__",
            [](Neighbors* self, Vector<int64_t> row_starts, Vector<uint32_t> columns,
               Vector<double> row_values, Vector<int64_t> column_starts, Vector<uint32_t> rows,
               Vector<double> column_values, unsigned n_threads) {
                new (self) Neighbors(
                    SparseArrays{std::move(row_starts), std::move(columns), std::move(row_values)},
                    SparseArrays{std::move(column_starts), std::move(rows), std::move(column_values)},
                    n_threads);
            },
            "row_starts"_a, "columns"_a, "row_values"_a, "column_starts"_a, "rows"_a, "column_values"_a,
            "n_threads"_a)
        .def("nearest", &Neighbors::nearest, "references"_a, "starts"_a, "rows"_a, "k"_a, "out"_a.noconvert())
        .def("add", &Neighbors::add, "references"_a, "neighbors"_a, "factors"_a, "sums"_a.noconvert());
}

}  // namespace labelsieve
