#include "neighbors/neighbors.hpp"

#include <algorithm>
#include <limits>

#include "simd/kernels.hpp"

namespace labelsieve {

namespace {

constexpr size_t lanes = 64;              // of least_of_lanes
constexpr size_t most_queries = 32;       // which share a tile of the table while it is in the cache
constexpr size_t cached_sums = 1u << 14;  // of the queries at hand, when they are looked at again and again
constexpr size_t tile_values = 1u << 15;  // of a table's tile

struct Near {
    double square;
    row_t row;
    bool operator<(const Near& other) const {
        return square < other.square || (square == other.square && row < other.row);
    }
};

// Finds the nearest of many rows again and again.
class NearestSelector {
  public:
    NearestSelector(size_t n_rows, const NeighborSettings& settings)
        : settings_(settings), found_(n_rows + 1) {}

    // `self` is left out when the settings say so.
    const std::vector<Near>& select(const double* squares, size_t n_rows, size_t self) {
        const size_t k = std::min(settings_.k, n_rows - (settings_.leave_out ? 1 : 0));
        selected_.clear();
        if (k == 0) return selected_;
        // Deal the rows to lanes: the k least of the lanes are k rows, so the last of them bounds the k-th
        // distance, and for small k hardly another row is as near. One more than k, since one of them may be
        // the row itself.
        double bound = std::numeric_limits<double>::infinity();
        if (k + 1 < lanes) {
            double least[lanes];
            kernels().least_of_lanes(squares, n_rows, least);
            std::nth_element(least, least + k, least + lanes);
            bound = least[k];
        }
        const size_t n_found = kernels().find_up_to(squares, n_rows, bound, found_.data());
        // Rows come in their order, so of those that tie at the bound the first k are enough. Few columns of
        // zeros and ones make nearly all rows tie.
        size_t ties_left = settings_.all_ties ? n_found : k;
        for (size_t i = 0; i < n_found; ++i) {
            const double square = squares[found_[i]];
            if ((settings_.leave_out && found_[i] == self) || (square == bound && ties_left == 0)) continue;
            ties_left -= square == bound;
            selected_.push_back({.square = square, .row = found_[i]});
        }
        std::nth_element(selected_.begin(), selected_.begin() + ptrdiff_t(k - 1), selected_.end());
        const double last = selected_[k - 1].square;
        auto end = selected_.begin() + ptrdiff_t(k);
        if (settings_.all_ties)
            end = std::partition(end, selected_.end(), [&](const Near& near) { return near.square <= last; });
        selected_.erase(end, selected_.end());
        std::sort(selected_.begin(), selected_.end());
        return selected_;
    }

  private:
    NeighborSettings settings_;
    std::vector<row_t> found_;
    std::vector<Near> selected_;
};

// One array of all lists.
NeighborLists gather(const std::vector<std::vector<Near>>& lists, bool squares) {
    NeighborLists all;
    all.ends.reserve(lists.size());
    size_t total = 0;
    for (const auto& list : lists) all.ends.push_back(total += list.size());
    all.rows.reserve(total);
    if (squares) all.squares.reserve(total);
    for (const auto& list : lists)
        for (const Near& near : list) {
            all.rows.push_back(near.row);
            if (squares) all.squares.push_back(near.square);
        }
    return all;
}

}  // namespace

NeighborLists nearest(const DenseTable& table, std::span<const double> queries, std::span<const size_t> sizes,
                      const NeighborSettings& settings, Pool& pool) {
    const size_t n_rows = table.n_rows, width = table.n_columns;
    const size_t n_queries = width ? queries.size() / width : 0;
    if (sizes.size() > 1 && settings.k <= most_nested && n_rows > size_t(settings.leave_out))
        return nested_nearest(table, queries, sizes, settings, pool);
    // Many columns at once: queries share the tiles of the table. Few at a time: their sums had better stay
    // in the cache.
    const bool nested = sizes.size() > 1;
    const size_t queries_at_a_time =
        nested ? std::clamp<size_t>(cached_sums / std::max<size_t>(1, n_rows), 1, most_queries)
               : most_queries;
    const size_t n_blocks = (n_queries + queries_at_a_time - 1) / queries_at_a_time;
    std::vector<std::vector<Near>> lists(checked_product(sizes.size(), n_queries));
    std::vector<Buffer<double>> squares(pool.size());
    std::vector<NearestSelector> selectors(pool.size(), NearestSelector(n_rows, settings));
    const double cost = double(n_queries) * double(n_rows) *
                        (0.3 * double(sizes.empty() ? 0 : sizes.back()) + 1.0 * double(sizes.size()));
    pool.run(n_blocks, cost, [&](size_t block, unsigned worker) {
        const size_t first = block * queries_at_a_time, last = std::min(n_queries, first + queries_at_a_time);
        squares[worker].reserve(checked_product(queries_at_a_time, n_rows));
        double* sums = squares[worker].data();
        std::fill(sums, sums + (last - first) * n_rows, 0.0);
        size_t done = 0;
        for (size_t s = 0; s < sizes.size(); done = sizes[s++]) {
            const size_t more = sizes[s] - done;
            const size_t tile = std::clamp<size_t>(tile_values / (more + 1) / 8 * 8, 64, 4096);
            for (size_t from = 0; from < n_rows; from += tile)
                for (size_t query = first; query < last; ++query)
                    kernels().add_squares(
                        table.columns + done * n_rows + from, n_rows, queries.data() + query * width + done,
                        more, std::min(tile, n_rows - from), sums + (query - first) * n_rows + from);
            for (size_t query = first; query < last; ++query) {
                const double* mine = sums + (query - first) * n_rows;
                lists[s * n_queries + query] = selectors[worker].select(mine, n_rows, query);
            }
        }
    });
    return gather(lists, settings.squares);
}

NeighborLists nearest(const SparseNumbers& table_columns, size_t n_rows, const SparseNumbers& query_rows,
                      const NeighborSettings& settings, Pool& pool) {
    const size_t n_queries = query_rows.size();
    std::vector<double> norms(n_rows, 0.0);
    for (size_t i = 0; i < table_columns.values.size(); ++i)
        norms[size_t(table_columns.indices[i])] += table_columns.values[i] * table_columns.values[i];
    std::vector<std::vector<Near>> lists(n_queries);
    std::vector<std::vector<double>> sums(pool.size());
    std::vector<NearestSelector> selectors(pool.size(), NearestSelector(n_rows, settings));
    constexpr size_t together = 16;
    const double cost = double(n_queries) * double(n_rows) * 2;
    pool.run((n_queries + together - 1) / together, cost, [&](size_t task, unsigned worker) {
        auto& squares = sums[worker];
        squares.resize(n_rows);
        for (size_t query = task * together; query < std::min(n_queries, (task + 1) * together); ++query) {
            std::fill(squares.begin(), squares.end(), 0.0);
            double norm = 0;
            const auto columns = query_rows[query];
            const auto values = query_rows.values_of(query);
            for (size_t i = 0; i < columns.size(); ++i) {
                norm += values[i] * values[i];
                const auto rows = table_columns[size_t(columns[i])];
                const auto listed = table_columns.values_of(size_t(columns[i]));
                for (size_t j = 0; j < rows.size(); ++j) squares[size_t(rows[j])] += values[i] * listed[j];
            }
            for (size_t row = 0; row < n_rows; ++row) {
                const double square = norm + norms[row] - 2 * squares[row];
                squares[row] = square > 0 ? square : 0;
            }
            lists[query] = selectors[worker].select(squares.data(), n_rows, query);
        }
    });
    return gather(lists, settings.squares);
}

}  // namespace labelsieve
