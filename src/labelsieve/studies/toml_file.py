"""TOML files of protocols: their settings as plain values, and back.

A file may extend another one, and may hold several studies that share settings.
"""

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from labelsieve.errors import InputError, StudyError

KEYS = (
    *("n_features", "measures", "splits", "baselines", "convention", "scale", "seed"),
    *("datasets", "methods", "classifiers", "select_on", "discretize_on"),
    *("max_rows", "time_limit", "memory_limit", "cpu_limit", "extends", "noise"),
)
ADDED = ("datasets", "methods")  # lists of one of several studies, added to the shared ones
STUDIES = "studies"


def read_toml(path: Path) -> dict[str, Any]:
    """Read the settings of a protocol; relative paths of data sets start at the folder of the file."""
    return _checked(_read(path), path)


def read_studies(path: Path) -> dict[str, dict[str, Any]]:
    """Read the settings of several protocols in one file, by name; a file with a single one has the name "".

    Every table of ``studies`` has a name and its own settings; data sets and methods are added to the shared ones.
    """
    shared = _read(path)
    tables = shared.pop(STUDIES, None)
    if tables is None:
        return {"": _checked(shared, path)}
    names = [table.get("name") for table in tables] if _is_tables(tables) else []
    if not names or not all(isinstance(name, str) and re.fullmatch(r"[\w-]+", name) for name in names):
        raise StudyError(f"{path}: studies must be tables, [[studies]], each with a name of letters, digits, _ and -.")
    if len(set(names)) < len(names):
        raise StudyError(f"{path}: two studies have the same name.")
    studies = {}
    for table in tables:
        own = {key: value for key, value in table.items() if key != "name"}
        lists = {key: [*shared.get(key, []), *own.get(key, [])] for key in ADDED if key in shared or key in own}
        studies[table["name"]] = _checked({**shared, **own, **lists}, path)
    return studies


def _read(path: Path) -> dict[str, Any]:
    """Read a file; its settings replace those of the file that it extends."""
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors write a byte order mark
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: not TOML ({error}).") from None
    base = settings.pop("extends", None)
    if base is None:
        return settings
    if not isinstance(base, str) or not (path.parent / base).is_file() or (path.parent / base).samefile(path):
        raise StudyError(f"{path}: extends must name another protocol, relative to this file, not {base!r}.")
    return {**_read(path.parent / base), **settings}


def _checked(settings: dict[str, Any], path: Path) -> dict[str, Any]:
    if STUDIES in settings:
        raise StudyError(f"{path}: it has several studies; read it with Protocol.several_from_toml.")
    unknown = sorted(set(settings) - set(KEYS))
    if unknown:
        raise StudyError(f"{path}: {unknown[0]!r} is not a setting of a study. Known: {', '.join(KEYS)}.")
    for needed in ("datasets", "methods"):
        if needed not in settings:
            raise StudyError(f"{path}: it has no {needed}; a study needs at least one.")
    noise = settings.pop("noise", None)
    if isinstance(settings["datasets"], list):
        datasets = [_from_folder(dataset, path.parent) for dataset in settings["datasets"]]
        settings["datasets"] = datasets if noise is None else [_with_noise(dataset, noise) for dataset in datasets]
    return settings


def _with_noise(dataset: object, noise: object) -> Any:
    table = {"name": dataset} if isinstance(dataset, str) else dataset
    return {"noise": noise, **table} if isinstance(table, Mapping) else dataset


def _from_folder(given: object, folder: Path) -> Any:
    """Resolve the files of a data set, first in the folder of the protocol."""
    if isinstance(given, str):
        return {"name": Path(given).name.partition(".")[0], "path": str(folder / given)} if (folder / given).exists() else given
    if not isinstance(given, Mapping):
        return given
    return _with_files(given, lambda file: str(folder / file) if (folder / file).exists() else file)


def _for_folder(given: Any, folder: Path) -> Any:
    """Write the files of a data set relative to the folder of the protocol, or as absolute paths."""

    def named(file: str) -> str:
        path = Path(os.path.abspath(file))
        if not path.exists():  # a name of the catalog, or a file that does not exist yet
            return file
        return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)

    return _with_files(given, named)


def _with_files(given: Mapping[str, Any], named: Callable[[str], str]) -> dict[str, Any]:
    """Return the settings of a data set with renamed paths."""
    settings = dict(given)
    for key in ("path", "labels", "data_home"):
        value = settings.get(key)
        if isinstance(value, str) and (key != "labels" or value.endswith(".xml")):
            settings[key] = named(value)
        elif isinstance(value, list) and key == "path":
            settings[key] = [named(path) if isinstance(path, str) else path for path in value]
    return settings


def write_toml(settings: Mapping[str, Any], path: Path) -> None:
    """Write settings: plain values, lists of them, and lists of tables."""
    folder = Path(os.path.abspath(path.parent))
    datasets = [_for_folder(dataset, folder) for dataset in settings["datasets"]]
    path.write_text(toml_text({**settings, "datasets": datasets}), encoding="utf-8")


def toml_text(settings: Mapping[str, Any]) -> str:
    """Write settings as TOML text, lists of tables last.

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


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    raise InputError(f"{value!r} cannot be written to a TOML file.")


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _text(text: str) -> str:
    """Return a TOML string: a JSON string, except for surrogate pairs and DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", r"\u007f")
