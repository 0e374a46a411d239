#include "prediction/ranks.hpp"

#include <cmath>
#include <limits>

#include "discretize/distribution.hpp"

namespace labelsieve {

void mid_ranks(std::span<const double> columns, size_t n_rows, const double* weights, double* ranks) {
    Scratch<Entry> entries, buffer;
    for (size_t start = 0; start < columns.size(); start += n_rows) {
        const double* column = columns.data() + start;
        double* out = ranks + start;
        entries.clear();
        entries.reserve(n_rows);
        for (size_t row = 0; row < n_rows; ++row) {
            if (std::isnan(column[row]))
                out[row] = column[row];
            else
                entries.push_back({key_of(column[row]), row_t(row)});
        }
        if (entries.empty()) continue;
        sort_entries(entries, buffer);
        double before = 0;
        const auto weight = [&](const Entry& entry) { return weights ? weights[entry.row] : 1.0; };
        for (size_t first = 0, end; first < entries.size(); first = end) {
            double equal = 0;
            for (end = first; end < entries.size() && entries[end].key == entries[first].key; ++end)
                equal += weight(entries[end]);
            before += equal;
            for (size_t i = first; i < end; ++i) out[entries[i].row] = before - equal / 2;
        }
        const double total = std::max(before, std::numeric_limits<double>::min());
        for (const Entry& entry : entries) out[entry.row] /= total;
    }
}

}  // namespace labelsieve
