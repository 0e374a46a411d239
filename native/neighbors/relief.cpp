#include "neighbors/relief.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "simd/kernels.hpp"

namespace labelsieve {
namespace {

class DensePoints final : public Points {
  public:
    DensePoints(const double* values, size_t n_rows, size_t n_columns, size_t width)
        : Points(n_rows, n_columns), values_(values), width_(width) {}

    size_t scratch() const override { return references_at_once * width_; }
    double cost() const override { return 0.5 * double(n_rows()) * double(width_); }

    void distances(std::span<const row_t> references, double* scratch, double* out) const override {
        for (size_t r = 0; r < references_at_once; ++r)  // a block that is not full repeats its first row
            std::copy_n(values_ + references[r < references.size() ? r : 0] * width_, width_,
                        scratch + r * width_);
        kernels().manhattan(values_, n_rows(), width_, scratch, references.size(), out);
    }

    void add_difference(row_t left, row_t right, double factor, double* sums) const override {
        const double* a = values_ + left * width_;
        const double* b = values_ + right * width_;
        for (size_t c = 0; c < n_columns(); ++c) sums[c] += factor * std::fabs(a[c] - b[c]);
    }

  private:
    const double* values_;
    size_t width_;
};

// |a| + |b| - |a - b| is twice the smaller when the signs agree, and zero otherwise.
double shared(double a, double b) {
    if ((a < 0) != (b < 0)) return 0.0;
    return 2 * std::min(std::fabs(a), std::fabs(b));
}

// The distance of two rows is the sum of their lengths less what they share, and only columns that both have
// are shared.
class SparsePoints final : public Points {
  public:
    SparsePoints(const SparsePointsView& by_rows, const SparsePointsView& by_columns)
        : Points(by_rows.size(), by_columns.size()), rows_(by_rows), columns_(by_columns),
          lengths_(n_rows()) {
        for (size_t i = 0; i < n_rows(); ++i)
            for (const double value : rows_.values_of(i)) lengths_[i] += std::fabs(value);
        for (size_t c = 0; c < n_columns(); ++c) {
            const auto many = double(columns_.length(c));
            cost_ += many * many;
        }
        cost_ = 4 * cost_ / double(n_rows()) + double(n_rows());
    }

    size_t scratch() const override { return 0; }
    double cost() const override { return cost_; }

    void distances(std::span<const row_t> references, double* /*scratch*/, double* out) const override {
        for (const row_t reference : references) {
            for (size_t j = 0; j < n_rows(); ++j) out[j] = lengths_[reference] + lengths_[j];
            const auto listed = rows_[reference];
            const auto values = rows_.values_of(reference);
            for (size_t c = 0; c < listed.size(); ++c) {
                const auto rows = columns_[listed[c]];
                const auto others = columns_.values_of(listed[c]);
                const double value = values[c];
                for (size_t i = 0; i < rows.size(); ++i) out[rows[i]] -= shared(value, others[i]);
            }
            out += n_rows();
        }
    }

    void add_difference(row_t left, row_t right, double factor, double* sums) const override {
        const auto left_columns = rows_[left], right_columns = rows_[right];
        const auto left_values = rows_.values_of(left), right_values = rows_.values_of(right);
        for (size_t a = 0, b = 0; a < left_columns.size() || b < right_columns.size();) {
            const uint32_t in_a = a < left_columns.size() ? left_columns[a] : no_row;
            const uint32_t in_b = b < right_columns.size() ? right_columns[b] : no_row;
            const double difference =
                (in_a <= in_b ? left_values[a] : 0.0) - (in_b <= in_a ? right_values[b] : 0.0);
            sums[std::min(in_a, in_b)] += factor * std::fabs(difference);
            a += in_a <= in_b;
            b += in_b <= in_a;
        }
    }

