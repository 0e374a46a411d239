"""Compare selectors with naive recomputation and with themselves: ``python -m fuzz.differential --minutes 30``.

A case is a selector with random options on a small random table. Every check of ``CHECKS`` compares its result with another way
to the same result: plain loops over the definition, rows in another order, the same table in another format, ... A failing case
is made smaller as long as it fails, and printed as a program that repeats it.
"""

import argparse
import math
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.utils.validation import has_fit_parameter

from labelsieve import InputError, Sieve
from labelsieve.criteria import JoinedMIM
from labelsieve.datasets import ChunkedTable
from labelsieve.discretize import Discretizer
from labelsieve.formula import FormulaError
from labelsieve.registry import CRITERIA, DISCRETIZERS, LABEL_SPACES, METHODS, PRESETS, make_selector, resolve_method
from labelsieve.selectors import LLSF, MDDM, ConditionalDiscoveries, MarginalDiscoveries
from labelsieve.tables.problem import read
from tests.support import (
    reference_discretizers,
    reference_embedded,
    reference_label_spaces,
    reference_pursuit,
    reference_quadratic,
    reference_rankings,
    reference_relief,
)
from tests.support.reference_criteria import REFERENCES, estimating
from tests.support.reference_pairwise import pairwise_deletion

REFUSED = (InputError, FormulaError, MemoryError)
OTHERS = {"llsf": LLSF, "marginal discoveries": MarginalDiscoveries, "conditional discoveries": ConditionalDiscoveries}
SLOW = ("auto", "boruta", "permutation-importance", "rfe", "gradient-boosting", "extra-trees", "borda-stability", "bagged-cmim")
# Their results depend on the order of rows: by a seed, by the first of rows at one distance, or by where an iteration ends.
ROW_ORDER = {*SLOW, "auto", "l1", "borda", "relieff", "lp-relieff", "relieff-ml", "rrelieff", "pptmi", "ksg", "random", "all"}
ROW_ORDER |= {"ssfs", "scmfs", "manifold-mifs", "mdfs", "mssl", "mgfs", "bmfs", "conditional discoveries"}
# And these on the order of columns.
COLUMN_ORDER = ROW_ORDER | {"pca", "pmfs", "rfs", "llsf", "mddm", "grro", "mlqpfs", "qpfs", "marginal discoveries"}
RANDOM_SPACES = ("select-random", "group", "group-rand", "group-auto", "clusters", "sampled", "frequent")
OF_GROUPS = ("group", "group-rand", "group-auto")  # their references suppose a cluster for every labelset
OF_COUNTS = (*RANDOM_SPACES, "pruned", "select-max", "select-min")  # their references do not know weights
JOINED = {name for name, preset in PRESETS.items() if isinstance(preset.criterion, JoinedMIM)}  # divided by sums of squares
CLOSE = 1e-7
GRID = 1_102_701_600  # Relief calculates with features scaled to whole numbers up to this one
fits = Counter()


@dataclass(frozen=True)
class Case:
    """A selector by name, its parameters, and a table of plain numbers, NaN where a cell is missing."""

    method: str
    parameters: dict[str, Any]
    X: list[list[float]]
    Y: list[list[float]]
    weights: list[float] | None = None
    seed: int = field(default=0, compare=False)  # of what a check draws

    @property
    def of_counts(self) -> bool:
        """Whether scores come from counts, so that they are the same to the last bit in every way."""
        return self.method in {**CRITERIA, **PRESETS} and self.method not in JOINED

    def selector(self, **changed: Any) -> Any:
        parameters = self.parameters | changed
        if self.method in OTHERS:
            return OTHERS[self.method](**parameters)
        return make_selector(self.method, **parameters)

    def fit(self, X: Any = None, Y: Any = None, weights: Any = None, **changed: Any) -> "Result":
        """Fit on the table of the case, or on another one."""
        if X is None:
            X, Y, weights = np.array(self.X), np.array(self.Y), self.weights
        return fitted(self.selector(**changed), X, Y, weights)


@dataclass(frozen=True)
class Result:
    selected: list[int]
    scores: list[float]
    selector: Any = field(compare=False)


class Skipped(Exception):
    """A comparison that does not apply."""


