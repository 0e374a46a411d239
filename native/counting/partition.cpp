#include "counting/partition.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace labelsieve {

template <class Level>
void group_rows(std::span<const row_t> inner_rows, const uint32_t* inner, const Level* outer, size_t n_outer,
                Partition& out) {
    // A stable counting sort by the outer variable keeps the order of the inner one.
    std::vector<size_t> next(n_outer + 1, 0);
    for (const row_t row : inner_rows) ++next[outer[row] + 1];
    for (size_t level = 0; level < n_outer; ++level) next[level + 1] += next[level];
    std::vector<row_t> sorted(inner_rows.size());
    for (const row_t row : inner_rows) sorted[next[outer[row]]++] = row;

    out.clear();
    out.rows.reserve(sorted.size());
    for (size_t start = 0, stop; start < sorted.size(); start = stop) {
        const row_t first = sorted[start];
        for (stop = start + 1; stop < sorted.size(); ++stop)
            if (outer[sorted[stop]] != outer[first] || inner[sorted[stop]] != inner[first]) break;
        if (stop - start == 1) {
            out.singletons.push_back(first);
            continue;
        }
        out.rows.insert(out.rows.end(), sorted.begin() + ptrdiff_t(start), sorted.begin() + ptrdiff_t(stop));
        out.starts.push_back(out.rows.size());
    }
}

template void group_rows(std::span<const row_t>, const uint32_t*, const uint8_t*, size_t, Partition&);
template void group_rows(std::span<const row_t>, const uint32_t*, const uint32_t*, size_t, Partition&);

void add_split(std::span<const row_t> rows, const uint8_t* levels, size_t n_levels, Partition& out) {
    constexpr size_t most = 256;
    if (rows.size() == 1) return out.singletons.push_back(rows.front());
    size_t next[most + 1];
    std::fill_n(next, n_levels + 1, size_t(0));  // values of the inner variable may have a few rows only
    for (const row_t row : rows) ++next[levels[row] + 1];
    // Groups of one row go behind the others, and from there to their own list.
    const size_t before = out.rows.size();
    size_t end = before, n_single = 0;
    for (size_t level = 0; level < n_levels; ++level) n_single += next[level + 1] == 1;
    size_t single = before + rows.size() - n_single;
    for (size_t level = 0; level < n_levels; ++level) {
        const size_t n = next[level + 1];
        next[level] = n == 1 ? single++ : end;
        if (n < 2) continue;
        end += n;
        out.starts.push_back(end);
    }
    out.rows.resize(before + rows.size());
    for (const row_t row : rows) out.rows[next[levels[row]]++] = row;
    out.singletons.insert(out.singletons.end(), out.rows.begin() + ptrdiff_t(end), out.rows.end());
    out.rows.resize(end);
}

size_t refine(std::span<uint32_t> joint, size_t n_joint, const code_t* column, size_t n_levels) {
    constexpr uint32_t unseen = std::numeric_limits<uint32_t>::max();
    uint32_t next = 0;
    // A flat table while it is not much larger than the data, a hash table beyond.
    if (n_joint <= (size_t(1) << 22) / n_levels || checked_product(n_joint, n_levels) <= 4 * joint.size()) {
        std::vector<uint32_t> number(n_joint * n_levels, unseen);
        for (size_t row = 0; row < joint.size(); ++row) {
            uint32_t& known = number[joint[row] * n_levels + column[row]];
            if (known == unseen) known = next++;
            joint[row] = known;
        }
    } else {
        std::unordered_map<uint64_t, uint32_t> number;
        number.reserve(joint.size());
        for (size_t row = 0; row < joint.size(); ++row) {
            const uint64_t key = uint64_t(joint[row]) * n_levels + column[row];
            const auto [found, is_new] = number.try_emplace(key, next);
            next += is_new;
            joint[row] = found->second;
        }
    }
    return next;
}

}  // namespace labelsieve
