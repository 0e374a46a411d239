"""Recorded answers of every method: selections, scores and their components, to the last bit.

A refactoring must not change them. ``python -m tests.support.recorded_answers`` records them again, after an intended change of
values; ``python -m tests.support.recorded_answers FILE`` writes one line for every combination instead, on ten data sets,
to be compared between two versions with ``diff``.
"""

import hashlib
import json
import os
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from labelsieve import AutoSieve
from labelsieve.datasets import fetch
from labelsieve.registry import CRITERIA, DISCRETIZERS, LABEL_SPACES, METHODS, PRESETS, make_selector, selector_class
from labelsieve.selectors import RankEnsemble
from labelsieve.selectors.regressions.base import BaseModelRanking

RECORDED = Path(__file__).with_suffix(".json")
DATASETS = ("emotions", "yeast", "scene", "birds", "flags", "genbase", "medical", "enron", "CAL500", "enb")
FEW_DATASETS = ("emotions", "medical", "enb")
NUMERIC = {"enb"}
N_ROWS, N_FEATURES, N_LABELS, N_SELECTED = 240, 30, 6, 6
FLOATING_POINT = {"grro", "hybrid", "llsf", "mddm", "omp"}  # their last bits depend on the linear algebra library
ATTRIBUTES = ("selected_", "scores_", "support_", "coef_", "components_")
REFUSED = (ValueError, TypeError, MemoryError, ImportError)


def read_dataset(name: str, data_home: str | os.PathLike[str]):
    """The first rows, the first features that vary, and the most balanced labels of a data set."""
    data = fetch(name, data_home=data_home, download=False)
    X = data.X[:N_ROWS]
    Y = (data.Y.toarray() if sp.issparse(data.Y) else np.asarray(data.Y))[:N_ROWS]
    if name not in NUMERIC:
        present = (Y != 0).sum(axis=0)
        balanced = np.argsort(-np.minimum(present, len(Y) - present), kind="stable")[:N_LABELS]
        Y = Y[:, np.sort(balanced)]
    dense = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=float)
    varying = np.argsort(-(dense.var(axis=0) > 0).astype(int), kind="stable")[:N_FEATURES]
    return (X.tocsc() if sp.issparse(X) else X)[:, np.sort(varying)], Y


def combinations(spaces, discretizers, *, all_pairs: bool) -> Iterator[tuple[str, str, dict]]:
    """Method, a name of the setting, and parameters; ``all_pairs`` crosses label spaces with discretizers."""
    size = {"n_features_to_select": N_SELECTED}
    for method in METHODS:
        if issubclass(selector_class(method), BaseModelRanking | RankEnsemble | AutoSieve):
            continue  # their bits are those of the installed scikit-learn
        if method not in FLOATING_POINT:
            yield method, "", size
    pairs = [*product(spaces, discretizers)]
    for method in dict.fromkeys([*CRITERIA, *PRESETS]):
        yield method, "auto", size
        for space, discretizer in pairs:
            if all_pairs or space == "single" or discretizer == "equal-width":
                yield method, f"{space} {discretizer}", size | {"targets": space, "discretizer": discretizer}
        yield method, "labelwise", size | {"labelwise": True}
        for estimator in ("miller-madow", "shrinkage"):
            yield method, estimator, size | {"estimator": estimator}
        yield method, "weighted", size


def answer(method: str, setting: str, parameters: dict, X, Y) -> str:
    """A digest of what the selector answers, or the type of the error that refuses the combination."""
    weights = {"sample_weight": 1.0 + np.arange(len(Y)) % 4} if setting == "weighted" else {}
    try:
        selector = make_selector(method, **parameters).fit(X, Y, **weights)
    except REFUSED as error:
        return next(kind.__name__ for kind in REFUSED if isinstance(error, kind))
    arrays = [getattr(selector, name) for name in ATTRIBUTES if hasattr(selector, name)]
    arrays += [values for _, values in sorted(getattr(selector, "score_components_", {}).items())]
    digest = hashlib.sha256()
    for array in map(np.ascontiguousarray, arrays):
        values = array.astype(np.float64) + 0.0 if array.dtype.kind == "f" else array.astype(np.int64)
        digest.update(str(values.shape).encode() + values.tobytes())
    return digest.hexdigest()[:16]


def by_method(name: str, data_home: str | os.PathLike[str], spaces, discretizers) -> dict[str, str]:
    """One digest for each method: of its answers under all settings of the reduced set."""
    X, Y = read_dataset(name, data_home)
    answers: dict[str, list[str]] = defaultdict(list)
    for method, setting, parameters in combinations(spaces, discretizers, all_pairs=False):
        answers[method].append(f"{setting}={answer(method, setting, parameters, X, Y)}")
    return {method: hashlib.sha256("\n".join(found).encode()).hexdigest()[:16] for method, found in answers.items()}


def main() -> None:
    warnings.simplefilter("ignore")
    data_home = os.environ["LABELSIEVE_DATA"]
    if len(sys.argv) == 1:
        names = {"label spaces": list(LABEL_SPACES), "discretizers": list(DISCRETIZERS)}
        recorded = names | {name: by_method(name, data_home, *names.values()) for name in FEW_DATASETS}
        RECORDED.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")
        return
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        for name in DATASETS:
            X, Y = read_dataset(name, data_home)
            for method, setting, parameters in combinations(LABEL_SPACES, DISCRETIZERS, all_pairs=True):
                file.write(f"{name} {method} {setting}: {answer(method, setting, parameters, X, Y)}\n")


if __name__ == "__main__":
    main()
