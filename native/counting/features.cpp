#include "counting/features.hpp"

#include <algorithm>
#include <numeric>

namespace labelsieve {

namespace {

// From `python -m benchmarks.strategies`: with fewer ones than this, going over them beats adding rows of
// bits.
constexpr double sparse_density = 0.005;

constexpr size_t fewest_tiled = 8;  // features of a block that is not the only one

struct Plan {
    size_t levels;
    std::vector<size_t> features;
};

// Features of the same number of levels share blocks. Those left over join the last block of the next larger
// number when it has space for all of them, so that a table with a few odd columns does not pay for nearly
// empty blocks.
//
// Columns of bits have no such limit; they are split so that every worker has a block.
std::vector<Plan> plan_blocks(const Columns& columns, std::vector<size_t> narrow, bool bounded,
                              size_t n_workers) {
    const auto levels = [&](size_t k) { return std::max<size_t>(2, columns.levels(k)); };
    std::stable_sort(narrow.begin(), narrow.end(), [&](size_t a, size_t b) { return levels(a) > levels(b); });
    const size_t share = std::max(fewest_tiled, (narrow.size() + n_workers - 1) / n_workers + 3) / 4 * 4;
    const auto capacity = [&](size_t n) { return bounded ? positional_capacity(n) : share; };
    std::vector<Plan> plans;
    for (size_t start = 0, stop; start < narrow.size(); start = stop) {
        const size_t r = levels(narrow[start]);
        for (stop = start; stop < narrow.size() && levels(narrow[stop]) == r;) ++stop;
        size_t at = start;
        if (bounded && !plans.empty() &&
            stop - start <= capacity(plans.back().levels) - plans.back().features.size()) {
            auto& open = plans.back().features;
            open.insert(open.end(), narrow.begin() + ptrdiff_t(start), narrow.begin() + ptrdiff_t(stop));
            continue;
        }
        while (at < stop) {
            const size_t n = std::min(capacity(r), stop - at);
            plans.push_back(
                {.levels = r,
                 .features = {narrow.begin() + ptrdiff_t(at), narrow.begin() + ptrdiff_t(at + n)}});
            at += n;
        }
    }
    return plans;
}

}  // namespace

template <class Count>
Features<Count>::Features(const Columns& columns, const RowWeights<Count>* weights, Strategy strategy,
                          Pool& pool, const std::vector<bool>& deferred)
    : columns_(columns), weights_(weights), strategy_(strategy) {
    if (weights && strategy_ == Strategy::tiled) strategy_ = Strategy::positional;
    std::vector<size_t> narrow;
    size_t n_bits = 0;
    for (size_t k = 0; k < columns.size(); ++k) {
        if (columns.levels(k) > narrow_levels || strategy_ == Strategy::histogram) {
            wide_.push_back(k);
        } else if (!deferred.empty() && deferred[k]) {
            deferred_.push_back(k);
        } else {
            narrow.push_back(k);
            n_bits += std::max<size_t>(1, columns.levels(k) - 1);
        }
    }
    by_groups_ = strategy_ == Strategy::grouped;
    if (by_groups_) strategy_ = Strategy::positional;
    wants_bits_ = strategy_ == Strategy::tiled || (strategy_ == Strategy::automatic && !weights &&
                                                   deferred_.empty() && n_bits < kernels().few_columns);
    pack(std::move(narrow), pool);
    n_first_blocks_ = blocks_.size();
}

template <class Count>
void Features<Count>::pack_deferred(Pool& pool) {
    if (blocks_.size() == n_first_blocks_ && !deferred_.empty()) pack(deferred_, pool);
}

// Adds blocks for features of few levels.
template <class Count>
void Features<Count>::pack(std::vector<size_t> narrow, Pool& pool) {
    std::vector<size_t> nearly_zero;
    const auto* sparse = dynamic_cast<const SparseColumns*>(&columns_);
    const double few_rows = sparse_density * double(n_rows());
    if (sparse && !wants_bits_ && strategy_ != Strategy::positional) {
        const auto is_sparse = [&](size_t k) {
            return columns_.levels(k) <= 2 &&
                   (strategy_ == Strategy::sparse || double(sparse->n_listed(k)) < few_rows);
        };
        std::copy_if(narrow.begin(), narrow.end(), std::back_inserter(nearly_zero), is_sparse);
        std::erase_if(narrow, is_sparse);
    }
    const size_t n_columns = narrow.size() + nearly_zero.size();
    const auto plans = plan_blocks(columns_, std::move(narrow), !wants_bits_, pool.size());
    const size_t n_sparse = (nearly_zero.size() + sparse_capacity - 1) / sparse_capacity;
    std::vector<std::unique_ptr<Block<Count>>> blocks(plans.size() + n_sparse);  // an interrupt leaves none
    const double cost = 0.7 * double(n_rows()) * double(n_columns);
    pool.run(blocks.size(), cost, [&](size_t b, unsigned) {
        auto& block = blocks[b];
        if (b >= plans.size()) {
            const auto first = nearly_zero.begin() + ptrdiff_t((b - plans.size()) * sparse_capacity);
            const auto last = first + std::min(ptrdiff_t(sparse_capacity), nearly_zero.end() - first);
            block = std::make_unique<SparseBlock<Count>>(*sparse, std::vector<size_t>(first, last), weights_);
            return;
        }
        if constexpr (std::is_same_v<Count, count_t>) {
            if (wants_bits_) {
                block = std::make_unique<TiledBlock>(columns_, plans[b].levels, plans[b].features);
                return;
            }
        }
        block =
            std::make_unique<PositionalBlock<Count>>(columns_, plans[b].levels, plans[b].features, weights_);
    });
    std::move(blocks.begin(), blocks.end(), std::back_inserter(blocks_));
    if (!sparse && !wants_bits_) make_sparse(pool);
}

// Dense input is packed first; then the blocks that turn out nearly empty are kept as lists of their ones.
template <class Count>
void Features<Count>::make_sparse(Pool& pool) {
    if (strategy_ == Strategy::positional) return;
    const auto is_sparse = [&](const Block<Count>& block) {
        if (block.levels() != 2) return false;
        if (strategy_ == Strategy::sparse) return true;
        const double ones = std::accumulate(block.totals(), block.totals() + block.width(), 0.0);
        const double all = weights_ ? double(weights_->total()) : double(n_rows());
        return ones < sparse_density * all * double(block.features().size());
    };
    std::vector<std::unique_ptr<Block<Count>>> kept, nearly_zero;
    for (auto& block : blocks_) (is_sparse(*block) ? nearly_zero : kept).push_back(std::move(block));
    constexpr size_t together = sparse_capacity / block_bits;
    const size_t n_kept = kept.size(), n_sparse = (nearly_zero.size() + together - 1) / together;
    kept.resize(n_kept + n_sparse);
    pool.run(n_sparse, 6 * double(n_rows()) * double(nearly_zero.size()), [&](size_t task, unsigned) {
        const size_t first = task * together, last = std::min(nearly_zero.size(), first + together);
        kept[n_kept + task] =
            std::make_unique<SparseBlock<Count>>(nearly_zero, first, last, n_rows(), weights_);
        for (size_t b = first; b < last; ++b) nearly_zero[b].reset();
    });
    blocks_ = std::move(kept);
}

template <class Count>
size_t Features<Count>::bytes() const {
    size_t total = 0;
    for (const auto& block : blocks_) total += block->bytes();
    return total;
}

template class Features<count_t>;
template class Features<double>;

}  // namespace labelsieve
