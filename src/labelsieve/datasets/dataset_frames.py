"""Frames of pandas and polars, which are imported only when asked for."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.counting.resources import available_memory
from labelsieve.errors import InputError

Categories = Mapping[str, tuple[str, ...]]


def to_pandas(values: object, names: Sequence[str], categories: Categories, *, copy: bool = True) -> Any:
    """A frame of pandas: nominal columns are categorical, sparse ones stay sparse."""
    pandas = _imported("pandas")
    if sparse.issparse(values):
        frame = pandas.DataFrame.sparse.from_spmatrix(values, columns=list(names))
    else:
        frame = pandas.DataFrame(values, columns=list(names), copy=copy)
    if not any(name in categories for name in names):
        return frame
    columns = {name: frame.iloc[:, position] for position, name in enumerate(names)}
    kinds: dict[tuple[str, ...], Any] = {}  # columns of the same values share them
    for name, codes in _nominal(values, names, categories):
        found = categories[name]
        kinds[found] = kinds.get(found) or pandas.CategoricalDtype(list(found))
        columns[name] = pandas.Series(pandas.Categorical.from_codes(codes, dtype=kinds[found]))
    return pandas.DataFrame(columns)


def to_polars(values: Any, names: Sequence[str], categories: Categories) -> Any:
    """A frame of polars: nominal columns are enumerations, missing cells null."""
    polars = _imported("polars")
    if sparse.issparse(values):
        _require_memory(values)
        values = values.toarray()
    columns = {name: polars.Series(name, values[:, position], nan_to_null=True) for position, name in enumerate(names)}
    for name, codes in _nominal(values, names, categories):
        words = [None if code < 0 else categories[name][code] for code in codes.tolist()]
        columns[name] = polars.Series(name, words, dtype=polars.Enum(list(categories[name])))
    return polars.DataFrame(columns)


def with_names(values: object, names: Sequence[str], categories: Categories, *, copy: bool = True) -> Any:
    """A frame of pandas or polars; ``values`` where they are sparse, or where neither library is installed.

    Without ``copy`` the numbers of a frame of pandas are those of ``values``.
    """
    if sparse.issparse(values):
        return values
    if find_spec("pandas") is not None:
        return to_pandas(values, names, categories, copy=copy)
    return to_polars(values, names, categories) if find_spec("polars") is not None else values


def _imported(package: str) -> Any:
    if find_spec(package) is None:
        raise InputError(f"A frame of {package} needs the package {package}: pip install {package}")
    return import_module(package)


def _nominal(values: Any, names: Sequence[str], categories: Categories) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Names of nominal columns and their codes, -1 for a missing value."""
    nominal = [position for position, name in enumerate(names) if name in categories]
    if sparse.issparse(values):
        values = sparse.csc_array(values)
    for position in nominal:
        column = values[:, [position]]
        cells = np.asarray(column.toarray() if sparse.issparse(column) else column, dtype=np.float64).ravel()
        yield names[position], np.where(np.isnan(cells), -1, cells).astype(np.int64)


def _require_memory(values: Any) -> None:
    """Refuse what would fill the memory as dense columns; polars has no others."""
    n_rows, n_columns = values.shape
    needed, free = 2 * n_rows * n_columns * values.dtype.itemsize, available_memory()  # the array, and the frame
    if free is not None and needed > free:
        raise MemoryError(
            f"polars has no sparse columns, and {n_rows:,} x {n_columns:,} dense cells need {needed / 1e9:.1f} GB "
            f"with {free / 1e9:.1f} GB free; use to_pandas(), which keeps them sparse, or take fewer columns."
        )
