#include "targets.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace labelsieve {

namespace {

// The place of every level when the most frequent comes first and levels that do not occur are left out.
std::vector<std::uint32_t> order_levels(const std::vector<count_t>& counts, std::vector<count_t>& sizes) {
    std::vector<std::uint32_t> level(counts.size());
    std::iota(level.begin(), level.end(), 0u);
    std::erase_if(level, [&](std::uint32_t a) { return counts[a] == 0; });
    std::stable_sort(level.begin(), level.end(), [&](std::uint32_t a, std::uint32_t b) { return counts[a] > counts[b]; });
    std::vector<std::uint32_t> place(counts.size(), 0);
    sizes.resize(level.size());
    for (std::size_t i = 0; i < level.size(); ++i) {
        place[level[i]] = std::uint32_t(i);
        sizes[i] = counts[level[i]];
    }
    return place;
}

}  // namespace

Targets::Targets(const Columns& columns, Pool& pool) : n_rows_(columns.n_rows()), targets_(columns.size()) {
    const auto* sparse = dynamic_cast<const SparseColumns*>(&columns);
    std::vector<std::vector<code_t>> codes(pool.size());
    constexpr std::size_t together = 16;  // columns read at a time, so that a row-major table is read line by line
    const std::size_t n_tasks = (size() + together - 1) / together;
    const bool short_work = n_rows_ * size() < 1'000'000;
    pool.run(n_tasks, short_work, [&](std::size_t task, unsigned worker) {
        const std::size_t first = task * together, last = std::min(size(), first + together);
        if (!sparse) {
            codes[worker].resize(together * n_rows_);
            columns.read(first, last, codes[worker].data());
        }
        for (std::size_t t = first; t < last; ++t) {
            if (sparse && columns.levels(t) == 2 && 2 * sparse->listed(t) <= n_rows_) {
                Target& target = targets_[t];
                for (std::size_t i = 0; i < sparse->listed(t); ++i)
                    if (sparse->codes(t)[i] != sparse->implicit(t)) target.rows.push_back(sparse->rows(t)[i]);
                target.starts.assign(1, 0);
                if (!target.rows.empty()) target.starts.push_back(target.rows.size());
                continue;
            }
            if (sparse) {
                codes[worker].resize(n_rows_);
                columns.read(t, t + 1, codes[worker].data());
            }
            fill(targets_[t], codes[worker].data() + (sparse ? 0 : (t - first) * n_rows_), columns.levels(t));
        }
    });
}

void Targets::fill(Target& target, const code_t* codes, std::size_t levels) const {
    std::vector<count_t> counts(levels, 0), sizes;
    if (levels == 2) {
        for (std::size_t row = 0; row < n_rows_; ++row) counts[1] += codes[row];
        counts[0] = count_t(n_rows_) - counts[1];
    } else {
        for (std::size_t row = 0; row < n_rows_; ++row) ++counts[codes[row]];
    }
    const auto place = order_levels(counts, sizes);
    target.starts.assign(1, 0);
    for (std::size_t c = 1; c < sizes.size(); ++c) target.starts.push_back(target.starts.back() + sizes[c]);
    // Without branches: rows of the most frequent class are written past the end and overwritten.
    target.rows.resize(target.starts.back() + 1);
    std::vector<std::size_t> next(target.starts.begin(), target.starts.end());
    if (sizes.size() <= 2) {
        const code_t rare = sizes.size() < 2 ? code_t(levels) : code_t(std::find(place.begin(), place.end(), 1u) - place.begin());
        std::size_t end = 0;
        for (std::size_t row = 0; row < n_rows_; ++row) {
            target.rows[end] = row_t(row);
            end += codes[row] == rare;
        }
    } else {
        std::rotate(next.begin(), next.end() - 1, next.end());  // next[0] is the spare place at the end
        for (std::size_t row = 0; row < n_rows_; ++row) {
            const std::uint32_t c = place[codes[row]];
            target.rows[next[c]] = row_t(row);
            next[c] += c != 0;
        }
    }
    target.rows.pop_back();
    target.rows.shrink_to_fit();
}

std::size_t Targets::bytes() const {
    std::size_t total = 0;
    for (const Target& target : targets_) total += target.rows.size() * sizeof(row_t) + target.starts.size() * sizeof(std::size_t);
    return total;
}

fixed_t Targets::sum(std::size_t target, const fixed_t* table) const {
    const auto& starts = targets_[target].starts;
    fixed_t total = table[n_rows_ - targets_[target].rows.size()];
    for (std::size_t c = 1; c < starts.size(); ++c) total += table[starts[c] - starts[c - 1]];
    return total;
}

void Targets::expand(std::size_t target, std::vector<std::uint32_t>& classes, std::vector<row_t>& sorted) const {
    classes.assign(n_rows_, 0);
    sorted.resize(n_rows_);
    for (std::size_t c = 1; c < this->classes(target); ++c)
        for (const row_t row : rows(target, c)) classes[row] = std::uint32_t(c);
    const std::size_t n_zero = n_rows_ - listed(target);
    std::size_t end = 0;
    for (std::size_t row = 0; row < n_rows_ && end < n_zero; ++row) {
        sorted[end] = row_t(row);
        end += classes[row] == 0;
    }
    std::copy(targets_[target].rows.begin(), targets_[target].rows.end(), sorted.begin() + std::ptrdiff_t(n_zero));
}

Given::Given(std::span<const std::uint32_t> codes, std::size_t n_levels) : codes_(codes.size()) {
    std::vector<count_t> counts(n_levels, 0);
    for (const std::uint32_t code : codes) {
        if (code >= n_levels) throw std::invalid_argument("given column: a code is not below the number of levels");
        ++counts[code];
    }
    const auto place = order_levels(counts, sizes_);
    for (std::size_t row = 0; row < codes.size(); ++row) codes_[row] = place[codes[row]];
    if (!few()) return;
    bytes_.assign(codes_.begin(), codes_.end());
    starts_.assign(1, 0);
    for (std::size_t v = 1; v < levels(); ++v) starts_.push_back(starts_.back() + sizes_[v]);
    rows_.resize(starts_.back() + 1);
    std::vector<std::size_t> next(starts_);
    std::rotate(next.begin(), next.end() - 1, next.end());
    for (std::size_t row = 0; row < bytes_.size(); ++row) {
        const std::uint8_t v = bytes_[row];
        rows_[next[v]] = row_t(row);
        next[v] += v != 0;
    }
}

void set_bits(std::span<const row_t> rows, std::uint64_t* bits) {
    for (const row_t row : rows) bits[row / 64] |= std::uint64_t(1) << (row % 64);
}

}  // namespace labelsieve
