"""The errors for input that cannot be used, warnings about columns, checks of parameters, and lookup of public names."""

import difflib
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import TypeGuard, TypeVar

import numpy as np

T = TypeVar("T")
N_SUGGESTED = 3  # known names that are suggested for a misspelled one


class InputError(ValueError):
    """A ``ValueError`` for data or parameters that cannot be used: it names the column, row or parameter, and the remedy."""


class DeviceError(InputError):
    """A GPU that cannot be used: the message names what is missing and the remedy."""


class ClusterError(InputError):
    """A Dask cluster that cannot be used, or that was lost: the message names what happened and the remedy."""


class StudyError(InputError):
    """A study that cannot start or continue: the message names the location and the remedy."""


class ColumnWarning(UserWarning):
    """A column whose treatment is worth knowing: the message names the column, the treatment and the alternative."""


class DateColumnWarning(ColumnWarning):
    """A column of dates or durations is counted as numbers."""


class IdLikeColumnWarning(ColumnWarning):
    """A nominal column has about as many levels as rows, so its rare levels are pooled."""


class NumberTextWarning(ColumnWarning):
    """A column has numbers as text, and every distinct text is counted as a level."""


class TargetTypeWarning(ColumnWarning):
    """Targets that could be read in two ways: the message names the columns, what was taken, and how to override it."""


class ConstantTargetWarning(ColumnWarning):
    """Targets with one value in all rows, about which no feature has information."""


class MissingTargetWarning(ColumnWarning):
    """Targets that are unknown in some rows: each is counted in the rows in which it is known."""


class LeakWarning(ColumnWarning):
    """A feature that alone predicts a target almost perfectly, as one that is known only after the target does."""


class TableWarning(ColumnWarning):
    """A column or row that does not belong to a table of features: it numbers the rows, repeats the header, or sums them up."""


_told: ContextVar[bool] = ContextVar("told", default=False)
_left_out: ContextVar[frozenset[object]] = ContextVar("left_out", default=frozenset())
# A warning is attributed to the first line outside of these: that of the user, also if a pipeline of scikit-learn calls fit.
_INNER = frozenset(("labelsieve", "sklearn", "joblib", "functools", "contextlib"))


def warn(message: str, category: type[Warning], *, column: object = None) -> None:
    """Issue a warning at the line of the user who called labelsieve; ``column`` is the number or name of the one it is about.

    A :class:`ColumnWarning` is not issued inside :func:`told_before`, nor about a column that is excluded there.
    """
    if issubclass(category, ColumnWarning) and (_told.get() or (column is not None and column in _left_out.get())):
        return
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] not in _INNER:
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)


def all_told() -> bool:
    """Tell whether warnings about columns are switched off, so that nobody needs to look for their reasons."""
    return _told.get()


@contextmanager
def told_before(told: bool = True, excluded: Collection[object] = ()) -> Iterator[None]:
    """Switch off warnings about columns inside, because the user has been told when the table was read first.

    Without ``told``, warnings about ``excluded`` columns, given by name or number, are switched off: nobody needs them.
    """
    tokens = _told.set(_told.get() or told), _left_out.set(_left_out.get() | frozenset(excluded))
    try:
        yield
    finally:
        _told.reset(tokens[0])
        _left_out.reset(tokens[1])


def is_whole(value: object) -> TypeGuard[int]:
    """True for whole numbers of any type, except truth values."""
    # The first test answers for most values, and the second takes as long as ten of it.
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool | np.bool_))


def whole_number(value: object, name: str, low: int, high: int) -> int:
    """Return ``value`` as an int; refuse anything but a whole number from ``low`` to ``high``."""
    if not is_whole(value) or not low <= int(value) <= high:
        raise InputError(f"{name} must be a whole number from {low:,} to {high:,}, not {value!r}.")
    return int(value)


def require_same_rows(n_rows: int, n_others: int, second: str = "Y", first: str = "X") -> None:
    """Refuse two tables of different length."""
    if n_rows != n_others:
        raise InputError(f"{first} has {n_rows} rows and {second} has {n_others}; they must be the same rows.")


def one_of(value: object, name: str, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not one of the words in ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name} must be {' or '.join(map(repr, choices))}, not {value!r}.{did_you_mean(value, choices)}")


