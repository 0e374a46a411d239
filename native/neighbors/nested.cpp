// Nearest rows by nested prefixes of the columns: see nested_nearest.
#include <algorithm>
#include <cmath>
#include <limits>

#include "neighbors/neighbors.hpp"
#include "simd/kernels.hpp"

namespace labelsieve {

namespace {

constexpr size_t cached_bytes = 40'000;  // of the sums at hand, about what the first cache holds
// Greater than any sum in two bytes, or in one; with such a sum added, still in two or one.
constexpr int16_t beyond_narrow = 1 << 14;
constexpr int8_t beyond_binary = 1 << 6;

template <class T>
auto grow_kernel() {
    if constexpr (sizeof(T) == 1)
        return kernels().grow_binary;
    else if constexpr (sizeof(T) == 2)
        return kernels().grow_narrow;
    else if constexpr (sizeof(T) == 4)
        return kernels().grow_single;
    else
        return kernels().grow_wide;
}

// What sums of padding are.
template <class T>
constexpr T beyond() {
    if constexpr (sizeof(T) == 1)
        return beyond_binary;
    else if constexpr (sizeof(T) == 2)
        return beyond_narrow;
    else
        return std::numeric_limits<T>::infinity();
}

// Columns of the table, padded to whole stripes, and the queries in the same padded.
template <class T>
struct PaddedTable {
    size_t n_rows, width, pitch;
    Buffer<T> columns;
    std::vector<T> queries;

    PaddedTable(const DenseTable& table, std::span<const double> points, std::span<const double> zeros)
        : n_rows(table.n_rows), width(table.n_columns),
          pitch((n_rows + stripe_bytes / sizeof(T) - 1) / (stripe_bytes / sizeof(T)) *
                (stripe_bytes / sizeof(T))),
          columns(checked_product(pitch, width)), queries(points.size()) {
        for (size_t c = 0; c < width; ++c)
            for (size_t i = 0; i < n_rows; ++i)
                columns[c * pitch + i] = T(table.columns[c * n_rows + i] - zeros[c]);
        for (size_t i = 0; i < points.size(); i += width)
            for (size_t c = 0; c < width; ++c) queries[i + c] = T(points[i + c] - zeros[c]);
    }
};

// What the values of each column span, where all are whole padded.
struct WholeSpans {
    std::vector<double> least, most;
    bool whole;

    WholeSpans(const DenseTable& table, std::span<const double> queries)
        : least(table.n_columns, std::numeric_limits<double>::infinity()), most(table.n_columns, -least[0]),
          whole(look(table, queries)) {}

    // Their sums of squares fit into two bytes; they are zeros and ones when the least is zero, and sums fit
    // into one byte.
    bool narrow() const { return whole && sum_of_squares() < beyond_narrow; }
    bool binary() const {
        for (size_t c = 0; c < least.size(); ++c)
            if (most[c] - least[c] > 1) return false;
        return whole && sum_of_squares() < beyond_binary;
    }

  private:
    double sum_of_squares() const {
        double sum = 0;
        for (size_t c = 0; c < least.size(); ++c) sum += (most[c] - least[c]) * (most[c] - least[c]);
        return sum;
    }
    bool look(const DenseTable& table, std::span<const double> queries) {
        const size_t width = table.n_columns;
        for (size_t c = 0; c < width; ++c)
            for (size_t i = 0; i < table.n_rows; ++i)
                if (!look(table.columns[c * table.n_rows + i], c)) return false;
        for (size_t i = 0; i < queries.size(); i += width)
            for (size_t c = 0; c < width; ++c)
                if (!look(queries[i + c], c)) return false;
        return true;
    }
    bool look(double value, size_t column) {
        least[column] = std::min(least[column], value);
        most[column] = std::max(most[column], value);
        return value == std::nearbyint(value);
    }
};

template <class T>
class NestedSearch {
  public:
    NestedSearch(const PaddedTable<T>& padded, std::span<const size_t> sizes,
                 const NeighborSettings& settings)
        : padded_(padded), sizes_(sizes), settings_(settings),
          n_queries_(padded.queries.size() / padded.width) {}