def fitted(selector: Any, X: Any, Y: Any, weights: Any = None) -> Result:
    fits["fits"] += 1
    selector.fit(X, Y, **({} if weights is None else {"sample_weight": np.array(weights)}))
    selected = np.asarray(selector.selected_).tolist()
    scores = getattr(selector, "scores_", None)
    if scores is None or len(scores) != len(selected):
        scores = np.asarray(getattr(selector, "feature_scores_", np.zeros(selector.n_features_in_)))[selected]
    return Result(selected, np.asarray(scores, dtype=float).tolist(), selector)


def same(case: Case, ours: Result, others: Result) -> None:
    """The same features with the same scores: to the last bit if they come from counts."""
    if case.of_counts:
        assert (ours.selected, ours.scores) == (others.selected, others.scores), f"{ours} is not {others}"
    else:
        same_up_to_ties(ours, others, CLOSE)


def same_up_to_ties(ours: Result, others: Result, within: float) -> None:
    """The same, until a step at which two features have the same score: what follows depends on which was taken."""
    assert len(ours.selected) == len(others.selected), f"{ours} is not {others}"
    if np.ndim(ours.scores) == 2:  # of every label
        close = np.allclose(ours.scores, others.scores, rtol=max(within, 1e-9), atol=max(within, 1e-9), equal_nan=True)
        assert close, f"{ours} is not {others}"
        return
    for mine, yours, score, other in zip(ours.selected, others.selected, ours.scores, others.scores, strict=True):
        both_unknown = math.isnan(score) and math.isnan(other)
        close = both_unknown or math.isclose(score, other, rel_tol=within, abs_tol=within)
        assert close, f"{ours} is not {others}"
        if mine != yours:
            return


# Random cases.


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    n_rows, n_features, n_targets = (int(rng.integers(*bounds)) for bounds in ((6, 45), (2, 7), (1, 5)))
    ranked = [name for name, method in METHODS.items() if name not in SLOW and not method.no_ranking]
    names = [*CRITERIA, *PRESETS] if rng.random() < 0.6 else [*ranked, *OTHERS]
    method = str(rng.choice(SLOW if rng.random() < 0.01 else sorted(names)))
    parameters: dict[str, Any] = {}
    X = random_features(rng, n_rows, n_features)
    Y = (rng.random((n_rows, n_targets)) < rng.uniform(0.1, 0.9, n_targets)).astype(float)
    for target in np.flatnonzero(rng.random(n_targets) < 0.6):
        noisy = rng.random(n_rows) < 0.2
        Y[:, target] = np.where(noisy, Y[:, target], X[:, rng.integers(n_features)] > np.nanmedian(X[:, 0]))
    accepted = set() if method in OTHERS else set(make_selector(method).get_params(deep=False))
    with_definition = method in CRITERIA and rng.random() < 0.5  # without options that the references do not know
    labelwise = method in CRITERIA and not with_definition and rng.random() < 0.15
    if labelwise:
        parameters["labelwise"] = True
    if rng.random() < 0.8 and "n_features_to_select" in accepted:
        parameters["n_features_to_select"] = int(rng.integers(1, n_features + 1))
    options = {
        "targets": lambda: str(rng.choice(sorted(LABEL_SPACES))),
        "discretizer": lambda: str(rng.choice(sorted(DISCRETIZERS))),
        "estimator": lambda: str(rng.choice(["plugin", "miller-madow", "shrinkage"][: 2 if with_definition else 3])),
        "missing": lambda: str(rng.choice(["level", "drop-pairwise"])),
        "target_weight": lambda: rng.integers(1, 4, n_targets).tolist(),
        "forced": lambda: [int(rng.integers(n_features))],
        "excluded": lambda: [int(rng.integers(n_features))],
        "constant_features": lambda: "score",
        "n_jobs": lambda: int(rng.integers(1, 4)),
    }
    chances = {"targets": 0.5, "constant_features": 0.7, "target_weight": 0.1, "forced": 0.1, "excluded": 0.1}
    if with_definition:
        chances |= {"constant_features": 1.0, "target_weight": 0.0, "discretizer": 0.0}
    for name, draw in options.items():
        of_one_label = labelwise and name in ("targets", "target_weight")
        if name in accepted and not of_one_label and rng.random() < chances.get(name, 0.3):
            parameters[name] = draw()
    if "missing" in parameters or rng.random() < 0.05:
        X = np.where(rng.random(X.shape) < 0.15, np.nan, X)
    weights = None
    if rng.random() < 0.25 and has_fit_parameter(Case(method, parameters, [], []).selector(), "sample_weight"):
        weights = rng.integers(1, 4, n_rows).tolist()
    return Case(method, parameters, X.tolist(), Y.tolist(), weights, seed)


