"""Lazy searches: the share of the tables that is counted, against counting all candidates at every step, FEAST, and JMI.

``python -m benchmarks.lazy`` prints CPU seconds of complete fits on one thread and their ratios in the same run: 20 features,
from ready codes, or for the default from the same values as numbers. ``counted`` is the share of the tables that a lazy search
counted. ``--feast`` compares with the C program FEAST instead (see :mod:`benchmarks.peers`), in a loop over the labels where
there are several, and ``--default`` the default with JMI. Both read the same numbers and put them into the same bins of equal
frequency, and JMI counts all candidates at every step: "of binning" is the share of JMI's time that both spend for that, and
"by codes" is the ratio of what is left of their times. ``--linear`` compares the linear half of the default with its prototype,
``moments.cpp`` of the shared folder, on the same numbers, which lie column after column: from numbers to features, and without
the steps in Python that read options and targets.
"""

import argparse
import ctypes
import os
import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np
import scipy.sparse as sp

from benchmarks.clock import in_turns
from benchmarks.measure import single_threaded_blas
from benchmarks.peers import N_FEATURES, feast
from benchmarks.prototype import PrototypeMissing, load_moments
from benchmarks.table import number, print_table
from labelsieve import Sieve
from labelsieve.counting.backends.native import NativeBackend
from labelsieve.criteria import CMIM
from labelsieve.discretize import EqualFrequency
from labelsieve.labelspace import read_targets
from labelsieve.search import GreedySearch, LeastSquaresGain
from labelsieve.search.gains import LazyGain
from labelsieve.search.least_squares import linear_data
from labelsieve.tables.frames import read_table

# Rows, features, labels, levels, and the share of ones of binary features.
SHAPES = {
    "emotions-like, one label": (593, 72, 1, 5, None),
    "emotions-like": (593, 72, 6, 5, None),
    "yeast-like, one label": (2417, 103, 1, 5, None),
    "yeast-like": (2417, 103, 14, 5, None),
    "enron-like": (1702, 1001, 53, 2, 0.08),
    "bibtex-like, one label": (7395, 1836, 1, 2, 0.035),
    "bibtex-like": (7395, 1836, 159, 2, 0.035),
    "wide, one label": (20000, 5000, 1, 5, None),
    "dense binary": (10000, 1000, 50, 2, 0.5),
    "tall": (50000, 200, 30, 5, None),
}
MOST_FEAST = 3  # labels that FEAST is called for; the others are reckoned from their mean
LINEAR_SHAPES = {
    "50,000 x 1,000 x 30": (50000, 1000, 30),
    "20,000 x 200 x 5": (20000, 200, 5),
    "2,417 x 103 x 14": (2417, 103, 14),
}
DEFAULT_SHAPES = {"50,000 x 1,000 x 30": (50000, 1000, 30), "20,000 x 200 x 5": (20000, 200, 5), "7,395 x 1,836 x 159": None}


def codes(name):
    """Features that depend on a common factor, and labels of it."""
    n_rows, n_features, n_labels, levels, density = SHAPES[name]
    rng = np.random.default_rng(0)
    factor, weight = rng.random((n_rows, 1)), rng.random(n_features) * 0.5
    noise = rng.random((n_rows, n_features))
    if levels == 2:
        X = noise < density * np.exp(1.2 * (3 * rng.random(n_features) - 1.5)) * (1 - weight + 2 * weight * factor)
    else:
        X = np.minimum(levels - 1, (weight * factor + (1 - weight) * noise) * levels)
    weight = rng.random(n_labels) * 0.8
    frequency = 0.3 if n_labels == 1 else np.exp(rng.uniform(np.log(0.02), np.log(0.3), n_labels))
    Y = rng.random((n_rows, n_labels)) < frequency * (1 - weight + 2 * weight * factor)
    return X.astype(np.uint8), Y.astype(np.uint8)


def numbers(shape):
    """Correlated numbers and labels that depend on them; None: sparse counts of words."""
    rng = np.random.default_rng(0)
    if shape is None:
        X, Y = codes("bibtex-like")
        return sp.csr_array(X * rng.integers(1, 4, X.shape)), sp.csr_array(Y)
    n_rows, n_features, n_labels = shape
    factors = rng.normal(size=(n_rows, 8))
    X = factors @ rng.normal(size=(8, n_features)) * 0.4 + rng.normal(size=(n_rows, n_features))
    latent = factors @ rng.normal(size=(8, n_labels)) + X[:, rng.permutation(n_features)[:n_labels]]
    return X, (latent + rng.normal(size=(n_rows, n_labels)) > rng.uniform(0, 2.5, n_labels)).astype(np.uint8)


@contextmanager
def noted():
    """The gains of the lazy searches that are made inside."""
    made, make = [], LazyGain.__init__

    def note(gain, *arguments):
        made.append(gain)
        make(gain, *arguments)

    with mock.patch.object(LazyGain, "__init__", note):
        yield made


def compete(criterion, X, Y, rounds, others=(), **options):
    """Seconds of a lazy fit, of one that counts all candidates, and of other calls; the share counted, and the selection."""
    sieve = Sieve(criterion, n_features_to_select=N_FEATURES, **options)
    with noted() as made:
        selected = sieve.fit(X, Y).selected_
    share = made[-1].n_counted / made[-1].n_tables if made else 1.0
    del made[:]

    def full():
        with mock.patch.object(NativeBackend, "candidates", return_value=None):
            return sieve.fit(X, Y).selected_

    laps, answers = in_turns({"lazy": lambda: sieve.fit(X, Y).selected_, "full": full, **dict(others)}, rounds)
    if not np.array_equal(answers["full"], selected):
        raise ValueError(f"{criterion}: another selection when all candidates are counted")
    return {name: lap.cpu for name, lap in laps.items()}, share, selected


