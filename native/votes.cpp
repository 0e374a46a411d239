#include "votes.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace labelsieve {

namespace {

constexpr std::size_t together = 64;  // rows of a task

constexpr std::size_t few_labels = 64, vector_bytes = 16;
constexpr std::size_t most_counted = 255;  // rows, in a byte

// For few labels: a byte for each label of each row, so that rows are added whole.
struct LabelBytes {
    std::size_t width = 0;  // 0: there are none
    std::vector<std::uint8_t> bytes;

    LabelBytes(const RowLists& labels, std::size_t n_labels) {
        if (n_labels > few_labels || n_labels == 0) return;
        width = (n_labels + vector_bytes - 1) / vector_bytes * vector_bytes;
        bytes.resize(checked_product(labels.size(), width));
        for (std::size_t row = 0; row < labels.size(); ++row)
            for (const std::uint32_t label : labels[row]) bytes[row * width + label] = 1;
    }
};

// Counts the labels of a few rows; forgetting them costs no more than they did.
class Ballot {
  public:
    Ballot(std::size_t n_labels, const LabelBytes& bytes) : bytes_(&bytes), counts_(n_labels, 0), all_(bytes.width ? n_labels : 0) {
        std::iota(all_.begin(), all_.end(), 0u);
    }

    // Labels that some of the rows have, or all labels.
    std::span<const std::uint32_t> count(std::span<const std::uint32_t> rows, const RowLists& labels) {
        if (bytes_->width && rows.size() <= most_counted) {
            std::uint8_t sums[few_labels] = {};
            for (const std::uint32_t row : rows) {
                const std::uint8_t* own = bytes_->bytes.data() + row * bytes_->width;
                for (std::size_t part = 0; part < bytes_->width; part += vector_bytes)
                    for (std::size_t i = part; i < part + vector_bytes; ++i) sums[i] = std::uint8_t(sums[i] + own[i]);
            }
            std::copy(sums, sums + counts_.size(), counts_.begin());
            seen_.assign(all_.begin(), all_.end());
            return seen_;
        }
        for (const std::uint32_t label : seen_) counts_[label] = 0;
        seen_.clear();
        for (const std::uint32_t row : rows)
            for (const std::uint32_t label : labels[row])
                if (counts_[label]++ == 0) seen_.push_back(label);
        return seen_;
    }
    std::size_t of(std::uint32_t label) const { return counts_[label]; }

  private:
    const LabelBytes* bytes_;
    std::vector<std::uint32_t> counts_, seen_, all_;
};

double cost_of(const RowLists& neighbours, const RowLists& labels) {
    const double for_each = labels.size() ? double(labels.places.size()) / double(labels.size()) : 0;
    return 3 * double(neighbours.places.size()) * for_each;
}

}  // namespace

void label_histograms(const RowLists& neighbours, const RowLists& labels, std::size_t n_labels, std::size_t most, Pool& pool,
                      std::int64_t* histograms) {
    const std::size_t n_rows = neighbours.size(), width = most + 1, half = checked_product(n_labels, width);
    const LabelBytes bytes(labels, n_labels);
    std::vector<Ballot> own_ballots(pool.size(), Ballot(n_labels, bytes));
    std::vector<std::vector<std::int64_t>> tables(pool.size());
    pool.run((n_rows + together - 1) / together, cost_of(neighbours, labels), [&](std::size_t task, unsigned worker) {
        auto& table = tables[worker];
        table.resize(2 * half);
        for (std::size_t row = task * together; row < std::min(n_rows, (task + 1) * together); ++row) {
            Ballot& ballot = own_ballots[worker];
            // At first as if nobody had the label, then those who have it move to the other half. Column 0 is filled below.
            for (const std::uint32_t label : ballot.count(neighbours[row], labels)) ++table[label * width + std::min(ballot.of(label), most)];
            for (const std::uint32_t label : labels[row]) {
                const std::size_t place = label * width + std::min(ballot.of(label), most);
                --table[place];
                ++table[half + place];
            }
        }
    });
    std::fill(histograms, histograms + 2 * half, 0);
    for (const auto& table : tables)
        for (std::size_t i = 0; i < table.size(); ++i) histograms[i] += table[i];
    // Rows none of whose neighbours has the label were not seen above: all that are not elsewhere.
    for (std::size_t label = 0; label < n_labels; ++label) {
        std::int64_t elsewhere = 0;
        for (std::size_t j = 1; j < width; ++j) elsewhere += histograms[label * width + j];
        for (std::size_t j = 0; j < width; ++j) elsewhere += histograms[half + label * width + j];
        histograms[label * width] = std::int64_t(n_rows) - elsewhere;
    }
}

void label_answers(const RowLists& neighbours, const RowLists& labels, const double* table, std::size_t n_labels, std::size_t most,
                   Pool& pool, double* answers) {
    const std::size_t n_queries = neighbours.size(), width = most + 1;
    std::vector<double> without(n_labels);  // most labels are none of the neighbours'
    for (std::size_t label = 0; label < n_labels; ++label) without[label] = table[label * width];
    const LabelBytes bytes(labels, n_labels);
    std::vector<Ballot> own_ballots(pool.size(), Ballot(n_labels, bytes));
    const double cost = cost_of(neighbours, labels) + double(n_queries) * double(n_labels) / 2;
    pool.run((n_queries + together - 1) / together, cost, [&](std::size_t task, unsigned worker) {
        for (std::size_t query = task * together; query < std::min(n_queries, (task + 1) * together); ++query) {
            double* own = answers + query * n_labels;
            std::copy(without.begin(), without.end(), own);
            Ballot& ballot = own_ballots[worker];
            for (const std::uint32_t label : ballot.count(neighbours[query], labels)) own[label] = table[label * width + std::min(ballot.of(label), most)];
        }
    });
}

}  // namespace labelsieve
