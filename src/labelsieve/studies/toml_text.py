"""Protocols as TOML files."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labelsieve.errors import InputError
from labelsieve.studies.errors import StudyError

KEYS = (
    "n_features",
    "measures",
    "splits",
    "baselines",
    "convention",
    "seed",
    "datasets",
    "methods",
    "classifiers",
    "select_on",
    "discretize_on",
)


def read_toml(path: Path) -> dict[str, Any]:
    """The settings of a protocol; paths of data sets are made relative to where the file is."""
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: not TOML ({error}).") from None
    unknown = sorted(set(settings) - set(KEYS))
    if unknown:
        raise StudyError(f"{path}: {unknown[0]!r} is not a setting of a study; there are {', '.join(KEYS)}.")
    for needed in ("datasets", "methods"):
        if needed not in settings:
            raise StudyError(f"{path}: it has no {needed}; a study needs at least one.")
    if isinstance(settings["datasets"], list):
        settings["datasets"] = [_beside(one, path.parent) for one in settings["datasets"]]
    return settings


def _beside(given: Any, folder: Path) -> Any:
    """A data set whose files are looked for in the folder of the protocol first."""
    if isinstance(given, str):
        return {"name": Path(given).name.partition(".")[0], "path": str(folder / given)} if (folder / given).exists() else given
    if isinstance(given, Mapping) and isinstance(given.get("path"), str) and (folder / given["path"]).exists():
        return {**given, "path": str(folder / given["path"])}
    return given


def write_toml(settings: Mapping[str, Any], path: Path) -> None:
    """Write settings: plain values, lists of them, and lists of tables."""
    path.write_text(toml_text(settings), encoding="utf-8")


def toml_text(settings: Mapping[str, Any]) -> str:
    """Settings as TOML, lists of tables last.

    >>> print(toml_text({"seed": 0, "methods": [{"name": "jmi", "targets": {"name": "joint"}}]}))
    seed = 0
    <BLANKLINE>
    [[methods]]
    name = "jmi"
    targets = { name = "joint" }
    <BLANKLINE>
    """
    lines = [f"{key} = {_value(value)}" for key, value in settings.items() if not _is_tables(value)]
    for key, tables in settings.items():
        for table in tables if _is_tables(tables) else ():
            lines += ["", f"[[{key}]]", *(f"{name} = {_value(value)}" for name, value in table.items())]
    return "\n".join([*lines, ""])


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value)  # a JSON string is a TOML string
    raise InputError(f"{value!r} has no form in a TOML file.")
