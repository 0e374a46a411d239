"""
Functions of genes
==================

A gene has several functions, and some imply others. A label network says which labels depend on which;
features can then be chosen given what the other labels tell already.
"""

import matplotlib.pyplot as plt

from labelsieve import NetworkRule, Sieve
from labelsieve.datasets import make_feature_roles
from labelsieve.report.figures import label_network

# %%
# 1,500 genes with 60 measurements and 8 functions, each of which makes the next one more likely; rare ones
# are five times as rare as common ones.

genes = make_feature_roles(
    1500, n_labels=8, n_relevant=8, n_xor_pairs=0, n_noisy_copies=4, n_irrelevant=48, label_dependence=2.0, imbalance=5.0
)

# %%
# One parent for each label, by the information that labels have about each other. The true network is a
# chain, from each function to the next, and the tree finds its links.

network = NetworkRule("tree", root=0).learn(genes.X, genes.Y)
print(network)
links = {(parent, label) for label, parents in enumerate(network.parents) for parent in parents}
true_links = {(parent, label) for label, parents in enumerate(genes.parents) for parent in parents}
print(f"{len(links & true_links)} of {len(true_links)} true links found")

# %%
# Features given the network (MLFS), beside relevance alone (MIM) and relevance less redundancy (MRMR),
# which takes no copies here.

for name, sieve in {
    "mlfs": Sieve("mlfs", parents=network, n_features_to_select=8),
    "mim": Sieve("mim", n_features_to_select=8),
    "mrmr": Sieve("mrmr", n_features_to_select=8),
}.items():
    chosen = sieve.fit(genes.X, genes.Y).selected_
    kinds = [genes.roles[column].kind for column in chosen]
    counts = {kind: kinds.count(kind) for kind in ("relevant", "noisy copy", "irrelevant")}
    print(f"{name}: {counts}")

# %%
# The network as a figure_function.

label_network(network, names=[f"function {label}" for label in range(1, 9)])
plt.show()
