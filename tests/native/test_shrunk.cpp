// Shrunk tables against plain loops that follow the same operations: every instruction set gives these bits.
#include <cmath>

#include "panel_inputs.hpp"

using namespace labelsieve;

namespace {

Below below(20260707);

struct Sizes {
    size_t levels, given, classes;
    size_t cell(size_t a, size_t v, size_t b) const { return (b * levels + a) * given + v; }
};

// The sum of factors times entropies of one table.
double plain_loop(const Sizes& sizes, const std::vector<double>& table, const double* factors, double n_rows,
                  const double* logs) {
    const auto& [levels, given, classes] = sizes;
    double high_squares = 0, mixed = 0, low_squares = 0, total = 0, occurring = 0;
    std::vector<bool> occurs(levels);
    for (size_t a = 0; a < levels; ++a) {
        double of_level = 0;
        for (size_t b = 0; b < classes; ++b)
            for (size_t v = 0; v < given; ++v) {
                const double count = table[sizes.cell(a, v, b)];
                const double high = std::nearbyint(count * 0x1p-16), low = count - high * 0x1p16;
                of_level += count;
                high_squares += high * high, mixed += high * low, low_squares += low * low;
            }
        occurs[a] = of_level > 0;
        occurring += occurs[a] ? 1 : 0;
        total += of_level;
    }
    const double squares = high_squares * 0x1p32 + mixed * 0x1p17 + low_squares;
    const double target = 1.0 / (occurring * double(given * classes)), mean = squares / total / total;
    const double spread = (n_rows - 1.0) * (mean - target), doubt = 1.0 - mean;
    const double share = std::max(0.0, spread > 0 && doubt < spread ? doubt / spread : 1.0);
    const double alpha = share * target, beta = (1.0 - share) / total;
    double sum = 0;
    for (unsigned set = 1; set < 8; ++set) {
        const bool x = set & 1, y = set & 2, z = set & 4;
        const double times = double((y ? 1 : classes) * (z ? 1 : given));
        std::vector<double> margin(levels * given * classes, 0);
        for (size_t a = 0; a < levels; ++a)
            for (size_t b = 0; b < classes; ++b)
                for (size_t v = 0; v < given; ++v)
                    margin[sizes.cell(x ? a : 0, z ? v : 0, y ? b : 0)] += table[sizes.cell(a, v, b)];
        fixed_t entropy = 0;
        for (size_t a = 0; a < (x ? levels : 1); ++a)
            for (size_t b = 0; b < (y ? classes : 1); ++b)
                for (size_t v = 0; v < (z ? given : 1); ++v) {
                    const double uniform = x ? (occurs[a] ? alpha : 0.0) : occurring * alpha;
                    const double p = std::min(uniform * times + beta * margin[sizes.cell(a, v, b)], 1.0);
                    if (p > 0) entropy += fixed_t(p * table_log(p, logs) * -0x1p52 + 0.5);
                }
        if (factors[set] != 0) sum += factors[set] * (double(entropy) * 0x1p-52);
    }
    return sum;
}

template <class Count>
bool same_bits(const Sizes& sizes, uint64_t most, const double* logs) {
    // Columns fill a whole vector or not: lanes after the last one hold anything, here what overflows if it
    // is added.
    const size_t pitch = 32, n = 9 + below(8), n_cells = sizes.levels * sizes.given * sizes.classes;
    std::vector<Count> cells(n_cells * pitch, 0);
    for (size_t c = 0; c < n_cells; ++c)
        for (size_t i = 0; i < n; ++i) cells[c * pitch + i] = Count(below(3) == 0 ? 0 : below(most));
    for (size_t i = 0; i < n; ++i) {
        cells[i] += 1;                                              // no table is empty
        for (size_t a = 1; a < sizes.levels && i % 3 == 0; a += 2)  // and some levels do not occur
            for (size_t b = 0; b < sizes.classes; ++b)
                for (size_t v = 0; v < sizes.given; ++v) cells[sizes.cell(a, v, b) * pitch + i] = 0;
    }
    const double factors[8] = {0, 1, 1, -1, 0.5, 1, 0, -1};
    std::vector<double> work(shrunk_work(sizes.levels, sizes.given, sizes.classes, pitch), -1e300),
        out(pitch);
    std::vector<fixed_t> sums(pitch, std::numeric_limits<fixed_t>::min());
    const ShrunkTables<Count> tables{.cells = cells.data(),
                                     .levels = sizes.levels,
                                     .given = sizes.given,
                                     .classes = sizes.classes,
                                     .pitch = pitch,
                                     .n = n,
                                     .factors = factors,
                                     .n_rows = 100,
                                     .logs = logs,
                                     .work = work.data(),
                                     .sums = sums.data(),
                                     .out = out.data()};
    if constexpr (std::is_same_v<Count, count_t>) {
        kernels().shrink_counts(tables);
    } else {
        kernels().shrink_weights(tables);
    }
    bool same = true;
    for (size_t i = 0; i < n; ++i) {
        std::vector<double> table(n_cells);
        for (size_t c = 0; c < n_cells; ++c) table[c] = double(cells[c * pitch + i]);
        same = same && out[i] == plain_loop(sizes, table, factors, 100, logs);
    }
    return same;
}

}  // namespace

void test_shrunk() {
    const std::vector<double> logs = log_table();
    for (const double p : {1.0, 0.5, 0.3, 1e-9, 123.456})
        EXPECT(std::abs(table_log(p, logs.data()) - std::log(p)) < 1e-15 * (1 + std::abs(std::log(p))));
    for (int round = 0; round < 40; ++round) {
        const Sizes sizes{.levels = 1 + below(6), .given = 1 + below(5), .classes = 1 + below(4)};
        EXPECT(same_bits<count_t>(sizes, 1 + below(50), logs.data()));
        EXPECT(same_bits<double>(sizes, uint64_t(1) << 33, logs.data()));
    }
}
