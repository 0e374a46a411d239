"""Vocabulary reduction for tagging: information-theoretic selection against a cut-off by document frequency.

    python -m benchmarks.vocabulary --datasets medical languagelog enron
    python -m benchmarks.vocabulary --datasets bibtex imdb delicious --splits 3 --max-rows 5000 --fractions 0.05 0.1 0.2

Words are present or absent. Each method ranks them on the training rows of a split; a linear model per label is fitted to the
first words and evaluated on the other rows. All methods have the same splits, and the intervals are of paired differences.
"""

import argparse
import csv
from pathlib import Path
from time import process_time

import numpy as np
import scipy.sparse as sp
from scipy import stats
from sklearn.preprocessing import normalize

from labelsieve import Sieve
from labelsieve.classifiers import SparseOneVsRest
from labelsieve.datasets import load_or_fetch
from labelsieve.metrics import inverse_propensities, ndcg_at_k, precision_at_k, psp_at_k
from labelsieve.registry import make_selector

FRACTIONS = (0.02, 0.05, 0.1, 0.2, 0.5)  # of the words
METHODS = ("df", "mim", "cmim", "hybrid")
TRAIN = 2 / 3
MEASURES = ("P@1", "P@3", "nDCG@3", "PSP@3")


def ranking(method, X, Y, n_words):
    """The first words of a method, best first."""
    if method == "df":
        return np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")[:n_words]
    if method == "hybrid":
        return make_selector("hybrid", n_features_to_select=n_words, discretizer=None).fit(X, Y).selected_
    return Sieve(method, n_features_to_select=n_words, discretizer=None).fit(X, Y).selected_


def scores(X, Y, train, test, words):
    """Measures of a linear model on some words; rows are scaled to unit length, as is usual for text."""
    chosen = normalize(X[:, np.sort(words)])
    best = SparseOneVsRest().fit(chosen[train], Y[train]).top_labels(chosen[test], k=3)
    truth, weights = Y[test], inverse_propensities(Y[train])
    return (
        precision_at_k(truth, best, k=1),
        precision_at_k(truth, best, k=3),
        ndcg_at_k(truth, best, k=3, zero_division=float("nan")),
        psp_at_k(truth, best, weights, k=3),
    )


def splits(n_rows, n_splits):
    for seed in range(n_splits):
        order = np.random.default_rng(seed).permutation(n_rows)
        cut = round(TRAIN * n_rows)
        yield np.sort(order[:cut]), np.sort(order[cut:])


def run(name, fractions, n_splits, max_rows):
    """Rows of data set, method, number of words, split and measures; those of all words have the method 'all'."""
    data = load_or_fetch(name)
    X = sp.csr_array(data.X != 0).astype(np.float64)
    Y = sp.csr_array(data.Y)
    if max_rows is not None and X.shape[0] > max_rows:
        rows = np.sort(np.random.default_rng(0).choice(X.shape[0], max_rows, replace=False))
        X, Y = X[rows], Y[rows]
    sizes = [max(1, round(fraction * X.shape[1])) for fraction in fractions]
    for split, (train, test) in enumerate(splits(X.shape[0], n_splits)):
        yield name, "all", X.shape[1], split, *scores(X, Y, train, test, np.arange(X.shape[1])), ""
        for method in METHODS:
            start = process_time()
            words = ranking(method, X[train].astype(np.uint8), Y[train], sizes[-1])
            seconds = process_time() - start
            for size in sizes:
                yield name, method, size, split, *scores(X, Y, train, test, words[:size]), f"{seconds:.2f}"


def interval(differences, ratio):
    """Mean of paired differences over repeated splits, and half of its 95% interval, corrected for the shared rows.

    Nadeau and Bengio (2003): the variance of the mean of r splits is s^2 (1/r + n_test/n_train).
    """
    r = len(differences)
    half = stats.t.ppf(0.975, r - 1) * np.sqrt(np.var(differences, ddof=1) * (1 / r + ratio))
    return float(np.mean(differences)), float(half)


def table(rows, measure="P@1"):
    """Markdown: document frequency, and the difference of every other method at the same number of words."""
    column = 4 + MEASURES.index(measure)
    values = {}
    for row in rows:
        values.setdefault((row[0], row[1], int(row[2])), []).append(float(row[column]))
    methods = [method for method in METHODS if method != "df"]
    lines = [f"| data set | words | {measure}, `df` | {' | '.join(f'`{method}` - `df`' for method in methods)} |"]
    lines.append("|---" * (3 + len(methods)) + "|")
    for name, method, size in values:
        if method == "all":
            lines.append(f"| {name} | {size:,} (all) | {np.mean(values[name, 'all', size]):.3f} |" + " |" * len(methods))
        if method != "df":
            continue
        df = np.array(values[name, "df", size])
        cells = []
        for other in methods:
            mean, half = interval(np.array(values[name, other, size]) - df, (1 - TRAIN) / TRAIN)
            cells.append(f"{mean:+.3f} ± {half:.3f}")
        lines.append(f"| {name} | {size:,} | {df.mean():.3f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=["languagelog", "enron", "medical"])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/vocabulary.csv"))
    parser.add_argument("--fractions", nargs="+", type=float, default=FRACTIONS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--max-rows", type=int)
    parser.add_argument("--measure", default="P@1", choices=MEASURES)
    options = parser.parse_args()
    head = ("dataset", "method", "n_words", "split", *MEASURES, "selection_cpu_s")
    rows = []
    for name in options.datasets:
        found = run(name, options.fractions, options.splits, options.max_rows)
        rows.extend([str(cell) if not isinstance(cell, float) else f"{cell:.6f}" for cell in row] for row in found)
        with options.out.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([head, *rows])
        print(table(rows, options.measure), flush=True)


if __name__ == "__main__":
    main()
