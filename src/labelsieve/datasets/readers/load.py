"""Loading a data set: the format is recognized, the columns are read, and features and labels are separated."""

import codecs
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, overload

from labelsieve.datasets.dataset import Dataset
from labelsieve.datasets.readers.arff import Strings, parse_arff
from labelsieve.datasets.readers.columns import Table, join
from labelsieve.datasets.readers.csv import parse_csv
from labelsieve.datasets.readers.files import DEFAULT_LIMIT, LOOK, memory_limit, open_content
from labelsieve.datasets.readers.json_lines import parse_json_lines
from labelsieve.datasets.readers.labels import (
    Labels,
    MissingLabels,
    as_mark,
    find_label_sets,
    is_class,
    label_names,
    label_set_matrix,
    missing_labels_of,
    rows_with_labels,
    targets,
)
from labelsieve.datasets.readers.libsvm import SIZES, parse_libsvm
from labelsieve.datasets.readers.matlab import parse_matlab
from labelsieve.datasets.readers.parquet import parse_parquet
from labelsieve.datasets.readers.spreadsheet import OLD_EXCEL, parse_spreadsheet
from labelsieve.errors import DatasetError, DatasetWarning, MissingTargetWarning, one_of, warn

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
# Possessive (*+): what is blank or a comment stays so, and a long start that ends otherwise is not tried in every way.
_ARFF = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s|%[^\r\n]*+)*+@(?:relation|attribute)\b", re.IGNORECASE)
_MATLAB = (b"MATLAB 5.0 MAT-file", b"MATLAB 7.3 MAT-file", b"\x89HDF\r\n")
# A row of libsvm: labels, then pairs of a column and a value, then a comment.
_LABELS = r"[+-]?\d++(?:,[+-]?\d++)*+(?=[\s#]|\Z)"
_PAIR = r"\d++:[^\s:,]++(?:\s++|\Z)"
_ROW = re.compile(rf"\s*+(?:{_LABELS})?\s*+(?:qid:\d++\s*+)?(?:{_PAIR})*+(?:#.*)?")
_ZIP = b"PK\x03\x04"
# Formats that are not read, by their first bytes.
_OTHERS = {
    b"ARROW1": "a Feather or Arrow file",
    b"SQLite format 3\0": "a database of SQLite",
    b"\x80\x04\x95": "a pickle",
    b"\x80\x05\x95": "a pickle",
    b"%PDF-": "a PDF",
}
# A first line that is an object, or begins one that is longer than what is looked at; pretty-printed JSON breaks the line.
_JSON_LINE = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{[ \t]*"[^\r\n]*(?:\}[ \t]*(?:[\r\n]|\Z)|\Z)')
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*)?[{\[]\s*[\"\[{]")


class ReadOptions(TypedDict, total=False):
    """Options of :func:`load` and :func:`fetch`."""

    label_separator: str | None
    strings: Strings
    missing_labels: MissingLabels | None
    max_bytes: int | None


class LoadOptions(ReadOptions, total=False):
    """Options of :func:`load` alone: :func:`fetch` gives the name itself."""

    name: str | None


@overload
def load(
    path: Paths, labels: Labels | None = ..., *, return_X_y: Literal[False] = ..., **options: Unpack[LoadOptions]
) -> Dataset: ...


@overload
def load(
    path: Paths, labels: Labels | None = ..., *, return_X_y: Literal[True], **options: Unpack[LoadOptions]
) -> tuple[Any, Any]: ...


def load(
    path: Paths,
    labels: Labels | None = None,
    *,
    name: str | None = None,
    label_separator: str | None = None,
    strings: Strings = "error",
    missing_labels: MissingLabels | None = None,
    max_bytes: int | None = None,
    return_X_y: bool = False,
) -> Dataset | tuple[Any, Any]:
    r"""Load a data set from a file, or from several files with its rows.

    The content decides the format: ARFF (Mulan, MEKA; dense or sparse), MATLAB 5, libsvm (with the text format of the extreme
    classification repository), Parquet, Excel (.xlsx), JSON lines (an object for every row), or else CSV with a comma,
    semicolon, tab or bar between the cells; plain or compressed with gzip, bzip2, xz or zstd.

    Parameters
    ----------
    path : path, or sequence of paths
        Rows of several files, such as a train and a test part, are joined in this order.
    labels : int, str, path, sequence of str or compiled pattern, default=None
        Which columns are labels. ``6`` or ``"6"``: the last six columns; ``-6``: the first six. A sequence of names, or one
        string with commas between the names (``"calm, sad"``; ``"6,"`` for a column named 6). The path of a Mulan XML header.
        Patterns: ``"label_*"`` with ``*``, ``?`` and ``[abc]`` as in file names, also among names in a list; ``"re:^y[0-9]+$"``
        or a compiled regular expression, every name that it finds a match in. By default ``NAME.xml`` in the folder of the file
        (``NAME-train.arff`` has ``NAME.xml`` too), then MEKA's ``-C`` in the relation. Labels keep the order of the columns;
        only a list of names gives their order itself.
    name : str, default=None
        By default the file's.
    label_separator : str, default=None
        What separates the labels in a column of label sets: ``";"`` for cells such as ``rock;loud``. Every label column is then
        split into 0/1 labels in sorted order; an empty cell has no label. By default a single label column of text is split at
        ``;``, ``|`` or ``,`` if at least half of its words occur in two or more different cells, with a
        :class:`DatasetWarning`; ``""`` never splits. List columns of Parquet files are label sets anyway.
    strings : {"error", "drop", "nominal"}, default="error"
        What to do with string attributes of ARFF files: refuse the file, leave the attributes out, or take every different text
        as a value, in sorted order (not in sparse rows, which do not say what they leave out). The last two are for date
        attributes too, which by default become numbers. Text in other files is always nominal.
    missing_labels : {"keep", "drop", "absent", "error"}, default=None
        What to do with rows in which a label is missing: keep it as NaN, so that selectors count each label in the rows where
        it is known; leave the rows out; take a missing 0/1 label as 0, which is right where only positive labels were noted; or
        refuse the file. None is ``"keep"`` with a ``labelsieve.errors.MissingTargetWarning``. Features may have missing values:
        they are NaN.
    max_bytes : int, default=None
        The most memory that reading a file may take. It is estimated from the size of the content and the number of cells,
        before the memory is allocated. By default the number in the variable ``LABELSIEVE_MAX_BYTES`` (``8G``), else 4 GiB or
        the available memory, whichever is less.
    return_X_y : bool, default=False
        Return only the arrays ``(X, Y)``.

    Returns
    -------
    Dataset
        Labels that are 0 and 1, or two words for no and yes, are uint8, and sparse if the file is. A label with other values
        is a class, whose values are in ``label_categories``; other targets are float64.

    Notes
    -----
    Dates and times become seconds since 1970-01-01, with a :class:`DatasetWarning`. In a table whose delimiter is not the
    comma, ``1,5`` is a number.

    Cost: about half a microsecond for each cell of a text file, unpacking included. The content of the file is held in memory
    while it is read, except for libsvm: its text is parsed while it is read, in 0.2 to 0.4 microseconds for each value, and
    only the sparse matrices stay.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "songs.arff")
    >>> _ = file.write_text("@relation songs\n@attribute tempo numeric\n@attribute calm {0,1}\n@data\n98,1\n160,0\n")
    >>> songs = load(file, labels=1)
    >>> songs.label_names, songs.Y.ravel()
    (('calm',), array([1, 0], dtype=uint8))
    """
    one_of(strings, "strings", ("error", "drop", "nominal"))
    if missing_labels is not None:
        one_of(missing_labels, "missing_labels", ("keep", "drop", "absent", "error"))
    files = [Path(path)] if isinstance(path, str | os.PathLike) else [Path(file) for file in path]
    if not files:
        raise DatasetError("there is no file to load.")
    limit = memory_limit(max_bytes)
    table = join([read_table(file, strings, limit) for file in files])
    if name is None:
        name = files[0].name.partition(".")[0]
        name = re.sub(r"[-_](?:train|test)$", "", name, flags=re.IGNORECASE) if len(files) > 1 else name
    dataset = split_columns(table, labels, name, missing_labels, label_separator=label_separator, max_bytes=limit)
    return (dataset.X, dataset.Y) if return_X_y else dataset


def read_table(file: Path, strings: Strings, max_bytes: int) -> Table:
    """Read all columns of a file, which is opened once; libsvm is parsed while it is read, as its text may be very long."""
    with open_content(file) as content:
        if is_libsvm(content.start):
            return parse_libsvm(content.pieces(), file, max_bytes)
        return parse(content.read(max_bytes), file, strings=strings, max_bytes=max_bytes)


def parse(data: bytes, file: str | Path, *, strings: Strings = "error", max_bytes: int = DEFAULT_LIMIT) -> Table:
    """Parse all columns of the content of a file; ``file`` is its name, for messages."""
    if not data or data.isspace():
        raise DatasetError("the file is empty.", file=file)
    path = Path(file)
    if data.startswith(_MATLAB):
        return parse_matlab(data, path, max_bytes)
    if data.startswith((_ZIP, OLD_EXCEL)):
        return parse_spreadsheet(data, path, max_bytes)
    if data.startswith(b"PAR1"):
        return parse_parquet(data, path, max_bytes)
    if _ARFF.match(data):
        return parse_arff(data, path, strings, max_bytes)
    if _JSON_LINE.match(data[:LOOK]):
        return parse_json_lines(data, path, max_bytes)
    other = next((what for start, what in _OTHERS.items() if data.startswith(start)), None)
    if other is not None or _JSON.match(data[:LOOK]):
        remedy = "Save the table as Parquet or CSV." if other else "Save the table as JSON lines, an object for every row."
        raise DatasetError(f"this is {other or 'JSON'}, which is not read.", remedy, path)
    return (parse_libsvm if is_libsvm(data) else parse_csv)(data, path, max_bytes)


def is_libsvm(data: bytes) -> bool:
    r"""True if the first rows look like libsvm's.

    >>> is_libsvm(b"1,3 5:0.2\n"), is_libsvm(b"a,b\n1,2\n")
    (True, False)
    """
    start = data[:LOOK].removeprefix(codecs.BOM_UTF8).decode("latin-1")
    if len(data) >= LOOK:
        start = start.rpartition(" ")[0]  # whole words only
    lines = [line for line in start.splitlines()[:3] if line.strip()]
    rows = lines[1:] if lines and SIZES.fullmatch(lines[0]) else lines
    return bool(rows) and all(_ROW.fullmatch(line) for line in rows) and any(":" in line.partition("#")[0] for line in rows)


def split_columns(
    table: Table,
    labels: Labels | None,
    name: str,
    missing_labels: MissingLabels | None = None,
    *,
    label_separator: str | None = None,
    max_bytes: int = DEFAULT_LIMIT,
) -> Dataset:
    """Split the columns of a table into features and labels; notes of the reader become warnings."""
    feature_positions, label_positions, names = _positions(table, labels)
    features = [table.columns[position] for position in feature_positions]
    targeted = [replace(table.columns[position], name=label) for label, position in zip(names, label_positions, strict=True)]
    for column in features:
        if column.lists:
            raise DatasetError(
                f"column {column.name!r} holds lists, which only labels can be.",
                f"Name it as the label column (labels={column.name!r}), or store a column for each element.",
                table.file,
            )
    X, Y = table.take(feature_positions), table.take(label_positions)
    sets = find_label_sets(targeted, Y, label_separator, table.file)
    notes = list(table.notes)
    if sets and label_separator is None and not targeted[0].lists:
        separator = sets[0].separator
        notes.append(
            f"{names[0]!r} holds sets of labels with {separator!r} between them. If that is right, pass "
            f'label_separator="{separator}"; label_separator="" takes each text as a class.'
        )
    for note in notes:
        warn(f"{table.file.name}: {note}", DatasetWarning)
    if missing_labels == "drop" and not (keep := rows_with_labels(Y)).all():
        if not keep.any():
            raise DatasetError("every row has a missing label.", "Are these columns the labels?", table.file)
        X, Y, sets = X[keep], Y[keep], [column._replace(set_of_row=column.set_of_row[keep]) for column in sets]
    if sets:
        names, Y = label_set_matrix(targeted, sets, [column.name for column in features], table.file)
        targeted = []
    else:
        if missing_labels is None and (lacking := missing_labels_of(Y, targeted)):
            effect = "Each label is counted in the rows where it is known."
            warn(f"{table.file.name}: {lacking[0]} {effect} {lacking[1]}", MissingTargetWarning)
        targeted = list(map(as_mark, targeted)) if missing_labels == "absent" else targeted
        Y = targets(Y, targeted, table.file, missing_labels or "keep", max_bytes=max_bytes)
    return Dataset(
        X=X,
        Y=Y,
        feature_names=tuple(column.name for column in features),
        label_names=tuple(names),
        feature_kinds=tuple("numeric" if column.values is None else "nominal" for column in features),
        categories={column.name: column.values for column in features if column.values is not None},
        description=table.description or table.relation,
        name=name,
        label_categories={column.name: column.values for column in targeted if is_class(column) and column.values is not None},
    )


def _positions(table: Table, labels: Labels | None) -> tuple[list[int], list[int], list[str]]:
    """Find the positions of the features and of the labels, and the names of the labels."""
    names = label_names(table, labels)
    if not names:
        raise DatasetError("there are no labels in it.", "Is the file whole?", table.file)
    position = {column.name: i for i, column in enumerate(table.columns)}
    if table.n_labels is not None and not set(names) <= position.keys():  # names for labels that had none
        position = {name: i for i, name in enumerate(names, len(table.columns) - table.n_labels)}
    chosen = [position[name] for name in names]
    features = sorted(set(range(len(table.columns))).difference(chosen))
    if not features:
        raise DatasetError(f"all {len(chosen)} columns are labels.", "Leave some as features.", table.file)
    return features, chosen, names
