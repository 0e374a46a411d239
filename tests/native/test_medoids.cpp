// Medoids of bits and numbers: kernels equal plain loops, no exchange gains, and threads change nothing.
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "expect.hpp"
#include "medoids/medoids.hpp"

using namespace labelsieve;

namespace {

struct Table {
    size_t n_rows, n_bits, n_numbers;
    std::vector<uint64_t> bits;
    std::vector<double> numbers, weights;

    Table(size_t rows, size_t columns, size_t reals, unsigned seed)
        : n_rows(rows), n_bits(columns), n_numbers(reals), bits(rows * words()), numbers(rows * reals) {
        std::mt19937 random(seed);
        for (size_t i = 0; i < rows; ++i)
            for (size_t b = 0; b < columns; ++b)
                if (random() % 5 < 1 + b % 2) bits[i * words() + b / 64] |= uint64_t(1) << (63 - b % 64);
        for (double& value : numbers) value = double(random() % 1000) / 100;
        for (size_t i = 0; i < rows; ++i) weights.push_back(1 + random() % 3);
    }

    size_t words() const { return (n_bits + 63) / 64; }
    TargetRows view() const {
        return {.n_rows = n_rows,
                .bits = bits.data(),
                .n_words = words(),
                .numbers = numbers.data(),
                .n_numbers = n_numbers,
                .weights = weights.data()};
    }
    double distance(size_t a, size_t b) const {
        double sum = 0;
        for (size_t w = 0; w < words(); ++w)
            sum += std::popcount(bits[a * words() + w] ^ bits[b * words() + w]);
        for (size_t c = 0; c < n_numbers; ++c) {
            const double difference = numbers[c * n_rows + a] - numbers[c * n_rows + b];
            sum += difference * difference;
        }
        return n_numbers > 0 ? std::sqrt(sum) : sum;
    }
    double deviation(const std::vector<size_t>& medoids) const {
        double sum = 0;
        for (size_t i = 0; i < n_rows; ++i) {
            double nearest = 1e300;
            for (const size_t medoid : medoids) nearest = std::min(nearest, distance(medoid, i));
            sum += weights[i] * nearest;
        }
        return sum;
    }
};

std::vector<code_t> clusters(const Table& table, size_t n_clusters, size_t max_labelsets, size_t n_groups,
                             unsigned n_threads) {
    std::vector<uint32_t> bits, numbers;
    for (uint32_t b = 0; b < table.n_bits; ++b) bits.push_back(b);
    for (uint32_t c = 0; c < table.n_numbers; ++c) numbers.push_back(c);
    std::vector<TargetGroup> groups;
    std::vector<MedoidSettings> settings;
    for (size_t g = 0; g < n_groups; ++g) {
        // Group g leaves out the last g bits.
        groups.push_back({.bits = std::span(bits).first(bits.size() - g), .numbers = numbers});
        settings.push_back(
            {.n_clusters = n_clusters, .max_labelsets = max_labelsets, .seed = g, .bit_distance = 1});
    }
    std::vector<code_t> out(table.n_rows * n_groups);
    Pool pool(n_threads);
    cluster_groups(table.view(), groups, settings, pool, out.data());
    return out;
}

void test_no_exchange_gains(const Table& table, size_t n_clusters) {
    const auto found = clusters(table, n_clusters, 10'000, 1, 1);
    std::vector<size_t> medoids;
    for (size_t c = 0; c < n_clusters; ++c) {
        size_t best = 0;
        double least = 1e300;
        for (size_t i = 0; i < table.n_rows; ++i) {
            if (found[i] != c) continue;
            double sum = 0;
            for (size_t j = 0; j < table.n_rows; ++j)
                if (found[j] == c) sum += table.weights[j] * table.distance(i, j);
            if (sum < least) least = sum, best = i;
        }
        EXPECT(least < 1e300);
        medoids.push_back(best);
    }
    const double deviation = table.deviation(medoids);
    for (size_t j = 0; j < n_clusters; ++j)
        for (size_t i = 0; i < table.n_rows; ++i) {
            auto exchanged = medoids;
            exchanged[j] = i;
            EXPECT(table.deviation(exchanged) >= deviation * (1 - 1e-9));
        }
}

void test_kernels_equal_plain_loops() {
    const Table table(75, 130, 0, 3);
    const DistinctTargets distinct(table.view());
    DistinctTargets::Restriction restriction(distinct);
    std::vector<uint32_t> bits;
    for (uint32_t b = 1; b < 130; b += 2) bits.push_back(b);
    restriction.to({.bits = bits, .numbers = {}});
    const Labelsets& labelsets = restriction.labelsets();
    const BitLanes lanes = labelsets.bit_lanes();
    std::vector<int16_t> narrow(lanes.n_blocks * 8 * 7);
    std::vector<int32_t> wide(lanes.n_blocks * 8);
    kernels().hamming(lanes, labelsets.row(0), 7, narrow.data(), lanes.n_blocks * 8);
    kernels().hamming_wide(lanes, labelsets.row(6), 1, wide.data(), 0);
    for (size_t i = 0; i < labelsets.size; ++i) {
        EXPECT(wide[i] == narrow[6 * lanes.n_blocks * 8 + i]);
        size_t n_bits = 0;
        for (size_t w = 0; w < labelsets.n_words; ++w) n_bits += size_t(std::popcount(labelsets.row(i)[w]));
        EXPECT(labelsets.bits_of(i).size() == n_bits);
        for (size_t r = 0; r < 7; ++r) {
            int plain = 0;
            for (size_t w = 0; w < labelsets.n_words; ++w)
                plain += std::popcount(labelsets.row(i)[w] ^ labelsets.row(r)[w]);
            EXPECT(narrow[r * lanes.n_blocks * 8 + i] == plain);
        }
    }
    double total = 0;
    for (const double weight : labelsets.weights) total += weight;
    double rows = 0;
    for (const double weight : table.weights) rows += weight;
    EXPECT(total == rows);
}

void test_threads_change_nothing() {
    const Table table(1500, 70, 0, 4);
    const auto one = clusters(table, 6, 1200, 9, 1);
    EXPECT(one == clusters(table, 6, 1200, 9, 3));
    EXPECT(one != clusters(table, 5, 1200, 9, 3));
}

}  // namespace

void test_medoids() {
    test_kernels_equal_plain_loops();
    for (const size_t n_clusters : {size_t(1), size_t(2), size_t(7), size_t(18)}) {
        test_no_exchange_gains(Table(60, 9, 0, 1), n_clusters);
        test_no_exchange_gains(Table(60, 80, 2, 2), n_clusters);
        test_no_exchange_gains(Table(60, 0, 3, 5), n_clusters);
    }
    test_threads_change_nothing();
}
