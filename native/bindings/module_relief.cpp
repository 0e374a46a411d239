// Nearest rows for the Relief family, for Python.
#include "bindings/python.hpp"
#include "neighbors/relief.hpp"

namespace labelsieve {
namespace {

// Rows among which neighbors are sought, with the arrays that they view.
class ReliefRows {
  public:
    ReliefRows(RowMatrix values, size_t n_columns, unsigned n_threads)
        : dense_(std::move(values)), pool_(n_threads, poll_signals) {
        require_row_count(dense_.shape(0));
        require(dense_.shape(1) % lane_doubles == 0 && n_columns <= dense_.shape(1),
                "rows must be padded to a multiple of 8");
        points_ = dense_points(dense_.data(), dense_.shape(0), n_columns, dense_.shape(1));
    }

    ReliefRows(CsrArrays<uint32_t, double> by_rows, CsrArrays<uint32_t, double> by_columns,
               unsigned n_threads)
        : by_rows_(std::move(by_rows)), by_columns_(std::move(by_columns)), pool_(n_threads, poll_signals) {
        const SparsePointsView rows = by_rows_.view(), columns = by_columns_.view();
        require(rows.starts.size() >= 2 && !columns.starts.empty(), "at least one row");
        require(rows.size() < no_row && columns.size() < no_row, "at most 4,294,967,294 rows and columns");
        points_ = sparse_points(checked(rows, columns.size(), Order::rising),
                                checked(columns, rows.size(), Order::rising));
    }

    void nearest(Vector<row_t> references, Vector<int64_t> starts, Vector<row_t> rows, size_t k,
                 OutVector<row_t> out) {
        check_rows(references);
        require(k >= 1, "at least one neighbor");
        const CsrView<row_t> groups = checked(view_of(starts, rows), points_->n_rows(), Order::rising);
        const size_t n_lists = checked_product(references.shape(0), groups.size());
        require(out.shape(0) == checked_product(n_lists, k), "k entries for each reference and group");
        const nb::gil_scoped_release released;
        nearest_rows(*points_, view_of(references), groups, k, pool_, out.data());
    }

    void add(Vector<row_t> references, Vector<row_t> neighbors, Vector<double> factors,
             OutVector<double> sums) {
        check_rows(references);
        const size_t n = references.shape(0) ? neighbors.shape(0) / references.shape(0) : 0;
        require(neighbors.shape(0) == n * references.shape(0) && factors.shape(0) == neighbors.shape(0),
                "as many factors as neighbors");
        require(sums.shape(0) == points_->n_columns(), "one sum for each column");
        for (const row_t row : view_of(neighbors))
            require(row < points_->n_rows() || row == no_row, "there is no such row");
        const nb::gil_scoped_release released;
        add_differences(*points_, view_of(references), view_of(neighbors), view_of(factors), pool_,
                        sums.data());
    }

  private:
    void check_rows(const Vector<row_t>& rows) const {
        for (const row_t row : view_of(rows)) require(row < points_->n_rows(), "there is no such row");
    }

    RowMatrix dense_;
    CsrArrays<uint32_t, double> by_rows_, by_columns_;
    Pool pool_;
    std::unique_ptr<Points> points_;
};

}  // namespace

void bind_relief(nb::module_& m) {
    const auto from_sparse = [](ReliefRows* self, Vector<int64_t> row_starts, Vector<uint32_t> columns,
                                Vector<double> row_values, Vector<int64_t> column_starts,
                                Vector<uint32_t> rows, Vector<double> column_values, unsigned n_threads) {
        CsrArrays<uint32_t, double> by_rows{
            .starts = std::move(row_starts), .indices = std::move(columns), .values = std::move(row_values)};
        CsrArrays<uint32_t, double> by_columns{.starts = std::move(column_starts),
                                               .indices = std::move(rows),
                                               .values = std::move(column_values)};
        new (self) ReliefRows(std::move(by_rows), std::move(by_columns), n_threads);
    };
    nb::class_<ReliefRows>(m, "ReliefRows")
        .def(nb::init<RowMatrix, size_t, unsigned>(), "values"_a, "n_columns"_a, "n_threads"_a)
        .def("__init__", from_sparse, "row_starts"_a, "columns"_a, "row_values"_a, "column_starts"_a,
             "rows"_a, "column_values"_a, "n_threads"_a)
        .def("nearest", &ReliefRows::nearest, "references"_a, "starts"_a, "rows"_a, "k"_a,
             "out"_a.noconvert())
        .def("add", &ReliefRows::add, "references"_a, "neighbors"_a, "factors"_a, "sums"_a.noconvert());
}

}  // namespace labelsieve
