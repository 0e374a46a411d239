"""Checks of a study's file before its values are used: SQLite accepts any value in any column."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labelsieve.errors import InputError, StudyError
from labelsieve.selectors.json_document import check_kind, read_json

REMEDY = "Restore the file from a copy, or use another folder"
# Types of columns; a question mark allows NULL.
_TYPES = {
    "facts": {"key": "text", "value": "text"},
    "runs": {
        **{"started": "text", "ended": "text?", "version": "text", "environment": "text?"},
        **{"preparing": "number?", "seconds": "number?"},
    },
    "datasets": {
        **{"name": "text", "data": "text", "n_rows": "count", "n_features": "count", "n_labels": "count"},
        "test_share": "number",
    },
    "selections": {
        **{"dataset": "text", "split": "count", "method": "text", "data": "text", "rows": "text", "settings": "text"},
        **{
            "code": "text",
            "n_wanted": "count",
            "selected": "text?",
            "seconds": "number",
            "error": "text?",
            "storing": "number?",
            "cpu": "number?",
        },
    },
    "cells": {
        **{"dataset": "text", "split": "count", "method": "text", "classifier": "text", "data": "text", "rows": "text"},
        **{"settings": "text", "code": "text", "sizes": "text", "measures": "text", "seconds": "number", "error": "text?"},
        **dict.fromkeys(("training", "prediction", "both", "measuring", "storing", "cpu"), "number?"),
    },
    "results": {"cell": "count", "k": "count", "measure": "text", "value": "number?"},
}
_KEYS = {
    "facts": 1,
    "runs": 1,
    "datasets": 1,
    "selections": 3,
    "cells": 4,
    "results": 3,
}  # columns that name a row, for messages
_LARGEST = 2**53  # of counts: a larger one is not exact in JSON and arrays of floats
_CONDITIONS = {
    "text": "typeof({0}) = 'text'",
    "count": f"typeof({{0}}) = 'integer' AND {{0}} BETWEEN 0 AND {_LARGEST}",
    "number": "typeof({0}) IN ('integer', 'real') AND abs({0}) <= 1e300",
}
_WORDS = {"text": "text", "count": "a whole number from 0", "number": "a finite number"}

# The protocol of the last run, as far as reports read it.
_PROTOCOL: dict[str, Any] = {
    **{"measures": list[str], "baselines": list[str], "n_features": list[float], "splits": str, "seed": int, "scale": str},
    **{"convention": str | dict[str, Any], "datasets": list[dict[str, Any]]},
    **{"methods": list[dict[str, Any]], "classifiers": list[dict[str, Any]]},
}


def check_types(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a file in which a value does not have the type of its column."""
    for table, columns in _TYPES.items():
        conditions = {}
        for column, kind in columns.items():
            condition = _CONDITIONS[kind.removesuffix("?")].format(f'"{column}"')
            conditions[column] = f"({column} IS NULL OR ({condition}))" if kind.endswith("?") else f"({condition})"
        names, good = ", ".join(f'"{column}"' for column in columns), " AND ".join(conditions.values())
        wrong = db.execute(f"SELECT {names} FROM {table} WHERE NOT ({good}) OR ({good}) IS NULL LIMIT 1").fetchone()
        if wrong is None:
            continue
        tests = ", ".join(f"coalesce({condition}, 0)" for condition in conditions.values())
        right = db.execute(f"SELECT {tests} FROM {table} WHERE NOT ({good}) OR ({good}) IS NULL LIMIT 1").fetchone()
        column = list(columns)[right.index(0)]
        value, kind = repr(dict(zip(columns, wrong, strict=True))[column]), columns[column].removesuffix("?")
        shown = value if len(value) <= 60 else f"{value[:60]}..."
        row = ", ".join(str(key)[:60] for key in wrong[: _KEYS[table]])
        raise StudyError(f"{path}: damaged: {table}.{column} is {shown}, and {_WORDS[kind]} is needed, in row {row}. {REMEDY}.")


def stored_json(text: str, kind: object, path: Path, place: str) -> Any:
    """Parse JSON in a cell of the file, which must have a type, such as ``list[int]``."""
    try:
        value = read_json(text)
        check_kind(value, kind, place)
    except InputError as error:
        reason = str(error)
        raise StudyError(
            f"{path}: damaged: {reason if reason.startswith(place) else f'{place}: {reason}'}. {REMEDY}."
        ) from None
    return value


def stored_numbers(text: str, path: Path, place: str, *, low: int = 0, high: int = _LARGEST) -> list[int]:
    """Parse a list of whole numbers in a range, none of them twice."""
    numbers: list[int] = stored_json(text, list[int], path, place)
    if any(not low <= number <= high for number in numbers) or len(set(numbers)) < len(numbers):
        raise StudyError(f"{path}: damaged: {place} has a number twice, or one outside {low} to {high:,}. {REMEDY}.")
    return numbers


def stored_protocol(text: str, path: Path) -> dict[str, Any]:
    """Parse the protocol of the last run."""
    protocol: dict[str, Any] = stored_json(text, dict[str, Any], path, "facts.protocol")
    for key, kind in _PROTOCOL.items():
        if key in protocol:
            try:
                check_kind(protocol[key], kind, f"facts.protocol.{key}")
            except InputError as error:
                raise StudyError(f"{path}: damaged: {error}. {REMEDY}.") from None
    for key in ("methods", "classifiers", "datasets"):
        _refuse_nameless(protocol.get(key, []), path, f"facts.protocol.{key}")
    return protocol


def _refuse_nameless(tables: Sequence[Any], path: Path, place: str) -> None:
    for index, table in enumerate(tables):
        if not isinstance(table.get("name"), str):
            raise StudyError(f"{path}: damaged: {place}[{index}] has no name. {REMEDY}.")
