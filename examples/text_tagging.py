"""
Tagging texts
=============

Documents with several tags each, as a sparse table of words. A few words belong to each tag; thousands of
others are chance, and follow the frequencies of natural language. With room for a dozen words, which tags
will they tell about?
"""

import matplotlib.pyplot as plt
import numpy as np

from labelsieve import Sieve
from labelsieve.datasets import SyntheticText
from labelsieve.report.figures import curves

# %%
# 1,000 documents, 3,000 words, 10 tags with 4 words each. The rarest tag is four times as rare as the
# commonest, and a word of a tag appears in every sixth document or so that has the tag.

text = SyntheticText(n_rows=1000, n_words=3000, n_labels=10, words_per_label=4, strength=0.15, imbalance=4.0)
X, Y = text.make()
print(f"{X.shape[0]:,} documents, {X.shape[1]:,} words, {X.nnz / X.shape[0]:.0f} of them in a document")

# %%
# X is never made dense. ``discretizer=None`` says that the values are codes already: a word is there or
# not.

K = 40
chosen = {name: Sieve(name, discretizer=None, n_features_to_select=K).fit(X, Y).selected_ for name in ("mim", "jmi", "cmim")}

# %%
# All of them find the 40 words among 3,000. They differ in the order: relevance alone begins with the words
# of frequent tags, a criterion that looks at what a word adds spreads them over the tags.

tags_told = {}
for name, words in chosen.items():
    tags = text.label_of_word[words]
    tags_told[name] = [len(set(tags[:size]) - {-1}) for size in range(1, K + 1)]
    print(f"{name}: {np.count_nonzero(tags >= 0)} of 40 words belong to a tag; the first 10 are of {tags_told[name][9]} tags")

curves(np.arange(1, K + 1), tags_told, xlabel="words chosen", ylabel="tags with a word among them")
plt.show()
