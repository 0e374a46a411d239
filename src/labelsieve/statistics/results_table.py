"""Tables of results, one row for each data set and one column for each method, and the ranks of the methods."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from labelsieve.errors import InputError, is_whole
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
