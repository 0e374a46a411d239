#include "counting/candidates.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace labelsieve {

namespace {

constexpr size_t line_words = cache_line / sizeof(uint64_t), line_rows = 64 * line_words;
constexpr size_t group = 64;          // columns that are packed together
constexpr size_t groups_of_tile = 4;  // read one after the other, where codes lie row by row
constexpr fixed_t unlimited = std::numeric_limits<fixed_t>::max();
constexpr size_t FEATURE = 1, TARGET = 2, GIVEN = 4;  // bits of the index of a factor

// Rows of the classes within the levels of a selected feature are kept as bits up to this size; with more
// targets or rows they are found by lists. Beyond it they no longer stay in the second cache.
constexpr size_t within_memory = size_t(1) << 22;

// Several threads evaluate this many candidates at a time: those that would not have been needed are few.
constexpr size_t together = 16;

}  // namespace

Candidates::Candidates(const Columns& features, const Columns& targets, const fixed_t* table, Pool& pool)
    : pool_(pool), table_(table), n_rows_(features.n_rows()),
      n_words_((features.n_rows() + line_rows - 1) / line_rows * line_words) {
    size_t n_columns = 0;
    for (size_t k = 0; k < features.size(); ++k) {
        levels_.push_back(std::max<size_t>(2, features.levels(k)));
        first_column_.push_back(n_columns);
        n_columns += levels_.back() - 1;
    }
    words_.resize(checked_product(n_columns, n_words_));
    sizes_.resize(n_columns);
    listed_.resize(size());
    read_targets(targets);
    margins_.resize(checked_product(n_columns, n_sets_));
    memory_.resize(pool.size());
    pack(features);
    pool.run(size(), double(words_.size()) + 2 * double(margins_.size()),
             [&](size_t feature, unsigned) { count_margins(feature); });
}

// Codes that lie row by row are read in stripes of rows, others in groups of columns.
void Candidates::pack(const Columns& columns) {
    const double cost = 0.5 * double(n_rows_) * double(size());
    const size_t n_groups = (size() + group - 1) / group;
    const auto end_of = [&](size_t first) { return std::min(size(), first + group); };
    if (const auto* sparse = dynamic_cast<const SparseColumns*>(&columns)) {
        pool_.run(n_groups, cost, [&](size_t task, unsigned) {
            for (size_t k = group * task; k < end_of(group * task); ++k) pack_listed(*sparse, k);
        });
        return;
    }
    const auto& dense = dynamic_cast<const DenseColumns&>(columns);
    std::vector<size_t> all(size());
    std::iota(all.begin(), all.end(), 0);
    size_t stride = 0;
    const uint8_t* by_rows = dense.rows_of_bytes(all, stride);
    if (!by_rows) {
        pool_.run(n_groups, cost, [&](size_t task, unsigned) {
            pack_columns(dense, {all.data() + group * task, all.data() + end_of(group * task)});
        });
        return;
    }
    const uint8_t* end = by_rows + (n_rows_ - 1) * stride + size();  // nothing is read from there on
    pool_.run((n_rows_ + line_rows - 1) / line_rows, cost, [&](size_t task, unsigned) {
        const size_t top = task * line_rows, rows = std::min(line_rows, n_rows_ - top);
        for (size_t first = 0; first < size(); first += groups_of_tile * group)
            pack_tile(dense, {by_rows + top * stride, end}, stride, rows, top / 64, first,
                      std::min(size(), first + groups_of_tile * group));
    });
}

void Candidates::pack_listed(const SparseColumns& columns, size_t feature) {
    std::fill_n(words(feature), (levels_[feature] - 1) * n_words_, 0);
    each_listed(columns, feature, [&](size_t level, row_t row) {
        words(feature)[(level - 1) * n_words_ + row / 64] |= uint64_t(1) << (row % 64);
    });
}

