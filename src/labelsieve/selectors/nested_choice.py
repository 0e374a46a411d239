"""The choice of a method and a number of features by nested folds, and what it is worth."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

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
