#include "counting/raw_counts.hpp"

#include <algorithm>
#include <bit>

namespace labelsieve {

namespace {

constexpr size_t targets_at_a_time = 64;  // whose lists of rows are kept together

// The rows of one target, cell after cell.
struct CellLists {
    std::vector<row_t> rows;
    std::vector<size_t> starts;
    std::vector<code_t> codes;
};

// What the counters of one worker need.
struct WorkerScratch {
    std::vector<row_t> some;
    alignas(cache_line) uint64_t planes[max_planes * block_words];
    alignas(cache_line) count_t counts[block_bits];
};

// The entries whose level of the given column is counted, and its cell.
struct GivenEntries {
    std::vector<row_t> entries;
    std::vector<uint32_t> cells;
};

class Counter {
  public:
    Counter(const PackedRows& rows, const RawRequest& request) : rows_(rows), request_(request) {
        const size_t n = request.given.size();
        given_.entries.reserve(n);
        given_.cells.reserve(n);
        for (size_t entry = 0; entry < n; ++entry) {
            if (request.given[entry] >= request.given_cell.size())
                throw std::invalid_argument("a given code is not below its number of levels");
            const uint32_t cell = request.given_cell[request.given[entry]];
            if (cell == not_counted) continue;
            given_.entries.push_back(row_t(entry));
            given_.cells.push_back(cell);
        }
        for (const uint64_t weight : request.weights) largest_ = std::max(largest_, weight);
    }

    size_t n_entries() const { return given_.entries.size(); }

    // A stable counting sort of the rows by cell.
    void list(size_t target, CellLists& lists) const {
        const size_t n_sets = size_t(request_.sets[target + 1] - request_.sets[target]);
        const uint32_t* class_cell = request_.class_cell.data() + request_.class_starts[target];
        lists.codes.resize(request_.targets.n_rows());
        request_.targets.read(target, target + 1, lists.codes.data());
        lists.starts.assign(n_sets + 1, 0);
        for (size_t i = 0; i < n_entries(); ++i) {
            const uint32_t cell = class_cell[lists.codes[given_.entries[i]]];
            if (cell != not_counted) ++lists.starts[cell * request_.n_given + given_.cells[i] + 1];
        }
        for (size_t set = 0; set < n_sets; ++set) lists.starts[set + 1] += lists.starts[set];
        lists.rows.resize(lists.starts.back());
        std::vector<size_t> next(lists.starts.begin(), lists.starts.end() - 1);
        for (size_t i = 0; i < n_entries(); ++i) {
            const row_t entry = given_.entries[i];
            const uint32_t cell = class_cell[lists.codes[entry]];
            if (cell == not_counted) continue;
            lists.rows[next[cell * request_.n_given + given_.cells[i]]++] =
                request_.rows.empty() ? entry : request_.rows[entry];
        }
        int64_t* sizes = request_.sizes + request_.sets[target];
        for (size_t set = 0; set < n_sets; ++set) {
            const auto rows = rows_of(lists, set);
            if (request_.weights.empty()) sizes[set] += int64_t(rows.size());
            for (size_t i = 0; i < rows.size() && !request_.weights.empty(); ++i)
                sizes[set] += int64_t(request_.weights[rows[i]]);
        }
    }

    // Weights are added bit by bit: the rows that have a bit are counted as rows without weights are.
    void add_block(size_t target, const CellLists& lists, size_t block, WorkerScratch& scratch) const {
        const uint64_t* words = rows_.words + block * (rows_.n_rows + 1) * block_words;
        for (size_t set = 0; set + 1 < lists.starts.size(); ++set) {
            const auto rows = rows_of(lists, set);
            int64_t* counts = counts_of(target, set) + block * block_bits;
            if (request_.weights.empty()) {
                add(words, rows, 0, counts, scratch);
                continue;
            }
            // A sum of weights, bit by bit: rows whose weight has the bit are counted, and their count is
            // shifted.
            for (unsigned bit = 0; bit < unsigned(std::bit_width(largest_)); ++bit) {
                scratch.some.clear();
                for (const row_t row : rows)
                    if (request_.weights[row] >> bit & 1) scratch.some.push_back(row);
                add(words, scratch.some, bit, counts, scratch);
            }
        }
    }

