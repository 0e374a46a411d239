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
    SparsePoints(SparseSide by_rows, SparseSide by_columns, size_t n_rows, size_t n_columns)
        : Points(n_rows, n_columns), rows_(by_rows), columns_(by_columns), lengths_(n_rows) {
        for (size_t i = 0; i < n_rows; ++i)
            for (int64_t at = rows_.starts[i]; at < rows_.starts[i + 1]; ++at)
                lengths_[i] += std::fabs(rows_.values[at]);
        for (size_t c = 0; c < n_columns; ++c) {
            const double many = double(columns_.starts[c + 1] - columns_.starts[c]);
            cost_ += many * many;
        }
        cost_ = 4 * cost_ / double(n_rows) + double(n_rows);
    }

    size_t scratch() const override { return 0; }
    double cost() const override { return cost_; }

    void distances(std::span<const row_t> references, double*, double* out) const override {
        for (const row_t reference : references) {
            for (size_t j = 0; j < n_rows(); ++j) out[j] = lengths_[reference] + lengths_[j];
            for (int64_t at = rows_.starts[reference]; at < rows_.starts[reference + 1]; ++at) {
                const uint32_t column = rows_.indices[at];
                const double value = rows_.values[at];
                for (int64_t i = columns_.starts[column]; i < columns_.starts[column + 1]; ++i)
                    out[columns_.indices[i]] -= shared(value, columns_.values[i]);
            }
            out += n_rows();
        }
    }

    void add_difference(row_t left, row_t right, double factor, double* sums) const override {
        int64_t a = rows_.starts[left], b = rows_.starts[right];
        const int64_t a_end = rows_.starts[left + 1], b_end = rows_.starts[right + 1];
        while (a < a_end || b < b_end) {
            const uint32_t in_a = a < a_end ? rows_.indices[a] : no_row,
                           in_b = b < b_end ? rows_.indices[b] : no_row;
            const double difference =
                (in_a <= in_b ? rows_.values[a] : 0.0) - (in_b <= in_a ? rows_.values[b] : 0.0);
            sums[std::min(in_a, in_b)] += factor * std::fabs(difference);
            a += in_a <= in_b;
            b += in_b <= in_a;
        }
    }

  private:
    SparseSide rows_, columns_;
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
        size_t place = found == k ? k - 1 : found++;
        for (; place > 0 && distance < best[place - 1]; --place) {
            best[place] = best[place - 1];
            out[place] = out[place - 1];
        }
        best[place] = distance;
        out[place] = row;
    }
    std::fill(out + found, out + k, no_row);
}

}  // namespace

std::unique_ptr<Points> dense_points(const double* values, size_t n_rows, size_t n_columns, size_t width) {
    return std::make_unique<DensePoints>(values, n_rows, n_columns, width);
}

std::unique_ptr<Points> sparse_points(SparseSide by_rows, SparseSide by_columns, size_t n_rows,
                                      size_t n_columns) {
    return std::make_unique<SparsePoints>(by_rows, by_columns, n_rows, n_columns);
}

void nearest_rows(const Points& points, std::span<const row_t> references, Groups groups, size_t k,
                  Pool& pool, row_t* out) {
    struct Memory {
        Buffer<double> scratch, distances, best;
    };
    std::vector<Memory> memory(pool.size());
    const size_t n_tasks = (references.size() + references_at_once - 1) / references_at_once;
    const double each = points.cost() + 2.0 * double(groups.starts[groups.n_groups]);
    pool.run(n_tasks, each * double(references.size()), [&](size_t task, unsigned worker) {
        Memory& own = memory[worker];
        own.scratch.reserve(points.scratch());
        own.distances.reserve(checked_product(references_at_once, points.n_rows()));
        own.best.reserve(k);
        const size_t first = task * references_at_once;
        const auto some = references.subspan(first, std::min(references_at_once, references.size() - first));
        points.distances(some, own.scratch.data(), own.distances.data());
        for (size_t r = 0; r < some.size(); ++r)
            for (size_t g = 0; g < groups.n_groups; ++g)
                nearest_of_group(
                    own.distances.data() + r * points.n_rows(), some[r],
                    {groups.rows + groups.starts[g], size_t(groups.starts[g + 1] - groups.starts[g])}, k,
                    own.best.data(), out + ((first + r) * groups.n_groups + g) * k);
    });
}

void add_differences(const Points& points, std::span<const row_t> references, const row_t* neighbors,
                     const double* factors, size_t n, Pool& pool, double* sums) {
    constexpr size_t together = 64;  // references of a task: whoever does it, sums are the same
    struct Memory {
        Buffer<double> factor_of;  // of every row; zero but for the reference at hand
        Buffer<uint8_t> listed;
        std::vector<row_t> rows;
    };
    std::vector<Memory> memory(pool.size());
    const size_t n_tasks = (references.size() + together - 1) / together;
    std::vector<Buffer<double>> parts(n_tasks);
    const double cost = 2.0 * double(references.size()) * double(n) * double(points.n_columns());
    pool.run(n_tasks, cost, [&](size_t task, unsigned worker) {
        Memory& own = memory[worker];
        own.factor_of.reserve(points.n_rows());
        own.listed.reserve(points.n_rows());
        parts[task] = Buffer<double>(points.n_columns());
        const size_t last = std::min(references.size(), (task + 1) * together);
        for (size_t r = task * together; r < last; ++r) {
            own.rows.clear();
            for (size_t i = r * n; i < (r + 1) * n; ++i) {
                const row_t row = neighbors[i];
                if (row == no_row) continue;
                if (!own.listed[row]) own.rows.push_back(row);
                own.listed[row] = 1;
                own.factor_of[row] += factors[i];
            }
            for (const row_t row : own.rows) {
                points.add_difference(references[r], row, own.factor_of[row], parts[task].data());
                own.factor_of[row] = 0;
                own.listed[row] = 0;
            }
        }
    });
    for (const Buffer<double>& part : parts)
        for (size_t c = 0; c < points.n_columns(); ++c) sums[c] += part[c];
}

}  // namespace labelsieve
