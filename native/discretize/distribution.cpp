#include "discretize/distribution.hpp"

#include <array>
#include <cmath>

namespace labelsieve {

namespace {

constexpr size_t few_entries = 256;  // up to which comparing beats counting bytes
constexpr size_t few_values = 8;     // up to which looking through them beats sorting

}  // namespace

void sort_entries(std::vector<Entry>& entries, std::vector<Entry>& buffer) {
    if (entries.size() <= few_entries) {
        std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
            return std::pair(a.key, a.row) < std::pair(b.key, b.row);
        });
        return;
    }
    // A radix sort, byte by byte from the last, that leaves out bytes in which all agree.
    std::array<std::array<uint32_t, 256>, 8> counts{};
    for (const Entry& entry : entries)
        for (size_t byte = 0; byte < 8; ++byte) ++counts[byte][entry.key >> 8 * byte & 255];
    buffer.resize(entries.size());
    for (size_t byte = 0; byte < 8; ++byte) {
        auto& offsets = counts[byte];
        if (offsets[entries[0].key >> 8 * byte & 255] == entries.size()) continue;
        uint32_t before = 0;
        for (auto& offset : offsets) before += std::exchange(offset, before);
        for (const Entry& entry : entries) buffer[offsets[entry.key >> 8 * byte & 255]++] = entry;
        entries.swap(buffer);
    }
}

void Distribution::read(const Column& column, const uint64_t* weights, uint64_t total_of_rows) {
    values_.clear();
    weights_.clear();
    uint64_t listed = column.values.size();
    if (weights) {
        listed = 0;
        for (size_t i = 0; i < column.values.size(); ++i) listed += weights[column.row(i)];
    }
    if (!count_few(column, weights)) {
        values_.clear();
        weights_.clear();
        entries_.clear();
        for (size_t i = 0; i < column.values.size(); ++i)
            if (!std::isnan(column.values[i]))
                entries_.push_back({.key = key_of(column.values[i]), .row = column.row(i)});
        sort_entries(entries_, buffer_);
        uint64_t last = 0;
        for (const Entry& entry : entries_) {
            if (values_.empty() || entry.key != last) {
                values_.push_back(value_of(entry.key));
                weights_.push_back(0);
                last = entry.key;
            }
            weights_.back() += weights ? weights[entry.row] : 1;
        }
    }
    if (column.has_unlisted()) add_unlisted(total_of_rows - listed);
    total_ = 0;
    for (const uint64_t weight : weights_) total_ += weight;
}

// False when there are too many values.
bool Distribution::count_few(const Column& column, const uint64_t* weights) {
    std::array<double, few_values> known;
    std::array<uint64_t, few_values> sums{};
    size_t n_known = 0, at = 0;
    for (size_t i = 0; i < column.values.size(); ++i) {
        const double value = column.values[i];
        if (at == n_known || known[at] != value) {
            if (std::isnan(value)) continue;
            for (at = 0; at < n_known && known[at] != value; ++at) {
            }
            if (at == few_values) return false;
            if (at == n_known) known[n_known++] = value + 0.0;
        }
        sums[at] += weights ? weights[column.row(i)] : 1;
    }
    std::array<size_t, few_values> order;
    for (size_t k = 0; k < n_known; ++k) order[k] = k;
    std::sort(order.begin(), order.begin() + ptrdiff_t(n_known),
              [&](size_t a, size_t b) { return known[a] < known[b]; });
    for (size_t k = 0; k < n_known; ++k) {
        values_.push_back(known[order[k]]);
        weights_.push_back(sums[order[k]]);
    }
    return true;
}

void Distribution::add_unlisted(uint64_t weight) {
    const auto zero = std::lower_bound(values_.begin(), values_.end(), 0.0);
    const auto at = zero - values_.begin();
    if (zero == values_.end() || *zero != 0.0) {
        values_.insert(zero, 0.0);
        weights_.insert(weights_.begin() + at, 0);
    }
    weights_[size_t(at)] += weight;
}

}  // namespace labelsieve
