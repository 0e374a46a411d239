"""Rows of CSV parsed by pyarrow, pandas or polars.

Each function returns the columns, as float64 where the library took them for numbers and as text otherwise, so that one rule
decides what text means. It returns None for text that the library refuses or reads in its own way.
"""

import io
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from labelsieve.core import scan_quotes
from labelsieve.datasets.readers.memory_budget import TextBudget
from labelsieve.datasets.readers.text_columns import MISSING, ParsedColumn, TextCells

BLOCK_SIZE = 2**22  # bytes for one task of pyarrow: with the default of 1 MiB, wide tables take a quarter longer ...
COLUMN_SIZE = 2**10  # ... and bytes for each of its columns: with fewer, 50,000 columns take three times as long
FEW_TEXTS = 256  # different texts of a column that pyarrow encodes while it parses
_BLANK_LINE = re.compile(rb"(?:\A|\n)[ \t]*(?:\n|\Z)")


class Quotes(NamedTuple):
    """Whether quotes open only where a cell starts and close only where it ends, and whether they enclose line ends."""

    enclose_cells: bool = True
    enclose_newlines: bool = False


def read_quotes(text: bytes, delimiter: str) -> Quotes:
    r"""Look at the quotes of a text. Two quotes within a cell stand for one.

    >>> read_quotes(b'a,"b\nc"\n', ","), read_quotes(b'a"b",c\n', ",").enclose_cells
    (Quotes(enclose_cells=True, enclose_newlines=True), False)
    """
    return Quotes(*scan_quotes(text, ord(delimiter)))


@dataclass(frozen=True, eq=False)
class CsvRows:
    """CSV in UTF-8: the whole text, the position of the first row, the delimiter, the number of columns, the limit of texts."""

    text: bytes
    start: int
    delimiter: str
    n_columns: int
    texts: TextBudget | None = None

    @cached_property
    def quotes(self) -> Quotes:
        return read_quotes(self.text, self.delimiter)

    @property
    def is_regular(self) -> bool:
        """Whether all libraries parse the text in the same way: quotes only around whole cells, no hexadecimal numbers."""
        if any(self.text.find(mark, self.start) >= 0 and b"0" + mark in self.text for mark in (b"x", b"X")):
            return False
        return self.quotes.enclose_cells

    def all_cells(self, n_rows: int) -> bool:
        """Whether every row has a cell for every column: pandas and polars fill short rows, and see blank lines differently."""
        body = self.text[self.start :].removesuffix(b"\n")
        if _BLANK_LINE.search(body):
            return False
        if b'"' in body:
            body = re.sub(rb'"[^"]*+"', b"", body)
        mark = self.delimiter.encode()
        others = bytes(set(range(256)) - set(mark + b"\n"))
        # Line by line: pandas takes missing cells at the end of a long row for none, and a short row evens the total.
        return body.translate(None, others) == b"\n".join([mark * (self.n_columns - 1)] * n_rows)


def parse_with_pyarrow(rows: CsvRows) -> list[ParsedColumn] | None:
    """Columns by ``pyarrow.csv``; dates and times are read a second time, as text."""
    pyarrow, csv = import_module("pyarrow"), import_module("pyarrow.csv")
    names = [str(position) for position in range(rows.n_columns)]
    has_newlines = rows.quotes.enclose_newlines  # pyarrow takes a quarter longer to find rows then
    block_size = max(BLOCK_SIZE, COLUMN_SIZE * rows.n_columns)  # threads would have nothing to share of a single block

    def read(texts: Sequence[str] = ()) -> Any:
        return csv.read_csv(
            pyarrow.BufferReader(pyarrow.py_buffer(rows.text).slice(rows.start)),
            read_options=csv.ReadOptions(column_names=names, block_size=block_size, use_threads=len(rows.text) > block_size),
            parse_options=csv.ParseOptions(delimiter=rows.delimiter, newlines_in_values=has_newlines),
            convert_options=csv.ConvertOptions(
                check_utf8=False,  # it is UTF-8
                auto_dict_encode=True,  # one pass less over text of few values
                auto_dict_max_cardinality=FEW_TEXTS,
                null_values=sorted(MISSING),
                true_values=[],
                false_values=[],
                include_columns=texts,
                column_types=dict.fromkeys(texts, pyarrow.string()),
            ),
        )

    try:
        table = read()
        times = [name for name, kind in zip(names, table.schema.types, strict=True) if pyarrow.types.is_temporal(kind)]
        if times:
            again = read(times)
            for name in times:
                table = table.set_column(int(name), name, again[name])
    except pyarrow.ArrowException:
        return None
    return [arrow_column(pyarrow, column, rows.texts) for column in table.columns]


