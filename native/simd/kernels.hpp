// The inner loops of counting, compiled once per instruction set from the same source (kernels.cpp).
//
// They are plain functions on plain memory: no allocation, no exceptions, no standard library, so that no
// code for a newer processor can leak into code that runs everywhere.
#pragma once

#include "common/double_double.hpp"
#include "common/types.hpp"

namespace labelsieve {

inline constexpr size_t block_bits = 512;               // one-hot columns that are counted together
inline constexpr size_t block_words = block_bits / 64;  // their bits of one row: one cache line
inline constexpr unsigned max_planes = 32;              // bits of a count
inline constexpr size_t stripe_bytes = 512;             // of the rows whose distances grow together
inline constexpr size_t most_nested = 64;               // neighbors that are kept while distances grow
inline constexpr size_t scanned_columns = 64;           // whose numbers in a row are read together
inline constexpr size_t digit_group = 32;               // rows whose digits lie together: see digits.hpp

// Columns of bits: column i begins at words + i * stride.
struct BitColumns {
    const uint64_t* words;
    size_t stride, size;
};

// Codes that lie row by row, as bytes, and the one-hot bits that they become: bit (a - 1) * width + i of the
// eight words of a row is set where column i has level a. Level 0 has no bits.
struct RowMajorCodes {
    const uint8_t* codes;  // of the first row and column; the columns of a row follow each other
    size_t row_stride, n_rows, n_columns, levels, width;
    uint64_t* words;  // out
};

// Cell (a, v) of candidate i is at [(a * given + v) * pitch + i] for levels a of the candidate and v of the
// column conditioned on. Cells with a = 0 or v = 0 follow from the others and the margins. A Count is a
// count_t or, for weights, a double that holds a whole number.
template <class Count>
struct ClassCells {
    const Count* counted;  // cells a >= 1, v >= 1: [(v - 1) * counted_pitch + (a - 1) * width + i]
    size_t counted_pitch;
    const Count* with_class;  // rows of the class with level a >= 1: [(a - 1) * width + i]
    size_t width;
    const Count* given_sizes;  // rows of the class at level v
    size_t levels, given, n_candidates;
    Count* cells;  // out
    size_t pitch;
    const Count* rest_in;  // what was left before this class
    size_t rest_pitch;
    Count* rest_out;  // out: rest_in less the cells, with `pitch`
};

// One step of a nested search: adds (point[f] - columns[f * pitch + i])^2 to sums[i], one column after the
// other, and keeps the `k` rows i < n_rows with the least sums other than `left_out`: nearest first in
// `squares` and `rows`, ties in order of rows, with space for one more than k. Returns their number; k is at
// most most_nested and the number of rows. Columns and sums are padded to stripes, with sums greater than
// that of any row; `low` has space for a line of each stripe.
template <class T>
struct GrowStep {
    const T* columns;
    size_t pitch;
    const T* point;
    size_t n_columns, n_rows, left_out, k;
    T *sums, *low, *squares;
    row_t* rows;
};

// Rows of a block whose weights are added up: the 512-bit words `words + 8 * row` of the listed rows, which
// weigh weights[row] * scale. In `words`, column c of the block is bit bit_of_column(c).
struct WeightedRows {
    const uint64_t* words;
    const row_t* rows;
    size_t size;
    size_t zero_row;  // a row without bits that weighs nothing: lists are filled up with it
    const uint32_t* weights;
    double scale;      // 1 for counts of 32 bits
    size_t n_columns;  // that are counted, rounded up to at most 512
};

// f(n) = n log n for weights, which are too large for a table. Only additions, multiplications and one
// division in double precision, in a fixed order, so every machine gets the same bits; the logarithms of 1 +
// i/4096 are handed in.
struct WeightedTerm {
    static constexpr size_t n_logs = 4096;
    const double* logs = nullptr;  // log(1 + i / 4096) for i < 4096, then log(2)
    double scale = 0;              // fixed point: 2^s, such that no term exceeds 2^52
    fixed_t penalty = 0;           // taken off every cell that is not empty (Miller and Madow's correction)

