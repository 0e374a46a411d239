// Clusters of labelsets, for Python.
#include "bindings/python.hpp"
#include "medoids/medoids.hpp"

namespace labelsieve {
namespace {

using BitRows = nb::ndarray<const uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using NumberMatrix = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

// Group g has bits[bit_starts[g]:bit_starts[g + 1]], the same of the numbers, and its own number of clusters.
void cluster_labelsets(BitRows bits, NumberMatrix numbers, std::optional<Vector<double>> weights,
                       Vector<int64_t> bit_starts, Vector<uint32_t> group_bits, Vector<int64_t> number_starts,
                       Vector<uint32_t> group_numbers, Vector<uint32_t> n_clusters, size_t max_labelsets,
                       double bit_distance, Vector<uint64_t> seeds, unsigned n_threads,
                       OutMatrix<code_t> out) {
    const size_t n_rows = bits.shape(0), n_groups = n_clusters.shape(0);
    require_row_count(n_rows);
    require(numbers.shape(0) == n_rows && (!weights || weights->shape(0) == n_rows),
            "one entry for each row");
    require(out.shape(0) == n_rows && out.shape(1) == n_groups && seeds.shape(0) == n_groups,
            "one column and one seed for each group");
    require(max_labelsets >= 1 && bit_distance > 0, "at least one labelset, and a distance");
    const auto columns = checked(view_of(bit_starts, group_bits), bits.shape(1) * 64, Order::rising);
    const auto of_numbers = checked(view_of(number_starts, group_numbers), numbers.shape(1), Order::rising);
    require(columns.size() == n_groups && of_numbers.size() == n_groups, "as many groups of each kind");
    const TargetRows targets{.n_rows = n_rows,
                             .bits = bits.data(),
                             .n_words = bits.shape(1),
                             .numbers = numbers.data(),
                             .n_numbers = numbers.shape(1),
                             .weights = weights ? weights->data() : nullptr};
    std::vector<TargetGroup> groups;
    std::vector<MedoidSettings> settings;
    for (size_t g = 0; g < n_groups; ++g) {
        require(n_clusters.data()[g] >= 1 && n_clusters.data()[g] <= max_levels, "clusters out of range");
        groups.push_back({.bits = columns[g], .numbers = of_numbers[g]});
        settings.push_back({.n_clusters = n_clusters.data()[g],
                            .max_labelsets = max_labelsets,
                            .seed = seeds.data()[g],
                            .bit_distance = bit_distance});
    }
    const nb::gil_scoped_release released;
    Pool pool(n_threads, poll_signals);
    cluster_groups(targets, groups, settings, pool, out.data());
}

}  // namespace

void bind_medoids(nb::module_& m) {
    m.def("cluster_labelsets", &cluster_labelsets, "bits"_a, "numbers"_a, "weights"_a.none(), "bit_starts"_a,
          "group_bits"_a, "number_starts"_a, "group_numbers"_a, "n_clusters"_a, "max_labelsets"_a,
          "bit_distance"_a, "seeds"_a, "n_threads"_a, "out"_a.noconvert());
}

}  // namespace labelsieve
