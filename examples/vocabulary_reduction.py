"""
Vocabulary reduction for tagging
================================

Vocabularies of taggers are usually cut off by document frequency: the most frequent words stay. At the same
size, words that are selected by their information about the tags keep more of the accuracy.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import normalize

from labelsieve import Sieve
from labelsieve.classifiers import SparseOneVsRest
from labelsieve.datasets import make_extreme
from labelsieve.metrics import precision_at_k
from labelsieve.report.figures import curves

# %%
# Synthetic documents with the frequencies of words and tags of Eurlex-4K, at a hundredth of its size. X and Y
# stay sparse.

X, Y = make_extreme("eurlex-4k", scale=0.01)
train, test = slice(0, 100), slice(100, None)
print(f"{X.shape[0]} documents, {X.shape[1]:,} words, {Y.shape[1]} tags")

# %%
# Three rankings of the words, on the training documents only: by document frequency, by the information of
# each word alone (MIM), and by what each word adds to those before it (CMIM).

LARGEST = 200
frequency = np.bincount(X[train].indices, minlength=X.shape[1])
rankings = {"document frequency": np.argsort(-frequency, kind="stable")[:LARGEST]}
for name in ("mim", "cmim"):
    rankings[name] = Sieve(name, discretizer=None, n_features_to_select=LARGEST).fit(X[train], Y[train]).selected_

# %%
# One linear model per tag on the first words of each ranking, and the precision of the best tag on the other
# documents.

sizes = [20, 50, 100, LARGEST]
precision = {}
for name, words in rankings.items():
    precision[name] = []
    for size in sizes:
        documents = normalize(X[:, words[:size]].astype(float))
        model = SparseOneVsRest().fit(documents[train], Y[train])
        precision[name].append(precision_at_k(Y[test], model.top_labels(documents[test], k=1), k=1))
    print(f"{name}: " + ", ".join(f"{value:.2f}" for value in precision[name]))

# %%
# The page on extreme label sets has the same comparison on real documents, with intervals. There MIM alone is
# often worse than document frequency, and CMIM better: frequent tags have many redundant words.

curves(sizes, precision, xlabel="words", ylabel="precision at 1")
plt.show()