    fixed_t operator()(uint64_t n) const;
};

// The logarithm of a positive number, from the logarithms of WeightedTerm.
static inline double table_log(double n, const double* logs) {
    constexpr uint64_t one = 0x3FF0000000000000u, leading = 0x000FFF0000000000u,
                       fraction = 0x000FFFFFFFFFFFFFu;
    uint64_t bits;
    std::memcpy(&bits, &n, sizeof bits);
    const uint64_t mantissa_bits = one | (bits & fraction), center_bits = one | (bits & leading);
    double mantissa,
        center;  // n / 2^exponent, in [1, 2), and the largest 1 + i / 4096 that does not exceed it
    std::memcpy(&mantissa, &mantissa_bits, sizeof mantissa);
    std::memcpy(&center, &center_bits, sizeof center);
    const double exponent = double(int(bits >> 52) - 1023);
    const double r = (mantissa - center) / center;  // below 1/4096, so four terms of log(1 + r) are enough
    const double series = r * (1.0 - r * (0.5 - r * (1.0 / 3.0 - r * 0.25)));
    return exponent * logs[WeightedTerm::n_logs] + (logs[(bits & leading) >> 40] + series);
}

// The term of a whole number below 2^53.
static inline fixed_t weighted_term(const WeightedTerm& term, double n) {
    if (n == 0) return 0;
    const double log = table_log(n, term.logs);
    return fixed_t(n * log * term.scale + 0.5) - term.penalty;  // not negative: truncated is rounded down
}

// The search for the variable that weight is moved from, by sequential minimal optimization: see
// solver/simplex.hpp. Variable `to`, which receives it, has row_to, gradient_to and diagonal_to.
struct PairSearch {
    const double *gradient, *weights, *diagonal, *row_to;
    size_t n;
    double gradient_to, diagonal_to, least_curvature;
    double* promises;  // space for n numbers
};

// Rows of bits, eight together: word w of row i is at [(i / 8 * n_words + w) * 8 + i % 8].
struct BitLanes {
    const uint64_t* words;
    size_t n_words, n_blocks;
};

inline constexpr size_t medoid_block = 32;        // points that are handled together
inline constexpr size_t most_short_medoids = 16;  // medoids, so that one fits into a number with a distance
inline constexpr int16_t most_short_distance = 0x7fff >> 4;

// Points between which distances are at most `most_short_distance`, in blocks, with their nearest medoids.
// The sum of weights times that distance stays below 2^31; padding has weight 0.
struct MedoidPoints {
    size_t n;  // a multiple of the block
    const int16_t* weights;
    int16_t *first, *second;  // distances to the nearest and the second nearest medoid
    int16_t* of_medoid;       // weights of the points of medoid j: [(block * 16 + j) * 32 + point]
    uint32_t* present;        // of each block: the medoids that have points in it, as bits
};

// Whole tables of some features with a target and a given column: sums of entropies of their shrunk
// probabilities. Cell (a, v) of class b of candidate i is at [((b * levels + a) * given + v) * pitch + i].
//
// A probability is alpha + beta * count, with alpha and beta of the table, and one of a margin has alpha as
// often as it has cells. Entropies are sums of integers, in units of 2^-52.
template <class Count>
struct ShrunkTables {
    const Count* cells;
    size_t levels, given, classes, pitch;
    size_t n;               // candidates, a multiple of 8
    const double* factors;  // of the entropy of each set of variables: bit 0 the feature, 1 the target, 2 the
                            // given column
    double n_rows;          // what all rows count
    const double* logs;     // those of WeightedTerm
    double* work;           // space for shrunk_work() numbers
    fixed_t* sums;          // space for n numbers
    double* out;            // [i]: the sum of factors times entropies
};

static inline size_t shrunk_work(size_t levels, size_t given, size_t classes, size_t pitch) {
    return (levels * given * classes + levels + 7) * pitch;
}

// The table of a target with unknown cells, from sums over the cells of its known rows with and without the
// target: `ratio` (all rows by the known ones) times their difference, rounded, added to the table `all` of
// all rows without the target. Rounding is floor(x + 0.5), without a call.
static inline fixed_t known_sum(double ratio, fixed_t all, fixed_t joint, fixed_t alone) {
    const double scaled = double(joint - alone) * ratio + 0.5;
    const fixed_t truncated = fixed_t(scaled);
    return all + truncated - fixed_t(double(truncated) > scaled);
}

// out[r * out_pitch + j] changes by the sum over k < depth of factors[r * factor_pitch + k * factor_step] *
// rows[k * pitch + j], one k after the other. Rows and columns of `out` are multiples of 8.
struct ProductBlock {
    const double* factors;
    size_t factor_pitch, factor_step;
    const double* rows;
    size_t pitch, depth;
    double* out;
    size_t out_pitch, n_rows, n_columns;
};
inline constexpr size_t product_block = 8;

// Predictions of n cells are limited; what each takes off the weighted squared error of a prediction of 0 is
// added to `of_cells`.
struct CellScores {
    const double *predicted, *weights, *truth, *low, *high;
    size_t n;
    double *limited, *of_cells;
};

// How numbers become whole numbers of 24 bits: round(x * factor * more) - shift, and `fill` where x is
// missing. The factor is a power of two, in two parts because one may be beyond the largest number.
struct DigitScale {
    double factor, more, shift, fill;
};

// The same for 64 columns.
struct DigitScales {
    double factor[scanned_columns], more[scanned_columns], shift[scanned_columns], fill[scanned_columns];
};

// What is known of a column after a look at its values.
struct NumberScan {
    static constexpr size_t together = 16;
    double low, high;
    size_t n_missing, n_zeros;
};

// The same of 64 neighboring columns.
struct ColumnScan {
    double *low, *high, *n_missing, *n_zeros;
};

struct Kernels {
    const char* name;

