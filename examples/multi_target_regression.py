"""
Multi-target regression
=======================

Numeric targets, such as prices of several products or flows of several rivers. The same criteria select
features for them; for information, the targets are discretized.
"""

import matplotlib.pyplot as plt
import numpy as np

from labelsieve import BaselineSieve, Sieve
from labelsieve.classifiers import KNNRegressor
from labelsieve.datasets import make_feature_roles
from labelsieve.metrics import rrmse
from labelsieve.report.figures import curves
from labelsieve.selectors import RReliefF

# %%
# 800 rows, 60 features and 5 targets, which are sums of relevant features plus noise. Six features are relevant
# to two targets each, and six are noisy copies of these.

data = make_feature_roles(800, n_labels=5, n_relevant=6, n_noisy_copies=6, n_xor_pairs=0, n_irrelevant=48, targets="numeric")
train, test = slice(None, 400), slice(400, None)
X, Y = data.X, data.Y

# %%
# Rankings of twelve features, and the error of regression with ten nearest neighbors on the top 1, 2, ...
# features, relative to predicting the mean (RRMSE).

K = 12
selectors = {
    "hybrid": Sieve(n_features_to_select=K),  # the recommended method
    "scls": Sieve("scls", n_features_to_select=K),
    "rrelieff": RReliefF(n_features_to_select=K),
    "random": BaselineSieve("random", n_features_to_select=K, random_state=0),
}
rankings = {name: selector.fit(X[train], Y[train]).selected_ for name, selector in selectors.items()}


def errors(ranking):
    """RRMSE for each prefix of a ranking."""
    for size in range(1, K + 1):
        columns = ranking[:size]
        model = KNNRegressor(k=10).fit(X[train][:, columns], Y[train])
        yield rrmse(Y[test], model.predict(X[test][:, columns]))


curve = {name: list(errors(ranking)) for name, ranking in rankings.items()}
for name, ranking in rankings.items():
    kinds = [data.roles[column].kind for column in ranking[:6]]
    print(f"{name}: {kinds.count('relevant')} of 6 relevant features among the first 6, RRMSE {curve[name][5]:.2f}")

# %%
# An RRMSE of 1 is the error of predicting the mean.

ax = curves(np.arange(1, K + 1), curve, ylabel="RRMSE")
ax.axhline(1, color="gray", linewidth=0.8)
plt.show()
