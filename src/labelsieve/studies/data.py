"""The data sets of a study: where they come from, loading them, and noise that is added on purpose."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labelsieve.datasets import Dataset, fetch, load, load_or_fetch
from labelsieve.errors import InputError, is_whole
from labelsieve.fingerprint import array_print, seed_of
from labelsieve.studies.estimators import as_plain
from labelsieve.tables.types import Matrix, dense_array, is_sparse

READING = ("label_separator", "strings", "missing_labels", "max_bytes")  # options of load
KEYS = ("name", "path", "labels", "part", "drop", "data_home", *READING, "missing_values", "max_labels", "noise", "tags")
MEAN = "train-mean"  # the only rule for missing values: column means of the training rows of every split


@dataclass(frozen=True, eq=False)
class Source:
    """A named data set: a file or a name of the catalog with its settings, or an object."""

    name: str
    settings: Mapping[str, Any]
    dataset: Dataset | None = None

    def load(self) -> Dataset:
        """Read the data set."""
        dataset = self.read() if self.dataset is None else self.dataset
        kept = without_columns(dataset, self.settings.get("drop", ()), self.name)
        return with_noise(frequent_labels(kept, self.settings.get("max_labels")), self.settings.get("noise"), self.name)

    @property
    def tags(self) -> frozenset[str]:
        """Words that name groups of data sets, such as the kind of the data."""
        return frozenset(self.settings.get("tags", ()))

    def read(self) -> Dataset:
        """Read the file or the set of the catalog as it is, without noise and with all columns and labels."""
        path, labels = self.settings.get("path", self.name), self.settings.get("labels")
        options = {key: self.settings[key] for key in READING if key in self.settings}
        if not isinstance(path, str):  # several files of one data set
            dataset: Dataset = load(path, labels, **options)
            return dataset
        named = {key: self.settings[key] for key in ("data_home", "part") if key in self.settings}
        if (named and not Path(path).exists()) or "part" in named:
            named |= {} if labels is None else {"labels": labels}
            fetched: Dataset = fetch(path, **named, **options)
            return fetched
        return load_or_fetch(path, labels, **options)


@dataclass(frozen=True, eq=False)
class LoadedData:
    """A data set in memory, indexable by rows.

    ``fills`` is True when missing values are filled with means; ``nominal`` are the columns declared nominal.
    """

    name: str
    X: Matrix
    Y: Matrix
    fills: bool = False
    nominal: tuple[int, ...] = ()

    @classmethod
    def of(cls, source: Source) -> "LoadedData":
        """Load a source, with sparse tables in row format."""
        data = source.load()
        X, Y = (sparse.csr_array(table) if is_sparse(table) else np.asarray(table) for table in (data.X, data.Y))
        fills = source.settings.get("missing_values") == MEAN
        nominal = tuple(column for column, kind in enumerate(data.feature_kinds) if kind == "nominal")
        return cls(source.name, dense_array(X) if fills else X, Y, fills, nominal)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all values and of the rule for missing ones."""
        return array_print(self.X, self.Y) + ("-filled" if self.fills else "")

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(
            table.nbytes if isinstance(table, np.ndarray) else table.data.nbytes + table.indices.nbytes + table.indptr.nbytes
            for table in (self.X, self.Y)
        )

    @property
    def shape(self) -> tuple[int, int, int]:
        """Numbers of rows, features and labels."""
        return int(self.X.shape[0]), int(self.X.shape[1]), int(self.Y.shape[1])

    @property
    def is_numeric(self) -> bool:
        """Whether the targets are numbers instead of labels."""
        return bool(self.Y.dtype.kind == "f")

    @property
    def has_missing(self) -> bool:
        """Whether features have missing values that are not filled."""
        values = self.X if isinstance(self.X, np.ndarray) else self.X.data
        return not self.fills and values.dtype.kind == "f" and bool(np.isnan(values).any())

    @property
    def has_unknown_labels(self) -> bool:
        """Whether some labels are NaN, and all others 0 and 1."""
        values = self.Y if isinstance(self.Y, np.ndarray) else self.Y.data
        unknown = np.isnan(values)
        return bool(unknown.any() and np.isin(values[~unknown], (0, 1)).all())

    @property
    def is_binary(self) -> bool:
        """Whether all targets are 0 or 1."""
        values = self.Y if isinstance(self.Y, np.ndarray) else self.Y.data
        return bool(((values == 0) | (values == 1)).all())


