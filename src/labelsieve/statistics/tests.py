"""Tables of results and ranks of the methods, Friedman's test of all methods, and post-hoc tests of pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, groupby, permutations
from math import factorial, lgamma, log
from typing import Any, Literal

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, fdtrc
from scipy.stats import norm, rankdata, studentized_range, wilcoxon

from labelsieve.errors import InputError, is_whole, one_of, share, whole_number
from labelsieve.tables.frames import is_frame
from labelsieve.tables.types import Frame

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Results:
    """A table of results: values with the names of the data sets (rows) and of the methods (columns)."""

    values: Floats
    methods: tuple[str, ...]
    datasets: tuple[str, ...]


def read_results(table: ArrayLike | Frame | Results, methods: Sequence[str] | None = None) -> Results:
    """Read an array or a frame of pandas, polars and the like.

    The columns of a frame are the methods. Its index, if that is one of names, or its only column of text, names the data
    sets. Cells that are missing are refused: a rank needs every method on every data set.
    """
    if isinstance(table, Results):
        return table
    if is_frame(table):
        values, found, datasets = _read_frame(table)
    else:
        values = read_floats(table, "the table of results (a row for each data set, a column for each method)")
        if values.ndim != 2:
            raise InputError(f"the table of results must have two dimensions, data sets and methods; it has {values.ndim}.")
        found, datasets = [f"method {column}" for column in range(values.shape[1])], None
    if isinstance(methods, str):
        raise InputError(f"methods must be a list with a name for each method, not the text {methods!r}.")
    names = tuple(str(name) for name in (found if methods is None else methods))
    rows = tuple(f"data set {row}" for row in range(len(values))) if datasets is None else tuple(map(str, datasets))
    _check(values, names, rows)
    return Results(values, names, rows)


def method_index(methods: Sequence[str], name: str | int) -> int:
    """Find the index of a method by its name or its number."""
    if isinstance(name, str) and name in methods:
        return list(methods).index(name)
    if is_whole(name) and 0 <= int(name) < len(methods):
        return int(name)
    raise InputError(f"there is no method {name!r}; there are {', '.join(methods)}; by number, 0 to {len(methods) - 1}.")


def read_floats(values: ArrayLike, what: str) -> Floats:
    """Read lists and arrays as numbers; refuse masked values, which would otherwise be used as results."""
    if np.ma.is_masked(values):
        raise InputError(f"{what}: some are masked; fill them or leave them out.")
    try:
        array = np.asarray(values)
        return array.astype(np.float64, casting="same_kind" if array.dtype.kind in "biufc" else "unsafe")
    except (TypeError, ValueError):
        raise InputError(f"{what} must be numbers, and as many in every row.") from None


def _read_frame(table: object) -> tuple[Floats, list[str], Any]:
    """Return the values of a frame, the names of its methods, and those of its data sets (None: it has none)."""
    try:
        frame = nw.from_native(table, eager_only=True)
    except nw.exceptions.NarwhalsError as error:
        raise InputError(f"the table of results cannot be read: {' '.join(str(error).split())}") from None
    columns = list(frame.iter_columns())  # not by name, which may be a number
    text = [column for column in columns if column.dtype in (nw.String, nw.Categorical, nw.Enum)]
    if len(text) > 1:
        listed = ", ".join(repr(column.name) for column in text)
        raise InputError(f"the table of results has text in {listed}; one such column can name the data sets.")
    results = [column for column in columns if not any(column is other for other in text)]
    for column in results:
        if not column.dtype.is_numeric():
            raise InputError(f"column {column.name!r} of the table of results holds {column.dtype} instead of numbers.")
    # Not cast before: narwhals cannot cast pandas' nullable types.
    numbers = [np.asarray(column.to_numpy(), dtype=np.float64) for column in results]
    values = np.column_stack(numbers) if numbers else np.empty((len(frame), 0))
    index = nw.maybe_get_index(frame)
    named = text[0].to_list() if text else list(index) if index is not None else None
    if not text and named == list(range(len(frame))):
        named = None  # a default index
    return values, [column.name for column in results], named


def _check(values: Floats, methods: tuple[str, ...], datasets: tuple[str, ...]) -> None:
    """Refuse tables that cannot be ranked, and name the cell that is missing."""
    if len(methods) != values.shape[1]:
        raise InputError(f"{len(methods)} names for {values.shape[1]} methods.")
    if len(set(methods)) != len(methods):
        raise InputError(f"two methods have the same name: {', '.join(methods)}.")
    if values.shape[0] < 2 or values.shape[1] < 2:
        raise InputError(
            f"a comparison needs at least two data sets and two methods, not {values.shape[0]} and {values.shape[1]}."
        )
    bad = ~np.isfinite(values)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        what = "missing" if np.isnan(values[row, column]) else "infinite"
        others = int(bad.sum()) - 1
        more = f", and so {'is one other' if others == 1 else f'are {others} others'}" if others else ""
        raise InputError(
            f"the result of {methods[column]} on {datasets[row]} is {what}{more}. Every method needs a result on every data "
            "set: fill the cell, or leave out the data set or the method."
        )


def ranks(table: ArrayLike | Frame | Results, *, lower_is_better: bool) -> Floats:
    """Rank the methods on every data set: 1 for the best, tied methods share the mean of their ranks.

    ``table`` and ``lower_is_better`` are those of :func:`compare`. Cost: one sort of every row.

    Examples
    --------
    >>> ranks([[0.9, 0.7, 0.7], [0.5, 0.6, 0.4]], lower_is_better=False)
    array([[1. , 2.5, 2.5],
           [2. , 1. , 3. ]])
    """
    values = read_results(table).values
    found: Floats = np.asarray(rankdata(values if lower_is_better else -values, axis=1), dtype=np.float64)
    return found


def average_ranks(table: ArrayLike | Frame | Results, *, lower_is_better: bool) -> Floats:
    r"""Average the ranks of every method over the data sets: :math:`R_j = \frac{1}{N} \sum_i r_{ij}`.

    Parameters are those of :func:`ranks`.

    Examples
    --------
    >>> average_ranks([[0.9, 0.7, 0.7], [0.5, 0.6, 0.4]], lower_is_better=False)
    array([1.5 , 1.75, 2.75])
    """
    means: Floats = ranks(table, lower_is_better=lower_is_better).mean(axis=0)
    return means


Distribution = Literal["exact", "permutations", "F"]
MOST_METHODS = 6  # whose rank orders, 720, are enumerated
MOST_STATES = 500_000  # rank sums times rank orders in a step of the enumeration
FEW_DATASETS = 15  # from here on the F distribution is close (Iman and Davenport 1980)
N_PERMUTATIONS = 19_999
EXACT_UP_TO = 400  # data sets, at about 50 ms per pair; beyond, the error of small p-values is a few per cent
PostHoc = Literal["nemenyi", "bonferroni-dunn"]


@dataclass(frozen=True)
class Friedman:
    """The result of :func:`friedman`.

    Attributes
    ----------
    chi2, f : float
        The statistics.
    chi2_p_value : float
        By the chi-square distribution, which is an approximation for many data sets.
    p_value : float
        By the distribution that ``distribution`` names; never 0.
    degrees : tuple of int
        Degrees of freedom of the F distribution.
    distribution : {"exact", "permutations", "F"}
        Where ``p_value`` comes from: see :func:`friedman`.
    smallest_p_value : float
        The p-value if all data sets ranked the methods in the same way: no result on so few data sets can be below it.
    """

    chi2: float
    chi2_p_value: float
    f: float
    p_value: float
    degrees: tuple[int, int]
    distribution: Distribution
    smallest_p_value: float


def friedman(table: ArrayLike | Frame | Results, *, lower_is_better: bool = False, correct_ties: bool = False) -> Friedman:
    r"""Test the equality of all methods by Friedman's test: the chi-square, and Iman and Davenport's :math:`F_F`.

    .. math::
        \chi^2_F = \frac{12 N}{k (k + 1)} \Big[\sum_j R_j^2 - \frac{k (k+1)^2}{4}\Big], \qquad
        F_F = \frac{(N - 1) \chi^2_F}{N (k - 1) - \chi^2_F}

    for :math:`k` methods on :math:`N` data sets with average ranks :math:`R_j`; Demšar (2006), section 3.2.2.
    :math:`F_F` is less conservative, and the one that papers print.

    Parameters
    ----------
    table : array-like or frame of shape (n_datasets, n_methods)
        One result for each data set and method.
    lower_is_better : bool, default=False
        Changes the ranks, but not the test.
    correct_ties : bool, default=False
        Correct the chi-square for the smaller variance of tied ranks, as ``scipy.stats.friedmanchisquare`` does; the published
        formula does not.

    Returns
    -------
    Friedman
        If the ranks are the same on all data sets, ``f`` is infinite. If all values tie, it is 0 and the p-value 1.

    Notes
    -----
    The F distribution is close from about 15 data sets on. With fewer it rejects far too often: on two or three data sets
    without any difference, in 17 to 20 of 100 tables at the level 0.05. So the p-value comes from the distribution of the
    statistic over all orders of the ranks within the data sets: enumerated for up to six methods, estimated from 19,999 random
    orders (always the same) where that is too much.

    Cost: one sort of every row; up to half a second for the enumeration.

    Examples
    --------
    >>> found = friedman([[3, 2, 1], [3, 2, 1], [2, 3, 1], [3, 1, 2]])
    >>> found.chi2, round(found.f, 3), round(found.p_value, 3)
    (4.5, 3.857, 0.125)
    >>> friedman([[1, 2, 3], [1, 2, 3]]).p_value  # 1 of 6 orders
    0.16666666666666666
    """
    found = ranks(table, lower_is_better=lower_is_better)
    n, k = found.shape
    chi2 = 12 * n / (k * (k + 1)) * float(((found.mean(axis=0) - (k + 1) / 2) ** 2).sum())
    if correct_ties and chi2 > 0:
        spread = float(((found - (k + 1) / 2) ** 2).sum())
        chi2 *= n * k * (k * k - 1) / 12 / spread
    left = n * (k - 1) - chi2
    f = (n - 1) * chi2 / left if left > 1e-9 * n * k else np.inf
    degrees = (k - 1, (k - 1) * (n - 1))
    p_value, distribution = friedman_p_value(found, float(f))
    chi2_p_value = float(chdtrc(k - 1, chi2))
    return Friedman(chi2, chi2_p_value, float(f), p_value, degrees, distribution, smallest_p_value(found))


def friedman_p_value(ranks: Floats, f: float) -> tuple[float, Distribution]:
    r"""Compute the p-value of Friedman's test for ranks of shape (n_datasets, n_methods), and say where it comes from.

    Under the null hypothesis every order of the ranks of a data set is equally likely, ties included. The distribution of
    :math:`\sum_j (\sum_i r_{ij})^2` over these orders, of which chi-square and :math:`F_F` are increasing functions, is
    enumerated data set by data set for up to six methods; rank sums that differ by a permutation of the methods are one
    state. Where there are too many states, 19,999 random orders estimate it, with the p-value :math:`(1 + \#) / 20000`, which
    keeps the level of the test. From 15 data sets on the F distribution is used.

    The p-value is never below :math:`D^{1 - N}`, that of N data sets that all order the methods in the same way, with
    :math:`D` different orders each.
    """
    doubled = np.sort(np.rint(2 * ranks).astype(np.int64), axis=1)  # mid-ranks are halves
    observed = int((np.rint(2 * ranks).astype(np.int64).sum(axis=0) ** 2).sum())
    n, k = ranks.shape
    if n < FEW_DATASETS:
        exact = _enumerate(doubled, observed) if k <= MOST_METHODS else None
        if exact is not None:
            return exact, "exact"
        return _permute(doubled, observed), "permutations"
    p_value = float(fdtrc(k - 1, (k - 1) * (n - 1), f))
    return max(p_value, smallest_p_value(ranks)), "F"


def smallest_p_value(ranks: Floats) -> float:
    """Return the p-value if all data sets ordered the methods in the same way: none can be smaller.

    >>> round(smallest_p_value(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])), 12)
    0.166666666667
    """
    ordered = np.sort(ranks, axis=1)
    orders = [lgamma(ranks.shape[1] + 1)] * len(ranks)
    for row in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)).tolist():
        orders[row] -= sum(lgamma(len(list(same)) + 1) for _, same in groupby(ordered[row].tolist()))
    return max(float(np.exp(max(orders) - sum(orders))), float(np.finfo(float).tiny))


def _orders(row: NDArray[np.int64]) -> NDArray[np.int64]:
    """List every order of the ranks of a row; equal ranks give equal orders, which stay, since all are equally likely."""
    return np.array(list(permutations(row.tolist())), dtype=np.int64)


def _enumerate(rows: NDArray[np.int64], observed: int) -> float | None:
    """Compute the exact probability, or None where there are too many rank sums."""
    n, k = rows.shape
    base = int(rows.sum(axis=0).max()) + 1  # above every rank sum, so that sums are the digits of one number
    if n * log(factorial(k)) > 600 or k * log(base) > 40:  # below the smallest double, or beyond 64 bits
        return None
    digits = base ** np.arange(k, dtype=np.int64)
    states, probability = rows[:1].copy(), np.ones(1)  # by symmetry the first data set may have any order
    for row in rows[1:]:
        orders = _orders(row)
        if len(states) * len(orders) > MOST_STATES:
            return None
        sums = np.sort((states[:, np.newaxis, :] + orders).reshape(-1, k), axis=1)
        _, first, which = np.unique(sums @ digits, return_index=True, return_inverse=True)
        states, previous = sums[first], probability
        probability = np.zeros(len(states))
        np.add.at(probability, which.ravel(), np.repeat(previous, len(orders)) / len(orders))
    total = float(probability[(states**2).sum(axis=1) >= observed].sum())
    return 1.0 if total > 1 - 1e-12 else total  # sums of rounded probabilities


def _permute(rows: NDArray[np.int64], observed: int) -> float:
    """Estimate the probability from random orders, always the same ones."""
    random = np.random.default_rng(0)
    sums = np.zeros((N_PERMUTATIONS, rows.shape[1]), dtype=np.int64)
    for row in rows:
        sums += random.permuted(np.broadcast_to(row, sums.shape), axis=1)
    return (1 + int(((sums**2).sum(axis=1) >= observed).sum())) / (1 + N_PERMUTATIONS)


def critical_difference(n_methods: int, n_datasets: int, *, alpha: float = 0.05, test: PostHoc = "nemenyi") -> float:
    r"""Compute the critical difference: the smallest significant difference of average ranks.

    .. math:: CD = q_\alpha \sqrt{\frac{k (k + 1)}{6 N}}

    Demšar (2006), section 3.2.2: :math:`q_\alpha` is the quantile of the studentized range of :math:`k` means over
    :math:`\sqrt 2` (Nemenyi), or the normal quantile at :math:`1 - \alpha / (2 (k - 1))` (Bonferroni-Dunn).

    Examples
    --------
    >>> round(critical_difference(7, 13), 3)
    2.498
    >>> round(critical_difference(7, 13, test="bonferroni-dunn"), 3)
    2.235
    """
    k = whole_number(n_methods, "n_methods", 2, 10**6)
    n = whole_number(n_datasets, "n_datasets", 2, 10**9)
    one_of(test, "test", ("nemenyi", "bonferroni-dunn"))
    alpha = share(alpha, "alpha")
    if test == "nemenyi":
        quantile = float(studentized_range.ppf(1 - alpha, k, np.inf)) / np.sqrt(2)
    else:
        quantile = float(norm.isf(alpha / (2 * (k - 1))))
    return float(quantile * _unit(k, n))


def nemenyi(table: ArrayLike | Frame | Results, *, lower_is_better: bool = False) -> Floats:
    r"""Compute the p-values of Nemenyi's test for all pairs of methods, already corrected for their number.

    .. math:: p_{ij} = P\Big(Q_{k, \infty} > \frac{\sqrt 2 \, |R_i - R_j|}{\sqrt{k (k+1) / 6 N}}\Big)

    ``table`` and ``lower_is_better`` are those of :func:`compare`. The diagonal is 1. Cost: one studentized range per pair,
    about a millisecond each.

    Examples
    --------
    >>> nemenyi([[1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3]], lower_is_better=True).round(3)
    array([[1.   , 0.333, 0.013],
           [0.333, 1.   , 0.333],
           [0.013, 0.333, 1.   ]])
    """
    results = read_results(table)
    n, k = results.values.shape
    means = average_ranks(results, lower_is_better=lower_is_better)
    distances, index = np.unique(np.abs(means[:, None] - means), return_inverse=True)
    tails = np.clip(studentized_range.sf(np.sqrt(2) * distances / _unit(k, n), k, np.inf), 0.0, 1.0)
    tails[distances == 0] = 1.0
    p_values: Floats = tails[index].reshape(k, k)
    return p_values


def bonferroni_dunn(table: ArrayLike | Frame | Results, control: str | int, *, lower_is_better: bool = False) -> Floats:
    r"""Compute the p-values of Bonferroni and Dunn's test of every method against a control, corrected for their number.

    .. math:: p_j = \min\big(1, 2 (k - 1) \, P(Z > |R_j - R_c| / \sqrt{k (k+1) / 6 N})\big)

    ``control`` is the column of the control, whose p-value is 1. There are fewer comparisons than in :func:`nemenyi`, so
    smaller differences are significant.

    Examples
    --------
    >>> bonferroni_dunn([[1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3]], 0, lower_is_better=True).round(3)
    array([1.   , 0.315, 0.009])
    """
    results = read_results(table)
    n, k = results.values.shape
    index = method_index(results.methods, control)
    means = average_ranks(results, lower_is_better=lower_is_better)
    p_values: Floats = np.minimum(1.0, 2 * (k - 1) * norm.sf(np.abs(means - means[index]) / _unit(k, n)))
    p_values[index] = 1.0
    return p_values


def _unit(k: int, n: int) -> float:
    """Return the standard error of a difference of two average ranks."""
    return float(np.sqrt(k * (k + 1) / (6 * n)))


def holm(p_values: ArrayLike) -> Floats:
    r"""Correct p-values for their number by Holm's step-down method.

    The smallest is multiplied by :math:`m`, the next by :math:`m - 1` and so on, and none is smaller than the one before it. It
    controls the family-wise error rate as Bonferroni's correction does, with more power.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = read_floats(p_values, "the p-values")
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise InputError(f"holm takes a list of p-values between 0 and 1, not {p_values!r}.")
    order = np.argsort(values, kind="stable")
    steps = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    found = np.empty_like(values)
    found[order] = np.minimum(steps, 1.0)
    return found


