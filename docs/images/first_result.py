"""Draw the picture of the README: ``python docs/images/first_result.py``. Selects channels of the tecator data, half a minute.

Left, the first features, what each adds to the explained share, and the target that it adds most to; filled if it is
distinguishable from noise. Right, the explained share against the number of features. The text of the page is drawn as text,
so that readers can select it and screen readers read it.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot as plt

from labelsieve import Sieve
from labelsieve.datasets import load_tecator

HERE = Path(__file__).parent
N_SHOWN = 8
LIGHT = {"ink": "#1b1f24", "quiet": "#57606a", "rule": "#e6eaee", "data": "#0072b2", "all": "#d55e00", "all_text": "#a34700"}
DARK = {"ink": "#e6edf3", "quiet": "#9da7b3", "rule": "#21272e", "data": "#56b4e9", "all": "#e69f00", "all_text": "#f0b74a"}
# Reproducible files: no random element ids. Text stays text, in a font that every system has.
matplotlib.rcParams.update({"svg.hashsalt": "labelsieve", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 11})


def result():
    """Select channels, and return the data, the selection as a value, and the explained share up to 40 channels."""
    data = load_tecator()
    X, Y = data.named_features(), data.named_labels()
    sieve = Sieve(n_features_to_select="auto").fit(X, Y)
    return data, sieve.selection(X, Y, explained=True), sieve.stopping_.explained_


def draw(colors, name, small, data, selection, explained):
    """Draw both panels side by side, or one below the other for phones."""
    if small:
        figure, (left, right) = plt.subplots(2, 1, figsize=(4.9, 6.8), layout="constrained")
    else:
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.5), width_ratios=[1, 1.15], layout="constrained")
        figure.get_layout_engine().set(wspace=0.06)
    draw_features(left, colors, data, selection, explained)
    draw_curve(right, colors, selection, explained)
    for ax in (left, right):
        ax.set_facecolor("none")
        for side in ax.spines.values():
            side.set_visible(False)
        ax.tick_params(length=0, colors=colors["quiet"])
    figure.savefig(HERE / f"{name}.svg", transparent=True, metadata={"Date": None})
    plt.close(figure)


def draw_features(ax, colors, data, selection, explained):
    """The first features: bars of gains in points, with the target that the feature adds most to."""
    shown = selection.selected[:N_SHOWN]
    added = np.diff(explained.by_target, axis=0, prepend=0.0)
    longest = max(100 * feature.gain for feature in shown)
    for row, feature in enumerate(shown):
        points = 100 * feature.gain
        filled = colors["data"] if feature.signal else "none"
        ax.barh(row, max(points, 0.15), height=0.62, facecolor=filled, edgecolor=colors["data"], linewidth=1.2)
        ax.text(points + 0.03 * longest, row, f"{points:+.1f}", va="center", color=colors["ink"])
        best = data.label_names[int(np.argmax(added[row]))]
        ax.text(1.38 * longest, row, best, va="center", color=colors["quiet"])
    ax.set_yticks(range(len(shown)), [feature.feature for feature in shown], color=colors["ink"], family="monospace", size=10)
    ax.set_xlim(0, 1.72 * longest)
    ax.invert_yaxis()
    ax.set_xticks([])
    ax.text(0, -0.95, "adds, in points", color=colors["quiet"])
    ax.text(1.38 * longest, -0.95, "most to", color=colors["quiet"])
    ax.text(0, N_SHOWN + 0.15, "filled: distinguishable from noise", color=colors["quiet"], size=10)


def draw_curve(ax, colors, selection, explained):
    """The explained share of 1, 2, ... features, the line of all features, and the chosen number."""
    share, error, n = 100 * explained.explained, 100 * explained.errors, len(selection.selected)
    ax.fill_between(explained.sizes, share - error, share + error, color=colors["data"], alpha=0.18, linewidth=0)
    ax.plot(explained.sizes, share, color=colors["data"], linewidth=2)
    everything = 100 * explained.all_features
    ax.axhline(everything, color=colors["all"], linestyle=(0, (5, 3)), linewidth=1.3)
    # At the right end below the line: on the left, the curve, its ring and the grid line of 100 % are in the way.
    text = f"all {selection.n_features} features: {everything:.0f} %"
    ax.text(explained.sizes[-1], everything - 4, text, ha="right", va="top", color=colors["all_text"])
    chosen = share[n - 1]
    ax.plot([n, n], [0, chosen], color=colors["quiet"], linewidth=0.8)
    ax.plot(n, chosen, "o", markersize=9, markerfacecolor="none", markeredgecolor=colors["ink"], markeredgewidth=1.6)
    ax.text(n - 0.8, 0.55 * chosen, f"{n} features:\n{chosen:.0f} %", ha="right", color=colors["ink"], weight="bold")
    ax.set_ylim(0, 108)
    ax.set_xlim(0, explained.sizes[-1] + 1)
    ax.set_yticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100 %"])
    ax.set_xticks(sorted({1, 10, 20, 30, n, 40}))
    ax.grid(axis="y", color=colors["rule"])
    ax.set_axisbelow(True)
    ax.set_xlabel("number of features", color=colors["quiet"])
    ax.set_title("explained in new rows: water, fat and protein", color=colors["ink"], size=11, loc="left")


if __name__ == "__main__":
    found = result()
    for suffix, colors in {"": LIGHT, "_dark": DARK}.items():
        draw(colors, f"first_result{suffix}", False, *found)
        draw(colors, f"first_result_small{suffix}", True, *found)
