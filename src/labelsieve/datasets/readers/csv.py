"""Text tables: CSV and similar files."""

import contextlib
import csv
import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve.core import scan_quotes
from labelsieve.datasets.readers.column_table import Column, Table, check_names, refuse_unnamed
from labelsieve.datasets.readers.files import (
    COLUMN,
    DEFAULT_LIMIT,
    PYTHON_CELL,
    TextBudget,
    require_memory,
    require_text,
    utf8_text,
)
from labelsieve.datasets.readers.libsvm import PAD, whole_numbers
from labelsieve.datasets.readers.text_columns import MISSING, ParsedColumn, TextCells, make_table, parse_number
from labelsieve.errors import DatasetError, some_of

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


BLOCK = 2**18  # characters that are read at a time: enough to make it worth it, few enough to keep their cells out of the way
BLANK, COMMA, ZERO, NINE, QUESTION_MARK, BRACKET = b" ,09?("
EXACT = 15  # digits that every number of that length can have in float64

Lines = list[tuple[int, str]]


@dataclass(frozen=True)
class Cells:
    """Numbers of a text, how many characters each has, if those are all digits, and what stands between them."""

    values: NDArray[np.float64]
    lengths: NDArray[np.int64]
    plain: NDArray[np.bool_]
    between: NDArray[np.uint8]


def read_cells(text: str) -> Cells:
    """Numbers, or question marks for missing ones, with one comma or one blank between them.

    >>> cells = read_cells("0 1,12 0.5,?")
    >>> cells.values, cells.lengths, cells.plain
    (array([ 0. ,  1. , 12. ,  0.5,  nan]), array([1, 1, 2, 3, 1]), array([ True,  True,  True, False, False]))
    """
    padded = np.frombuffer(b"," * PAD + text.encode("ascii") + b",", np.uint8)
    raw = padded[PAD:]
    ends = np.flatnonzero((raw == COMMA) | (raw == BLANK))
    lengths = np.diff(ends, prepend=-1) - 1
    if not lengths.all():
        raise ValueError("something is missing")
    others = np.cumsum((raw < ZERO) | (raw > NINE), dtype=np.int32)[ends]  # up to each end; one of them is the end itself
    plain = (np.diff(others, prepend=0) == 1) & (lengths <= EXACT)
    values = np.full(len(ends), np.nan)
    values[plain] = whole_numbers(padded, ends[plain] + PAD, lengths[plain])
    rest = ~plain
    rest[rest] = (lengths[rest] > 1) | (raw[ends[rest] - 1] != QUESTION_MARK)
    if rest.any():
        values[rest] = _any_numbers(raw[np.repeat(rest, lengths + 1)], int(np.count_nonzero(rest)))
    return Cells(values, lengths, plain, raw[ends[:-1]])


def _any_numbers(raw: NDArray[np.uint8], count: int) -> NDArray[np.float64]:
    """Numbers of any form, each with its end, as ``float`` reads them."""
    if (raw == BRACKET).any():  # numpy takes nan(1) for a number
        raise ValueError("brackets")
    raw[raw == BLANK] = COMMA
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # what numpy says of text that is no number
        try:
            values = np.fromstring(raw[:-1].tobytes(), np.float64, sep=",")
        except DeprecationWarning as error:
            raise ValueError(str(error)) from None
    if len(values) != count:
        raise ValueError("something is not a number")
    return values


def blocks(lines: Iterator[tuple[int, str]]) -> Iterator[Lines]:
    """Numbered lines, as many at a time as have about ``BLOCK`` characters together."""
    block: Lines = []
    size = 0
    for line in lines:
        block.append(line)
        size += len(line[1]) + 1
        if size >= BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block


