"""Protocols as TOML files."""

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from labelsieve.errors import InputError
from labelsieve.studies.study_error import StudyError

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
        settings = tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors put a mark before it
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
    if not isinstance(given, Mapping):
        return given
    return _with_files(given, lambda file: str(folder / file) if (folder / file).exists() else file)


def _for_folder(given: Any, folder: Path) -> Any:
    """A data set whose files are named as they are found from the folder of the protocol, wherever it is read."""

    def named(file: str) -> str:
        whole = Path(os.path.abspath(file))
        if not whole.exists():  # a name of the catalog, or not there yet
            return file
        return str(whole.relative_to(folder)) if whole.is_relative_to(folder) else str(whole)

    return _with_files(given, named)


def _with_files(given: Mapping[str, Any], named: Callable[[str], str]) -> dict[str, Any]:
    """Settings of a data set with other names for what lies on a disk."""
    found = dict(given)
    for key in ("path", "labels", "data_home"):
        value = found.get(key)
        if isinstance(value, str) and (key != "labels" or value.endswith(".xml")):
            found[key] = named(value)
        elif isinstance(value, list) and key == "path":
            found[key] = [named(one) if isinstance(one, str) else one for one in value]
    return found


def write_toml(settings: Mapping[str, Any], path: Path) -> None:
    """Write settings: plain values, lists of them, and lists of tables."""
    folder = Path(os.path.abspath(path.parent))
    datasets = [_for_folder(one, folder) for one in settings["datasets"]]
    path.write_text(toml_text({**settings, "datasets": datasets}), encoding="utf-8")


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
            lines += ["", f"[[{key}]]", *(f"{_key(name)} = {_value(value)}" for name, value in table.items())]
    return "\n".join([*lines, ""])


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    raise InputError(f"{value!r} has no form in a TOML file.")


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _text(text: str) -> str:
    """A JSON string is a TOML string, but for characters that JSON writes as two halves, and for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", r"\u007f")
