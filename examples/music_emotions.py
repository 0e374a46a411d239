"""
Music emotions: evaluation over repeated splits
===============================================

Few songs, many measurements, and several emotions per song. On such a small data set, features must be
selected on training rows and evaluated on test rows, over repeated splits.
"""

import matplotlib.pyplot as plt
import numpy as np

from labelsieve import BaselineSieve, Sieve
from labelsieve.classifiers import MLkNN, nested_predictions
from labelsieve.datasets import make_feature_roles
from labelsieve.datasets.splits import HalfSplits
from labelsieve.metrics import hamming_loss
from labelsieve.report.figures import curves

# %%
# 600 songs, 72 measurements and 6 emotions, the size of the emotions data set. Eight measurements are
# relevant, and eight are noisy copies of these.

songs = make_feature_roles(
    600, n_labels=6, n_relevant=8, n_noisy_copies=8, n_xor_pairs=0, n_irrelevant=56, noise=1.0, random_state=1
)
X, Y = songs.X, songs.Y

# %%
# Ten random halves. Features are ranked and ML-kNN is trained on one half; predictions for the other half use
# the top 1, 2, ..., 20 features. ``nested_predictions`` computes all of them in one pass.

K = 20
selectors = {
    "hybrid": Sieve(n_features_to_select=K),  # the recommended method
    "jmi": Sieve("jmi", n_features_to_select=K),
    "mim": Sieve("mim", n_features_to_select=K),
    "random": BaselineSieve("random", n_features_to_select=K, random_state=0),
}
losses = {name: [] for name in selectors}
for train, test in HalfSplits(10, random_state=0).split(X):
    for name, selector in selectors.items():
        ranking = selector.fit(X[train], Y[train]).selected_
        predictions = nested_predictions(MLkNN(k=7), X[train], Y[train], X[test], features=ranking)
        losses[name].append([hamming_loss(Y[test], probabilities > 0.5) for _, probabilities in predictions])

# %%
# Means and 95 % confidence bands. ``test_share`` applies the correction of Nadeau and Bengio (2003), because
# random halves of one data set share rows.

for name, values in losses.items():
    mean = np.mean(values, axis=0)
    print(f"{name}: {mean[7]:.3f} with 8 features, {mean[-1]:.3f} with {K}")

curves(np.arange(1, K + 1), losses, ylabel="Hamming loss", test_share=0.5)
plt.show()