class NumberRows:
    """Reads rows of numbers with these columns; nominal ones must have whole numbers as their values.

    >>> rows = NumberRows([Column("tempo"), Column("calm", ("0", "1"))])
    >>> rows.dense(["98.5,1", "?,0"])
    array([[98.5,  1. ],
           [ nan,  0. ]])
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        kinds: dict[tuple[str, ...], int] = {}  # the different lists of nominal values; most files have one
        for column in columns:
            if column.values is not None:
                kinds.setdefault(column.values, len(kinds))
        self.kinds = list(kinds)
        self.kind_of = np.array([-1 if column.values is None else kinds[column.values] for column in columns])
        self.nominal = self.kind_of >= 0
        self.has_texts = any(column.texts is not None for column in columns)

    def dense(self, rows: Sequence[str]) -> NDArray[np.float64]:
        """Rows with commas between their cells."""
        width = len(self.nominal)
        if self.has_texts:
            raise ValueError("texts may look like numbers")
        if any(row.count(",") != width - 1 for row in rows):
            raise ValueError("a row has another length")
        cells = read_cells(",".join(rows))
        if (cells.between == BLANK).any():
            raise ValueError("blanks within a row")
        if self.nominal.any():
            where = np.flatnonzero(np.tile(self.nominal, len(rows)))
            cells.values[where] = self._codes(cells, where, where % width)
        return cells.values.reshape(len(rows), width)

    def sparse(self, rows: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Rows ``{index value,index value}``: how many pairs each has, the indices, and the values."""
        if not all(row[0] == "{" and row[-1] == "}" for row in rows):
            raise ValueError("a row without braces")
        inner = [row[1:-1].replace(", ", ",") for row in rows]
        pairs = np.array([row.count(",") + 1 if row else 0 for row in inner], np.int64)
        total = int(pairs.sum())
        if not total:
            return pairs, np.zeros(0, np.int32), np.zeros(0)
        cells = read_cells(",".join(filter(None, inner)))
        indices = cells.values[0::2]
        if len(cells.values) != 2 * total or not cells.plain[0::2].all() or indices.max() >= len(self.nominal):
            raise ValueError("some pair is none")
        if not ((cells.between[0::2] == BLANK).all() and (cells.between[1::2] == COMMA).all()):
            raise ValueError("some pair is none")
        positions = indices.astype(np.int32)
        last = np.cumsum(pairs)
        rising = np.diff(positions) > 0
        rising[last[(last > 0) & (last < total)] - 1] = True  # from one row to the next it may fall
        if not rising.all():
            raise ValueError("indices do not rise")
        nominal = np.flatnonzero(self.nominal[positions])
        if len(nominal):
            cells.values[2 * nominal + 1] = self._codes(cells, 2 * nominal + 1, positions[nominal])
        return pairs, positions, cells.values[1::2].copy()

    def _codes(self, cells: Cells, where: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.float64]:
        """Codes of the cells of nominal columns: a cell must be written as its declared value is."""
        values, lengths, kind_of = cells.values[where], cells.lengths[where], self.kind_of[columns]
        if not cells.plain[where].all():
            raise ValueError("a nominal value is no whole number")
        codes = np.empty(len(values))
        for kind in np.unique(kind_of):
            of_kind = slice(None) if len(self.kinds) == 1 else kind_of == kind
            known, spelled = _whole_values(self.kinds[kind])
            order = np.argsort(known)
            found = order[np.minimum(np.searchsorted(known, values[of_kind], sorter=order), len(known) - 1)]
            if (known[found] != values[of_kind]).any() or (spelled[found] != lengths[of_kind]).any():
                raise ValueError("a nominal value is not declared")
            codes[of_kind] = found
        return codes


