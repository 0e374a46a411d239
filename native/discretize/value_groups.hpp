// The rows of a column by their values.
#pragma once

#include <cmath>

#include "discretize/distribution.hpp"

namespace labelsieve {

// A column as groups of equal values. The rows of its most frequent value are not listed: they are all the
// others.
struct ValueGroups {
    Scratch<double> values;
    Scratch<size_t> starts;  // of the listed rows of each group; empty for the unlisted one
    Scratch<row_t> rows;
    Scratch<row_t> missing;
    size_t unlisted = 0;  // group number; values.size(): none

    void read(const Column& column) {
        values.clear();
        starts.assign(1, 0);
        rows.clear();
        missing.clear();
        entries_.clear();
        entries_.reserve(column.values.size());
        const bool zeros = column.has_unlisted();
        for (size_t i = 0; i < column.values.size(); ++i) {
            const double value = column.values[i];
            if (std::isnan(value)) {
                missing.push_back(column.row(i));
            } else if (!zeros || value != 0) {
                entries_.push_back({.key = key_of(value), .row = column.row(i)});
            }
        }
        sort_entries(entries_, buffer_);
        const uint64_t common = zeros ? key_of(0.0) : most_frequent();
        bool met = !zeros;  // an unlisted zero is inserted in order
        for (size_t i = 0, next = 0; i < entries_.size(); i = next) {
            while (next < entries_.size() && entries_[next].key == entries_[i].key) ++next;
            if (!met && entries_[i].key > common) {
                met = true;
                close(0.0);
            }
            if (entries_[i].key != common)
                for (size_t k = i; k < next; ++k) rows.push_back(entries_[k].row);
            close(value_of(entries_[i].key));
        }
        if (!met) close(0.0);
        unlisted = size_t(std::lower_bound(values.begin(), values.end(), value_of(common)) - values.begin());
    }

  private:
    void close(double value) {
        values.push_back(value);
        starts.push_back(rows.size());
    }
    uint64_t most_frequent() const {
        uint64_t key = key_of(0.0);
        size_t most = 0;
        for (size_t i = 0, next = 0; i < entries_.size(); i = next) {
            while (next < entries_.size() && entries_[next].key == entries_[i].key) ++next;
            if (next - i > most) {
                most = next - i;
                key = entries_[i].key;
            }
        }
        return key;
    }
    Scratch<Entry> entries_, buffer_;
};

}  // namespace labelsieve
