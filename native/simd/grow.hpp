// One step of a nested search: distances grow by a column, and the nearest rows are kept. Included by
// kernels.cpp alone.
//
// Rows are taken in stripes of eight lines of 64 bytes. Sums that overflow, and those of padding, are the
// greatest there are.
#pragma once

#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

namespace labelsieve {
namespace {

// Rows that may be among the nearest, in their order.
template <class T>
class Candidates {
  public:
    explicit Candidates(size_t k) : k_(k), many_(k < 13 ? 24 : 2 * k) {}

    size_t size() const { return n_; }
    bool many() const { return n_ > many_; }

    // Rows `first` and after it, those whose bits are set. Most often there are one or two.
    void add(const T* sums, size_t first, uint64_t mask) {
        const size_t count = size_t(std::popcount(mask));
        put(n_, sums, first, mask);
        put(n_ + 1, sums, first, mask & (mask - 1));
        if (count > 2) {
            uint64_t rest = mask & (mask - 1);
            for (size_t rank = n_ + 1; rest; rest &= rest - 1) put(rank++, sums, first, rest);
        }
        n_ += count;
    }

    // Sorts by sums, of those that tie the first row first, and keeps k; returns the last sum. The rank of
    // each is how many come before it. The output has one entry more than k, where the others go.
    T keep_nearest(T* squares, row_t* rows) {
        constexpr size_t wide = in_line<T>;
        const size_t end = (n_ + wide - 1) / wide * wide;
        for (size_t i = n_; i < end; ++i) sums_[i] = greatest<T>;
        for (size_t i = 0; i < n_; ++i) {
            const T sum = sums_[i], less = below(sum);
            // Before it come those that are less and, of those in front of it, those that tie: all in earlier
            // lines, some in the same line.
            const size_t line_start = i / wide * wide;
            size_t rank = 0;
            for (size_t line = 0; line < end; line += wide)
                rank += size_t(std::popcount(up_to(sums_ + line, line < line_start ? sum : less)));
            const uint64_t ties = up_to(sums_ + line_start, sum) & ~up_to(sums_ + line_start, less);
            rank += size_t(std::popcount(ties & ((uint64_t(1) << (i - line_start)) - 1)));
            rank = rank < k_ ? rank : k_;
            squares[rank] = sum;
            rows[rank] = rows_[i];
        }
        n_ = n_ < k_ ? n_ : k_;
        for (size_t i = 0; i < n_; ++i) {
            sums_[i] = squares[i];
            rows_[i] = rows[i];
        }
        return sums_[n_ - 1];
    }

  private:
    void put(size_t rank, const T* sums, size_t first, uint64_t mask) {
        const size_t bit =
            size_t(std::countr_zero(mask)) & 63;  // of no bit the first: it is not counted then
        sums_[rank] = sums[first + bit];
        rows_[rank] = row_t(first + bit);
    }

    size_t k_, many_, n_ = 0;
    alignas(64) T sums_[2 * most_nested + 128];  // space for 64 rows more than are many
    row_t rows_[2 * most_nested + 128];
};

// sums += (column - at)^2 over whole stripes. A stripe is eight lines: low has the least of each lane of
// every stripe; least has the least of all rows that are dealt to its n_least lanes.
template <class T>
inline void grow_sums(const T* column, T at, size_t n, T* sums, T* low, T* least, size_t n_least) {
    constexpr size_t stripe = stripe_bytes / sizeof(T), wide = in_line<T>;
    for (size_t i = 0; i < n_least; ++i) least[i] = greatest<T>;
    for (size_t start = 0, lane = 0; start < n;
         start += stripe, low += wide, lane = lane + wide == n_least ? 0 : lane + wide)
        for (size_t part = 0; part < wide; part += Lanes<T>::width) {
            auto lowest = Lanes<T>::load(sums + start + part);
            lowest.add_square(Lanes<T>::load(column + start + part), at);
            lowest.store(sums + start + part);
            for (size_t i = start + part + wide; i < start + stripe; i += wide) {
                auto sum = Lanes<T>::load(sums + i);
                sum.add_square(Lanes<T>::load(column + i), at);
                sum.store(sums + i);
                lowest.keep_least(sum);
            }
            lowest.store(low + part);
            lowest.keep_least(Lanes<T>::load(least + lane + part));
            lowest.store(least + lane + part);
        }
}

// See GrowStep.
template <class T>
size_t grow(const GrowStep<T>& step) {
    constexpr size_t stripe = stripe_bytes / sizeof(T), wide = in_line<T>;
    // Copies: a store to sums of one byte could change the fields of `step`, for all that the compiler knows.
    const size_t n = step.n_rows, k = step.k, left_out = step.left_out;
    const T *columns = step.columns, *point = step.point;
    T *sums = step.sums, *low = step.low, *squares = step.squares;
    row_t* rows = step.rows;
    const size_t padded = (n + stripe - 1) / stripe * stripe;
    size_t left = step.n_columns;
    // Four columns at a time, so that sums are loaded and stored once for them.
    for (; left > 4; left -= 4, columns += 4 * step.pitch, point += 4)
        for (size_t i = 0; i < padded; i += Lanes<T>::width) {
            auto sum = Lanes<T>::load(sums + i);
            for (size_t c = 0; c < 4; ++c)
                sum.add_square(Lanes<T>::load(columns + c * step.pitch + i), point[c]);
            sum.store(sums + i);
        }
    for (; left > 1; --left, columns += step.pitch, ++point)
        for (size_t i = 0; i < padded; i += Lanes<T>::width) {
            auto sum = Lanes<T>::load(sums + i);
            sum.add_square(Lanes<T>::load(columns + i), *point);
            sum.store(sums + i);
        }
    // The rows are dealt to lanes. The k least of the lanes are k rows, so the last of them bounds the k-th
    // sum, and with a few more lanes hardly another row is as near. One more than k, since one may be the row
    // left out.
    alignas(64) T least[2 * most_nested];
    const size_t lanes = k < 11 ? 16 : k < 22 ? 32 : k < 43 ? 64 : 2 * most_nested;
    const size_t n_least = lanes < wide ? wide : lanes;
    grow_sums(columns, *point, padded, sums, low, least, n_least);
    T limit = value_at_rank(least, n_least, k);
    Candidates<T> near(k);
    for (size_t first = 0; first < padded; first += 64 * stripe, low += 64 * wide) {
        const size_t n_stripes = (padded - first) / stripe < 64 ? (padded - first) / stripe : 64;
        for (uint64_t stripes = lines_up_to(low, n_stripes, limit); stripes;) {  // those that have such rows
            const size_t start = first + size_t(std::countr_zero(stripes)) * stripe;
            stripes &= stripes - 1;
            for (size_t group = start; group < start + stripe; group += 64) {
                uint64_t mask = 0;
                for (size_t i = 0; i < 64; i += wide) mask |= up_to(sums + group + i, limit) << i;
                if (left_out - group < 64) mask &= ~(uint64_t(1) << (left_out - group));
                if (group + 64 > n) mask &= group < n ? (uint64_t(1) << (n - group)) - 1 : 0;
                if (stripe > 64 && !mask) continue;  // of several groups most have none
                near.add(sums, group, mask);
                if (!near.many()) continue;
                // A later row must be nearer than the last of these.
                limit = below(near.keep_nearest(squares, rows));
                stripes &= lines_up_to(low, n_stripes, limit);
            }
        }
    }
    near.keep_nearest(squares, rows);
    return near.size();
}

}  // namespace
}  // namespace labelsieve
