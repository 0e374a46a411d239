"""
Selection over several sites without sharing rows
=================================================

Three hospitals have the same measurements of different patients. They share joint counts of pairs of variables, never rows. The
counts add up, so the selection is that of all patients together.
"""

import matplotlib.pyplot as plt
import numpy as np

from labelsieve import PairCounts, Sieve
from labelsieve.discretize import EqualFrequency

# %%
# Synthetic sites of different sizes. Two diagnoses depend on three of ten measurements, and one measurement is nearly a copy of
# another.

rng = np.random.default_rng(0)


def make_site(n_patients):
    X = rng.normal(size=(n_patients, 10))
    X[:, 7] = X[:, 2] + 0.2 * rng.normal(size=n_patients)
    noise = rng.normal(size=(n_patients, 2))
    return X, (np.column_stack([X[:, 2] + X[:, 4], X[:, 2] - X[:, 9]]) + noise > 0.5).astype(int)


sites = [make_site(n_patients) for n_patients in (400, 900, 2500)]

# %%
# The sites agree on cut points, here those of the first site, and each counts its own patients. A file of counts is what leaves
# a site.

bins = EqualFrequency(5).fit(sites[0][0])
files = [PairCounts(bins).partial_fit(X, Y).to_bytes() for X, Y in sites]
print([f"{len(file) / 1000:.0f} kB" for file in files])

# %%
# The coordinator adds the counts. With the same bins, all rows in one place give the same bits.

first, *others = map(PairCounts.from_bytes, files)
together = first.merge(*others)
sieve = Sieve("mrmr", n_features_to_select=4).fit(together)
print(together, sieve.selected_)

X, Y = (np.concatenate(parts) for parts in zip(*sites, strict=True))
central = Sieve("mrmr", discretizer=None, n_features_to_select=4).fit(bins.transform(X), Y)
print("identical to central data:", np.array_equal(sieve.scores_, central.scores_))

# %%
# A site can withhold cells with few patients. The scores are then approximate: rare combinations are missing.

least = [1, 2, 5, 10, 20, 50]
changes = []
for min_count in least:
    withheld = [PairCounts(bins).partial_fit(*site).suppress(min_count) for site in sites]
    approximate = Sieve("mrmr", n_features_to_select=4).fit(withheld[0].merge(*withheld[1:]))
    changes.append(np.abs(approximate.relevance_ - sieve.relevance_).max())
    print(min_count, approximate.selected_)

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(least, changes, marker="o")
axes.set_xlabel("smallest number of patients in a cell that leaves a site")
axes.set_ylabel("change of relevance (nats)")
plt.show()
