// Compressed sparse lists: a matrix by rows (CSR) or by columns (CSC), or lists of indices without values.
//
// One view for all of them, and the one check of arrays that come from outside. Nothing is copied.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "common/types.hpp"

namespace labelsieve {

struct NoValues {};

template <class Index, class Value = NoValues>
struct CsrView {
    std::span<const int64_t> starts;  // of every list, and the end of the last
    std::span<const Index> indices = {};
    std::span<const Value> values = {};  // parallel to the indices

    size_t size() const { return starts.size() - 1; }  // number of lists
    size_t start(size_t list) const { return size_t(starts[list]); }
    size_t length(size_t list) const { return size_t(starts[list + 1] - starts[list]); }
    std::span<const Index> operator[](size_t list) const {
        return {indices.data() + starts[list], length(list)};
    }
    std::span<const Value> values_of(size_t list) const {
        return {values.data() + starts[list], length(list)};
    }
};

// Throws std::invalid_argument unless the starts rise from 0 to `n_entries`.
inline void check_starts(std::span<const int64_t> starts, size_t n_entries) {
    if (starts.empty() || starts.front() != 0 || std::cmp_not_equal(starts.back(), n_entries))
        throw std::invalid_argument("starts must span the lists: from 0 to the number of entries");
    if (!std::is_sorted(starts.begin(), starts.end())) throw std::invalid_argument("starts must not fall");
}

// Throws std::invalid_argument unless all indices are below `limit`; `hint` ends the message.
template <class Index>
void check_limit(std::span<const Index> indices, size_t limit, const char* hint = "") {
    // A negative index is beyond the largest positive one without its sign.
    using Unsigned = std::make_unsigned_t<Index>;
    limit = std::min(limit, size_t(std::numeric_limits<Index>::max()) + 1);
    Unsigned largest = 0;
    for (const Index index : indices) largest = std::max(largest, Unsigned(index));
    if (!indices.empty() && largest >= limit)
        throw std::invalid_argument("indices must stay below their limit of " + std::to_string(limit) + hint);
}

enum class Order : uint8_t { any, rising };

// The view, once its starts span the entries and its indices are below `limit` and, where `order` says so,
// rise within each list. Else throws std::invalid_argument; `hint` ends the message.
template <class Index, class Value>
CsrView<Index, Value> checked(CsrView<Index, Value> view, size_t limit, Order order, const char* hint = "") {
    if (!std::is_same_v<Value, NoValues> && view.values.size() != view.indices.size())
        throw std::invalid_argument("as many values as indices");
    check_starts(view.starts, view.indices.size());
    check_limit(view.indices, limit, hint);
    if (order == Order::any) return view;
    // Steps that do not rise must all lie between lists: counted over all entries at once, then where lists
    // begin.
    const Index* indices = view.indices.data();
    const auto falls = [&](size_t i) { return size_t(indices[i - 1] >= indices[i]); };
    size_t n_falls = 0;
    for (size_t i = 1; i < view.indices.size(); ++i) n_falls += falls(i);
    for (size_t list = 1; list < view.size(); ++list)
        if (view.start(list) > 0 && view.length(list) > 0) n_falls -= falls(view.start(list));
    if (n_falls != 0) throw std::invalid_argument(std::string("indices must rise within a list") + hint);
    return view;
}

}  // namespace labelsieve