    void add_listed(size_t target, const CellLists& lists) const {
        for (size_t set = 0; set + 1 < lists.starts.size(); ++set) {
            int64_t* counts = counts_of(target, set) + rows_.n_blocks * block_bits;
            for (const row_t row : rows_of(lists, set)) {
                const int64_t weight = request_.weights.empty() ? 1 : int64_t(request_.weights[row]);
                for (const uint32_t column : rows_.listed[row]) counts[column] += weight;
            }
        }
    }

  private:
    static std::span<const row_t> rows_of(const CellLists& lists, size_t set) {
        return {lists.rows.data() + lists.starts[set], lists.starts[set + 1] - lists.starts[set]};
    }

    int64_t* counts_of(size_t target, size_t set) const {
        return request_.counts + (size_t(request_.sets[target]) + set) * rows_.n_columns();
    }

    void add(const uint64_t* words, std::span<const row_t> rows, unsigned shift, int64_t* counts,
             WorkerScratch& scratch) const {
        if (rows.empty()) return;
        const unsigned n_planes = std::max(4u, unsigned(std::bit_width(rows.size())));
        std::fill(scratch.planes, scratch.planes + n_planes * block_words, 0);
        const size_t whole = rows.size() / 16 * 16;
        if (whole != 0) kernels().add_rows(words, rows.data(), whole, scratch.planes, n_planes);
        if (whole != rows.size()) {  // filled up with the row behind the last one, which is all zeros
            row_t last[16];
            std::fill(std::copy(rows.begin() + ptrdiff_t(whole), rows.end(), last), last + 16,
                      row_t(rows_.n_rows));
            kernels().add_rows(words, last, 16, scratch.planes, n_planes);
        }
        kernels().read_planes(scratch.planes, n_planes, scratch.counts);
        for (size_t i = 0; i < block_bits; ++i) counts[i] += int64_t(scratch.counts[i]) << shift;
    }

    const PackedRows& rows_;
    const RawRequest& request_;
    GivenEntries given_;
    uint64_t largest_ = 0;
};

}  // namespace

void add_raw_counts(const PackedRows& rows, const RawRequest& request, Pool& pool) {
    const Counter counter(rows, request);
    const size_t n_targets = request.targets.size();
    std::vector<CellLists> lists(std::min(targets_at_a_time, n_targets));
    std::vector<WorkerScratch> scratch(pool.size());
    const size_t n_parts = rows.n_blocks + (rows.n_listed != 0 ? 1 : 0);
    for (size_t first = 0; first < n_targets; first += targets_at_a_time) {
        const size_t n = std::min(targets_at_a_time, n_targets - first);
        const double steps = double(n) * double(counter.n_entries());
        pool.run(n, 4 * steps, [&](size_t task, unsigned) { counter.list(first + task, lists[task]); });
        // All targets of a block, one after the other: its rows stay in the cache.
        pool.run(n * n_parts, 4 * steps * double(n_parts), [&](size_t task, unsigned worker) {
            const size_t part = task / n, l = task % n;
            if (part < rows.n_blocks) {
                counter.add_block(first + l, lists[l], part, scratch[worker]);
            } else {
                counter.add_listed(first + l, lists[l]);
            }
        });
    }
}

void pack_rows(const DenseColumns& columns, std::span<const int64_t> first, uint64_t* words) {
    constexpr size_t rows_at_a_time = 512;  // half a megabyte of sixteen blocks
    const size_t n_rows = columns.n_rows();
    std::vector<size_t> packed;
    for (size_t j = 0; j < columns.size(); ++j)
        if (first[j] >= 0) packed.push_back(j);
    if (packed.empty()) return;
    std::vector<uint8_t> bytes(packed.size() * rows_at_a_time);
    for (size_t top = 0; top < n_rows; top += rows_at_a_time) {
        const size_t n = std::min(rows_at_a_time, n_rows - top);
        columns.read_bytes(packed, top, n, bytes.data(), rows_at_a_time);
        for (size_t i = 0; i < packed.size(); ++i) {
            const uint8_t* codes = bytes.data() + i * rows_at_a_time;
            columns.check(packed[i], *std::max_element(codes, codes + n));
            for (size_t row = 0; row < n; ++row) {
                if (codes[row] == 0) continue;
                const size_t column = size_t(first[packed[i]]) + codes[row] - 1, bit = column % block_bits;
                uint64_t* line = words + (column / block_bits * (n_rows + 1) + top + row) * block_words;
                line[bit / 64] |= uint64_t(1) << (bit % 64);
            }
        }
    }
}

}  // namespace labelsieve
