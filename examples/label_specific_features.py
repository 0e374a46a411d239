"""
Label-specific features
=======================

A feature that is relevant to a single label is easily missed if scores are summed over all labels.
:class:`~labelsieve.LabelwiseSieve` selects features for each label separately, and
:class:`~labelsieve.classifiers.BinaryRelevance` trains the classifier of each label on these features.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeClassifier

from labelsieve import LabelwiseSieve, Sieve
from labelsieve.classifiers import BinaryRelevance
from labelsieve.datasets import make_feature_roles
from labelsieve.metrics import hamming_loss

# %%
# Twelve features are relevant to one of six labels each, and 28 are noise.

data = make_feature_roles(800, n_labels=6, n_relevant=0, n_label_specific=12, n_noisy_copies=0, n_xor_pairs=0, n_irrelevant=28)
train, test = slice(None, 400), slice(400, None)
X, Y = data.X, data.Y

# %%
# Two features per label, compared with two features for all labels.

labelwise = LabelwiseSieve("jmi", n_features_to_select=2).fit(X[train], Y[train])
common = Sieve("jmi", n_features_to_select=2).fit(X[train], Y[train])
relevant = np.array([[label in role.labels for role in data.roles] for label in range(6)])
print(f"{(labelwise.label_support_ & relevant).sum()} of {relevant.sum()} relevant (label, feature) pairs found")

# %%
# Decision trees on label-specific features, on common features, and on all features.

tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
models = {
    "label-specific": BinaryRelevance(tree, selector=LabelwiseSieve("jmi", n_features_to_select=2)).fit(X[train], Y[train]),
    "all features": BinaryRelevance(tree).fit(X[train], Y[train]),
}
loss = {name: hamming_loss(Y[test], model.predict(X[test])) for name, model in models.items()}
model = BinaryRelevance(tree).fit(common.transform(X[train]), Y[train])
loss["common"] = hamming_loss(Y[test], model.predict(common.transform(X[test])))
for name, value in loss.items():
    print(f"{name}: Hamming loss {value:.3f}")

# %%
# Selected features per label (filled) and relevant features (framed).

order = np.argsort([role.labels[0] if role.labels else 9 for role in data.roles], kind="stable")
figure, ax = plt.subplots(figsize=(6.3, 1.9), layout="constrained")
ax.imshow(labelwise.label_support_[:, order], cmap="Blues", aspect="auto", vmax=2.2)
rows, columns = np.nonzero(relevant[:, order])
ax.scatter(columns, rows, marker="s", s=45, facecolors="none", edgecolors="black", linewidths=1.2)
ax.set_xlabel("features, relevant ones first")
ax.set_ylabel("label")
ax.set_yticks(range(6))
plt.show()
