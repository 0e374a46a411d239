"""
Digits: the pixels of each digit
================================

A pixel that separates one digit from the others need not help with the rest.
:class:`~labelsieve.LabelwiseSieve` selects pixels for every digit on its own.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from labelsieve import LabelwiseSieve, Sieve

# %%
# Ten labels, one for every digit, and six pixels for each.

digits = load_digits()
Y = (digits.target[:, np.newaxis] == np.arange(10)).astype(int)
labelwise = LabelwiseSieve(n_features_to_select=6).fit(digits.data, Y)
common = Sieve(n_features_to_select=6).fit(digits.data, Y)
n_used = np.unique(labelwise.selected_).size
shared = [len(set(own.tolist()) & set(common.selected_.tolist())) for own in labelwise.selected_]
print(f"{n_used} of 64 pixels are used by some digit; on average {np.mean(shared):.1f} of the six are among the common six.")

# %%
# The mean image of every digit, with the ranks of its pixels.

figure, axes = plt.subplots(2, 5, figsize=(8.0, 3.6), layout="constrained")
for digit, ax in enumerate(axes.flat):
    ax.imshow(digits.data[digits.target == digit].mean(axis=0).reshape(8, 8), cmap="Greys", alpha=0.35)
    for rank, pixel in enumerate(labelwise.selected_[digit], start=1):
        ax.text(pixel % 8, pixel // 8, rank, ha="center", va="center", color="#0072b2", weight="bold")
    ax.set(xticks=[], yticks=[], title=f"digit {digit}")
plt.show()