    NeighborLists find(Pool& pool) {
        const size_t n_rows = padded_.n_rows, n_lists = checked_product(sizes_.size(), n_queries_);
        k_ = std::min(settings_.k, n_rows - (settings_.leave_out ? 1 : 0));
        NeighborLists all;
        if (!settings_.all_ties) {  // all lists have the same length, so that each has a fixed position
            all.rows.resize(checked_product(n_lists, k_));
            if (settings_.squares) all.squares.resize(all.rows.size());
        }
        std::vector<std::vector<row_t>> tied(settings_.all_ties ? n_lists : 0);
        std::vector<std::vector<double>> tied_squares(tied.size());
        const size_t together = std::clamp<size_t>(cached_bytes / (padded_.pitch * sizeof(T)), 1, 32);
        std::vector<Buffer<T>> sums(pool.size());
        const double cost = double(n_lists) * (double(padded_.pitch * sizeof(T)) / 16 + 40.0 * double(k_));
        pool.run((n_queries_ + together - 1) / together, cost, [&](size_t block, unsigned worker) {
            sums[worker].reserve(
                checked_product(together + 1, padded_.pitch));  // and space for the least of stripes
            T* low = sums[worker].data() + together * padded_.pitch;
            for (size_t i = 0; i < together; ++i) {
                T* query_sums = sums[worker].data() + i * padded_.pitch;
                std::fill(query_sums, query_sums + n_rows, T(0));
                std::fill(query_sums + n_rows, query_sums + padded_.pitch, beyond<T>());
            }
            T squares[most_nested + 1] = {};
            row_t rows[most_nested + 1] = {};
            size_t done = 0;
            for (size_t s = 0; s < sizes_.size(); done = sizes_[s++])
                for (size_t i = 0, query = block * together; i < together && query < n_queries_;
                     ++i, ++query) {
                    T* query_sums = sums[worker].data() + i * padded_.pitch;
                    grow_kernel<T>()({.columns = padded_.columns.data() + done * padded_.pitch,
                                      .pitch = padded_.pitch,
                                      .point = padded_.queries.data() + query * padded_.width + done,
                                      .n_columns = sizes_[s] - done,
                                      .n_rows = n_rows,
                                      .left_out = settings_.leave_out ? query : n_rows,
                                      .k = k_,
                                      .sums = query_sums,
                                      .low = low,
                                      .squares = squares,
                                      .rows = rows});
                    const size_t list = s * n_queries_ + query;
                    if (settings_.all_ties) {
                        find_ties(query_sums, query, squares, rows, tied[list], tied_squares[list]);
                        continue;
                    }
                    std::copy(rows, rows + k_, all.rows.data() + list * k_);
                    if (settings_.squares) std::copy(squares, squares + k_, all.squares.data() + list * k_);
                }
        });
        all.ends.resize(n_lists);
        for (size_t list = 0; list < n_lists; ++list) all.ends[list] = (list + 1) * k_;
        if (settings_.all_ties) {
            size_t end = 0;
            for (size_t list = 0; list < n_lists; ++list) {
                all.ends[list] = end += tied[list].size();
                all.rows.insert(all.rows.end(), tied[list].begin(), tied[list].end());
                if (settings_.squares)
                    all.squares.insert(all.squares.end(), tied_squares[list].begin(),
                                       tied_squares[list].end());
            }
        }
        return all;
    }

  private:
    // The k nearest are known: those nearer than the k-th, and then every row that is as near as it.
    void find_ties(const T* sums, size_t query, const T* squares, const row_t* rows, std::vector<row_t>& all,
                   std::vector<double>& all_squares) const {
        const T last = squares[k_ - 1];
        const size_t nearer = size_t(std::find(squares, squares + k_, last) - squares);
        all.assign(rows, rows + nearer);
        for (size_t row = 0; row < padded_.n_rows; ++row)
            if (sums[row] == last && (!settings_.leave_out || row != query)) all.push_back(row_t(row));
        all_squares.assign(squares, squares + nearer);
        all_squares.resize(all.size(), double(last));
    }

    const PaddedTable<T>& padded_;
    std::span<const size_t> sizes_;
    NeighborSettings settings_;
    size_t n_queries_, k_ = 0;
};

}  // namespace

NeighborLists nested_nearest(const DenseTable& table, std::span<const double> queries,
                             std::span<const size_t> sizes, const NeighborSettings& settings, Pool& pool) {
    const WholeSpans spans(table, queries);
    const auto find = [&]<class T>(const PaddedTable<T>& padded) {
        return NestedSearch<T>(padded, sizes, settings).find(pool);
    };
    if (spans.binary()) return find(PaddedTable<int8_t>(table, queries, spans.least));
    if (spans.narrow()) return find(PaddedTable<int16_t>(table, queries, spans.least));
    const std::vector<double> zeros(table.n_columns, 0.0);
    if (settings.single) return find(PaddedTable<float>(table, queries, zeros));
    return find(PaddedTable<double>(table, queries, zeros));
}

std::vector<row_t> nearest_of_products(std::span<const float> products, std::span<const float> lengths,
                                       const float* points, size_t k) {
    // A step of a search that adds a column of zeros.
    constexpr size_t stripe = stripe_bytes / sizeof(float);
    const size_t n = lengths.size(), padded = (n + stripe - 1) / stripe * stripe,
                 n_queries = products.size() / n;
    const std::vector<float> zeros(padded);
    std::vector<float> sums(padded, beyond<float>()), low(padded), squares(k + 1);
    std::vector<row_t> nearest(n_queries * k), rows(k + 1);
    for (size_t query = 0; query < n_queries; ++query) {
        const float *of_query = products.data() + query * n, point = points[query];
        for (size_t row = 0; row < n; ++row)  // rounding must not make it negative
            sums[row] = std::max(0.0f, lengths[row] + point - 2 * of_query[row]);
        grow_kernel<float>()({.columns = zeros.data(),
                              .pitch = padded,
                              .point = zeros.data(),
                              .n_columns = 1,
                              .n_rows = n,
                              .left_out = n,
                              .k = k,
                              .sums = sums.data(),
                              .low = low.data(),
                              .squares = squares.data(),
                              .rows = rows.data()});
        std::copy_n(rows.data(), k, nearest.data() + query * k);
    }
    return nearest;
}

}  // namespace labelsieve
