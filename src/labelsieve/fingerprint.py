"""Short hashes of everything that a result depends on: data, rows, settings, code."""

import hashlib
import inspect
import os
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from labelsieve.tables.types import TargetsLike


DIGITS = 16
StrPath = str | os.PathLike[str]
# Code that only prints, draws or evaluates stored results does not influence them ...
OUTSIDE = ("cli/", "report/", "statistics/", "studies/", "plotting.py", "progress.py", "__main__.py")
# ... except what studies learn with.
INSIDE = ("studies/cells.py", "studies/estimators.py")
# Packages whose code is hashed as a whole, or whose releases are recorded with the results.
KNOWN = ("labelsieve", "builtins", "abc", "typing", "numpy", "scipy", "sklearn", "pandas")


def comparable(value: object) -> object:
    """Return a value that is equal for equal parameters: plain values, the parameters of estimators, hashes of others.

    >>> comparable(("jmi", None)) == comparable(("jmi", None)), comparable([1, 2]) == comparable([1, 3])
    (True, False)
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, tuple):
        return tuple(map(comparable, value))
    if hasattr(value, "get_params"):
        return type(value), {name: comparable(each) for name, each in value.get_params(deep=False).items()}
    from joblib import hash as hash_of  # takes long to load

    return hash_of(value)


def text_print(*texts: str) -> str:
    """Return a hash of texts.

    >>> text_print("jmi") == text_print("jmi") != text_print("mim")
    True
    """
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:DIGITS]


def array_print(*tables: "TargetsLike") -> str:
    """Return a hash of arrays or sparse matrices: shapes, types and values.

    Cost: about a second for a gigabyte.

    >>> array_print(np.eye(2)) == array_print(np.eye(2)) != array_print(np.eye(2, dtype=int))
    True
    """
    digest = hashlib.sha256()
    for table in tables:
        if sparse.issparse(table):
            rows = sparse.csr_array(table)
            rows.sum_duplicates()
            pieces = [rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)]
        else:
            values = np.asarray(table)
            pieces = [values.astype(str) if values.dtype.kind == "O" else values]
        for piece in pieces:
            digest.update(f"{piece.shape} {piece.dtype.str} ".encode())
            digest.update(np.ascontiguousarray(piece).view(np.uint8).data if piece.size else b"")
    return digest.hexdigest()[:DIGITS]


def file_print(*paths: StrPath) -> str:
    """Return a hash of the paths, sizes and times of files."""
    states = [(os.path.realpath(path), os.stat(path)) for path in paths]
    return text_print(*(f"{path} {state.st_size} {state.st_mtime_ns}" for path, state in states))


def content_print(path: StrPath) -> str:
    """Return a hash of the contents of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:DIGITS]


@cache
def code_print() -> str:
    """Return a hash of the version and of the code that selects, learns and measures.

    >>> len(code_print())
    16
    """
    spec = find_spec("labelsieve")
    assert spec is not None
    digest = hashlib.sha256(version("labelsieve").encode())
    for root in sorted(map(Path, spec.submodule_search_locations or [])):
        for file in sorted([*root.rglob("*.py"), *root.rglob("_native*.so"), *root.rglob("_native*.pyd")]):
            name = file.relative_to(root).as_posix()
            if name.startswith(INSIDE) or not name.startswith(OUTSIDE):
                digest.update(name.encode() + file.read_bytes())
    return digest.hexdigest()[:DIGITS]


def class_print(*parts: object) -> str:
    """Return a hash of the code of custom classes and functions: those of neither this library nor the packages it uses.

    :func:`code_print` has this library's. Empty where there are none, or where their code cannot be read, such as that of
    classes typed into a plain interpreter.

    >>> class_print(np.zeros(2), len)
    ''
    """
    sources = {}
    for part in parts:
        for item in [part] if inspect.isfunction(part) else type(part).__mro__:
            if item.__module__.partition(".")[0] not in KNOWN and (source := _source(item)):
                sources[f"{item.__module__}.{item.__qualname__}"] = source
    return text_print(*(f"{name} {code}" for name, code in sorted(sources.items()))) if sources else ""


@cache
def _source(item: Callable[..., object]) -> str:
    """Return the code of a class or function, empty if it cannot be read; finding a class parses its module each time."""
    try:
        return inspect.getsource(item)
    except (OSError, TypeError):
        return ""


def seed_of(*parts: object) -> int:
    """Return a seed that depends on these values alone, so that additions to a study do not change its other seeds.

    >>> 0 <= seed_of(0, "yeast", 3, "random") < 2**31
    True
    """
    return int(hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:8], 16) % 2**31