def arrow_column(pyarrow: ModuleType, column: Any, budget: TextBudget | None = None) -> ParsedColumn:
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
    if budget is not None:
        budget.add(len(encoded.chunk(0).dictionary))
    texts = ["" if value is None else str(value) for value in encoded.chunk(0).dictionary.to_pylist()]
    indices = (chunk.indices.cast(pyarrow.int32()) for chunk in encoded.chunks)
    return TextCells(
        texts, np.concatenate([(codes.fill_null(-1) if codes.null_count else codes).to_numpy() for codes in indices])
    )


def parse_with_pandas(rows: CsvRows) -> list[ParsedColumn] | None:
    """Columns by ``pandas.read_csv``; what it takes for neither numbers nor text is read a second time, as text."""
    pandas = import_module("pandas")
    version = tuple(map(int, pandas.__version__.split(".")[:2]))

    def read(texts: Sequence[int] | None = None) -> Any:
        source = io.BytesIO(rows.text)
        source.seek(rows.start)
        return pandas.read_csv(
            source,
            sep=rows.delimiter,
            header=None,
            names=range(rows.n_columns),
            index_col=False,
            usecols=texts,
            dtype=None if texts is None else str,
            na_values=sorted(MISSING),
            keep_default_na=False,
            low_memory=False,
            # The default of older versions is wrong in the last bit.
            float_precision="round_trip" if version < (3, 1) else None,
        )

    def is_number_or_text(column: Any) -> bool:
        return column.dtype.kind in "iuf" or pandas.api.types.infer_dtype(column, skipna=True) == "string"

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)  # rows longer than the header would lose their ends
            frame = read()
            others = [name for name in frame.columns if not is_number_or_text(frame[name])]
            again = read(others) if others else frame
    except (ValueError, OverflowError, pandas.errors.ParserError, pandas.errors.ParserWarning):
        return None
    if not rows.all_cells(len(frame)):
        return None
    columns: list[ParsedColumn] = []
    for name in frame.columns:
        column = again[name] if name in others else frame[name]
        if column.dtype.kind in "iuf":
            columns.append(column.to_numpy(np.float64))
        else:
            index, texts = pandas.factorize(column)
            if rows.texts is not None:
                rows.texts.add(len(texts))
            columns.append(TextCells([str(value) for value in texts], index))
    return columns


def parse_with_polars(rows: CsvRows) -> list[ParsedColumn] | None:
    """Columns by ``polars.read_csv``; what it takes for neither numbers nor text is read a second time, as text."""
    polars = import_module("polars")

    def read(texts: Sequence[str] = ()) -> Any:
        return polars.read_csv(
            rows.text[rows.start :],
            separator=rows.delimiter,
            has_header=False,
            null_values=sorted(MISSING),
            infer_schema_length=None,
            schema_overrides=dict.fromkeys(texts, polars.String),
        )

    try:
        frame = read()
        others = [name for name, kind in frame.schema.items() if not (kind.is_numeric() or kind == polars.String)]
        frame = read(others) if others else frame
    except (polars.exceptions.PolarsError, OverflowError):
        return None
    if frame.width != rows.n_columns or not rows.all_cells(frame.height):
        return None
    return [polars_column(polars, column, rows.texts) for column in frame.get_columns()]


def polars_column(polars: ModuleType, column: Any, budget: TextBudget | None = None) -> ParsedColumn:
    """A column of polars: numbers and booleans as float64, anything else by its distinct values as text."""
    if column.dtype.is_numeric() or column.dtype == polars.Boolean:
        return np.asarray(column.cast(polars.Float64).fill_null(np.nan).to_numpy(), dtype=np.float64)
    distinct = column.unique(maintain_order=True).drop_nulls()
    if budget is not None:
        budget.add(len(distinct))
    index = column.replace_strict(distinct, range(len(distinct)), default=-1, return_dtype=polars.Int64).to_numpy()
    return TextCells([str(value) for value in distinct.to_list()], index)
