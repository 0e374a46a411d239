"""Columns of a file: tables of text become numbers, dates, levels or label sets."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.readers.files import TextBudget
from labelsieve.errors import DatasetError, some_of
from labelsieve.tables.frames import EXACT, merged_as_floats
from labelsieve.tables.mistakes import is_second_header
from labelsieve.tables.text import (
    EXCHANGED,
    MISSING,
    are_undecided_dates,
    decimal_mark,
    is_placeholder,
    read_dates,
    read_formatted_numbers,
)

# Each column gets a name, so one damaged number could fill the memory: beyond this, a file must have a byte for each.
FREE_COLUMNS = 2**18
BLOCK_CELLS = 2**16
SHOWN = 4  # names of columns in a message


@dataclass(frozen=True)
class Column:
    """The name of a column and, if it is nominal, its values.

    ``spelled`` are the cells of a numeric column whose text is more than its numbers, such as ``1,3``. The values of ``lists``
    are lists of labels in JSON.
    """

    name: str
    values: tuple[str, ...] | None = None
    spelled: "TextCells | None" = field(default=None, compare=False)
    lists: bool = False

    @cached_property
    def codes(self) -> dict[str, float]:
        """The position of each value, as it is stored in a cell."""
        return {value: float(code) for code, value in enumerate(self.values or ())}


@dataclass(frozen=True, eq=False)
class SeparateCells:
    """Cells as one array per column, so that features and labels are assembled without a copy of the whole table."""

    arrays: Sequence[NDArray[np.float64]]
    signed_zeros: bool = True

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.arrays[0]), len(self.arrays)

    def take(self, columns: Sequence[int]) -> NDArray[np.float64]:
        """Return some columns as an array in C order, written in blocks of rows that fit into a processor's cache.

        Without ``signed_zeros``, -0.0 becomes 0.0: parsers of text may lose the sign.
        """
        cells = np.empty((self.shape[0], len(columns)))
        step = max(256, BLOCK_CELLS // len(columns))
        for start in range(0, len(cells), step):
            block = cells[start : start + step]
            for position, column in enumerate(columns):
                block[:, position] = self.arrays[column][start : start + step]
            if not self.signed_zeros:
                block += 0.0
        return cells


@dataclass(frozen=True, eq=False)
class AdjacentCells:
    """Cells as sparse blocks of columns, one of features and one of labels, which are taken without a copy."""

    blocks: tuple[Any, ...]

    @property
    def shape(self) -> tuple[int, int]:
        return self.blocks[0].shape[0], sum(block.shape[1] for block in self.blocks)

    def take(self, columns: Sequence[int]) -> Any:
        """Return some columns as a csr_array."""
        first = 0
        for block in self.blocks:
            if len(columns) == block.shape[1] and list(columns) == list(range(first, first + block.shape[1])):
                return block
            first += block.shape[1]
        joined = sparse.hstack(self.blocks, format="csr")
        return joined if list(columns) == list(range(first)) else sparse.csr_array(joined[:, list(columns)])


@dataclass(frozen=True, eq=False)
class Table:
    """All columns of a file, before they are split into features and labels.

    ``content`` are cells in float64: an ndarray, a csr_array, separate columns or adjacent blocks. Nominal cells are codes,
    missing ones NaN. ``n_labels`` is for formats that declare how many columns at the end are labels. ``notes`` are decisions
    of the reader that a user should know.
    """

    file: Path
    columns: tuple[Column, ...]
    content: Any
    relation: str = ""
    description: str = ""
    n_labels: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def cells(self) -> Any:
        """All cells as an ndarray or a csr_array."""
        separate = isinstance(self.content, SeparateCells | AdjacentCells)
        return self.take(range(len(self.columns))) if separate else self.content

    def take(self, columns: Sequence[int]) -> Any:
        """Return some columns, sparse where the cells are."""
        if isinstance(self.content, SeparateCells | AdjacentCells):
            return self.content.take(columns)
        first, last = columns[0], columns[-1]
        if list(columns) == list(range(first, last + 1)):  # many times faster than a list of columns when sparse
            return self.content[:, first : last + 1].copy()
        taken = self.content[:, list(columns)]
        return sparse.csr_array(taken) if sparse.issparse(taken) else np.ascontiguousarray(taken)


def join(tables: Sequence[Table]) -> Table:
    """Join the rows of several tables with the same columns."""
    first = tables[0]
    for other in tables[1:]:
        if len(other.columns) != len(first.columns):
            raise DatasetError(
                f"it has {len(other.columns)} columns and {first.file.name} has {len(first.columns)}.",
                "Join only parts of one data set.",
                other.file,
            )
        for position, (column, expected) in enumerate(zip(other.columns, first.columns, strict=True), 1):
            if column != expected:
                ours = "declared otherwise" if column.name == expected.name else f"named {expected.name!r}"
                raise DatasetError(
                    f"column {position}, {column.name!r}, is {ours} in {first.file.name}.",
                    "Join only parts of one data set.",
                    other.file,
                )
    if len(tables) == 1:
        return first
    if all(isinstance(table.content, AdjacentCells) for table in tables):
        sides = zip(*(table.content.blocks for table in tables), strict=True)
        return replace(first, content=AdjacentCells(tuple(sparse.vstack(side, format="csr") for side in sides)))
    cells = [table.cells for table in tables]
    stacked = sparse.vstack(cells, format="csr") if any(map(sparse.issparse, cells)) else np.vstack(cells)
    notes = tuple(dict.fromkeys(note for table in tables for note in table.notes))
    columns = tuple(replace(column, spelled=None) for column in first.columns)
    return replace(first, columns=columns, content=stacked, notes=notes)


def refuse_unnamed(names: Sequence[str], remedy: str, file: Path) -> None:
    """Refuse a first row that does not name every column but the first; one with a single cell is likely to be a title."""
    if all(names) or (len(names) > 1 and all(names[1:])):
        return
    if sum(map(bool, names)) == 1 and names[0]:
        remedy = f"The first row must name the columns; if {names[0]!r} is a title, remove it and empty rows under it."
    raise DatasetError(f"column {names.index('') + 1} has no name.", remedy, file, 1)


def check_names(columns: Sequence[Column], file: Path) -> None:
    """Refuse two columns of one name."""
    first: dict[str, int] = {}
    twice = []
    for position, column in enumerate(columns, 1):
        if first.setdefault(column.name, position) != position:
            twice.append(f"{column.name!r} (columns {first[column.name]} and {position})")
    if twice:
        more = f", ... ({len(twice)})" if len(twice) > SHOWN else ""
        raise DatasetError(
            f"two columns have the same name: {', '.join(twice[:SHOWN])}{more}.",
            "Rename one of them; is the first row of a table its header? Join a header of two rows to one.",
            file,
        )


def check_width(n_columns: int, n_bytes: int, file: Path) -> None:
    """Refuse more columns than a file of ``n_bytes`` can be about."""
    most = max(FREE_COLUMNS, n_bytes)
    if n_columns > most:
        raise DatasetError(
            f"it asks for {n_columns:,} columns, and {most:,} is the most for a file of {n_bytes:,} bytes.",
            "Is a number in it damaged?",
            file,
        )


Kind = Literal["number", "decimal comma", "formatted", "date", "undecided date", "mixed", "code", "exact", "nominal"]
SPELLED = ("decimal comma", "formatted")  # numeric columns whose cells may be sets of labels: 1,3
LOOKED_AT = 1_000  # texts of a nominal column that are tried as numbers
MANY_TEXTS = 20  # of a nominal column: more of them, mostly numbers, are reported
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_CODE = re.compile(r"0\d{3,}", re.ASCII)  # digits that name something, such as a zip code; 07 may be a month


@dataclass(frozen=True, eq=False)
class TextCells:
    """A column of text: its distinct texts, and the index among them of every cell, -1 where the cell is missing.

    ``declared`` are the values of a nominal column, in order, where the file declares them. The texts of ``lists`` are lists of
    labels in JSON.
    """

    texts: Sequence[str]
    index: NDArray[Any]
    lists: bool = False

    @classmethod
    def of(cls, cells: Sequence[str]) -> "TextCells":
        """Find the distinct texts of cells.

        >>> TextCells.of(["b", "a", "b"]).index
        array([0, 1, 0])
        """
        known: dict[str, int] = {}
        index = np.fromiter((known.setdefault(cell, len(known)) for cell in cells), np.int64, count=len(cells))
        return cls(list(known), index)


ParsedColumn = NDArray[np.float64] | TextCells


def make_table(
    names: Sequence[str],
    parsed: Sequence[ParsedColumn],
    file: Path,
    *,
    signed_zeros: bool = True,
    decimal_comma: bool = False,
) -> Table:
    """Make a table of columns: text by :func:`text_column`, numbers as they are, NaN where they are missing.

    ``signed_zeros=False`` makes -0.0 to 0.0, for a format in which parsers may lose the sign. ``decimal_comma=True`` takes 1,5
    for a number, unless some column has decimal points.
    """
    if decimal_comma and any(isinstance(column, TextCells) for column in parsed):
        decimal_comma = not any(has_fractions(column) for column in parsed if not isinstance(column, TextCells))
    columns, arrays, read = [], [], []
    for name, column in zip(names, parsed, strict=True):
        if isinstance(column, TextCells):
            read.append(text_column(name, column, decimal_comma=decimal_comma))
            columns.append(read[-1].column)
            arrays.append(read[-1].cells)
        else:
            columns.append(Column(name))
            arrays.append(column)
    check_names(columns, file)
    cells, notes = SeparateCells(arrays, signed_zeros), tuple(_notes(read))
    return Table(file, tuple(columns), cells, notes=notes)


def repeated_note(n_repeated: int) -> list[str]:
    """Say that rows were left out because they repeat the names of the columns."""
    rows = "1 row that repeats" if n_repeated == 1 else f"{n_repeated:,} rows that repeat"
    return [f"{rows} the names of the columns, as in files that were joined, are left out."] if n_repeated else []


def without_index(names: list[str], columns: Sequence[ParsedColumn]) -> tuple[list[str], Sequence[ParsedColumn], list[str]]:
    """Leave out a first column without a name: the index of a data frame, or the names of the rows in R."""
    if names[0]:
        return names, columns, []
    return names[1:], columns[1:], ["the first column has no name, as the index of a data frame has none: it is left out."]


def without_second_header(names: Sequence[str], parsed: Sequence[ParsedColumn]) -> tuple[Sequence[ParsedColumn], list[str]]:
    """Leave out a first row of words, such as units, over columns of numbers; return the columns and a note about it.

    In some column the first cell is a word and all others are numbers, and no first cell of the table is a number or a level
    that recurs.

    >>> columns = [TextCells.of(["kg", "1", "2", "3"]), TextCells.of(["", "a", "b", "a"])]
    >>> read, notes = without_second_header(["weight", "color"], columns)
    >>> read[0].texts, read[1].texts, len(notes)
    (['1', '2', '3'], ['a', 'b'], 1)
    """
    words: dict[str, str] = {}
    for name, column in zip(names, parsed, strict=True):
        if not isinstance(column, TextCells):
            if len(column) and column[0] == column[0]:  # a number
                return parsed, []
            continue
        if column.lists or not len(column.index):
            return parsed, []
        first = int(column.index[0])
        word = "" if first < 0 else column.texts[first].strip()
        if word in MISSING:
            continue
        if np.count_nonzero(column.index == first) > 1 or _is_any_number(word):
            return parsed, []
        some = [text.strip() for at, text in enumerate(column.texts[: LOOKED_AT + 1]) if at != first]
        if is_second_header(word, some) and is_second_header(word, [text.strip() for text in column.texts if text != word]):
            words[name] = word
    if not words:
        return parsed, []
    read = [_without_first(column) if isinstance(column, TextCells) else column[1:] for column in parsed]
    shown = ", ".join(f"{word!r} under {name!r}" for name, word in list(words.items())[:3])
    return read, [
        f"the first row has words where all others have numbers, {shown}: it is taken for a second row of the header and left "
        "out. Join both rows to one that names the columns."
    ]


def _is_any_number(text: str) -> bool:
    """Tell whether a text is a number, also an infinite one, or one with a unit."""
    try:
        parse_number(text)
    except ValueError:
        return decimal_mark([text]) is not None
    return True


def _without_first(column: TextCells) -> TextCells:
    """Return a column of text without its first cell."""
    known = {old: new for new, old in enumerate(dict.fromkeys(code for code in column.index[1:].tolist() if code >= 0))}
    index = np.array([known.get(code, -1) for code in column.index[1:].tolist()], dtype=np.int64)
    return TextCells([column.texts[old] for old in known], index)


def has_fractions(numbers: NDArray[np.float64]) -> bool:
    """Tell whether some finite number is not whole."""
    finite = numbers[np.isfinite(numbers)]
    return bool((finite != np.rint(finite)).any())


class ReadColumn(NamedTuple):
    """A column, its cells as numbers, what its texts are, and what there is to tell a user.

    ``placeholders`` are words that are taken as missing among numbers, ``spellings`` some values that differ only in case.
    """

    column: Column
    cells: NDArray[np.float64]
    kind: Kind
    placeholders: tuple[str, ...] = ()
    spellings: tuple[str, ...] = ()


def text_column(name: str, cells: TextCells, *, decimal_comma: bool = False, keep_codes: bool = True) -> ReadColumn:
    """Read a column as numeric if every text is a number, a date or missing; else as nominal, with its values in sorted order.

    ``decimal_comma`` also takes ``1,5`` for a number. Words such as ``-`` and ``n.a.`` are missing where all others are numbers
    or dates. Digits of which some have leading zeros, such as 02134, are nominal, unless ``keep_codes`` is false.

    >>> mood = text_column("mood", TextCells.of(["sad", " calm", "NA", "sad"]))
    >>> mood.column.values, mood.cells, mood.kind
    (('calm', 'sad'), array([ 1.,  0., nan,  1.]), 'nominal')
    >>> text_column("price", TextCells.of(["$1,200", "-", "$80"])).cells
    array([1200.,   nan,   80.])
    """
    values: tuple[str, ...] | None = tuple(sorted(cells.texts)) if cells.lists else None
    texts = cells.texts if values is not None else [text.strip() for text in cells.texts]
    kind: Kind = "nominal"
    placeholders: tuple[str, ...] = ()
    if values is None:
        counts = np.bincount(cells.index + 1, minlength=len(texts) + 1)[1:]  # without the missing cells, whose index is -1
        present = {text for text, count in zip(texts, counts, strict=True) if count and text not in MISSING}
        if keep_codes and are_codes(present):
            kind = "code"
        else:
            kind, codes, placeholders = _numbers_among(present, decimal_comma)
        if kind in ("nominal", "undecided date", "code", "exact"):
            values = tuple(sorted(present, key=int if kind == "exact" else None))
            kind = "mixed" if kind == "nominal" and _mostly_numbers(values) else kind
    if values is not None:
        codes = {text: float(code) for code, text in enumerate(values)}
    numbers: NDArray[np.float64] = np.array([*(codes.get(text, np.nan) for text in texts), np.nan])
    spelled = TextCells(texts, cells.index) if kind in SPELLED else None
    spellings = () if values is None or cells.lists else _differ_in_case(values)
    column = Column(name, values, spelled=spelled, lists=cells.lists)
    return ReadColumn(column, np.take(numbers, cells.index), kind, placeholders, spellings)


def are_codes(texts: Iterable[str]) -> bool:
    """Return whether texts are digits that name something: some of four digits or more starts with a zero.

    >>> are_codes(["02134", "99501", "NA"]), are_codes(["07", "12"]), are_codes(["0123.5", "0001"])
    (True, False, False)
    """
    present = [text for text in texts if text not in MISSING]
    return any(map(_CODE.fullmatch, present)) and all(text.isascii() and text.isdigit() for text in present)


def _numbers_among(present: set[str], decimal_comma: bool) -> tuple[Kind, dict[str, float], tuple[str, ...]]:
    """Find out what the texts are, their numbers unless they are words, and which of them are missing."""
    kind, codes = _numbers(list(present), decimal_comma)
    if kind != "nominal":
        return kind, codes, ()
    placeholders = tuple(sorted(filter(is_placeholder, present)))
    if placeholders and len(placeholders) < len(present):
        kind, codes = _numbers(list(present.difference(placeholders)), decimal_comma)
    if kind == "exact":  # words among them are levels, too
        kind = "nominal"
    return kind, codes, placeholders if kind not in ("nominal", "undecided date") else ()


def _numbers(texts: list[str], decimal_comma: bool) -> tuple[Kind, dict[str, float]]:
    """Find out what the texts are and, unless they are words, their numbers."""
    try:
        numbers = {text: parse_number(text) for text in texts}
        return "exact" if merged_numbers(numbers) else "number", numbers
    except ValueError:
        pass
    dates = read_dates(texts)
    if dates is not None:
        return "date", dict(zip(texts, dates.tolist(), strict=True))
    commas = None
    if decimal_comma and any("," in text for text in texts):
        commas = read_decimal_commas(texts) or read_formatted_numbers([text.translate(EXCHANGED) for text in texts])
    if commas is not None:
        return "decimal comma", dict(zip(texts, commas, strict=True))
    formatted = read_formatted_numbers(texts)
    if formatted is not None:
        return "formatted", dict(zip(texts, formatted, strict=True))
    return "undecided date" if are_undecided_dates(texts) else "nominal", {}


def merged_numbers(numbers: Mapping[str, float]) -> bool:
    """Tell whether texts are whole numbers of which some are different and equal in floating point.

    >>> merged_numbers({"9007199254740992": 2.0**53, "9007199254740993": 2.0**53}), merged_numbers({"1": 1.0, "1.0": 1.0})
    (True, False)
    """
    large = [text for text, number in numbers.items() if abs(number) >= EXACT]
    if len(large) < 2 or not all(map(_WHOLE.fullmatch, numbers)):
        return False
    return len({numbers[text] for text in large}) < len({int(text) for text in large})


def _mostly_numbers(texts: Sequence[str]) -> bool:
    """Return whether most texts of a nominal column with many of them are numbers."""
    some = texts[:: max(1, len(texts) // LOOKED_AT)]
    return len(texts) > MANY_TEXTS and 2 * sum(map(_is_number, some)) > len(some)


def _is_number(text: str) -> bool:
    return not text[-1:].isalpha() and read_formatted_numbers([text]) is not None


def _differ_in_case(values: Sequence[str]) -> tuple[str, ...]:
    """Find some values that are the same word in another case.

    >>> _differ_in_case(["NO", "No", "Yes"])
    ('NO', 'No')
    """
    words: dict[str, list[str]] = {}
    for value in values[:LOOKED_AT]:
        words.setdefault(value.casefold(), []).append(value)
    return next((tuple(same) for same in words.values() if len(same) > 1), ())


def _notes(read: Sequence[ReadColumn]) -> Iterator[str]:
    """Say what a user should know about the decisions that were taken for columns of text."""

    def shown(columns: Iterable[ReadColumn]) -> str:
        return some_of([one.column.name for one in columns], 4)

    of_kind: dict[Kind, list[ReadColumn]] = {}
    for one in read:
        of_kind.setdefault(one.kind, []).append(one)
    if dates := of_kind.get("date"):
        yield date_note([one.column.name for one in dates])
    if commas := of_kind.get("decimal comma"):
        yield f"commas are decimal marks, so 1,5 is one and a half: {shown(commas)}."
    if formatted := of_kind.get("formatted"):
        yield f"numbers with a unit, with thousands apart or with < and > are numbers: {shown(formatted)}."
    if undecided := of_kind.get("undecided date"):
        yield (
            f"dates such as 1/2/2020 are read as text, because no day above 12 shows whether the day or the month comes first: "
            f"{shown(undecided)}. Write them as 2020-02-01."
        )
    if exact := of_kind.get("exact"):
        yield (
            f"whole numbers beyond 2**53, such as {(exact[0].column.values or ('',))[-1]!r}, which floating point would merge, "
            f"are text, and each is a level or class: {shown(exact)}. If these are measurements, divide them or subtract the "
            "smallest first."
        )
    if mixed := of_kind.get("mixed"):
        odd = [next((value for value in one.column.values or () if not _is_number(value)), "") for one in mixed]
        yield (
            f"most values are numbers and some are not, such as {some_of(list(dict.fromkeys(odd)), 4)}, so that every value is "
            f"a level: {shown(mixed)}. If these are measurements, make the others numbers or empty, and remove rows of units "
            "or totals."
        )
    if codes := of_kind.get("code"):
        code = next(value for value in codes[0].column.values or () if _CODE.fullmatch(value))
        yield (
            f"digits with leading zeros, such as {code!r}, are text, and each is a level: {shown(codes)}. If these are "
            "measurements, write them without the zeros."
        )
    if spellings := [one for one in read if one.spellings]:
        yield (
            f"values that differ only in case, such as {some_of(list(spellings[0].spellings), 4)}, are different levels or "
            f"classes: {shown(spellings)}."
        )
    if words := [one for one in read if one.placeholders]:
        found = list(dict.fromkeys(word for one in words for word in one.placeholders))
        yield f"{some_of(found, 4)} among numbers or dates is missing: {shown(words)}."


def date_note(names: Sequence[str]) -> str:
    """Say what a user should know about columns of dates."""
    return f"dates and times become numbers, seconds since 1970-01-01: {some_of(list(names), 4)}."


def arrow_column(column: Any, budget: TextBudget | None = None) -> ParsedColumn:
    """Convert a column of pyarrow: numbers and booleans to float64, anything else to its distinct values as text."""
    pyarrow = import_module("pyarrow")
    kind = column.type
    if pyarrow.types.is_boolean(kind):
        column, kind = column.cast(pyarrow.int8()), pyarrow.int8()
    if pyarrow.types.is_integer(kind) and kind.bit_width == 64 and merged_as_floats(column.drop_null().to_numpy()):
        column, kind = column.cast(pyarrow.string()), pyarrow.string()
    if pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind):
        return np.asarray(column.to_numpy(), dtype=np.float64)
    if pyarrow.types.is_null(kind):
        return np.full(len(column), np.nan)
    encoded = column if pyarrow.types.is_dictionary(kind) else column.dictionary_encode()
    encoded = encoded.unify_dictionaries()
    values = encoded.chunk(0).dictionary
    if budget is not None:
        budget.add(len(values))
    if pyarrow.types.is_temporal(values.type) and not pyarrow.types.is_duration(values.type):
        values = values.cast(pyarrow.string())  # Python has no dates before the year 1
    texts = ["" if value is None else str(value) for value in values.to_pylist()]
    indices = (chunk.indices.cast(pyarrow.int32()) for chunk in encoded.chunks)
    return TextCells(
        texts, np.concatenate([(codes.fill_null(-1) if codes.null_count else codes).to_numpy() for codes in indices])
    )


def parse_number(text: str) -> float:
    """Read a number as ``float`` does, without underscores; NaN for a question mark.

    >>> parse_number("-1.5e3"), parse_number("?")
    (-1500.0, nan)
    """
    if text == "?":
        return float("nan")
    if "_" in text:
        raise ValueError(text)
    return float(text)


_PLAIN = r"[+-]?(?:\d+(?:,\d*)?|,\d+)(?:[eE][+-]?\d{1,4})?"
_GROUPED = r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?"
_DECIMAL_COMMA = re.compile(rf"{_PLAIN}|{_GROUPED}", re.ASCII)


def read_decimal_commas(texts: Sequence[str]) -> list[float] | None:
    """Read numbers with a decimal comma, and maybe dots between thousands; None if some text is none, or none has a comma.

    >>> read_decimal_commas(["1,5", "-2"]), read_decimal_commas(["1.234,5"]), read_decimal_commas(["1", "2"])
    ([1.5, -2.0], [1234.5], None)
    """
    if not any("," in text for text in texts) or not all(map(_DECIMAL_COMMA.fullmatch, texts)):
        return None
    return [float(text.replace(".", "").replace(",", ".")) for text in texts]
