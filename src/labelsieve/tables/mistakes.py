"""Mistakes in tables that a selection would not show: leaks, ids, and rows that are not data.

:func:`look_over` looks at the features of a table with names, :func:`refuse_targets_among_features` compares their names with
those of the targets, and :func:`warn_of_leaks` compares selected features with the targets. Arrays without names are not
looked at: whoever made them has chosen their columns.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError, LeakWarning, TableWarning, all_told, some_of, warn
from labelsieve.tables.frames import NumberTable, is_frame
from labelsieve.tables.targets import TargetTable
from labelsieve.tables.text import MISSING, decimal_mark, is_placeholder

HEAD = 64  # rows that rule out most columns
MANY_ROWS = 20  # from more rows on, whole numbers without a gap are like numbers of the rows
LEVELS_LOOKED_AT = 100  # texts of a column that show whether they are numbers
FEWEST_NUMBERS = 3  # different numbers under a second row of the header
# Words of a row that sums up the others, in some languages.
_ENGLISH = "total", "totals", "grand total", "subtotal", "sum", "sums", "overall", "average", "mean"
_OTHERS = "summe", "gesamt", "insgesamt", "mittelwert", "somme", "moyenne", "totale", "suma", "media"
_TOTALS = frozenset((*_ENGLISH, *_OTHERS))


def look_over(table: NumberTable) -> None:
    """Warn of columns and rows that do not belong to a table of features.

    A column that numbers the rows, a column without any value, rows that repeat the names of the columns, a second row of the
    header, and a last row that sums up the others.

    Cost: the first rows of all columns, and all rows of the few columns that these do not rule out.
    """
    values = table.dense
    if values is None or table.names is None:
        return
    _warn_of_header_rows(table, values)
    if len(values) > MANY_ROWS:
        _warn_of_row_numbers(table, values)
    if len(values) > FEWEST_NUMBERS:
        _warn_of_totals(table, values)
    if values.dtype.kind == "f":
        empty = np.isnan(values[:HEAD]).all(axis=0)
        for column in np.flatnonzero(empty).tolist():
            if np.isnan(values[:, column]).all():
                warn(
                    f"X, {table.name(column)} has no value in any row. Leave it out; if it holds formulas of a spreadsheet, "
                    "calculate and save them there first.",
                    TableWarning,
                    column=table.key(column),
                )


def _warn_of_row_numbers(table: NumberTable, values: NDArray[Any]) -> None:
    """Warn of columns of whole numbers without a gap, each of which occurs once."""
    n_rows, head = len(values), values[:HEAD]
    if values.dtype.kind == "b":
        return
    with np.errstate(invalid="ignore"):
        spread = head.max(axis=0) - head.min(axis=0)
        candidates = (spread < n_rows) & (spread >= len(head) - 1) & (head == np.floor(head)).all(axis=0)
    candidates[sorted(table.nominal)] = False
    for column in np.flatnonzero(candidates).tolist():
        cells = values[:, column]
        low, high = cells.min(), cells.max()
        if high - low != n_rows - 1 or (values.dtype.kind == "f" and (cells != np.floor(cells)).any()):
            continue
        if np.bincount((cells - low).astype(np.int64), minlength=n_rows).max() == 1:
            warn(
                f"X, {table.name(column)} has the whole numbers from {int(low):,} to {int(high):,}, each once, like an id: its "
                "information is that of the order of the rows. Exclude it (excluded=, --excluded), unless the order matters.",
                TableWarning,
                column=table.key(column),
            )


def _warn_of_totals(table: NumberTable, values: NDArray[Any]) -> None:
    """Warn of a last row that sums up the others: a word such as Total in it, or sums in all of its numbers."""
    found = ""
    for column, levels in table.text.items():
        cell = values[-1, column]
        word = str(levels[int(cell)]) if cell == cell else ""
        if word.strip().rstrip(":").lower() in _TOTALS and not (values[:-1, column] == cell).any():
            found = f"{word!r} in {table.name(column)}"
            break
    numeric = [column for column in range(values.shape[1]) if column not in table.nominal]
    if not found and len(numeric) > 1 and values.dtype.kind != "b":
        last = values[-1, numeric].astype(np.float64)
        head = values[:HEAD][:, numeric].astype(np.float64)
        known = ~np.isnan(last)
        with np.errstate(invalid="ignore"):
            outside = np.abs(last[known]) > np.nanmax(np.abs(np.nan_to_num(head[:, known])), axis=0, initial=0)
        # Sums are larger than the numbers that they sum up, which rules out nearly every table by its first rows.
        if known.sum() > 1 and outside.all():
            columns = [column for column, has in zip(numeric, known, strict=True) if has]
            sums = np.nansum(values[:-1, columns].astype(np.float64), axis=0)
            if np.allclose(sums, last[known], rtol=1e-6, atol=0):
                found = f"the sums of {some_of([table.names[column] for column in columns], 3)}" if table.names else "sums"
    if found:
        warn(
            f"X, row {len(values) - 1}, the last, sums up the others: it has {found}. Remove it from the features and the "
            "targets.",
            TableWarning,
        )


def _warn_of_header_rows(table: NumberTable, values: NDArray[Any]) -> None:
    """Warn of rows that repeat the names, and of a first row of words over columns of numbers."""
    assert table.names is not None
    if not table.text:
        return
    repeated = np.ones(len(values), dtype=bool)
    for column in range(len(table.names)):
        levels = table.text.get(column)
        at = None if levels is None else int(np.searchsorted(levels, table.names[column]))
        if levels is None or at is None or at == len(levels) or levels[at] != table.names[column]:
            repeated[:] = False
            break
        repeated &= values[:, column] == at
    rows = np.flatnonzero(repeated)
    if len(rows):
        first = table.names[0]
        more = f" and {len(rows) - 1:,} more rows" if len(rows) > 1 else ""
        warn(
            f"X, row {rows[0]}{more} repeat the names of the columns, so that every column is text. Remove such rows from the "
            f"features and the targets (X[{first!r}] != {first!r}), and convert the columns with "
            "labelsieve.datasets.to_numbers(X).",
            TableWarning,
        )
        return
    words = {}
    for column, levels in table.text.items():
        cell = values[0, column]
        if len(levels) <= FEWEST_NUMBERS or cell != cell or (values[1:, column] == cell).any():
            continue
        word, others = str(levels[int(cell)]), np.delete(levels, int(cell))
        some = [str(level).strip() for level in others[:: max(1, len(others) // LEVELS_LOOKED_AT)]]
        if is_second_header(word, some) and is_second_header(word, [str(level).strip() for level in others]):
            words[column] = word
    if words:
        names = some_of([table.names[column] for column in words], 4)
        warn(
            f"X, row 0 has words, such as {next(iter(words.values()))!r}, where all other rows have numbers, like a second row "
            f"of the header: {names}. Remove it from the features and the targets, and convert the columns with "
            "labelsieve.datasets.to_numbers(X).",
            TableWarning,
        )


def is_second_header(first: str, others: Iterable[str]) -> bool:
    """Tell whether the first cell of a column of text is a word, such as a unit, and the others are numbers.

    >>> is_second_header("(kg)", ["62.5", "80", "71"]), is_second_header("80", ["62.5", "71", "3"])
    (True, False)
    """
    present = {text for text in others if text not in MISSING and not is_placeholder(text)}
    word = first.strip()
    if len(present) < FEWEST_NUMBERS or word in MISSING or is_placeholder(word) or decimal_mark([word]) is not None:
        return False
    return decimal_mark(list(present)) is not None


def refuse_targets_among_features(X: Any, Y: Any, names: Sequence[str], labels: Sequence[str]) -> None:
    """Refuse a target that is also a feature, with the same name and the same cells.

    A name alone is no mistake: a target that is derived from a column of pandas keeps the name of the column.
    """
    for name in sorted(set(names) & set(labels)) if is_frame(X) else ():
        feature, target = names.index(name), labels.index(name)
        if _cells(X, feature) == _cells(Y, target):
            raise InputError(
                f"Y, column {target} ({name!r}) is also among the features, X, column {feature}, and would predict itself; "
                f"pass X.drop(columns=[{name!r}])."
            )


def _cells(table: Any, column: int) -> list[Any]:
    """Return the cells of a column of a frame, or of a series, with None for missing ones."""
    wrapped = nw.from_native(table, eager_only=True, allow_series=True)
    series = wrapped if isinstance(wrapped, nw.Series) else wrapped[:, column]
    return [None if cell is None or cell != cell else cell for cell in series.to_list()]


LOOKED_AT = 5_000  # rows that are compared first
LISTED = 3  # features that a warning names
MOST_FEATURES = 50  # selected features that are compared with the targets
FEWEST_ROWS = 20  # of the rarer value of a label, and of all other values of a class
LEAK_ERRORS = 0.01  # rows that a feature leaves wrong, as a fraction of those that are wrong without it
LEAK_ORDER = 0.999  # area under the curve, or rank correlation with numbers
ROWS_PER_LEVEL = 10  # on average; a column with more levels predicts by chance
MOST_OTHERS = 20  # targets of several classes, or with unknown cells
FEW_NUMBERS = 5  # different numbers that are compared as levels


def warn_of_leaks(X: NumberTable, targets: TargetTable, selected: Sequence[int], labels: Sequence[str] | None) -> None:
    """Warn of selected features that alone predict a target almost perfectly, as what is known only after the target does.

    A feature predicts a label or class if its levels (text, booleans, at most five numbers, missing or not) leave less than
    1 % of the errors that the most frequent value makes, or if its numbers separate the two values of a label (area under the
    curve of 0.999). It predicts numbers if the rank correlation is 0.999. At least 20 rows must have the rarer value.

    Cost: sorting 5,000 rows of the selected features and one pass over the rarer values of the targets for each of them; all
    rows of the few pairs that are suspicious.
    """
    if all_told():
        return
    n_rows, pairs = X.shape[0], []
    screen = _Screen(targets, np.unique(np.linspace(0, n_rows - 1, min(n_rows, LOOKED_AT)).astype(np.intp)))
    for column in [column for column in dict.fromkeys(selected) if column >= 0][:MOST_FEATURES]:
        cells: NDArray[Any] = X.column(column)
        suspects = screen.suspects(cells[screen.rows], column in X.nominal)
        suspects += [
            target for target in screen.others if _predicts(cells[screen.rows], column in X.nominal, screen.some, target)
        ]
        found = [target for target in sorted(suspects) if _predicts(cells, column in X.nominal, targets, target)]
        if found:
            names = [f"target {target}" if labels is None else repr(labels[target]) for target in found]
            more = f" and {len(found) - 2} more targets" if len(found) > 2 else ""
            pairs.append(f"{X.name(column)} predicts {', '.join(names[:2])}{more}")
    if pairs:
        more = f"; ... ({len(pairs)} features)" if len(pairs) > LISTED else ""
        known, them = ("Was it", "it") if len(pairs) == 1 else ("Were they", "them")
        warn(
            f"X, {'; '.join(pairs[:LISTED])}{more}, alone and almost perfectly. {known} known before the target? If not, "
            f"exclude {them} (excluded=, --excluded).",
            LeakWarning,
        )


class _Screen:
    """Some rows of the targets, with which features are compared at once to find pairs that may be leaks.

    Labels of two values are lists of the rows with the rarer one, and numbers are ranks. The first 20 ``others``, targets of
    several classes or with unknown cells, have to be compared one by one.
    """

    def __init__(self, targets: TargetTable, rows: NDArray[np.intp]) -> None:
        self.rows, self.labels, self.numeric, self.others = rows, list[int](), list[int](), list[int]()
        listed, ranks = [], []
        for target in range(targets.n_columns):
            if targets.is_numeric[target]:
                numbers = targets.numbers[rows, int(np.count_nonzero(targets.is_numeric[:target]))]
                if np.isnan(numbers).any() or numbers.min() == numbers.max():
                    self.others.append(target)
                else:
                    self.numeric.append(target)
                    ranks.append(_standardized(_ranks(numbers)))
                continue
            missing = targets.classes.missing
            if (missing is not None and missing[target]) or targets.classes.levels[target] > 2:
                self.others.append(target)
                continue
            ones = np.flatnonzero(targets.classes.column(target)[rows])
            rarer = ones if 2 * len(ones) <= len(rows) else np.setdiff1d(np.arange(len(rows)), ones)
            if len(rarer):
                self.labels.append(target)
                listed.append(rarer)
        self.counts = np.array([len(rarer) for rarer in listed], dtype=np.intp)
        self.entries = np.concatenate(listed) if listed else np.empty(0, dtype=np.intp)
        self.label_of_entry = np.repeat(np.arange(len(listed)), self.counts)
        self.ranks = np.array(ranks)
        self.others = self.others[:MOST_OTHERS]
        taken = np.zeros(targets.n_rows, dtype=bool)
        taken[rows] = True
        self.some = targets.take_rows(taken) if self.others and len(rows) < targets.n_rows else targets

    def suspects(self, cells: NDArray[Any], nominal: bool) -> list[int]:
        """Return the targets that a feature may predict almost perfectly."""
        missing = np.isnan(cells) if cells.dtype.kind == "f" else np.zeros(len(cells), dtype=bool)
        n_levels, levels = _levels(cells, missing, nominal)
        n_labels, found = len(self.labels), np.zeros(len(self.labels), dtype=bool)
        if n_labels and n_levels * ROWS_PER_LEVEL <= len(cells):
            at = self.label_of_entry * n_levels + levels[self.entries]
            joint = np.bincount(at, minlength=n_labels * n_levels).reshape(n_labels, n_levels)
            wrong = np.minimum(joint, np.bincount(levels, minlength=n_levels) - joint).sum(axis=1)
            found |= wrong <= LEAK_ERRORS * self.counts
        numeric: list[int] = []
        if not nominal and not missing.all():
            ranks = _ranks(np.where(missing, np.nanmin(cells), cells) if missing.any() else cells)
            if n_labels and not missing.any():
                sums = np.bincount(self.label_of_entry, ranks[self.entries], minlength=n_labels)
                area = (sums - self.counts * (self.counts - 1) / 2) / (self.counts * (len(cells) - self.counts))
                found |= np.maximum(area, 1 - area) >= LEAK_ORDER
            if len(self.numeric):
                near = np.abs(self.ranks @ _standardized(ranks)) >= LEAK_ORDER
                numeric = self.numeric if missing.any() else [self.numeric[at] for at in np.flatnonzero(near)]
        return [*(self.labels[at] for at in np.flatnonzero(found)), *numeric]


def _predicts(cells: NDArray[Any], nominal: bool, targets: TargetTable, target: int) -> bool:
    """Tell whether a feature predicts a target almost perfectly."""
    if targets.is_numeric[target]:
        numbers = targets.numbers[:, int(np.count_nonzero(targets.is_numeric[:target]))]
        known = ~np.isnan(numbers) & ~(np.isnan(cells) if cells.dtype.kind == "f" else np.zeros(len(cells), dtype=bool))
        if nominal or known.sum() < max(FEWEST_ROWS, len(cells) / 2):
            return False
        return bool(abs(_standardized(_ranks(cells[known])) @ _standardized(_ranks(numbers[known]))) >= LEAK_ORDER)
    codes, known = targets.classes.column(target), targets.classes.is_known(target)
    if not known.all():
        codes, cells = codes[known], cells[known]
    counts = np.bincount(codes)
    wrong = len(codes) - int(counts.max(initial=0))
    if wrong < FEWEST_ROWS:
        return False
    missing = np.isnan(cells) if cells.dtype.kind == "f" else np.zeros(len(cells), dtype=bool)
    n_levels, levels = _levels(cells, missing, nominal)
    if n_levels * ROWS_PER_LEVEL <= wrong:
        joint = np.bincount(levels * len(counts) + codes, minlength=n_levels * len(counts)).reshape(-1, len(counts))
        if len(codes) - joint.max(axis=1).sum() <= LEAK_ERRORS * wrong:
            return True
    if nominal or missing.any() or np.count_nonzero(counts) != 2:
        return False
    positive = codes == codes.max()
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    area = (_ranks(cells)[positive].sum() - n_positive * (n_positive - 1) / 2) / (n_positive * n_negative)
    return bool(max(area, 1 - area) >= LEAK_ORDER)


def _levels(cells: NDArray[Any], missing: NDArray[np.bool_], nominal: bool) -> tuple[int, NDArray[np.intp]]:
    """Return the number of levels and the level of every cell: those of text, five numbers at most, else missing or not."""
    some = cells[:HEAD] if not nominal else cells[:0]
    if len(np.unique(some)) > 2 * FEW_NUMBERS and not missing[:HEAD].any():  # rules out most numbers without sorting
        return 2, missing.astype(np.intp)
    values, level = np.unique(np.where(missing, 0, cells), return_inverse=True)
    if not nominal and len(values) > FEW_NUMBERS + bool(missing.any()):
        return 2, missing.astype(np.intp)
    return 2 * len(values), 2 * level.astype(np.intp) + missing


def _ranks(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return ranks from 0, the mean of them for equal values."""
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle: NDArray[np.float64] = np.cumsum(counts) - (counts + 1) / 2
    return middle[index]


def _standardized(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks with mean 0 and length 1; zeros if all are equal."""
    centered = ranks - ranks.mean()
    length = float(np.sqrt(centered @ centered))
    standardized: NDArray[np.float64] = centered / length if length else centered
    return standardized
