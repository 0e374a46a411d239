"""
Diabetes: a list with an error rate
===================================

442 patients, ten measurements, and the progression of the disease after a year, with scikit-learn. Which measurements
are associated with it? :class:`~labelsieve.selectors.MarginalDiscoveries` lists them so that at most 5 % of the list
are errors, in expectation.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from labelsieve.selectors import MarginalDiscoveries

# %%
# To see errors, every measurement gets a copy with shuffled rows, which is noise by construction.

diabetes = load_diabetes(as_frame=True)
rng = np.random.default_rng(0)
shuffled = diabetes.data.apply(rng.permutation).add_suffix(" shuffled")
X, y = pd.concat([diabetes.data, shuffled], axis=1), diabetes.target.rename("progression")
discoveries = MarginalDiscoveries(alpha=0.05).fit(X, y)
found = X.columns[discoveries.support_].tolist()
print(f"{len(found)} discoveries: {', '.join(found)}")

# %%
# The q-value is the smallest rate at which a feature would be listed. Shuffled columns are hollow.

q = np.maximum(discoveries.label_q_values_[:, 0], 1e-12)
order = np.argsort(q)[::-1]
figure, ax = plt.subplots(figsize=(7.0, 4.4), layout="constrained")
for row, column in enumerate(order):
    noise = X.columns[column].endswith("shuffled")
    ax.plot(q[column], row, "o", color="#0072b2", markerfacecolor="none" if noise else "#0072b2")
ax.axvline(0.05, color="#d55e00", linestyle="--", linewidth=1)
ax.text(0.04, 0.2, "listed at 5 %", ha="right", color="#a34700")
ax.set_xscale("log")
ax.set_yticks(range(len(order)), X.columns[order], size=8)
ax.set_xlabel("q-value")
plt.show()