    // From `python -m benchmarks.strategies`: with fewer one-hot columns than this, intersecting columns of
    // bits beats adding rows. It depends on how the instruction set counts bits.
    size_t few_columns;

    // Adds the 512-bit words `words + 8 * row` of the listed rows into `planes`, which hold 512 binary
    // counters: plane p has bit p of each. `n` is a multiple of 16, and 2^n_planes exceeds every sum.
    void (*add_rows)(const uint64_t* words, const row_t* rows, size_t n, uint64_t* planes, unsigned n_planes);

    // Turns `n_planes` planes into 512 integers.
    void (*read_planes)(const uint64_t* planes, unsigned n_planes, count_t* counts);

    // counts[r * stride + l] += popcount(left[l] & right[r]) over `n_words` words.
    void (*count_common)(const BitColumns& left, const BitColumns& right, size_t n_words, count_t* counts,
                         size_t stride);

    // The cells of one class of the target for some candidates, and what they leave for the other classes.
    void (*split_class)(const ClassCells<count_t>& of_class);
    void (*split_weighted_class)(const ClassCells<double>& of_class);

    // sums[i] += sum over cells c of table[cells[c * pitch + i]]; n is a multiple of 4.
    void (*look_up)(const count_t* cells, size_t n_cells, size_t pitch, size_t n, const fixed_t* table,
                    fixed_t* sums);

    // The same for weights: sums[i] += sum over cells c of weighted_term(cells[c * pitch + i]); n is a
    // multiple of 8.
    void (*add_terms)(const double* cells, size_t n_cells, size_t pitch, size_t n, const WeightedTerm& term,
                      fixed_t* sums);

    // counts[c] += the weights of the rows in which column c is set. Weights are below 2^29 for doubles, and
    // add up to less than 2^32 for counts of 32 bits.
    void (*add_weights)(const WeightedRows& rows, count_t* counts);
    void (*add_wide_weights)(const WeightedRows& rows, double* counts);
    size_t (*bit_of_column)(size_t column);

    // See ShrunkTables.
    void (*shrink_counts)(const ShrunkTables<count_t>& tables);
    void (*shrink_weights)(const ShrunkTables<double>& tables);

    // sums[i] += all[i] + floor((joint[i] - alone[i]) * ratio + 0.5): see known_sum.
    void (*add_known)(const fixed_t* all, const fixed_t* joint, const fixed_t* alone, double ratio, size_t n,
                      fixed_t* sums);

    // bits[a - 1] = the 64-bit mask of codes equal to a, for a = 1 .. levels - 1, of 64 byte codes. Returns
    // the mask of the codes that are none of 0 .. levels - 1.
    uint64_t (*match_levels)(const uint8_t* codes, size_t levels, uint64_t* bits, size_t stride);

    // Packs codes of at most 512 / (levels - 1) columns. Returns false when a code is not below `levels`.
    bool (*pack_rows)(const RowMajorCodes& codes);

    // Transposes a 64 x 64 bit matrix in place: bit j of word i becomes bit i of word j.
    void (*transpose)(uint64_t* matrix);

    // sums[i] += (point[f] - columns[f * pitch + i])^2, one column f after the other, so that the order of
    // addition is theirs.
    void (*add_squares)(const double* columns, size_t pitch, const double* point, size_t n_columns, size_t n,
                        double* sums);

    // to[i] += weight * from[i].
    void (*add_weighted)(const double* from, double weight, size_t n, double* to);

    // The sum of a[i] * b[i]. Terms are dealt to 32 lanes, so that all processors add them in the same order.
    double (*dot)(const double* a, const double* b, size_t n);

    // See ProductBlock.
    void (*add_products)(const ProductBlock& block);
    void (*subtract_products)(const ProductBlock& block);

    // sums[j] += the sum of table[row * pitch + j] over n rows, in their order; n_columns is a multiple of 8.
    void (*add_listed)(const row_t* rows, size_t n, const double* table, size_t pitch, size_t n_columns,
                       double* sums);