def random_features(rng: np.random.Generator, n_rows: int, n_features: int) -> np.ndarray:
    columns: list[np.ndarray] = []
    for _ in range(n_features):
        kind = rng.integers(6)
        if kind == 0 and columns:
            columns.append(columns[rng.integers(len(columns))].copy())  # a tie
        elif kind == 1:
            columns.append(np.full(n_rows, float(rng.integers(3))))
        elif kind == 2:
            columns.append(np.round(rng.normal(size=n_rows), 2))
        else:
            columns.append(rng.integers(0, rng.integers(2, 6), n_rows) * (rng.random(n_rows) < rng.uniform(0.2, 1)) * 1.0)
    return np.column_stack(columns)


# Checks. Each takes a case, raises an AssertionError if two ways disagree, and Skipped where the comparison does not apply.


def again(case: Case) -> None:
    same(case, case.fit(), case.fit())


def threads(case: Case) -> None:
    if "n_jobs" not in case.selector().get_params(deep=False):
        raise Skipped
    same(case, case.fit(n_jobs=1), case.fit(n_jobs=3))


def sparse(case: Case) -> None:
    X, Y = np.array(case.X), np.array(case.Y)
    ours = case.fit()
    same(case, ours, case.fit(sp.csr_array(X), Y, case.weights))
    same(case, ours, case.fit(sp.csc_array(X), sp.csr_array(Y), case.weights))


def frame(case: Case) -> None:
    X, Y = (
        pd.DataFrame(table, columns=[f"{letter}{j}" for j in range(len(table[0]))])
        for table, letter in ((case.X, "x"), (case.Y, "y"))
    )
    same(case, case.fit(), case.fit(X, Y, case.weights))


def chunked(case: Case) -> None:
    X, Y = np.array(case.X), np.array(case.Y)
    cut = int(np.random.default_rng(case.seed).integers(1, len(X))) if len(X) > 1 else 1
    chunks = [(X[:cut], Y[:cut]), (X[cut:], Y[cut:])]
    same(case, case.fit(), case.fit(ChunkedTable.from_chunks(chunks), None, case.weights))


def problem(case: Case) -> None:
    if case.method in OTHERS:
        raise Skipped
    read_once = read(np.array(case.X), np.array(case.Y), case.weights)
    ours = case.fit()
    for _ in range(2):
        same(case, ours, case.fit(read_once))


def row_order(case: Case) -> None:
    if depends_on_rows(case):
        raise Skipped
    rows = np.random.default_rng(case.seed).permutation(len(case.X))
    weights = None if case.weights is None else np.array(case.weights)[rows]
    same(case, case.fit(), case.fit(np.array(case.X)[rows], np.array(case.Y)[rows], weights))


def depends_on_rows(case: Case) -> bool:
    """Whether the method, or its label space, takes rows in order."""
    random_space = case.method.startswith(("gmm", "group", "ela-", "random"))
    return case.method in ROW_ORDER or case.parameters.get("targets") in RANDOM_SPACES or random_space


def column_order(case: Case) -> None:
    if case.method in COLUMN_ORDER or "labelwise" in case.parameters:
        raise Skipped
    columns = np.random.default_rng(case.seed).permutation(len(case.X[0]))
    place = {int(column): position for position, column in enumerate(columns)}
    named = {name: [place[one] for one in case.parameters[name]] for name in ("forced", "excluded") if name in case.parameters}
    moved = case.fit(np.array(case.X)[:, columns], np.array(case.Y), case.weights, **named)
    back = Result([int(columns[one]) for one in moved.selected], moved.scores, moved.selector)
    same_up_to_ties(case.fit(), back, 0.0 if case.of_counts else CLOSE)


def repeated_rows(case: Case) -> None:
    if case.weights is None or depends_on_rows(case):
        raise Skipped
    rows = np.repeat(np.arange(len(case.X)), np.array(case.weights, dtype=int))
    same_up_to_ties(case.fit(), case.fit(np.array(case.X)[rows], np.array(case.Y)[rows]), 1e-9 if case.of_counts else CLOSE)


