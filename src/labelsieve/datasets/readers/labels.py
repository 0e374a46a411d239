"""Labels of a table: which columns they are, label sets in the cells of a column, and labels as numbers.

:func:`label_names` finds the columns, :func:`find_label_sets` splits cells such as ``rock;loud``, and :func:`targets` turns
columns into 0 and 1, classes or numbers.
"""

import csv
import fnmatch
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from defusedxml import DefusedXmlException
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.readers.columns import Column, Table, TextCells
from labelsieve.datasets.readers.files import DEFAULT_LIMIT, read_bytes, require_cells
from labelsieve.errors import DatasetError, did_you_mean, is_whole, some_of
from labelsieve.tables.types import Matrix, dense_array, is_sparse

Labels = int | str | os.PathLike[str] | re.Pattern[str] | Sequence[str]

_COUNT = re.compile(r"\s*[+-]?\d{1,18}\s*", re.ASCII)
_MEKA = re.compile(r"(?:^|[\s:])-[Cc]\s+(-?\d{1,9})\b(.*)", re.DOTALL)
_ENDING = re.compile(r".\.(?:gz|bz2|xz|zst|arff|csv|tsv|parquet|pq|mat|txt|libsvm|svm|xlsx|jsonl|ndjson)$", re.IGNORECASE)
# Parts and forms of a data set share the header of the whole.
_PART = re.compile(r"[-_](?:train|test|sparse)$", re.IGNORECASE)
REGEX = "re:"  # begins a regular expression that is typed as text
MAX_HEADER = 2**28  # bytes of an XML header
NAMED, FIRST, LAST = 40, 8, 8  # columns that a message names; of more, so many of the first and of the last
REMEDY = (
    "Pass labels=: a number (6, the last six columns; -6, the first six), names with commas between them, a pattern "
    "('label_*', or 're:^y[0-9]+$' as a regular expression), or an XML header."
)


def label_names(table: Table, labels: Labels | None) -> list[str]:
    """Find the names of the columns that are labels, in the order of the file (but names as they were given).

    ``labels`` as in :func:`labelsieve.datasets.load`.
    """
    if labels is None:
        return _labels_of_file(table)
    if is_whole(labels):
        return _by_number(table, int(labels))
    if isinstance(labels, int):
        raise DatasetError(f"labels={labels!r} does not name columns.", REMEDY, table.file)
    known = set(table.names)
    if isinstance(labels, str) and labels.startswith(REGEX) and labels not in known:
        try:
            labels = re.compile(labels.removeprefix(REGEX))
        except (re.error, RecursionError, OverflowError) as error:
            raise DatasetError(f"labels={labels} is not a regular expression ({error}).", REMEDY, table.file) from None
    if isinstance(labels, re.Pattern):
        return _matching(table, labels, labels.pattern)
    if isinstance(labels, os.PathLike) or (isinstance(labels, str) and labels.lower().endswith(".xml")):
        return _listed_in(Path(labels), table)
    if isinstance(labels, str):
        if _COUNT.fullmatch(labels):
            return _by_number(table, int(labels))
        labels = [labels] if labels in known else _names_in(labels, table)
    names: list[str] = []
    for name in map(str, labels):
        if name in known:
            names.append(name)
        elif any(mark in name for mark in "*?["):
            names += _matching(table, re.compile(rf"\A{fnmatch.translate(name)}"), name)
        else:
            raise _unknown_column(name, table)
    if not names:
        raise DatasetError(f"no label is named; {_columns(table)}.", REMEDY, table.file)
    return list(dict.fromkeys(names))


def _labels_of_file(table: Table) -> list[str]:
    """Find the labels that the file declares itself, or an XML header in its folder, or the relation of MEKA."""
    if table.n_labels is not None:
        # Without names: a header in the folder may have another order, so that the user must pass it.
        return table.names[len(table.names) - table.n_labels :]
    header = find_header(table.file)
    if header is not None:
        return _listed_in(header, table)
    found = _MEKA.search(table.relation)
    if not found:
        raise DatasetError(f"nothing says which columns are labels; {_columns(table)}.", REMEDY, table.file)
    if "weka.filters" in found[2]:  # it may have moved the columns, and the option is not corrected
        raise DatasetError(f"its relation says -C {found[1]}, but a filter changed the columns afterwards.", REMEDY, table.file)
    return _by_number(table, -int(found[1]))  # MEKA counts from the other end


