"""How long a fit of a selector takes on this machine: binning measured on a sample of numbers, and counting by a formula."""

import time
from typing import Any

import numpy as np
from sklearn.base import clone

from labelsieve.discretize import Discretizer
from labelsieve.discretize.base_discretizer import BaseBins
from labelsieve.formula.plan import Plan
from labelsieve.formula.predicted_time import predicted_seconds

SAMPLE = (20_000, 4)  # values that are binned to learn how long one takes; tall columns take less for each
ROUNDS = 3
COPIES, ALWAYS = 2, 4_000_000  # of the packed bits while they are arranged by rows, and bytes of every fit
_MEASURED: dict[str, float] = {}  # by the text of a discretizer


def seconds_per_value(discretizer: Discretizer | None) -> float:
    """CPU seconds to bin a number: measured once for each discretizer.

    >>> from labelsieve.discretize import EqualWidth
    >>> seconds_per_value(None), 1e-10 < seconds_per_value(EqualWidth()) < 1e-5
    (0.0, True)
    """
    discretizer = getattr(discretizer, "rest", discretizer)  # of a discretizer by column
    if not isinstance(discretizer, BaseBins):  # values are kept
        return 0.0
    name = repr(discretizer)
    if name not in _MEASURED:
        rng = np.random.default_rng(0)
        X = rng.normal(size=SAMPLE)
        y = (X[:, :1] + rng.normal(size=(len(X), 2)) > 0).astype(int)  # one of the columns is informative
        _MEASURED[name] = min(_seconds(clone(discretizer), X, y) for _ in range(ROUNDS)) / X.size
    return _MEASURED[name]


def _seconds(discretizer: Discretizer, X: Any, y: Any) -> float:
    start = time.thread_time()
    discretizer.encode(X, y)
    return time.thread_time() - start


def cost_lines(
    plan: Plan, discretizer: Discretizer | None, shape: tuple[int, int, int], levels: int, n_picks: int, label_share: float
) -> str:
    """Lines for ``explain``: time, and memory at its peak."""
    packed, accumulators = plan.memory(*shape, levels)
    peak = f"{'peak:':<11} about {(COPIES * packed + accumulators + ALWAYS) / 1e6:.2g} MB beyond the data"
    counting = predicted_seconds(plan, *shape, levels, n_picks, label_share)
    if counting is None:
        return f"{'time:':<11} not predicted: the tables of a joint condition depend on the data\n{peak}"
    binning = seconds_per_value(discretizer) * shape[0] * shape[1]
    share = f"labels in {100 * label_share:.3g} % of the rows"
    return (
        f"{'time:':<11} about {counting + binning:.2g} s on one thread of this machine, {binning:.2g} s of it binning of "
        f"numbers; {n_picks} picks, {share}\n{peak}"
    )
