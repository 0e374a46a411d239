"""
Text tagging: sparse data
=========================

Documents with several tags, as a sparse term matrix. A few words are relevant to each tag; thousands of other
words are noise with the frequencies of natural language. How many tags are covered by the first dozen selected
words?
"""

import matplotlib.pyplot as plt
import numpy as np

from labelsieve import Sieve
from labelsieve.datasets import SyntheticText
from labelsieve.report.figures import curves

# %%
# 1,000 documents, 3,000 words, 10 tags with 4 relevant words each. The most frequent tag is four times as
# frequent as the rarest, and a relevant word occurs in about one of six documents with its tag.

text = SyntheticText(n_rows=1000, n_words=3000, n_labels=10, words_per_label=4, strength=0.15, imbalance=4.0)
X, Y = text.make()
print(f"{X.shape[0]:,} documents, {X.shape[1]:,} words, {X.nnz / X.shape[0]:.0f} of them in a document")

# %%
# X stays sparse. ``discretizer=None`` means that the values are codes already: a word is present or absent.

K = 40
selected = {name: Sieve(name, discretizer=None, n_features_to_select=K).fit(X, Y).selected_ for name in ("mim", "jmi", "cmim")}

# %%
# All criteria find the 40 relevant words among 3,000, but in a different order: relevance alone (MIM) starts
# with the words of frequent tags, and CMIM, which measures what a word adds, covers more tags.

tags_covered = {}
for name, words in selected.items():
    tags = text.label_of_word[words]
    tags_covered[name] = [len(set(tags[:size]) - {-1}) for size in range(1, K + 1)]
    print(f"{name}: {np.count_nonzero(tags >= 0)} of 40 words are relevant; the first 10 cover {tags_covered[name][9]} tags")

curves(np.arange(1, K + 1), tags_covered, xlabel="selected words", ylabel="tags covered")
plt.show()
