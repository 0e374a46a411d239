// One step of a nested search: distances grow by a column, and the nearest rows are kept. Included by kernels.cpp alone.
//
// Rows are taken in stripes of eight lines of 64 bytes. Sums that overflow, and those of padding, are the greatest there are.
#pragma once

#include <bit>
#include <limits>

#include "kernels.hpp"
#include "vector.hpp"

namespace labelsieve {
namespace {

template <class T>
inline constexpr std::size_t in_line = 64 / sizeof(T);
// What no sum exceeds. Squares of huge numbers overflow to infinity, and such rows are neighbours too if there are no others.
template <class T>
inline constexpr T greatest = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();

#if defined(__GNUC__) || defined(__clang__)

typedef double wide_vector __attribute__((vector_size(vector_bytes), may_alias, aligned(8)));
typedef std::int16_t narrow_vector __attribute__((vector_size(vector_bytes), may_alias, aligned(2)));
template <class T>
struct VectorOf;
template <>
struct VectorOf<double> {
    using type = wide_vector;
};
template <>
struct VectorOf<std::int16_t> {
    using type = narrow_vector;
};

// As many numbers as a machine word holds.
template <class T>
struct Numbers {
    static constexpr std::size_t many = vector_bytes / sizeof(T);
    using vector = typename VectorOf<T>::type;
    vector values;
    static Numbers load(const T* from) { return {*reinterpret_cast<const vector*>(from)}; }
    void store(T* to) const { *reinterpret_cast<vector*>(to) = values; }
    void add_square(const Numbers& column, T at) {
        const vector far = column.values - at;
        values += far * far;
    }
    void keep_least(const Numbers& other) { values = other.values < values ? other.values : values; }
};

#else

template <class T>
struct Numbers {
    static constexpr std::size_t many = 1;
    T values;
    static Numbers load(const T* from) { return {*from}; }
    void store(T* to) const { *to = values; }
    void add_square(const Numbers& column, T at) {
        const T far = T(column.values - at);
        values = T(values + T(far * far));
    }
    void keep_least(const Numbers& other) { values = other.values < values ? other.values : values; }
};

#endif

// Bit i is set where values[i] <= limit, for one line.
inline std::uint32_t up_to(const double* values, double limit) {
#if defined(__AVX512F__)
    return _mm512_cmp_pd_mask(_mm512_loadu_pd(values), _mm512_set1_pd(limit), _CMP_LE_OQ);
#elif defined(LABELSIEVE_X86)
    const __m128d most = _mm_set1_pd(limit);
    std::uint32_t mask = 0;
    for (int part = 0; part < 4; ++part)
        mask |= std::uint32_t(_mm_movemask_pd(_mm_cmple_pd(_mm_loadu_pd(values + 2 * part), most))) << (2 * part);
    return mask;
#else
    std::uint32_t mask = 0;
    for (unsigned i = 0; i < in_line<double>; ++i) mask |= std::uint32_t(values[i] <= limit) << i;
    return mask;
#endif
}
inline std::uint32_t up_to(const std::int16_t* values, std::int16_t limit) {
#if defined(__AVX512BW__)
    return _mm512_cmple_epi16_mask(_mm512_loadu_si512(values), _mm512_set1_epi16(limit));
#elif defined(LABELSIEVE_X86)
    const __m128i most = _mm_set1_epi16(limit);
    std::uint32_t beyond = 0;
    for (int half = 0; half < 2; ++half) {
        const auto* from = reinterpret_cast<const __m128i*>(values + 16 * half);
        const __m128i low = _mm_cmpgt_epi16(_mm_loadu_si128(from), most), high = _mm_cmpgt_epi16(_mm_loadu_si128(from + 1), most);
        beyond |= std::uint32_t(_mm_movemask_epi8(_mm_packs_epi16(low, high))) << (16 * half);
    }
    return ~beyond;
#else
    std::uint32_t mask = 0;
    for (unsigned i = 0; i < in_line<std::int16_t>; ++i) mask |= std::uint32_t(values[i] <= limit) << i;
    return mask;
#endif
}

// The largest number below a sum of squares.
inline double below(double sum) { return sum > 0 ? std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) - 1) : -1.0; }
inline std::int16_t below(std::int16_t sum) { return std::int16_t(sum - 1); }

// How many of the values in whole lines are at most `limit`.
template <class T>
inline std::size_t count_up_to(const T* values, std::size_t n, T limit) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; i += in_line<T>) count += std::size_t(std::popcount(up_to(values + i, limit)));
    return count;
}

// The value that comes after `k` others when they are sorted; n > k, in whole lines. No branch depends on the values: they are
// chance to the processor, and guessing wrong costs more than looking at all of them.
template <class T>
inline T value_at_rank(const T* values, std::size_t n, std::size_t k) {
    T found = greatest<T>;
    for (std::size_t i = 0; i < n; ++i) {
        const bool after = count_up_to(values, n, values[i]) > k;
        found = after && values[i] < found ? values[i] : found;
    }
    return found;
}

// Rows that may be among the nearest, in their order.
template <class T>
class Candidates {
  public:
    explicit Candidates(std::size_t k) : k_(k), many_(k < 13 ? 24 : 2 * k) {}

    std::size_t size() const { return n_; }
    bool many() const { return n_ > many_; }

    // Rows `first` and after it, those whose bits are set. Most often there are one or two.
    void add(const T* sums, std::size_t first, std::uint64_t mask) {
        const std::size_t count = std::size_t(std::popcount(mask));
        put(n_, sums, first, mask);
        put(n_ + 1, sums, first, mask & (mask - 1));
        if (count > 2) {
            std::uint64_t rest = mask & (mask - 1);
            for (std::size_t place = n_ + 1; rest; rest &= rest - 1) put(place++, sums, first, rest);
        }
        n_ += count;
    }