def _whole_values(declared: tuple[str, ...]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Declared values as numbers, and how many digits each has."""
    if not all(value.isascii() and value.isdigit() and str(int(value[:EXACT])) == value for value in declared):
        raise ValueError("a nominal value is a name")
    return np.array([float(value) for value in declared]), np.array([len(value) for value in declared])


Engine = Callable[[CsvRows], list[ParsedColumn] | None]
# In order of preference. Results are the same with each and with none; only the time differs.
ENGINES: dict[str, Engine] = {"pyarrow": parse_with_pyarrow, "pandas": parse_with_pandas, "polars": parse_with_polars}
DELIMITERS = ",;\t|"
SAMPLE = 2**16  # bytes that are looked at to find the delimiter
# Engines have a cost for every column: wide tables of few rows are parsed faster by numpy, if they are all numbers.
WIDE, FEW_ROWS = 2_000, 1_000
_NOT_BLANK = re.compile(rb"[^\n]")
_CODE = re.compile(rb'(?:^|[,;\t|\n"])0\d{3}')  # digits with a leading zero, such as a zip code


def parse_csv(data: bytes, file: Path, max_bytes: int = DEFAULT_LIMIT) -> Table:
    r"""Read a header row and rows of cells, by the rule of :mod:`labelsieve.datasets.readers.text_columns`.

    The delimiter is found by :func:`find_delimiter`; where it is not the comma, commas may be decimal marks. pyarrow, pandas
    or polars parses the rows, whichever is installed; what they do not agree about, such as rows of different lengths, stray
    quotes and hexadecimal numbers, is left to the module ``csv``, which also says which line is wrong.

    >>> parse_csv(b"tempo,mood\n98,calm\n,happy\n", Path("a.csv")).cells
    array([[98.,  0.],
           [nan,  1.]])
    """
    text = utf8_text(data, file)
    end = text.find(b"\n")
    first_line = text if end < 0 else text[:end]
    n_columns = max(first_line.count(mark.encode()) for mark in DELIMITERS) + 1
    require_memory(COLUMN * n_columns, f"a table of {n_columns:,} columns", file, max_bytes)
    delimiter = find_delimiter(text)
    require_text(text, f"{delimiter}\n".encode(), file, max_bytes)
    names, start = _read_header(text, delimiter, file)
    if not _NOT_BLANK.search(text, start):
        raise DatasetError("there are no rows under the header.", "Is the file complete?", file)
    table = _parse_rows(CsvRows(text, start, delimiter, len(names), TextBudget(file, max_bytes)), names, file, max_bytes)
    codes = _code_note(text[start : start + SAMPLE], delimiter, [column.values is None for column in table.columns], names)
    return replace(table, notes=(*_header_notes(names), *table.notes, *codes))


def _parse_rows(rows: CsvRows, names: list[str], file: Path, max_bytes: int) -> Table:
    text, delimiter = rows.text, rows.delimiter
    engine = next((engine for package, engine in ENGINES.items() if find_spec(package) is not None), None)
    if len(names) >= WIDE and text.count(b"\n", rows.start) <= FEW_ROWS and b'"' not in text:
        with contextlib.suppress(ValueError):  # it holds other things than numbers
            return _parse_numbers(rows, names, file)
    if engine is not None and rows.is_regular:
        parsed = engine(rows)
        if parsed is not None and len(parsed) == len(names):
            return make_table(names, parsed, file, signed_zeros=False, decimal_comma=delimiter != ",")
    require_text(text, f"{delimiter}\n".encode(), file, max_bytes, cell=PYTHON_CELL, copies=5)
    return parse_without_engine(rows, names, file)


def _code_note(start: bytes, delimiter: str, numeric: Sequence[bool], names: Sequence[str]) -> list[str]:
    r"""What a user should know about columns of digits with leading zeros, which are read as numbers.

    >>> _code_note(b"02134,1\n10001,2\n", ",", [True, True], ["zip", "n"])[0][:59]
    "digits with leading zeros, such as '02134', are read as num"
    """
    if not _CODE.search(start):
        return []
    found: dict[str, str] = {}
    for row in csv.reader(start.decode("utf-8", errors="replace").splitlines(), delimiter=delimiter):
        for cell, is_number, name in zip(row, numeric, names, strict=False):
            if is_number and len(cell) > 3 and cell[0] == "0" and cell.isdigit():
                found.setdefault(name, cell)
    if not found:
        return []
    name, cell = next(iter(found.items()))
    return [
        f"digits with leading zeros, such as {cell!r}, are read as numbers: {some_of(list(found), 4)}. If they are "
        f"codes, count each as a level: discretizer={{{name!r}: 'levels'}} (--discretizer-of {name}=levels)."
    ]


def find_delimiter(text: bytes) -> str:
    r"""The mark among comma, semicolon, tab and bar that splits the first rows into as many cells as the header.

    Of several, the one with the most cells; the comma where none splits the header.

    >>> find_delimiter(b"x (a,b);y (c,d,e);z\n1,5;2;3\n"), find_delimiter(b'"a;b;c",d\n1,2\n')
    (';', ',')
    """
    end = text.find(b"\n", text.find(b"\n") + 1)
    start = text[: max(end, SAMPLE)].decode("utf-8", errors="replace")
    if len(text) > len(start):
        start = start[: start.rfind("\n") + 1] or start  # whole lines
    best, score = DELIMITERS[0], (0.0, 1)
    for mark in DELIMITERS:
        if mark not in start:
            continue
        header, *rows = [len(row) for row in islice(csv.reader(start.splitlines(), delimiter=mark), 50) if row]
        share = sum(row == header for row in rows) / len(rows) if rows else 0.0
        if header > 1 and (share, header) > score:
            best, score = mark, (share, header)
    return best


def _read_header(text: bytes, delimiter: str, file: Path) -> tuple[list[str], int]:
    """Names of the columns, and the position where the first row starts."""
    lines = io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise DatasetError(f"it cannot be read as CSV ({error}).", file=file, line=1) from error
    if not any(names):
        raise DatasetError("the first line is empty.", "It must name the columns.", file, 1)
    refuse_unnamed(names, "Name it, or leave it out (pandas: index=False).", file)
    check_names([Column(name) for name in names], file)
    start = 0
    for _ in range(reader.line_num):
        start = text.find(b"\n", start) + 1 or len(text)
    return names, start


def parse_without_engine(rows: CsvRows, names: list[str], file: Path) -> Table:
    """The reference that the engines agree with: numbers by numpy, everything else by the module ``csv``."""
    if b'"' not in rows.text:
        with contextlib.suppress(ValueError):  # it holds other things than numbers
            return _parse_numbers(rows, names, file)
    lines = io.TextIOWrapper(io.BytesIO(rows.text), encoding="utf-8", newline="")
    reader = csv.reader(lines, delimiter=rows.delimiter, strict=True)
    table = []
    try:
        next(reader)
        for row in filter(None, reader):
            if len(row) != len(names):
                raise _wrong_length(len(row), names, file, reader.line_num)
            table.append(row)
    except csv.Error as error:
        raise DatasetError(f"it cannot be read as CSV ({error}).", file=file, line=reader.line_num) from error
    columns = []
    for column in zip(*table, strict=True):
        columns.append(TextCells.of(column))
        if rows.texts is not None:
            rows.texts.add(len(columns[-1].texts))
    return make_table(names, columns, file, signed_zeros=False, decimal_comma=rows.delimiter != ",")


def _wrong_length(n_values: int, names: list[str], file: Path, line: int) -> DatasetError:
    above = f"The first line must name the columns; if {names[0]!r} is a comment or a title, remove it."
    remedy = above if n_values > len(names) == 1 else ""
    return DatasetError(f"there are {n_values} values and {len(names)} columns.", remedy, file, line)


def _header_notes(names: list[str]) -> tuple[str, ...]:
    """A note about a header of numbers, which may be the first row of the table; none for 0, 1, 2, ..."""
    try:
        numbers = [parse_number(name) for name in names]
    except ValueError:
        return ()
    if all(number >= 0 and number.is_integer() for number in numbers if np.isfinite(number)):  # years, or a frame without names
        return ()
    shown = some_of(names, 3)
    return (f"the first line names the columns, and all names are numbers: {shown}. If it is data, add a line with names.",)


def _parse_numbers(rows: CsvRows, names: list[str], file: Path) -> Table:
    """Numbers without quotes or empty cells."""
    body, delimiter = rows.text[rows.start :].decode("utf-8"), rows.delimiter
    if delimiter != "," and "," in body:
        raise ValueError
    columns = tuple(map(Column, names))
    lines = ((0, line.replace(delimiter, ",")) for line in body.split("\n") if line)
    numbers = NumberRows(columns)
    cells = np.vstack([numbers.dense([row for _, row in block]) for block in blocks(lines)])
    return Table(file, columns, cells + 0.0)