  private:
    SparsePointsView rows_, columns_;
    std::vector<double> lengths_;
    double cost_ = 0;
};

// The k nearest of a group into `best` and `out`, by insertion: rows come in order, so only a smaller
// distance goes before.
void nearest_of_group(const double* distances, row_t reference, std::span<const row_t> group, size_t k,
                      double* best, row_t* out) {
    size_t found = 0;
    for (const row_t row : group) {
        const double distance = distances[row];
        if (row == reference || (found == k && !(distance < best[k - 1]))) continue;
        size_t rank = found == k ? k - 1 : found++;
        for (; rank > 0 && distance < best[rank - 1]; --rank) {
            best[rank] = best[rank - 1];
            out[rank] = out[rank - 1];
        }
        best[rank] = distance;
        out[rank] = row;
    }
    std::fill(out + found, out + k, no_row);
}

}  // namespace

std::unique_ptr<Points> dense_points(const double* values, size_t n_rows, size_t n_columns, size_t width) {
    return std::make_unique<DensePoints>(values, n_rows, n_columns, width);
}

std::unique_ptr<Points> sparse_points(const SparsePointsView& by_rows, const SparsePointsView& by_columns) {
    return std::make_unique<SparsePoints>(by_rows, by_columns);
}

void nearest_rows(const Points& points, std::span<const row_t> references, const CsrView<row_t>& groups,
                  size_t k, Pool& pool, row_t* out) {
    struct Memory {
        Buffer<double> scratch, distances, best;
    };
    std::vector<Memory> memory(pool.size());
    const size_t n_tasks = (references.size() + references_at_once - 1) / references_at_once;
    const double each = points.cost() + 2.0 * double(groups.indices.size());
    pool.run(n_tasks, each * double(references.size()), [&](size_t task, unsigned worker) {
        auto& [scratch, distances, best] = memory[worker];
        scratch.reserve(points.scratch());
        distances.reserve(checked_product(references_at_once, points.n_rows()));
        best.reserve(k);
        const size_t first = task * references_at_once;
        const auto some = references.subspan(first, std::min(references_at_once, references.size() - first));
        points.distances(some, scratch.data(), distances.data());
        for (size_t r = 0; r < some.size(); ++r) {
            pool.check(worker);
            for (size_t g = 0; g < groups.size(); ++g)
                nearest_of_group(distances.data() + r * points.n_rows(), some[r], groups[g], k, best.data(),
                                 out + ((first + r) * groups.size() + g) * k);
        }
    });
}

void add_differences(const Points& points, std::span<const row_t> references,
                     std::span<const row_t> neighbors, std::span<const double> factors, Pool& pool,
                     double* sums) {
    constexpr size_t together = 64;  // references of a task: the sums do not depend on who does it
    struct Memory {
        Buffer<double> factor_of;  // of every row; zero but for the neighbors of the current reference
        Buffer<uint8_t> listed;
        std::vector<row_t> rows;
    };
    std::vector<Memory> memory(pool.size());
    const size_t n = references.empty() ? 0 : neighbors.size() / references.size();
    const size_t n_tasks = (references.size() + together - 1) / together;
    std::vector<Buffer<double>> partial_sums(n_tasks);
    const double cost = 2.0 * double(neighbors.size()) * double(points.n_columns());
    pool.run(n_tasks, cost, [&](size_t task, unsigned worker) {
        auto& [factor_of, listed, rows] = memory[worker];
        factor_of.reserve(points.n_rows());
        listed.reserve(points.n_rows());
        partial_sums[task] = Buffer<double>(points.n_columns());
        const size_t last = std::min(references.size(), (task + 1) * together);
        for (size_t r = task * together; r < last; ++r) {
            pool.check(worker);  // with many classes, all rows are neighbors of a reference
            rows.clear();
            for (size_t i = r * n; i < (r + 1) * n; ++i) {
                const row_t row = neighbors[i];
                if (row == no_row) continue;
                if (!listed[row]) rows.push_back(row);
                listed[row] = 1;
                factor_of[row] += factors[i];
            }
            for (const row_t row : rows) {
                points.add_difference(references[r], row, factor_of[row], partial_sums[task].data());
                factor_of[row] = 0;
                listed[row] = 0;
            }
        }
    });
    for (const Buffer<double>& partial : partial_sums)
        for (size_t c = 0; c < points.n_columns(); ++c) sums[c] += partial[c];
}

}  // namespace labelsieve