// Sixty-four codes of a column become a mask of rows for each level.
void Candidates::pack_columns(const DenseColumns& columns, std::span<const size_t> features) {
    Buffer<uint8_t> bytes(features.size() * line_rows);
    for (size_t top = 0; top < n_rows_; top += line_rows) {
        const size_t rows = std::min(line_rows, n_rows_ - top);
        const bool in_place = rows == line_rows && columns.bytes(features[0]) != nullptr;
        if (rows < line_rows) std::fill_n(bytes.data(), bytes.size(), 0);
        if (!in_place) columns.read_bytes(features, top, rows, bytes.data(), line_rows);
        for (size_t i = 0; i < features.size(); ++i) {
            const size_t k = features[i];
            const uint8_t* codes = in_place ? columns.bytes(k) + top : bytes.data() + i * line_rows;
            uint64_t unknown = 0;
            for (size_t w = 0; w < line_words; ++w)
                unknown |=
                    kernels().match_levels(codes + 64 * w, levels_[k], words(k) + top / 64 + w, n_words_);
            if (unknown != 0) columns.check(k, 255);
        }
    }
}

// Sixty-four codes of a row become a mask of columns for each level, and 64 such masks are transposed. Whole
// cache lines are read and written: some groups of columns of a row, one after the other, and 512 rows of a
// column.
void Candidates::pack_tile(const DenseColumns& columns, std::span<const uint8_t> codes, size_t stride,
                           size_t rows, size_t word, size_t first, size_t last) {
    const size_t levels =
        *std::max_element(levels_.begin() + ptrdiff_t(first), levels_.begin() + ptrdiff_t(last));
    const size_t n_masks = (levels - 1) * line_rows;  // of a group
    auto masks = Buffer<uint64_t>::unset((last - first + group - 1) / group * n_masks);
    if (rows < line_rows) std::fill_n(masks.data(), masks.size(), 0);
    uint64_t unknown[groups_of_tile] = {};
    for (size_t row = 0; row < rows; ++row)
        for (size_t from = first, g = 0; from < last; from += group, ++g) {
            const size_t at = row * stride + from;
            uint8_t copy[group] = {};
            const uint8_t* of_row = codes.data() + at;
            if (at + group > codes.size())
                of_row = std::copy(of_row, codes.data() + row * stride + last, copy) - (last - from);
            unknown[g] |= kernels().match_levels(of_row, levels, masks.data() + g * n_masks + row, line_rows);
        }
    for (size_t block = 0; block < masks.size(); block += 64) kernels().transpose(masks.data() + block);
    for (size_t k = first; k < last; ++k) {
        const size_t g = (k - first) / group, column = (k - first) % group;
        if (unknown[g] >> column & 1) columns.check(k, 255);
        const uint64_t* mask = masks.data() + g * n_masks + column;
        for (size_t a = 1; a < levels; ++a, mask += line_rows) {
            uint64_t line[line_words], any = 0;
            for (size_t w = 0; w < line_words; ++w) any |= line[w] = mask[64 * w];
            if (a < levels_[k]) {
                std::copy_n(line, line_words, words(k) + (a - 1) * n_words_ + word);
            } else if (any != 0) {  // a code that another column of the tile has
                columns.check(k, uint32_t(a));
            }
        }
    }
}

void Candidates::read_targets(const Columns& columns) {
    const Targets targets(columns, pool_);
    first_set_.assign(1, 0);
    for (size_t l = 0; l < targets.size(); ++l) {
        first_set_.push_back(first_set_.back() + targets.classes(l) - 1);
        one_set_each_ = one_set_each_ && targets.classes(l) == 2;
    }
    n_sets_ = first_set_.back();
    set_words_ = Buffer<uint64_t>(checked_product(n_sets_, n_words_));
    row_starts_.assign(n_rows_ + 2, 0);
    for (size_t l = 0; l < targets.size(); ++l)
        for (size_t c = 1; c < targets.classes(l); ++c) {
            const auto rows = targets.rows(l, c);
            set_bits(rows, set_words_.data() + set_sizes_.size() * n_words_);
            set_sizes_.push_back(count_t(rows.size()));
            for (const row_t row : rows) ++row_starts_[row + 2];
        }
    for (size_t row = 1; row < row_starts_.size(); ++row) row_starts_[row] += row_starts_[row - 1];
    row_sets_.resize(row_starts_.back());
    for (size_t l = 0, set = 0; l < targets.size(); ++l)
        for (size_t c = 1; c < targets.classes(l); ++c, ++set)
            for (const row_t row : targets.rows(l, c)) row_sets_[row_starts_[row + 1]++] = uint32_t(set);
    row_starts_.pop_back();
    target_sums_.assign(targets.size(), 0);
    add_cell(set_sizes_.data(), count_t(n_rows_), target_sums_.data());
}

