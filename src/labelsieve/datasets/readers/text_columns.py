"""The rule for columns of text: which cells are missing, which columns are numeric and which nominal.

Every reader of tables hands its columns to :func:`make_table`, so the result does not depend on the library that parsed them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.formatted_numbers import EXCHANGED, is_placeholder, read_formatted_numbers
from labelsieve.datasets.readers.column_table import Column, SeparateCells, Table, check_names
from labelsieve.datasets.readers.date_columns import are_undecided_dates, read_dates, read_decimal_commas
from labelsieve.errors import some_of

# Cells that are missing, after blanks around them are removed. The question mark is that of ARFF.
MISSING = frozenset(("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-nan", "NULL", "null"))


@dataclass(frozen=True, eq=False)
class TextCells:
    """A column of text: its distinct texts, and the index among them of every cell, -1 where the cell is missing.

    ``declared`` are the values of a nominal column, in order, where the file declares them. The texts of ``lists`` are lists of
    labels in JSON.
    """

    texts: Sequence[str]
    index: NDArray[Any]
    declared: tuple[str, ...] | None = None
    lists: bool = False

    @classmethod
    def of(cls, cells: Sequence[str]) -> "TextCells":
        """Cells as they are.

        >>> TextCells.of(["b", "a", "b"]).index
        array([0, 1, 0])
        """
        known: dict[str, int] = {}
        index = np.fromiter((known.setdefault(cell, len(known)) for cell in cells), np.int64, count=len(cells))
        return cls(list(known), index)


ParsedColumn = NDArray[np.float64] | TextCells


def parse_number(text: str) -> float:
    """A number as ``float`` reads it, without underscores; NaN for a question mark.

    >>> parse_number("-1.5e3"), parse_number("?")
    (-1500.0, nan)
    """
    if text == "?":
        return float("nan")
    if "_" in text:
        raise ValueError(text)
    return float(text)


Kind = Literal["number", "decimal comma", "formatted", "date", "undecided date", "mixed", "nominal"]
SPELLED = ("decimal comma", "formatted")  # numeric columns whose cells may be sets of labels: 1,3
LOOKED_AT = 1_000  # texts of a nominal column that are tried as numbers
MANY_TEXTS = 20  # of a nominal column: more of them, mostly numbers, are reported


class ReadColumn(NamedTuple):
    """A column, its cells as numbers, what its texts are, and the words that are taken as missing among numbers."""

    column: Column
    cells: NDArray[np.float64]
    kind: Kind
    placeholders: tuple[str, ...] = ()


def text_column(name: str, cells: TextCells, *, decimal_comma: bool = False) -> ReadColumn:
    """Numeric if every text is a number, a date or missing; else nominal, with its values in sorted order.

    ``decimal_comma`` also takes ``1,5`` for a number. Words such as ``-`` and ``n.a.`` are missing where all others are numbers
    or dates.

    >>> mood = text_column("mood", TextCells.of(["sad", " calm", "NA", "sad"]))
    >>> mood.column.values, mood.cells, mood.kind
    (('calm', 'sad'), array([ 1.,  0., nan,  1.]), 'nominal')
    >>> text_column("price", TextCells.of(["$1,200", "-", "$80"])).cells
    array([1200.,   nan,   80.])
    """
    values: tuple[str, ...] | None = tuple(sorted(cells.texts)) if cells.lists else cells.declared
    texts = cells.texts if values is not None else [text.strip() for text in cells.texts]
    kind: Kind = "nominal"
    placeholders: tuple[str, ...] = ()
    if values is None:
        counts = np.bincount(cells.index + 1, minlength=len(texts) + 1)[1:]  # without the missing cells, whose index is -1
        present = {text for text, count in zip(texts, counts, strict=True) if count and text not in MISSING}
        kind, codes, placeholders = _numbers_among(present, decimal_comma)
        if kind in ("nominal", "undecided date"):
            values = tuple(sorted(present))
            kind = "mixed" if kind == "nominal" and _mostly_numbers(values) else kind
    elif unknown := set(texts) - set(values):
        raise ValueError(f"value {min(unknown)!r} is not one of the declared values of {name!r}")
    if values is not None:
        codes = {text: float(code) for code, text in enumerate(values)}
    numbers: NDArray[np.float64] = np.array([*(codes.get(text, np.nan) for text in texts), np.nan])
    spelled = TextCells(texts, cells.index) if kind in SPELLED else None
    return ReadColumn(
        Column(name, values, spelled=spelled, lists=cells.lists), np.take(numbers, cells.index), kind, placeholders
    )


def _numbers_among(present: set[str], decimal_comma: bool) -> tuple[Kind, dict[str, float], tuple[str, ...]]:
    """What the texts are, their numbers unless they are words, and those that are missing."""
    kind, codes = _numbers(list(present), decimal_comma)
    if kind != "nominal":
        return kind, codes, ()
    placeholders = tuple(sorted(filter(is_placeholder, present)))
    if placeholders and len(placeholders) < len(present):
        kind, codes = _numbers(list(present.difference(placeholders)), decimal_comma)
    return kind, codes, placeholders if kind not in ("nominal", "undecided date") else ()


def _numbers(texts: list[str], decimal_comma: bool) -> tuple[Kind, dict[str, float]]:
    """What the texts are and, unless they are words, their numbers."""
    try:
        return "number", {text: parse_number(text) for text in texts}
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


def _mostly_numbers(texts: Sequence[str]) -> bool:
    """Whether most texts of a nominal column with many of them are numbers."""
    some = texts[:: max(1, len(texts) // LOOKED_AT)]
    return len(texts) > MANY_TEXTS and 2 * sum(map(_is_number, some)) > len(some)


def _is_number(text: str) -> bool:
    return not text[-1:].isalpha() and read_formatted_numbers([text]) is not None


def _differ_in_case(values: Sequence[str]) -> list[str]:
    """Some values that are the same word in another case.

    >>> _differ_in_case(["NO", "No", "Yes"])
    ['NO', 'No']
    """
    words: dict[str, list[str]] = {}
    for value in values[:LOOKED_AT]:
        words.setdefault(value.casefold(), []).append(value)
    return next((same for same in words.values() if len(same) > 1), [])


def make_table(
    names: Sequence[str],
    parsed: Sequence[ParsedColumn],
    file: Path,
    *,
    description: str = "",
    label_names: tuple[str, ...] | None = None,
    signed_zeros: bool = True,
    decimal_comma: bool = False,
) -> Table:
    """A table of columns: text by :func:`text_column`, numbers as they are, NaN where they are missing.

    ``signed_zeros=False`` makes -0.0 to 0.0, for a format in which parsers may lose the sign. ``decimal_comma=True`` takes 1,5
    for a number, unless some column has decimal points.
    """
    texts = [column for column in parsed if isinstance(column, TextCells)]
    if decimal_comma and texts:
        decimal_comma = not any(_has_fractions(column) for column in parsed if not isinstance(column, TextCells))
    columns, arrays, names_of, words = [], [], dict[Kind, list[str]](), dict[str, tuple[str, ...]]()
    odd, same = dict[str, str](), dict[str, list[str]]()
    for name, column in zip(names, parsed, strict=True):
        if not isinstance(column, TextCells):
            columns.append(Column(name))
            arrays.append(column)
            continue
        read = text_column(name, column, decimal_comma=decimal_comma)
        names_of.setdefault(read.kind, []).append(name)
        columns.append(read.column)
        arrays.append(read.cells)
        if read.placeholders:
            words[name] = read.placeholders
        values = read.column.values or ()
        if read.kind == "mixed":
            odd[name] = next((value for value in values if not _is_number(value)), "")
        if column.declared is None and not column.lists and (spellings := _differ_in_case(values)):
            same[name] = spellings
    check_names(columns, file)
    cells = SeparateCells(arrays, signed_zeros)
    notes = [note(names_of[kind]) for kind, note in NOTES.items() if kind in names_of]
    notes += [_mixed_note(odd)] if odd else []
    notes += [_case_note(same)] if same else []
    notes += [_placeholder_note(words)] if words else []
    return Table(file, tuple(columns), cells, description=description, label_names=label_names, notes=tuple(notes))


def date_note(names: Sequence[str]) -> str:
    """What a user should know about columns of dates."""
    return f"dates and times become numbers, seconds since 1970-01-01: {some_of(list(names), 4)}."


def _comma_note(names: Sequence[str]) -> str:
    return f"commas are decimal marks, so 1,5 is one and a half: {some_of(list(names), 4)}."


def _formatted_note(names: Sequence[str]) -> str:
    return f"numbers with a unit, with thousands apart or with < and > are numbers: {some_of(list(names), 4)}."


def _undecided_note(names: Sequence[str]) -> str:
    return (
        f"dates such as 1/2/2020 are read as text, because no day above 12 shows whether the day or the month comes first: "
        f"{some_of(list(names), 4)}. Write them as 2020-02-01."
    )


def _mixed_note(odd: Mapping[str, str]) -> str:
    others = some_of(list(dict.fromkeys(odd.values())), 4)
    return (
        f"most values are numbers and some are not, such as {others}, so that every value is a level: "
        f"{some_of(list(odd), 4)}. If these are measurements, make the others numbers or empty, and "
        "remove rows of units or totals."
    )


def _case_note(same: Mapping[str, Sequence[str]]) -> str:
    spellings = some_of(list(next(iter(same.values()))), 4)
    return f"values that differ only in case, such as {spellings}, are different levels or classes: {some_of(list(same), 4)}."


def _placeholder_note(words: Mapping[str, Sequence[str]]) -> str:
    found = list(dict.fromkeys(word for placeholders in words.values() for word in placeholders))
    return f"{some_of(found, 4)} among numbers or dates is missing: {some_of(list(words), 4)}."


NOTES: dict[Kind, Callable[[Sequence[str]], str]] = {
    "date": date_note,
    "decimal comma": _comma_note,
    "formatted": _formatted_note,
    "undecided date": _undecided_note,
}


def _has_fractions(numbers: NDArray[np.float64]) -> bool:
    finite = numbers[np.isfinite(numbers)]
    return bool((finite != np.rint(finite)).any())
