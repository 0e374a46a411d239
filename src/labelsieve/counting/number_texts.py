"""Text columns of data frames that are numbers: a user should know that every text is a level."""

import warnings
from collections.abc import Mapping
from typing import Any

import narwhals.stable.v1 as nw

from labelsieve.counting.formatted_numbers import decimal_mark, is_placeholder
from labelsieve.counting.text_levels import Levels
from labelsieve.errors import NumberTextWarning

MANY_LEVELS = 20  # fewer texts may well be classes
LOOKED_AT = 100  # texts of a column
LISTED = 3  # columns that a warning names


def warn_of_number_texts(frame: nw.DataFrame[Any], text: Mapping[int, Levels], what: str) -> None:
    """Warn of columns of text with many levels that are all numbers; categories are taken as meant.

    Cost: some of the levels of a column are looked at.
    """
    found, marks = [], set()
    for column, levels in text.items():
        if len(levels) <= MANY_LEVELS:
            continue
        some = [str(level).strip() for level in levels[:: max(1, len(levels) // LOOKED_AT)]]
        mark = decimal_mark([word for word in some if word and not is_placeholder(word)])
        if mark is not None and frame[:, column].dtype == nw.String:
            marks.add(mark)
            found.append(f"{frame.columns[column]!r} (such as {some[-1][:20]!r})")
    if found:
        option = ", decimal=','" if marks == {","} else ""
        more = f", ... ({len(found)} columns)" if len(found) > LISTED else ""
        warnings.warn(
            f"{what}: text in {', '.join(found[:LISTED])}{more} is numbers, and every text is a level. If these are "
            f"measurements, pass labelsieve.datasets.to_numbers({what}{option}); if not, make them categories.",
            NumberTextWarning,
            stacklevel=3,
        )
