"""The protocol of a study: data sets, splits, methods, learners and measures, and the part of it that a run covers.

A protocol may be read from a TOML file, which may extend another one or hold several studies that share settings.
"""

import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from math import floor
from pathlib import Path
from typing import Any, Self

from sklearn.base import is_regressor

from labelsieve.classifiers import KNNRegressor
from labelsieve.classifiers.neighbors import BaseNeighborClassifier
from labelsieve.classifiers.prefix_scores import NONE, read_scale
from labelsieve.errors import InputError, StudyError, unknown_name, whole_number
from labelsieve.metrics import MEASURES
from labelsieve.metrics.evaluation import Convention, read_convention
from labelsieve.registry import METHODS
from labelsieve.studies.data import LoadedData, Source, read_source
from labelsieve.studies.estimators import NamedEstimator, as_plain, read_classifier, read_method, read_sizes, read_splits

BASELINES = ("random", "all")
LIMITS = ("max_rows", "time_limit", "memory_limit", "cpu_limit")
AVERAGE = "average"  # of all classifiers, in results
ALL = "all"  # the one method without a number of features to select
NEIGHBORS = (BaseNeighborClassifier, KNNRegressor)
DEFAULT_MEASURES = ("hamming_loss", "ranking_loss", "coverage", "macro_f1")
NUMERIC_MEASURES = ("rrmse",)  # what the command line takes for numeric targets
MAX_SHOWN = 80  # characters of a refused value in an error
KEYS = (
    *("n_features", "measures", "splits", "baselines", "convention", "scale", "seed"),
    *("datasets", "methods", "classifiers", "select_on", "discretize_on"),
    *("max_rows", "time_limit", "memory_limit", "cpu_limit", "extends", "noise"),
)
ADDED = ("datasets", "methods")  # lists of one of several studies, added to the shared ones
STUDIES = "studies"
_SHARD = re.compile(r"(\d{1,5})/(\d{1,5})")