def against_all(names, criteria, rounds):
    rows = []
    for name in names:
        X, Y = codes(name)
        for criterion in criteria:
            options = {} if criterion == "hybrid" else {"discretizer": None}
            seconds, share, _ = compete(criterion, X, Y, rounds, **options)
            ratio = seconds["full"] / seconds["lazy"]
            rows.append((f"{name}, {criterion}", [*map(number, (seconds["lazy"], seconds["full"], ratio, share))]))
    print_table("CPU seconds", ["lazy", "all", "all/lazy", "counted"], rows)


def against_feast(names, rounds):
    library, rows = ctypes.CDLL(os.environ["LABELSIEVE_FEAST"]), []
    for name in names:
        X, Y = codes(name)
        columns, labels = np.asfortranarray(X.astype(np.uint32)), np.asfortranarray(Y.astype(np.uint32))
        for criterion, title in (("cmim", "cmim"), (CMIM(with_relevance=True), "cmim with relevance, as FEAST")):
            some = labels.T[:MOST_FEAST]
            loop = [("feast", partial(feast_each, library, columns, some))]
            seconds, share, selected = compete(criterion, X, Y, rounds, loop, discretizer=None)
            theirs = seconds["feast"] / len(some) * Y.shape[1]
            same = "-"
            if Y.shape[1] == 1 and title != "cmim":
                same = number(float(np.mean(selected == feast(library.CMIM, columns, labels[:, 0]))))
            rows.append((f"{name}: {title}", [*map(number, (seconds["lazy"], theirs, theirs / seconds["lazy"], share)), same]))
    print_table("CPU seconds", ["ours", "FEAST", "FEAST/ours", "counted", "same"], rows)


def feast_each(library, columns, labels):
    """Select for one label after the other."""
    return [feast(library.CMIM, columns, label) for label in labels]


def against_jmi(rounds):
    rows = []
    for name, shape in DEFAULT_SHAPES.items():
        X, Y = numbers(shape)
        jmi = Sieve("jmi", n_features_to_select=N_FEATURES)
        others = {"jmi": lambda jmi=jmi, X=X, Y=Y: jmi.fit(X, Y), "bins": lambda X=X: EqualFrequency().encode(X)}
        seconds, share, _ = compete("hybrid", X, Y, rounds, others, n_jobs=1)
        ratios = seconds["lazy"] / seconds["jmi"], seconds["full"] / seconds["jmi"], seconds["bins"] / seconds["jmi"]
        by_codes = (seconds["lazy"] - seconds["bins"]) / (seconds["jmi"] - seconds["bins"])
        rows.append((name, [*map(number, (seconds["jmi"], *ratios, by_codes, share))]))
    print_table("CPU seconds", ["jmi", "default/jmi", "all/jmi", "of binning", "by codes", "counted"], rows)


def against_prototype(rounds):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            library = load_moments(Path(folder))
        except PrototypeMissing as error:
            print(f"There is no prototype to compare with: {error}")
            return
        for name, shape in LINEAR_SHAPES.items():
            X, Y = numbers(shape)
            X, table, targets = np.asfortranarray(X), read_table(np.asfortranarray(X)), read_targets(Y)
            labels = np.asfortranarray(Y, dtype=np.float64)

            def ours(table=table, targets=targets):
                search = GreedySearch(LeastSquaresGain(linear_data(table, targets, n_jobs=1), n_jobs=1), table.shape[1])
                search.extend(N_FEATURES)
                return search.selected

            others = {f"{at_once} a pass": partial(prototype_selects, library, X, labels, at_once) for at_once in (1, 4, 8)}
            laps, answers = in_turns({"ours": ours, **others}, rounds)
            best = min(laps[other].cpu for other in others)
            same = np.mean(np.equal(answers["ours"], answers["4 a pass"]))
            cells = [laps["ours"].cpu, *(laps[other].cpu for other in others), laps["ours"].cpu / best, same]
            rows.append((name, [*map(number, cells)]))
    print_table("CPU seconds", ["ours", "1 a pass", "4 a pass", "8 a pass", "ours/best", "same"], rows)


def prototype_selects(library, X, Y, at_once):
    """Features by the prototype, which multiplies ``at_once`` columns in a pass."""
    chosen, gains, lefts = np.empty(N_FEATURES, dtype=np.int32), np.empty(N_FEATURES), np.empty(N_FEATURES)
    sizes = [*map(ctypes.c_long, (*X.shape, Y.shape[1]))]
    least, penalty = ctypes.c_double(1e-8), ctypes.c_double(2.0)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (X, Y, chosen, gains, lefts)]
    library.ms_digits(pointers[0], *sizes[:2], pointers[1], sizes[2], N_FEATURES, least, penalty, 1, at_once, *pointers[2:])
    return chosen.tolist()


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lazy", description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5, help="rounds; the best counts (default: 5)")
    parser.add_argument("--shapes", default=";".join(SHAPES), help="names, with semicolons between them")
    parser.add_argument("--criteria", default="cmim,cmim-positive,jmim,hybrid", help="to compare with counting all candidates")
    parser.add_argument("--feast", action="store_true", help="compare CMIM with FEAST instead")
    parser.add_argument("--default", action="store_true", help="compare the default with JMI instead")
    parser.add_argument(
        "--linear", action="store_true", help="compare the linear half of the default with its prototype instead"
    )
    options = parser.parse_args(arguments)
    names = options.shapes.split(";")
    with single_threaded_blas():
        if options.feast:
            against_feast(names, options.repeat)
        elif options.default:
            against_jmi(options.repeat)
        elif options.linear:
            against_prototype(options.repeat)
        else:
            against_all(names, options.criteria.split(","), options.repeat)


if __name__ == "__main__":
    main()
