"""Writing data sets: ARFF, CSV, Parquet, libsvm and pairs of SciPy matrices, each file complete or not at all.

:func:`save` checks the data set, picks the writer of the format, and hands it to :func:`write_files`.
"""

import bz2
import csv
import gzip
import io
import lzma
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from stat import S_IMODE
from types import ModuleType
from typing import Any, BinaryIO
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.dataset import Dataset
from labelsieve.datasets.readers.columns import Column, check_names
from labelsieve.datasets.readers.labels import header_of, one_comes_first, read_label_header
from labelsieve.datasets.readers.npz import label_file
from labelsieve.datasets.readers.parquet import TableMetadata, arrow, column_array
from labelsieve.errors import DatasetError, some_of
from labelsieve.tables.text import MISSING
from labelsieve.tables.types import CompressedMatrix, Matrix, dense_array, is_sparse

EXACT = 2**53  # whole numbers up to this are floats too
BLOCK = 2**18  # cells that are text at the same time
_BARE = re.compile(r"""[^\s,'"{}%\\?@\x00-\x20\x7f]+""")
_ESCAPES = str.maketrans({"\\": r"\\", "'": r"\'", "\n": r"\n", "\r": r"\r", "\t": r"\t"})
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LABEL = ("0", "1")


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


def writer_for(path: Path) -> "Callable[[CheckedDataset, BinaryIO], None]":
    """Return the function that writes files with such a name.

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


def _lists_the_same(header: Path, data: "CheckedDataset") -> bool:
    """Return True for a header with these labels: it may say more, such as which label is part of which."""
    try:
        return header.is_file() and set(read_label_header(header)) == {column.name for column in data.labels}
    except DatasetError:
        return False


@dataclass(frozen=True, eq=False)
class CheckedDataset:
    """A data set as it is written: cells in float64, X a csr_array or an ndarray, Y likewise; features first, then labels."""

    dataset: Dataset
    features: tuple[Column, ...]
    labels: tuple[Column, ...]
    X: Matrix
    Y: Matrix
    file: Path

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.features + self.labels

    def column_cells(self, position: int) -> NDArray[np.float64]:
        """Return the cells of one of :attr:`columns`."""
        d = len(self.features)
        return dense_array(self.X[:, [position]] if position < d else self.Y[:, [position - d]])

    @property
    def binary(self) -> bool:
        """True when every label is 0 or 1."""
        stored = self.Y if isinstance(self.Y, np.ndarray) else self.Y.data
        return not self.dataset.label_categories and bool(np.isin(stored, (0.0, 1.0)).all())


def check_dataset(dataset: Dataset, file: Path) -> CheckedDataset:
    """Convert a data set to the form in which it is written; a DatasetError says what is wrong with it."""
    features = _columns(dataset.feature_names, dataset.categories, "feature", file)
    labels = _columns(dataset.label_names, dataset.label_categories, "label", file)
    check_names(features + labels, file)
    nominal = ["numeric" if column.values is None else "nominal" for column in features]
    if list(dataset.feature_kinds) != nominal:
        raise DatasetError("feature_kinds and categories do not agree.", "Nominal features have categories.", file)
    for column in labels:
        if column.values is not None and one_comes_first(column.values) is not None:
            raise DatasetError(f"label {column.name!r} has categories that mean no and yes.", "Give it as 0 and 1.", file)
    X, Y = _cells(dataset.X, features, "X", file), _cells(dataset.Y, labels, "Y", file)
    if X.shape[0] != Y.shape[0] or not X.shape[0]:
        raise DatasetError(f"X has {X.shape[0]} rows and Y has {Y.shape[0]}.", "Both need the same, not 0.", file)
    if np.isnan(Y if isinstance(Y, np.ndarray) else Y.data).any():
        remedy = "Fill it, or leave out the row, for example with --missing-labels drop."
        raise DatasetError("a label is missing (NaN in Y).", remedy, file)
    return CheckedDataset(dataset, features, labels, X, Y, file)


def _columns(names: Sequence[str], categories: Mapping[str, tuple[str, ...]], what: str, file: Path) -> tuple[Column, ...]:
    if not names:
        raise DatasetError(f"there is no {what}.", file=file)
    if unknown := [name for name in categories if name not in set(names)]:
        raise DatasetError(f"there are categories of {some_of(unknown)}, which is no {what}.", file=file)
    for name, values in categories.items():
        if not values or len(set(values)) < len(values):
            raise DatasetError(f"{what} {name!r} has no categories, or one of them twice.", file=file)
    texts = [*names, *(value for values in categories.values() for value in values)]
    for text in texts:
        try:
            if "\0" in text:
                raise ValueError
            text.encode()
        except ValueError:
            raise DatasetError(f"{text!r} holds a NUL character or half of a surrogate pair.", "Rename it.", file) from None
    return tuple(Column(name, tuple(categories[name]) if name in categories else None) for name in names)


def _cells(values: Any, columns: tuple[Column, ...], what: str, file: Path) -> Matrix:
    scattered = sparse.issparse(values)
    values = values if scattered else np.asarray(values)
    if values.ndim != 2 or values.shape[1] != len(columns):
        raise DatasetError(f"{what} has the shape {values.shape}, and there are {len(columns)} names.", file=file)
    stored = values.data if scattered else values
    whole = values.dtype.kind in "biu" and (not stored.size or max(abs(int(stored.min())), abs(int(stored.max()))) <= EXACT)
    if not whole and values.dtype not in (np.float16, np.float32, np.float64):
        raise DatasetError(f"{what} holds {values.dtype} numbers that are no 64-bit floats.", "Convert it.", file)
    if scattered:
        values = sparse.csr_array(values, dtype=np.float64, copy=True)
        values.sum_duplicates()
        values.eliminate_zeros()
    else:
        values = values.astype(np.float64)
    checked: Matrix = values
    _check_codes(checked, columns, file)
    return checked


def _check_codes(values: Matrix, columns: tuple[Column, ...], file: Path) -> None:
    """Refuse cells of nominal columns that are no codes of its values."""
    many = np.array([0 if column.values is None else len(column.values) for column in columns])
    if not isinstance(values, np.ndarray):
        nominal = many[values.indices] > 0
        cells, positions = values.data[nominal], values.indices[nominal]
    else:
        rows = values[:, many > 0]
        cells, positions = rows.ravel(), np.tile(np.flatnonzero(many), len(rows))
    wrong = ~np.isnan(cells) & ((cells != np.rint(cells)) | (cells < 0) | (cells >= many[positions]))
    if wrong.any():
        column = columns[positions[np.flatnonzero(wrong)[0]]]
        raise DatasetError(
            f"{column.name!r} has {len(column.values or ())} categories, and a cell that is no code of them.",
            "Cells of nominal columns count from 0.",
            file,
        )


def write_arff(data: CheckedDataset, raw: BinaryIO) -> None:
    """Write dense rows if X is dense and sparse rows if it is; labels come last, as the relation says for MEKA."""
    columns = data.columns
    if data.binary:
        columns = data.features + tuple(Column(column.name, _LABEL) for column in data.labels)
    for position, column in enumerate(columns):
        if column.values is not None and "?" in column.values and np.isnan(data.column_cells(position)).any():
            raise DatasetError(
                f"{column.name!r} has the value '?' and missing cells, which ARFF writes in the same way.",
                "Rename the value.",
                data.file,
            )
    raw.write(_header(data, columns).encode())
    if is_sparse(data.X):
        raw.writelines(lines.encode() for lines in _sparse_rows(data, columns))
        return
    for rows in _dense_rows(data, columns, "?", quoted):
        raw.write("".join(",".join(row) + "\n" for row in rows).encode())


def _header(data: CheckedDataset, columns: tuple[Column, ...]) -> str:
    about = data.dataset.description.encode(errors="replace").decode().replace("\0", "")
    lines = [f"% {line}".rstrip() for line in re.split(r"\r\n|\r|\n", about)] if about.strip() else []
    name = data.dataset.name.encode(errors="replace").decode().replace("\0", "") or "data"
    lines.append(f"@relation {quoted(f'{name}: -C -{len(data.labels)}')}\n")
    for column in columns:
        kind = "numeric" if column.values is None else "{" + ",".join(map(quoted, column.values)) + "}"
        lines.append(f"@attribute {quoted(column.name)} {kind}")
    return "\n".join([*lines, "\n@data\n"])


def write_label_header(data: CheckedDataset, raw: BinaryIO) -> None:
    """Write a Mulan header: the names of the labels, in XML."""
    for column in data.labels:
        if _NOT_XML.search(column.name):
            raise DatasetError(
                f"label {column.name!r} holds a character that XML cannot.", "Rename it, or save as Parquet.", data.file
            )
    names = "".join(f"<label name={quoteattr(column.name)}></label>\n" for column in data.labels)
    head = '<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">\n'
    raw.write(f"{head}{names}</labels>\n".encode())


def quoted(text: str) -> str:
    r"""Write a name or value as ARFF wants it: with quotes and escapes where it needs them.

    >>> print(quoted("tempo"), quoted("Swainson's Thrush"), quoted("50%"))
    tempo 'Swainson\'s Thrush' '50%'
    """
    return text if _BARE.fullmatch(text) else f"'{text.translate(_ESCAPES)}'"


def _dense_rows(
    data: CheckedDataset, columns: tuple[Column, ...], missing: str, spell: Callable[[str], str]
) -> Iterator[list[tuple[str, ...]]]:
    """Write blocks of rows as texts; ``spell`` gives that of a nominal value."""
    step = max(1, BLOCK // len(columns))
    for start in range(0, data.X.shape[0], step):
        blocks = [cells[start : start + step] for cells in (data.X, data.Y)]
        cells = np.hstack(list(map(dense_array, blocks)))
        texts = [_texts(cells[:, position], column, missing, spell) for position, column in enumerate(columns)]
        yield list(zip(*texts, strict=True))


def _texts(cells: NDArray[np.float64], column: Column, missing: str, spell: Callable[[str], str]) -> list[str]:
    if column.values is None:
        return number_texts(cells, missing)
    words = [*map(spell, column.values), missing]
    return [words[code] for code in np.where(np.isnan(cells), -1, cells).astype(np.int64).tolist()]


def number_texts(cells: NDArray[np.float64], missing: str) -> list[str]:
    """Write each number as the shortest text that is read as the very same number.

    >>> number_texts(np.array([0.1, 3.0, -0.0, np.nan]), "?")
    ['0.1', '3', '-0', '?']
    """
    texts = [text.removesuffix(".0") for text in map(repr, cells.tolist())]
    for position in np.flatnonzero(np.isnan(cells)).tolist():
        texts[position] = missing
    return texts


def _sparse_rows(data: CheckedDataset, columns: tuple[Column, ...]) -> Iterator[str]:
    cells: Any = sparse.hstack([data.X, sparse.csr_array(data.Y)], format="csr")
    cells.sort_indices()
    values, positions = cells.data, cells.indices
    texts = np.array(number_texts(values, "?"), dtype=object)
    order = np.argsort(positions, kind="stable")
    ends = np.searchsorted(positions[order], np.arange(len(columns) + 1))
    for position, column in enumerate(columns):
        if column.values is not None:
            stored = order[ends[position] : ends[position + 1]]
            texts[stored] = _texts(values[stored], column, "?", quoted)
    pairs = [f"{position} {text}" for position, text in zip(positions.tolist(), texts.tolist(), strict=True)]
    starts = cells.indptr.tolist()
    for start in range(0, len(starts) - 1, 1024):
        rows = zip(starts[start : start + 1024], starts[start + 1 : start + 1025], strict=False)
        yield "".join("{" + ",".join(pairs[first:last]) + "}\n" for first, last in rows)


def write_csv(data: CheckedDataset, raw: BinaryIO) -> None:
    """Write all cells; those of nominal columns by their values. What would be read as something else is refused."""
    if problem := _what_reads_otherwise(data.columns):
        raise DatasetError(f"{problem}, which CSV cannot keep.", "Rename it, or save as ARFF or Parquet.", data.file)
    text = io.TextIOWrapper(raw, encoding="utf-8", newline="", write_through=True)
    try:
        # Quotes at the start: whatever the first name is, the file looks like CSV and like no other format.
        csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow([column.name for column in data.columns])
        writer = csv.writer(text, lineterminator="\n")
        for rows in _dense_rows(data, data.columns, "", str):
            writer.writerows(rows)
    finally:
        text.detach()


def _what_reads_otherwise(columns: Sequence[Column]) -> str | None:
    """Find a name or value that would not be read from CSV as it is written; None if there is none."""
    names = [column.name for column in columns]
    for name in names:
        if not name or name != name.strip() or any(mark in name for mark in "\r\n"):
            return f"the name {name!r} is empty, has blanks at an end or a line break"
    if len(names) - 1 < max("".join(names).count(mark) for mark in ";\t"):
        return "the names have more semicolons or tabs than there are commas between them"
    for column in columns:
        for value in column.values or ():
            if value in MISSING or value != value.strip() or any(mark in value for mark in "\r\n"):
                return f"{column.name!r} has the value {value!r}, a word for missing or with blanks at an end"
    return None


def write_libsvm(data: CheckedDataset, raw: BinaryIO) -> None:
    """Write rows like ``0,2 4:0.2 6:1``, counting from 0, under a line with the numbers of rows, features and labels."""
    X, Y = _matrices(data, "libsvm")
    raw.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n".encode())
    step = max(1, BLOCK * X.shape[0] // max(X.nnz + Y.nnz, X.shape[0]))
    for start in range(0, X.shape[0], step):
        rows, labels = X[start : start + step], Y[start : start + step]
        texts = number_texts(rows.data, "nan")
        pairs = [f"{position}:{text}" for position, text in zip(rows.indices.tolist(), texts, strict=True)]
        names = list(map(str, labels.indices.tolist()))
        ends = np.column_stack([labels.indptr[:-1], labels.indptr[1:], rows.indptr[:-1], rows.indptr[1:]])
        # A row without features gets a zero, lest it look like an empty line or like a row of a table.
        raw.write(
            "".join(
                f"{','.join(names[first:last])} {' '.join(pairs[begin:end]) or '0:0'}\n"
                for first, last, begin, end in ends.tolist()
            ).encode()
        )


def write_npz_features(data: CheckedDataset, raw: BinaryIO) -> None:
    """Write the features of a pair of SciPy matrices."""
    _save_npz(_matrices(data, "npz")[0], raw)


def write_npz_labels(data: CheckedDataset, raw: BinaryIO) -> None:
    """Write the labels of a pair of SciPy matrices, with ones in a byte each."""
    _save_npz(_matrices(data, "npz")[1].astype(np.uint8), raw)


def _save_npz(matrix: CompressedMatrix, raw: BinaryIO) -> None:
    archive = io.BytesIO()  # an archive goes back to write sizes, which a packed file cannot
    sparse.save_npz(archive, matrix)
    raw.write(archive.getbuffer())


def _matrices(data: CheckedDataset, form: str) -> tuple[Any, Any]:
    """Return features and labels as sparse matrices; what the format does not keep is refused."""
    if not data.binary:
        raise DatasetError(f"{form} with many labels holds labels of 0 and 1 only.", "Save as ARFF or Parquet.", data.file)
    for name, values in data.dataset.categories.items():
        if list(values) != [str(position) for position in range(len(values))]:  # {0,1} are numbers too
            raise DatasetError(
                f"feature {name!r} is nominal, and {form} knows numbers only.",
                "Save as ARFF or Parquet, or make one column of each value.",
                data.file,
            )
    return sparse.csr_array(data.X), sparse.csr_array(data.Y)


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
        arrays = [column_array(data.X[:, position], column) for position, column in enumerate(data.features)]
    if scattered and data.binary:
        names.append("label_indices")
        arrays.append(_lists(pyarrow, sparse.csr_array(labels))[0])
    else:
        labels = labels.astype(np.uint8) if data.binary else labels
        names += [column.name for column in data.labels]
        arrays += [column_array(labels[:, position], column) for position, column in enumerate(data.labels)]
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

LEVEL = 6  # of gzip: a third of the time of 9, for files a few per cent longer
_PACKERS: dict[str, Callable[[BinaryIO], Any]] = {
    ".gz": lambda raw: gzip.GzipFile(filename="", mode="wb", compresslevel=LEVEL, fileobj=raw, mtime=0),
    ".bz2": partial(bz2.BZ2File, mode="wb"),
    ".xz": partial(lzma.LZMAFile, mode="wb"),
    ".zst": lambda raw: import_module("zstandard").ZstdCompressor().stream_writer(raw, closefd=False),
}
PACKED = tuple(_PACKERS)

Writer = Callable[[BinaryIO], None]


def write_files(files: Sequence[tuple[Path, Writer]]) -> None:
    """Write files so that either all of them are there, whole, or nothing has changed.

    Each is written under another name in the same folder first. A reader sees the old file or the new one, never a part.
    Links stay: the file that a link points to is replaced, and the new file has the permissions of the old one.
    """
    files = [(Path(os.path.realpath(path)), writer) for path, writer in files]
    drafts: list[Path] = []
    try:
        for path, writer in files:
            with _draft(path, drafts) as raw:
                writer(raw)
        _rename(list(zip(drafts, [path for path, _ in files], strict=True)))
    finally:
        for draft in drafts:
            draft.unlink(missing_ok=True)


def packed(path: Path, writer: Writer) -> Writer:
    """Make a writer that packs what ``writer`` writes, if the name ends in ``.gz``, ``.bz2``, ``.xz`` or ``.zst``."""
    packer = _PACKERS.get(path.suffix.lower())
    if packer is None:
        return writer
    if path.suffix.lower() == ".zst" and find_spec("zstandard") is None:
        raise DatasetError("writing zstd needs the package zstandard.", "pip install 'labelsieve[zstd]'", path)

    def write(raw: BinaryIO) -> None:
        with packer(raw) as stream:
            writer(stream)

    return write


@contextmanager
def _draft(path: Path, drafts: list[Path]) -> Iterator[BinaryIO]:
    draft = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        opened = draft.open("xb")  # the usual permissions, which a temporary file of the system would not have
    except OSError as error:  # the user knows the name of the file, not that of the draft
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    with opened as raw:
        drafts.append(draft)
        if path.exists():
            draft.chmod(S_IMODE(path.stat().st_mode))
        yield raw
        raw.flush()
        os.fsync(raw.fileno())


def _rename(pairs: list[tuple[Path, Path]]) -> None:
    """Rename drafts to their paths; if one fails, those before it are restored."""
    done: list[tuple[Path, bytes | None]] = []
    try:
        for position, (draft, path) in enumerate(pairs, 1):
            before = path.read_bytes() if position < len(pairs) and path.is_file() else None  # short: a header
            os.replace(draft, path)
            done.append((path, before))
    except BaseException:
        for path, before in done:
            if before is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(before)
        raise
