#include "neighbors/votes.hpp"

#include <algorithm>
#include <vector>

#include "simd/vector.hpp"

namespace labelsieve {

namespace {

constexpr size_t together = 64;  // rows of a task
constexpr size_t few_labels = 64, in_word = 8;
constexpr size_t most_counted = 255;                 // rows, in a byte
constexpr size_t streamed_bytes = size_t(16) << 20;  // of tables that no cache would hold until they are read

// A byte for each label of each row, eight in a word, so that eight are added at once: for few labels.
struct LabelBytes {
    size_t n_labels, width;
    std::vector<uint64_t> words;

    LabelBytes(const RowLists& labels, size_t many)
        : n_labels(many), width((many + in_word - 1) / in_word),
          words(checked_product(labels.size(), width)) {
        for (size_t row = 0; row < labels.size(); ++row)
            for (const uint32_t label : labels[row])
                words[row * width + label / in_word] |= uint64_t(1) << (8 * (label % in_word));
    }
};

// Counts the labels of a few rows, all of them.
class DenseVoteCounter {
  public:
    explicit DenseVoteCounter(const LabelBytes& labels) : labels_(&labels) {}

    void count(std::span<const uint32_t> rows) {
        std::fill(counts_, counts_ + labels_->width * in_word, 0u);
        for (; rows.size() > most_counted; rows = rows.subspan(most_counted)) add(rows.first(most_counted));
        add(rows);
    }
    size_t of(size_t label) const { return counts_[label]; }
    template <class Visit>
    void each(Visit&& visit) const {
        const size_t n_labels = labels_->n_labels;
        for (size_t label = 0; label < n_labels; ++label) visit(label);
    }
    template <class Visit>
    void take_each(Visit&& visit) const {
        each(visit);
    }

  private:
    void add(std::span<const uint32_t> rows) {
        const size_t width = labels_->width;
        for (size_t word = 0; word < width; ++word) {
            const uint64_t* from = labels_->words.data() + word;
            uint64_t sums = 0;
            for (const uint32_t row : rows) sums += from[row * width];
            for (size_t i = 0; i < in_word; ++i)
                counts_[word * in_word + i] += uint32_t(sums >> (8 * i) & 255);
        }
    }

    const LabelBytes* labels_;
    uint32_t counts_[few_labels];
};

// Counts those labels that some of the rows have; forgetting them costs no more than they did.
class SparseVoteCounter {
  public:
    SparseVoteCounter(const RowLists& labels, size_t n_labels)
        : labels_(&labels), counts_(n_labels, 0), seen_(n_labels + 1) {}

    void count(std::span<const uint32_t> rows) {
        for (const uint32_t row : rows)
            for (const uint32_t label : (*labels_)[row]) {
                seen_[n_seen_] = label;  // without a branch, which would be guessed wrong too often
                n_seen_ += counts_[label]++ == 0;
            }
    }
    size_t of(size_t label) const { return counts_[label]; }
    template <class Visit>
    void each(Visit&& visit) const {
        for (size_t i = 0; i < n_seen_; ++i) visit(size_t(seen_[i]));
    }
    // For the last time: the next rows are counted from zero.
    template <class Visit>
    void take_each(Visit&& visit) {
        for (size_t i = 0; i < n_seen_; ++i) {
            visit(size_t(seen_[i]));
            counts_[seen_[i]] = 0;
        }
        n_seen_ = 0;
    }

  private:
    const RowLists* labels_;
    std::vector<uint32_t> counts_, seen_;
    size_t n_seen_ = 0;
};

// use(counter): with the kind that suits the number of labels.
template <class Use>
void with_counter(const RowLists& labels, size_t n_labels, Use&& use) {
    if (n_labels > few_labels) return use(SparseVoteCounter(labels, n_labels));
    const LabelBytes bytes(labels, n_labels);
    use(DenseVoteCounter(bytes));
}

double cost_of(const RowLists& neighbors, const RowLists& labels) {
    const double for_each = labels.size() ? double(labels.indices.size()) / double(labels.size()) : 0;
    return 3 * double(neighbors.indices.size()) * for_each;
}

}  // namespace

void label_histograms(const RowLists& neighbors, const RowLists& labels, size_t n_labels, size_t most,
                      Pool& pool, int64_t* histograms) {
    const size_t n_rows = neighbors.size(), width = most + 1, half = checked_product(n_labels, width);
    std::vector<std::vector<uint32_t>> tables(pool.size());
    with_counter(labels, n_labels, [&](const auto& empty) {
        std::vector counters(pool.size(), empty);
        pool.run(
            (n_rows + together - 1) / together, cost_of(neighbors, labels),
            [&](size_t task, unsigned worker) {
                auto& table = tables[worker];
                auto& counter = counters[worker];
                table.resize(2 * half);
                for (size_t row = task * together; row < std::min(n_rows, (task + 1) * together); ++row) {
                    counter.count(neighbors[row]);
                    // All count as if no row had the label, and those that have it move to the other
                    // half. Column 0, where rows are missing that no neighbor gave a label, is filled
                    // below.
                    for (const uint32_t label : labels[row]) {
                        const size_t cell = label * width + std::min(counter.of(label), most);
                        --table[cell];
                        ++table[half + cell];
                    }
                    counter.take_each(
                        [&](size_t label) { ++table[label * width + std::min(counter.of(label), most)]; });
                }
            });
    });
    std::fill(histograms, histograms + 2 * half, 0);
    for (const auto& table : tables)
        for (size_t i = 0; i < table.size(); ++i) histograms[i] += table[i];
    // Rows none of whose neighbors has the label were not seen above: all that are not elsewhere.
    for (size_t label = 0; label < n_labels; ++label) {
        int64_t elsewhere = 0;
        for (size_t j = 1; j < width; ++j) elsewhere += histograms[label * width + j];
        for (size_t j = 0; j < width; ++j) elsewhere += histograms[half + label * width + j];
        histograms[label * width] = int64_t(n_rows) - elsewhere;
    }
}

void label_answers(const RowLists& neighbors, const RowLists& labels, const double* table, size_t n_labels,
                   size_t most, Pool& pool, double* answers) {
    const size_t n_queries = neighbors.size(), width = most + 1;
    std::vector<double> without(n_labels);  // most labels are none of the neighbors'
    for (size_t label = 0; label < n_labels; ++label) without[label] = table[label * width];
    const bool streamed = checked_product(n_queries, n_labels) * sizeof(double) > streamed_bytes;
    const double cost = cost_of(neighbors, labels) + double(n_queries) * double(n_labels) / 2;
    with_counter(labels, n_labels, [&](const auto& empty) {
        std::vector counters(pool.size(), empty);
        std::vector rows(pool.size(), without);
        pool.run((n_queries + together - 1) / together, cost, [&](size_t task, unsigned worker) {
            auto& counter = counters[worker];
            double* row = rows[worker].data();
            for (size_t query = task * together; query < std::min(n_queries, (task + 1) * together);
                 ++query) {
                counter.count(neighbors[query]);
                counter.each([&](size_t label) {
                    row[label] = table[label * width + std::min(counter.of(label), most)];
                });
                double* to = answers + query * n_labels;
                if (streamed)
                    stream(row, n_labels, to);
                else
                    std::copy(row, row + n_labels, to);
                counter.take_each([&](size_t label) { row[label] = without[label]; });
            }
            finish_streams();
        });
    });
}

}  // namespace labelsieve