def repeated_targets(case: Case) -> None:
    wanted = case.parameters.get("target_weight")
    learned = case.method == "mlfs"  # a network in which a repeated target would be its own parent
    supervised = case.parameters.get("discretizer") == "mdl"  # weights are those of scores: bins come from all targets alike
    if wanted is None or learned or supervised or case.parameters.get("targets", "single") not in ("single", "auto"):
        raise Skipped
    targets = np.repeat(np.arange(len(case.Y[0])), wanted)
    other = case.fit(np.array(case.X), np.array(case.Y)[:, targets], case.weights, target_weight=None)
    same_up_to_ties(case.fit(), other, 1e-9)


def warm_start(case: Case) -> None:
    selector = case.selector()
    if not isinstance(selector, Sieve) or case.parameters.get("n_features_to_select", 1) < 2:
        raise Skipped
    few = len(case.parameters.get("forced", ())) + 1
    selector.set_params(warm_start=True, n_features_to_select=few)
    X, Y = np.array(case.X), np.array(case.Y)
    fitted(selector, X, Y, case.weights)
    size = case.parameters.get("n_features_to_select", len(X[0]))
    if size < few:
        raise Skipped
    same(case, case.fit(n_features_to_select=size), fitted(selector.set_params(n_features_to_select=size), X, Y, case.weights))


def saved(case: Case) -> None:
    ours = case.fit()
    if not hasattr(ours.selector, "to_json"):
        raise Skipped
    with tempfile.TemporaryDirectory() as folder:
        ours.selector.to_json(path := Path(folder, "selected.json"))
        loaded = type(ours.selector).from_json(path)
    assert np.array_equal(ours.selector.get_support(), loaded.get_support()), "the support changed"
    assert np.asarray(loaded.selected_).tolist() == ours.selected, "the selection changed"
    X = np.nan_to_num(np.array(case.X))
    assert np.array_equal(ours.selector.transform(X), loaded.transform(X)), "the transformed table changed"


def definition(case: Case) -> None:
    """Every step takes a best feature by the published formula, in plain loops, and its score is that of the formula."""
    options = case.parameters
    space, estimator = options.get("targets", "single"), options.get("estimator", "plugin")
    unknown = np.isnan(np.array(case.X))
    pairwise = options.get("missing") == "drop-pairwise"
    applies = (
        case.method in REFERENCES
        and case.method in CRITERIA
        and case.method != "mlfs"
        and options.get("constant_features") == "score"
        and not {"labelwise", "target_weight"} & set(options)
        and estimator != "shrinkage"
        and space in set(reference_label_spaces.REFERENCES).difference(OF_GROUPS)
        and not (case.weights is not None and (space in OF_COUNTS or estimator == "miller-madow"))
        and not (space == "copy-weight" and estimator == "miller-madow")
        and not (pairwise and space not in ("single", "cumulative", "joint"))
        and not (unknown.any() and "discretizer" in options)
    )
    if not applies:
        raise Skipped
    ours = case.fit()
    codes = feature_codes(case, resolve_method(case.method, "auto", options.get("discretizer", "auto"), "auto").discretizer)
    counted = reference_label_spaces.REFERENCES[space]([tuple(int(one) for one in row) for row in case.Y])
    if not counted or not counted[0][1]:
        raise Skipped
    own = case.weights or [1] * len(case.X)
    rows = [row for row, _, _ in counted]
    weights = [float(weight) * own[row] for row, _, weight in counted]
    features = [tuple(column[row] for row in rows) for column in codes]
    if pairwise:
        features = [
            tuple(None if unknown[row, j] else value for row, value in zip(rows, column, strict=True))
            for j, column in enumerate(features)
        ]
    targets = [tuple(column) for column in zip(*(classes for _, classes, _ in counted), strict=True)]
    score = REFERENCES[case.method]
    excluded, forced, picked = set(options.get("excluded", ())), list(options.get("forced", ())), []
    plain = weights if case.weights is not None or space == "copy-weight" else None
    with estimating(weights=plain, estimator=estimator):
        for feature, found in zip(ours.selected, ours.scores, strict=True):
            candidates = set(range(len(features))) - set(picked) - excluded
            if pairwise:
                with pairwise_deletion():
                    naive = {k: score(features[k], [features[j] for j in picked], targets) for k in candidates}
            else:
                naive = {k: score(features[k], [features[j] for j in picked], targets) for k in candidates}
            step = f"step {len(picked)}, after {picked}: {feature} with {found}; by definition {naive}"
            assert abs(naive[feature] - found) <= 1e-8, step
            assert feature in forced or naive[feature] >= max(naive.values()) - 1e-8, step
            picked.append(feature)


