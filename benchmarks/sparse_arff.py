"""A quick reader for sparse ARFF files whose values are all numbers, as Mulan and MEKA publish them.

Rows look like ``{3 1,17 2}``: 0-based attribute, value; what is not listed is 0. The body is turned into
numbers in one go, about a second for the largest set. Anything else (strings, dense rows, missing values)
is refused: this reader only feeds benchmarks.
"""

import gzip
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

# A name is quoted, with backslash escapes, or goes on to the next blank with backslashes as they are.
ATTRIBUTE = re.compile(r"""@attribute\s+(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|(\S+))\s""", re.IGNORECASE)
MEKA_LABELS = re.compile(r"-C\s+(-?\d+)")
BLANKS = bytes.maketrans(b"{},\n\r\t", b" " * 6)


@dataclass(frozen=True)
class LabelledData:
    """Features and labels as compressed columns."""

    X: sparse.csc_array
    Y: sparse.csc_array


def read_sparse_arff(path):
    """Features and labels of a file, told apart by the XML beside it or by MEKA's ``-C`` in the relation."""
    path = Path(path)
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as file:
        content = file.read()
    start = re.search(rb"^@data[^\n]*\n", content, re.IGNORECASE | re.MULTILINE)
    if start is None:
        raise ValueError(f"{path.name} has no @data line")
    names, relation = read_header(content[: start.start()].decode("utf-8", "replace"))
    table = read_body(content[start.end() :], len(names), path.name)
    labels = find_labels(path, names, relation)
    features = np.setdiff1d(np.arange(len(names)), labels)
    return LabelledData(table[:, features], table[:, labels])


def read_header(text):
    names, relation = [], ""
    for line in text.splitlines():
        attribute = ATTRIBUTE.match(line.strip() + " ")
        if attribute:
            single, double, bare = attribute.groups()
            quoted = single if single is not None else double
            names.append(bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted))
        elif line.lower().startswith("@relation"):
            relation = line
    return names, relation


def read_body(body, columns, name):
    """Row lengths from the commas of each line, indices and values from one sweep over all of it."""
    lines = [line for line in body.split(b"\n") if line.strip() and not line.startswith(b"%")]
    if any(line.lstrip()[:1] != b"{" for line in lines):
        raise ValueError(f"{name} has rows that are not sparse")
    lengths = [line.count(b",") + 1 if b" " in line.strip(b"{} \r\t") else 0 for line in lines]
    total = sum(lengths)
    try:
        numbers = np.fromstring(b" ".join(lines).translate(BLANKS), dtype=np.float64, sep=" ")
    except ValueError as error:
        raise ValueError(f"{name} has values that are not numbers") from error
    if numbers.size != 2 * total:
        raise ValueError(f"{name}: {numbers.size} numbers where {2 * total} were expected")
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    rows = sparse.csr_array((numbers[1::2], numbers[::2].astype(np.int32), bounds), shape=(len(lines), columns))
    rows.check_format(full_check=True)
    return rows.tocsc()


def find_labels(path, names, relation):
    header = path.with_name(path.name.split(".arff")[0] + ".xml")
    if header.exists():
        elements = ElementTree.parse(header).iter()
        wanted = {element.get("name") for element in elements if "name" in element.attrib}
        labels = [i for i, name in enumerate(names) if name in wanted]
        if len(labels) != len(wanted):
            raise ValueError(f"{header.name} names labels that {path.name} does not have")
        return np.array(labels)
    meka = MEKA_LABELS.search(relation)
    if meka is None:
        raise ValueError(f"{path.name}: neither {header.name} nor -C in the relation names the labels")
    count, columns = int(meka[1]), np.arange(len(names))
    return columns[:count] if count > 0 else columns[count:]
