#include "counting/terms.hpp"

#include <algorithm>

namespace labelsieve {

namespace {

// Four such weights fit into 32 bits.
constexpr uint64_t light = uint64_t(1) << 29;

}  // namespace

fixed_t WeightedTerm::operator()(uint64_t n) const { return weighted_term(*this, double(n)); }

template <class Count>
RowWeights<Count>::RowWeights(std::span<const uint64_t> weights) : values_(weights.size() + 1) {
    for (size_t row = 0; row < weights.size(); ++row) total_ += values_[row] = Count(weights[row]);
    if constexpr (std::is_same_v<Count, double>) {
        low_ = Buffer<uint32_t>(weights.size() + 1);
        for (size_t row = 0; row < weights.size(); ++row) {
            if (weights[row] < light) {
                low_[row] = uint32_t(weights[row]);
                continue;
            }
            if (high_.size() == 0) high_ = Buffer<uint32_t>(weights.size() + 1);
            low_[row] = uint32_t(weights[row] & ((uint64_t(1) << high_bits) - 1));
            high_[row] = uint32_t(weights[row] >> high_bits);
        }
    }
}

template <class Count>
const uint32_t* RowWeights<Count>::low() const {
    if constexpr (std::is_same_v<Count, double>) {
        return low_.data();
    } else {
        return values_.data();
    }
}

template <class Count>
void Terms<Count>::complete(Partition& groups) const {
    if (rows) {
        for (row_t& entry : groups.rows) entry = rows[entry];
        for (row_t& entry : groups.singletons) entry = rows[entry];
    }
    if (weights) {
        groups.singleton_sum = 0;
        for (const row_t row : groups.singletons) groups.singleton_sum += (*this)((*weights)[row]);
    } else {
        groups.singleton_sum = fixed_t(groups.singletons.size()) * (*this)(Count(1));
    }
}

void fill_terms(const WeightedTerm& term, uint64_t first, std::span<fixed_t> out) {
    constexpr size_t together = 512;
    double counts[together];
    fixed_t terms[together];
    for (size_t start = 0; start < out.size(); start += together) {
        for (size_t i = 0; i < together; ++i) counts[i] = double(first + start + i);
        std::fill(terms, terms + together, 0);
        kernels().add_terms(counts, 1, together, together, term, terms);
        std::copy_n(terms, std::min(together, out.size() - start), out.data() + start);
    }
}

template class RowWeights<count_t>;
template class RowWeights<double>;
template struct Terms<count_t>;
template struct Terms<double>;

}  // namespace labelsieve