def wilcoxon_holm(table: ArrayLike | Frame | Results, *, control: str | int | None = None) -> Floats:
    """Compute the p-values of Wilcoxon's signed-rank test for pairs of methods, corrected by Holm's method.

    Unlike average ranks, the result for a pair does not depend on the other methods in the table (Benavoli, Corani and Mangili
    2016). Data sets on which two methods are equal count half for each (Demšar 2006, section 3.1.3). p-values are exact; for
    more than 400 data sets, normal. Small tables have little power: with 5 data sets no p-value is below 0.06.

    Parameters
    ----------
    table : array-like or frame of shape (n_datasets, n_methods)
        Differences must be comparable between data sets; whether higher or lower is better does not matter.
    control : str or int, default=None
        Compare with this method only: fewer tests, a smaller correction.

    Returns
    -------
    ndarray of shape (n_methods, n_methods), or (n_methods,) with a control
        1 for a method with itself.

    Notes
    -----
    Cost: one test per pair, about half a millisecond each.

    Examples
    --------
    >>> table = np.arange(8.0)[:, None] + [0.0, 0.1, 5.0] * np.arange(1, 9)[:, None]
    >>> wilcoxon_holm(table).round(4)
    array([[1.    , 0.0234, 0.0234],
           [0.0234, 1.    , 0.0234],
           [0.0234, 0.0234, 1.    ]])
    """
    results = read_results(table)
    k = len(results.methods)
    index = None if control is None else method_index(results.methods, control)
    pairs = [pair for pair in combinations(range(k), 2) if index is None or index in pair]
    corrected = holm([_p_value(results.values[:, first] - results.values[:, second]) for first, second in pairs])
    p_values = np.ones((k, k))
    for (first, second), value in zip(pairs, corrected, strict=True):
        p_values[first, second] = p_values[second, first] = value
    return p_values if index is None else p_values[index]


