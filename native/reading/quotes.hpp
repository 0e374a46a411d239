// Quotes of delimited text, looked at before a library parses it.
#pragma once

#include <span>

#include "common/types.hpp"

namespace labelsieve {

struct Quotes {
    bool enclose_cells = true;  // they open only where a cell starts and close only where it ends
    bool enclose_newlines = false;
};

// Two quotes within a cell stand for one. `delimiter` is neither a quote nor a line end. The scan ends at the
// first quote that encloses no cell, and then says nothing about line ends.
Quotes scan_quotes(std::span<const uint8_t> text, uint8_t delimiter);

}  // namespace labelsieve