    // See CellScores; returns the sum of what is added.
    double (*score_cells)(const CellScores& cells);

    // gradient[i] += weight * (up[i] - down[i]). Returns the first variable with the lowest gradient.
    size_t (*move_gradient)(const double* up, const double* down, double weight, size_t n, double* gradient);

    // The first variable with weight and a higher gradient whose second-order gain is largest, or n; highest:
    // the highest gradient of those with weight.
    size_t (*best_partner)(const PairSearch& search, double* highest);

    // least[j] = the least of the values[i] with i % 64 = j, or infinity when there is none.
    void (*least_of_lanes)(const double* values, size_t n, double* least);

    // The i < n with values[i] <= bound, ascending. Returns how many there are; `found` has space for n.
    size_t (*find_up_to)(const double* values, size_t n, double bound, row_t* found);

    // See GrowStep. The single form takes numbers of single precision, the narrow one integers whose sums of
    // squares fit into two bytes, and the binary one zeros and ones whose sums fit into one.
    size_t (*grow_wide)(const GrowStep<double>& step);
    size_t (*grow_single)(const GrowStep<float>& step);
    size_t (*grow_narrow)(const GrowStep<int16_t>& step);
    size_t (*grow_binary)(const GrowStep<int8_t>& step);

    // out[r * n + j] = sum of |points[j * width + c] - references[r * width + c]| over c, for the first
    // `n_references` of the four rows in `references`; width is a multiple of 8. The values are whole
    // numbers, so that sums are exact in any order.
    void (*manhattan)(const double* points, size_t n, size_t width, const double* references,
                      size_t n_references, double* out);

    // out[r * pitch + i] = number of bits in which row r of `rows`, `n_words` words each, and point i differ.
    void (*hamming)(const BitLanes& points, const uint64_t* rows, size_t n_rows, int16_t* out, size_t pitch);
    void (*hamming_wide)(const BitLanes& points, const uint64_t* rows, size_t n_rows, int32_t* out,
                         size_t pitch);

    // Sets all but the weights, from the distances of each medoid to the points. Returns the sum of weights
    // times distances to the nearest medoid; removal[j]: what it grows by without medoid j.
    int64_t (*two_nearest)(const MedoidPoints& points, const int16_t* const* distances, size_t n_medoids,
                           int64_t* removal);

    // What the deviation falls by with one more medoid, and what changes[j] + removal[j] it changes by when a
    // point replaces medoid j.
    int64_t (*addition_gain)(const MedoidPoints& points, const int16_t* distances);
    void (*exchange_changes)(const MedoidPoints& points, const int16_t* distances, size_t n_medoids,
                             int64_t* changes);

    // Exact sums of products of 1 or 4 columns with 1 or 2 vectors over groups of 32 rows, at most 4,096
    // rows: sums[c * n_vectors + v] += ... The vectors have digits as the columns, or (small) low digits
    // alone.
    void (*multiply_digits)(const int16_t* const* columns, size_t n_columns, const int16_t* const* vectors,
                            size_t n_vectors, size_t n_groups, int64_t* sums);
    void (*multiply_small)(const int16_t* const* columns, size_t n_columns, const int16_t* const* vectors,
                           size_t n_vectors, size_t n_groups, int64_t* sums);

    // sums[v] += values[i] where bit v of row rows[i] is set, for i < n and 64 * n_words bits; values have at
    // most 24 bits.
    void (*add_masked)(const row_t* rows, const int32_t* values, size_t n, const uint64_t* bits,
                       size_t n_words, int64_t* sums);

    // The digits of n numbers, a multiple of 32; and of up to 32 rows of 64 columns, 64 digits for each.
    void (*split_digits)(const double* values, size_t n, const DigitScale& scale, int16_t* digits);
    void (*split_rows)(const double* values, size_t pitch, size_t n_rows, const DigitScales& scales,
                       int16_t* digits);

    // Updates a scan with more values; and the scans of 64 columns with their numbers in some rows.
    void (*scan_numbers)(const double* values, size_t n, NumberScan& scan);
    void (*scan_rows)(const double* values, size_t pitch, size_t n_rows, const ColumnScan& scan);

    // to[j] -= from[j] * factor, and to[j] = from[j] / divisor, in numbers of 106 bits.
    void (*subtract_multiple)(const Wide2& from, Double2 factor, size_t n, const Wide2& to);
    void (*divide)(const Wide2& from, Double2 divisor, size_t n, const Wide2& to);
};

// The kernels for the processor that this runs on, selected once.
const Kernels& kernels();

}  // namespace labelsieve
