#include "reading/words.hpp"

#include <bit>
#include <stdexcept>

namespace labelsieve {

namespace {

constexpr size_t word_bytes = 8;
constexpr size_t exact_bytes = 2 * word_bytes;  // a key is equal only for equal words up to this length
static_assert(std::endian::native == std::endian::little,
              "keys shift the bytes after a word out of an integer");

uint64_t load(const uint8_t* from) {
    uint64_t value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

uint64_t mixed(uint64_t value) {
    value ^= value >> 32;
    return value * 0x9E3779B97F4A7C15;
}

// The first eight bytes of a word, and the last eight; of a longer word all bytes enter the second.
struct Key {
    uint64_t first, last;
};

Key key_of(std::span<const uint8_t> data, size_t start, size_t length) {
    const uint8_t* from = data.data() + start;
    if (length <= word_bytes && start + word_bytes <= data.size())  // without a branch on the length
        return {length == 0 ? 0 : load(from) << (64 - 8 * length), 0};
    if (length < word_bytes) {
        uint64_t first = 0;
        for (size_t i = 0; i < length; ++i) first |= uint64_t(from[i]) << (64 - 8 * (length - i));
        return {first, 0};
    }
    uint64_t rest = 0;
    if (length > exact_bytes)
        for (size_t at = word_bytes; at + word_bytes < length; at += word_bytes)
            rest = mixed(rest ^ load(from + at));
    return {load(from), rest ^ load(from + length - word_bytes)};
}

struct Slot {
    Key key;
    size_t length = 0;
    int32_t code = -1;
};

template <class Start>
class WordTable {
  public:
    explicit WordTable(const Words<Start>& words) : words_(words), slots_(size_t(1) << bits_) {}

    // The number of word `row`; a new one if it is new.
    int32_t code_of(size_t row, size_t start, size_t length) {
        const Key key = key_of(words_.data, start, length);
        Slot* slot = place_of(key, start, length);
        if (slot->code < 0) [[unlikely]] {
            *slot = {key, length, int32_t(first_rows.size())};
            first_rows.push_back(int64_t(row));
            if (2 * first_rows.size() > slots_.size()) return grow();
        }
        return slot->code;
    }

    // The code of a word of up to eight bytes if it is in the first slot that it may be in, else -1: most
    // words are.
    struct FirstSlots {
        const Slot* slots;
        unsigned shift;
        int32_t code_of(uint64_t first, size_t length) const {
            const Slot& slot = slots[mixed(first ^ length) >> shift];
            return slot.key.first == first && slot.length == length ? slot.code : -1;
        }
    };
    FirstSlots first_slots() const { return {slots_.data(), 64 - bits_}; }

    std::vector<int64_t> first_rows;

  private:
    Slot* place_of(const Key& key, size_t start, size_t length) {
        size_t at = mixed(key.first ^ std::rotl(key.last, 29) ^ length) >> (64 - bits_);
        while (slots_[at].code >= 0 && !is_same(slots_[at], key, start, length))
            at = (at + 1) & (slots_.size() - 1);
        return &slots_[at];
    }

    bool is_same(const Slot& slot, const Key& key, size_t start, size_t length) const {
        if (slot.key.first != key.first || slot.key.last != key.last || slot.length != length) return false;
        return length <= exact_bytes ||
               std::memcmp(&words_.data[start_of(slot)], &words_.data[start], length) == 0;
    }

    size_t start_of(const Slot& slot) const {
        return size_t(words_.starts[size_t(first_rows[size_t(slot.code)])]);
    }

    int32_t grow() {
        bits_ += 2;
        const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(size_t(1) << bits_));
        for (const Slot& slot : old)
            if (slot.code >= 0) *place_of(slot.key, start_of(slot), slot.length) = slot;
        return int32_t(first_rows.size() - 1);
    }

    const Words<Start>& words_;
    unsigned bits_ = 8;
    std::vector<Slot> slots_;
};

}  // namespace

template <class Start>
std::vector<int64_t> distinct_words(const Words<Start>& words, size_t most, int32_t* codes) {
    WordTable<Start> table(words);
    auto slots = table.first_slots();
    const uint8_t* data = words.data.data();
    const Start* starts = words.starts.data();
    const size_t n_bytes = words.data.size();
    const bool all_known = words.known.empty();
    for (size_t i = 0; i + 1 < words.starts.size(); ++i) {
        const Start start = starts[i], end = starts[i + 1];
        if (start < 0 || end < start || size_t(end) > n_bytes)
            throw std::invalid_argument("a word outside of the data");
        if (!all_known && !words.known[i]) {
            codes[i] = -1;
            continue;
        }
        const size_t length = size_t(end - start);
        if (length - 1 < word_bytes && size_t(start) + word_bytes <= n_bytes) {
            const int32_t code = slots.code_of(load(data + start) << (64 - 8 * length), length);
            if (code >= 0) {
                codes[i] = code;
                continue;
            }
        }
        codes[i] = table.code_of(i, size_t(start), length);
        if (table.first_rows.size() > most) break;
        slots = table.first_slots();
    }
    return std::move(table.first_rows);
}
template std::vector<int64_t> distinct_words(const Words<int32_t>& words, size_t most, int32_t* codes);
template std::vector<int64_t> distinct_words(const Words<int64_t>& words, size_t most, int32_t* codes);

}  // namespace labelsieve