def feature_codes(case: Case, discretizer: Discretizer) -> list[list[Any]]:
    """Codes of the features by the reference of a discretizer; a missing cell is a level."""
    name = next(known for known, kind in DISCRETIZERS.items() if type(discretizer) is kind)
    if case.weights is not None and name != "equal-width":
        raise Skipped
    codes: list[list[Any]] = []
    for column in np.array(case.X).T:
        known = ~np.isnan(column)
        values = column[known].tolist()
        has_bins = name == "equal-width" and len(set(values)) > discretizer.n_bins
        if name in ("k-means", "mdl") or (has_bins and any(reference_discretizers.lies_on_a_cut(values, discretizer.n_bins))):
            raise Skipped
        of_known = iter(reference_discretizers.REFERENCES[name](discretizer, values, None) if values else [])
        codes.append([next(of_known) if here else "missing" for here in known])
    return codes


def scores_by_definition(case: Case) -> None:
    """Scores of all features of a selector that is no formula are those of its definition, and the best are selected."""
    if case.method not in RANKINGS or {"forced", "excluded", "target_weight"} & set(case.parameters):
        raise Skipped
    ours = case.fit()
    naive = RANKINGS[case.method](case, ours.selector)
    if not np.isfinite(naive).all():
        raise Skipped  # the definition divides by 0
    found = np.asarray(ours.selector.feature_scores_)
    scale = max(1e-4, float(np.abs(naive).max(initial=0.0)))
    assert np.allclose(found, naive, rtol=1e-6, atol=1e-8 * scale), f"{found} by the selector, {naive} by definition"
    chosen = naive[ours.selected]
    assert (np.diff(chosen) <= 1e-8 * scale).all(), f"{ours.selected} is not in the order of {naive}"
    left = np.delete(naive, ours.selected)
    assert left.max(initial=-np.inf) <= chosen.min(initial=np.inf) + 1e-8 * scale, (
        f"{ours.selected} are not the best of {naive}"
    )


def tables(case: Case) -> tuple[np.ndarray, np.ndarray]:
    X = np.array(case.X)
    if np.isnan(X).any() or case.weights is not None:
        raise Skipped
    return X, np.array(case.Y).astype(int)


def codes_of(case: Case, selector: Any) -> np.ndarray:
    """Codes of the features by the reference of the discretizer that a selector used, as whole numbers."""
    columns = feature_codes(case, selector.discretizer_)
    return np.column_stack([np.unique(np.array(column, dtype=str), return_inverse=True)[1] for column in columns])


def naive_chi_square(case: Case, selector: Any) -> np.ndarray:
    weights = np.ones(len(case.X)) if case.weights is None else np.array(case.weights, dtype=float)
    statistics = reference_rankings.chi_square(
        codes_of(case, selector), np.array(case.Y).astype(int), selector.targets, weights
    )
    return statistics.max(axis=1) if selector.combine == "max" else statistics.sum(axis=1)


def naive_f(case: Case, selector: Any) -> np.ndarray:
    X, Y = tables(case)
    statistics = reference_rankings.f_statistics(X, Y)
    if ((statistics > 1e6) & (statistics < reference_rankings.LARGEST_F)).any():
        raise Skipped  # little variance is left within classes, and sums of squares differ by rounding
    if not statistics.shape[1]:
        return np.zeros(len(statistics))
    return statistics.max(axis=1) if selector.combine == "max" else statistics.mean(axis=1)


