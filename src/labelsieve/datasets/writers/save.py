"""Data sets into files."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

from labelsieve.datasets.dataset import Dataset
from labelsieve.datasets.readers.column_table import Column
from labelsieve.datasets.readers.label_columns import header_of, read_label_header
from labelsieve.datasets.readers.npz_pair import label_file
from labelsieve.datasets.readers.parquet import TableMetadata, arrow
from labelsieve.datasets.writers.atomic_file import PACKED, packed, write_files
from labelsieve.datasets.writers.save_check import CheckedDataset, check_dataset
from labelsieve.datasets.writers.sparse_writers import write_libsvm, write_npz_features, write_npz_labels
from labelsieve.datasets.writers.text_writers import write_arff, write_csv, write_label_header
from labelsieve.errors import DatasetError
from labelsieve.table_types import is_sparse


def save(dataset: Dataset, path: str | os.PathLike[str], *, overwrite: bool = False) -> tuple[Path, ...]:
    """Write a data set to a file that :func:`load` reads again with the same numbers, names and kinds.

    Files are written completely or not at all: under other names in the same folder, and then renamed.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    path : path
        The ending of the name says what is written, and a further ``.gz``, ``.bz2``, ``.xz`` or (with the package
        ``zstandard``) ``.zst`` how it is compressed:

        ``.arff``
            ARFF with labels last, in sparse rows if ``X`` is sparse, and the labels in a Mulan header next to it, ``NAME.xml``.
            The relation also says for MEKA which columns are labels. A header that lists these labels already is left as it is.
        ``.parquet``, ``.pq``
            A column for each feature and label; lists of indices and values where ``X`` is sparse. What columns cannot say is
            noted in the schema, so that ``load`` needs no ``labels=``. Needs pyarrow.
        ``.libsvm``, ``.svm``, ``.txt``
            Labels and ``index:value`` pairs that count from 0, under a line with the numbers of rows, features and labels: the
            text format of the extreme classification repository. Keeps no names (they come back as ``feature0``, ``label0``),
            no dense ``X``, no -0.0. Nominal features (other than 0, 1, ..., which come back as numbers) and targets other than
            0 and 1 are refused.
        ``.npz``
            Two sparse matrices for ``scipy.sparse.load_npz``: features in ``NAME.X.npz``, the path to give, and labels in
            ``NAME.Y.npz`` (or ``X.NAME.npz`` and ``Y.NAME.npz``). Keeps and refuses the same as libsvm.
        ``.csv``
            Keeps neither sparseness nor -0.0, nor which columns are labels: pass ``labels=`` their number to ``load``. Values
            of nominal columns come back sorted, and as numbers if all of them look like numbers.
    overwrite : bool, default=False
        Replace files that exist, instead of refusing.

    Returns
    -------
    tuple of Path
        The files that were written.

    Notes
    -----
    Numbers are written so that the very same float is read, NaN as a missing value. Zeros that a sparse ``X`` stores are not
    kept, nor is the sign of such a zero. ``Y`` comes back in the form that ``load`` gives it: 0/1 in uint8, sparse if ``X``
    is. The name of a data set comes back as that of its file. Its description is kept by Parquet, by ARFF without blanks at the
    ends of its lines (an empty one comes back as the relation), and not by libsvm, npz and CSV.

    Cost: about a microsecond for each cell that is written as text, a few tenths of one in Parquet; 1.3 million cells of a
    sparse 8,027 x 39,679 table take one or two seconds.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from labelsieve.datasets import load
    >>> X, Y = np.array([[98.5], [160.0]]), np.array([[1], [0]], np.uint8)
    >>> songs = Dataset(X, Y, ("tempo, mean",), ("calm",), ("numeric",))
    >>> files = save(songs, Path(tempfile.mkdtemp(), "songs.arff.gz"))
    >>> [file.name for file in files]
    ['songs.arff.gz', 'songs.xml']
    >>> load(files[0]).feature_names
    ('tempo, mean',)
    """
    path = Path(path)
    target = Path(os.path.realpath(path))  # what a link points to, not the link
    writer = writer_for(path)
    data = check_dataset(dataset, path)
    files = [(target, packed(path, partial(writer, data)))]
    if writer is write_arff:
        header = header_of(target)
        if not _lists_the_same(header, data):
            files.insert(0, (header, partial(write_label_header, data)))
    if writer is write_npz_features:
        files.insert(0, (label_file(target), packed(path, partial(write_npz_labels, data))))
    for file, _ in files:
        if file.exists() and not overwrite:
            raise DatasetError("this file exists already.", "Choose another name, or pass overwrite=True.", file)
    write_files(files)
    return tuple(file for file, _ in reversed(files))


def writer_for(path: Path) -> Callable[[CheckedDataset, BinaryIO], None]:
    """What writes files with such a name.

    >>> writer_for(Path("songs.CSV.gz")).__name__
    'write_csv'
    """
    name = path.name.lower()
    for ending in PACKED:
        name = name.removesuffix(ending)
    for ending, writer in _WRITERS.items():
        if name.endswith(ending) and name != ending:
            return writer
    known = f"Known are {', '.join(_WRITERS)}; {', '.join(PACKED)} after that pack the file."
    raise DatasetError("its name does not say what to write.", known, path)


def _lists_the_same(header: Path, data: CheckedDataset) -> bool:
    """True for a header with these labels: it may say more, such as which label is part of which."""
    try:
        return header.is_file() and set(read_label_header(header)) == {column.name for column in data.labels}
    except DatasetError:
        return False


def write_parquet(data: CheckedDataset, raw: BinaryIO) -> None:
    """Write a column for each feature and label, or lists for sparse rows, and metadata about them in the schema.

    Sparse rows are lists because columns cost by themselves: 39,679 of them, of 1,000 zeros each, took 6 s to write and 12 s to
    read, where the lists of yahoo-reference, which has eight times as many rows, take 0.2 s and 0.4 s.
    """
    pyarrow = arrow(data.file, "writing")
    scattered = is_sparse(data.X)
    labels = data.Y.toarray() if is_sparse(data.Y) and not (scattered and data.binary) else data.Y
    names, arrays = [], []
    if scattered:
        names, arrays = ["feature_indices", "feature_values"], list(_lists(pyarrow, data.X))
        while set(names) & {column.name for column in data.labels}:
            names = [name + "_" for name in names]
    else:
        names = [column.name for column in data.features]
        arrays = [_array(pyarrow, data.X[:, position], column, None) for position, column in enumerate(data.features)]
    if scattered and data.binary:
        names.append("label_indices")
        arrays.append(_lists(pyarrow, sparse.csr_array(labels))[0])
    else:
        kind = np.uint8 if data.binary else None
        names += [column.name for column in data.labels]
        arrays += [_array(pyarrow, labels[:, position], column, kind) for position, column in enumerate(data.labels)]
    described = TableMetadata(
        features=data.dataset.feature_names,
        labels=data.dataset.label_names,
        categories={column.name: column.values for column in data.columns if column.values is not None},
        description=data.dataset.description,
        sparse=scattered,
    )
    schema = pyarrow.schema(
        [pyarrow.field(name, array.type) for name, array in zip(names, arrays, strict=True)], metadata=described.metadata()
    )
    sink = pyarrow.BufferOutputStream()
    nominal = [column.name for column in data.columns if column.values is not None]
    table = pyarrow.Table.from_arrays(arrays, schema=schema)
    # Dictionaries are for words: among numbers one could take 0.0 and -0.0 for the same.
    pyarrow.parquet.write_table(table, sink, compression="zstd", use_dictionary=nominal or False)
    raw.write(sink.getvalue())


def _lists(pyarrow: ModuleType, cells: Any) -> tuple[Any, Any]:
    cells = cells.copy()
    cells.sort_indices()
    ends = pyarrow.array(cells.indptr.astype(np.int32))
    lists = pyarrow.ListArray.from_arrays
    return lists(ends, pyarrow.array(cells.indices.astype(np.int32))), lists(ends, pyarrow.array(cells.data))


def _array(pyarrow: ModuleType, cells: Any, column: Column, kind: type[np.generic] | None) -> Any:
    missing = np.isnan(cells)
    if column.values is not None:
        codes = pyarrow.array(np.where(missing, 0, cells).astype(np.int32), mask=missing)
        return pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(column.values, pyarrow.string()))
    return pyarrow.array(cells if kind is None else cells.astype(kind), mask=missing if missing.any() else None)


_WRITERS: dict[str, Callable[[CheckedDataset, BinaryIO], None]] = {
    ".arff": write_arff,
    ".parquet": write_parquet,
    ".pq": write_parquet,
    ".libsvm": write_libsvm,
    ".svm": write_libsvm,
    ".txt": write_libsvm,
    ".npz": write_npz_features,
    ".csv": write_csv,
}
