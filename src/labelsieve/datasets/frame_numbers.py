"""Text columns of data frames as numbers, by the rule for files."""

from collections.abc import Sequence
from typing import Any, Literal

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.formatted_numbers import is_code, read_formatted_numbers
from labelsieve.datasets.readers.text_columns import MISSING, TextCells, text_column
from labelsieve.errors import InputError, one_of, unknown_name

NUMBERS = ("number", "decimal comma", "formatted")


def to_numbers(frame: Any, columns: Sequence[str] | None = None, *, decimal: Literal[".", ","] = ".") -> Any:
    """Text columns that are numbers, as numbers: ``$1,234.50``, ``12 %``, ``<0.5``, ``1.234,5`` with a decimal comma.

    The rule is that of :func:`load`: numbers of a column have one unit, ``<0.5`` is next to 0.5, and empty cells and words such
    as ``NA``, ``-`` and ``unknown`` are missing.

    Parameters
    ----------
    frame : data frame of pandas, polars or Arrow
        It is not modified.
    columns : sequence of str, default=None
        The columns to convert; a text that is no number is then an error. By default all columns of text that are numbers,
        except codes with leading zeros such as ``01234``.
    decimal : {".", ","}, default="."
        The decimal mark.

    Returns
    -------
    frame
        Of the same library, with columns of float64 in place of the text.

    Examples
    --------
    >>> import pandas as pd
    >>> to_numbers(pd.DataFrame({"price": ["$1,234.50", "-"], "zip": ["01234", "99999"]})).to_dict("list")
    {'price': [1234.5, nan], 'zip': ['01234', '99999']}
    """
    one_of(decimal, "decimal", (".", ","))
    table = nw.from_native(frame, eager_only=True)
    wanted = list(table.columns) if columns is None else list(columns)
    for name in wanted:
        if name not in table.columns:
            raise unknown_name("column", str(name), list(map(str, table.columns)))
    changed = []
    for name in wanted:
        series = table[name]
        if series.dtype != nw.String:
            continue
        texts = ["" if text is None or text != text else str(text) for text in series.to_list()]
        read = text_column(str(name), TextCells.of(texts), decimal_comma=decimal == ",")
        if read.kind in NUMBERS and (columns is not None or _are_measurements(texts)):
            changed.append(_like(series, read.cells))
        elif columns is not None:
            words = (text for text in texts if text.strip() not in MISSING and read_formatted_numbers([text.strip()]) is None)
            word = next(words, texts[0])
            raise InputError(
                f"to_numbers: column {name!r} is not numbers of one unit: {word!r}; make such cells empty, or leave it out."
            )
    return table.with_columns(*changed).to_native() if changed else frame


def _are_measurements(texts: list[str]) -> bool:
    """Whether no text is a code with leading zeros, and some cell is not missing."""
    present = {text.strip() for text in texts} - MISSING
    return bool(present) and not any(map(is_code, present))


def _like(series: nw.Series[Any], numbers: NDArray[np.float64]) -> nw.Series[Any]:
    """Numbers in a series of the same library, name and row labels."""
    cells = [None if missing else number for number, missing in zip(numbers.tolist(), np.isnan(numbers), strict=True)]
    made = nw.new_series(series.name, cells, nw.Float64, backend=series.implementation)
    if series.implementation.is_pandas():
        made.to_native().index = series.to_native().index
    return made
