#include "prediction/stack.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "simd/kernels.hpp"

namespace labelsieve {

namespace {

constexpr double ridge = 1e-9;  // of the mean diagonal: parts may be equal
constexpr size_t tile = 512;

// Solves the equations of a subset of the parts for two right sides: the answers, and ones.
class Subset {
  public:
    Subset(const std::vector<double>& products, const std::vector<double>& answers, size_t n)
        : products_(products), answers_(answers), n_(n), lower_(n * n), free_(n), ones_(n) {}

    // The value of the best weights that only `members` have; infinite if one of them is negative.
    double value(const std::vector<size_t>& members, std::vector<double>& found) {
        const size_t m = members.size();
        for (size_t i = 0; i < m; ++i) {
            for (size_t j = 0; j <= i; ++j) {
                double left = products_[members[i] * n_ + members[j]];
                for (size_t k = 0; k < j; ++k) left -= lower_[i * n_ + k] * lower_[j * n_ + k];
                lower_[i * n_ + j] = i == j ? std::sqrt(left) : left / lower_[j * n_ + j];
            }
            free_[i] = answers_[members[i]];
            ones_[i] = 1;
            for (size_t k = 0; k < i; ++k) {
                free_[i] -= lower_[i * n_ + k] * free_[k];
                ones_[i] -= lower_[i * n_ + k] * ones_[k];
            }
            free_[i] /= lower_[i * n_ + i];
            ones_[i] /= lower_[i * n_ + i];
        }
        double sum = 0, of_ones = 0;
        for (size_t i = m; i-- > 0;) {
            for (size_t k = i + 1; k < m; ++k) {
                free_[i] -= lower_[k * n_ + i] * free_[k];
                ones_[i] -= lower_[k * n_ + i] * ones_[k];
            }
            free_[i] /= lower_[i * n_ + i];
            ones_[i] /= lower_[i * n_ + i];
            sum += free_[i];
            of_ones += ones_[i];
        }
        const double above = std::max(sum - 1, 0.0) / of_ones;
        std::fill(found.begin(), found.end(), 0.0);
        double value = 0;
        for (size_t i = 0; i < m; ++i) {
            const double weight = free_[i] - ones_[i] * above;
            if (!(weight >= 0)) return std::numeric_limits<double>::infinity();
            found[members[i]] = weight;
        }
        for (const size_t i : members) {
            double of_row = 0;
            for (const size_t j : members) of_row += products_[i * n_ + j] * found[j];
            value += found[i] * (of_row - 2 * answers_[i]);
        }
        return value;
    }

  private:
    const std::vector<double>&products_, &answers_;
    size_t n_;
    std::vector<double> lower_, free_, ones_;
};

}  // namespace

void stack_weights(const double* products, const double* answers, size_t n, double* weights) {
    double trace = 0;
    for (size_t i = 0; i < n; ++i) trace += products[i * n + i];
    const double scale = std::max(trace / double(n), 1e-300);
    std::vector<double> scaled(products, products + n * n), right(answers, answers + n), found(n);
    for (double& product : scaled) product /= scale;
    for (double& answer : right) answer /= scale;
    for (size_t i = 0; i < n; ++i) scaled[i * n + i] += ridge;
    std::fill(weights, weights + n, 0.0);
    Subset subset(scaled, right, n);
    std::vector<size_t> members;
    double least = 0;  // of no part at all
    for (size_t bits = 1; bits < size_t(1) << n; ++bits) {
        members.clear();
        for (size_t i = 0; i < n; ++i)
            if (bits >> i & 1) members.push_back(i);
        const double value = subset.value(members, found);
        if (value < least) {
            least = value;
            std::copy(found.begin(), found.end(), weights);
        }
    }
}

void stack_parts(const Stack& stack, double* of_rows, double* of_columns) {
    const size_t n = stack.n_parts, q = stack.n_columns, n_folds = stack.ends.size();
    const size_t size = stack.n_rows * q, each = n * n + n;
    std::vector<double> sums(n_folds * each, 0.0), total(each, 0.0), others(each), weights(n);
    for (size_t fold = 0, first = 0; fold < n_folds; first = stack.ends[fold++]) {
        double* of_fold = sums.data() + fold * each;
        double weighted[tile];
        for (size_t start = first * q; start < stack.ends[fold] * q; start += tile) {
            const size_t length = std::min(tile, stack.ends[fold] * q - start);
            for (size_t a = 0; a < n; ++a) {
                const double* part = stack.parts + a * size + start;
                for (size_t i = 0; i < length; ++i) weighted[i] = part[i] * stack.cells[start + i];
                for (size_t b = 0; b <= a; ++b)
                    of_fold[a * n + b] += kernels().dot(weighted, stack.parts + b * size + start, length);
                of_fold[n * n + a] += kernels().dot(weighted, stack.truth + start, length);
            }
        }
        for (size_t a = 0; a < n; ++a)
            for (size_t b = 0; b < a; ++b) of_fold[b * n + a] = of_fold[a * n + b];
        for (size_t i = 0; i < each; ++i) total[i] += of_fold[i];
    }
    std::fill(of_columns, of_columns + q, 0.0);
    const size_t together = std::max<size_t>(1, tile / q);  // rows
    std::vector<double> stacked(together * q);
    for (size_t fold = 0, first = 0; fold < n_folds; first = stack.ends[fold++]) {
        for (size_t i = 0; i < each; ++i) others[i] = total[i] - sums[fold * each + i];
        stack_weights(others.data(), others.data() + n * n, n, weights.data());
        const double *low = stack.low + fold * q, *high = stack.high + fold * q;
        for (size_t row = first, end; row < stack.ends[fold]; row = end) {
            end = std::min(row + together, stack.ends[fold]);
            const size_t start = row * q, length = (end - row) * q;
            std::fill(stacked.begin(), stacked.begin() + ptrdiff_t(length), 0.0);
            for (size_t a = 0; a < n; ++a) {
                const double* part = stack.parts + a * size + start;
                if (weights[a] > 0) kernels().add_weighted(part, weights[a], length, stacked.data());
            }
            for (size_t i = row, at = start; i < end; ++i, at += q)
                of_rows[i] = kernels().score_cells({.predicted = stacked.data() + (at - start),
                                                    .weights = stack.cells + at,
                                                    .truth = stack.truth + at,
                                                    .low = low,
                                                    .high = high,
                                                    .n = q,
                                                    .limited = stack.parts + (n - 1) * size + at,
                                                    .of_cells = of_columns});
        }
    }
}

void neighbor_means(const NeighborMeans& lists, size_t step, double* means) {
    const size_t q = lists.n_columns;
    Buffer<double> sums(lists.pitch);
    for (size_t list = 0; list < lists.n_lists; ++list) {
        const row_t* rows = lists.lists + list * lists.length;
        std::fill_n(sums.data(), lists.pitch, 0.0);
        double total = 0;
        for (size_t at = 0, done = 0; at < lists.few.size(); done = lists.few[at++]) {
            for (size_t i = done; i < lists.few[at]; ++i) total += lists.weights[rows[i]];
            kernels().add_listed(rows + done, lists.few[at] - done, lists.weighted, lists.pitch, lists.pitch,
                                 sums.data());
            double* out = means + at * step + list * q;
            for (size_t y = 0; y < q; ++y) out[y] = sums[y] / total;
        }
    }
}

}  // namespace labelsieve
