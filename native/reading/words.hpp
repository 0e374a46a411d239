// The distinct words of a column of text, numbered in the order in which they occur.
#pragma once

#include <span>
#include <vector>

#include "common/types.hpp"

namespace labelsieve {

// Word i is data[starts[i]] up to data[starts[i + 1]], as in a column of Arrow.
template <class Start>
struct Words {
    std::span<const uint8_t> data;
    std::span<const Start> starts;   // one more than words
    std::span<const uint8_t> known;  // 0 for a word that is missing; none: all are known
};

// codes[i] = the number of word i, or -1 if it is missing; returns the row in which every number occurs
// first. Stops when there are more than `most` distinct words: then one more row than that is returned, and
// the other codes are not set. Throws std::invalid_argument if the starts fall or lie outside of the data.
//
// Up to sixteen bytes are compared as two integers, so a short word costs two multiplications and a look at a
// table that stays in the first cache while the words are few. For int32_t and int64_t.
template <class Start>
std::vector<int64_t> distinct_words(const Words<Start>& words, size_t most, int32_t* codes);

}  // namespace labelsieve