def did_you_mean(name: object, known: Iterable[str], aliases: Mapping[str, str] | None = None) -> str:
    """Return a sentence that suggests the known names closest to a misspelled one, at most three; empty if none is close.

    >>> did_you_mean("quantil", ["equal-frequency", "mdl"], {"quantile": "equal-frequency"}), did_you_mean("?", ["mdl"])
    (" Did you mean 'equal-frequency'?", '')
    >>> did_you_mean("jmmi", ["jmi", "jmim", "cife"])
    " Did you mean 'jmi'? Similar: 'jmim'."
    """
    by_word = {**(aliases or {}), **{word: word for word in known}}
    typed = str(name).strip()
    spellings = (typed, typed.lower(), typed.lower().replace("_", "-"))
    close = next((found for word in spellings if (found := difflib.get_close_matches(word, by_word, n=N_SUGGESTED))), [])
    close = close or [word for word in by_word if len(typed) > 2 and word.startswith(typed.lower())]
    first, *others = [repr(name) for name in dict.fromkeys(by_word[word] for word in close[:N_SUGGESTED])] or [""]
    similar = f" Similar: {', '.join(others)}." if others else ""
    return f" Did you mean {first}?{similar}" if close else ""


def share(value: object, name: str) -> float:
    """Return ``value`` as a float; refuse anything but a number above 0 and below 1."""
    if not 0 < (found := number(value, name)) < 1:
        raise InputError(f"{name} must be between 0 and 1, not {value!r}.")
    return found


def not_negative(value: object, name: str) -> float:
    """Return ``value`` as a float; refuse anything but a number of 0 or more."""
    if not (found := number(value, name)) >= 0:
        raise InputError(f"{name} must not be negative, and is {value!r}.")
    return found


def number(value: object, name: str) -> float:
    """Return ``value`` as a float; refuse anything but a number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{name} must be a number, not {value!r}.")
    return float(value)


def unknown_name(
    what: str, name: object, known: Iterable[str], *, more: str = "", aliases: Mapping[str, str] | None = None
) -> InputError:
    """Return the error for a name that is not in ``known``: it suggests the closest ones, also by aliases, or lists all.

    >>> unknown_name("stopping rule", "permutatoin", ["knee", "permutation"])
    InputError("'permutatoin' is not a stopping rule. Did you mean 'permutation'?")
    >>> unknown_name("stopping rule", "x", ["knee", "permutation"])
    InputError("'x' is not a stopping rule. Known: knee, permutation.")
    """
    names = list(known)
    article = "an" if what[0] in "aeiou" else "a"
    remedy = did_you_mean(name, names, aliases) or f" Known: {', '.join(names)}{more}."
    return InputError(f"{name!r} is not {article} {what}.{remedy}")


def resolve(value: object, known: Mapping[str, type[T]], kind: type[T], what: str) -> T:
    """Return ``value`` if it is a ``kind``; for a name, make an object of the class of that name with default parameters."""
    if isinstance(value, kind):
        return value
    if isinstance(value, str) and value.lower() in known:
        return known[value.lower()]()
    raise unknown_name(what, value, known, more=f", or a {kind.__name__} object")


class DatasetWarning(UserWarning):
    """A warning that reading a file changed the meaning of a column: dates became numbers, a column of text label sets."""


class DatasetError(InputError):
    """An :class:`~labelsieve.InputError` for a data file: it names the file, the line if known, the problem and the remedy.

    Parameters
    ----------
    problem : str
        What is wrong.
    remedy : str, default=""
        What to do.
    file : path, default=None
        Its last part is shown.
    line : int, default=None
        The first line of a file is 1.

    Examples
    --------
    >>> raise DatasetError("there is no @data.", "Is the file whole?", "birds.arff", line=3)
    Traceback (most recent call last):
    labelsieve.errors.DatasetError: birds.arff, line 3: there is no @data. Is the file whole?
    """

    def __init__(
        self, problem: str, remedy: str = "", file: str | PathLike[str] | None = None, line: int | None = None
    ) -> None:
        location = ", ".join(([Path(file).name] if file is not None else []) + ([f"line {line}"] if line is not None else []))
        super().__init__((f"{location}: " if location else "") + problem + (f" {remedy}" if remedy else ""))
        self.file = None if file is None else str(file)
        self.line = line


def some_of(values: tuple[str, ...] | list[str], show: int = 8) -> str:
    """Return the first few values as text, for a message.

    >>> some_of(["a", "b", "c"], show=2)
    "'a', 'b', ... (3)"
    """
    return ", ".join(map(repr, values[:show])) + (f", ... ({len(values)})" if len(values) > show else "")
