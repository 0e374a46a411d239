// Text of files, for Python.
#include "bindings/python.hpp"
#include "reading/words.hpp"

namespace labelsieve {

namespace {

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
    m.def("distinct_words", &words_of<int32_t>, "data"_a, "starts"_a.noconvert(), "known"_a, "most"_a,
          "codes"_a.noconvert());
    m.def("distinct_words", &words_of<int64_t>, "data"_a, "starts"_a.noconvert(), "known"_a, "most"_a,
          "codes"_a.noconvert());
}

}  // namespace labelsieve
