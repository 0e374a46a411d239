// The Python face of the search for neighbours.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "neighbours.hpp"
#include "python.hpp"

namespace labelsieve {

namespace {

using Lists = std::tuple<nb::object, nb::object, nb::object>;

Lists as_arrays(NeighbourLists&& lists) {
    return {hand_over(std::move(lists.ends)), hand_over(std::move(lists.rows)), hand_over(std::move(lists.squares))};
}

void check_rows(std::size_t n_rows, std::size_t n_queries, bool leave_out) {
    require(n_rows >= 1 && n_rows < std::numeric_limits<row_t>::max(), "between 1 and 4,294,967,294 rows");
    require(!leave_out || n_queries == n_rows, "rows leave themselves out only when they are the queries");
}

Lists nearest_dense(nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu> table,
                    nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> queries, Vector<std::uint64_t> sizes,
                    std::size_t k, bool all_ties, bool leave_out, unsigned n_threads) {
    require(table.shape(1) == queries.shape(1), "as many columns in the queries as in the table");
    check_rows(table.shape(0), queries.shape(0), leave_out);
    std::vector<std::size_t> prefixes(sizes.data(), sizes.data() + sizes.shape(0));
    for (std::size_t i = 0; i < prefixes.size(); ++i)
        require(prefixes[i] <= table.shape(1) && (i == 0 || prefixes[i - 1] < prefixes[i]), "sizes must rise, up to the columns");
    NeighbourLists lists;
    {
        nb::gil_scoped_release released;
        Pool pool(n_threads, poll_signals);
        lists = nearest({table.data(), table.shape(0), table.shape(1)}, {queries.data(), queries.size()}, prefixes,
                        {k, all_ties, leave_out}, pool);
    }
    return as_arrays(std::move(lists));
}

SparseMatrix checked(const Vector<std::int64_t>& starts, const Vector<std::int32_t>& places, const Vector<double>& values, std::size_t limit) {
    require(starts.shape(0) >= 1 && places.shape(0) == values.shape(0), "as many places as values");
    require(starts.data()[0] == 0 && starts.data()[starts.shape(0) - 1] == std::int64_t(values.shape(0)), "starts must span the values");
    for (std::size_t i = 1; i < starts.shape(0); ++i) require(starts.data()[i - 1] <= starts.data()[i], "starts must not fall");
    for (std::size_t i = 0; i < places.shape(0); ++i)
        require(places.data()[i] >= 0 && std::size_t(places.data()[i]) < limit, "a place is out of range");
    return {{starts.data(), starts.shape(0)}, {places.data(), places.shape(0)}, {values.data(), values.shape(0)}};
}

Lists nearest_sparse(Vector<std::int64_t> starts, Vector<std::int32_t> rows, Vector<double> values, std::size_t n_rows,
                     Vector<std::int64_t> query_starts, Vector<std::int32_t> query_columns, Vector<double> query_values, std::size_t k,
                     bool all_ties, bool leave_out, unsigned n_threads) {
    const SparseMatrix table = checked(starts, rows, values, n_rows);
    const SparseMatrix queries = checked(query_starts, query_columns, query_values, starts.shape(0) - 1);
    check_rows(n_rows, query_starts.shape(0) - 1, leave_out);
    NeighbourLists lists;
    {
        nb::gil_scoped_release released;
        Pool pool(n_threads, poll_signals);
        lists = nearest(table, n_rows, queries, {k, all_ties, leave_out}, pool);
    }
    return as_arrays(std::move(lists));
}

}  // namespace

void bind_neighbours(nb::module_& m) {
    m.def("nearest_dense", &nearest_dense, "table"_a, "queries"_a, "sizes"_a, "k"_a, "all_ties"_a, "leave_out"_a, "n_threads"_a);
    m.def("nearest_sparse", &nearest_sparse, "starts"_a, "rows"_a, "values"_a, "n_rows"_a, "query_starts"_a, "query_columns"_a,
          "query_values"_a, "k"_a, "all_ties"_a, "leave_out"_a, "n_threads"_a);
}

}  // namespace labelsieve