// Rows of every column of a feature, and those in each set: by the rows of the column when they are few.
void Candidates::count_margins(size_t feature) {
    const size_t n_columns = levels_[feature] - 1, first = first_column_[feature];
    count_t* margins = margins_.data() + first * n_sets_;
    size_t all = 0;
    for (size_t a = 0; a < n_columns; ++a) {
        const BitColumns column{.words = words(feature) + a * n_words_, .stride = n_words_, .size = 1};
        sizes_[first + a] = 0;
        kernels().count_common(column, column, n_words_, &sizes_[first + a], 1);
        all += sizes_[first + a];
    }
    listed_[feature] = double(all);
    std::fill_n(margins, n_columns * n_sets_, 0);
    const double per_row = double(row_sets_.size()) / double(n_rows_);
    if (double(all) * (2 + 1.5 * per_row) > 0.3 * double(n_columns * n_sets_ * n_words_)) {
        kernels().count_common({.words = set_words_.data(), .stride = n_words_, .size = n_sets_},
                               {.words = words(feature), .stride = n_words_, .size = n_columns}, n_words_,
                               margins, n_sets_);
        return;
    }
    for (size_t a = 0; a < n_columns; ++a, margins += n_sets_)
        for (size_t w = 0; w < n_words_; ++w)
            for (uint64_t bits = words(feature)[a * n_words_ + w]; bits != 0; bits &= bits - 1) {
                const size_t row = 64 * w + size_t(std::countr_zero(bits));
                for (size_t e = row_starts_[row]; e < row_starts_[row + 1]; ++e) ++margins[row_sets_[e]];
            }
}

// sums[l] += the terms of one cell of (feature, ...) with every class of target l: in_sets[j] of its `all`
// rows are in set j, the others in the most frequent class.
void Candidates::add_cell(const count_t* in_sets, count_t all, fixed_t* sums) const {
    if (one_set_each_) {
        for (size_t l = 0; l < n_sets_; ++l) sums[l] += table_[in_sets[l]] + table_[all - in_sets[l]];
        return;
    }
    for (size_t l = 0; l < n_targets(); ++l) {
        count_t rest = all;
        for (size_t j = first_set_[l]; j < first_set_[l + 1]; ++j) {
            sums[l] += table_[in_sets[j]];
            rest -= in_sets[j];
        }
        sums[l] += table_[rest];
    }
}

// sums[l] += the sum over the cells of (feature, target l).
void Candidates::add_pair(size_t feature, Memory& memory, fixed_t* sums) const {
    memory.left.reserve(n_sets_ + 1);
    count_t* left = memory.left.data();
    std::copy(set_sizes_.begin(), set_sizes_.end(), left);
    count_t rest = count_t(n_rows_);
    for (size_t a = 1; a < levels_[feature]; ++a) {
        const count_t* of_level = margins(feature) + (a - 1) * n_sets_;
        const count_t size = sizes(feature)[a - 1];
        add_cell(of_level, size, sums);
        for (size_t j = 0; j < n_sets_; ++j) left[j] -= of_level[j];
        rest -= size;
    }
    add_cell(left, rest, sums);
}

