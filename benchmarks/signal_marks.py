"""Signal marks of the row test on tables with known answers: false marks, planted features marked, and cost.

``python -m benchmarks.signal_marks`` prints, for every kind of table, the share of tables in which some row that adds nothing
is marked as signal, the share of planted rows that are marked, how many planted rows the selection had, and the CPU time of
the tests divided by that of the selection. ``--kinds noise,xor`` runs those whose names contain one of these words.

A row adds nothing if its feature is noise or a copy of one selected before. Planted rows are the others, except the first of
an XOR pair, which is forced, and copies that were selected before their original, which are not counted.
"""

import argparse
import warnings

import numpy as np
import scipy.sparse as sp

from benchmarks.clock import Stopwatch
from benchmarks.table import print_table
from labelsieve import Sieve
from labelsieve.discoveries.row_test import row_tests_of
from labelsieve.tables.problem import read

N_SELECTED = 12
KINDS = {}  # name: (function of a random generator, whether it was used to develop the test)


def kind(name, *, new=False):
    """Enroll a function that makes features, targets, and for every feature its original: itself, another, or -1 for noise."""

    def enroll(make):
        KINDS[name] = make, new
        return make

    return enroll


def noise(n_features):
    return np.full(n_features, -1)


def planted(n_planted, n_features):
    return np.where(np.arange(n_features) < n_planted, np.arange(n_features), -1)