def naive_relief(case: Case, selector: Any) -> np.ndarray:
    X, Y = tables(case)
    k = selector.n_neighbors
    Z = reference_relief.scaled(X)
    if (np.abs(Z * GRID - np.rint(Z * GRID)) > 1e-3).any():
        # Values between the points of the selector's grid: rows that are equally far on paper may not tie there.
        distances = np.sort(np.abs(Z[:, np.newaxis] - Z).sum(axis=2), axis=1)
        if (np.diff(distances[:, 1:], axis=1) < 1e-7).any():
            raise Skipped
    if case.method == "relieff-ml":
        return reference_relief.relieff_ml(X, Y, k)
    if case.method in ("relieff", "lp-relieff") and selector.targets == "joint":
        return reference_relief.relieff(X, Y @ 2 ** np.arange(Y.shape[1]), k)
    of_label = reference_relief.rrelieff if case.method == "rrelieff" else reference_relief.relieff
    return np.mean([of_label(X, y, k) for y in Y.T], axis=0)


def naive_grro(case: Case, selector: Any) -> np.ndarray:
    tables(case)
    codes, Y = codes_of(case, selector), np.array(case.Y).astype(int)
    if not Y.any(axis=0).all() or abs(selector.curvature_) < 1e-6:
        raise Skipped  # no cosine of a label that never occurs; a system that is singular up to rounding
    return np.asarray(reference_embedded.grro(codes, Y, selector.alpha, selector.beta).sum(axis=1))


def naive_ridge(case: Case, selector: Any) -> np.ndarray:
    X, Y = tables(case)
    shares = Y.mean(axis=0)
    if (np.ptp(X, axis=0) == 0).all() or ((shares == 0) | (shares == 1)).all():
        raise Skipped
    span = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(span > 0, span, 1.0)
    ratings = reference_embedded.ridge(Z, Y - shares)
    if np.ptp(ratings, axis=0).max() < 1e-9 * np.abs(ratings).max():
        return np.zeros(X.shape[1])  # equal columns: none is better than another
    return reference_embedded.mfs_mcdm(Z, Y)


def naive_variance(case: Case, selector: Any) -> np.ndarray:
    X = np.array(case.X)
    weights = np.ones(len(X)) if case.weights is None else np.array(case.weights, dtype=float)
    means = (weights @ X) / weights.sum()
    return np.asarray(weights @ (X - means) ** 2 / weights.sum())


RANKINGS = {
    **dict.fromkeys(("chi-square", "lp-chi-square", "copy-chi-square", "ela-chi"), naive_chi_square),
    **dict.fromkeys(("mean-f", "max-f"), naive_f),
    **dict.fromkeys(("relieff", "lp-relieff", "relieff-ml", "rrelieff"), naive_relief),
    "grro": naive_grro,
    "mfs-mcdm": naive_ridge,
    "variance": naive_variance,
}


def least_squares(case: Case) -> None:
    """Every step of omp and of the hybrid takes a best feature, by least squares and by counts, in plain loops."""
    options = case.parameters
    own = {"discretizer", "targets", "target_weight", "estimator", "missing", "labelwise"} & set(options)
    if case.method not in ("omp", "hybrid") or own or (case.method == "hybrid" and case.weights is not None):
        raise Skipped
    ours = case.fit()
    X, Y = np.array(case.X), np.array(case.Y)
    if (np.isnan(X).all(axis=0)).any():
        raise Skipped
    weights = np.ones(len(X)) if case.weights is None else np.array(case.weights, dtype=float)
    known = ~np.isnan(X)
    means = [np.average(column[here], weights=weights[here]) for column, here in zip(X.T, known.T, strict=True)]
    groups = [[column] for column in np.where(known, X, means).T]
    constant = {f for f, (column,) in enumerate(groups) if np.ptp(column) <= 1e-9 * np.abs(column).max(initial=1.0)}
    codes, classes = [], []
    if case.method == "hybrid":
        codes = [tuple(column) for column in feature_codes(case, ours.selector.discretizer_)]
        constant = {f for f, column in enumerate(codes) if len(set(column)) < 2}
        counted = reference_label_spaces.REFERENCES["cumulative"]([tuple(int(one) for one in row) for row in case.Y])
        classes = [tuple(column) for column in zip(*(some for _, some, _ in counted), strict=True)]
    last = set() if options.get("constant_features") == "score" else constant
    closed, forced, picked = set(options.get("excluded", ())), list(options.get("forced", ())), []
    for feature, found in zip(ours.selected, ours.scores, strict=True):
        candidates = set(range(len(groups))) - closed - set(picked)
        open_ones = candidates - last
        naive = reference_pursuit.gains(groups, Y, picked, weights=weights)
        if case.method == "hybrid":
            naive = hybrid_scores(naive, groups, Y, picked, codes, classes, open_ones)
        step = f"step {len(picked)}, after {picked}: {feature} with {found}; by definition {naive}"
        assert abs(naive[feature] - found) <= 1e-6 * max(1.0, abs(found)), step
        best = max(naive[k] for k in open_ones or candidates)
        assert len(picked) < len(forced) or naive[feature] >= best - 1e-6, step
        picked.append(feature)


