"""How long a fit of a selector takes on this machine: binning measured on a sample of numbers, and counting by a formula."""

import time

import numpy as np
from sklearn.base import clone

from labelsieve.discretize import Discretizer
from labelsieve.discretize.base import BaseBins
from labelsieve.discretize.by_column import ByColumn
from labelsieve.errors import InputError, is_whole
from labelsieve.formula.predicted_time import predicted_seconds, whole_table_cost
from labelsieve.registry import ResolvedMethod
from labelsieve.tables.types import TableLike, TargetsLike

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
    bins = discretizer.rest if isinstance(discretizer, ByColumn) else discretizer
    if not isinstance(bins, BaseBins):  # values are kept
        return 0.0
    name = repr(bins)
    if name not in _MEASURED:
        rng = np.random.default_rng(0)
        X = rng.normal(size=SAMPLE)
        y = (X[:, :1] + rng.normal(size=(len(X), 2)) > 0).astype(int)  # one of the columns is informative
        _MEASURED[name] = min(_seconds(clone(bins), X, y) for _ in range(ROUNDS)) / X.size
    return _MEASURED[name]


def _seconds(discretizer: Discretizer, X: TableLike, y: TargetsLike) -> float:
    start = time.thread_time()
    discretizer.encode(X, y)
    return time.thread_time() - start


def fit_costs(
    method: ResolvedMethod, shape: tuple[int, int, int], levels: int, count: object, estimator: str, label_share: float | None
) -> list[str]:
    """Lines of ``explain``: time and peak memory if a fraction of labels is given; of whole tables their time in any case."""
    plan, (n_rows, n_features, _) = method.criterion.plan, shape
    share = count if isinstance(count, float) else 1.0
    n_steps = min(int(count), n_features) if is_whole(count) else max(1, round(share * n_features))
    pairwise = getattr(method.discretizer, "missing", "") == "drop-pairwise"
    if pairwise or estimator == "shrinkage":
        return [whole_table_cost(plan, *shape, levels, n_steps, pairwise=pairwise)]
    if label_share is None:
        return []
    if not 0 < label_share < 1:
        raise InputError(f"label_share={label_share!r}: pass the fraction of the rows that have a label, between 0 and 1.")
    packed, accumulators = plan.memory(*shape, levels)
    peak = f"{'peak:':<11} about {(COPIES * packed + accumulators + ALWAYS) / 1e6:.2g} MB beyond the data"
    counting = predicted_seconds(plan, *shape, levels, n_steps, label_share)
    if counting is None:
        return [f"{'time:':<11} not predicted: the tables of a joint condition depend on the data", peak]
    binning = seconds_per_value(method.discretizer) * n_rows * n_features
    seconds = f"about {counting + binning:.2g} s on one thread of this machine, {binning:.2g} s of it binning of numbers"
    return [f"{'time:':<11} {seconds}; {n_steps} steps, labels in {100 * label_share:.3g} % of the rows", peak]
