// The Python face of the search for neighbors, and of what their labels tell.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

#include "bindings/python.hpp"
#include "neighbors/neighbors.hpp"
#include "neighbors/votes.hpp"

namespace labelsieve {

namespace {

using Lists = std::tuple<nb::object, nb::object, nb::object>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutRows = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Lists as_arrays(NeighborLists&& lists) {
    return {hand_over(std::move(lists.ends)), hand_over(std::move(lists.rows)),
            hand_over(std::move(lists.squares))};
}

void check_rows(size_t n_rows, size_t n_queries, bool leave_out) {
    require(n_rows >= 1 && n_rows < std::numeric_limits<row_t>::max(), "between 1 and 4,294,967,294 rows");
    require(!leave_out || n_queries == n_rows, "rows leave themselves out only when they are the queries");
}

Lists nearest_dense(nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu> table, Rows queries,
                    Vector<uint64_t> sizes, size_t k, bool all_ties, bool leave_out, bool squares,
                    unsigned n_threads) {
    require(table.shape(1) == queries.shape(1), "as many columns in the queries as in the table");
    check_rows(table.shape(0), queries.shape(0), leave_out);
    std::vector<size_t> prefixes(sizes.data(), sizes.data() + sizes.shape(0));
    for (size_t i = 0; i < prefixes.size(); ++i)
        require(prefixes[i] <= table.shape(1) && (i == 0 || prefixes[i - 1] < prefixes[i]),
                "sizes must rise, up to the columns");
    NeighborLists lists;
    {
        nb::gil_scoped_release released;
        Pool pool(n_threads, poll_signals);
        lists = nearest({table.data(), table.shape(0), table.shape(1)}, {queries.data(), queries.size()},
                        prefixes, {k, all_ties, leave_out, squares}, pool);
    }
    return as_arrays(std::move(lists));
}

SparseMatrix checked(const Vector<int64_t>& starts, const Vector<int32_t>& places,
                     const Vector<double>& values, size_t limit) {
    require(starts.shape(0) >= 1 && places.shape(0) == values.shape(0), "as many places as values");
    require(starts.data()[0] == 0 && starts.data()[starts.shape(0) - 1] == int64_t(values.shape(0)),
            "starts must span the values");
    for (size_t i = 1; i < starts.shape(0); ++i)
        require(starts.data()[i - 1] <= starts.data()[i], "starts must not fall");
    for (size_t i = 0; i < places.shape(0); ++i)
        require(places.data()[i] >= 0 && size_t(places.data()[i]) < limit, "a place is out of range");
    return {
        {starts.data(), starts.shape(0)}, {places.data(), places.shape(0)}, {values.data(), values.shape(0)}};
}

Lists nearest_sparse(Vector<int64_t> starts, Vector<int32_t> rows, Vector<double> values, size_t n_rows,
                     Vector<int64_t> query_starts, Vector<int32_t> query_columns, Vector<double> query_values,
                     size_t k, bool all_ties, bool leave_out, unsigned n_threads) {
    const SparseMatrix table = checked(starts, rows, values, n_rows);
    const SparseMatrix queries = checked(query_starts, query_columns, query_values, starts.shape(0) - 1);
    check_rows(n_rows, query_starts.shape(0) - 1, leave_out);
    NeighborLists lists;
    {
        nb::gil_scoped_release released;
        Pool pool(n_threads, poll_signals);
        lists = nearest(table, n_rows, queries, {k, all_ties, leave_out, true}, pool);
    }
    return as_arrays(std::move(lists));
}

RowLists checked_lists(const Vector<int64_t>& starts, const Vector<uint32_t>& places, size_t limit) {
    require(starts.shape(0) >= 1 && starts.data()[0] == 0, "starts must begin with 0");
    require(starts.data()[starts.shape(0) - 1] == int64_t(places.shape(0)), "starts must span the places");
    const RowLists lists{{starts.data(), starts.shape(0)}, {places.data(), places.shape(0)}};
    require(std::is_sorted(lists.starts.begin(), lists.starts.end()), "starts must not fall");
    uint32_t largest = 0;
    for (const uint32_t place : lists.places) largest = std::max(largest, place);
    require(lists.places.empty() || largest < limit, "a place is out of range");
    return lists;
}

nb::object histograms_of_labels(Vector<int64_t> starts, Vector<uint32_t> rows, Vector<int64_t> label_starts,
                                Vector<uint32_t> label_places, size_t n_labels, size_t most,
                                unsigned n_threads) {
    const RowLists labels = checked_lists(label_starts, label_places, n_labels);
    const RowLists neighbors = checked_lists(starts, rows, labels.size());
    require(neighbors.size() == labels.size(), "neighbors of every row");
    std::vector<int64_t> found(checked_product(checked_product(2, n_labels), most + 1));
    {
        nb::gil_scoped_release released;
        Pool pool(n_threads, poll_signals);
        label_histograms(neighbors, labels, n_labels, most, pool, found.data());
    }
    return hand_over(std::move(found));
}

void answers_by_labels(Vector<int64_t> starts, Vector<uint32_t> rows, Vector<int64_t> label_starts,
                       Vector<uint32_t> label_places, Rows table, OutRows out, unsigned n_threads) {
    const RowLists labels = checked_lists(label_starts, label_places, table.shape(0));
    const RowLists neighbors = checked_lists(starts, rows, labels.size());
    require(table.shape(1) >= 1, "the table has a column for no neighbor");
    require(out.shape(0) == neighbors.size() && out.shape(1) == table.shape(0),
            "room for every query and label");
    nb::gil_scoped_release released;
    Pool pool(n_threads, poll_signals);
    label_answers(neighbors, labels, table.data(), table.shape(0), table.shape(1) - 1, pool, out.data());
}

}  // namespace

void bind_neighbors(nb::module_& m) {
    m.def("nearest_dense", &nearest_dense, "table"_a, "queries"_a, "sizes"_a, "k"_a, "all_ties"_a,
          "leave_out"_a, "squares"_a, "n_threads"_a);
    m.def("nearest_sparse", &nearest_sparse, "starts"_a, "rows"_a, "values"_a, "n_rows"_a, "query_starts"_a,
          "query_columns"_a, "query_values"_a, "k"_a, "all_ties"_a, "leave_out"_a, "n_threads"_a);
    m.def("label_histograms", &histograms_of_labels, "starts"_a, "rows"_a, "label_starts"_a, "label_places"_a,
          "n_labels"_a, "most"_a, "n_threads"_a);
    m.def("label_answers", &answers_by_labels, "starts"_a, "rows"_a, "label_starts"_a, "label_places"_a,
          "table"_a, "out"_a, "n_threads"_a);
}

}  // namespace labelsieve
