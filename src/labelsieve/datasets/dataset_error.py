from os import PathLike
from pathlib import Path

from labelsieve.errors import InputError


class DatasetWarning(UserWarning):
    """A decision about a file of data that changes what its columns mean: dates as numbers, sets of labels in one column."""


class DatasetError(InputError):
    """A file of data that cannot be used: which file, which line where that is known, what is wrong, and what to do.

    Parameters
    ----------
    problem, remedy : str
        What is wrong, and what to do.
    file : path, optional
        Its last part is shown.
    line : int, optional
        The first line of a file is 1.

    Examples
    --------
    >>> raise DatasetError("there is no @data.", "Is the file whole?", "birds.arff", line=3)
    Traceback (most recent call last):
    labelsieve.datasets.dataset_error.DatasetError: birds.arff, line 3: there is no @data. Is the file whole?
    """

    def __init__(
        self, problem: str, remedy: str = "", file: str | PathLike[str] | None = None, line: int | None = None
    ) -> None:
        location = ", ".join(([Path(file).name] if file is not None else []) + ([f"line {line}"] if line is not None else []))
        super().__init__((f"{location}: " if location else "") + problem + (f" {remedy}" if remedy else ""))
        self.file = None if file is None else str(file)
        self.line = line


def some_of(values: tuple[str, ...] | list[str], show: int = 8) -> str:
    """The first few values, for a message.

    >>> some_of(["a", "b", "c"], show=2)
    "'a', 'b', ... (3)"
    """
    return ", ".join(map(repr, values[:show])) + (f", ... ({len(values)})" if len(values) > show else "")