class Protocol:
    """Data sets, methods, numbers of features, classifiers, measures and splits; checked on construction.

    Parameters
    ----------
    datasets : sequence
        Paths, names of the catalog, :class:`~labelsieve.datasets.Dataset` objects, or tables with ``name``, ``path`` (or
        ``dataset``, an object), ``labels``, ``part`` (as in :func:`~labelsieve.datasets.fetch`), ``drop`` (features to leave
        out), ``data_home``, ``label_separator``, ``strings``, ``missing_labels``, ``max_bytes``, ``max_labels`` (the most
        frequent ones), ``noise`` (fractions of ``irrelevant`` and ``corrupted`` copies of features to add), ``tags`` and
        ``missing_values``: ``"train-mean"`` fills missing values with column means of the training rows of every split; else
        they are refused.
    methods : sequence
        Names of criteria, published methods and selectors; tables with ``name``, ``criterion``, ``targets``,
        ``discretizer`` and other parameters of the selector; or pairs of a name and a selector whose ``selected_`` is a
        ranking, best first: its first k features must be its selection of k features.
    n_features : str or sequence, default="1..50"
        ``"1..50"``, ``"5..50..5"``, whole numbers, or fractions of all features between 0 and 1. A data set with fewer features
        is evaluated with all of them.
    classifiers : sequence, default=None
        None: ``"mlknn"`` for measures of labels, ``"knn"`` for measures of numbers. Else names of
        :data:`labelsieve.registry.CLASSIFIERS`, such as ``"mlknn"``, ``"logistic"`` and ``"trees"``, or for numeric targets
        ``"knn"``, ``"ridge"`` and ``"trees"``; tables with ``name``, ``classifier`` (such a name, or the import path of a
        scikit-learn estimator), ``n_features`` (numbers for this one) and parameters; or pairs of a name and an estimator.
    measures : sequence of str
        See :data:`labelsieve.metrics.MEASURES`.
    splits : str, splitter or list of pairs, default="30x50%"
        ``"30x50%"``, ``"10-fold"``, ``"stratified 5-fold"``, a splitter of scikit-learn's kind with a fixed seed, or pairs of
        training and test rows. Pass such pairs for a splitter that needs groups or classes.
    baselines : sequence of str, default=("random", "all")
        Methods that are added to the study: a random ranking, and all features.
    convention : str or mapping, default="labelsieve"
        Convention of the measures, a name or options by measure: see :func:`labelsieve.metrics.convention_options`.
    scale : {"standard", "minmax", None}, default="standard"
        Scaling of the features for the classifiers, fitted on the training rows of every split: mean 0 and variance 1, the
        range from 0 to 1, or none. It matters to distances and linear models; trees make the same splits with and without it.
        Selections and classifiers that select features themselves get the features unscaled. Sparse features stay sparse: they
        are divided by their deviations, or by their largest absolute values, and not shifted.
    max_rows : int, default=None
        Largest number of rows of a split. Of a larger data set so many are drawn from the training and the test rows of every
        split, in their proportion.
    time_limit, memory_limit, cpu_limit : float, default=None
        Limits of a selection or an evaluation: seconds, MB and CPU seconds (Linux). ``Study.run`` may get others.
    seed : int, default=0
        Random state of splits and methods; the seed of every data set, split and method is derived from it.
    select_on, discretize_on : {"train"}, default="train"
        Any other value is refused: it would pass test rows to the selection.

    Examples
    --------
    >>> Protocol(datasets=["emotions"], methods=["jmi", "scls"], n_features="1..3")
    Protocol: 1 data set, 4 methods (jmi, scls, random, all), 3 numbers of features, 1 classifier, 4 measures, 30x50%
    """

    def __init__(
        self,
        datasets: Iterable[Any],
        methods: Iterable[Any],
        *,
        n_features: object = "1..50",
        classifiers: Iterable[Any] | None = None,
        measures: Iterable[str] = DEFAULT_MEASURES,
        splits: object = "30x50%",
        baselines: Iterable[str] = BASELINES,
        convention: Convention = "labelsieve",
        scale: str | None = "standard",
        max_rows: int | None = None,
        time_limit: float | None = None,
        memory_limit: float | None = None,
        cpu_limit: float | None = None,
        seed: int = 0,
        select_on: str = "train",
        discretize_on: str = "train",
    ) -> None:
        refuse_rows(select_on, "select_on")
        refuse_rows(discretize_on, "discretize_on")
        self.seed = whole_number(seed, "seed", 0, 2**31 - 1)
        self.n_features = read_sizes(n_features)
        self.datasets = [read_source(given) for given in several(datasets, "datasets")]
        selectors = [read_method(given) for given in several(methods, "methods")]
        wanted = names_of(baselines, "baselines", fewest=0)
        for name in wanted:
            if not is_baseline(name):
                raise InputError(f"baselines: {name!r} is not a baseline. Known: random, variance, all.")
        for method in selectors:
            if is_baseline(method.name) and method.identity != read_method(method.name).identity:
                raise InputError(f"method {method.name!r}: this is the name of a baseline; use another name.")
        self.baselines = [name for name in wanted if name not in {method.name for method in selectors}]
        self.methods = [*selectors, *map(read_method, self.baselines)]
        self.measures = names_of(measures, "measures")
        self.convention = convention if isinstance(convention, str) else as_plain(convention)
        self._check_measures()
        if classifiers is None:
            classifiers = ["knn" if self.is_numeric else "mlknn"]
        learners = several(classifiers, "classifiers")
        self.classifiers = [read_classifier(given, numeric=self.is_numeric) for given in learners]
        self.scale = read_scale(scale)
        self.max_rows = None if max_rows is None else whole_number(max_rows, "max_rows", 2, 2**53)
        self.time_limit, self.memory_limit, self.cpu_limit = time_limit, memory_limit, cpu_limit
        self.splits = read_splits(splits, self.seed, self.max_rows)
        self.part = Part()
        self.whole = self
        for what, names in (
            ("datasets", [source.name for source in self.datasets]),
            ("methods", [method.name for method in self.methods]),
            ("classifiers", [classifier.name for classifier in self.classifiers]),
            ("measures", self.measures),
        ):
            twice = [name for name in names if names.count(name) > 1]
            if twice:
                raise InputError(f"{what}: {twice[0]!r} occurs twice; rename one of them.")
        self._check_classifiers()

    def _check_measures(self) -> None:
        for name in self.measures:
            if name not in MEASURES:
                raise InputError(f"measures: {unknown_name('measure', name, MEASURES)}")
        try:
            read_convention(self.convention)
        except InputError as error:
            raise InputError(f"convention: {str(error).removeprefix('convention: ')}") from None
        kinds = {MEASURES[name].needs == "numbers" for name in self.measures}
        if len(kinds) > 1:
            raise InputError("measures: one study cannot have measures of labels and of numbers; run two.")

    def _check_classifiers(self) -> None:
        for classifier in self.classifiers:
            if classifier.name == AVERAGE:
                raise InputError(f"classifiers: {AVERAGE!r} names the average over all classifiers; use another name.")
            if classifier.settings is not None and is_regressor(classifier.estimator) != self.is_numeric:
                kind = "numbers" if self.is_numeric else "labels"
                raise InputError(f"classifier {classifier.name!r} cannot be used with measures of {kind}.")

    @property
    def is_numeric(self) -> bool:
        """Whether the targets are numbers."""
        return MEASURES[self.measures[0]].needs == "numbers"

    def check_data(self, data: LoadedData) -> None:
        """Refuse a data set whose targets do not suit the measures."""
        if data.has_unknown_labels and not self.is_numeric:
            raise InputError(
                f"data set {data.name!r}: some labels are unknown, which studies cannot evaluate. Leave out their rows: "
                "missing_labels='drop' (compare: --missing-labels drop)."
            )
        if data.is_numeric != self.is_numeric:
            kind, other = ("numbers", "labels") if data.is_numeric else ("labels", "numbers")
            hint = " For numbers use the measure rrmse." if data.is_numeric else ""
            raise InputError(f"data set {data.name!r}: its targets are {kind}, and the measures are for {other}.{hint}")
        if not self.is_numeric and not data.is_binary:
            raise InputError(
                f"data set {data.name!r}: measures of labels need targets of 0 and 1, not other values. Make a column of "
                "0 and 1 for each class."
            )
        if data.has_missing and all(isinstance(classifier.estimator, NEIGHBORS) for classifier in self.classifiers):
            raise InputError(
                f"data set {data.name!r}: it has missing values, and {self.classifiers[0].name} does not support them. "
                "Set missing_values = 'train-mean' for it (compare: --missing-values train-mean), or use other classifiers."
            )

    def sizes(self, n_features: int, method: NamedEstimator, classifier: NamedEstimator | None = None) -> list[int]:
        """Return the numbers of features for a data set of ``n_features``, ascending; a half is rounded up.

        ``classifier`` may have numbers of its own; None: those of all classifiers.
        """
        if method.name == ALL:
            return [n_features]
        classifiers = self.classifiers if classifier is None else [classifier]
        given = {size for each in classifiers for size in (self.n_features if each.sizes is None else each.sizes)}
        wanted = {max(1, floor(size * n_features + 0.5)) if isinstance(size, float) else size for size in given}
        return sorted({min(size, n_features) for size in wanted})

    def only(self, part: "Part") -> Self:
        """Return the protocol of a part of the cells; their seeds and results are those of the whole."""
        chosen = copy(self)
        chosen.part = part
        chosen.datasets = part.datasets_of(self.datasets)
        chosen.methods = [method for method in self.methods if not part.methods or method.name in part.methods]
        chosen.classifiers = [each for each in self.classifiers if not part.classifiers or each.name in part.classifiers]
        return chosen

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Self:
        """Read a protocol; paths in it are relative to its folder."""
        return cls(**read_toml(Path(path)))

    @classmethod
    def several_from_toml(cls, path: str | os.PathLike[str]) -> dict[str, Self]:
        """Read the protocols of a file with tables ``[[studies]]``, by name; other settings of the file are shared."""
        return {name: cls(**settings) for name, settings in read_studies(Path(path)).items()}

    def plain(self) -> dict[str, Any]:
        """Return all settings as plain values, for the record of a study; objects are reduced to their names."""
        return {
            "n_features": self.n_features,
            "measures": self.measures,
            "splits": self.splits.words or repr(self.splits.splitter),
            "baselines": self.baselines,
            "convention": self.convention,
            "scale": self.scale or NONE,
            **{key: value for key in LIMITS if (value := getattr(self, key)) is not None},
            "seed": self.seed,
            "datasets": [as_plain({"name": data.name, **data.settings}, repr) for data in self.datasets],
            "methods": [
                {"name": method.name, **(method.settings or {})} for method in self.methods if method.name not in self.baselines
            ],
            "classifiers": [
                {"name": each.name, **(each.settings or {}), **({} if each.sizes is None else {"n_features": list(each.sizes)})}
                for each in self.classifiers
            ],
        }

    def __repr__(self) -> str:
        def count(number: int, thing: str) -> str:
            return f"{number} {thing}" if number == 1 else f"{number} {thing}s"

        methods = f"{count(len(self.methods), 'method')} ({', '.join(method.name for method in self.methods)})"
        sizes = f"{len(self.n_features)} number{'s' if len(self.n_features) > 1 else ''} of features"
        rest = f"{count(len(self.classifiers), 'classifier')}, {count(len(self.measures), 'measure')}"
        splits = self.splits.words or type(self.splits.splitter).__name__
        return f"Protocol: {count(len(self.datasets), 'data set')}, {methods}, {sizes}, {rest}, {splits}"


