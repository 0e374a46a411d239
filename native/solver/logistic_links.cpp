#include "solver/logistic_links.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace labelsieve {
namespace {

constexpr double cycles_of_input = 15;  // for all steps, in every row

// The inputs of one label. The first ones are read where they are; others are copied.
class Inputs {
  public:
    Inputs(const LogisticRows& all, size_t n_shared, std::span<const int32_t> own)
        : rows_(all), columns_(n_shared + own.size()) {
        std::iota(columns_.begin(), columns_.begin() + ptrdiff_t(n_shared), size_t(0));
        std::copy(own.begin(), own.end(), columns_.begin() + ptrdiff_t(n_shared));
        const size_t n = columns_.size();
        gram_.reserve(n * n);
        for (const size_t a : columns_)
            for (const size_t b : columns_) gram_.push_back(all.gram[a * all.n_inputs + b]);
        rows_.n_inputs = n;
        rows_.gram = gram_.data();
        bool are_first = true;
        for (size_t j = n_shared; j < n; ++j) are_first = are_first && columns_[j] == j;
        if (are_first) return;
        rows_.pitch = logistic_width(n);
        copies_ = Buffer<double>(checked_product(all.n, rows_.pitch));
        for (size_t i = 0; i < all.n; ++i)
            for (size_t j = 0; j < n; ++j)
                copies_[i * rows_.pitch + j] = all.rows[i * all.pitch + columns_[j]];
        rows_.rows = copies_.data();
    }

    const LogisticRows& rows() const { return rows_; }

  private:
    LogisticRows rows_;
    std::vector<size_t> columns_;
    std::vector<double> gram_;
    Buffer<double> copies_;
};

}  // namespace

void minimize_links(const LogisticLinks& links, double tolerance, size_t max_steps, std::span<double> weights,
                    std::span<LogisticEnd> ends, Pool& pool) {
    const LogisticRows& all = links.all;
    const double total = std::accumulate(all.costs.begin(), all.costs.end(), 0.0);
    const double cost = cycles_of_input * double(all.n) * double(links.n_shared) * double(ends.size());
    pool.run(ends.size(), cost, [&](size_t link, unsigned worker) {
        const auto own = links.own[link];
        const Inputs inputs(all, links.n_shared, own);
        const uint8_t* present = links.present + link * all.n;
        const std::vector<uint32_t> classes(present, present + all.n);
        double of_present = 0;
        for (size_t i = 0; i < all.n; ++i)
            if (present[i]) of_present += all.costs[i];
        const double share = of_present / total, curvature = share * (1 - share), direction = 1;
        const size_t first = link * links.n_shared + size_t(links.own.starts[link]);
        ends[link] = minimize_logistic(
            inputs.rows(), {.of_rows = classes, .curvatures = {&curvature, 1}, .directions = &direction},
            {.tolerance = tolerance, .max_steps = max_steps, .check = [&] { pool.check(worker); }},
            weights.subspan(first, links.n_shared + own.size()));
    });
}

}  // namespace labelsieve