fixed_t Candidates::alone(size_t feature) const {
    count_t rest = count_t(n_rows_);
    fixed_t sum = 0;
    for (size_t a = 1; a < levels_[feature]; ++a) {
        sum += table_[sizes(feature)[a - 1]];
        rest -= sizes(feature)[a - 1];
    }
    return sum + table_[rest];
}

void Candidates::single_sums(fixed_t* of_features, fixed_t* of_targets) const {
    for (size_t k = 0; k < size(); ++k) of_features[k] = alone(k);
    std::copy(target_sums_.begin(), target_sums_.end(), of_targets);
}

void Candidates::pair_sums(bool reduce, fixed_t* out) {
    const double cost = 4 * double(sizes_.size() + size()) * double(n_sets_);
    pool_.run(size(), cost, [&](size_t feature, unsigned worker) {
        std::vector<fixed_t>& sums = memory_[worker].pairs;
        sums.assign(n_targets(), 0);
        add_pair(feature, memory_[worker], sums.data());
        if (reduce) {
            out[feature] = std::accumulate(sums.begin(), sums.end(), fixed_t(0));
        } else {
            std::copy(sums.begin(), sums.end(), out + feature * n_targets());
        }
    });
}

// The sum of tables that a target's least value is at most; `own` is that of the feature alone.
fixed_t Candidates::limit_of(size_t target, fixed_t own, const fixed_t* pairs) const {
    const TableFactors& of = score_.limit;
    return of[0] * table_[n_rows_] + of[FEATURE] * own + of[TARGET] * target_sums_[target] +
           of[FEATURE | TARGET] * pairs[target];
}

void Candidates::begin(const FallingScore& score) {
    score_ = score;
    selected_.clear();
    depths_.assign(size(), 0);
    totals_.assign(size(), unlimited);
    least_.resize(checked_product(size(), n_targets()));
    for (Memory& memory : memory_) memory.n_counted = 0;
    if (!score.has_limit) return;
    for (size_t k = 0; k < size(); ++k) {
        std::vector<fixed_t>& pairs = memory_[0].pairs;
        pairs.assign(n_targets(), 0);
        add_pair(k, memory_[0], pairs.data());
        const fixed_t own = alone(k);
        totals_[k] = 0;
        for (size_t l = 0; l < n_targets(); ++l) {
            const fixed_t limit = limit_of(l, own, pairs.data());
            totals_[k] += score_.positive ? std::max<fixed_t>(limit, 0) : limit;
        }
    }
}

void Candidates::select(size_t feature) {
    Selected given{.feature = feature, .constant = {}, .within = {}};
    const TableFactors& of = score_.body;
    const fixed_t always = of[0] * table_[n_rows_] + of[GIVEN] * alone(feature);
    given.constant.assign(n_targets(), 0);
    add_pair(feature, memory_[0], given.constant.data());
    for (size_t l = 0; l < n_targets(); ++l)
        given.constant[l] = always + of[TARGET] * target_sums_[l] + of[TARGET | GIVEN] * given.constant[l];
    const size_t n_columns = levels_[feature] - 1, n_within = n_columns * (1 + n_sets_);
    if (n_within * n_words_ * sizeof(uint64_t) <= within_memory &&
        word_cost(feature, feature) < 8 * list_cost(feature, feature)) {
        given.within = Buffer<uint64_t>::unset(n_within * n_words_);
        uint64_t* out = given.within.data();
        for (size_t v = 0; v < n_columns; ++v) {
            const uint64_t* of_level = words(feature) + v * n_words_;
            out = std::copy_n(of_level, n_words_, out);
            for (size_t j = 0; j < n_sets_; ++j, out += n_words_)
                for (size_t w = 0; w < n_words_; ++w) out[w] = of_level[w] & set_words_[j * n_words_ + w];
        }
    }
    selected_.push_back(std::move(given));
}

