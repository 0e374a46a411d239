"""Data sets from files of any of the formats of the field."""

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labelsieve.datasets.arff import parse_arff
from labelsieve.datasets.compression import MAX_BYTES, read_bytes
from labelsieve.datasets.dataset import Dataset
from labelsieve.datasets.delimited import parse_csv, parse_parquet
from labelsieve.datasets.errors import DatasetError
from labelsieve.datasets.labels import Labels, label_names
from labelsieve.datasets.libsvm import is_libsvm, parse_libsvm
from labelsieve.datasets.matlab import is_matlab, parse_matlab
from labelsieve.datasets.table import Column, Table, join
from labelsieve.datasets.targets import targets

AnyPath = str | os.PathLike[str]
# Possessive (*+): what is blank or a comment stays so, and a long start that ends otherwise is not tried in every way.
_ARFF = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s|%[^\r\n]*+)*+@(?:relation|attribute)\b", re.IGNORECASE)


def load(
    path: AnyPath | Sequence[AnyPath], labels: Labels | None = None, *, name: str | None = None, max_bytes: int = MAX_BYTES
) -> Dataset:
    r"""Load a data set from a file, or from several that are its parts.

    The content tells the format: ARFF (Mulan, MEKA; dense or sparse), MATLAB 5, libsvm, Parquet, or else CSV; plain or packed
    with gzip, bzip2, xz or zstd.

    Parameters
    ----------
    path : path, or sequence of paths
        Rows of several files, such as a train and a test part, are joined in this order.
    labels : optional
        Which columns are labels: the path of a Mulan XML header; ``6``, the last six columns; ``-6``, the first six; names;
        or a compiled regular expression, for the names that it finds a match in. By default ``NAME.xml`` beside the file is
        looked for (``NAME-train.arff`` has ``NAME.xml`` too), then MEKA's ``-C`` in the relation. Labels keep the order of
        the columns, whatever that of the header; only names come in the order in which they are given.
    name : str, optional
        By default the file's.
    max_bytes : int
        The most that a file may unpack to.

    Returns
    -------
    Dataset
        Labels that are 0 and 1 are uint8, and sparse if the file is; other targets are float64.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "songs.arff")
    >>> _ = file.write_text("@relation songs\n@attribute tempo numeric\n@attribute calm {0,1}\n@data\n98,1\n160,0\n")
    >>> songs = load(file, labels=1)
    >>> songs.label_names, songs.Y.ravel()
    (('calm',), array([1, 0], dtype=uint8))
    """
    files = [Path(path)] if isinstance(path, str | os.PathLike) else [Path(part) for part in path]
    if not files:
        raise DatasetError("there is no file to load.")
    table = join([read_table(file, max_bytes) for file in files])
    return part(table, labels, name if name is not None else _name(files))


def read_table(file: Path, max_bytes: int = MAX_BYTES) -> Table:
    """All columns of a file."""
    return parse(read_bytes(file, max_bytes), file)


def parse(data: bytes, file: str | Path) -> Table:
    """All columns of the content of a file; ``file`` is its name, for messages."""
    if not data.strip():
        raise DatasetError("the file is empty.", file=file)
    return _parser(data)(data, Path(file))


def _parser(data: bytes) -> Callable[[bytes, Path], Table]:
    if is_matlab(data):
        return parse_matlab
    if data.startswith(b"PAR1"):
        return parse_parquet
    if _ARFF.match(data):
        return parse_arff
    return parse_libsvm if is_libsvm(data) else parse_csv


def part(table: Table, labels: Labels | None, name: str) -> Dataset:
    """Part the columns of a table into features and labels."""
    chosen = label_names(table, labels)
    if not chosen:
        raise DatasetError("there are no labels in it.", file=table.file, remedy="Is the file whole?")
    if table.n_labels is not None and not set(chosen) <= set(table.names):  # names for labels that had none
        d = len(table.columns) - table.n_labels
        place = {label: d + i for i, label in enumerate(chosen)}
    else:
        place = {column.name: i for i, column in enumerate(table.columns)}
    columns = [place[label] for label in chosen]
    taken = set(columns)
    features = [i for i in range(len(table.columns)) if i not in taken]
    if not features:
        raise DatasetError(f"all {len(columns)} columns are labels.", file=table.file, remedy="Leave some as features.")
    kept = [table.columns[i] for i in features]
    renamed = [Column(label, table.columns[i].values) for label, i in zip(chosen, columns, strict=True)]
    return Dataset(
        X=_take(table.cells, features),
        Y=targets(_take(table.cells, columns), renamed, table.file),
        feature_names=tuple(column.name for column in kept),
        label_names=tuple(chosen),
        feature_kinds=tuple("numeric" if column.values is None else "nominal" for column in kept),
        categories={column.name: column.values for column in kept if column.values is not None},
        description=table.description or table.relation,
        name=name,
    )


def _take(cells: Any, columns: list[int]) -> Any:
    first, last = columns[0], columns[-1]
    if columns == list(range(first, last + 1)):  # many times faster than a list of columns when sparse
        return cells[:, first : last + 1].copy()
    return sparse.csr_array(cells[:, columns]) if sparse.issparse(cells) else np.ascontiguousarray(cells[:, columns])


def _name(files: list[Path]) -> str:
    stem = files[0].name.partition(".")[0]
    return re.sub(r"[-_](?:train|test)$", "", stem, flags=re.IGNORECASE) if len(files) > 1 else stem
