"""Rows of CSV parsed by pyarrow, pandas or polars.

Each function takes text in UTF-8, the position of the first row, the delimiter and the number of columns. It returns the
columns, as float64 where the library took them for numbers and as text otherwise, so that one rule decides what text means.
It returns None for text that the library refuses or reads in its own way.
"""

import io
import re
import warnings
from importlib import import_module
from typing import Any

import numpy as np

from labelsieve.datasets.readers.text_columns import MISSING, ParsedColumn, TextCells

BLOCK_SIZE = 2**22  # bytes for one task of pyarrow: with the default of 1 MiB, wide tables take a quarter longer
_BLANK_LINE = re.compile(rb"(?:\A|\n)[ \t]*(?:\n|\Z)")


def parse_with_pyarrow(text: bytes, start: int, delimiter: str, n_columns: int) -> list[ParsedColumn] | None:
    """Columns by ``pyarrow.csv``; dates and times are read a second time, as text."""
    pyarrow, csv = import_module("pyarrow"), import_module("pyarrow.csv")
    names = [str(position) for position in range(n_columns)]
    has_newlines = b'"' in text and _has_quoted_newlines(text)  # pyarrow takes a quarter longer to find rows then

    def read(**options: Any) -> Any:
        return csv.read_csv(
            pyarrow.BufferReader(pyarrow.py_buffer(text).slice(start)),
            read_options=csv.ReadOptions(column_names=names, block_size=BLOCK_SIZE),
            parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=has_newlines),
            convert_options=csv.ConvertOptions(null_values=sorted(MISSING), true_values=[], false_values=[], **options),
        )

    try:
        table = read()
        times = [name for name, kind in zip(names, table.schema.types, strict=True) if pyarrow.types.is_temporal(kind)]
        if times:
            again = read(include_columns=times, column_types=dict.fromkeys(times, pyarrow.string()))
            for name in times:
                table = table.set_column(int(name), name, again[name])
    except pyarrow.ArrowException:
        return None
    return [arrow_column(pyarrow, column) for column in table.columns]


def _has_quoted_newlines(text: bytes) -> bool:
    """Whether a line end lies within quotes: behind an odd number of them."""
    letters = np.frombuffer(text, np.uint8)
    quotes, ends = np.flatnonzero(letters == ord('"')), np.flatnonzero(letters == ord("\n"))
    return bool((np.searchsorted(quotes, ends) % 2).any())


def arrow_column(pyarrow: Any, column: Any) -> ParsedColumn:
    """A column of pyarrow: numbers and booleans as float64, anything else by its distinct values as text."""
    kind = column.type
    if pyarrow.types.is_boolean(kind):
        column, kind = column.cast(pyarrow.int8()), pyarrow.int8()
    if pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind):
        return np.asarray(column.to_numpy(), dtype=np.float64)
    if pyarrow.types.is_null(kind):
        return np.full(len(column), np.nan)
    encoded = column if pyarrow.types.is_dictionary(kind) else column.dictionary_encode()
    encoded = encoded.unify_dictionaries()
    texts = ["" if value is None else str(value) for value in encoded.chunk(0).dictionary.to_pylist()]
    index = [chunk.indices.cast(pyarrow.int64()).fill_null(-1).to_numpy(zero_copy_only=False) for chunk in encoded.chunks]
    return TextCells(texts, np.concatenate(index))


def parse_with_pandas(text: bytes, start: int, delimiter: str, n_columns: int) -> list[ParsedColumn] | None:
    """Columns by ``pandas.read_csv``; what it takes for neither numbers nor text is read a second time, as text."""
    pandas = import_module("pandas")
    version = tuple(map(int, pandas.__version__.split(".")[:2]))
    # The default of older versions is wrong in the last bit.
    exact: dict[str, Any] = {"float_precision": "round_trip"} if version < (3, 1) else {}

    def read(**options: Any) -> Any:
        source = io.BytesIO(text)
        source.seek(start)
        return pandas.read_csv(
            source,
            sep=delimiter,
            header=None,
            names=range(n_columns),
            index_col=False,
            na_values=sorted(MISSING),
            keep_default_na=False,
            low_memory=False,
            **exact,
            **options,
        )

    def is_number_or_text(column: Any) -> bool:
        return column.dtype.kind in "iuf" or pandas.api.types.infer_dtype(column, skipna=True) == "string"

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)  # rows longer than the header would lose their ends
            frame = read()
            others = [name for name in frame.columns if not is_number_or_text(frame[name])]
            again = read(usecols=others, dtype=str) if others else frame
    except (ValueError, OverflowError, pandas.errors.ParserError, pandas.errors.ParserWarning):
        return None
    if not _all_cells(text, start, delimiter, n_columns, len(frame)):
        return None
    columns: list[ParsedColumn] = []
    for name in frame.columns:
        column = again[name] if name in others else frame[name]
        if column.dtype.kind in "iuf":
            columns.append(column.to_numpy(np.float64))
        else:
            index, texts = pandas.factorize(column)
            columns.append(TextCells([str(value) for value in texts], index))
    return columns


def parse_with_polars(text: bytes, start: int, delimiter: str, n_columns: int) -> list[ParsedColumn] | None:
    """Columns by ``polars.read_csv``; what it takes for neither numbers nor text is read a second time, as text."""
    polars = import_module("polars")

    def read(**options: Any) -> Any:
        return polars.read_csv(
            text[start:],
            separator=delimiter,
            has_header=False,
            null_values=sorted(MISSING),
            infer_schema_length=None,
            **options,
        )

    try:
        frame = read()
        others = [name for name, kind in frame.schema.items() if not (kind.is_numeric() or kind == polars.String)]
        if others:
            frame = read(schema_overrides=dict.fromkeys(others, polars.String))
    except (polars.exceptions.PolarsError, OverflowError):
        return None
    if frame.width != n_columns or not _all_cells(text, start, delimiter, n_columns, frame.height):
        return None
    return [polars_column(polars, column) for column in frame.get_columns()]


def polars_column(polars: Any, column: Any) -> ParsedColumn:
    """A column of polars: numbers and booleans as float64, anything else by its distinct values as text."""
    if column.dtype.is_numeric() or column.dtype == polars.Boolean:
        return np.asarray(column.cast(polars.Float64).fill_null(np.nan).to_numpy(), dtype=np.float64)
    distinct = column.unique(maintain_order=True).drop_nulls()
    index = column.replace_strict(distinct, range(len(distinct)), default=-1, return_dtype=polars.Int64).to_numpy()
    return TextCells([str(value) for value in distinct.to_list()], index)


def _all_cells(text: bytes, start: int, delimiter: str, n_columns: int, n_rows: int) -> bool:
    """Whether every row has a cell for every column: pandas and polars fill short rows, and see blank lines differently."""
    body = text[start:]
    if _BLANK_LINE.search(body.removesuffix(b"\n")):
        return False
    if b'"' in body:
        body = re.sub(rb'"[^"]*+"', b"", body)
    mark = delimiter.encode()
    if body.endswith(mark) or mark + b"\n" in body:  # pandas takes empty cells at the end of a long row for none
        return all(line.count(mark) == n_columns - 1 for line in body.removesuffix(b"\n").split(b"\n"))
    return body.count(mark) == n_rows * (n_columns - 1)
