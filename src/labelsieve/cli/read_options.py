"""The options of every command that reads a file of data, declared once, and the reading."""

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from labelsieve.errors import InputError

if TYPE_CHECKING:
    from labelsieve.datasets import Dataset

FORMATS = "ARFF (Mulan, MEKA), Matlab, libsvm, SciPy (.X.npz), CSV with a header row, Excel (.xlsx), Parquet; also compressed."
FILE = f"{FORMATS.removesuffix('.')}; or a name from datasets list."
LABELS = (
    "Label columns: N, the last N columns; -N, the first N; comma-separated names; a pattern such as 'label_*'; a regular "
    "expression after re: ('re:^y[0-9]+$'); or an XML header. Not needed if the file declares them."
)
SEPARATOR = "Separator of label sets in label columns, such as ';'; none: they are not sets. Default: detected."
MISSING_LABELS = "Missing labels: raise an error, drop their rows, treat them as absent, or keep them as unknown."
MAX_BYTES = "Maximum memory for reading, such as 8G; default: 4G, or the available memory if less."


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file of data, as typed."""

    labels: Annotated[str | None, typer.Option(help=LABELS)] = None
    label_separator: Annotated[str | None, typer.Option(help=SEPARATOR)] = None
    strings: Annotated[
        Literal["error", "drop", "nominal"],
        typer.Option(
            help="String attributes and non-numeric dates of ARFF files: raise an error, drop them, or treat them as nominal."
        ),
    ] = "error"
    missing_labels: Annotated[Literal["error", "drop", "absent", "keep"], typer.Option(help=MISSING_LABELS)] = "error"
    max_bytes: Annotated[str | None, typer.Option(help=MAX_BYTES)] = None

    def settings(self) -> dict[str, Any]:
        """Parameters of :func:`labelsieve.datasets.load` that were typed; the others keep their defaults."""
        from labelsieve.datasets.readers.memory_budget import read_size

        separator = "" if self.label_separator == "none" else self.label_separator
        limit = None if self.max_bytes is None else read_size(self.max_bytes, "--max-bytes")
        given = {"labels": self.labels, "label_separator": separator, "max_bytes": limit}
        words = {"strings": self.strings, "missing_labels": self.missing_labels}
        return {name: value for name, value in given.items() if value is not None} | {
            name: value for name, value in words.items() if value != "error"
        }

    def load(self, path: str | os.PathLike[str], *, names: bool = True) -> "Dataset":
        """Read a file or, with ``names``, a data set of the catalog; messages name options instead of parameters."""
        from labelsieve.datasets import load, load_or_fetch

        with messages_as_options():
            return (load_or_fetch if names else load)(path, **self.settings())


def as_options(message: str) -> str:
    """A message of the library with its parameters as one types them here.

    >>> as_options('Pass strings="drop", max_bytes=9 or overwrite=True.')
    'Pass --strings drop, --max-bytes 9 or --overwrite.'
    """
    message = re.sub(r'\b(strings|missing_labels|label_separator)="([^"]*)"', _option, message)
    message = re.sub(r"\bmax_bytes=(\d+)", r"--max-bytes \1", message).replace("max_bytes=", "--max-bytes")
    return message.replace("overwrite=True", "--overwrite").replace("labels=:", "--labels:")


def _option(found: re.Match[str]) -> str:
    value = found[2] if found[2].isalpha() else f"'{found[2]}'"
    return f"--{found[1].replace('_', '-')} {value if found[2] else 'none'}"


@contextmanager
def messages_as_options() -> Iterator[None]:
    """Let refusals and notes of the library name options instead of parameters."""
    notes: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            yield
    except InputError as error:
        raise InputError(as_options(str(error))) from error
    finally:
        for note in notes:
            warnings.warn(as_options(str(note.message)), note.category, stacklevel=3)