def read_source(given: object) -> Source:
    """Make a source from a path, a name of the catalog, a table of settings, or a :class:`Dataset`.

    >>> read_source("data/emotions.arff.gz").name, read_source({"name": "songs", "path": "a.csv", "labels": 3}).name
    ('emotions', 'songs')
    """
    if isinstance(given, Source):
        return given
    if isinstance(given, Dataset):
        if not given.name:
            raise InputError("a data set of a study needs a name: Dataset(..., name='songs').")
        return Source(given.name, {}, given)
    if isinstance(given, str | Path):
        path = str(given)
        return Source(Path(path).name.partition(".")[0] or path, {"path": path})
    if isinstance(given, Mapping) and isinstance(given.get("dataset"), Dataset):
        return _object_source(given, given["dataset"])
    if not isinstance(given, Mapping) or not isinstance(given.get("name", given.get("path")), str | Path):
        raise InputError(f"a data set is a path, a name of the catalog, a table with a name, or a Dataset, not {given!r}.")
    settings: dict[str, Any] = as_plain(given, otherwise=lambda value: value)  # such as a compiled pattern of labels
    name = settings.pop("name", None) or Path(settings["path"]).name.partition(".")[0]
    unknown = sorted(set(settings) - set(KEYS))
    if unknown:
        raise InputError(f"data set {name!r}: {unknown[0]!r} is not a setting; there are {', '.join(KEYS)}.")
    if settings.get("missing_values", MEAN) != MEAN:
        raise InputError(f"data set {name!r}: missing_values must be {MEAN!r}; without it missing values are refused.")
    if "noise" in settings:
        settings["noise"] = read_noise(settings["noise"], f"data set {name!r}")
    if not name:
        raise InputError("a data set of a study needs a name, and this one is empty.")
    for key, (is_valid, words) in _CHECKS.items():
        if key in settings and not is_valid(settings[key]):
            raise InputError(f"data set {name!r}: {key} must be {words}, not {settings[key]!r}.")
    return Source(name, settings)


def _object_source(given: Mapping[str, Any], dataset: Dataset) -> Source:
    """Make a source from an object with settings, without those that concern files."""
    rest = read_source({"name": dataset.name, **{key: value for key, value in given.items() if key != "dataset"}})
    taken = ("drop", "missing_values", "max_labels", "noise", "tags")
    unknown = sorted(set(rest.settings) - set(taken))
    if unknown:
        raise InputError(f"data set {rest.name!r}: {unknown[0]!r} is for files; a Dataset takes {', '.join(taken)}.")
    return Source(rest.name, rest.settings, dataset)


def without_columns(data: Dataset, drop: Sequence[str], name: str) -> Dataset:
    """Return a data set without some features, such as row identifiers."""
    if not drop:
        return data
    absent = sorted(set(drop) - set(data.feature_names))
    if absent:
        raise InputError(f"data set {name!r}: drop has {absent[0]!r}, and there is no such feature.")
    kept = [column for column, feature in enumerate(data.feature_names) if feature not in drop]
    names = tuple(data.feature_names[column] for column in kept)
    kinds = tuple(data.feature_kinds[column] for column in kept)
    categories = {feature: values for feature, values in data.categories.items() if feature not in drop}
    return replace(data, X=data.X[:, kept], feature_names=names, feature_kinds=kinds, categories=categories)


def frequent_labels(data: Dataset, most: int | None) -> Dataset:
    """Return a data set with its ``most`` most frequent labels, in their order; of equally frequent ones, the first.

    >>> Y = np.array([[1, 0, 1], [1, 0, 0], [0, 0, 1]])
    >>> frequent_labels(Dataset(np.eye(3), Y, ("a", "b", "c"), ("x", "y", "z"), ("numeric",) * 3), 2).label_names
    ('x', 'z')
    """
    if most is None or most >= len(data.label_names):
        return data
    counts = np.asarray(data.Y.sum(axis=0)).ravel()
    kept = np.sort(np.argsort(-counts, kind="stable")[:most])
    return replace(data, Y=data.Y[:, kept], label_names=tuple(data.label_names[column] for column in kept))


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(text, str) for text in value)


