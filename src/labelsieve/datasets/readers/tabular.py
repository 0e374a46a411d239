"""Tables from files, CSV and Parquet: which columns are features and which are labels."""

import csv
import gzip
import os
import re
import warnings
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from labelsieve.counting.number_table import is_frame
from labelsieve.errors import InputError

CSV = (".csv", ".csv.gz")
PARQUET = (".parquet", ".pq")
# What pandas and polars shall both take for a missing value, so that the answer does not depend on which is installed.
# The question mark is what the data sets of the field use.
MISSING = ["", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-nan", "NULL", "null"]


@dataclass(frozen=True, eq=False)
class LabeledTable:
    """Features and labels of the same rows, as frames of pandas or polars, or as arrays where the file has no text."""

    X: Any
    Y: Any
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    def text_features(self) -> dict[str, int]:
        """The features that hold text, and how many different values each has."""
        if not is_frame(self.X):
            return {}
        frame = nw.from_native(self.X, eager_only=True)
        text = (nw.String, nw.Categorical, nw.Enum)
        return {name: int(frame[name].n_unique()) for name in frame.columns if frame[name].dtype in text}


def read_labeled_table(path: str | os.PathLike[str], labels: str) -> LabeledTable:
    r"""Read a file and part its columns into features and labels.

    pandas is used, or polars where pandas is not installed.

    Parameters
    ----------
    path : path
        CSV with a header row (``.csv``, ``.csv.gz``) or Parquet (``.parquet``, ``.pq``).
    labels : str
        ``"6"``, the last six columns; ``"-6"``, the first six; or names with commas between them. A name that is a number is
        told from a count by a comma at the end: ``"6,"``.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "songs.csv")
    >>> _ = file.write_text("tempo,loud,calm,happy\n98,0.3,1,0\n160,0.9,0,1\n")
    >>> read_labeled_table(file, "2").label_names
    ('calm', 'happy')
    """
    path = Path(path)
    name = path.name.lower()
    if not name.endswith(CSV + PARQUET):
        raise InputError(f"{path}: unknown file type; known are {', '.join(CSV + PARQUET)}.")
    with path.open("rb"):  # what the system has against it, in the system's words
        pass
    kind = "CSV" if name.endswith(CSV) else "Parquet"
    pandas = find_spec("pandas") is not None and (kind == "CSV" or find_spec("pyarrow") is not None)
    if not pandas and find_spec("polars") is None:
        raise InputError(f"{path}: reading {kind} needs pandas with pyarrow, or polars: pip install 'labelsieve[tables]'.")
    try:
        if kind == "CSV":
            _check_header(path)
        frame = (_read_with_pandas if pandas else _read_with_polars)(path, kind)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # every reader has its own kinds of errors
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise InputError(f"{path}: cannot be read as {kind} ({reason}).") from error
    return _part(frame, labels, path)


def _check_header(path: Path) -> None:
    """Refuse headers that readers mend in silence, each in its own way."""
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as lines:
        header = next(csv.reader(lines), None)
    if not header:
        raise InputError(f"{path}: the file is empty, or its first line is.")
    seen: set[str] = set()
    for place, name in enumerate(header):
        if not name.strip():
            raise InputError(f"{path}: column {place + 1} has no name; leave it out if it only numbers the rows.")
        if name in seen:
            raise InputError(f"{path}: two columns are named {name!r}; the first row must be a header with different names.")
        seen.add(name)


def _read_with_pandas(path: Path, kind: str) -> Any:
    pandas = import_module("pandas")
    if kind == "Parquet":
        frame = pandas.read_parquet(path, engine="pyarrow")
        return frame.set_axis([str(name) for name in frame.columns], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", pandas.errors.ParserWarning)  # rows longer than the header would lose their ends
        return pandas.read_csv(path, na_values=MISSING, keep_default_na=False, index_col=False, low_memory=False)


def _read_with_polars(path: Path, kind: str) -> Any:
    polars = import_module("polars")
    if kind == "CSV":
        return polars.read_csv(path, null_values=MISSING, infer_schema_length=None)
    frame = polars.read_parquet(path)
    return frame.drop([name for name in frame.columns if re.fullmatch(r"__index_level_\d+__", name)])


def _part(frame: Any, labels: str, path: Path) -> LabeledTable:
    names = [str(name) for name in frame.columns]
    chosen = _label_columns(names, labels, path)
    taken = set(chosen)
    features = [name for name in names if name not in taken]
    if not features:
        raise InputError(f"{path}: all {len(names)} columns are labels; leave some to choose from.")
    if not frame.shape[0]:
        raise InputError(f"{path}: there are no rows under the header.")
    columns = nw.from_native(frame, eager_only=True)
    for name in names:
        missing = np.flatnonzero(columns[name].is_null().to_numpy())
        if len(missing):
            raise InputError(
                f"{path}: column {name!r} has {len(missing)} missing values, the first in row {missing[0] + 1} under the header"
                "; fill them or drop their rows."
            )
    return LabeledTable(frame[features], frame[chosen], tuple(features), tuple(chosen))


def _label_columns(names: list[str], labels: str, path: Path) -> list[str]:
    if re.fullmatch(r"\s*[+-]?\d+\s*", labels):
        count = int(labels)
        if count == 0:
            raise InputError("labels: 0 columns are no labels; give a number, or names with commas between them.")
        if abs(count) > len(names):
            hint = "; is it separated by commas?" if len(names) == 1 else "."
            raise InputError(f"{path}: {abs(count)} label columns of {len(names)} column{'s' * (len(names) > 1)}{hint}")
        return names[-count:] if count > 0 else names[:-count]
    wanted = [name.strip() for name in next(csv.reader([labels], skipinitialspace=True), [])]
    wanted = list(dict.fromkeys(name for name in wanted if name))
    if not wanted:
        raise InputError("labels: no column is named; give a number, or names with commas between them.")
    for name in wanted:
        if name not in names:
            near = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
            raise InputError(f"{path}: there is no column named {name!r}; its {len(names)} columns are {near}")
    return wanted