def _by_number(table: Table, count: int) -> list[str]:
    n_columns = len(table.columns)
    if not 0 < abs(count) <= n_columns:
        of = "1 column" if n_columns == 1 else f"{n_columns} columns"
        raise DatasetError(f"{abs(count)} label columns of {of}.", REMEDY, table.file)
    return table.names[-count:] if count > 0 else table.names[:-count]


def _matching(table: Table, pattern: re.Pattern[str], typed: str) -> list[str]:
    found = [name for name in table.names if pattern.search(name)]
    if not found:
        raise DatasetError(f"no column matches {typed!r}; {_columns(table)}.", REMEDY, table.file)
    return found


def _names_in(text: str, table: Table) -> list[str]:
    """Split names at their commas; one that has a comma in it stands in double quotes."""
    try:
        names = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        raise DatasetError(f"labels={text!r} are not names with commas between them ({error}).", REMEDY, table.file) from None
    return [name.strip() for name in names if name.strip()]


def _unknown_column(name: str, table: Table) -> DatasetError:
    transposed = next((column for column in table.columns if column.values is not None and name in column.values), None)
    if transposed is not None:
        return DatasetError(
            f"there is no column named {name!r}, but column {transposed.name!r} has it as a value.",
            f"If every row is a feature, transpose the table first (pandas: frame.set_index({transposed.name!r}).T).",
            table.file,
        )
    spelled = [other for other in table.names if other.lower() == name.lower()]
    meant = f" Did you mean {spelled[0]!r}?" if spelled else did_you_mean(name, table.names)
    if meant:
        return DatasetError(f"there is no column named {name!r}.", meant.strip(), table.file)
    return DatasetError(f"there is no column named {name!r}; {_columns(table)}.", REMEDY, table.file)


def _columns(table: Table) -> str:
    """Name the columns of a table; of very many the first and the last, where labels usually are."""
    if len(table.names) <= NAMED:
        return f"there are {some_of(table.names, NAMED)}"
    first, last = (", ".join(map(repr, names)) for names in (table.names[:FIRST], table.names[-LAST:]))
    return f"there are {len(table.names):,} columns: {first}, ..., {last}"


def find_header(file: Path) -> Path | None:
    """Find ``NAME.xml`` in the folder of ``NAME.arff``, ``NAME.arff.gz``, ``NAME-train.arff`` and the like."""
    header = header_of(file)
    candidates = (header, header.with_name(_PART.sub("", header.stem) + ".xml"))
    return next((path for path in candidates if path.is_file()), None)


def header_of(file: Path) -> Path:
    """Return the path ``NAME.xml`` for ``NAME.arff``, ``NAME.arff.gz`` and the like.

    >>> header_of(Path("songs.v2.arff.gz")).name
    'songs.v2.xml'
    """
    stem = file.name
    while _ENDING.search(stem):
        stem = stem[: stem.rindex(".")]
    return file.with_name(stem + ".xml")


def _listed_in(header: Path, table: Table) -> list[str]:
    """Read the labels of a header, in the order of the columns; as listed where the file has no names for its labels."""
    names = read_label_header(header)
    if table.n_labels is not None:
        if len(names) != table.n_labels:
            raise DatasetError(f"it lists {len(names)} labels, and {table.file.name} has {table.n_labels}.", file=header)
        return names
    known = set(table.names)
    missing = [name for name in names if name not in known]
    if missing:
        raise DatasetError(
            f"{some_of(missing)} of its {len(names)} labels {'is' if len(missing) == 1 else 'are'} not in {table.file.name}.",
            "Do the two files belong together?",
            header,
        )
    listed = set(names)
    return [name for name in table.names if name in listed]


