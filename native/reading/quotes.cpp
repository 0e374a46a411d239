#include "reading/quotes.hpp"

#include <algorithm>

#include "simd/vector.hpp"

namespace labelsieve {

namespace {

constexpr uint8_t quote = '"', newline = '\n';
constexpr size_t block = 64;  // bytes, one for each bit of a mask

// Bit i of the result is the parity of the bits 0 .. i.
uint64_t running_parity(uint64_t bits) {
    for (int distance = 1; distance < 64; distance *= 2) bits ^= bits << distance;
    return bits;
}

// What the blocks so far say, and what the next one needs to know about their last byte.
struct Scan {
    uint64_t is_open;     // all bits set within quotes
    uint64_t cell_edge;   // 1 if a cell may start after the last byte
    uint64_t closed = 0;  // 1 if the last byte is a quote that closes
    bool has_newlines = false;

    // Whether the quotes among 64 more bytes enclose cells.
    bool add(const uint8_t* bytes, uint8_t delimiter) {
        const uint64_t quotes = equal_mask(bytes, quote), newlines = equal_mask(bytes, newline);
        const uint64_t edges = quotes | newlines | equal_mask(bytes, delimiter);
        const uint64_t inside = running_parity(quotes) ^ is_open;  // from the quote that opens
        const uint64_t opening = quotes & inside, closing = quotes & ~inside;
        const uint64_t stray = (opening & ~(edges << 1 | cell_edge)) | ((closing << 1 | closed) & ~edges);
        has_newlines |= (newlines & inside) != 0;
        is_open = 0 - (inside >> 63);
        cell_edge = edges >> 63;
        closed = closing >> 63;
        return stray == 0;
    }
};

}  // namespace

Quotes scan_quotes(std::span<const uint8_t> text, uint8_t delimiter) {
    const auto* found = text.empty() ? nullptr : std::memchr(text.data(), quote, text.size());
    if (found == nullptr) return {};
    size_t start = size_t(static_cast<const uint8_t*>(found) - text.data());
    const bool at_edge = start == 0 || text[start - 1] == newline || text[start - 1] == delimiter;
    Scan scan{.is_open = 0, .cell_edge = at_edge};
    constexpr Quotes stray{.enclose_cells = false, .enclose_newlines = false};
    for (; text.size() - start >= block; start += block)
        if (!scan.add(text.data() + start, delimiter)) return stray;
    uint8_t rest[block];  // the end, and cells without anything in them
    std::fill(std::copy(text.begin() + ptrdiff_t(start), text.end(), rest), rest + block, delimiter);
    if (!scan.add(rest, delimiter)) return stray;
    return {.enclose_cells = scan.is_open == 0, .enclose_newlines = scan.has_newlines};
}

}  // namespace labelsieve
