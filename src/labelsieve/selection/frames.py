"""Names of columns, hashes of tables, and results as data frames of the library that is installed."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError, unknown_name
from labelsieve.fingerprint import array_print
from labelsieve.tables.frames import is_frame, without_wide_integers
from labelsieve.tables.problem import Names
from labelsieve.tables.types import TargetsLike

MAKERS = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}


def column_names(table: object, given: Names, count: int, what: str) -> tuple[str, ...]:
    """Names of ``count`` columns: those given, those of a frame, or numbers behind ``what``.

    >>> column_names(None, None, 2, "feature")
    ('feature 0', 'feature 1')
    """
    if given is None and is_frame(table):
        given = nw.from_native(table, eager_only=True).columns
    if given is None:
        return tuple(f"{what} {index}" for index in range(count))
    if len(given) != count:
        raise InputError(f"{len(given)} names for {count} {what}s.")
    return tuple(str(name) for name in given)


def table_print(table: TargetsLike) -> str:
    """A hash of the values of a table; of a frame, of its columns in order, whatever library made it.

    >>> table_print([[1.0, 0.0], [0.0, 1.0]]) == table_print([[1.0, 0.0], [0.0, 1.0]]) != table_print([[1.0, 0.0], [0.0, 2.0]])
    True
    """
    if not is_frame(table):
        return array_print(table)
    frame = without_wide_integers(nw.from_native(table, eager_only=True))
    kinds = set(frame.schema.values())
    if len(kinds) == 1 and kinds.pop().is_numeric():  # much faster than one column after the other
        columns = list(frame.to_numpy().T)
    else:
        columns = [column.to_numpy() for column in frame.iter_columns()]
    return array_print(*columns)


def frame_library(backend: str | None, like: object = None) -> str:
    """The library of a result: ``backend``, that of the frame ``like``, or the first that is installed; ``"dict"`` is none.

    >>> frame_library("polars"), frame_library("dict")
    ('polars', 'dict')
    """
    if backend is not None:
        if backend not in (*MAKERS, "dict"):
            raise unknown_name("library of frames", backend, [*MAKERS, "dict"])
        return backend
    if is_frame(like):
        library = nw.from_native(like, eager_only=True).implementation.value
        if library in MAKERS:
            return str(library)
    return next((name for name in MAKERS if find_spec(name) is not None), "dict")


def frame_of_columns(columns: Mapping[str, Sequence[Any]], backend: str | None, like: object = None) -> Any:
    """A frame of these columns, or a dict of them where no library of frames is installed.

    >>> frame_of_columns({"rank": [1, 2], "feature": ["tempo", "pitch"]}, "dict")
    {'rank': [1, 2], 'feature': ['tempo', 'pitch']}
    """
    library, lists = frame_library(backend, like), {name: list(values) for name, values in columns.items()}
    return lists if library == "dict" else getattr(import_module(library), MAKERS[library])(lists)


def information_frame(
    features: Sequence[str], labels: Sequence[str], table: NDArray[np.float64], like: object, backend: str | None
) -> Any:
    """A row of numbers for every feature; names of features are the index of a pandas frame, else the first column."""
    if frame_library(backend, like) == "pandas":
        pandas = import_module("pandas")
        return pandas.DataFrame(table, index=pandas.Index(list(features), name="feature"), columns=list(labels))
    name = "feature"
    while name in labels:
        name += "_"
    return frame_of_columns({name: list(features), **dict(zip(labels, table.T.tolist(), strict=True))}, backend, like)
