// Compiled once per instruction set, with LABELSIEVE_ISA naming the set and the namespace. See kernels.hpp.
#include "simd/kernels.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "simd/digits.hpp"
#include "simd/exchange.hpp"
#include "simd/grow.hpp"
#include "simd/log_terms.hpp"
#include "simd/pair_step.hpp"
#include "simd/products.hpp"
#include "simd/subset_sums.hpp"
#include "simd/vector.hpp"

#if defined(__clang__)
#define LABELSIEVE_SCALAR_LOOP _Pragma("clang loop vectorize(disable)")
#define LABELSIEVE_SCALAR_FUNCTION
#define LABELSIEVE_UNROLL_LOOP _Pragma("clang loop unroll_count(8)")
#elif defined(__GNUC__)
#define LABELSIEVE_SCALAR_LOOP
#define LABELSIEVE_UNROLL_LOOP _Pragma("GCC unroll 8")
#define LABELSIEVE_SCALAR_FUNCTION __attribute__((optimize("no-tree-vectorize")))
#else
#define LABELSIEVE_SCALAR_LOOP __pragma(loop(no_vector))
#define LABELSIEVE_UNROLL_LOOP
#define LABELSIEVE_SCALAR_FUNCTION
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#define LABELSIEVE_RESTRICT __restrict
#else
#define LABELSIEVE_RESTRICT __restrict__
#endif

