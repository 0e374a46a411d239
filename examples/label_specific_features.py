"""
Features of each label's own
============================

A feature that tells about one label alone is easily lost when scores are added over all of them.
:class:`~labelsieve.LabelwiseSieve` has a list for every label, and
:class:`~labelsieve.classifiers.LabelSpecific` learns every label on its own list.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeClassifier

from labelsieve import LabelwiseSieve, Sieve
from labelsieve.classifiers import BinaryRelevance, LabelSpecific
from labelsieve.datasets import make_feature_roles
from labelsieve.metrics import hamming_loss

# %%
# Twelve features tell about one of six labels each, and 28 are chance.

data = make_feature_roles(800, n_labels=6, n_relevant=0, n_label_specific=12, n_noisy_copies=0, n_xor_pairs=0, n_irrelevant=28)
train, test = slice(None, 400), slice(400, None)
X, Y = data.X, data.Y

# %%
# Two features for each label, beside two for all of them.

each = LabelwiseSieve("jmi", n_features_to_select=2).fit(X[train], Y[train])
together = Sieve("jmi", n_features_to_select=2).fit(X[train], Y[train])
truth = np.array([[label in role.labels for role in data.roles] for label in range(6)])
print(f"{(each.label_support_ & truth).sum()} of {truth.sum()} pairs of a label and its feature found")

# %%
# Trees on their own features, on the common ones, and on all.

tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
models = {
    "two of its own": LabelSpecific(LabelwiseSieve("jmi", n_features_to_select=2), tree).fit(X[train], Y[train]),
    "all features": BinaryRelevance(tree).fit(X[train], Y[train]),
}
loss = {name: hamming_loss(Y[test], model.predict(X[test])) for name, model in models.items()}
common = BinaryRelevance(tree).fit(together.transform(X[train]), Y[train])
loss["two in common"] = hamming_loss(Y[test], common.predict(together.transform(X[test])))
for name, value in loss.items():
    print(f"{name}: Hamming loss {value:.3f}")

# %%
# Which feature was chosen for which label: filled where it was chosen, framed where it tells about the
# label.

order = np.argsort([role.labels[0] if role.labels else 9 for role in data.roles], kind="stable")
figure, ax = plt.subplots(figsize=(6.3, 1.9), layout="constrained")
ax.imshow(each.label_support_[:, order], cmap="Blues", aspect="auto", vmax=2.2)
rows, columns = np.nonzero(truth[:, order])
ax.scatter(columns, rows, marker="s", s=45, facecolors="none", edgecolors="black", linewidths=1.2)
ax.set_xlabel("features, those that tell about a label first")
ax.set_ylabel("label")
ax.set_yticks(range(6))
plt.show()
