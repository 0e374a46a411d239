#include "reading/words.hpp"

#include <stdexcept>

namespace labelsieve {

namespace {

constexpr size_t word_bytes = 8;

template <class Integer>
uint64_t load(const uint8_t* from) {
    Integer value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// All bytes of a word of up to eight, in an integer that no other word of the same length has.
uint64_t short_key(const uint8_t* from, size_t n) {
    if (n == word_bytes) return load<uint64_t>(from);
    if (n >= 4) return load<uint32_t>(from) << 32 | load<uint32_t>(from + n - 4);
    if (n == 0) return 0;
    return uint64_t(from[0]) | uint64_t(from[n / 2]) << 8 | uint64_t(from[n - 1]) << 16;
}

uint64_t mixed(uint64_t value) {
    value *= 0x9E3779B97F4A7C15;
    return value ^ value >> 32;
}

uint64_t key_of_word(const uint8_t* from, size_t n) {
    if (n <= word_bytes) return short_key(from, n);
    uint64_t key = n;
    for (size_t at = 0; at + word_bytes < n; at += word_bytes) key = mixed(key ^ load<uint64_t>(from + at));
    return mixed(key ^ load<uint64_t>(from + n - word_bytes));
}

struct Slot {
    uint64_t key;
    size_t start, length;
    int32_t code = -1;
};

class WordTable {
  public:
    explicit WordTable(const uint8_t* data) : data_(data), slots_(size_t(1) << bits_) {}

    // The slot of a word; its code is -1 if the word is new.
    Slot& find(size_t start, size_t length) {
        const uint64_t key = key_of_word(data_ + start, length);
        Slot& slot = place_of(key, start, length);
        slot.key = key;
        slot.start = slot.code < 0 ? start : slot.start;
        slot.length = length;
        return slot;
    }

    void grow_for(size_t n_words) {
        if (2 * n_words <= slots_.size()) return;
        bits_ += 2;
        const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(size_t(1) << bits_));
        for (const Slot& slot : old)
            if (slot.code >= 0) place_of(slot.key, slot.start, slot.length) = slot;
    }

  private:
    Slot& place_of(uint64_t key, size_t start, size_t length) {
        size_t at = mixed(mixed(key) + length) >> (64 - bits_);
        while (slots_[at].code >= 0 && !is_same(slots_[at], key, start, length))
            at = (at + 1) & (slots_.size() - 1);
        return slots_[at];
    }
    bool is_same(const Slot& slot, uint64_t key, size_t start, size_t length) const {
        return slot.key == key && slot.length == length &&
               (length <= word_bytes || std::memcmp(data_ + slot.start, data_ + start, length) == 0);
    }

    const uint8_t* data_;
    unsigned bits_ = 8;
    std::vector<Slot> slots_;
};

}  // namespace

template <class Start>
std::vector<int64_t> distinct_words(const Words<Start>& words, size_t most, int32_t* codes) {
    std::vector<int64_t> first_rows;
    WordTable table(words.data.data());
    for (size_t i = 0; i + 1 < words.starts.size(); ++i) {
        const Start start = words.starts[i], end = words.starts[i + 1];
        if (start < 0 || end < start || size_t(end) > words.data.size())
            throw std::invalid_argument("a word outside of the data");
        if (!words.known.empty() && !words.known[i]) {
            codes[i] = -1;
            continue;
        }
        Slot& slot = table.find(size_t(start), size_t(end - start));
        if (slot.code < 0) {
            slot.code = int32_t(first_rows.size());
            codes[i] = slot.code;
            first_rows.push_back(int64_t(i));
            if (first_rows.size() > most) return first_rows;
            table.grow_for(first_rows.size());
            continue;
        }
        codes[i] = slot.code;
    }
    return first_rows;
}
template std::vector<int64_t> distinct_words(const Words<int32_t>& words, size_t most, int32_t* codes);
template std::vector<int64_t> distinct_words(const Words<int64_t>& words, size_t most, int32_t* codes);

}  // namespace labelsieve