namespace labelsieve {

static_assert(std::endian::native == std::endian::little,
              "bits are read as bytes: little-endian machines only");

namespace LABELSIEVE_ISA {
namespace {

#if defined(__AVX512VPOPCNTDQ__)
constexpr size_t few_columns = 256;
#else
constexpr size_t few_columns = 100;
#endif

constexpr int lanes = vector_bytes / 8;
constexpr int parts = 64 / vector_bytes;  // vectors in a 512-bit word

inline vector_t load(const uint64_t* from) { return *reinterpret_cast<const vector_t*>(from); }
inline void store(uint64_t* to, vector_t value) { *reinterpret_cast<vector_t*>(to) = value; }

// Sixteen rows at a time go through a tree of fifteen adders: the planes 1, 2, 4, 8 stay in registers, and
// one vector of weight 16 ripples into the higher planes. A row costs a few logic operations for all 512
// columns together.
void add_rows(const uint64_t* words, const row_t* rows, size_t n, uint64_t* planes, unsigned n_planes) {
    for (int part = 0; part < parts; ++part) {
        const uint64_t* word = words + part * lanes;
        uint64_t* plane = planes + part * lanes;
        vector_t ones = load(plane), twos = load(plane + block_words);
        vector_t fours = load(plane + 2 * block_words), eights = load(plane + 3 * block_words);
        vector_t high[max_planes - 4];
        const unsigned n_high = n_planes > 4 ? n_planes - 4 : 0;
        for (unsigned p = 0; p < n_high; ++p) high[p] = load(plane + (4 + p) * block_words);
        for (size_t t = 0; t < n; t += 16) {
            const row_t* row = rows + t;
            const auto bits = [&](int i) { return load(word + size_t(row[i]) * block_words); };
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

void read_planes(const uint64_t* planes, unsigned n_planes, count_t* counts) {
    for (size_t word = 0; word < block_words; ++word, counts += 64) {
        for (unsigned first = 0; first < n_planes; first += 8) {
            uint8_t bytes[64];
            interleave(planes + first * block_words + word, block_words,
                       n_planes - first < 8 ? n_planes - first : 8, bytes);
            if (first == 0) {
                for (int i = 0; i < 64; ++i) counts[i] = bytes[i];
            } else {
                for (int i = 0; i < 64; ++i) counts[i] |= count_t(bytes[i]) << first;
            }
        }
    }
}

// Four columns against four: each word is loaded once for four counts. The depth keeps eight columns in the
// first cache.
void count_common(const BitColumns& left, const BitColumns& right, size_t n_words, count_t* counts,
                  size_t stride) {
    constexpr size_t depth = 512;
    for (size_t start = 0; start < n_words; start += depth) {
        const size_t stop = start + depth < n_words ? start + depth : n_words;
        for (size_t r = 0; r < right.size; r += 4) {
            const size_t tall = right.size - r < 4 ? right.size - r : 4;
            for (size_t l = 0; l < left.size; l += 4) {
                const size_t wide = left.size - l < 4 ? left.size - l : 4;
                if (tall == 4 && wide == 4) {
                    uint64_t sums[4][4] = {};
                    const uint64_t* a = left.words + l * left.stride;
                    const uint64_t* b = right.words + r * right.stride;
                    for (size_t w = start; w < stop; ++w)
                        for (int i = 0; i < 4; ++i)
                            for (int j = 0; j < 4; ++j)
                                sums[i][j] +=
                                    uint64_t(std::popcount(b[i * right.stride + w] & a[j * left.stride + w]));
                    for (int i = 0; i < 4; ++i)
                        for (int j = 0; j < 4; ++j) counts[(r + i) * stride + l + j] += count_t(sums[i][j]);
                } else {
                    for (size_t i = 0; i < tall; ++i)
                        for (size_t j = 0; j < wide; ++j) {
                            uint64_t sum = 0;
                            for (size_t w = start; w < stop; ++w)
                                sum += uint64_t(std::popcount(right.words[(r + i) * right.stride + w] &
                                                              left.words[(l + j) * left.stride + w]));
                            counts[(r + i) * stride + l + j] += count_t(sum);
                        }
                }
            }
        }
    }
}

template <class Count>
void split_class(const ClassCells<Count>& of) {
    const size_t levels = of.levels, given = of.given, n = of.n_candidates;
    for (size_t v = 0; v < given; ++v) {
        Count* cell = of.cells + v * of.pitch;
        const Count all = of.given_sizes[v];
        for (size_t i = 0; i < n; ++i) cell[i] = all;
    }
    for (size_t a = 1; a < levels; ++a) {
        Count* left_over = of.cells + a * given * of.pitch;
        const Count* total = of.with_class + (a - 1) * of.width;
        for (size_t i = 0; i < n; ++i) left_over[i] = total[i];
        for (size_t v = 1; v < given; ++v) {
            const Count* seen = of.counted + (v - 1) * of.counted_pitch + (a - 1) * of.width;
            Count* cell = of.cells + (a * given + v) * of.pitch;
            Count* level_zero = of.cells + v * of.pitch;
            for (size_t i = 0; i < n; ++i) {
                const Count count = seen[i];
                cell[i] = count;
                left_over[i] -= count;
                level_zero[i] -= count;
            }
        }
        for (size_t i = 0; i < n; ++i) of.cells[i] -= left_over[i];
    }
    for (size_t c = 0; c < levels * given; ++c) {
        const Count* before = of.rest_in + c * of.rest_pitch;
        const Count* cell = of.cells + c * of.pitch;
        Count* after = of.rest_out + c * of.pitch;
        for (size_t i = 0; i < n; ++i) after[i] = before[i] - cell[i];
    }
}

// Four candidates at a time, two counts in a load: the loads are what limits this loop, and gathers are
// slower still, so it must not be vectorized. `fixed_cells` unrolls the commonest tables; 0 takes the number
// from the argument.
template <size_t fixed_cells>
LABELSIEVE_SCALAR_FUNCTION inline void look_up_cells(const count_t* cells, size_t n_cells, size_t pitch,
                                                     size_t n, const fixed_t* table, fixed_t* sums) {
    const size_t last = fixed_cells ? fixed_cells : n_cells;
    LABELSIEVE_SCALAR_LOOP
    for (size_t i = 0; i < n; i += 4) {
        const count_t* cell = cells + i;
        fixed_t a = sums[i], b = sums[i + 1], c = sums[i + 2], d = sums[i + 3];
        LABELSIEVE_UNROLL_LOOP
        for (size_t k = 0; k < last; ++k, cell += pitch) {
            uint64_t ab, cd;
            std::memcpy(&ab, cell, 8);
            std::memcpy(&cd, cell + 2, 8);
            a += table[uint32_t(ab)];
            b += table[ab >> 32];
            c += table[uint32_t(cd)];
            d += table[cd >> 32];
        }
        sums[i] = a;
        sums[i + 1] = b;
        sums[i + 2] = c;
        sums[i + 3] = d;
    }
}

LABELSIEVE_SCALAR_FUNCTION void look_up(const count_t* cells, size_t n_cells, size_t pitch, size_t n,
                                        const fixed_t* table, fixed_t* sums) {
    if (n_cells == 8) return look_up_cells<8>(cells, n_cells, pitch, n, table, sums);
    if (n_cells == 4) return look_up_cells<4>(cells, n_cells, pitch, n, table, sums);
    look_up_cells<0>(cells, n_cells, pitch, n, table, sums);
}

void add_known(const fixed_t* all, const fixed_t* joint, const fixed_t* alone, double ratio, size_t n,
               fixed_t* LABELSIEVE_RESTRICT sums) {
    for (size_t i = 0; i < n; ++i) sums[i] += known_sum(ratio, all[i], joint[i], alone[i]);
}

uint64_t match_levels(const uint8_t* codes, size_t levels, uint64_t* bits, size_t stride) {
    uint64_t known = equal_mask(codes, 0);
    for (size_t a = 1; a < levels; ++a) known |= bits[(a - 1) * stride] = equal_mask(codes, uint8_t(a));
    return ~known;
}

// Sixty-four columns become a mask for each level, which is where it belongs already: rows of bits need no
// transposition. `aligned`: the bits of a level begin at a word.
template <bool aligned>
bool pack_codes(const RowMajorCodes& of) {
    const size_t end = (of.n_rows - 1) * of.row_stride + of.n_columns;  // nothing is read from there on
    uint64_t unknown = 0;
    for (size_t row = 0; row < of.n_rows; ++row) {
        uint64_t words[block_words + 1] = {};
        for (size_t first = 0; first < of.n_columns; first += 64) {
            const size_t n = of.n_columns - first < 64 ? of.n_columns - first : 64;
            const size_t offset = row * of.row_stride + first;
            const uint8_t* codes = of.codes + offset;
            uint8_t copy[64] = {};
            if (offset + 64 > end) {
                std::memcpy(copy, codes, n);
                codes = copy;
            }
            const uint64_t used = n == 64 ? ~uint64_t(0) : (uint64_t(1) << n) - 1;
            uint64_t known = equal_mask(codes, 0);
            for (size_t a = 1; a < of.levels; ++a) {
                const uint64_t mask = equal_mask(codes, uint8_t(a));
                known |= mask;
                const size_t at = (a - 1) * of.width + first, shift = aligned ? 0 : at % 64;
                words[at / 64] |= (mask & used) << shift;
                if (!aligned && shift != 0) words[at / 64 + 1] |= (mask & used) >> (64 - shift);
            }
            unknown |= ~known & used;
        }
        std::memcpy(of.words + row * block_words, words, block_words * sizeof(uint64_t));
    }
    return unknown == 0;
}

bool pack_rows(const RowMajorCodes& of) {
    return of.width % 64 == 0 || of.levels == 2 ? pack_codes<true>(of) : pack_codes<false>(of);
}

// Exchanges the bits of `up` that are `shift` above those of `down`, for eight pairs of words.
template <int shift>
inline void exchange_bits(uint64_t mask, uint64_t* LABELSIEVE_RESTRICT up,
                          uint64_t* LABELSIEVE_RESTRICT down) {
    for (int i = 0; i < 8; ++i) {
        const uint64_t swapped = (up[i] >> shift ^ down[i]) & mask;
        up[i] ^= swapped << shift;
        down[i] ^= swapped;
    }
}

// Blocks of eight by eight bits inside, then as wholes. Words that are handled together lie next to each
// other: those of the same place in all blocks first, then those of a block.
void transpose(uint64_t* matrix) {
    alignas(64) uint64_t by_place[64];
    for (int block = 0; block < 8; ++block)
        for (int place = 0; place < 8; ++place) by_place[8 * place + block] = matrix[8 * block + place];
    for (int k = 0; k < 4; ++k)
        exchange_bits<4>(0x0F0F0F0F0F0F0F0Fu, by_place + 8 * k, by_place + 8 * (k + 4));
    for (int k = 0; k < 8; k = (k + 3) & ~2)
        exchange_bits<2>(0x3333333333333333u, by_place + 8 * k, by_place + 8 * (k + 2));
    for (int k = 0; k < 8; k += 2)
        exchange_bits<1>(0x5555555555555555u, by_place + 8 * k, by_place + 8 * (k + 1));
    for (int block = 0; block < 8; ++block)
        for (int place = 0; place < 8; ++place) matrix[8 * block + place] = by_place[8 * place + block];
    for (int k = 0; k < 4; ++k) exchange_bits<32>(0x00000000FFFFFFFFu, matrix + 8 * k, matrix + 8 * (k + 4));
    for (int k = 0; k < 8; k = (k + 3) & ~2)
        exchange_bits<16>(0x0000FFFF0000FFFFu, matrix + 8 * k, matrix + 8 * (k + 2));
    for (int k = 0; k < 8; k += 2)
        exchange_bits<8>(0x00FF00FF00FF00FFu, matrix + 8 * k, matrix + 8 * (k + 1));
}

// Four columns at a time: a sum is then loaded and stored once for four additions.
void add_squares(const double* columns, size_t pitch, const double* point, size_t n_columns, size_t n,
                 double* LABELSIEVE_RESTRICT sums) {
    size_t f = 0;
    for (; f + 4 <= n_columns; f += 4) {
        const double* LABELSIEVE_RESTRICT a = columns + f * pitch;
        const double* LABELSIEVE_RESTRICT b = a + pitch;
        const double* LABELSIEVE_RESTRICT c = b + pitch;
        const double* LABELSIEVE_RESTRICT d = c + pitch;
        const double at_a = point[f], at_b = point[f + 1], at_c = point[f + 2], at_d = point[f + 3];
        for (size_t i = 0; i < n; ++i) {
            const double to_a = at_a - a[i], to_b = at_b - b[i], to_c = at_c - c[i], to_d = at_d - d[i];
            sums[i] = (((sums[i] + to_a * to_a) + to_b * to_b) + to_c * to_c) + to_d * to_d;
        }
    }
    for (; f < n_columns; ++f) {
        const double* LABELSIEVE_RESTRICT a = columns + f * pitch;
        const double at_a = point[f];
        for (size_t i = 0; i < n; ++i) sums[i] += (at_a - a[i]) * (at_a - a[i]);
    }
}

void add_weighted(const double* from, double weight, size_t n, double* LABELSIEVE_RESTRICT to) {
    for (size_t i = 0; i < n; ++i) to[i] += weight * from[i];
}

void subtract_multiple(const Wide2& from, Double2 factor, size_t n, const Wide2& to) {
    const double *high = from.high, *low = from.low;
    double* LABELSIEVE_RESTRICT to_high = to.high;
    double* LABELSIEVE_RESTRICT to_low = to.low;
    for (size_t j = 0; j < n; ++j) {
        const Double2 left = Double2{to_high[j], to_low[j]} - Double2{high[j], low[j]} * factor;
        to_high[j] = left.high;
        to_low[j] = left.low;
    }
}

void divide(const Wide2& from, Double2 divisor, size_t n, const Wide2& to) {
    constexpr size_t together = 16;  // which may be read and written in place
    for (size_t start = 0; start < n; start += together) {
        const size_t end = start + together < n ? start + together : n;
        double high[together], low[together];
        for (size_t j = start; j < end; ++j) {
            high[j - start] = from.high[j];
            low[j - start] = from.low[j];
        }
        for (size_t j = end - start; j < together; ++j) high[j] = low[j] = 0;
        for (size_t j = 0; j < together; ++j) {
            const Double2 quotient = Double2{high[j], low[j]} / divisor;
            high[j] = quotient.high;
            low[j] = quotient.low;
        }
        for (size_t j = start; j < end; ++j) {
            to.high[j] = high[j - start];
            to.low[j] = low[j - start];
        }
    }
}

double score_cells(const CellScores& cells) {
    constexpr size_t lanes = 8;
    const double *predicted = cells.predicted, *weights = cells.weights, *truth = cells.truth,
                 *low = cells.low, *high = cells.high;
    double* LABELSIEVE_RESTRICT limited = cells.limited;
    double* LABELSIEVE_RESTRICT of_cells = cells.of_cells;
    double sums[lanes] = {};
    const auto score = [&](size_t i, size_t lane) {
        const double above = predicted[i] < low[i] ? low[i] : predicted[i];
        const double value = above < high[i] ? above : high[i];
        const double less = weights[i] * value * (2 * truth[i] - value);
        limited[i] = value;
        of_cells[i] += less;
        sums[lane] += less;
    };
    size_t i = 0;
    for (; i + lanes <= cells.n; i += lanes)
        for (size_t lane = 0; lane < lanes; ++lane) score(i + lane, lane);
    for (size_t lane = 0; i < cells.n; ++i, ++lane) score(i, lane);
    double sum = 0;
    for (const double lane : sums) sum += lane;
    return sum;
}

double dot(const double* a, const double* b, size_t n) {
    constexpr size_t lanes = 32;
    double sums[lanes] = {};
    size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (size_t lane = 0; lane < lanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    for (size_t lane = 0; i < n; ++i, ++lane) sums[lane] += a[i] * b[i];
    double sum = 0;
    for (const double lane : sums) sum += lane;
    return sum;
}

void least_of_lanes(const double* values, size_t n, double* LABELSIEVE_RESTRICT least) {
    for (size_t j = 0; j < 64; ++j) least[j] = std::numeric_limits<double>::infinity();
    size_t i = 0;
    for (; i + 64 <= n; i += 64)
        for (size_t j = 0; j < 64; ++j) least[j] = values[i + j] < least[j] ? values[i + j] : least[j];
    for (size_t j = 0; i + j < n; ++j) least[j] = values[i + j] < least[j] ? values[i + j] : least[j];
}

size_t find_up_to(const double* values, size_t n, double bound, row_t* found) {
    constexpr size_t together = 32;
    size_t n_found = 0, i = 0;
    for (; i + together <= n; i += together) {
        uint64_t near = 0;  // as wide as the values, so that the loop becomes vectors
        for (size_t j = 0; j < together; ++j) near |= uint64_t(values[i + j] <= bound);
        if (!near) continue;
        for (size_t j = 0; j < together; ++j) {
            found[n_found] = row_t(i + j);
            n_found += values[i + j] <= bound;
        }
    }
    for (; i < n; ++i) {
        found[n_found] = row_t(i);
        n_found += values[i] <= bound;
    }
    return n_found;
}

// Four references share every load of a point; eight running sums for each let the additions overlap.
void manhattan(const double* points, size_t n, size_t width, const double* references, size_t n_references,
               double* out) {
    constexpr size_t many = 4, running = 8;
    for (size_t j = 0; j < n; ++j, points += width) {
        double sums[many][running] = {};
        for (size_t c = 0; c < width; c += running)
            for (size_t r = 0; r < many; ++r)
                for (size_t l = 0; l < running; ++l) {
                    const double difference = points[c + l] - references[r * width + c + l];
                    sums[r][l] += std::fabs(difference);
                }
        for (size_t r = 0; r < n_references; ++r) {
            double sum = 0;
            for (size_t l = 0; l < running; ++l) sum += sums[r][l];
            out[r * n + j] = sum;
        }
    }
}

}  // namespace

extern const Kernels kernels;
const Kernels kernels = {
#define LABELSIEVE_STRING(x) #x
#define LABELSIEVE_NAME(x) LABELSIEVE_STRING(x)
    .name = LABELSIEVE_NAME(LABELSIEVE_ISA),
    .few_columns = few_columns,
    .add_rows = add_rows,
    .read_planes = read_planes,
    .count_common = count_common,
    .split_class = split_class<count_t>,
    .split_weighted_class = split_class<double>,
    .look_up = look_up,
    .add_terms = add_terms,
    .add_weights = add_weights<count_t>,
    .add_wide_weights = add_weights<double>,
    .bit_of_column = bit_of_column,
    .shrink_counts = shrink<count_t>,
    .shrink_weights = shrink<double>,
    .add_known = add_known,
    .match_levels = match_levels,
    .pack_rows = pack_rows,
    .transpose = transpose,
    .add_squares = add_squares,
    .add_weighted = add_weighted,
    .dot = dot,
    .add_products = add_products<false>,
    .subtract_products = add_products<true>,
    .add_listed = add_listed,
    .score_cells = score_cells,
    .move_gradient = move_gradient,
    .best_partner = best_partner,
    .least_of_lanes = least_of_lanes,
    .find_up_to = find_up_to,
    .grow_wide = grow<double>,
    .grow_single = grow<float>,
    .grow_narrow = grow<int16_t>,
    .grow_binary = grow<int8_t>,
    .manhattan = manhattan,
    .hamming = hamming<int16_t>,
    .hamming_wide = hamming<int32_t>,
    .two_nearest = two_nearest,
    .addition_gain = addition_gain,
    .exchange_changes = exchange_changes,
    .multiply_digits = multiply_digits<true>,
    .multiply_small = multiply_digits<false>,
    .add_masked = add_masked,
    .split_digits = split_digits,
    .split_rows = split_rows,
    .scan_numbers = scan_numbers,
    .scan_rows = scan_rows,
    .subtract_multiple = subtract_multiple,
    .divide = divide,
};

}  // namespace LABELSIEVE_ISA
}  // namespace labelsieve
