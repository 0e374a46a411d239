#include "counting/targets.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

#include "simd/kernels.hpp"

namespace labelsieve {

namespace {

// The rank of every level by falling frequency; levels that do not occur are left out.
std::vector<uint32_t> order_levels(const std::vector<count_t>& counts, std::vector<count_t>& sizes) {
    std::vector<uint32_t> level(counts.size());
    std::iota(level.begin(), level.end(), 0u);
    std::erase_if(level, [&](uint32_t a) { return counts[a] == 0; });
    std::stable_sort(level.begin(), level.end(),
                     [&](uint32_t a, uint32_t b) { return counts[a] > counts[b]; });
    std::vector<uint32_t> rank(counts.size(), 0);
    sizes.resize(level.size());
    for (size_t i = 0; i < level.size(); ++i) {
        rank[level[i]] = uint32_t(i);
        sizes[i] = counts[level[i]];
    }
    return rank;
}

}  // namespace

Targets::Targets(const Columns& columns, Pool& pool, std::span<const double> known_ratios)
    : n_rows_(columns.n_rows()), targets_(columns.size()) {
    for (size_t t = 0; t < known_ratios.size(); ++t) targets_[t].known_ratio = known_ratios[t];
    constexpr size_t together = 16;  // columns read at a time, so that a row-major table is read line by line
    const auto* sparse = dynamic_cast<const SparseColumns*>(&columns);
    std::vector<std::vector<code_t>> codes(pool.size());
    std::vector<std::vector<uint8_t>> bytes(pool.size());
    const double cost = 0.7 * double(n_rows_) * double(size());
    pool.run((size() + together - 1) / together, cost, [&](size_t task, unsigned worker) {
        const size_t first = task * together, last = std::min(size(), first + together);
        const auto two_levels = [&](size_t t) { return columns.levels(t) <= 2 && known_ratio(t) == 0; };
        std::vector<size_t> listed(last - first);
        std::iota(listed.begin(), listed.end(), first);
        if (sparse) {
            codes[worker].resize(n_rows_);
            for (size_t t = first; t < last; ++t) {
                if (two_levels(t) && 2 * sparse->n_listed(t) <= n_rows_) {
                    fill_listed(targets_[t], *sparse, t);
                } else {
                    columns.read(t, t + 1, codes[worker].data());
                    fill(targets_[t], codes[worker].data(), columns.levels(t));
                }
            }
        } else if (std::all_of(listed.begin(), listed.end(), two_levels)) {
            const auto& dense = dynamic_cast<const DenseColumns&>(columns);
            const size_t pitch = (n_rows_ + 63) / 64 * 64;
            bytes[worker].resize(together * pitch);
            dense.read_bytes(listed, 0, n_rows_, bytes[worker].data(), pitch);
            for (size_t t = first; t < last; ++t)
                if (!fill_binary(targets_[t], bytes[worker].data() + (t - first) * pitch))
                    columns.check(t, 255);
        } else {
            codes[worker].resize(together * n_rows_);
            columns.read(first, last, codes[worker].data());
            for (size_t t = first; t < last; ++t)
                fill(targets_[t], codes[worker].data() + (t - first) * n_rows_, columns.levels(t));
        }
    });
}

// A sparse column of two levels lists its rarer class already.
void Targets::fill_listed(Target& target, const SparseColumns& columns, size_t column) const {
    each_listed(columns, column, [&](size_t, row_t row) { target.rows.push_back(row); });
    target.starts.assign(1, 0);
    if (!target.rows.empty()) target.starts.push_back(target.rows.size());
}

// Sixty-four rows at a time become a mask, and its bits become rows. `codes` has space up to a multiple
// of 64. False when a code is neither 0 nor 1.
bool Targets::fill_binary(Target& target, const uint8_t* codes) const {
    const size_t n_words = (n_rows_ + 63) / 64;
    std::vector<uint64_t> ones(n_words);
    size_t n_ones = 0;
    const uint64_t last_rows = n_rows_ % 64 == 0 ? ~uint64_t(0) : (uint64_t(1) << n_rows_ % 64) - 1;
    for (size_t w = 0; w < n_words; ++w) {
        uint64_t unknown = kernels().match_levels(codes + 64 * w, 2, &ones[w], 1);
        if (w + 1 == n_words) {
            ones[w] &= last_rows;
            unknown &= last_rows;
        }
        if (unknown != 0) return false;
        n_ones += size_t(std::popcount(ones[w]));
    }
    const bool ones_are_rare = 2 * n_ones <= n_rows_;
    const size_t n_rare = ones_are_rare ? n_ones : n_rows_ - n_ones;
    target.rows.reserve(n_rare);
    for (size_t w = 0; w < n_words; ++w) {
        uint64_t rare = ones_are_rare ? ones[w] : ~ones[w];
        if (w + 1 == n_words) rare &= last_rows;
        for (; rare != 0; rare &= rare - 1)
            target.rows.push_back(row_t(64 * w + size_t(std::countr_zero(rare))));
    }
    target.starts.assign(1, 0);
    if (n_rare != 0) target.starts.push_back(n_rare);
    return true;
}

void Targets::fill(Target& target, const code_t* codes, size_t levels) const {
    std::vector<count_t> counts(levels, 0), sizes;
    for (size_t row = 0; row < n_rows_; ++row) ++counts[codes[row]];
    auto rank = order_levels(counts, sizes);
    if (target.known_ratio != 0) {  // unknown cells become class 1
        if (counts[levels - 1] == 0 || counts[levels - 1] == n_rows_)
            throw std::invalid_argument("targets: a column without unknown or without known cells");
        const uint32_t unknown = rank[levels - 1];
        for (size_t level = 0; level + 1 < levels; ++level) {
            if (counts[level] == 0) continue;
            const uint32_t known_rank = rank[level] - (rank[level] > unknown);
            rank[level] = known_rank + (known_rank != 0);
        }
        rank[levels - 1] = 1;
        for (size_t level = 0; level < levels; ++level)
            if (counts[level] != 0) sizes[rank[level]] = counts[level];
    }
    target.starts.assign(1, 0);
    for (size_t c = 1; c < sizes.size(); ++c) target.starts.push_back(target.starts.back() + sizes[c]);
    // Without branches: rows of the most frequent class go to a spare entry at the end, which next[0] points
    // to.
    target.rows.resize(target.starts.back() + 1);
    std::vector<size_t> next(target.starts);
    std::rotate(next.begin(), next.end() - 1, next.end());
    for (size_t row = 0; row < n_rows_; ++row) {
        const uint32_t c = rank[codes[row]];
        target.rows[next[c]] = row_t(row);
        next[c] += c != 0;
    }
    target.rows.pop_back();
    target.rows.shrink_to_fit();
}

size_t Targets::bytes() const {
    size_t total = 0;
    for (const Target& target : targets_)
        total += target.rows.size() * sizeof(row_t) + target.starts.size() * sizeof(size_t);
    return total;
}

void Targets::list_first(size_t target, std::vector<row_t>& rows) const {
    std::vector<uint8_t> listed(n_rows_, 0);
    for (const row_t row : targets_[target].rows) listed[row] = 1;
    rows.resize(n_rows_ + 1);
    size_t end = 0;
    for (size_t row = 0; row < n_rows_; ++row) {
        rows[end] = row_t(row);
        end += listed[row] == 0;
    }
    rows.resize(end);
}

void Targets::expand(size_t target, std::vector<uint32_t>& classes, std::vector<row_t>& sorted) const {
    classes.assign(n_rows_, 0);
    sorted.resize(n_rows_);
    for (size_t c = 1; c < this->classes(target); ++c)
        for (const row_t row : rows(target, c)) classes[row] = uint32_t(c);
    const size_t n_zero = n_rows_ - listed(target);
    size_t end = 0;
    for (size_t row = 0; row < n_rows_ && end < n_zero; ++row) {
        sorted[end] = row_t(row);
        end += classes[row] == 0;
    }
    const size_t n_unknown = known_ratio(target) != 0 ? rows(target, 1).size() : 0;
    sorted.resize(n_rows_ - n_unknown);
    std::copy(targets_[target].rows.begin() + ptrdiff_t(n_unknown), targets_[target].rows.end(),
              sorted.begin() + ptrdiff_t(n_zero));
}

// Entries are split into parts: each counts its levels, and then knows where its rows go.
template <class CodeOf>
void Given::fill(size_t n, const CodeOf& code_of, size_t n_levels, Pool& pool) {
    constexpr size_t entries_of_part = 16384, most_levels = 1024;  // of columns that are split
    constexpr size_t running = 4;  // counters of a level: increments of the same one wait for each other
    const size_t part = n_levels <= most_levels ? entries_of_part : std::max<size_t>(n, 1);
    const size_t n_parts = (n + part - 1) / part;
    std::vector<count_t> of_parts(n_parts * n_levels), counts(n_levels, 0);
    pool.run(n_parts, 2 * double(n), [&](size_t p, unsigned) {
        std::vector<count_t> counters(running * n_levels, 0);
        const CodeOf code_at = code_of;  // copies, which stores below cannot change
        const size_t end = std::min(n, (p + 1) * part);
        for (size_t entry = p * part; entry < end; ++entry) {
            const size_t code = code_at(entry);
            if (code >= n_levels)
                throw std::invalid_argument("given column: a code is not below the number of levels");
            ++counters[entry % running * n_levels + code];
        }
        for (size_t c = 0; c < running * n_levels; ++c) of_parts[p * n_levels + c % n_levels] += counters[c];
    });
    for (size_t c = 0; c < of_parts.size(); ++c) counts[c % n_levels] += of_parts[c];
    const auto rank = order_levels(counts, sizes_);
    codes_.clear();
    bytes_.clear();
    if (!few()) {
        codes_.resize(n);
        for (size_t entry = 0; entry < n; ++entry) codes_[entry] = rank[code_of(entry)];
        return;
    }
    starts_.assign(1, 0);
    for (size_t v = 1; v < levels(); ++v) starts_.push_back(starts_.back() + sizes_[v]);
    bytes_.resize(n);
    rows_.resize(starts_.back());
    // Where the rows of every part and level begin.
    std::vector<size_t> next(starts_.begin(), starts_.end() - 1);
    std::vector<size_t> first(n_parts * n_levels, 0);
    for (size_t p = 0; p < n_parts; ++p)
        for (size_t c = 0; c < n_levels; ++c) {
            const size_t v = rank[c];
            if (counts[c] == 0 || v == 0) continue;
            first[p * n_levels + v] = next[v - 1];
            next[v - 1] += of_parts[p * n_levels + c];
        }
    pool.run(n_parts, 5 * double(n), [&](size_t p, unsigned) {
        row_t* to[few_levels];
        row_t ignored = 0;  // rows of the most frequent level are written without a branch
        to[0] = &ignored;
        for (size_t v = 1; v < levels(); ++v) to[v] = rows_.data() + first[p * n_levels + v];
        const CodeOf code_at = code_of;
        const uint32_t* rank_of = rank.data();
        const size_t start = p * part, end = std::min(n, start + part);
        uint8_t* bytes = bytes_.data();
        for (size_t entry = start; entry < end; ++entry) bytes[entry] = uint8_t(rank_of[code_at(entry)]);
        for (size_t entry = start; entry < end; ++entry) {
            const uint8_t v = bytes[entry];
            *to[v] = row_t(entry);
            to[v] += v != 0;
        }
    });
}

template <class Code>
void Given::assign(std::span<const Code> codes, std::span<const row_t> rows, size_t n_levels, Pool& pool) {
    if (rows.empty()) {
        fill(codes.size(), [=](size_t entry) { return size_t(codes[entry]); }, n_levels, pool);
    } else {
        fill(rows.size(), [=](size_t entry) { return size_t(codes[rows[entry]]); }, n_levels, pool);
    }
}

template void Given::assign(std::span<const uint32_t>, std::span<const row_t>, size_t, Pool&);
template void Given::assign(std::span<const code_t>, std::span<const row_t>, size_t, Pool&);

void set_bits(std::span<const row_t> rows, uint64_t* bits) {
    for (const row_t row : rows) bits[row / 64] |= uint64_t(1) << (row % 64);
}

}  // namespace labelsieve
