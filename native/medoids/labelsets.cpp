#include "medoids/labelsets.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace labelsieve {

namespace {

constexpr size_t lanes_together = 8;
constexpr uint32_t empty = ~uint32_t(0);

size_t rounded_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

uint64_t mixed(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

}  // namespace

BitLanes Labelsets::bit_lanes() const {
    return {.words = lanes.data(),
            .n_words = n_words,
            .n_blocks = rounded_up(size, medoid_block) / lanes_together};
}

void Labelsets::arrange_lanes() {
    const size_t padded = rounded_up(size, medoid_block);
    lanes.reserve(checked_product(padded, n_words));
    for (size_t i = 0; i < padded; ++i) {
        uint64_t* to = lanes.data() + i / lanes_together * lanes_together * n_words + i % lanes_together;
        for (size_t w = 0; w < n_words; ++w) to[w * lanes_together] = i < size ? rows[i * n_words + w] : 0;
    }
}

DistinctTargets::DistinctTargets(const TargetRows& targets) : n_numbers_(targets.n_numbers) {
    const size_t n = targets.n_rows, n_words = targets.n_words;
    const auto compare = [&](uint32_t a, uint32_t b) {
        for (size_t w = 0; w < n_words; ++w) {
            const uint64_t left = targets.bits[a * n_words + w], right = targets.bits[b * n_words + w];
            if (left != right) return left < right ? -1 : 1;
        }
        for (size_t c = 0; c < targets.n_numbers; ++c) {
            const double left = targets.numbers[c * n + a], right = targets.numbers[c * n + b];
            if (left != right) return left < right ? -1 : 1;
        }
        return 0;
    };
    std::vector<uint32_t> order(n), first;
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        const int sign = compare(a, b);
        return sign != 0 ? sign < 0 : a < b;
    });
    of_rows_.resize(n);
    for (size_t i = 0; i < n; ++i) {
        const uint32_t row = order[i];
        if (first.empty() || compare(first.back(), row) != 0) {
            first.push_back(row);
            weights_.push_back(0);
        }
        of_rows_[row] = uint32_t(first.size() - 1);
        weights_.back() += targets.weights ? targets.weights[row] : 1;
    }
    const size_t n_distinct = first.size();
    column_words_ = rounded_up(n_distinct, 64) / 64;
    columns_.assign(checked_product(n_words * 64, column_words_), 0);
    for (size_t i = 0; i < n_distinct; ++i) {
        starts_.push_back(bits_.size());
        for (size_t w = 0; w < n_words; ++w)
            for (uint64_t word = targets.bits[first[i] * n_words + w]; word;) {
                const int zeros = std::countl_zero(word);
                word &= ~(uint64_t(1) << (63 - zeros));
                const size_t bit = w * 64 + size_t(zeros);
                columns_[bit * column_words_ + i / 64] |= uint64_t(1) << (i % 64);
                bits_.push_back(uint32_t(bit));
            }
    }
    starts_.push_back(bits_.size());
    numbers_.resize(checked_product(n_distinct, n_numbers_));
    for (size_t c = 0; c < n_numbers_; ++c)
        for (size_t i = 0; i < n_distinct; ++i)
            numbers_[c * n_distinct + i] = targets.numbers[c * n + first[i]];
}

// Row after row, in the words of the group.
void DistinctTargets::Restriction::read_bits(std::span<const uint32_t> bits) {
    const size_t n_words = labelsets_.n_words, column_words = targets_.column_words_;
    bits_.resize(checked_product(column_words * 64, n_words));
    for (size_t block = 0; block < column_words; ++block)
        for (size_t w = 0; w < n_words; ++w) {
            alignas(cache_line) uint64_t matrix[64] = {};
            const size_t here = std::min<size_t>(64, bits.size() - w * 64);
            for (size_t i = 0; i < here; ++i)
                matrix[i] = targets_.columns_[bits[w * 64 + i] * column_words + block];
            kernels().transpose(matrix);
            for (size_t i = 0; i < 64; ++i) bits_[(block * 64 + i) * n_words + w] = matrix[i];
        }
}

// As numbers within the group.
void DistinctTargets::Restriction::list_bits(std::span<const uint32_t> bits) {
    positions_.assign(targets_.columns_.size() / std::max<size_t>(1, targets_.column_words_), empty);
    for (size_t i = 0; i < bits.size(); ++i) positions_[bits[i]] = uint32_t(i);
    labelsets_.ends.resize(labelsets_.size);
    labelsets_.bits.resize(targets_.bits_.size() + 1);
    uint32_t* to = labelsets_.bits.data();
    for (size_t i = 0; i < labelsets_.size; ++i) {
        for (size_t at = targets_.starts_[origins_[i]]; at < targets_.starts_[origins_[i] + 1]; ++at) {
            *to = positions_[targets_.bits_[at]];
            to += *to != empty;
        }
        labelsets_.ends[i] = size_t(to - labelsets_.bits.data());
    }
}

void DistinctTargets::Restriction::to(const TargetGroup& group) {
    const size_t n = targets_.size(), n_words = rounded_up(group.bits.size(), 64) / 64;
    const size_t n_numbers = group.numbers.size();
    labelsets_.n_words = n_words;
    labelsets_.n_numbers = n_numbers;
    read_bits(group.bits);
    const auto number_at = [&](size_t c, size_t i) { return targets_.numbers_[group.numbers[c] * n + i]; };
    const size_t capacity = std::bit_ceil(2 * n);
    slots_.assign(capacity, empty);
    number_.resize(n);
    origins_.clear();
    labelsets_.rows.clear();
    labelsets_.weights.clear();
    for (size_t i = 0; i < n; ++i) {
        const uint64_t* row = bits_.data() + i * n_words;
        uint64_t hash = 0;
        for (size_t w = 0; w < n_words; ++w) hash = mixed(hash, row[w]);
        for (size_t c = 0; c < n_numbers; ++c) hash = mixed(hash, std::bit_cast<uint64_t>(number_at(c, i)));
        const auto is_same = [&](uint32_t other) {
            if (!std::equal(row, row + n_words, labelsets_.row(other))) return false;
            for (size_t c = 0; c < n_numbers; ++c)
                if (number_at(c, i) != number_at(c, origins_[other])) return false;
            return true;
        };
        size_t slot = hash & (capacity - 1);
        while (slots_[slot] != empty && !is_same(slots_[slot])) slot = (slot + 1) & (capacity - 1);
        if (slots_[slot] == empty) {
            slots_[slot] = uint32_t(origins_.size());
            origins_.push_back(uint32_t(i));
            labelsets_.rows.insert(labelsets_.rows.end(), row, row + n_words);
            labelsets_.weights.push_back(0);
        }
        number_[i] = slots_[slot];
        labelsets_.weights[number_[i]] += targets_.weights_[i];
    }
    labelsets_.size = origins_.size();
    labelsets_.arrange_lanes();
    list_bits(group.bits);
    labelsets_.numbers.resize(checked_product(labelsets_.size, n_numbers));
    for (size_t c = 0; c < n_numbers; ++c)
        for (size_t i = 0; i < labelsets_.size; ++i)
            labelsets_.numbers[c * labelsets_.size + i] = number_at(c, origins_[i]);
}

}  // namespace labelsieve