    // Sorts by sums, of those that tie the first row first, and keeps k; says the last sum. The place of each is how many come
    // before it. There is room for one more than k at the end, where the others go.
    T keep_nearest(T* squares, row_t* rows) {
        constexpr std::size_t wide = in_line<T>;
        const std::size_t end = (n_ + wide - 1) / wide * wide;
        for (std::size_t i = n_; i < end; ++i) sums_[i] = greatest<T>;
        for (std::size_t i = 0; i < n_; ++i) {
            const T sum = sums_[i], less = below(sum);
            // Before it come those that are less and, of those in front of it, those that tie: all in earlier lines, some in its own.
            const std::size_t own = i / wide * wide;
            std::size_t place = 0;
            for (std::size_t line = 0; line < end; line += wide)
                place += std::size_t(std::popcount(up_to(sums_ + line, line < own ? sum : less)));
            const std::uint32_t ties = up_to(sums_ + own, sum) & ~up_to(sums_ + own, less);
            place += std::size_t(std::popcount(ties & ((std::uint32_t(1) << (i - own)) - 1)));
            place = place < k_ ? place : k_;
            squares[place] = sum;
            rows[place] = rows_[i];
        }
        n_ = n_ < k_ ? n_ : k_;
        for (std::size_t i = 0; i < n_; ++i) {
            sums_[i] = squares[i];
            rows_[i] = rows[i];
        }
        return sums_[n_ - 1];
    }

  private:
    void put(std::size_t place, const T* sums, std::size_t first, std::uint64_t mask) {
        const std::size_t bit = std::size_t(std::countr_zero(mask)) & 63;  // of no bit the first: it is not counted then
        sums_[place] = sums[first + bit];
        rows_[place] = row_t(first + bit);
    }

    std::size_t k_, many_, n_ = 0;
    alignas(64) T sums_[2 * most_nested + 128];  // room for 64 rows more than are many
    row_t rows_[2 * most_nested + 128];
};

// sums += (column - at)^2 over whole stripes. A stripe is eight lines: low has the least of each lane of every stripe; least has
// the least of all rows that are dealt to its n_least lanes.
template <class T>
inline void grow_sums(const T* column, T at, std::size_t n, T* sums, T* low, T* least, std::size_t n_least) {
    constexpr std::size_t stripe = stripe_bytes / sizeof(T), wide = in_line<T>;
    for (std::size_t i = 0; i < n_least; ++i) least[i] = greatest<T>;
    for (std::size_t start = 0, lane = 0; start < n; start += stripe, low += wide, lane = lane + wide == n_least ? 0 : lane + wide)
        for (std::size_t part = 0; part < wide; part += Numbers<T>::many) {
            auto own = Numbers<T>::load(sums + start + part);
            own.add_square(Numbers<T>::load(column + start + part), at);
            own.store(sums + start + part);
            for (std::size_t i = start + part + wide; i < start + stripe; i += wide) {
                auto sum = Numbers<T>::load(sums + i);
                sum.add_square(Numbers<T>::load(column + i), at);
                sum.store(sums + i);
                own.keep_least(sum);
            }
            own.store(low + part);
            own.keep_least(Numbers<T>::load(least + lane + part));
            own.store(least + lane + part);
        }
}

// See Kernels::grow_wide.
template <class T>
std::size_t grow(const T* columns, std::size_t pitch, const T* point, std::size_t n_columns, std::size_t n, std::size_t left_out,
                 std::size_t k, T* sums, T* low, T* squares, row_t* rows) {
    constexpr std::size_t stripe = stripe_bytes / sizeof(T), wide = in_line<T>;
    const std::size_t padded = (n + stripe - 1) / stripe * stripe;
    for (; n_columns > 1; --n_columns, columns += pitch, ++point)
        for (std::size_t i = 0; i < padded; i += Numbers<T>::many) {
            auto sum = Numbers<T>::load(sums + i);
            sum.add_square(Numbers<T>::load(columns + i), *point);
            sum.store(sums + i);
        }
    // The rows are dealt to lanes. The k least of the lanes are k rows, so the last of them bounds the k-th sum, and with a few
    // more lanes hardly another row is as near. One more than k, since one may be the row left out.
    alignas(64) T least[2 * most_nested];
    const std::size_t lanes = k < 11 ? 16 : k < 22 ? 32 : k < 43 ? 64 : 2 * most_nested, n_least = lanes < wide ? wide : lanes;
    grow_sums(columns, *point, padded, sums, low, least, n_least);
    T limit = value_at_rank(least, n_least, k);
    Candidates<T> near(k);
    for (std::size_t start = 0; start < padded; start += stripe, low += wide) {
        if (!up_to(low, limit)) continue;
        for (std::size_t group = start; group < start + stripe; group += 64) {
            std::uint64_t mask = 0;
            for (std::size_t i = 0; i < 64; i += wide) mask |= std::uint64_t(up_to(sums + group + i, limit)) << i;
            if (left_out - group < 64) mask &= ~(std::uint64_t(1) << (left_out - group));
            if (n - group < 64) mask &= (std::uint64_t(1) << (n - group)) - 1;
            if (!mask || group >= n) continue;
            near.add(sums, group, mask);
            if (near.many()) limit = below(near.keep_nearest(squares, rows));  // a later row must be nearer than the last of these
        }
    }
    near.keep_nearest(squares, rows);
    return near.size();
}

}  // namespace
}  // namespace labelsieve