def hybrid_scores(linear: Any, groups: Any, Y: Any, picked: Any, codes: Any, classes: Any, open_ones: Any) -> Any:
    """Shares of the information and of the least-squares gain, added up."""
    with estimating(estimator="miller-madow"):
        score = REFERENCES["cmim-positive"]
        information = np.array([score(column, [codes[j] for j in picked], classes) for column in codes])
    columns = [groups[j][0] for j in picked]
    noise = reference_pursuit.noise_level([1] * len(groups), Y, columns, 0.01) if np.ptp(Y, axis=0).any() else 0.0
    total = np.zeros(len(groups))
    for gains, least in ((information, 0.0), (linear, noise)):
        gains = np.where(gains > 1e-9, gains, 0.0)  # rounding of the plain loops would be divided by itself
        largest = max([least, *(gains[k] for k in open_ones)])
        total += gains / largest if largest > 0 else 0.0
    return total


def optimality(case: Case) -> None:
    """Solutions of optimization problems meet their conditions, with matrices from plain loops."""
    if case.method == "mlqpfs":
        quadratic_program(case)
    elif case.method == "llsf":
        sparse_regression(case)
        projection(case)
    else:
        raise Skipped


def quadratic_program(case: Case) -> None:
    if {"targets", "estimator", "missing", "forced", "excluded"} & set(case.parameters):
        raise Skipped
    sieve = case.fit().selector
    codes = np.array(codes_of(case, sieve))
    weights = None if case.weights is None else np.array(case.weights, dtype=float)
    H, F, alpha = reference_quadratic.program_reference(codes, np.array(case.Y).astype(int), weights=weights)
    w, shift = sieve.weights_, sieve.shift_
    assert math.isclose(sieve.alpha_, alpha, rel_tol=1e-7, abs_tol=1e-9), f"alpha is {sieve.alpha_}, by definition {alpha}"
    assert w.min() >= 0, f"{w} has negative weights"
    assert math.isclose(w.sum(), 1, abs_tol=1e-9), f"{w} does not add up to 1"
    size = (1 - alpha) * abs(H.diagonal()).max() + alpha * abs(F).max()
    violation = reference_quadratic.violation_of(H, F, alpha, w, shift)
    assert violation <= 1e-6 * size + 1e-9, f"the gradients of features with weight differ by {violation}"


def sparse_regression(case: Case) -> None:
    ours, (X, Y) = case.fit().selector, tables(case)
    if not Y.any():
        raise Skipped
    value, residual = reference_rankings.llsf_objective(X, Y.astype(float), ours.coef_, ours.alpha, ours.beta)
    assert math.isclose(ours.objective_[-1], value, rel_tol=1e-6, abs_tol=1e-8), f"{ours.objective_[-1]} is not {value}"
    scale = np.abs(X.T @ Y).max() * max(1.0, float(np.abs(ours.coef_).max()))
    assert abs(ours.residual_ - residual) <= 1e-7 * scale, f"residual {ours.residual_} is not {residual}"


def projection(case: Case) -> None:
    X, Y = tables(case)
    fits["fits"] += 1
    mddm = MDDM().fit(X, Y)
    expected = reference_rankings.mddm_eigenvalues(X, Y.astype(float), mddm.mu)
    found = np.asarray(mddm.eigenvalues_)
    scale = max(1e-12, float(expected[0]))
    expected = np.where(expected > 1e-8 * scale, expected, 0.0)  # directions without dependence are not returned
    padded = np.zeros(len(expected))
    padded[: len(found)] = found
    assert np.allclose(padded, expected, rtol=1e-6, atol=1e-8 * scale), f"{found} by MDDM, {expected} by definition"


CHECKS = {
    "again": again,
    "threads": threads,
    "sparse": sparse,
    "frame": frame,
    "chunked": chunked,
    "problem": problem,
    "row order": row_order,
    "column order": column_order,
    "repeated rows": repeated_rows,
    "repeated targets": repeated_targets,
    "warm start": warm_start,
    "saved": saved,
    "definition": definition,
    "scores": scores_by_definition,
    "least squares": least_squares,
    "optimality": optimality,
}


