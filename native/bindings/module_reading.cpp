// Text of files, for Python.
#include "bindings/python.hpp"
#include "reading/quotes.hpp"
#include "reading/words.hpp"

namespace labelsieve {

namespace {

std::pair<bool, bool> quotes_of(const nb::bytes& text, uint8_t delimiter) {
    require(delimiter != '"' && delimiter != '\n', "the delimiter must be neither a quote nor a line end");
    const std::span<const uint8_t> view{reinterpret_cast<const uint8_t*>(text.c_str()), text.size()};
    const nb::gil_scoped_release released;
    const Quotes quotes = scan_quotes(view, delimiter);
    return {quotes.enclose_cells, quotes.enclose_newlines};
}

template <class Start>
auto words_of(Vector<uint8_t> data, Vector<Start> starts, std::optional<Vector<uint8_t>> known, size_t most,
              OutVector<int32_t> codes) {
    require(starts.shape(0) == codes.shape(0) + 1 && (!known || known->shape(0) == codes.shape(0)),
            "shapes differ");
    require(most < size_t(std::numeric_limits<int32_t>::max()), "too many words");
    Words<Start> words{.data = view_of(data), .starts = view_of(starts), .known = {}};
    if (known) words.known = view_of(*known);
    std::vector<int64_t> rows;
    {
        const nb::gil_scoped_release released;
        rows = distinct_words(words, most, codes.data());
    }
    return hand_over(std::move(rows));
}

}  // namespace

void bind_reading(nb::module_& m) {
    m.def("scan_quotes", &quotes_of, "text"_a, "delimiter"_a);
    m.def("distinct_words", &words_of<int32_t>, "data"_a, "starts"_a.noconvert(), "known"_a, "most"_a,
          "codes"_a.noconvert());
    m.def("distinct_words", &words_of<int64_t>, "data"_a, "starts"_a.noconvert(), "known"_a, "most"_a,
          "codes"_a.noconvert());
}

}  // namespace labelsieve