@dataclass(frozen=True)
class Part:
    """The cells of a study to run: empty values mean all."""

    datasets: Sequence[str] = ()  # names or tags of data sets; with several, the data sets of any of them
    methods: Sequence[str] = ()
    classifiers: Sequence[str] = ()
    repeats: int | None = None  # the first splits of every data set
    # one of so many parts of about equal size, the first is 1: a data set and split belong to one of them, and data sets that
    # are appended to a protocol do not move the others
    shard: tuple[int, int] | None = None
    # leave out methods on data sets where a stored selection of theirs, in any split, exceeded a limit
    skip_exceeded: bool = False

    def has(self, position: int, split: int) -> bool:
        """Whether the split of the data set at this position of the protocol is in this part.

        >>> [Part(shard=(1, 2)).has(position, 0) for position in range(4)], Part(repeats=1).has(0, 1)
        ([True, False, True, False], False)
        """
        number, count = self.shard or (1, 1)
        return (self.repeats is None or split < self.repeats) and (position + split) % count == number - 1

    def of(self, protocols: Mapping[str, Protocol]) -> dict[str, Protocol]:
        """Return this part of every protocol that has cells in it; a name that none of them has is refused."""
        parts = {name: protocol.only(self) for name, protocol in protocols.items()}
        sources = [source for protocol in protocols.values() for source in protocol.datasets]
        known = {
            "data set or tag": (self.datasets, [word for source in sources for word in (source.name, *source.tags)]),
            "method": (self.methods, [each.name for protocol in protocols.values() for each in protocol.methods]),
            "classifier": (self.classifiers, [each.name for protocol in protocols.values() for each in protocol.classifiers]),
        }
        for kind, (names, choices) in known.items():
            for name in names:
                if name not in choices:
                    raise unknown_name(f"{kind} of this study", name, list(dict.fromkeys(choices)))
        return {name: part for name, part in parts.items() if part.datasets and part.methods and part.classifiers}

    def datasets_of(self, sources: list[Source]) -> list[Source]:
        """Return the data sets of this part."""
        wanted = set(self.datasets)
        return [source for source in sources if not wanted or wanted & {source.name, *source.tags}]


