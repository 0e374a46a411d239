"""Equivalent calls of other libraries, on synthetic tables of the size of published ones; nothing is extrapolated.

``python -m benchmarks.peers``. What is not installed is shown as ``-``: scikit-multilearn-ng, skfeature-chappers, FEAST.
``$LABELSIEVE_FEAST`` names a library of its C sources and those of MIToolbox: ``gcc -O3 -fPIC -shared -DCOMPILE_C``.
``$LABELSIEVE_PYIT`` names the folder of a checkout of PyIT-MLFS, which is no package; it needs pyitlib and tqdm.
"""

import argparse
import ctypes
import importlib
import io
import os
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from functools import partial

import numpy as np
from sklearn.feature_selection import mutual_info_classif

from benchmarks.clock import timed
from benchmarks.measure import single_threaded_blas
from benchmarks.table import number, print_table
from labelsieve import Sieve
from labelsieve.classifiers import MLkNN
from labelsieve.datasets import make_feature_roles
from labelsieve.discretize import equal_width

N_FEATURES = 20  # to choose
SHAPES = {"emotions": (593, 72, 6), "yeast": (2417, 103, 14)}  # rows, features, labels


def made(name):
    """A table of this size, with half of the features relevant."""
    n_rows, n_features, n_labels = SHAPES[name]
    half = n_features // 2
    data = make_feature_roles(
        n_rows, n_labels=n_labels, n_relevant=half, n_noisy_copies=0, n_xor_pairs=0, n_irrelevant=n_features - half
    )
    return data.X, data.Y


def optional(module, name):
    """Something of a library that need not be installed."""
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError:
        return None


def selections(name, rounds):
    """A greedy criterion for one label, and information with all labels; ``same``: features at the same place."""
    X, Y = made(name)
    codes, label = equal_width(X, n_bins=5).to_dense().astype(np.int64), Y[:, 0].astype(np.int64)
    sieve = Sieve("cmim", discretizer=None, n_features_to_select=N_FEATURES)
    ours, selected = timed(lambda: sieve.fit(codes, label).selected_, rounds)
    theirs = optional("skfeature.function.information_theoretical_based.CMIM", "cmim")
    seconds = same = None
    if theirs is not None:
        seconds, other = timed(lambda: theirs(codes, label, mode="index", n_selected_features=N_FEATURES), 1)
        same = float(np.mean(selected == other[:N_FEATURES]))
    yield f"{name}: CMIM, {N_FEATURES} features, one label", ours, "skfeature", seconds, same
    ours, selected = timed(lambda: Sieve("mim", discretizer=None, n_features_to_select=None).fit(codes, Y).selected_, rounds)
    seconds, scores = timed(lambda: sum(mutual_info_classif(codes, y, discrete_features=True) for y in Y.T), 1)
    same = float(np.mean(selected == np.argsort(-scores, kind="stable")))
    yield f"{name}: information of all features and labels", ours, "scikit-learn", seconds, same


def c_program(name, rounds):
    """Greedy criteria of FEAST for one label, from unsigned integers in columns."""
    X, Y = made(name)
    codes, label = equal_width(X, n_bins=5).to_dense().astype(np.uint32), Y[:, 0].astype(np.uint32)
    for ours_name, theirs_name in (("jmi", "JMI"), ("mrmr", "mRMR_D")):
        sieve = Sieve(ours_name, discretizer=None, n_features_to_select=N_FEATURES)
        ours, selected = timed(lambda sieve=sieve: sieve.fit(codes, label).selected_, rounds)
        seconds = same = None
        if "LABELSIEVE_FEAST" in os.environ:
            library = ctypes.CDLL(os.environ["LABELSIEVE_FEAST"])
            call = partial(feast, getattr(library, theirs_name), np.asfortranarray(codes), label)
            seconds, other = timed(call, rounds)
            same = float(np.mean(selected == other))
        yield f"{name}: {ours_name.upper()}, {N_FEATURES} features, one label", ours, "FEAST, in C", seconds, same


def scripts(name, rounds):
    """SCLS for all labels; PyIT-MLFS computes the information of all pairs first, as its main script does."""
    X, Y = made(name)
    codes, labels = equal_width(X, n_bins=5).to_dense().astype(np.int64), Y.astype(np.int64)
    sieve = Sieve("scls", discretizer=None, n_features_to_select=N_FEATURES)
    ours, selected = timed(lambda: sieve.fit(codes, labels).selected_, rounds)
    seconds = same = None
    if "LABELSIEVE_PYIT" in os.environ:
        sys.path.insert(0, os.environ["LABELSIEVE_PYIT"])
        theirs = importlib.import_module("classes.scls").scls()
        with redirect_stderr(io.StringIO()), redirect_stdout(io.StringIO()):  # its progress bars
            seconds, order = timed(lambda: theirs.select(codes, labels, N_FEATURES, "pre_eval"), 1)
        same = float(np.mean(selected == order))
    yield f"{name}: SCLS, {N_FEATURES} features, all labels", ours, "PyIT-MLFS", seconds, same


def feast(function, columns, label):
    """Call a criterion of FEAST; returns the order of the features."""
    integers = ctypes.POINTER(ctypes.c_uint)
    pointers = (integers * columns.shape[1])(*(column.ctypes.data_as(integers) for column in columns.T))
    order, scores = np.empty(N_FEATURES, dtype=np.uint32), np.empty(N_FEATURES)
    sizes = [ctypes.c_uint(size) for size in (N_FEATURES, *columns.shape)]
    targets, found = label.ctypes.data_as(integers), order.ctypes.data_as(integers)
    function(*sizes, pointers, targets, found, scores.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
    return order


def neighbors(name, rounds):
    """ML-kNN: half of the rows learned from, the others asked about."""
    X, Y = made(name)
    ours, predicted = timed(lambda: MLkNN(k=10).fit(X[::2], Y[::2]).predict(X[1::2]), rounds)
    theirs = optional("skmultilearn.adapt", "MLkNN")
    seconds = same = None
    if theirs is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Our rows are not their own neighbors.
            seconds, other = timed(lambda: theirs(k=10).fit(X[::2], Y[::2].astype(int)).predict(X[1::2]), 1)
        same = float((other.toarray() == predicted).mean())
    yield f"{name}: ML-kNN, fit and predict", ours, "scikit-multilearn-ng", seconds, same


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5, help="rounds of ours; the best counts (default: 5)")
    options = parser.parse_args(arguments)
    rows = []
    with single_threaded_blas():
        for name in SHAPES:
            for part in (selections, c_program, scripts, neighbors):
                for what, ours, who, theirs, same in part(name, options.repeat):
                    ratio = None if theirs is None else theirs / ours
                    rows.append((what, [number(ours), number(theirs), number(ratio), who, number(same)]))
    print_table("CPU seconds", ["ours", "theirs", "theirs/ours", "whose", "same"], rows)


if __name__ == "__main__":
    main()
