"""Columns as a frame of some library, with the same types whether there are rows or none."""

from importlib import import_module
from typing import Any, Literal

from labelsieve.errors import one_of

Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS = ("pandas", "polars", "pyarrow")


def frame_of(columns: dict[str, list[Any]], types: dict[str, type], backend: Backend) -> Any:
    """A frame; ``types`` are int or float, and text for columns that it does not name.

    >>> frame_of({"method": [], "k": []}, {"k": int}, "pandas").dtypes["k"]
    dtype('int64')
    """
    one_of(backend, "backend", BACKENDS)
    library, kinds = import_module(backend), {name: types.get(name, str) for name in columns}
    if backend == "polars":
        return library.DataFrame(columns, schema=kinds)
    if backend == "pandas":
        return library.DataFrame({name: library.Series(values, dtype=kinds[name]) for name, values in columns.items()})
    made = {int: library.int64(), float: library.float64(), str: library.string()}
    return library.table(columns, schema=library.schema([(name, made[kind]) for name, kind in kinds.items()]))
