"""
Gene function: label networks
=============================

A gene has several functions, and some functions imply others. A label network models these dependencies,
and features can be selected given the information of the parent labels.
"""

import matplotlib.pyplot as plt

from labelsieve import NetworkRule, Sieve
from labelsieve.datasets import make_feature_roles
from labelsieve.report.figures import label_network

# %%
# 1,500 genes with 60 measurements and 8 functions. Each function increases the probability of the next one,
# and the most frequent function is five times as frequent as the rarest.

genes = make_feature_roles(
    1500, n_labels=8, n_relevant=8, n_xor_pairs=0, n_noisy_copies=4, n_irrelevant=48, label_dependence=2.0, imbalance=5.0
)

# %%
# A tree network has one parent per label and maximizes the mutual information between labels. The true
# network is a chain from each function to the next, and the tree recovers its edges.

network = NetworkRule("tree", root=0).learn(genes.X, genes.Y)
print(network)
edges = {(parent, label) for label, parents in enumerate(network.parents) for parent in parents}
true_edges = {(parent, label) for label, parents in enumerate(genes.parents) for parent in parents}
print(f"{len(edges & true_edges)} of {len(true_edges)} true edges found")

# %%
# MLFS selects features given the network. MIM uses relevance alone, and MRMR relevance minus redundancy,
# which avoids the noisy copies here.

for name, sieve in {
    "mlfs": Sieve("mlfs", parents=network, n_features_to_select=8),
    "mim": Sieve("mim", n_features_to_select=8),
    "mrmr": Sieve("mrmr", n_features_to_select=8),
}.items():
    selected = sieve.fit(genes.X, genes.Y).selected_
    kinds = [genes.roles[column].kind for column in selected]
    counts = {kind: kinds.count(kind) for kind in ("relevant", "noisy copy", "irrelevant")}
    print(f"{name}: {counts}")

# %%
# The learned network.

label_network(network, names=[f"function {label}" for label in range(1, 9)])
plt.show()
