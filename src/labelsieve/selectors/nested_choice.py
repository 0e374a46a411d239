"""The choice of a method and a number of features by nested folds, and what it is worth."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.selectors.fold_evaluation import Curves, Floats
from labelsieve.statistics import confidence_band

ALL, NONE = "all features", "no features"  # the controls
CONFIDENCE = 0.9  # of two-sided intervals: one side has 95 %
Verdict = Literal["select features", "keep all features", "nothing predicts"]


@dataclass(frozen=True)
class Option:
    """A method with a number of features: the mean of its measure over folds and the standard error, higher is better."""

    method: str
    n_features: int
    mean: float
    standard_error: float


def options_of(method: str, sizes: NDArray[np.intp], values: Floats) -> list[Option]:
    """An option for every number of features; ``values`` has folds in rows."""
    means, errors = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return [
        Option(method, int(size), float(mean), float(error)) for size, mean, error in zip(sizes, means, errors, strict=True)
    ]


def choose(options: list[Option], standard_errors: float) -> Option:
    """The fewest features whose mean is within ``standard_errors`` of the best; of several methods that with the best mean.

    >>> choose([Option("jmi", 2, 0.70, 0.1), Option("jmi", 8, 0.75, 0.1), Option("mim", 4, 0.6, 0.1)], 1.0).n_features
    2
    """
    best = max(options, key=lambda option: (option.mean, -option.n_features))
    threshold = best.mean - standard_errors * best.standard_error
    within = [option for option in options if option.mean >= threshold]
    return min(within, key=lambda option: (option.n_features, -option.mean))


@dataclass(frozen=True)
class Choice:
    """The option for all rows, and the values of the whole procedure on the outer folds, higher is better.

    ``chosen`` is the procedure: on every outer fold, the option that its inner folds choose. ``all`` and ``none`` are the
    controls on the same folds.
    """

    option: Option
    chosen: Floats
    all: Floats
    none: Floats
    n_features: int

    @property
    def verdict(self) -> Verdict:
        """What the values say: no signal if neither the selection nor all features are clearly better than base rates."""
        if not (self.is_clearly_better(self.chosen, self.none) or self.is_clearly_better(self.all, self.none)):
            return "nothing predicts"
        return "keep all features" if self.option.n_features == self.n_features else "select features"

    @staticmethod
    def interval(one: Floats, other: Floats) -> tuple[float, float]:
        """Interval of the mean difference on the outer folds, corrected for their common training rows."""
        band = confidence_band(one - other, confidence=CONFIDENCE, test_share=1 / len(one))
        return float(band.low), float(band.high)

    @classmethod
    def is_clearly_better(cls, one: Floats, other: Floats) -> bool:
        return cls.interval(one, other)[0] > 0


def nested_choice(curves: Mapping[str, Curves], standard_errors: float, *, fixed: bool = False) -> Choice:
    """Choose on the inner folds of every outer fold, for the estimate, and on the outer folds, for the selection on all rows.

    ``curves`` has the controls :data:`ALL` and :data:`NONE`, which have a single number of features. ``fixed``: the number of
    features is the largest of the candidates; the method with the best mean over all numbers up to it is chosen.
    """
    controls = (ALL, NONE) if fixed else (NONE,)
    candidates = {name: found for name, found in curves.items() if name not in controls}

    def best(folds: Mapping[str, Floats]) -> Option:
        options: list[Option] = []
        for name, values in folds.items():
            sizes = candidates[name].sizes
            if fixed:
                sizes, values = sizes[-1:], values.mean(axis=1, keepdims=True)
            options += options_of(name, sizes, values)
        return choose(options, 0.0 if fixed else standard_errors)

    n_folds = len(curves[ALL].outer)
    chosen = np.empty(n_folds)
    for fold in range(n_folds):
        inner = np.arange(n_folds) != fold
        option = best({name: found.inner[fold, inner] for name, found in candidates.items()})
        found = candidates[option.method]
        chosen[fold] = found.outer[fold, int(np.flatnonzero(found.sizes == option.n_features)[0])]
    final = best({name: found.outer for name, found in candidates.items()})
    everything = curves[ALL]
    choice = Choice(final, chosen, everything.outer[:, 0], curves[NONE].outer[:, 0], int(everything.sizes[0]))
    if not fixed and choice.is_clearly_better(choice.all, choice.chosen):
        return replace(choice, option=options_of(ALL, everything.sizes, everything.outer)[0])
    return choice


def verdict_text(choice: Choice, measure: str, *, lower_is_better: bool, numeric: bool) -> str:
    """What to do, with the estimates that say so."""
    sign = -1.0 if lower_is_better else 1.0
    chosen, everything, constant = (sign * float(values.mean()) for values in (choice.chosen, choice.all, choice.none))
    n_kept, n_features = choice.option.n_features, choice.n_features
    rates, targets = ("means", "targets") if numeric else ("base rates", "labels")
    if choice.verdict == "nothing predicts":
        return (
            f"Nothing here predicts the {targets} better than their {rates}, by {measure}: it is {chosen:.3f} with the "
            f"selection, {everything:.3f} with all features and {constant:.3f} for the {rates}."
        )
    if choice.verdict == "keep all features":
        return (
            f"Keep all {n_features} features: {measure} is {everything:.3f} with all of them, {chosen:.3f} where the tolerance "
            f"allows fewer, and {constant:.3f} for the {rates}."
        )
    cost = 100 * (everything - chosen) * sign / abs(everything) if everything else 0.0
    low, high = sorted(sign * limit for limit in choice.interval(choice.chosen, choice.all))
    costs = cost > -0.05
    effect = f"{'costs' if costs else 'gains'} {abs(cost):.1f} % of {measure}"
    if lower_is_better:
        effect = f"{'raises' if costs else 'lowers'} {measure} by {abs(cost):.1f} %"
    saved = 100 * (1 - n_kept / n_features)
    return (
        f"Select {n_kept} of {n_features} features by {choice.option.method}: selection {effect} "
        f"and saves {saved:.0f} % of the columns. On rows that took no part in the choice, {measure} is {chosen:.3f} with the "
        f"selection, {everything:.3f} with all features ({100 * CONFIDENCE:.0f} % interval of the difference: {low:+.3f} to "
        f"{high:+.3f}) and {constant:.3f} for the {rates}."
    )


def comparison_table(
    curves: Mapping[str, Curves],
    choice: Choice,
    not_tried: Mapping[str, str],
    standard_errors: float,
    *,
    lower_is_better: bool,
    fixed: bool,
) -> dict[str, list[Any]]:
    """A row for every method, best first, then the controls, then the methods without a value.

    ``n_features`` and ``score`` are those that the method was or, being the only one, would have been chosen with,
    ``best_score`` is the best of its curve; both are means over the folds that choose, so they are optimistic.
    """
    sign = -1.0 if lower_is_better else 1.0
    rows = []
    for name, found in curves.items():
        options = options_of(name, found.sizes, found.outer)
        kept = options[-1] if fixed else choose(options, standard_errors)
        if name == choice.option.method:
            kept = choice.option  # within the tolerance of the best of all methods, which may need fewer features
        best = max(options, key=lambda option: option.mean)
        status = "selected" if name == choice.option.method else "control" if name in (ALL, NONE) else ""
        numbers = (kept.n_features, sign * kept.mean, kept.standard_error, best.n_features, sign * best.mean, found.seconds)
        rows.append((name in (ALL, NONE), -best.mean, [name, *numbers, status]))
    rows.sort(key=lambda row: row[:2])
    table = [row for *_, row in rows]
    table += [[name, None, None, None, None, None, None, reason] for name, reason in not_tried.items()]
    heads = ("method", "n_features", "score", "standard_error", "best_n_features", "best_score", "seconds", "status")
    return {head: [row[index] for row in table] for index, head in enumerate(heads)}