def read_label_header(path: str | os.PathLike[str]) -> list[str]:
    """Read the names in a Mulan label header; those of nested labels follow the label that they are in."""
    from defusedxml import ElementTree

    data = read_bytes(path, MAX_HEADER)
    try:
        root = ElementTree.fromstring(data, forbid_dtd=False)
    except DefusedXmlException as error:
        raise DatasetError(
            f"it declares entities, which a list of labels does not need ({type(error).__name__}).",
            "Remove them, if you trust the file.",
            path,
        ) from error
    except ElementTree.ParseError as error:
        line = error.position[0] if hasattr(error, "position") else None
        raise DatasetError(f"it is not well-formed XML ({error}).", file=path, line=line) from error
    except (LookupError, ValueError) as error:
        raise DatasetError(
            f"it says that it is in an encoding that cannot be read ({error}).", "Save it as UTF-8.", path
        ) from error
    names = []
    for element in root.iter():
        if element.tag.rpartition("}")[2] == "label":
            if "name" not in element.attrib:
                raise DatasetError("a <label> has no name.", file=path)
            names.append(element.attrib["name"])
    if not names:
        raise DatasetError("there is no <label> in it.", 'Expected is <label name="..."/> within <labels>.', path)
    if len(set(names)) < len(names):
        raise DatasetError(f"label {Counter(names).most_common(1)[0][0]!r} is there twice.", file=path)
    return names


SEPARATORS = (";", "|", ",")
_LIST = re.compile(r"\[.*\]|\{.*\}|\(.*\)|set\(\)", re.DOTALL)
DENSE_CELLS = 2**26  # labels of more cells stay sparse


class LabelSets(NamedTuple):
    """The different label sets in a column, the position among them of every row's (-1: the cell is missing), the separator."""

    sets: list[set[str]]
    set_of_row: NDArray[Any]
    separator: str


def find_label_sets(columns: Sequence[Column], cells: Any, separator: str | None, file: Path) -> list[LabelSets]:
    """Split the cells of every column into label sets; an empty list if the cells are not sets.

    A ``separator`` splits every column and ``""`` none. Where it is None, a single column of text is split if at least half of
    the words between the separators occur in two or more different cells, or all cells are lists in brackets. Columns of lists,
    which Parquet files have, are label sets anyway.

    >>> def separators(*texts):
    ...     found = find_label_sets([Column("tags", texts)], np.arange(len(texts))[:, None] + 0.0, None, Path("songs.csv"))
    ...     return [column.separator for column in found]
    >>> separators("a;b", "a;c", "b;c"), separators("Smith, Jo", "Smith, Al"), separators("['a']", "['a', 'b']")
    ([';'], [], [','])
    """
    lists = [column.name for column in columns if column.lists]
    if lists and len(lists) < len(columns):
        raise DatasetError(
            f"column {lists[0]!r} holds lists of labels, and the other label columns do not.", "Name it as the only one.", file
        )
    if sparse.issparse(cells):
        if separator:
            raise DatasetError("its rows are sparse, so no column holds sets of labels.", "Leave out label_separator=.", file)
        return []
    if not (lists or separator or (separator is None and len(columns) == 1 and columns[0].values is not None)):
        return []
    found = []
    for position, column in enumerate(columns):
        texts = _distinct_texts(column, cells[:, position])
        if column.lists:
            found.append(LabelSets([set(json.loads(text)) for text in texts.texts], texts.index, ","))
        elif separator:
            found.append(LabelSets(_split(texts.texts, separator), texts.index, separator))
        elif plain := _split_if_plain(texts.texts):
            found.append(LabelSets(plain[0], texts.index, plain[1]))
    return found


def _distinct_texts(column: Column, cells: NDArray[np.float64]) -> TextCells:
    """Return the texts of a column that occur, and the index among them of every cell."""
    if column.spelled is not None:
        return column.spelled
    missing = np.isnan(cells)
    numbers, index = np.unique(cells[~missing], return_inverse=True)
    if column.values is not None:
        texts = [column.values[int(code)] for code in numbers]
    else:
        texts = [repr(float(number)).removesuffix(".0") for number in numbers]
    found = np.full(len(cells), -1, dtype=np.int64)
    found[~missing] = index
    return TextCells(texts, found)


def _split(texts: Sequence[str], separator: str) -> list[set[str]]:
    """Split every text into its words; lists, as Python and JSON write them, lose brackets and quotes.

    >>> _split(["['a', 'b']", "[]"], ",") == [{"a", "b"}, set()], _split(["a|b"], "|") == [{"a", "b"}]
    (True, True)
    """
    if not _are_lists(texts):
        return [{label.strip() for label in text.split(separator)} - {""} for text in texts]
    word = re.compile(rf"""\"((?:[^"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|([^{re.escape(separator)}"']+)""", re.DOTALL)
    inner = ["" if text == "set()" else text[1:-1] for text in texts]
    return [{"".join(filter(None, match.groups())).strip() for match in word.finditer(text)} - {""} for text in inner]


