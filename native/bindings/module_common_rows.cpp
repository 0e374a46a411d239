// Common rows of sparse features and targets, for Python.
#include "bindings/python.hpp"
#include "counting/common_rows.hpp"

namespace labelsieve {
namespace {

// Keeps the columns, which are checked once.
class CommonRows {
  public:
    CommonRows(Vector<int64_t> row_starts, Vector<int32_t> columns, Vector<int64_t> starts,
               Vector<int64_t> rows, Vector<int32_t> group_of, size_t n_groups)
        : row_starts_(std::move(row_starts)), columns_(std::move(columns)), starts_(std::move(starts)),
          rows_(std::move(rows)), group_of_(std::move(group_of)),
          listed_{.by_row = checked(view_of(row_starts_, columns_), group_of_.shape(0), Order::any),
                  .by_column = checked(view_of(starts_, rows_), row_starts_.shape(0) - 1, Order::any),
                  .group_of = view_of(group_of_),
                  .n_groups = n_groups} {
        require(listed_.by_column.size() == group_of_.shape(0), "a group for each column");
        for (const int32_t group : listed_.group_of)
            require(group < 0 || size_t(group) < n_groups, "groups must stay below their number");
    }

    void count(Vector<int64_t> newest, Vector<int64_t> target_starts, Vector<int64_t> target_rows,
               Vector<int64_t> pair_starts, Vector<int32_t> pairs, OutVector<int64_t> with_newest,
               OutVector<int64_t> with_both, OutVector<int64_t> of_target, OutVector<int64_t> most) const {
        const CommonRequest request{
            .newest = view_of(newest),
            .targets = checked(view_of(target_starts, target_rows), listed_.by_row.size(), Order::any),
            .pairs = checked(view_of(pair_starts, pairs), listed_.by_column.size(), Order::any),
            .with_newest = with_newest.data(),
            .with_both = with_both.data(),
            .of_target = of_target.data(),
            .most = most.data()};
        const size_t n_targets = newest.shape(0);
        check_limit(request.newest, listed_.by_column.size());
        require(request.targets.size() == n_targets && request.pairs.size() == n_targets &&
                    of_target.shape(0) == n_targets,
                "lists for each target");
        require(with_newest.shape(0) == pairs.shape(0) && with_both.shape(0) == pairs.shape(0),
                "counts for each pair");
        require(most.shape(0) == checked_product(n_targets, listed_.n_groups),
                "a count for each target and group");
        const nb::gil_scoped_release released;
        count_common_rows(listed_, request);
    }

  private:
    Vector<int64_t> row_starts_;
    Vector<int32_t> columns_;
    Vector<int64_t> starts_, rows_;
    Vector<int32_t> group_of_;
    ListedColumns listed_;
};

}  // namespace

void bind_common_rows(nb::module_& m) {
    nb::class_<CommonRows>(m, "CommonRows")
        .def(nb::init<Vector<int64_t>, Vector<int32_t>, Vector<int64_t>, Vector<int64_t>, Vector<int32_t>,
                      size_t>(),
             "row_starts"_a, "columns"_a, "starts"_a, "rows"_a, "group_of"_a, "n_groups"_a)
        .def("count", &CommonRows::count, "newest"_a, "target_starts"_a, "target_rows"_a, "pair_starts"_a,
             "pairs"_a, "with_newest"_a.noconvert(), "with_both"_a.noconvert(), "of_target"_a.noconvert(),
             "most"_a.noconvert());
}

}  // namespace labelsieve
