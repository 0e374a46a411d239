// Compiled once per instruction set, with LABELSIEVE_ISA naming the set and the namespace. See kernels.hpp.
#include "kernels.hpp"

#include <bit>

#include "vector.hpp"

#if defined(__clang__)
#define LABELSIEVE_SCALAR_LOOP _Pragma("clang loop vectorize(disable)")
#define LABELSIEVE_SCALAR_FUNCTION
#elif defined(__GNUC__)
#define LABELSIEVE_SCALAR_LOOP
#define LABELSIEVE_SCALAR_FUNCTION __attribute__((optimize("no-tree-vectorize")))
#else
#define LABELSIEVE_SCALAR_LOOP __pragma(loop(no_vector))
#define LABELSIEVE_SCALAR_FUNCTION
#endif

namespace labelsieve {
namespace LABELSIEVE_ISA {
namespace {

constexpr int lanes = vector_bytes / 8;
constexpr int parts = 64 / vector_bytes;  // vectors in a 512-bit word

inline vector_t load(const std::uint64_t* from) { return *reinterpret_cast<const vector_t*>(from); }
inline void store(std::uint64_t* to, vector_t value) { *reinterpret_cast<vector_t*>(to) = value; }

// Sixteen rows at a time go through a tree of fifteen adders: the planes 1, 2, 4, 8 stay in registers, and one vector
// of weight 16 ripples into the higher planes. A row costs a few logic operations for all 512 columns together.
void add_rows(const std::uint64_t* words, const row_t* rows, std::size_t n, std::uint64_t* planes, unsigned n_planes) {
    for (int part = 0; part < parts; ++part) {
        const std::uint64_t* word = words + part * lanes;
        std::uint64_t* plane = planes + part * lanes;
        vector_t ones = load(plane), twos = load(plane + block_words);
        vector_t fours = load(plane + 2 * block_words), eights = load(plane + 3 * block_words);
        vector_t high[max_planes - 4];
        const unsigned n_high = n_planes > 4 ? n_planes - 4 : 0;
        for (unsigned p = 0; p < n_high; ++p) high[p] = load(plane + (4 + p) * block_words);
        for (std::size_t t = 0; t < n; t += 16) {
            const row_t* row = rows + t;
            const auto bits = [&](int i) { return load(word + std::size_t(row[i]) * block_words); };
            vector_t two_a, two_b, four_a, four_b, eight_a, eight_b, carry;
            add3(two_a, ones, ones, bits(0), bits(1));
            add3(two_b, ones, ones, bits(2), bits(3));
            add3(four_a, twos, twos, two_a, two_b);
            add3(two_a, ones, ones, bits(4), bits(5));
            add3(two_b, ones, ones, bits(6), bits(7));
            add3(four_b, twos, twos, two_a, two_b);
            add3(eight_a, fours, fours, four_a, four_b);
            add3(two_a, ones, ones, bits(8), bits(9));
            add3(two_b, ones, ones, bits(10), bits(11));
            add3(four_a, twos, twos, two_a, two_b);
            add3(two_a, ones, ones, bits(12), bits(13));
            add3(two_b, ones, ones, bits(14), bits(15));
            add3(four_b, twos, twos, two_a, two_b);
            add3(eight_b, fours, fours, four_a, four_b);
            add3(carry, eights, eights, eight_a, eight_b);
            for (unsigned p = 0; p < n_high; ++p) {
                const vector_t overflow = high[p] & carry;
                high[p] = high[p] ^ carry;
                carry = overflow;
            }
        }
        store(plane, ones);
        store(plane + block_words, twos);
        store(plane + 2 * block_words, fours);
        store(plane + 3 * block_words, eights);
        for (unsigned p = 0; p < n_high; ++p) store(plane + (4 + p) * block_words, high[p]);
    }
}

// spread[b] has bit i of b as byte i: eight counters take a bit of a plane in one operation.
struct SpreadTable {
    std::uint64_t of[256] = {};
    constexpr SpreadTable() {
        for (unsigned byte = 0; byte < 256; ++byte)
            for (unsigned i = 0; i < 8; ++i)
                if (byte >> i & 1) of[byte] |= std::uint64_t(1) << (8 * i);
    }
};
constexpr SpreadTable spread;

void read_planes(const std::uint64_t* planes, unsigned n_planes, count_t* counts) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(planes);
    for (unsigned first = 0; first < n_planes; first += 8) {
        const unsigned last = n_planes < first + 8 ? n_planes : first + 8;
        for (std::size_t group = 0; group < block_bits / 8; ++group) {
            std::uint64_t eight = 0;
            for (unsigned p = first; p < last; ++p) eight |= spread.of[bytes[p * 64 + group]] << (p - first);
            count_t* out = counts + 8 * group;
            if (first == 0) {
                for (int i = 0; i < 8; ++i) out[i] = (eight >> (8 * i)) & 255;
            } else {
                for (int i = 0; i < 8; ++i) out[i] |= count_t((eight >> (8 * i)) & 255) << first;
            }
        }
    }
}

// Four columns against four: each word is loaded once for four counts. The depth keeps eight columns in the first cache.
void count_common(const std::uint64_t* left, std::size_t left_stride, std::size_t n_left, const std::uint64_t* right,
                  std::size_t right_stride, std::size_t n_right, std::size_t n_words, count_t* counts, std::size_t stride) {
    constexpr std::size_t depth = 512;
    for (std::size_t start = 0; start < n_words; start += depth) {
        const std::size_t stop = start + depth < n_words ? start + depth : n_words;
        for (std::size_t r = 0; r < n_right; r += 4) {
            const std::size_t tall = n_right - r < 4 ? n_right - r : 4;
            for (std::size_t l = 0; l < n_left; l += 4) {
                const std::size_t wide = n_left - l < 4 ? n_left - l : 4;
                if (tall == 4 && wide == 4) {
                    std::uint64_t sums[4][4] = {};
                    const std::uint64_t* a = left + l * left_stride;
                    const std::uint64_t* b = right + r * right_stride;
                    for (std::size_t w = start; w < stop; ++w)
                        for (int i = 0; i < 4; ++i)
                            for (int j = 0; j < 4; ++j)
                                sums[i][j] += std::uint64_t(std::popcount(b[i * right_stride + w] & a[j * left_stride + w]));
                    for (int i = 0; i < 4; ++i)
                        for (int j = 0; j < 4; ++j) counts[(r + i) * stride + l + j] += count_t(sums[i][j]);
                } else {
                    for (std::size_t i = 0; i < tall; ++i)
                        for (std::size_t j = 0; j < wide; ++j) {
                            std::uint64_t sum = 0;
                            for (std::size_t w = start; w < stop; ++w)
                                sum += std::uint64_t(std::popcount(right[(r + i) * right_stride + w] & left[(l + j) * left_stride + w]));
                            counts[(r + i) * stride + l + j] += count_t(sum);
                        }
                }
            }
        }
    }
}

void split_class(const count_t* counted, std::size_t counted_pitch, const count_t* with_class, std::size_t width,
                 const count_t* given_sizes, std::size_t levels, std::size_t given, std::size_t n, count_t* cells,
                 std::size_t pitch, const count_t* rest_in, std::size_t rest_pitch, count_t* rest_out) {
    for (std::size_t v = 0; v < given; ++v) {
        count_t* cell = cells + v * pitch;
        const count_t all = given_sizes[v];
        for (std::size_t i = 0; i < n; ++i) cell[i] = all;
    }
    for (std::size_t a = 1; a < levels; ++a) {
        count_t* left_over = cells + a * given * pitch;
        const count_t* total = with_class + (a - 1) * width;
        for (std::size_t i = 0; i < n; ++i) left_over[i] = total[i];
        for (std::size_t v = 1; v < given; ++v) {
            const count_t* seen = counted + (v - 1) * counted_pitch + (a - 1) * width;
            count_t* cell = cells + (a * given + v) * pitch;
            count_t* level_zero = cells + v * pitch;
            for (std::size_t i = 0; i < n; ++i) {
                const count_t count = seen[i];
                cell[i] = count;
                left_over[i] -= count;
                level_zero[i] -= count;
            }
        }
        for (std::size_t i = 0; i < n; ++i) cells[i] -= left_over[i];
    }
    for (std::size_t c = 0; c < levels * given; ++c) {
        const count_t* before = rest_in + c * rest_pitch;
        const count_t* cell = cells + c * pitch;
        count_t* after = rest_out + c * pitch;
        for (std::size_t i = 0; i < n; ++i) after[i] = before[i] - cell[i];
    }
}

// Gathers lose to scalar loads here, so this one loop must not be vectorised.
LABELSIEVE_SCALAR_FUNCTION void look_up(const count_t* cells, std::size_t n_cells, std::size_t pitch, std::size_t n,
                                        const fixed_t* table, fixed_t* sums) {
    LABELSIEVE_SCALAR_LOOP
    for (std::size_t i = 0; i < n; ++i) {
        fixed_t even = 0, odd = 0;
        std::size_t c = 0;
        LABELSIEVE_SCALAR_LOOP
        for (; c + 1 < n_cells; c += 2) {
            even += table[cells[c * pitch + i]];
            odd += table[cells[(c + 1) * pitch + i]];
        }
        if (c < n_cells) even += table[cells[c * pitch + i]];
        sums[i] += even + odd;
    }
}

// A product gathers the low bits of eight bytes into one byte.
void match_levels(const std::uint8_t* codes, std::size_t levels, std::uint64_t* bits, std::size_t stride) {
    for (std::size_t a = 1; a < levels; ++a) {
        std::uint8_t equal[64];
        for (int i = 0; i < 64; ++i) equal[i] = codes[i] == std::uint8_t(a);
        std::uint64_t mask = 0;
        for (int group = 0; group < 8; ++group) {
            std::uint64_t eight = 0;
            for (int i = 0; i < 8; ++i) eight |= std::uint64_t(equal[8 * group + i]) << (8 * i);
            mask |= (eight * 0x0102040810204080u >> 56) << (8 * group);
        }
        bits[(a - 1) * stride] = mask;
    }
}

void transpose(std::uint64_t* matrix) {
    std::uint64_t mask = 0x00000000FFFFFFFFu;
    for (int distance = 32; distance != 0; distance >>= 1, mask ^= mask << distance) {
        for (int k = 0; k < 64; k = (k + distance + 1) & ~distance) {
            const std::uint64_t swapped = (matrix[k] >> distance ^ matrix[k + distance]) & mask;
            matrix[k] ^= swapped << distance;
            matrix[k + distance] ^= swapped;
        }
    }
}

}  // namespace

extern const Kernels kernels;
const Kernels kernels = {
#define LABELSIEVE_STRING(x) #x
#define LABELSIEVE_NAME(x) LABELSIEVE_STRING(x)
    LABELSIEVE_NAME(LABELSIEVE_ISA), add_rows, read_planes, count_common, split_class, look_up, match_levels, transpose,
};

}  // namespace LABELSIEVE_ISA
}  // namespace labelsieve
