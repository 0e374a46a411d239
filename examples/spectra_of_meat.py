"""
Spectra of meat: how many channels are enough?
==============================================

215 near-infrared spectra of meat with 100 channels, and three numbers to predict: water, fat and protein. The
default method finds the channels and how many of them are enough.
"""

import matplotlib.pyplot as plt
import numpy as np

from labelsieve import Sieve
from labelsieve.datasets import load_tecator

# %%
# The data come with the package. ``"auto"`` keeps the fewest channels that explain as much as the best number.

meat = load_tecator()
X, Y = meat.named_features(), meat.named_labels()
sieve = Sieve(n_features_to_select="auto").fit(X, Y)
explained = sieve.stopping_.explained_
verdict = explained.verdict(len(sieve.selected_))
print(verdict)
print(sieve.stopping_.reason_)

# %%
# On the left, some of the spectra with the first six channels in order of selection. The first three are far apart,
# because neighboring channels have nearly the same information. On the right, the share of each target that is
# explained in rows that were not used to select.

figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
left.plot(np.arange(1, 101), meat.X[::8].T, color="#8a939c", linewidth=0.5)
for rank, column in enumerate(sieve.selected_[:6], start=1):
    left.axvline(column + 1, color="#0072b2", linewidth=1)
    left.text(column + 1, meat.X.max(), f" {rank}", color="#0072b2", va="top")
left.set(xlabel="channel", ylabel="absorbance")
for name, share, style in zip(meat.label_names, explained.by_target.T, ["-", "--", ":"], strict=True):
    right.plot(explained.sizes, 100 * share, style, color="#0072b2", label=name)
right.axvline(len(sieve.selected_), color="#d55e00", linewidth=1, label=f"{len(sieve.selected_)} channels")
right.set(xlabel="number of channels", ylabel="explained, %", ylim=(0, 100))
right.legend(loc="lower right")
plt.show()
