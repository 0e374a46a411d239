"""Every public entry with malformed sparse matrices: run in a process of its own, because a wrong check crashes it.

Prints the entries that do not refuse a matrix, and the number of calls.
"""

import sys
from functools import partial

import numpy as np
import scipy.sparse as sp

from labelsieve import metrics
from labelsieve.classifiers import nearest_neighbors, nested_neighbors, nested_predictions, prefix_scores
from labelsieve.datasets import Dataset, describe
from labelsieve.datasets.splits import IterativeStratifiedKFold, IterativeStratifiedShuffleSplit
from labelsieve.errors import InputError
from labelsieve.information import (
    conditional_mutual_information,
    entropy,
    joint_entropy,
    mutual_information,
    neighbor_mutual_information,
)
from labelsieve.labelspace import read_targets
from labelsieve.registry import (
    CLASSIFIERS,
    DISCRETIZERS,
    MEASURES,
    make_classifier,
    make_discretizer,
    make_selector,
    method_names,
)

N_ROWS, N_FEATURES, N_LABELS = 40, 6, 3
OUTSIDE = 10**6  # far enough to leave the pages of the process


def tables():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(N_ROWS, N_FEATURES)).astype(float)
    Y = (X[:, :N_LABELS] > 0).astype(int)
    Y[:2] = [[0] * N_LABELS, [1] * N_LABELS]
    return sp.csr_matrix(X), sp.csr_matrix(Y)


def malformed(matrix):
    """The same matrix with an index, or a pointer, that leads outside."""
    for form in ("csr", "csc", "bsr"):
        for broken in ("index", "negative", "decreasing", "end", "start", "values"):
            bad = matrix.asformat(form).copy()
            if broken in ("index", "negative"):
                bad.indices[len(bad.indices) // 2] = OUTSIDE if broken == "index" else -OUTSIDE
            elif broken == "decreasing":
                bad.indptr[1] = OUTSIDE
            elif broken == "end":
                bad.indptr[-1] = OUTSIDE
            elif broken == "start":
                bad.indptr[0] = -OUTSIDE
            else:
                bad.data = bad.data[:1]
            yield f"{form} {broken}", bad
    coordinates = matrix.tocoo().copy()
    coordinates.row[0] = OUTSIDE
    yield "coo index", coordinates
    lists = matrix.tolil()
    lists.rows[0], lists.data[0] = [OUTSIDE], [1]
    yield "lil index", lists


def entries():
    """Names and functions of (X, Y); the good table that the other argument gets is sparse too."""
    good_X, good_Y = tables()
    for name in method_names():
        yield f"selector {name}", lambda X, Y, name=name: make_selector(name, n_features_to_select=2).fit(X, Y)
    fitted = make_selector("mim", n_features_to_select=2).fit(good_X, good_Y)
    yield "transform", lambda X, Y: fitted.transform(X)
    yield "inverse_transform", lambda X, Y: fitted.inverse_transform(X)
    for name in DISCRETIZERS:
        yield (
            f"discretizer {name}",
            lambda X, Y, name=name: make_discretizer(name).fit_transform(X, good_Y[:, [0]].toarray().ravel()),
        )
    of_scikit_learn = {"forest", "trees"}
    for name in CLASSIFIERS.keys() - of_scikit_learn:
        yield f"classifier {name}", lambda X, Y, name=name: make_classifier(name).fit(X, Y)
    learned = make_classifier("mlknn").fit(good_X, good_Y)
    yield "predict", lambda X, Y: learned.predict(X)
    predicted = np.zeros((N_ROWS, N_LABELS), dtype=int)
    for name in MEASURES:
        yield f"measure {name}", lambda X, Y, name=name: getattr(metrics, name)(Y, predicted)
    yield "evaluate", lambda X, Y: metrics.evaluate(Y, good_Y)
    yield "evaluate predicted", lambda X, Y: metrics.evaluate(good_Y, Y)
    for function in (mutual_information, joint_entropy, neighbor_mutual_information):
        yield function.__name__, lambda X, Y, function=function: function(X, Y)
    yield "entropy", lambda X, Y: entropy(X)
    yield "conditional_mutual_information", lambda X, Y: conditional_mutual_information(X, Y, Y)
    yield "read_targets", lambda X, Y: read_targets(Y)
    yield "nearest_neighbors", lambda X, Y: nearest_neighbors(X, k=2)
    yield "queries", lambda X, Y: nearest_neighbors(good_X, X, k=2)
    yield "nested_neighbors", lambda X, Y: nested_neighbors(X, features=[0, 1], k=2)
    nested = partial(nested_predictions, make_classifier("brknn"))
    yield "nested_predictions", lambda X, Y: list(nested(X, Y, good_X, features=[0, 1]))
    scored = partial(prefix_scores, make_classifier("brknn"), "micro_f1")
    yield "prefix_scores", lambda X, Y: scored(X, Y, good_X, good_Y, features=[0, 1])
    for splitter in (IterativeStratifiedKFold(2), IterativeStratifiedShuffleSplit(2)):
        yield type(splitter).__name__, lambda X, Y, splitter=splitter: list(splitter.split(X, Y))
    names = tuple(f"f{i}" for i in range(N_FEATURES)), tuple(f"l{i}" for i in range(N_LABELS)), ("numeric",) * N_FEATURES
    yield "describe", lambda X, Y: describe(Dataset(X, Y, *names))


# Functions of one of the tables only.
WITHOUT_X = {"evaluate", "evaluate predicted", "read_targets", "IterativeStratifiedKFold", "IterativeStratifiedShuffleSplit"}
WITHOUT_Y = {
    "transform",
    "inverse_transform",
    "predict",
    "entropy",
    "joint_entropy",
    "nearest_neighbors",
    "queries",
    "nested_neighbors",
}


def uses(name, table):
    if name.startswith("measure "):
        return table == "Y"
    if name.startswith("discretizer ") or name in ("selector variance", "selector random", "selector all"):
        return table == "X"
    return name not in (WITHOUT_X if table == "X" else WITHOUT_Y)


def main():
    X, Y = tables()
    n_calls, faults = 0, []
    for name, call in entries():
        for table, good in (("X", X), ("Y", Y)):
            if not uses(name, table):
                continue
            for kind, bad in malformed(good):
                sys.stderr.write(f"{name}, {table}, {kind}\n")  # the last line before a crash
                try:
                    call(*((bad, Y) if table == "X" else (X, bad)))
                    faults.append(f"accepted: {name}, {table}, {kind}")
                except InputError:
                    n_calls += 1
                except Exception as error:  # a fault, which the test lists
                    faults.append(f"{type(error).__name__}: {name}, {table}, {kind}: {error}")
    sys.stdout.write("\n".join([*faults, f"{n_calls} refused"]))


if __name__ == "__main__":
    main()
