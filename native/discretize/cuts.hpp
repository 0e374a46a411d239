// The cut points of one column, and the codes that they make.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "discretize/values.hpp"

namespace labelsieve {

constexpr size_t stretch_rows = 256;  // values that are compared together, in the first cache
constexpr size_t few_cuts = 32;       // up to which comparing with all beats searching

// Codes are the number of cuts below a value, counting one that equals it unless `strict`.
template <class Code>
void count_cuts(std::span<const double> cuts, bool strict, std::span<const double> values, Code* out) {
    const double* from = values.data();
    for (size_t start = 0, n = values.size(); start < n; start += stretch_rows) {
        const size_t stop = std::min(n, start + stretch_rows);
        if (cuts.size() > few_cuts) {
            for (size_t i = start; i < stop; ++i) {
                const auto above = strict ? std::lower_bound(cuts.begin(), cuts.end(), from[i])
                                          : std::upper_bound(cuts.begin(), cuts.end(), from[i]);
                out[i] = Code(above - cuts.begin());
            }
            continue;
        }
        std::fill(out + start, out + stop, Code(0));
        for (const double* cut = cuts.data(); cut != cuts.data() + cuts.size(); ++cut) {
            if (strict) {
                for (size_t i = start; i < stop; ++i) out[i] = Code(out[i] + (*cut < from[i]));
            } else {
                for (size_t i = start; i < stop; ++i) out[i] = Code(out[i] + (*cut <= from[i]));
            }
        }
    }
}

// Codes of a table by the cuts of its columns; a missing value has the code after the last. Columns follow
// each other in `out`; `missing` says which have a missing value, `implicit` is the code of zeros that are
// not listed.
template <class Code>
struct CodesByCuts {
    Code* out;
    code_t* implicit;
    uint8_t* missing;
};
// For uint8_t and code_t.
template <class Code>
void apply_cuts(const Values& values, const CsrView<row_t, double>& points, bool strict,
                const CodesByCuts<Code>& codes);

// Equal-width cut points of one column, or its few distinct values.
class EqualWidthCuts {
  public:
    EqualWidthCuts(std::span<const double> values, bool has_zero, EqualWidth rule)
        : closed_right_(rule.closed_right) {
        double least = has_zero ? 0.0 : values[0], largest = least;
        for (const double value : values) {
            least = value < least ? value : least;
            largest = value > largest ? value : largest;
        }
        if (has_zero) cuts_.push_back(0.0);
        distinct_ = collect_distinct(values, rule.n_bins);
        levels_ = distinct_ ? cuts_.size() : rule.n_bins;
        if (distinct_) return;
        cuts_.clear();
        // A quarter of the widest range of doubles does not overflow; dividing by four is exact but for the
        // tiniest.
        const double scale = std::isfinite(largest - least) ? 1.0 : 4.0, low = least / scale;
        const double width = (largest / scale - low) / double(rule.n_bins);
        for (size_t i = 1; i < rule.n_bins; ++i) cuts_.push_back(scale * (low + double(i) * width));
    }

    size_t levels() const { return levels_; }

    bool distinct() const { return distinct_; }
    const std::vector<double>& cuts() const { return cuts_; }

    // Bins are closed on the left, unless the rule says otherwise; distinct values count those below them.
    template <class Code>
    void encode(std::span<const double> values, Code* out) const {
        count_cuts(std::span<const double>(cuts_), distinct_ || closed_right_, values, out);
    }

  private:
    // Adds the distinct values to `cuts_`, in order; false as soon as there are more than `limit`.
    bool collect_distinct(std::span<const double> all_values, size_t limit) {
        const size_t n = all_values.size();
        const double* values = all_values.data();
        for (size_t start = 0; start < n; start += stretch_rows) {
            const size_t size = std::min(n - start, stretch_rows);
            uint8_t known[stretch_rows] = {};
            if (cuts_.size() <= few_cuts)
                for (const double cut : cuts_)
                    for (size_t i = 0; i < size; ++i) known[i] |= values[start + i] == cut;
            for (size_t i = 0; i < size; ++i) {
                if (known[i]) continue;
                const auto above = std::lower_bound(cuts_.begin(), cuts_.end(), values[start + i]);
                if (above != cuts_.end() && *above == values[start + i]) continue;
                if (cuts_.size() == limit) return false;
                cuts_.insert(above, values[start + i]);
            }
        }
        return true;
    }

    bool closed_right_;
    std::vector<double> cuts_;
    bool distinct_;
    size_t levels_;
};

}  // namespace labelsieve