def _are_lists(texts: Sequence[str]) -> bool:
    return len(texts) > 0 and all(map(_LIST.fullmatch, texts))


def _split_if_plain(texts: Sequence[str]) -> tuple[list[set[str]], str] | None:
    """Split every text into words, and return their separator, if it is plain that the texts are sets of labels."""
    if _are_lists(texts):
        return _split(texts, ","), ","
    for separator in SEPARATORS:
        if any(separator in text for text in texts):
            sets = _split(texts, separator)
            counts = Counter(label for labels in sets for label in labels)
            if 2 * sum(count > 1 for count in counts.values()) >= len(counts):
                return sets, separator
    return None


def label_set_matrix(
    columns: Sequence[Column], found: Sequence[LabelSets], features: Sequence[str], file: Path
) -> tuple[list[str], Any]:
    """Return the names of the labels in sorted order, and 0/1 labels; ``column=label`` where a name is not unique.

    A missing cell is an empty set. The labels are a uint8 ndarray, or a csc_array if there are very many cells.

    >>> songs = LabelSets([{"rock", "loud"}, {"loud"}], np.array([0, 1, -1]), ";")
    >>> label_set_matrix([Column("tags")], [songs], ["tempo"], Path("songs.csv"))
    (['loud', 'rock'], array([[1, 1],
           [1, 0],
           [0, 0]], dtype=uint8))
    """
    names_of = [sorted(set().union(*column.sets)) for column in found]
    names = [name for of_column in names_of for name in of_column]
    if not names:
        raise DatasetError("every row has an empty set of labels.", "Are these columns the labels?", file)
    if len(set(names)) < len(names) or set(names) & set(features):
        pairs = zip(columns, names_of, strict=True)
        names = [f"{column.name}={name}" for column, of_column in pairs for name in of_column]
    blocks = []
    for of_column, column in zip(names_of, found, strict=True):
        position = {name: index for index, name in enumerate(of_column)}
        where = [sorted(position[label] for label in labels) for labels in column.sets]
        ends = np.cumsum([0, *map(len, where), 0])  # the last row is for missing cells
        flat = np.array([index for labels in where for index in labels], dtype=np.int32)
        distinct = sparse.csr_array((np.ones(len(flat), np.uint8), flat, ends), shape=(len(where) + 1, len(of_column)))
        blocks.append(distinct[column.set_of_row])
    joined = sparse.hstack(blocks, format="csc", dtype=np.uint8)
    return names, joined.toarray() if joined.shape[0] * joined.shape[1] <= DENSE_CELLS else sparse.csc_array(joined)


def list_cells(rows: Iterable[Any], name: str, file: Path) -> TextCells:
    """Convert lists of labels, None where one is missing, to cells of text in JSON.

    >>> list_cells([["rock", "loud"], None, []], "tags", Path("songs.parquet")).texts
    ['["loud", "rock"]', '[]']
    """
    known: dict[str, int] = {}
    index = []
    for row, labels in enumerate(rows, 1):
        if labels is None:
            index.append(-1)
            continue
        if any(label is None or label != label for label in labels):
            raise DatasetError(
                f"column {name!r}, row {row}: a label is missing in the list.", "Leave it out of the list.", file
            )
        words = {str(label).removesuffix(".0") if isinstance(label, float) else str(label).strip() for label in labels} - {""}
        index.append(known.setdefault(json.dumps(sorted(words), ensure_ascii=False), len(known)))
    return TextCells(list(known), np.array(index, dtype=np.int64), lists=True)


MissingLabels = Literal["error", "drop", "absent", "keep"]
_OFF = frozenset({"0", "0.0", "-1", "no", "n", "false", "f", "off", "absent"})
_ON = frozenset({"1", "1.0", "+1", "yes", "y", "true", "t", "on", "present"})