def signed_rank_sums(results: Results) -> Floats:
    """Sum the signed ranks of the differences of every pair: negative if the first method tends to be smaller.

    The statistic of Wilcoxon's test. Its sign can differ from that of the average ranks, because a few large differences may
    outweigh many small ones.
    """
    differences = results.values[:, :, None] - results.values[:, None, :]
    sums: Floats = (np.sign(differences) * rankdata(np.abs(differences), axis=0)).sum(axis=0)
    return sums


def _p_value(differences: Floats) -> float:
    """Compute the exact p-value, also with ties: under the null hypothesis both signs are equally likely."""
    if not differences.any():
        return 1.0
    if len(differences) > EXACT_UP_TO:
        return float(wilcoxon(differences, zero_method="zsplit", method="approx").pvalue)
    doubled = np.rint(2 * rankdata(np.abs(differences))).astype(np.int64)  # ranks of ties are halves
    positive, negative = doubled[differences > 0], doubled[differences < 0]
    distribution = np.zeros(positive.sum() + negative.sum() + 1)
    distribution[0] = 1.0
    for rank in np.concatenate([positive, negative]):
        distribution *= 0.5
        distribution[rank:] += distribution[:-rank].copy()
    smaller = min(positive.sum(), negative.sum())
    return float(min(1.0, 2 * distribution[: smaller + 1].sum()))
