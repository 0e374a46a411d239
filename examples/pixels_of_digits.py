"""
Digits: which pixels matter?
============================

1,797 images of handwritten digits, 8 x 8 pixels, with scikit-learn. Every image has three labels: whether the digit
is even, whether it is above four, and whether it has a closed loop.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from labelsieve import Sieve

# %%
# The default method, for all labels together.

digits = load_digits()
labels = {"even": digits.target % 2 == 0, "above four": digits.target > 4, "loop": np.isin(digits.target, [0, 6, 8, 9])}
X, Y = digits.data, np.column_stack(list(labels.values())).astype(int)
sieve = Sieve(n_features_to_select=20).fit(X, Y)
explained = sieve.explained_share(X, Y)
print(explained.verdict(20))

# %%
# The mean image with the rank of the selected pixels, and what the first pixels explain of every label. The pixels
# spread over the image instead of crowding around the best one.

figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.4), layout="constrained")
left.imshow(X.mean(axis=0).reshape(8, 8), cmap="Greys", alpha=0.35)
for rank, pixel in enumerate(sieve.selected_, start=1):
    left.text(pixel % 8, pixel // 8, rank, ha="center", va="center", color="#0072b2", weight="bold")
left.set(title="rank of the selected pixels", xticks=[], yticks=[])
for name, share, style in zip(labels, explained.by_target.T, ["-", "--", ":"], strict=True):
    right.plot(explained.sizes, 100 * share, style, color="#0072b2", label=name)
right.axhline(100 * explained.all_features, color="#d55e00", linestyle="--", linewidth=1, label="all pixels, all labels")
right.set(xlabel="number of pixels", ylabel="explained, %", ylim=(0, 100))
right.legend(loc="lower right")
plt.show()
