"""What is fuzzed: one function for each format, from bytes to a data set or a refusal in words.

A target returns None when the input was read or refused by a :class:`DatasetError`. Anything else that comes out of it is
a mistake of the reader.
"""

import contextlib
import tempfile
import warnings
from pathlib import Path

from labelsieve.datasets.dataset import Dataset
from labelsieve.datasets.describe import describe_columns
from labelsieve.datasets.readers.arff import parse_arff
from labelsieve.datasets.readers.csv import parse_csv
from labelsieve.datasets.readers.files import read_bytes
from labelsieve.datasets.readers.labels import read_label_header
from labelsieve.datasets.readers.libsvm import parse_libsvm
from labelsieve.datasets.readers.load import parse, split_columns
from labelsieve.datasets.readers.matlab import parse_matlab
from labelsieve.datasets.readers.parquet import parse_parquet
from labelsieve.datasets.readers.spreadsheet import parse_spreadsheet
from labelsieve.errors import DatasetError

UNPACKED = 2**22  # more than this is refused as too long, so that packed inputs stay quick
MEMORY = 2**28  # limit of the readers, far below that of the fuzzer


def read_with(parser):
    """A target that parses bytes and splits the columns into features and labels, as ``load`` does."""

    def target(data):
        table = parser(data, Path("made"), max_bytes=MEMORY)
        assert table.cells.shape[1] == len(table.columns)
        check(split_columns(table, None if table.n_labels is not None else 1, "made", max_bytes=MEMORY))

    return target


def check(dataset):
    assert isinstance(dataset, Dataset)
    assert dataset.X.shape == (dataset.n_rows, len(dataset.feature_names))
    assert dataset.Y.shape == (dataset.n_rows, len(dataset.label_names))
    assert len(describe_columns(dataset)) == len(dataset.feature_names)


def read_options(data):
    """The options of reading, one in each of the first lines, and then a table."""
    labels, separator, missing, *content = data.split(b"\n", 3)
    table = parse_csv(content[0] if content else b"", Path("made"), MEMORY)
    treatments = ("error", "drop", "absent", "keep")
    check(
        split_columns(
            table,
            labels.decode("latin-1"),
            "made",
            treatments[len(missing) % 4],
            label_separator=separator.decode("latin-1") or None,
            max_bytes=MEMORY,
        )
    )


def as_file(reader):
    """A target for what reads files, not bytes."""
    memory = Path("/dev/shm")  # writing to a disk takes ten times as long as the reader
    file = Path(tempfile.mkdtemp(prefix="labelsieve-fuzz-", dir=memory if memory.is_dir() else None), "made")

    def target(data):
        file.write_bytes(data)
        reader(file)

    return target


def read_packed(file):
    read_with(parse)(read_bytes(file, max_bytes=UNPACKED))


TARGETS = {
    "arff": read_with(parse_arff),
    "xml": as_file(read_label_header),
    "libsvm": read_with(parse_libsvm),
    "csv": read_with(parse_csv),
    "parquet": read_with(parse_parquet),
    "matlab": read_with(parse_matlab),
    "packed": as_file(read_packed),
    "spreadsheet": read_with(parse_spreadsheet),
    "options": read_options,
    "any": read_with(parse),
}


def read_or_refused(target, data):
    """Run a target; a refusal in words is as valid as a result."""
    with contextlib.suppress(DatasetError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a reader announces
        TARGETS[target](data)
