#include "discretize/distribution.hpp"

#include <array>
#include <cmath>

namespace labelsieve {

namespace {

constexpr size_t few_entries = 256;  // up to which comparing beats counting digits
constexpr size_t few_values = 8;     // up to which looking through them beats sorting

constexpr size_t digit_bits = 8, n_digits = 8, n_values = size_t(1) << digit_bits;  // of a key of 64 bits

uint64_t key_in(uint64_t key) { return key; }
uint64_t key_in(const Entry& entry) { return entry.key; }

// A radix sort, digit by digit from the last, that leaves out digits in which all agree.
template <class Item>
void radix_sort(Scratch<Item>& items, Scratch<Item>& buffer) {
    std::vector<uint32_t> counts(n_digits * n_values, 0);
    const auto digit = [](const Item& item, size_t d) {
        return key_in(item) >> digit_bits * d & (n_values - 1);
    };
    for (const Item& item : items)
        for (size_t d = 0; d < n_digits; ++d) ++counts[d * n_values + digit(item, d)];
    buffer.resize(items.size());
    for (size_t d = 0; d < n_digits; ++d) {
        uint32_t* offsets = counts.data() + d * n_values;
        if (offsets[digit(items[0], d)] == items.size()) continue;
        uint32_t before = 0;
        for (size_t value = 0; value < n_values; ++value) before += std::exchange(offsets[value], before);
        for (const Item& item : items) buffer[offsets[digit(item, d)]++] = item;
        items.swap(buffer);
    }
}

}  // namespace

void sort_entries(Scratch<Entry>& entries, Scratch<Entry>& buffer) {
    if (entries.size() > few_entries) return radix_sort(entries, buffer);
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return std::pair(a.key, a.row) < std::pair(b.key, b.row);
    });
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
        if (weights) {
            read_weighted(column, weights);
        } else {
            read_keys(column);
        }
    }
    if (column.has_unlisted()) add_unlisted(total_of_rows - listed);
    total_ = 0;
    for (const uint64_t weight : weights_) total_ += weight;
}

void Distribution::read_weighted(const Column& column, const uint64_t* weights) {
    entries_.clear();
    entries_.reserve(column.values.size());
    for (size_t i = 0; i < column.values.size(); ++i)
        if (!std::isnan(column.values[i]))
            entries_.push_back({.key = key_of(column.values[i]), .row = column.row(i)});
    sort_entries(entries_, buffer_);
    for (const Entry& entry : entries_) add(entry.key, weights[entry.row]);
}

// Rows of equal weight need not be distinguished.
void Distribution::read_keys(const Column& column) {
    keys_.clear();
    keys_.reserve(column.values.size());
    for (const double value : column.values)
        if (!std::isnan(value)) keys_.push_back(key_of(value));
    if (keys_.size() > few_entries) {
        radix_sort(keys_, key_buffer_);
    } else {
        std::sort(keys_.begin(), keys_.end());
    }
    for (const uint64_t key : keys_) add(key, 1);
}

void Distribution::add(uint64_t key, uint64_t weight) {
    const double value = value_of(key);
    if (values_.empty() || values_.back() != value) {
        values_.push_back(value);
        weights_.push_back(0);
    }
    weights_.back() += weight;
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
