// The scan of quotes against a loop over the characters.
#include <random>
#include <string>
#include <vector>

#include "expect.hpp"
#include "reading/quotes.hpp"

using namespace labelsieve;

namespace {

Quotes scan(const std::string& text, char delimiter = ',') {
    // An exact copy on the heap, so that the address sanitizer sees what is read beyond it.
    const std::vector<uint8_t> bytes(text.begin(), text.end());
    return scan_quotes(bytes, uint8_t(delimiter));
}

Quotes plain_loop(const std::string& text, char delimiter) {
    const auto is_edge = [=](char c) { return c == '"' || c == '\n' || c == delimiter; };
    Quotes quotes;
    bool inside = false;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\n' && inside) quotes.enclose_newlines = true;
        if (text[i] != '"') continue;
        const bool opens = !inside;
        if (opens && i > 0 && !is_edge(text[i - 1])) return {.enclose_cells = false};
        if (!opens && i + 1 < text.size() && !is_edge(text[i + 1])) return {.enclose_cells = false};
        inside = opens;
    }
    quotes.enclose_cells = !inside;
    return quotes;
}

bool same(const Quotes& left, const Quotes& right) {
    return left.enclose_cells == right.enclose_cells && left.enclose_newlines == right.enclose_newlines;
}

}  // namespace

void test_quotes() {
    EXPECT(same(scan(""), {}));
    EXPECT(same(scan("a,b\n"), {}));
    EXPECT(same(scan("\"\""), {}));
    EXPECT(same(scan("\""), {.enclose_cells = false}));
    EXPECT(same(scan("a,\"b\nc\"\n"), {.enclose_newlines = true}));
    EXPECT(same(scan("a;\"b\";\"say \"\"hi\"\"\"", ';'), {}));
    EXPECT(same(scan("a;\"b\"", ','), {.enclose_cells = false}));
    // Everything at every position relative to the blocks.
    for (size_t before = 0; before < 140; ++before)
        for (const size_t after : {0, 1, 63, 64, 65})
            for (const char* cell : {",\"b\",", ",\"b\n\",", "x\"b\",", ",\"b\"x", ",\"b", "\n\"\"\"\"\n"}) {
                const std::string text = std::string(before, 'a') + cell + std::string(after, 'a');
                EXPECT(same(scan(text), plain_loop(text, ',')));
            }
    // Random cells, few of which break the rule, so that scans also reach the end of long texts.
    std::mt19937_64 random(5);
    const std::vector<std::string> cells = {"red", "\"a, b\"", "\"\"", "\"\"\"hi\"\"\"", "", "12345.678"};
    const std::vector<std::string> rare = {"\"a\nb\"", "a\"b", "\"a\"b", "\""};
    size_t n_strays = 0, n_newlines = 0;
    for (int round = 0; round < 2000; ++round) {
        std::string text;
        for (size_t n_cells = random() % 100; n_cells > 0; --n_cells) {
            text += random() % 150 ? cells[random() % cells.size()] : rare[random() % rare.size()];
            text += random() % 5 ? '|' : '\n';
        }
        if (!text.empty() && random() % 2) text.pop_back();
        const Quotes expected = plain_loop(text, '|');
        EXPECT(same(scan(text, '|'), expected));
        n_strays += !expected.enclose_cells;
        n_newlines += expected.enclose_newlines;
    }
    EXPECT(n_strays > 100 && n_strays < 1900 && n_newlines > 100);
}
