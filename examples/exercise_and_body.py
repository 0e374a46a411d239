"""
Linnerud: when there is nothing to select
=========================================

Twenty men, three exercises (chins, sit-ups, jumps), and three measurements to predict (weight, waist, pulse): the
smallest multi-target regression of scikit-learn. With so few rows the honest answer may be that nothing is shown.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_linnerud

from labelsieve import Sieve

# %%
# ``"auto"`` keeps no feature unless the best number explains a clearly positive share.

linnerud = load_linnerud(as_frame=True)
X, Y = linnerud.data, linnerud.target
sieve = Sieve(n_features_to_select="auto", target_type="numeric").fit(X, Y)
explained = sieve.stopping_.explained_
print(explained.verdict(len(sieve.selected_)))
print(sieve.stopping_.reason_)

# %%
# The explained share of 1, 2 and 3 exercises with two standard errors: the band includes 0 for every size.

figure, ax = plt.subplots(figsize=(5.2, 3.0), layout="constrained")
share, error = 100 * explained.explained, 100 * explained.errors
ax.errorbar(explained.sizes, share, yerr=2 * error, fmt="o", color="#0072b2", capsize=4)
ax.axhline(0, color="#d55e00", linestyle="--", linewidth=1)
ax.set(xlabel="number of exercises", ylabel="explained, %", xticks=explained.sizes)
plt.show()
