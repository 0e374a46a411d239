"""Information of the selected features, counted from the data: about every label, at every step, and shared with others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends import CountingOptions, Feature, make_backend
from labelsieve.counting.backends.factory import DEFAULT_OPTIONS
from labelsieve.counting.fixed_point import FixedPoint
from labelsieve.counting.workspace import Workspace
from labelsieve.criteria import StepComponents
from labelsieve.discoveries.intervals import information_intervals, information_ranks
from labelsieve.discretize import Discretizer, one_table
from labelsieve.errors import InputError, share
from labelsieve.information import mutual_information
from labelsieve.labelspace import LabelSpace, weights_of_variables
from labelsieve.labelspace.base import RandomState, to_count
from labelsieve.tables.codes import Codes, constant_column
from labelsieve.tables.problem import Problem
from labelsieve.tables.types import WeightsLike

KINDS = "relevance", "redundancy", "complementarity"
Floats = NDArray[np.float64]
_STEPS = StepComponents()  # its plan is made once


@dataclass(frozen=True, eq=False)
class Coding:
    """How a selector turned features and targets into codes and counted them, so that the same can be counted again."""

    discretizer: Discretizer
    target_discretizer: Discretizer
    space: LabelSpace
    options: CountingOptions = DEFAULT_OPTIONS
    target_weight: WeightsLike = None

    def target_codes(self, problem: Problem) -> Codes:
        """Return the codes of the targets, numeric ones in the bins of the selection."""
        return problem.binned_targets(self.target_discretizer).codes

    def codes(self, problem: Problem, columns: Sequence[int]) -> tuple[Codes | list[Codes], Codes]:
        """Return the codes of these features and of the targets."""
        targets = self.target_codes(problem)
        return problem.codes(self.discretizer, targets, columns), targets


def label_information(problem: Problem, coding: Coding, columns: Sequence[int]) -> Floats:
    """Mutual information of these features with every target, in nats: a row for each feature, a column for each target."""
    if not len(columns):
        return np.empty((0, problem.targets.n_columns))
    codes, targets = coding.codes(problem, columns)
    options: dict[str, Any] = {
        "n_jobs": coding.options.n_jobs,
        "estimator": coding.options.estimator,
        "sample_weight": problem.weights,
    }
    if not isinstance(codes, list):
        return mutual_information(codes, targets, **options)
    # A supervised discretizer has codes for every target: a target's information is that of its own codes.
    return np.column_stack([mutual_information(one, targets, **options)[:, at] for at, one in enumerate(codes)])


def step_components(problem: Problem, coding: Coding, columns: Sequence[int]) -> dict[str, Floats]:
    """Compute relevance, redundancy and complementarity of each of these features, given those before it."""
    components = np.zeros((len(KINDS), len(columns)))
    if not len(columns):
        return dict(zip(KINDS, components, strict=True))
    targets = problem.binned_targets(coding.target_discretizer)
    encoded = coding.space.encode(targets, problem.weights)
    codes = one_table(problem.codes(coding.discretizer, targets.codes, columns), "information_components")
    data = to_count(codes, encoded, problem.weights, coding.options.estimator)
    target_weights = None if coding.target_weight is None else weights_of_variables(coding.target_weight, data)
    options = replace(coding.options, weights=data.weights)
    workspace = Workspace(data.X, data.Y, options, row_index=data.row_index, target_weights=target_weights)
    scorer = _STEPS.plan.bind(workspace)
    for step in range(len(columns)):
        # The columns are in order of selection: the summands of the next one are those given all columns before it.
        scorer.scores()
        components[:, step] = scorer.summands(step)
        scorer.select(step)
    return dict(zip(KINDS, components + 0.0, strict=True))


class RedundantFeature(NamedTuple):
    r"""A feature that was not selected, and its similarity to a selected one.

    ``similarity`` is :math:`I(f; s) / H(f, s)`: 1 when each determines the other, 0 when they are independent. One minus
    it is a metric (Rajski 1961).
    """

    feature: int
    similarity: float


def redundant_features(
    codes: Codes, selected: NDArray[np.intp], options: CountingOptions = DEFAULT_OPTIONS, *, at_least: float = 0.9
) -> dict[int, list[RedundantFeature]]:
    """Find, for every selected feature, unselected ones with nearly the same information, the most similar first.

    Cost: one pass over pairs of columns for each selected feature.

    >>> redundant_features(Codes.from_values([[0, 1, 0], [1, 0, 0], [0, 1, 1], [1, 0, 1]]), np.array([0]))
    {0: [RedundantFeature(feature=1, similarity=1.0)]}
    """
    if not 0 < at_least <= 1:
        raise InputError(f"at_least must be above 0 and at most 1, not {at_least!r}.")
    codes = replace(codes, missing=None)  # cells that are missing together are similar, however they are counted
    fixed = FixedPoint.for_rows(codes.n_rows)
    backend = make_backend(codes, constant_column(codes.n_rows), fixed, options)
    # Sums of n log n, taken from that of all rows, are entropies times the number of rows; the factor cancels in the ratio.
    alone = fixed.top - backend.singles()[0]
    unselected = np.ones(codes.n_columns, dtype=bool)
    unselected[selected] = False
    redundant: dict[int, list[RedundantFeature]] = {}
    for feature in map(int, selected):
        together = fixed.top - backend.panel(Feature(feature), targets=slice(0)).pair
        shared = alone + alone[feature] - together
        similarity = np.divide(shared, together, out=np.zeros(len(alone)), where=together > 0)
        similar = np.flatnonzero(unselected & (similarity >= at_least))
        order = similar[np.argsort(-similarity[similar], kind="stable")]
        redundant[feature] = [RedundantFeature(int(column), float(similarity[column])) for column in order]
    return redundant


def level_for_any_label(confidence: float, n_labels: int) -> float:
    """Return the level of one label's interval with which the interval of a label chosen among all has ``confidence``.

    Bonferroni's correction for the choice of a feature's most informative label.
    """
    return 1 - (1 - share(confidence, "confidence")) / n_labels


def confidence_table(
    problem: Problem,
    coding: Coding,
    columns: Sequence[int],
    *,
    confidence: float = 0.95,
    method: str = "asymptotic",
    n_resamples: int = 200,
    random_state: RandomState = 0,
) -> dict[str, list[Any]]:
    """Compute confidence limits of the information of these features, and confidence sets of their ranks.

    Columns of the table: ``feature`` and ``label`` (numbers), ``information``, ``lower``, ``upper``, ``first_rank`` and
    ``last_rank``. The information is that of :func:`label_information`, so that a page shows one value of it; the limits are
    always corrected for bias.
    """
    codes, targets = coding.codes(problem, columns)
    features = one_table(codes, "information_confidence")
    options: dict[str, Any] = {
        "n_resamples": n_resamples,
        "random_state": random_state,
        "n_jobs": coding.options.n_jobs,
    }
    ranks = information_ranks(features, targets, confidence=confidence, **options)
    level = level_for_any_label(confidence, targets.n_columns)
    found = information_intervals(features, targets, method=method, confidence=level, **options)
    information = label_information(problem, coding, columns)
    top = information.argmax(axis=1)
    at = np.arange(len(columns)), top
    return {
        "feature": list(columns),
        "label": top.tolist(),
        "information": information[at].tolist(),
        "lower": found.lower[at].tolist(),
        "upper": found.upper[at].tolist(),
        "first_rank": ranks[:, 0].tolist(),
        "last_rank": ranks[:, 1].tolist(),
    }