def targets(
    cells: Matrix, columns: Sequence[Column], file: Path, missing: MissingLabels = "error", *, max_bytes: int = DEFAULT_LIMIT
) -> Any:
    """Convert label columns to 0 and 1 in uint8 (csc if ``cells`` are sparse).

    If some column holds other numbers, all become dense float64; if some are classes and all numbers whole, dense int64.
    A missing label is refused, counts as 0 where it is ``"absent"``, or is NaN among float64 where they are to ``"keep"``.
    """
    if missing in ("error", "drop"):
        _refuse_missing(cells, columns, file)
    flipped = np.array([one_comes_first(column.values) is True for column in columns], dtype=bool)
    classes = any(is_class(column) for column in columns)
    was_sparse = is_sparse(cells)
    if is_sparse(cells):
        if missing != "absent" and not classes and not flipped.any() and np.isin(cells.data, (0.0, 1.0)).all():
            return sparse.csc_array(cells, dtype=np.uint8)
        require_cells(cells.shape[0], cells.shape[1], file, max_bytes)  # they are made dense
    dense = dense_array(cells)
    if flipped.any():
        dense = np.where(flipped, 1.0 - dense, dense)
    if missing == "absent":
        dense = _fill_missing(dense, columns, file)
    if not classes and np.isin(dense, (0.0, 1.0)).all():
        return sparse.csc_array(dense, dtype=np.uint8) if was_sparse else dense.astype(np.uint8)
    all_whole = bool((dense == np.rint(dense)).all())  # NaN is not
    return dense.astype(np.int64) if classes and all_whole else dense


def as_mark(column: Column) -> Column:
    """Read a label with a single value, such as ``x`` in the rows that have it, as one that is 1 there."""
    is_mark = column.values is not None and len(column.values) == 1 and column.values[0].lower() not in _OFF
    return replace(column, values=("1",)) if is_mark else column


def is_class(column: Column) -> bool:
    """True for a label of several values that do not mean yes and no."""
    return column.values is not None and one_comes_first(column.values) is None


def one_comes_first(values: tuple[str, ...] | None) -> bool | None:
    """Return False for labels declared {0,1} or numeric, True for {1,0}, whose positions are reversed, None for classes.

    >>> one_comes_first(("0", "1")), one_comes_first(("yes", "no")), one_comes_first(("red", "green"))
    (False, True, None)
    """
    if values is None:
        return False
    words = [value.lower() for value in values]
    for first, second, answer in ((_OFF, _ON, False), (_ON, _OFF, True)):
        if len(words) <= 2 and all(word in first for word in words[:1]) and all(word in second for word in words[1:]):
            return answer
    return None


def rows_with_labels(cells: Matrix) -> NDArray[np.bool_]:
    """Return a mask of the rows in which no label is missing."""
    if isinstance(cells, np.ndarray):
        return np.asarray(~np.isnan(cells).any(axis=1), dtype=bool)
    keep = np.ones(cells.shape[0], dtype=bool)
    keep[np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr))[np.isnan(cells.data)]] = False
    return keep


def missing_labels_of(cells: Matrix, columns: Sequence[Column]) -> tuple[str, str] | None:
    """Return a sentence about missing labels, and one with what to do; None if no label is missing."""
    missing = np.flatnonzero(~rows_with_labels(cells))
    if not len(missing):
        return None
    row = int(missing[0])
    position = int(np.flatnonzero(np.isnan(dense_array(cells[[row]])).ravel())[0])
    return (
        f"label {columns[position].name!r} is missing in row {row + 1} ({len(missing)} rows have missing labels).",
        'Pass missing_labels="drop" to leave out such rows, missing_labels="absent" to take a missing label as 0, or '
        'missing_labels="keep" to count each label in the rows where it is known.',
    )


def _refuse_missing(cells: Matrix, columns: Sequence[Column], file: Path) -> None:
    found = missing_labels_of(cells, columns)
    if found is not None:
        raise DatasetError(*found, file)


def _fill_missing(cells: NDArray[np.float64], columns: Sequence[Column], file: Path) -> NDArray[np.float64]:
    """Replace missing labels by zeros, in columns where 0 means no."""
    missing = np.isnan(cells)
    for position in np.flatnonzero(missing.any(axis=0)).tolist():
        known = cells[~missing[:, position], position]
        if is_class(columns[position]) or not np.isin(known, (0.0, 1.0)).all():
            raise DatasetError(
                f"label {columns[position].name!r} is not one of 0 and 1, so a missing value cannot count as absent.",
                'Pass missing_labels="drop" to leave out such rows.',
                file,
            )
    return np.where(missing, 0.0, cells)
