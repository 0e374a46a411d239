#include "solver/pursuit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "counting/sums.hpp"
#include "simd/kernels.hpp"

namespace labelsieve {
namespace {

constexpr size_t lanes = 8;  // partial sums over the targets
constexpr size_t columns_per_task = 32;
constexpr size_t columns_at_once = 64;  // of a feature whose products are added up together
constexpr double never = 1e300;         // a penalty that no drop exceeds
constexpr int steps = 40;  // gains are rounded to as many bits: equal ones are equal in spite of rounding

double total(const std::array<double, lanes>& sums) {
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

template <class Work>
void each_block(size_t n, double cost, Pool& pool, const Work& work) {
    pool.run((n + columns_per_task - 1) / columns_per_task, cost, [&](size_t task, unsigned) {
        work(task * columns_per_task, std::min(n, (task + 1) * columns_per_task));
    });
}

// high * 2^32 + low: the first double has the leading bits, and what it leaves of `high` joins the rest.
Double2 number(const WideNumbers& numbers, size_t i) {
    constexpr double shift = 4294967296.0;
    const double leading = double(numbers.high[i]);
    const auto rest = double(numbers.high[i] - int64_t(leading));
    return exact_sum(leading * shift, rest * shift + double(numbers.low[i]));
}

// The product less that of the mean and the other's sum: the total times the covariance, for one division
// less.
Double2 centered(Double2 product, Double2 mean, Double2 other_sum) { return product - mean * other_sum; }

// Its leading double, as a share of the total.
double scaled(Double2 times_total, double total, double column_factor, double other_factor) {
    return times_total.high / total * column_factor * other_factor;
}

// Twice the positive part, without a branch: signs are as good as random.
double twice_positive(double value) { return value + std::abs(value); }

// sum_t max(0, of_target(t) - penalty[t]), for finite penalties
template <class OfTarget>
double positive_parts(const double* penalties, size_t n, const OfTarget& of_target) {
    std::array<double, lanes> sums{};
    size_t t = 0;
    for (; t + lanes <= n; t += lanes)
        for (size_t lane = 0; lane < lanes; ++lane)
            sums[lane] += twice_positive(of_target(t + lane) - penalties[t + lane]);
    for (size_t lane = 0; t < n; ++t, ++lane) sums[lane] += twice_positive(of_target(t) - penalties[t]);
    return total(sums) / 2;
}

double gain_of_column(const double* products, double square, double least, const GainRules& rules,
                      size_t n_targets) {
    if (!(square > least)) return 0;
    const double inverse = 1 / square;
    if (square > rules.weak)
        return positive_parts(rules.penalties, n_targets,
                              [&](size_t t) { return products[t] * products[t] * inverse; });
    return positive_parts(rules.penalties, n_targets, [&](size_t t) {
        const double drop = products[t] * products[t] * inverse;
        return drop > rules.guards[t] ? drop : 0;
    });
}

struct GroupScratch {
    std::vector<double> factor, solved, drops, penalties;
};

// By a Cholesky factorization of the squares, column after column: each is orthogonal to those before it.
double gain_of_group(const double* products, const double* squares, const double* least,
                     const GainRules& rules, size_t n_columns, size_t n_targets, GroupScratch& scratch) {
    scratch.factor.assign(n_columns * n_columns, 0.0);
    scratch.solved.assign(n_columns * n_targets, 0.0);
    scratch.drops.assign(n_targets, 0.0);
    double* factor = scratch.factor.data();
    size_t degrees = 0;
    for (size_t i = 0; i < n_columns; ++i) {
        const double* row = squares + i * (i + 1) / 2;
        double* of_row = factor + i * n_columns;
        double left = row[i];
        for (size_t k = 0; k < i; ++k) {
            if (factor[k * n_columns + k] == 0) continue;
            double entry = row[k];
            for (size_t m = 0; m < k; ++m) entry -= of_row[m] * factor[k * n_columns + m];
            of_row[k] = entry / factor[k * n_columns + k];
            left -= of_row[k] * of_row[k];
        }
        if (!(left > least[i])) continue;
        const bool guarded = !(left > rules.weak);
        of_row[i] = std::sqrt(left);
        ++degrees;
        double* solved = scratch.solved.data() + i * n_targets;
        for (size_t t = 0; t < n_targets; ++t) solved[t] = products[i * n_targets + t];
        for (size_t k = 0; k < i; ++k) {
            const double* before = scratch.solved.data() + k * n_targets;
            for (size_t t = 0; t < n_targets; ++t) solved[t] -= of_row[k] * before[t];
        }
        for (size_t t = 0; t < n_targets; ++t) {
            solved[t] /= of_row[i];
            const double drop = solved[t] * solved[t];
            scratch.drops[t] += guarded && !(drop > rules.guards[t]) ? 0 : drop;
        }
    }
    scratch.penalties.resize(n_targets);
    for (size_t t = 0; t < n_targets; ++t) scratch.penalties[t] = double(degrees) * rules.penalties[t];
    return positive_parts(scratch.penalties.data(), n_targets, [&](size_t t) { return scratch.drops[t]; });
}

size_t triangle(size_t n) { return n * (n + 1) / 2; }

constexpr size_t entries_at_once = size_t(1) << 16;  // products of 24 by 24 bits that 64 bits hold the sum of

// The products of one column at a time.
class ListedColumn {
  public:
    ListedColumn(const ListedProducts& products, const std::vector<Double2>& target_sums)
        : of_(products), target_sums_(target_sums),
          n_pieces_(products.targets.indices.empty()
                        ? 0
                        : products.pieces.size() / products.targets.indices.size()),
          part_(n_pieces_ * products.n_targets), high_(products.n_targets), low_(products.n_targets),
          seen_(products.n_targets) {}

    // The sum over all targets of what gain_of_column adds up, in its order. What it adds for other cells
    // than those here is 0.
    double gain(size_t j, double square, const GainRules& rules) {
        if (!(square > rules.least[j])) return 0;
        add_rows(j);
        const size_t q = of_.n_targets;
        const auto near = of_.ranked.first(size_t(of_.n_near[j]));
        const bool every = near.size() > q / 4;
        if (!every) {
            for (const row_t t : near)
                if (!seen_[t]) cells_.push_back(t);
            std::sort(cells_.begin(), cells_.end());
        }
        const Double2 mean = number(of_.column_sums, j) / Double2{of_.total, 0};
        const double inverse = 1 / square;
        const bool guarded = !(square > rules.weak);
        std::array<double, lanes> sums{};
        const size_t n = every ? q : cells_.size();
        for (size_t i = 0; i < n; ++i) {
            const size_t t = every ? i : cells_[i];
            const double product = left_of(j, t, mean), drop = product * product * inverse;
            sums[t % lanes] +=
                twice_positive((guarded && !(drop > rules.guards[t]) ? 0 : drop) - rules.penalties[t]);
        }
        forget();
        return total(sums) / 2;
    }

  private:
    void add_rows(size_t j) {
        const WideSums sums{.high = high_.data(), .low = low_.data(), .pitch = of_.n_targets};
        const auto rows = of_.columns[j];
        const auto values = of_.columns.values_of(j);
        const size_t n_entries = of_.targets.indices.size(), q = of_.n_targets;
        for (size_t start = 0; start < rows.size(); start += entries_at_once) {
            const size_t end = std::min(rows.size(), start + entries_at_once);
            for (size_t i = start; i < end; ++i) {
                const auto of_row = of_.targets[rows[i]];
                const int32_t* numbers = of_.pieces.data() + of_.targets.start(rows[i]);
                for (size_t k = 0; k < of_row.size(); ++k) {
                    const row_t t = of_row[k];
                    if (!seen_[t]) {
                        seen_[t] = 1;
                        cells_.push_back(t);
                    }
                    for (size_t piece = 0; piece < n_pieces_; ++piece)
                        part_[piece * q + t] += int64_t(values[i]) * numbers[piece * n_entries + k];
                }
            }
            for (const row_t t : cells_)
                for (size_t piece = 0; piece < n_pieces_; ++piece) {
                    sums.add(t, part_[piece * q + t], int(24 * piece));
                    part_[piece * q + t] = 0;
                }
        }
    }

    double left_of(size_t j, size_t t, Double2 mean) const {
        const Double2 product = number({high_.data(), low_.data()}, t);
        double left = scaled(centered(product, mean, target_sums_[t]), of_.total, of_.column_factors[j],
                             of_.target_factors[t]);
        const double* along = of_.along.data() + j * of_.n_directions;
        const double* of_target = of_.of_targets.data() + t * of_.n_directions;
        for (size_t k = 0; k < of_.n_directions; ++k) left -= along[k] * of_target[k];
        return left;
    }

    void forget() {
        for (const row_t t : cells_) {
            seen_[t] = 0;
            high_[t] = low_[t] = 0;
        }
        cells_.clear();
    }

    const ListedProducts& of_;
    const std::vector<Double2>& target_sums_;
    size_t n_pieces_;
    std::vector<int64_t> part_, high_, low_;
    std::vector<uint8_t> seen_;
    std::vector<row_t> cells_;
};

}  // namespace

void center_products(const ProductSums& sums, const double* column_factors, const double* other_factors,
                     Pool& pool, double* out) {
    const size_t m = sums.n_others;
    const Double2 all{sums.total, 0};
    std::vector<Double2> others(m);
    for (size_t k = 0; k < m; ++k) others[k] = number(sums.others, k);
    each_block(sums.n_columns, 60 * double(sums.n_columns) * double(m), pool, [&](size_t first, size_t last) {
        for (size_t j = first; j < last; ++j) {
            const Double2 mean = number(sums.columns, j) / all;
            for (size_t k = 0; k < m; ++k) {
                const size_t at = j * m + k;
                const Double2 times_total = centered(number(sums.products, at), mean, others[k]);
                out[at] = scaled(times_total, sums.total, column_factors[j], other_factors[k]);
            }
        }
    });
}

void center_squares(const WideNumbers& squares, const WideNumbers& ones, const WideNumbers& others, size_t n,
                    double total, const double* factors, const double* other_factors, double* high,
                    double* low) {
    const Double2 all{total, 0};
    for (size_t i = 0; i < n; ++i) {
        const Double2 times_total = centered(number(squares, i), number(ones, i) / all, number(others, i));
        const Double2 value = times_total / all * factors[i] * other_factors[i];
        high[i] = value.high;
        low[i] = value.low;
    }
}

void project(const Directions& before, const Wide2& products, size_t s, Double2 left, Pool& pool,
             const Wide2& out) {
    const Double2 root = square_root(left);
    const double cost = 10 * double(before.n_columns) * double(before.size + 2);
    each_block(before.n_columns, cost, pool, [&](size_t first, size_t last) {
        const size_t n = last - first;
        const Wide2 sums{.high = products.high + first, .low = products.low + first};
        for (size_t k = 0; k < before.size; ++k) {
            const size_t row = k * before.pitch;
            kernels().subtract_multiple({before.rows.high + row + first, before.rows.low + row + first},
                                        before.rows[row + s], n, sums);
        }
        kernels().divide(sums, root, n, {out.high + first, out.low + first});
    });
}

void fold_direction(const PursuitState& state, const Wide2& of_columns, const double* of_targets,
                    Pool& pool) {
    const size_t q = state.n_targets;
    const double cost = 2 * double(state.starts.back()) * double(q + 20);
    std::vector<size_t> first_square(state.size() + 1, 0);
    for (size_t f = 0; f < state.size(); ++f)
        first_square[f + 1] = first_square[f] + triangle(state.width(f));
    each_block(state.size(), cost, pool, [&](size_t first, size_t last) {
        for (size_t f = first; f < last; ++f) {
            const auto start = size_t(state.starts[f]);
            for (size_t i = 0; i < state.width(f); ++i) {
                const Double2 along = of_columns[start + i];
                for (size_t k = 0; k <= i; ++k) {
                    const size_t at = first_square[f] + triangle(i) + k;
                    state.squares.set(at, state.squares[at] - along * of_columns[start + k]);
                }
                double* products = state.products + (start + i) * q;
                for (size_t t = 0; t < q; ++t) products[t] -= along.high * of_targets[t];
            }
        }
    });
}

void pursuit_gains(const PursuitState& state, const GainRules& rules, Pool& pool, double* gains) {
    const size_t q = state.n_targets;
    std::vector<size_t> first_square(state.size() + 1, 0);
    double cost = 0;
    for (size_t f = 0; f < state.size(); ++f) {
        const size_t width = state.width(f);
        first_square[f + 1] = first_square[f] + triangle(width);
        cost += 2 * double(width * width) * double(width + q);
    }
    each_block(state.size(), cost, pool, [&](size_t first, size_t last) {
        GroupScratch scratch;
        for (size_t f = first; f < last; ++f) {
            const size_t column = size_t(state.starts[f]), width = state.width(f);
            const double* products = state.products + column * q;
            const double* squares = state.squares.high + first_square[f];
            gains[f] = width == 1
                           ? gain_of_column(products, squares[0], rules.least[column], rules, q)
                           : gain_of_group(products, squares, rules.least + column, rules, width, q, scratch);
        }
    });
}

Pursuit::Pursuit(const PursuitArrays& arrays) : of_(arrays), selected_(arrays.state.size()) {
    const PursuitState& state = of_.state;
    size_t first_square = 0;
    for (size_t f = 0; f < state.size(); ++f) {
        for (size_t i = 0; i < state.width(f); ++i) square_of_.push_back(first_square + triangle(i) + i);
        first_square += triangle(state.width(f));
    }
    const size_t n = square_of_.size();
    for (std::vector<double>* numbers : {&means_, &means_low_, &with_all_, &with_all_low_})
        numbers->resize(n);
    const Wide2 means{.high = means_.data(), .low = means_low_.data()};
    for (size_t j = 0; j < n; ++j) means.set(j, number(of_.sums, j) / Double2{of_.total, 0});
    of_targets_.resize(of_.left.size());
}

void Pursuit::penalties(double* penalties, double* guards) const {
    for (size_t t = 0; t < of_.left.size(); ++t) {
        const double noise = of_.left[t] / of_.n_rows;
        penalties[t] = of_.left[t] > of_.explained[t] ? of_.penalty * noise : never;
        guards[t] = of_.guard * noise;
    }
}

void Pursuit::round(std::span<double> gains) const {
    double largest = 0;
    for (const double gain : gains) largest = std::max(largest, gain);
    if (!(largest > 0)) return;
    const double unit = std::ldexp(1.0, std::ilogb(largest) - steps);
    for (double& gain : gains) gain = std::rint(gain / unit) * unit;
}

void Pursuit::scores(Pool& pool, double* gains) const {
    std::vector<double> of_targets(2 * of_.left.size());
    double* guards = of_targets.data() + of_.left.size();
    penalties(of_targets.data(), guards);
    const GainRules rules{
        .least = of_.least, .weak = of_.weak, .penalties = of_targets.data(), .guards = guards};
    pursuit_gains(of_.state, rules, pool, gains);
    round({gains, of_.state.size()});
}

bool Pursuit::can_take_out(size_t column) const {
    return of_.state.squares.high[square_of_[column]] > of_.least[column];
}

void Pursuit::take_out(size_t column, const WideNumbers& products, const double* products_left, Pool& pool) {
    const size_t n = square_of_.size();
    const Wide2 with_all{.high = with_all_.data(), .low = with_all_low_.data()};
    each_block(n, 20 * double(n), pool, [&](size_t first, size_t last) {
        for (size_t j = first; j < last; ++j) with_all.set(j, number(products, j));
        const Wide2 some{.high = with_all.high + first, .low = with_all.low + first};
        kernels().subtract_multiple({means_.data() + first, means_low_.data() + first},
                                    number(of_.sums, column), last - first, some);
        kernels().divide(some, {of_.total, 0}, last - first, some);
        for (size_t j = first; j < last; ++j)
            with_all.set(j, with_all[j] * of_.factors[j] * of_.factors[column]);
    });
    const size_t place = n_directions_ * n;
    rows_.resize(place + n);
    rows_low_.resize(place + n);
    const Directions before{.rows = {.high = rows_.data(), .low = rows_low_.data()},
                            .size = n_directions_,
                            .n_columns = n,
                            .pitch = n};
    const Wide2 along{.high = rows_.data() + place, .low = rows_low_.data() + place};
    const Double2 left = of_.state.squares[square_of_[column]];
    project(before, with_all, column, left, pool, along);
    if (!products_left) products_left = of_.state.products + column * of_.state.n_targets;
    const double root = std::sqrt(left.high);
    for (size_t t = 0; t < of_targets_.size(); ++t) {
        of_targets_[t] = products_left[t] / root;
        of_.left[t] = std::max(of_.left[t] - of_targets_[t] * of_targets_[t], 0.0);
    }
    fold_direction(of_.state, along, of_targets_.data(), pool);
    ++n_directions_;
}

std::span<const double> Pursuit::of_columns() const {
    const size_t n = square_of_.size();
    return {rows_.data() + (n_directions_ - 1) * n, n};
}

std::vector<Pursuit::Known>::iterator Pursuit::find(size_t column) {
    return std::find_if(known_.begin(), known_.end(),
                        [&](const Known& known) { return known.column == column; });
}

void Pursuit::ask(size_t first, size_t last, const DigitColumns& columns, const double* expected,
                  size_t ahead, Pool& pool) {
    const PursuitState& state = of_.state;
    std::vector<int64_t> wanted;
    for (size_t column = first; column < last; ++column)
        if (can_take_out(column) && find(column) == known_.end()) wanted.push_back(int64_t(column));
    if (wanted.empty()) return;
    if (wanted.size() < ahead) {
        std::vector<size_t> likely;
        for (size_t f = 0; f < state.size(); ++f)
            if (expected[f] > 0 && !selected_[f] && state.width(f) == 1 &&
                find(size_t(state.starts[f])) == known_.end())
                likely.push_back(f);
        const size_t n = std::min(ahead - wanted.size(), likely.size());
        std::partial_sort(likely.begin(), likely.begin() + ptrdiff_t(n), likely.end(),
                          [&](size_t a, size_t b) {
                              return expected[a] != expected[b] ? expected[a] > expected[b] : a < b;
                          });
        for (size_t i = 0; i < n; ++i) wanted.push_back(state.starts[likely[i]]);
    }
    const size_t n = square_of_.size(), m = wanted.size();
    std::vector<int64_t> high(n * m), low(n * m);
    add_products(columns, wanted, pool, {.high = high.data(), .low = low.data(), .pitch = m});
    if (m == 1) {
        known_.push_back({size_t(wanted[0]), std::move(high), std::move(low)});
        return;
    }
    for (size_t k = 0; k < m; ++k) {
        Known known{size_t(wanted[k]), std::vector<int64_t>(n), std::vector<int64_t>(n)};
        for (size_t j = 0; j < n; ++j) {
            known.high[j] = high[j * m + k];
            known.low[j] = low[j * m + k];
        }
        known_.push_back(std::move(known));
    }
}

void Pursuit::select(size_t feature, const DigitColumns& columns, const double* expected, size_t ahead,
                     Pool& pool) {
    selected_[feature] = 1;
    const auto first = size_t(of_.state.starts[feature]), last = size_t(of_.state.starts[feature + 1]);
    for (size_t start = first; start < last; start += columns_at_once) {
        const size_t end = std::min(last, start + columns_at_once);
        ask(start, end, columns, expected, ahead, pool);
        for (size_t column = start; column < end; ++column) {
            const auto known = find(column);
            if (known == known_.end()) continue;
            if (can_take_out(column))
                take_out(column, {known->high.data(), known->low.data()}, nullptr, pool);
            known_.erase(known);
        }
    }
}

size_t Pursuit::select_best(const DigitColumns& columns, size_t ahead, Pool& pool, uint8_t* available,
                            std::span<uint32_t> features, double* scores_out, double* gains) {
    const size_t n = of_.state.size();
    for (size_t step = 0; step < features.size(); ++step) {
        if (step != 0) select(features[step - 1], columns, gains, ahead, pool);
        scores(pool, gains);
        size_t best = n;
        for (size_t f = 0; f < n; ++f)
            if (available[f] && (best == n || gains[f] > gains[best])) best = f;
        if (best == n) return step;
        available[best] = 0;
        features[step] = uint32_t(best);
        scores_out[step] = gains[best];
    }
    return features.size();
}

void listed_gains(const ListedProducts& products, const double* squares, const GainRules& rules, Pool& pool,
                  double* gains) {
    std::vector<Double2> target_sums(products.n_targets);
    for (size_t t = 0; t < products.n_targets; ++t) target_sums[t] = number(products.target_sums, t);
    std::vector<std::unique_ptr<ListedColumn>> of_workers(pool.size());
    const size_t n_columns = products.columns.size();
    const double cost = 100 * double(products.columns.indices.size());
    pool.run((n_columns + columns_per_task - 1) / columns_per_task, cost, [&](size_t task, unsigned worker) {
        auto& column = of_workers[worker];
        if (!column) column = std::make_unique<ListedColumn>(products, target_sums);
        const size_t end = std::min(n_columns, (task + 1) * columns_per_task);
        for (size_t j = task * columns_per_task; j < end; ++j) gains[j] = column->gain(j, squares[j], rules);
    });
}

}  // namespace labelsieve