def labels(random, logits):
    return (random.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(int)


def with_both(Y):
    """Labels of which every one has both values: a constant one is changed in one row, another for every label."""
    Y = np.asarray(Y, dtype=int)
    constant = np.flatnonzero(Y.min(axis=0) == Y.max(axis=0))
    Y[constant % len(Y), constant] ^= 1
    return Y


def effects(random, n_features, n_labels, low, high):
    """Coefficients: every feature matters for about half of the labels, and for one at least."""
    sizes = random.uniform(low, high, (n_features, n_labels)) * random.choice([-1, 1], (n_features, n_labels))
    used = random.random((n_features, n_labels)) < 0.5
    used[np.arange(n_features), np.arange(n_features) % n_labels] = True
    return sizes * used


@kind("noise 60 x 1500")
def noise_60(random, n_features=1500):
    return random.normal(size=(60, n_features)), with_both(random.random((60, 3)) < 0.4), noise(n_features)


@kind("noise 60 x 5000")
def noise_60_wide(random):
    return noise_60(random, 5000)


@kind("noise 500 x 50")
def noise_500(random):
    return random.normal(size=(500, 50)), with_both(random.random((500, 3)) < 0.4), noise(50)


@kind("skewed noise, skewed numbers")
def skewed_numbers(random):
    return np.exp(1.5 * random.normal(size=(300, 50))), np.exp(1.5 * random.normal(size=(300, 3))), noise(50)


@kind("rare labels, skewed noise")
def rare_skewed(random):
    return np.exp(1.5 * random.normal(size=(500, 60))), with_both(random.random((500, 8)) < 0.03), noise(60)


@kind("rare labels, sparse 0/1 noise")
def rare_sparse(random):
    X = (random.random((500, 60)) < 0.03).astype(float)
    return X, with_both(random.random((500, 8)) < 0.03), noise(60)


@kind("linear")
def linear(random):
    X = random.normal(size=(300, 50))
    return X, labels(random, X[:, :4] @ effects(random, 4, 3, 0.8, 1.6)), planted(4, 50)


@kind("weak")
def weak(random):
    X = random.normal(size=(500, 100))
    return X, labels(random, X[:, :6] @ effects(random, 6, 3, np.log(1.4), np.log(2.2))), planted(6, 100)


@kind("abs")
def absolute(random):
    X = random.normal(size=(400, 50))
    return X, labels(random, 3 * (np.abs(X[:, :3]) - 0.8)), planted(3, 50)


@kind("xor")
def xor(random):
    """The first feature of the pair is forced: nothing but its partner tells that it matters."""
    X = random.normal(size=(400, 50))
    Y = ((X[:, 0] * X[:, 1] > 0) ^ (random.random((3, 400)) < 0.1)).T
    return X, Y.astype(int), planted(2, 50)


@kind("copies")
def copies(random):
    X = random.normal(size=(300, 50))
    X[:, 3:18] = X[:, np.arange(15) % 3]
    original = planted(3, 50)
    original[3:18] = np.arange(15) % 3
    return X, labels(random, X[:, :3] @ effects(random, 3, 3, 1.0, 2.0)), original


@kind("chain")
def chain(random):
    X = random.normal(size=(400, 50))
    for column in range(1, 9):
        X[:, column] = X[:, column - 1] + 0.4 * random.normal(size=400)
    original = noise(50)
    original[:9] = 0
    return X, labels(random, 2 * X[:, :1] + np.zeros((1, 3))), original


@kind("rare")
def rare(random):
    X = random.normal(size=(500, 60))
    return X, with_both(X[:, :8] + 0.5 * random.normal(size=(500, 8)) > 2.1), planted(8, 60)


@kind("6 of 400 rows")
def six_rows(random):
    X = random.normal(size=(400, 50))
    Y = labels(random, X[:, :3] @ effects(random, 3, 3, 1.0, 2.0))
    rare_label = np.zeros(400, dtype=int)
    rare_label[np.argsort(-(X[:, 3] + 0.2 * random.normal(size=400)))[:6]] = 1
    return X, np.column_stack([Y, rare_label]), planted(4, 50)


@kind("spread over 14 labels")
def spread(random):
    X = random.normal(size=(400, 50))
    signs = random.choice([-1, 1], (3, 14))
    return X, labels(random, 0.3 * X[:, :3] @ signs), planted(3, 50)


@kind("skewed regression")
def skewed_regression(random):
    X = random.normal(size=(400, 50))
    return X, np.exp(X[:, :4] @ effects(random, 4, 3, 0.4, 0.8) + random.normal(size=(400, 3))), planted(4, 50)


@kind("one dominating feature")
def dominant(random):
    X = random.normal(size=(400, 50))
    Y = 3 * X[:, :1] + X[:, 1:4] @ effects(random, 3, 3, 0.3, 0.5) + 0.7 * random.normal(size=(400, 3))
    return X, Y, planted(4, 50)


@kind("60 correlated noise labels", new=True)
def correlated_labels(random):
    shared = random.normal(size=(400, 2)) @ random.normal(size=(2, 60))
    return random.normal(size=(400, 50)), with_both(shared + 0.5 * random.normal(size=(400, 60)) > 1), noise(50)


def with_gaps(table, random, share):
    return np.where(random.random(table.shape) < share, np.nan, table)


@kind("missing cells: noise", new=True)
def missing_noise(random):
    X, Y, original = random.normal(size=(400, 50)), with_both(random.random((400, 5)) < 0.3), noise(50)
    X[random.random(X.shape) < random.uniform(0, 0.6, 50)] = np.nan
    return X, with_gaps(Y.astype(float), random, 0.3), original


@kind("missing cells: linear", new=True)
def missing_linear(random):
    X = random.normal(size=(400, 50))
    Y = labels(random, X[:, :4] @ effects(random, 4, 5, 0.8, 1.6)).astype(float)
    return with_gaps(X, random, 0.2), with_gaps(Y, random, 0.3), planted(4, 50)


@kind("labels unknown by a feature: noise", new=True)
def unknown_by_feature(random):
    X, Y = random.normal(size=(400, 50)), with_both(random.random((400, 5)) < 0.3).astype(float)
    for label in range(5):
        Y[X[:, label] + 0.5 * random.normal(size=400) > 0.3, label] = np.nan
    return X, Y, noise(50)


@kind("5 classes: noise", new=True)
def classes_noise(random):
    return random.normal(size=(300, 60)), random.choice(5, p=[0.5, 0.2, 0.15, 0.1, 0.05], size=300), noise(60)


@kind("5 classes: planted", new=True)
def classes(random):
    X = random.normal(size=(400, 60))
    logits = X[:, :4] @ random.normal(scale=1.0, size=(4, 5))
    return X, np.argmax(logits + random.gumbel(size=(400, 5)), axis=1), planted(4, 60)


@kind("nominal features: noise", new=True)
def nominal_noise(random):
    import pandas as pd

    levels = {f"f{j}": random.integers(0, random.integers(2, 16), size=400).astype(str) for j in range(40)}
    return pd.DataFrame(levels), with_both(random.random((400, 4)) < 0.2), noise(40)


def words(random, n_rows, n_words, spread):
    """Counts of words whose frequencies fall as in text, in documents of lengths with this spread."""
    share = 1 / (3 + np.arange(n_words))
    means = np.outer(random.lognormal(0, spread, n_rows), 60 * share / share.sum())
    return random.poisson(means)


@kind("sparse text: noise", new=True)
def text_noise(random):
    X = words(random, 800, 1500, 0.5)
    Y = random.random((800, 20)) < random.uniform(0.01, 0.1, 20)
    return sp.csr_array(X.astype(float)), sp.csr_array(with_both(Y)), noise(1500)


@kind("sparse text: topics", new=True)
def text(random):
    """Documents have one length: given a word of a topic, a long document speaks against the topic, so any word would add."""
    X = words(random, 800, 1500, 0.0)
    Y = with_both(random.random((800, 20)) < random.uniform(0.03, 0.1, 20))
    for label in range(8):  # one word of every topic
        X[:, 40 + label] += random.poisson(1.5 * Y[:, label])
    original = noise(1500)
    original[40:48] = np.arange(40, 48)
    return sp.csr_array(X.astype(float)), sp.csr_array(Y), original


@kind("sparse text with weights: noise", new=True)
def weighted_text_noise(random):
    """Weights as of tf-idf have many values, so that a word has three columns, and labels have 2 to 20 of 1,000 rows."""
    X = words(random, 1000, 1000, 0.5)
    X = X * random.uniform(0.5, 1.5, X.shape) / np.maximum(X.sum(axis=1, keepdims=True), 1)
    Y = random.random((1000, 200)) < random.uniform(0.002, 0.02, 200)
    return sp.csr_array(X), sp.csr_array(with_both(Y)), noise(1000)


@kind("300 labels: noise", new=True)
def many_labels_noise(random):
    return random.normal(size=(400, 60)), with_both(random.random((400, 300)) < random.uniform(0.01, 0.2, 300)), noise(60)


@kind("300 labels: planted", new=True)
def many_labels(random):
    X = random.normal(size=(600, 60))
    sizes = np.zeros((6, 300))
    for feature in range(6):
        sizes[feature, random.choice(300, 15, replace=False)] = random.choice([-1.2, 1.2], 15)
    return X, with_both(labels(random, X[:, :6] @ sizes - random.uniform(1.5, 4, 300))), planted(6, 60)


@kind("grouped rows, 50 x 8: noise", new=True)
def grouped(random, share=0.5):
    """Rows of a group share half of the variance of features and of targets: rows are not independent."""
    of_group = np.repeat(np.arange(50), 8)
    X = np.sqrt(share) * random.normal(size=(50, 50))[of_group] + np.sqrt(1 - share) * random.normal(size=(400, 50))
    Y = np.sqrt(share) * random.normal(size=(50, 3))[of_group] + np.sqrt(1 - share) * random.normal(size=(400, 3))
    return X, with_both(Y > 0.3), noise(50)


@kind("slightly grouped rows: noise", new=True)
def slightly_grouped(random):
    return grouped(random, 0.1)


def marks(make, seed):
    """Whether some row is marked falsely; planted rows marked, and in all; CPU seconds of the tests and of the selection."""
    X, Y, original = make(np.random.default_rng(seed))
    watch = Stopwatch()
    problem = read(X, Y)
    selected = Sieve(n_features_to_select=N_SELECTED, forced=[0] if make is xor else ()).fit(problem).selected_
    of_selection = watch.lap().cpu
    signal = row_tests_of(problem, selected, problem.n_features).signal
    of_tests = watch.lap().cpu
    false, found, n_planted, seen = False, 0, 0, set()
    for at, feature in enumerate(selected.tolist()):
        source = int(original[feature])
        if source < 0 or source in seen:
            false = false or bool(signal[at])
        elif source == feature and not (make is xor and feature == 0):
            n_planted, found = n_planted + 1, found + bool(signal[at])
        if source == feature or (make is copies and source >= 0):
            seen.add(source)
    return false, found, n_planted, of_tests, of_selection


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.signal_marks", description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=200, help="tables of every kind (default: 200)")
    parser.add_argument("--kinds", default="", help="words, with commas, one of which the name of a kind must contain")
    parser.add_argument("--seed", type=int, default=1, help="the first seed is this times 1,000,000")
    options = parser.parse_args(arguments)
    words_of_kinds = options.kinds.split(",")
    lines = []
    for name, (make, new) in KINDS.items():
        if not any(word in name for word in words_of_kinds):
            continue
        seeds = range(1_000_000 * options.seed, 1_000_000 * options.seed + options.tables)
        false, found, n_planted, of_tests, of_selection = np.array([marks(make, seed) for seed in seeds], dtype=float).T
        rate = false.mean()
        error = np.sqrt(max(rate * (1 - rate), 0.0) / len(false))
        power = f"{found.sum() / n_planted.sum():.2f}" if n_planted.any() else "-"
        many = f"{n_planted.mean():.1f}" if n_planted.any() else "-"
        cells = ["yes" if new else "no", f"{rate:.3f} ± {error:.3f}", power, many, f"{of_tests.sum() / of_selection.sum():.1f}"]
        lines.append((name, cells))
        print(name, *cells, flush=True)
    print()
    print_table("kind of table", ["new", "false marks", "marked", "planted", "cost"], lines)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
