"""Which columns of a table are labels: by an XML header, by MEKA's option in the relation, by number, name or pattern."""

import csv
import difflib
import fnmatch
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from defusedxml import DefusedXmlException

from labelsieve.datasets.readers.column_table import Table
from labelsieve.datasets.readers.file_bytes import read_bytes
from labelsieve.errors import DatasetError, is_whole, some_of

Labels = int | str | os.PathLike[str] | re.Pattern[str] | Sequence[str]

_COUNT = re.compile(r"\s*[+-]?\d{1,18}\s*", re.ASCII)
_MEKA = re.compile(r"(?:^|[\s:])-[Cc]\s+(-?\d{1,9})\b(.*)", re.DOTALL)
# Parts and forms of a data set share the header of the whole.
_PART = re.compile(r"[-_](?:train|test|sparse)$", re.IGNORECASE)
REGEX = "re:"  # begins a regular expression that is typed as text
MAX_HEADER = 2**28  # bytes of an XML header
REMEDY = (
    "Pass labels=: a number (6, the last six columns; -6, the first six), names with commas between them, a pattern "
    "('label_*', or 're:^y[0-9]+$' as a regular expression), or an XML header."
)


def label_names(table: Table, labels: Labels | None) -> list[str]:
    """The names of the columns that are labels, in the order of the file (but names as they were given).

    ``labels`` as in :func:`labelsieve.datasets.load`.
    """
    if labels is None and table.label_names is not None:
        return list(table.label_names)
    if labels is None:
        # A file without names for its labels may have another order than the header in its folder: the user must decide.
        header = None if table.n_labels is not None else find_header(table.file)
        return _listed(table, read_label_header(header), header) if header else _by_relation(table)
    if is_whole(labels):
        return _by_number(table, int(labels))
    if isinstance(labels, str) and labels.startswith(REGEX) and labels not in table.names:
        labels = _compiled(labels.removeprefix(REGEX), table)
    if isinstance(labels, re.Pattern):
        return _matching(table, labels, labels.pattern)
    if is_header(labels):
        return _listed(table, read_label_header(labels), Path(labels))  # type: ignore[arg-type]
    if isinstance(labels, str):
        if _COUNT.fullmatch(labels):
            return _by_number(table, int(labels))
        labels = [labels] if labels in table.names else _names_in(labels, table)
    known = set(table.names)
    names: list[str] = []
    for name in labels:  # type: ignore[union-attr]
        if name not in known and isinstance(name, str) and any(mark in name for mark in "*?["):
            names += _matching(table, re.compile(rf"\A{fnmatch.translate(name)}"), name)
        elif name not in known:
            spelled = [other for other in table.names if other.lower() == str(name).lower()]
            close = spelled or difflib.get_close_matches(str(name), table.names, n=1)
            rows = next((column for column in table.columns if column.values is not None and name in column.values), None)
            if rows is not None:
                raise DatasetError(
                    f"there is no column named {name!r}, but column {rows.name!r} has it as a value.",
                    f"If every row is a feature, transpose the table first (pandas: frame.set_index({rows.name!r}).T).",
                    table.file,
                )
            meant = f"did you mean {close[0]!r}? There" if close else "there"
            raise DatasetError(f"there is no column named {name!r}; {meant} are {some_of(table.names)}.", REMEDY, table.file)
        else:
            names.append(name)
    if not names:
        raise DatasetError(f"no label is named; there are {some_of(table.names)}.", REMEDY, table.file)
    return list(dict.fromkeys(names))


def _compiled(text: str, table: Table) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise DatasetError(f"labels={REGEX}{text} is not a regular expression ({error}).", REMEDY, table.file) from None


def _matching(table: Table, pattern: re.Pattern[str], typed: str) -> list[str]:
    found = [name for name in table.names if pattern.search(name)]
    if not found:
        raise DatasetError(f"no column matches {typed!r}; there are {some_of(table.names)}.", REMEDY, table.file)
    return found


def _names_in(text: str, table: Table) -> list[str]:
    """Names with commas between them; one that has a comma in it stands in double quotes."""
    try:
        names = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        raise DatasetError(f"labels={text!r} are not names with commas between them ({error}).", REMEDY, table.file) from None
    return [name.strip() for name in names if name.strip()]


def is_header(labels: object) -> bool:
    """True for the path of an XML file."""
    return isinstance(labels, os.PathLike) or (isinstance(labels, str) and labels.lower().endswith(".xml"))


def find_header(file: Path) -> Path | None:
    """``NAME.xml`` in the folder of ``NAME.arff``, ``NAME.arff.gz``, ``NAME-train.arff`` and the like."""
    header = header_of(file)
    candidates = (header, header.with_name(_PART.sub("", header.stem) + ".xml"))
    return next((path for path in candidates if path.is_file()), None)


def header_of(file: Path) -> Path:
    """``NAME.xml`` for ``NAME.arff``, ``NAME.arff.gz`` and the like.

    >>> header_of(Path("songs.v2.arff.gz")).name
    'songs.v2.xml'
    """
    stem = file.name
    while re.search(r".\.(?:gz|bz2|xz|zst|arff|csv|tsv|parquet|pq|mat|txt|libsvm|svm|npz|xlsx)$", stem, re.IGNORECASE):
        stem = stem[: stem.rindex(".")]
    return file.with_name(stem + ".xml")


def read_label_header(path: str | os.PathLike[str]) -> list[str]:
    """The names in a Mulan label header; those of nested labels follow the label that they are in."""
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


def _listed(table: Table, names: list[str], header: Path) -> list[str]:
    if table.n_labels is not None:  # the file has no names of its own for them
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


def _by_number(table: Table, count: int) -> list[str]:
    n_columns = len(table.columns)
    if not 0 < abs(count) <= n_columns:
        of = "1 column" if n_columns == 1 else f"{n_columns} columns"
        raise DatasetError(f"{abs(count)} label columns of {of}.", REMEDY, table.file)
    return table.names[-count:] if count > 0 else table.names[:-count]


def _by_relation(table: Table) -> list[str]:
    if table.n_labels is not None:
        return table.names[len(table.names) - table.n_labels :]
    found = _MEKA.search(table.relation)
    if not found:
        raise DatasetError("nothing says which columns are labels.", REMEDY, table.file)
    if "weka.filters" in found[2]:  # it may have moved the columns, and the option is not corrected
        raise DatasetError(f"its relation says -C {found[1]}, but a filter changed the columns afterwards.", REMEDY, table.file)
    return _by_number(table, -int(found[1]))  # MEKA counts from the other end
