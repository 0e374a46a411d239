"""Tables of results: one row for each data set, one column for each method."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Results:
    """Values with the names of their rows and columns."""

    values: Floats
    methods: tuple[str, ...]
    datasets: tuple[str, ...]


def read_results(table: Any, methods: Sequence[str] | None = None) -> Results:
    """Read an array or a frame of pandas, polars and the like.

    The columns of a frame are the methods. Its index, if that is one of names, or its only column of text, names the data
    sets. Cells that are missing are refused: a rank needs every method on every data set.
    """
    if isinstance(table, Results):
        return table
    if not isinstance(table, np.ndarray) and nw.dependencies.is_into_dataframe(table):
        values, found, datasets = _read_frame(nw.from_native(table, eager_only=True))
    else:
        try:
            values = np.asarray(table, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(
                "the table of results must hold numbers: a row for each data set, a column for each method."
            ) from None
        if values.ndim != 2:
            raise InputError(f"the table of results must have two dimensions, data sets and methods; it has {values.ndim}.")
        found, datasets = [f"method {column}" for column in range(values.shape[1])], None
    names = tuple(str(name) for name in (found if methods is None else methods))
    rows = tuple(f"data set {row}" for row in range(len(values))) if datasets is None else tuple(map(str, datasets))
    _check(values, names, rows)
    return Results(values, names, rows)


def method_index(methods: Sequence[str], name: str | int) -> int:
    """Where a method is, by its name or its number."""
    if isinstance(name, str) and name in methods:
        return list(methods).index(name)
    if isinstance(name, int) and not isinstance(name, bool) and 0 <= name < len(methods):
        return name
    raise InputError(f"there is no method {name!r}; there are {', '.join(methods)}.")


def _read_frame(frame: Any) -> tuple[Floats, list[str], Any]:
    text = [name for name, kind in frame.schema.items() if kind in (nw.String, nw.Categorical, nw.Enum)]
    if len(text) > 1:
        raise InputError(
            f"the table of results has text in {', '.join(map(repr, text))}; one such column can name the data sets."
        )
    found = [name for name in frame.columns if name not in text]
    for name in found:
        if not frame.schema[name].is_numeric():
            raise InputError(f"column {name!r} of the table of results holds {frame.schema[name]} instead of numbers.")
    values = (
        np.column_stack([frame[name].cast(nw.Float64).to_numpy() for name in found]) if found else np.empty((len(frame), 0))
    )
    index = nw.maybe_get_index(frame)
    named = frame[text[0]].to_list() if text else list(index) if index is not None else None
    if not text and named == list(range(len(frame))):
        named = None  # an index that only counts
    return values, found, named


def _check(values: Floats, methods: tuple[str, ...], datasets: tuple[str, ...]) -> None:
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
        raise InputError(
            f"the result of {methods[column]} on {datasets[row]} is {what} ({int(bad.sum())} such cells). Every method needs a "
            f"result on every data set: fill the cell, or leave out the data set or the method."
        )
