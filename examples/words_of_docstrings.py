"""
Text: the words of scikit-learn's documentation
===============================================

Real texts that every installation has: the docstrings of the estimators of scikit-learn. What an estimator is
(classifier, regressor, transformer, clusterer) are its labels, and it may have several. A pipeline counts words,
selects some of them, and predicts the labels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import ClassifierMixin, ClusterMixin, RegressorMixin, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils import all_estimators

from labelsieve import Sieve

# %%
# Only the first part of a docstring is used, before the parameters, and without names of classes.

kinds = {"classifier": ClassifierMixin, "regressor": RegressorMixin, "transformer": TransformerMixin, "clusterer": ClusterMixin}
estimators = [estimator for _, estimator in all_estimators()]
texts = [estimator.__doc__.split("Parameters\n")[0] for estimator in estimators]
Y = np.array([[issubclass(estimator, kind) for kind in kinds.values()] for estimator in estimators]).astype(int)
words = CountVectorizer(binary=True, min_df=3, token_pattern=r"\b[a-z]{3,}\b")
print(f"{len(texts)} texts, {len(words.fit(texts).vocabulary_)} words, {Y.sum(axis=0)} of {list(kinds)}")

# %%
# Five-fold cross-validation of the whole pipeline, so that the selection never sees the texts that it is tested on.

learner = OneVsRestClassifier(LogisticRegression(C=10, max_iter=1000))
f1 = {}
for size in (5, 10, 20, 40, 80):
    model = make_pipeline(words, Sieve(n_features_to_select=size), learner)
    f1[size] = f1_score(Y, cross_val_predict(model, texts, Y, cv=5), average="micro", zero_division=0)
everything = f1_score(Y, cross_val_predict(make_pipeline(words, learner), texts, Y, cv=5), average="micro", zero_division=0)
print({size: round(value, 2) for size, value in f1.items()}, f"all words: {everything:.2f}")

# %%
# The first words, and the labels of the texts that have them.

sieve = Sieve(n_features_to_select=10).fit(words.transform(texts), Y)
names = words.get_feature_names_out()[sieve.selected_]
counts = words.transform(texts)[:, sieve.selected_].toarray() > 0
shares = np.array([Y[has].mean(axis=0) for has in counts.T])
figure, (left, right) = plt.subplots(1, 2, figsize=(8.2, 3.6), layout="constrained", width_ratios=[1.2, 1])
image = left.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
left.set_yticks(range(len(names)), names)
left.set_xticks(range(len(kinds)), list(kinds), size=8)
figure.colorbar(image, ax=left, label="share of the texts with the word")
right.plot(list(f1), list(f1.values()), "o-", color="#0072b2", label="selected words")
right.axhline(everything, color="#d55e00", linestyle="--", linewidth=1, label="all words")
right.set(xlabel="number of words", ylabel="micro-F1, cross-validated", xscale="log", ylim=(0, 1))
right.set_xticks(list(f1), list(f1))
right.minorticks_off()
right.legend(loc="lower right")
plt.show()
