"""Metadata of labelsieve in the schema of a Parquet file: label columns and values of nominal columns."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

KEY = b"labelsieve"
VERSION = 1


@dataclass(frozen=True)
class TableMetadata:
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
        """The metadata as stored in the schema."""
        return {KEY: json.dumps(asdict(self), ensure_ascii=True).encode()}


def read_metadata(metadata: Mapping[bytes, bytes] | None) -> TableMetadata | None:
    """The metadata of a schema, or None without any; a ValueError if they are damaged.

    >>> songs = TableMetadata(("tempo",), ("calm",), {}, "", sparse=False)
    >>> read_metadata(songs.metadata()) == songs, read_metadata({})
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
    return TableMetadata(
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
