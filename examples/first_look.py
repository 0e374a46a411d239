"""A first look: which of these columns tell about the labels, and how much?"""

import numpy as np

from labelsieve.discretize import equal_width
from labelsieve.information import conditional_mutual_information, entropy, mutual_information

rng = np.random.default_rng(7)
n_rows = 2_000
taste = rng.normal(size=n_rows)
switch, other_switch = rng.integers(0, 2, size=(2, n_rows))
features = {
    "taste": taste,
    "taste, measured badly": taste + rng.normal(scale=0.7, size=n_rows),
    "switch": switch,
    "other switch": other_switch,
    "noise": rng.normal(size=n_rows),
}
labels = {
    "sweet": taste > 0.3,
    "light on": switch ^ other_switch,
    "weekend": rng.random(n_rows) < 2 / 7,
}
X = equal_width(np.column_stack(list(features.values())), n_bins=5)
Y = np.column_stack(list(labels.values())).astype(np.uint8)

information = mutual_information(X, Y, base="bit")
print(f"{n_rows} rows; information of every feature about every label, in bits\n")
print(" " * 24 + "".join(f"{label:>12}" for label in labels))
for name, row in zip(features, information, strict=True):
    print(f"{name:<24}" + "".join(f"{bits:12.3f}" for bits in row))
print(f"{'all there is to know':<24}" + "".join(f"{bits:12.3f}" for bits in entropy(Y, base="bit")))

together = conditional_mutual_information(switch, Y[:, 1], other_switch, base="bit")[0, 0]
print("\nOne switch alone tells nothing about the light.")
print(f"With the other switch known it tells {together:.3f} bits.")
