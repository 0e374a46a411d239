"""What labelsieve notes in the schema of a Parquet file: which columns are labels, and what the columns do not say."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

KEY = b"labelsieve"
VERSION = 1


@dataclass(frozen=True)
class Note:
    """Names in order, values of nominal columns, and whether rows are sparse.

    Sparse rows are lists in the first two columns, of indices and of values. Labels of 0 and 1 are a third then, of indices.
    """

    features: tuple[str, ...]
    labels: tuple[str, ...]
    categories: Mapping[str, tuple[str, ...]]
    description: str
    sparse: bool
    version: int = VERSION

    def metadata(self) -> dict[bytes, bytes]:
        """The note as it stands in the schema."""
        return {KEY: json.dumps(asdict(self), ensure_ascii=True).encode()}


def read_note(metadata: Mapping[bytes, bytes] | None) -> Note | None:
    """The note of a schema, or None where there is none; a ValueError if it is damaged.

    >>> note = Note(("tempo",), ("calm",), {}, "", sparse=False)
    >>> read_note(note.metadata()) == note, read_note({})
    (True, None)
    """
    if metadata is None or KEY not in metadata:
        return None
    found: Any = json.loads(metadata[KEY])
    if not isinstance(found, dict) or found.get("version") != VERSION:
        raise ValueError("it is of another version")
    categories: Any = found.get("categories")
    if not isinstance(categories, dict):
        raise ValueError("it has no categories")
    features, labels, *values = map(_names, (found.get("features"), found.get("labels"), *categories.values()))
    return Note(
        features=features,
        labels=labels,
        categories=dict(zip(categories, values, strict=True)),
        description=str(found.get("description", "")),
        sparse=found.get("sparse") is True,
    )


def _names(found: Any) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise ValueError("its names are not lists of text")
    return tuple(found)