# Settings that are checked before anything is read; readers check the others.
_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "path": (lambda value: isinstance(value, str) or _are_texts(value), "a path or a list of paths"),
    "labels": (
        lambda value: is_whole(value) or isinstance(value, str | re.Pattern) or _are_texts(value),
        "a number, names in a list, a pattern, or an XML header",
    ),
    "drop": (lambda value: value == [] or _are_texts(value), "a list of names of features"),
    "data_home": (lambda value: isinstance(value, str), "a folder"),
    "max_labels": (lambda value: is_whole(value) and value > 0, "a number of labels"),
    "tags": (lambda value: value == [] or _are_texts(value), "a list of words"),
}


NOISE_KINDS = ("irrelevant", "corrupted")
REPLACED = 0.25  # of the values of a corrupted column with few levels


def read_noise(given: object, where: str) -> dict[str, float]:
    """Check the fractions of added columns.

    >>> read_noise({"irrelevant": 0.5}, "songs")
    {'irrelevant': 0.5, 'corrupted': 0.0, 'seed': 0}
    """
    known = (*NOISE_KINDS, "seed")
    if not isinstance(given, Mapping) or set(given) - set(known):
        raise InputError(f"{where}: noise is a table with {', '.join(known)}, not {given!r}.")
    shares = {kind: given.get(kind, 0.0) for kind in NOISE_KINDS}
    for kind, share in shares.items():
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 10:
            raise InputError(f"{where}: noise.{kind} is a fraction of the number of features, from 0 to 10, not {share!r}.")
    seed = given.get("seed", 0)
    if not is_whole(seed) or seed < 0:
        raise InputError(f"{where}: noise.seed must be a whole number from 0, not {seed!r}.")
    return {**shares, "seed": seed}


def added_counts(n_features: int, noise: Mapping[str, float]) -> tuple[int, int]:
    """Return the numbers of irrelevant and corrupted columns that are added to so many.

    >>> added_counts(10, {"irrelevant": 0.5, "corrupted": 0.25})
    (5, 2)
    """
    return round(noise.get("irrelevant", 0.0) * n_features), round(noise.get("corrupted", 0.0) * n_features)


def with_noise(data: Dataset, noise: Mapping[str, float] | None, name: str) -> Dataset:
    """Return a data set with copies of random columns after its own: permuted ones, then corrupted ones.

    A permuted copy has the values of a column in random order: its distribution without its information. A corrupted copy of a
    dense numeric column with more than two values has Gaussian noise with the standard deviation of the column added; of other
    columns, a quarter of the values, at random rows, are those of other random rows. Everything is drawn from a seed that
    depends on the name of the data set and ``noise["seed"]``.
    """
    if noise is None:
        return data
    n_rows, d = data.X.shape
    rng = np.random.default_rng(seed_of(int(noise.get("seed", 0)), name, "noise"))
    counts = added_counts(d, noise)
    sources = [rng.integers(d, size=count) for count in counts]
    X = sparse.csc_array(data.X) if is_sparse(data.X) else np.asarray(data.X)
    columns = [_column(X, source)[rng.permutation(n_rows)] for source in sources[0]]
    for source in sources[1]:
        is_numeric = not is_sparse(X) and data.feature_kinds[source] == "numeric"
        columns.append(_corrupted(_column(X, source), is_numeric, rng))
    if not columns:
        return data
    if is_sparse(X):
        table: Any = sparse.csr_array(sparse.hstack([X, sparse.csc_array(np.column_stack(columns))]))
    else:
        table = np.column_stack([X, *columns])
    added = [
        (f"{kind} {place} ({data.feature_names[source]})", data.feature_kinds[source], data.feature_names[source])
        for kind, chosen in zip(NOISE_KINDS, sources, strict=True)
        for place, source in enumerate(chosen)
    ]
    categories = dict(data.categories)
    categories |= {feature: data.categories[source] for feature, _, source in added if source in data.categories}
    return replace(
        data,
        X=table,
        feature_names=(*data.feature_names, *(feature for feature, _, _ in added)),
        feature_kinds=(*data.feature_kinds, *(kind for _, kind, _ in added)),
        categories=categories,
    )


def _column(X: Matrix, index: int) -> Any:
    return X[:, [index]].toarray().ravel() if is_sparse(X) else X[:, index]


def _corrupted(column: Any, numeric: bool, rng: np.random.Generator) -> Any:
    known = column[np.isfinite(column)] if column.dtype.kind == "f" else column
    if numeric and len(np.unique(known)) > 2:
        return column + rng.normal(scale=known.std(), size=len(column))
    rows = rng.permutation(len(column))[: round(REPLACED * len(column))]
    changed = column.copy()
    changed[rows] = column[rng.integers(len(column), size=len(rows))]
    return changed
