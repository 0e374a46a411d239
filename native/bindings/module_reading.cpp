// Text of files, for Python.
#include "bindings/python.hpp"
#include "reading/quotes.hpp"

namespace labelsieve {

namespace {

std::pair<bool, bool> quotes_of(const nb::bytes& text, uint8_t delimiter) {
    require(delimiter != '"' && delimiter != '\n', "the delimiter must be neither a quote nor a line end");
    const std::span<const uint8_t> view{reinterpret_cast<const uint8_t*>(text.c_str()), text.size()};
    const nb::gil_scoped_release released;
    const Quotes quotes = scan_quotes(view, delimiter);
    return {quotes.enclose_cells, quotes.enclose_newlines};
}

}  // namespace

void bind_reading(nb::module_& m) { m.def("scan_quotes", &quotes_of, "text"_a, "delimiter"_a); }

}  // namespace labelsieve
