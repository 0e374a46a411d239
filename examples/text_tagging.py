"""
Text tagging: sparse data
=========================

Documents with several tags, as a sparse term matrix. A few words are relevant to each tag; thousands of other
words are noise with the frequencies of natural language. How many tags are covered by the first dozen selected
words?
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

from labelsieve import Sieve
from labelsieve.report.figures import curves

# %%
# 1,000 documents, 3,000 words, 10 tags with 4 relevant words each. The most frequent tag is four times as
# frequent as the rarest, and a relevant word occurs in about one of six documents with its tag.

rng = np.random.default_rng(0)
n_documents, n_words, n_tags = 1000, 3000, 10
Y = rng.random((n_documents, n_tags)) < 0.2 * np.geomspace(1, 1 / 4, n_tags)
tag_of_word = np.concatenate([np.full(n_words - 4 * n_tags, -1), np.repeat(np.arange(n_tags), 4)])
relevant = rng.random((n_documents, 4 * n_tags)) < 0.15 * Y[:, tag_of_word[-4 * n_tags :]]
frequencies = 1 / (np.arange(n_words - 4 * n_tags) + 10)
noise = rng.poisson(20 * frequencies / frequencies.sum(), (n_documents, len(frequencies))) > 0
X = sparse.csr_array(np.hstack([noise, relevant]).astype(np.uint8))
print(f"{X.shape[0]:,} documents, {X.shape[1]:,} words, {X.nnz / X.shape[0]:.0f} of them in a document")

# %%
# X stays sparse. ``discretizer=None`` means that the values are codes already: a word is present or absent.

K = 40
methods = "hybrid", "cmim", "mim"  # the recommended method, the best formula, and relevance alone
selected = {name: Sieve(name, discretizer=None, n_features_to_select=K).fit(X, Y).selected_ for name in methods}

# %%
# All find 39 or 40 of the 40 relevant words among 3,000, but in a different order: relevance alone (MIM) starts
# with the words of frequent tags. The default and CMIM measure what a word adds, and cover more tags.

tags_covered = {}
for name, words in selected.items():
    tags = tag_of_word[words]
    tags_covered[name] = [len(set(tags[:size]) - {-1}) for size in range(1, K + 1)]
    print(f"{name}: {np.count_nonzero(tags >= 0)} of 40 words are relevant; the first 10 cover {tags_covered[name][9]} tags")

curves(np.arange(1, K + 1), tags_covered, xlabel="selected words", ylabel="tags covered")
plt.show()