// Guesses at the cycles of counting a candidate: by the rows that it has in common with a selected feature,
// or by intersecting columns.
double Candidates::list_cost(size_t feature, size_t given) const {
    const double common = listed_[feature] * listed_[given] / double(n_rows_);
    const double pairs = double((levels_[feature] - 1) * (levels_[given] - 1));
    return common * (3 + 1.5 * double(row_sets_.size()) / double(n_rows_)) +
           pairs * (double(n_words_) + 0.2 * double(n_sets_));
}

double Candidates::word_cost(size_t feature, size_t given) const {
    const double pairs = double((levels_[feature] - 1) * (levels_[given] - 1));
    return pairs * double(1 + n_sets_) * (0.3 * double(n_words_) + 4);
}

void Candidates::count_lists(size_t feature, const Selected& given, count_t* counts) const {
    for (size_t a = 1; a < levels_[feature]; ++a)
        for (size_t v = 1; v < levels_[given.feature]; ++v, counts += 1 + n_sets_) {
            const uint64_t* one = words(feature) + (a - 1) * n_words_;
            const uint64_t* other = words(given.feature) + (v - 1) * n_words_;
            for (size_t w = 0; w < n_words_; ++w)
                for (uint64_t bits = one[w] & other[w]; bits != 0; bits &= bits - 1) {
                    const size_t row = 64 * w + size_t(std::countr_zero(bits));
                    ++counts[0];
                    for (size_t e = row_starts_[row]; e < row_starts_[row + 1]; ++e)
                        ++counts[1 + row_sets_[e]];
                }
        }
}

// Accounts for one more selected feature.
void Candidates::advance_once(size_t feature, Memory& memory) {
    const Selected& given = selected_[depths_[feature]];
    const size_t levels = levels_[feature], n_given = levels_[given.feature], step = 1 + n_sets_;
    const size_t n_counts = (levels - 1) * (n_given - 1) * step;
    memory.counts.reserve(n_counts + n_given * step);
    count_t* counts = memory.counts.data();
    std::fill_n(counts, n_counts, 0);
    if (given.within.size() != 0 && word_cost(feature, given.feature) < list_cost(feature, given.feature)) {
        const size_t n_within = (n_given - 1) * step;
        kernels().count_common({.words = given.within.data(), .stride = n_words_, .size = n_within},
                               {.words = words(feature), .stride = n_words_, .size = levels - 1}, n_words_,
                               counts, n_within);
    } else {
        count_lists(feature, given, counts);
    }
    ++memory.n_counted;

    // Level 0 of either feature, and of both, is what the others leave; rows in all come first, then those in
    // each set.
    count_t* first_level = counts + n_counts;
    first_level[0] = count_t(n_rows_);
    std::copy(set_sizes_.begin(), set_sizes_.end(), first_level + 1);
    for (size_t v = 1; v < n_given; ++v) {
        count_t* of_level = first_level + v * step;
        of_level[0] = sizes(given.feature)[v - 1];
        std::copy_n(margins(given.feature) + (v - 1) * n_sets_, n_sets_, of_level + 1);
        for (size_t j = 0; j < step; ++j) first_level[j] -= of_level[j];
    }
    memory.sums.assign(n_targets(), 0);
    fixed_t* sums = memory.sums.data();
    fixed_t together_sum = 0;
    const auto add = [&](const count_t* cell) {
        together_sum += table_[cell[0]];
        add_cell(cell + 1, cell[0], sums);
    };
    memory.left.reserve(step);
    count_t* left = memory.left.data();
    for (size_t a = 1; a < levels; ++a) {
        left[0] = sizes(feature)[a - 1];
        std::copy_n(margins(feature) + (a - 1) * n_sets_, n_sets_, left + 1);
        for (size_t v = 1; v < n_given; ++v, counts += step) {
            count_t* of_level = first_level + v * step;
            for (size_t j = 0; j < step; ++j) {
                left[j] -= counts[j];
                of_level[j] -= counts[j];
            }
            add(counts);
        }
        for (size_t j = 0; j < step; ++j) first_level[j] -= left[j];
        add(left);
    }
    for (size_t v = 0; v < n_given; ++v) add(first_level + v * step);

    const TableFactors& of = score_.body;
    const bool is_first = depths_[feature] == 0;
    const bool needs_pairs = of[FEATURE | TARGET] != 0 || (is_first && score_.has_limit);
    memory.pairs.assign(n_targets(), 0);
    if (needs_pairs) add_pair(feature, memory, memory.pairs.data());
    const fixed_t own = alone(feature);
    const fixed_t always = of[FEATURE] * own + of[FEATURE | GIVEN] * together_sum;
    fixed_t* least = least_.data() + feature * n_targets();
    fixed_t total = 0;
    for (size_t l = 0; l < n_targets(); ++l) {
        const fixed_t value = given.constant[l] + always + of[FEATURE | TARGET] * memory.pairs[l] +
                              of[FEATURE | TARGET | GIVEN] * sums[l];
        const fixed_t before = !is_first          ? least[l]
                               : score_.has_limit ? limit_of(l, own, memory.pairs.data())
                                                  : unlimited;
        least[l] = std::min(before, value);
        total += score_.positive ? std::max<fixed_t>(least[l], 0) : least[l];
    }
    totals_[feature] = total;
    ++depths_[feature];
}

