"""
A custom criterion
==================

Relevance minus the largest redundancy with a selected feature. The criterion is defined by its formula and
is computed like the built-in ones.
"""

import matplotlib.pyplot as plt
import numpy as np

from labelsieve import Criterion, Sieve
from labelsieve.formula import I, f, max_s, s, sum_y, y

# %%
# ``f`` is the candidate, ``s`` runs over the selected features, ``y`` over the labels.


class LargestRedundancy(Criterion):
    """Relevance minus the largest redundancy."""

    first = sum_y(I(f, y))
    score = sum_y(I(f, y)) - max_s(I(f, s))


# %%
# Three signals, a noisy copy of each, and four noise features. The plan lists the contingency tables that are
# counted: none of a candidate, a selected feature and a label, because the formula does not mention one.

rng = np.random.default_rng(0)
signal = rng.normal(size=(1000, 3))
X = np.hstack([signal, signal + 0.1 * rng.normal(size=(1000, 3)), rng.normal(size=(1000, 4))])
Y = (signal > 0).astype(int)
print(LargestRedundancy().plan.explain(n_rows=1000, n_features=10, n_targets=3))

# %%
# Relevance alone selects a signal and its copy; the custom criterion selects each signal once.

order = {}
for criterion in ("mim", LargestRedundancy()):
    name = getattr(criterion, "name", criterion)
    order[name] = Sieve(criterion, n_features_to_select=3).fit(X, Y).selected_
    print(f"{name}: {', '.join(str(k) for k in order[name])}")

# %%
# The first three features of both criteria.

figure, ax = plt.subplots(figsize=(6.3, 1.5), layout="constrained")
disc = {"boxstyle": "circle", "facecolor": "#56B4E9", "edgecolor": "none"}
for row, columns in enumerate(order.values()):
    for rank, column in enumerate(columns, start=1):
        ax.text(column, row, str(rank), ha="center", va="center", bbox=disc)
kinds = [f"signal\n{k}" for k in range(3)] + [f"copy\nof {k}" for k in range(3)] + ["noise"] * 4
ax.set_xticks(range(10), kinds, fontsize=7)
ax.set_yticks(range(len(order)), order)
ax.set(xlim=(-0.6, 9.6), ylim=(1.6, -0.6))
plt.show()
