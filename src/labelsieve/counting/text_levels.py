"""Columns of text and categories of data frames as ranks of their levels."""

import ctypes
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from labelsieve import core

Levels = NDArray[np.object_]  # words in order
HEAD = 1024  # rows that mostly have all levels of a column
FEW_OBJECTS = 4  # cells for each object of a column, from which on the objects are looked at instead of the cells


class Ranks(NamedTuple):
    """The rank of every cell among the ``levels``, NaN where it is missing."""

    values: NDArray[Any]
    missing: NDArray[np.bool_] | None
    levels: Levels


def pandas_ranks(native: Any) -> Ranks | None:
    """A series of pandas by its categories, or by its words if Arrow or few objects hold them; None if it has neither.

    Wrapping a series costs more than reading a short one.
    """
    array = native.array
    kind = type(array).__name__
    if kind == "Categorical":
        return rank_levels(array.codes, _category_words(array.categories))
    if kind.startswith("ArrowString"):
        return _words_of_arrow(import_module("pyarrow").array(array))
    return _few_objects(native.to_numpy()) if native.dtype == object else None


def level_ranks(series: nw.Series[Any]) -> Ranks:
    """A column of text or categories, by the library's own dictionaries."""
    native: Any = series.to_native()
    if series.implementation.is_pandas():
        return rank_levels(*native.factorize())
    if series.implementation.is_polars():
        if series.dtype != nw.Enum:
            import polars

            words = native.cast(polars.String)
            native = words.cast(polars.Enum(words.drop_nulls().unique(maintain_order=True)))
        (ranks,) = enumerations(native.to_frame()).values()
        return ranks
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    words = np.asarray(series.cast(nw.String).to_numpy(), dtype=object)
    codes = np.full(len(words), -1)
    levels, codes[~missing] = np.unique(words[~missing].astype(str), return_inverse=True)
    return rank_levels(codes, levels)


def arrow_ranks(column: Any) -> Ranks | None:
    """A column of Arrow by its dictionary or its words; None if it has neither."""
    pyarrow = import_module("pyarrow")
    kind = column.type
    if not (pyarrow.types.is_dictionary(kind) or kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view())):
        return None
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if not pyarrow.types.is_dictionary(kind):
        return _words_of_arrow(array)
    indices = array.indices.fill_null(-1) if array.indices.null_count else array.indices
    return rank_levels(indices.to_numpy(zero_copy_only=False), array.dictionary.to_pylist())


def enumerations(frame: Any) -> dict[str, Ranks]:
    """The enumerations of a frame of polars, by column.

    One expression converts all of them to codes, because an expression costs more than reading a short column.
    """
    polars = import_module("polars")
    types = {name: dtype for name, dtype in frame.schema.items() if isinstance(dtype, polars.Enum)}
    ranks = {}
    for codes in frame.select(polars.col(list(types)).to_physical()).get_columns():
        known = codes.cast(int).fill_null(-1) if codes.null_count() else codes
        ranks[codes.name] = rank_levels(known.to_numpy(), types[codes.name].categories.to_list())
    return ranks


def _category_words(categories: Any) -> Any:
    """Categories of pandas: strings of Arrow without its checks of every word."""
    words = categories.array
    return import_module("pyarrow").array(words).to_pylist() if type(words).__name__.startswith("ArrowString") else categories


def rank_levels(codes: NDArray[Any], levels: Iterable[Any]) -> Ranks:
    """Ranks of codes, -1 for a missing cell, among the levels that occur, sorted as text, in the smallest type."""
    words = list(map(str, levels.tolist() if hasattr(levels, "tolist") else levels))
    missing = codes < 0 if codes.dtype.kind == "i" and codes.min(initial=0) < 0 else None
    known = codes if missing is None else codes[~missing]
    counts = np.bincount(known[:HEAD], minlength=len(words)).tolist()
    if 0 in counts:
        counts = np.bincount(known, minlength=len(words)).tolist()
    if missing is None and 0 not in counts and words == sorted(set(words)):
        return Ranks(codes.astype(np.min_scalar_type(len(words) - 1)), None, np.array(words, dtype=object))
    found = [word if count else None for word, count in zip(words, counts, strict=True)]
    return _rank_words(codes, found, missing)


def _rank_words(codes: NDArray[Any], words: Sequence[str | None], missing: NDArray[np.bool_] | None) -> Ranks:
    """Ranks of words, of which some may be equal; None is none."""
    kept = sorted({word for word in words if word is not None})
    ranks = {word: rank for rank, word in enumerate(kept)}
    rank_of = np.array([0 if word is None else ranks[word] for word in words], dtype=np.min_scalar_type(max(len(kept) - 1, 0)))
    values: NDArray[Any] = rank_of.take(codes, mode="clip") if len(words) else np.zeros(len(codes))  # missing: any rank
    if missing is not None:
        values = np.where(missing, np.nan, values)
    return Ranks(values, missing, np.array(kept, dtype=object))


def _words_of_arrow(column: Any) -> Ranks:
    """A column of Arrow strings: their bytes are hashed where they lie."""
    pyarrow = import_module("pyarrow")
    array = column
    if isinstance(column, pyarrow.ChunkedArray):
        array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if array.type not in (pyarrow.string(), pyarrow.large_string()):  # views, which pyarrow 17 does not cast
        try:
            array = array.cast(pyarrow.large_string())
        except pyarrow.ArrowNotImplementedError:
            array = pyarrow.array(array.to_pylist(), pyarrow.large_string())
    if not len(array):
        return _rank_words(np.empty(0, dtype=np.int32), [], None)
    _, starts, data = array.buffers()
    start_type: Any = np.int32 if array.type == pyarrow.string() else np.int64
    starts = np.frombuffer(starts, start_type)[array.offset : array.offset + len(array) + 1]
    missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    codes = np.empty(len(array), dtype=np.int32)
    content = memoryview(b"" if data is None else data)
    text = np.frombuffer(content, np.uint8) if len(content) else np.empty(0, np.uint8)
    known = None if missing is None else (~missing).view(np.uint8)
    rows = core.distinct_words(text, starts, known, 2**31 - 2, codes)
    ends = zip(starts[rows].tolist(), starts[rows + 1].tolist(), strict=True)
    return _rank_words(codes, [str(content[start:end], "utf-8") for start, end in ends], missing)


def _few_objects(cells: NDArray[np.object_]) -> Ranks | None:
    """A column in which few string objects occur many times each; None for any other.

    Equal words of a column are mostly one object: those that a reader made, or that come from a list of levels. Only the
    addresses of the cells are hashed, and each object is looked at once.
    """
    if not len(cells) or not (isinstance(cells[0], str) or _is_missing(cells[0])):
        return None
    cells = np.ascontiguousarray(cells)
    memory: Any = (ctypes.c_uint8 * cells.nbytes).from_address(cells.ctypes.data)
    addresses = np.frombuffer(memory, np.uint8)
    starts = np.arange(0, cells.nbytes + 1, cells.itemsize)
    codes = np.empty(len(cells), dtype=np.int32)
    most = len(cells) // FEW_OBJECTS
    rows = core.distinct_words(addresses, starts, None, most, codes)
    words = cells[rows].tolist()
    found = [word if isinstance(word, str) else None for word in words]
    others = [word for word in words if not isinstance(word, str)]
    if len(rows) > most or len(others) == len(words) or not all(map(_is_missing, others)):
        return None
    absent = np.array([word is None for word in found])
    return _rank_words(codes, found, absent[codes] if absent.any() else None)


def _is_missing(value: object) -> bool:
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value)