void Candidates::advance(std::span<const uint32_t> features) {
    double cost = 0;
    if (!selected_.empty())
        for (const uint32_t f : features)
            cost +=
                double(selected_.size() - depths_[f]) *
                (std::min(word_cost(f, selected_.back().feature), list_cost(f, selected_.back().feature)) +
                 200);
    pool_.run(features.size(), cost, [&](size_t task, unsigned worker) {
        while (!is_exact(features[task])) advance_once(features[task], memory_[worker]);
    });
}

size_t Candidates::find_best(const uint8_t* available, double divisor) {
    size_t best = size();
    double most = -std::numeric_limits<double>::infinity();
    fixed_t lowest =
        std::numeric_limits<fixed_t>::min();  // of the totals that are not less than the best score
    const auto may_win = [&](size_t f) {
        const double score = double(totals_[f]) / divisor;
        return score > most || (score == most && f < best);
    };
    std::vector<uint32_t> block;
    const auto evaluate = [&] {
        const size_t f0 = block.front();
        const size_t given = selected_.empty() ? f0 : selected_.back().feature;
        const double cost = 200 + std::min(word_cost(f0, given), list_cost(f0, given));
        pool_.run(block.size(), double(block.size()) * cost, [&](size_t task, unsigned worker) {
            const uint32_t f = block[task];
            while (!is_exact(f) && may_win(f)) advance_once(f, memory_[worker]);
        });
        for (const uint32_t f : block) {
            if (!is_exact(f) || !may_win(f)) continue;
            best = f;
            most = double(totals_[f]) / divisor;
            for (lowest = totals_[f]; double(lowest - 1) / divisor == most;) --lowest;
        }
        block.clear();
    };
    // The largest bound first: it is often the best score, and then few others may win.
    for (size_t f = 0; f < size(); ++f)
        if (available[f] && (best == size() || totals_[f] > totals_[best])) best = f;
    if (best == size()) return best;
    block.push_back(uint32_t(best));
    const size_t at_a_time = pool_.size() == 1 ? 1 : totals_[best] == unlimited ? size() : together;
    best = size();
    evaluate();
    for (size_t f = 0; f < size(); ++f) {
        if (!available[f] || totals_[f] < lowest || !may_win(f)) continue;
        block.push_back(uint32_t(f));
        if (block.size() == at_a_time) evaluate();
    }
    if (!block.empty()) evaluate();
    return best;
}

uint64_t Candidates::n_counted() const {
    uint64_t all = 0;
    for (const Memory& memory : memory_) all += memory.n_counted;
    return all;
}

size_t Candidates::bytes() const {
    return words_.size() * sizeof(uint64_t) + (sizes_.size() + margins_.size()) * sizeof(count_t);
}

}  // namespace labelsieve
