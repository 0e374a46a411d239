"""Stability of a selector over resamples of the rows."""

from dataclasses import replace
from typing import Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from labelsieve.errors import InputError, one_of, whole_number
from labelsieve.labelspace.base import RandomState
from labelsieve.parameters import take_rows
from labelsieve.selectors.auto.folds import for_all_rows
from labelsieve.statistics import Stability, stability_index
from labelsieve.stopping import CrossValidated
from labelsieve.tables.targets import label_matrix, part_of_the_rows
from labelsieve.tables.types import StoredTable, TableLike, TargetsLike, as_table

Kind = Literal["auto", "bootstrap", "subsample", "pairs"]


def selection_stability(
    selector: BaseEstimator,
    X: TableLike,
    Y: TargetsLike,
    *,
    n_repeats: int = 30,
    kind: Kind = "bootstrap",
    fraction: float = 0.5,
    confidence: float = 0.95,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Stability:
    """Stability of a selector over resamples of the rows: see :func:`~labelsieve.statistics.stability_index`.

    Parameters
    ----------
    selector : estimator
        An estimator with ``fit(X, Y)`` and ``get_support()``. It is cloned. A fitted :class:`labelsieve.AutoSieve` stands for
        the method that it chose, in the number that it chose: the choice is not repeated. So does a fitted selector whose
        number of features was found by predictions (``"auto"``, ``CrossValidated``).
    X, Y : array-like, frame or sparse matrix
        The data.
    n_repeats : int, default=30
        Number of resamples, at least two.
    kind : {"auto", "bootstrap", "subsample", "pairs"}, default="bootstrap"
        ``"bootstrap"``: as many rows as there are, drawn with replacement. ``"subsample"``: a ``fraction`` of them, without
        replacement. ``"pairs"``: both halves of a random split, ``n_repeats / 2`` times (complementary pairs, Shah and Samworth
        2013), for which :meth:`labelsieve.statistics.Stability.error_bound` holds. ``"auto"`` is ``"subsample"`` for selectors
        that look for neighbors, since a row drawn twice is its own neighbor, else ``"bootstrap"``.
    fraction : float, default=0.5
        Share of the rows in a subsample.
    confidence : float, default=0.95
        Confidence level of the interval.
    random_state : int, RandomState or None, default=None
        The same number gives the same samples, whatever ``n_jobs``.
    n_jobs : int, default=None
        Processes, as joblib counts; None is one, -1 is all.

    Notes
    -----
    Cost: ``n_repeats`` fits.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles()
    >>> stability = selection_stability(Sieve("mim", n_features_to_select=4), data.X, data.Y, n_repeats=10, random_state=0)
    >>> round(stability.index, 2)
    0.94
    """
    n_repeats = whole_number(n_repeats, "n_repeats", 2, 1_000_000)
    one_of(kind, "kind", ("auto", "bootstrap", "subsample", "pairs"))
    if kind == "auto":
        kind = "subsample" if getattr(selector, "needs_distinct_rows", False) else "bootstrap"
    if isinstance(X, StoredTable):
        raise InputError("Stability is measured on samples of the rows of a table in memory; pass X and Y as arrays or frames.")
    X = as_table(X)
    n_rows = X.shape[0]
    samples = row_samples(n_rows, n_repeats, kind, fraction, random_state)
    Y = label_matrix(Y)  # of all rows: a sample may lack a label
    chosen = getattr(selector, "selector_", selector)
    found = getattr(selector, "selected_", None) if isinstance(getattr(selector, "stopping_", None), CrossValidated) else None
    if chosen is None:  # an automatic selection of all features
        masks = [np.ones(X.shape[1], dtype=np.bool_)] * n_repeats
    elif found is not None and len(found) == 0:
        masks = [np.zeros(X.shape[1], dtype=np.bool_)] * n_repeats
    else:
        if found is not None:
            chosen = clone(chosen).set_params(n_features_to_select=len(found))
        chosen = for_all_rows(chosen, Y)
        masks = Parallel(n_jobs=n_jobs)(delayed(_support)(chosen, X, Y, rows) for rows in samples)
    return replace(stability_index(np.array(masks), confidence=confidence), kind=kind)


def row_samples(n_rows: int, n_repeats: int, kind: Kind, fraction: float, random_state: RandomState) -> list[NDArray[np.intp]]:
    """Rows of every sample: as many as there are, drawn with replacement, a fraction without, or both halves of splits.

    >>> [sample.tolist() for sample in row_samples(4, 2, "subsample", 0.5, 0)]
    [[2, 3], [0, 2]]
    """
    if not 0 < fraction <= 1:
        raise InputError(f"fraction must be above 0 and at most 1, not {fraction!r}.")
    rng = check_random_state(random_state)
    if kind == "bootstrap":
        return [rng.randint(n_rows, size=n_rows) for _ in range(n_repeats)]
    if kind == "pairs":
        if n_repeats % 2 or n_rows < 2:
            raise InputError(f"Pairs of halves need an even n_repeats and two rows, not {n_repeats} and {n_rows}.")
        orders = [rng.permutation(n_rows) for _ in range(n_repeats // 2)]
        half = n_rows // 2
        return [np.sort(part) for order in orders for part in (order[:half], order[half : 2 * half])]
    size = max(1, round(fraction * n_rows))
    return [np.sort(rng.permutation(n_rows)[:size]) for _ in range(n_repeats)]


def _support(selector: BaseEstimator, X: TableLike, Y: TargetsLike, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    X, Y = as_table(X), as_table(Y)
    with part_of_the_rows():
        mask: NDArray[np.bool_] = clone(selector).fit(take_rows(X, rows), take_rows(Y, rows)).get_support()
    return mask