# Failing cases.


def outcome(check: str, case: Case) -> str:
    """``"same"``, ``"refused"``, ``"skipped"``, or what is wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            CHECKS[check](case)
    except Skipped:
        return "skipped"
    except REFUSED:
        return "refused"
    except AssertionError as error:
        return f"differs: {error}"
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
    return "same"


def fails(check: str, case: Case) -> bool:
    return outcome(check, case) not in ("same", "refused", "skipped")


def smaller(case: Case) -> "list[Case]":
    """Cases with fewer rows, columns, targets or options, the smallest first."""
    found = []
    n_rows, n_features, n_targets = len(case.X), len(case.X[0]), len(case.Y[0])
    size = n_rows // 2
    while size:
        for start in range(0, n_rows, size):
            kept = [row for row in range(n_rows) if not start <= row < start + size]
            if len(kept) > 1:
                weights = None if case.weights is None else [case.weights[row] for row in kept]
                found.append(replace(case, X=[case.X[row] for row in kept], Y=[case.Y[row] for row in kept], weights=weights))
        size //= 2
    for name in case.parameters:
        found.append(replace(case, parameters={key: value for key, value in case.parameters.items() if key != name}))
    named = {"forced", "excluded"} & set(case.parameters)
    for column in range(n_features) if n_features > 1 and not named else ():
        found.append(replace(case, X=[row[:column] + row[column + 1 :] for row in case.X]))
    for column in range(n_targets) if n_targets > 1 and "target_weight" not in case.parameters else ():
        found.append(replace(case, Y=[row[:column] + row[column + 1 :] for row in case.Y]))
    if case.weights is not None:
        found.append(replace(case, weights=None))
    return found


def minimized(check: str, case: Case, seconds: float = 20) -> Case:
    """The case, smaller as long as the check fails."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for candidate in smaller(case):
            if time.monotonic() > end or fails(check, candidate):
                break
        else:
            return case
        if not fails(check, candidate):
            return case
        case = candidate
    return case


def snippet(check: str, case: Case) -> str:
    """A program that repeats a failing check."""
    lines = [f"    {name}={getattr(case, name)!r}," for name in ("method", "parameters", "X", "Y", "weights", "seed")]
    return "\n".join(
        [
            "from fuzz.differential import CHECKS, Case",
            "nan = float('nan')",
            "case = Case(",
            *lines,
            ")",
            f"CHECKS[{check!r}](case)",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz.differential", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0, help="of the first case; every case has the next one")
    parser.add_argument("--cases", type=int, default=None, help="stop after so many cases")
    options = parser.parse_args()
    end, seed = time.monotonic() + 60 * options.minutes, options.seed
    results = {check: Counter() for check in CHECKS}
    shown: Counter[tuple[str, str]] = Counter()
    while time.monotonic() < end and (options.cases is None or seed < options.seed + options.cases):
        case = random_case(seed)
        for check in CHECKS:
            answer = outcome(check, case)
            kind = answer if answer in ("same", "refused", "skipped") else "failed"
            results[check][kind] += 1
            if kind == "failed":
                shown[check, case.method] += 1
                if shown[check, case.method] == 1:
                    small = minimized(check, case)
                    print(f"# seed {seed}, {check}: {outcome(check, small)[:500]}\n{snippet(check, small)}\n", flush=True)
                if check == "again":
                    break  # what cannot be fitted cannot be compared
        seed += 1
    print(f"{'check':18}{'same':>8}{'refused':>9}{'skipped':>9}{'failed':>8}")
    for check, counts in results.items():
        print(f"{check:18}{counts['same']:8,}{counts['refused']:9,}{counts['skipped']:9,}{counts['failed']:8,}")
    total = sum(counts["same"] + counts["failed"] for counts in results.values())
    n_failed = sum(counts["failed"] for counts in results.values())
    print(f"{seed - options.seed:,} cases, {fits['fits']:,} fits, {total:,} comparisons, {n_failed:,} failed.")
    for (check, method), times in sorted(shown.items()):
        print(f"  {check}, {method}: {times}")
    sys.exit(n_failed > 0)


if __name__ == "__main__":
    main()
