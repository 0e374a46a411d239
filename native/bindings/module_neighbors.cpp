// The search for neighbors and the votes of their labels, for Python.
#include "bindings/python.hpp"
#include "neighbors/neighbors.hpp"
#include "neighbors/votes.hpp"
#include "simd/kernels.hpp"

namespace labelsieve {

namespace {

using Lists = std::tuple<NewArray<uint64_t>, NewArray<row_t>, NewArray<double>>;
using ColumnMatrix = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using OutRows = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Calls find(pool) without the interpreter lock.
template <class Find>
Lists found_by(unsigned n_threads, const Find& find) {
    NeighborLists lists;
    {
        const nb::gil_scoped_release released;
        Pool pool(n_threads, poll_signals);
        lists = find(pool);
    }
    return {hand_over(std::move(lists.ends)), hand_over(std::move(lists.rows)),
            hand_over(std::move(lists.squares))};
}

void check_rows(size_t n_rows, size_t n_queries, bool leave_out) {
    require_row_count(n_rows);
    require(!leave_out || n_queries == n_rows, "rows leave themselves out only when they are the queries");
}

Lists nearest_dense(ColumnMatrix table, RowMatrix queries, Vector<uint64_t> sizes, size_t k, bool all_ties,
                    bool leave_out, bool squares, bool single, unsigned n_threads) {
    require(table.shape(1) == queries.shape(1), "as many columns in the queries as in the table");
    check_rows(table.shape(0), queries.shape(0), leave_out);
    std::vector<size_t> prefixes(sizes.data(), sizes.data() + sizes.shape(0));
    for (size_t i = 0; i < prefixes.size(); ++i)
        require(prefixes[i] <= table.shape(1) && (i == 0 || prefixes[i - 1] < prefixes[i]),
                "sizes must rise, up to the columns");
    const DenseTable dense{.columns = table.data(), .n_rows = table.shape(0), .n_columns = table.shape(1)};
    const NeighborSettings settings{
        .k = k, .all_ties = all_ties, .leave_out = leave_out, .squares = squares, .single = single};
    return found_by(n_threads, [&](Pool& pool) {
        return nearest(dense, {queries.data(), queries.size()}, prefixes, settings, pool);
    });
}

Lists nearest_sparse(Vector<int64_t> starts, Vector<int32_t> rows, Vector<double> values, size_t n_rows,
                     Vector<int64_t> query_starts, Vector<int32_t> query_columns, Vector<double> query_values,
                     size_t k, bool all_ties, bool leave_out, unsigned n_threads) {
    const CsrArrays<int32_t, double> table{.starts = starts, .indices = rows, .values = values};
    const CsrArrays<int32_t, double> queries{
        .starts = query_starts, .indices = query_columns, .values = query_values};
    const SparseNumbers columns = checked(table.view(), n_rows, Order::any);
    const SparseNumbers points = checked(queries.view(), columns.size(), Order::any);
    check_rows(n_rows, points.size(), leave_out);
    const NeighborSettings settings{.k = k, .all_ties = all_ties, .leave_out = leave_out, .squares = true};
    return found_by(n_threads, [&](Pool& pool) { return nearest(columns, n_rows, points, settings, pool); });
}

NewArray<int64_t> histograms_of_labels(Vector<int64_t> starts, Vector<uint32_t> rows,
                                       Vector<int64_t> label_starts, Vector<uint32_t> label_indices,
                                       size_t n_labels, size_t most, unsigned n_threads) {
    const RowLists labels = checked(view_of(label_starts, label_indices), n_labels, Order::any);
    const RowLists neighbors = checked(view_of(starts, rows), labels.size(), Order::any);
    require(neighbors.size() == labels.size(), "neighbors of every row");
    std::vector<int64_t> found(checked_product(checked_product(2, n_labels), most + 1));
    {
        const nb::gil_scoped_release released;
        Pool pool(n_threads, poll_signals);
        label_histograms(neighbors, labels, n_labels, most, pool, found.data());
    }
    return hand_over(std::move(found));
}

void answers_by_labels(Vector<int64_t> starts, Vector<uint32_t> rows, Vector<int64_t> label_starts,
                       Vector<uint32_t> label_indices, RowMatrix table, OutRows out, unsigned n_threads) {
    const RowLists labels = checked(view_of(label_starts, label_indices), table.shape(0), Order::any);
    const RowLists neighbors = checked(view_of(starts, rows), labels.size(), Order::any);
    require(table.shape(1) >= 1, "the table has a column for no neighbor");
    require(out.shape(0) == neighbors.size() && out.shape(1) == table.shape(0),
            "one answer for every query and label");
    const nb::gil_scoped_release released;
    Pool pool(n_threads, poll_signals);
    label_answers(neighbors, labels, table.data(), table.shape(0), table.shape(1) - 1, pool, out.data());
}

NewArray<row_t> nearest_by_products(
    nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu> products, Vector<float> lengths,
    Vector<float> points, size_t k) {
    const size_t n_rows = products.shape(1);
    require_row_count(n_rows);
    require(lengths.shape(0) == n_rows && points.shape(0) == products.shape(0),
            "a length for each row and query");
    require(k >= 1 && k <= n_rows && k <= most_nested, "at least as many rows as are wanted");
    std::vector<row_t> rows;
    {
        const nb::gil_scoped_release released;
        rows = nearest_of_products({products.data(), products.size()}, {lengths.data(), n_rows},
                                   points.data(), k);
    }
    return hand_over(std::move(rows));
}

}  // namespace

void bind_neighbors(nb::module_& m) {
    m.def("nearest_dense", &nearest_dense, "table"_a, "queries"_a, "sizes"_a, "k"_a, "all_ties"_a,
          "leave_out"_a, "squares"_a, "single"_a, "n_threads"_a);
    m.def("nearest_sparse", &nearest_sparse, "starts"_a, "rows"_a, "values"_a, "n_rows"_a, "query_starts"_a,
          "query_columns"_a, "query_values"_a, "k"_a, "all_ties"_a, "leave_out"_a, "n_threads"_a);
    m.def("nearest_by_products", &nearest_by_products, "products"_a.noconvert(), "lengths"_a.noconvert(),
          "points"_a.noconvert(), "k"_a);
    m.def("label_histograms", &histograms_of_labels, "starts"_a, "rows"_a, "label_starts"_a,
          "label_indices"_a, "n_labels"_a, "most"_a, "n_threads"_a);
    m.def("label_answers", &answers_by_labels, "starts"_a, "rows"_a, "label_starts"_a, "label_indices"_a,
          "table"_a, "out"_a, "n_threads"_a);
}

}  // namespace labelsieve