def read_shard(text: str) -> tuple[int, int]:
    """Read the number of a shard and the number of shards.

    >>> read_shard("3/20")
    (3, 20)
    """
    match = _SHARD.fullmatch(text.strip())
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise InputError(f"shard: {text!r} is not a part of several, such as 3/20, the third of twenty.")
    return int(match[1]), int(match[2])


def refuse_rows(value: object, name: str) -> None:
    """Refuse every setting except the training rows.

    >>> refuse_rows("train", "select_on")
    """
    if value != "train":
        raise InputError(
            f"{name} = {value!r} would pass test rows to the selection, and every result would be too optimistic. "
            "Selection and discretization use the training rows of each split: leave it out, or pass 'train'."
        )


def several(given: object, what: str, fewest: int = 1) -> list[Any]:
    """Return the entries of a list, of which there must be some."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        text = repr(given)
        raise InputError(f"{what} must be a list, not {text if len(text) <= MAX_SHOWN else f'a {type(given).__name__}'}.")
    entries = list(given)
    if len(entries) < fewest:
        raise InputError(f"{what}: the list is empty; at least one is needed.")
    return entries


def names_of(given: object, what: str, fewest: int = 1) -> list[str]:
    """Return the entries of a list of names."""
    names = several(given, what, fewest)
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"{what}: {name!r} is not a name.")
    return names


def is_baseline(name: str) -> bool:
    """Whether a method is a baseline, which no data can change."""
    return name in METHODS and METHODS[name].selector == "BaselineSieve"


# ------------------------------------------------------------------------- TOML files


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

    def found(file: str) -> str:
        return str(folder / file) if (folder / file).exists() else file

    if isinstance(given, str):
        return {"name": Path(given).name.partition(".")[0], "path": found(given)} if (folder / given).exists() else given
    if not isinstance(given, Mapping):
        return given
    settings = dict(given)
    for key in ("path", "labels", "data_home"):
        value = settings.get(key)
        if isinstance(value, str) and (key != "labels" or value.endswith(".xml")):
            settings[key] = found(value)
        elif isinstance(value, list) and key == "path":
            settings[key] = [found(path) if isinstance(path, str) else path for path in value]
    return settings


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, Mapping) for entry in value)
