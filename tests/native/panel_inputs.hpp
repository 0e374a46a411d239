// Codes, logarithms and requests for the tests that compare sums with plain loops.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "counting/panels.hpp"
#include "expect.hpp"

namespace labelsieve {

// A table of codes, column-major, also as sparse columns.
struct CodeTable {
    size_t n_rows;
    std::vector<uint32_t> levels;
    std::vector<code_t> codes;
    std::vector<int64_t> starts;
    std::vector<row_t> rows;
    std::vector<code_t> listed, implicit;

    CodeTable(Below& below, size_t n, std::vector<uint32_t> all_levels, double zeros)
        : n_rows(n), levels(std::move(all_levels)) {
        starts.push_back(0);
        for (size_t k = 0; k < levels.size(); ++k) {
            implicit.push_back(code_t(below(levels[k])));
            for (size_t i = 0; i < n; ++i) {
                const bool zero = double(below(1000)) < 1000 * zeros;
                codes.push_back(zero ? 0 : code_t(below(levels[k])));
                if (codes.back() == implicit[k]) continue;
                rows.push_back(row_t(i));
                listed.push_back(codes.back());
            }
            starts.push_back(int64_t(rows.size()));
        }
    }
    code_t at(size_t row, size_t column) const { return codes[column * n_rows + row]; }
    DenseColumns dense() const {
        return {{.data = codes.data(),
                 .item_size = sizeof(code_t),
                 .row_stride = sizeof(code_t),
                 .column_stride = ptrdiff_t(n_rows * sizeof(code_t)),
                 .n_rows = n_rows},
                levels};
    }
    SparseColumns sparse() const {
        return {{.starts = starts, .indices = rows, .values = listed}, implicit, n_rows, levels};
    }
};

inline std::vector<double> log_table() {
    std::vector<double> logs(WeightedTerm::n_logs + 1);
    for (size_t i = 0; i < WeightedTerm::n_logs; ++i)
        logs[i] = std::log1p(double(i) / double(WeightedTerm::n_logs));
    logs.back() = std::numbers::ln2;
    return logs;
}

// The sums of all targets: of each, or added up.
inline PanelRequest whole_panel(std::span<const uint32_t> given, size_t n_given, size_t n_targets,
                                std::vector<fixed_t>& with_given, std::vector<fixed_t>& out,
                                bool reduce = false) {
    return {.given = given,
            .n_given = n_given,
            .first = 0,
            .last = n_targets,
            .reduce = reduce,
            .with_given = with_given.data(),
            .out = out.data()};
}

}  // namespace labelsieve
