"""The verb ``select``: read a file, select features, and print the selection."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from labelsieve.cli.options import (
    AUTOMATIC,
    COLUMNS,
    COUNT,
    FILE,
    MACHINE,
    METHOD,
    OUTPUT,
    THREADS,
    Format,
    FormatOption,
    JsonOption,
    ReadOptions,
    complete,
    emit,
    method_names,
    names_in,
    parse_named,
    read_count,
    registered,
    require_writable,
    with_options,
)
from labelsieve.errors import ClusterError, InputError, unknown_name, whole_number

if TYPE_CHECKING:
    from labelsieve.datasets import ChunkedTable, Dataset, SyntheticData
    from labelsieve.discretize import Discretizer
    from labelsieve.selection import Selection
    from labelsieve.selectors.base import BaseSieve
    from labelsieve.stopping import StoppingRule
    from labelsieve.tables.problem import Problem

CRITERION = "Criterion or method; see labelsieve methods. relieff:n_neighbors=20 sets a parameter. Default: hybrid."
N_FEATURES = (
    "Number of features: a number, a fraction such as 10%, all, or a stopping rule: {STOPPING_RULES}; permutation:alpha=0.01 "
    "sets a parameter. Default: auto, the fewest of up to 40 that explain as much as the best number."
)
TARGETS = "Label space: {LABEL_SPACES}; auto: that of the method; sampled:n_labels=500 sets a parameter."
CUTS = "Discretizer: {DISCRETIZERS}; auto: that of the method."
COLUMN_CUTS = (
    "COLUMN=DISCRETIZER for one column, such as age=mdl or age=equal-width:n_bins=3 (repeatable); levels: every value "
    "is a level; int, float and str stand for all columns of whole numbers, other numbers and text."
)
MISSING = "Missing values of features: a separate level (default), an error, or pairwise deletion."
TARGET_TYPE = (
    "class or numeric for all targets, or NAME=class, NAME=numeric for some (repeatable); default: text and whole numbers "
    "with few distinct values are classes."
)
TARGET_CUTS = "Discretizer of numeric targets, as --discretizer, but unsupervised; auto: that of the method."
DETAILS = "Print scores, relevance, redundancy and complementarity, too."
REDUNDANT = "List unselected features with at least this similarity (0 to 1) to a selected one."
MEMORY_LIMIT = (
    "Memory for the selection, such as 2GB: Parquet files, a folder of them, or a file of CSV or libsvm whose table is "
    "larger are read by columns."
)
DASK = "Count on the workers of the Dask scheduler at this address, such as tcp://host:8786; the file is read by columns."
CACHE_FOLDER = (
    "With --memory-limit or --dask: encoded columns stay in this folder, and a selection that was stopped continues from them."
)
STABILITY = "Report the stability of the selection over this number of resamples of the rows."
AUTO = "Choose the method and the number of features by nested cross-validation, and report whether selection helps."
PORTFOLIO = "With --auto: candidate methods, comma-separated, as for --criterion; default: that of AutoSieve."
LEARNER = "With --auto: learners to evaluate with, comma-separated; default: nearest neighbors and ridge regression."
MEASURE = "With --auto: the measure to optimize; default: average_precision, rrmse of numbers, hamming_score of 2 to 4 labels."
BUDGET = "With --auto: seconds; candidates that do not fit are skipped and listed."
CONNECT_SECONDS = 10


@dataclass(frozen=True)
class SelectOptions(ReadOptions):
    """Options that say what to select, as they were typed."""

    count: Annotated[
        str | None,
        typer.Option(
            "-k",
            "--n-features-to-select",
            help=N_FEATURES,
            rich_help_panel=COUNT,
            autocompletion=complete(registered("STOPPING_RULES", "auto", "all")),
        ),
    ] = None
    criterion: Annotated[
        str | None,
        typer.Option("--criterion", "--method", help=CRITERION, rich_help_panel=METHOD, autocompletion=complete(method_names)),
    ] = None
    targets: Annotated[
        str, typer.Option(help=TARGETS, rich_help_panel=METHOD, autocompletion=complete(registered("LABEL_SPACES", "auto")))
    ] = "auto"
    discretizer: Annotated[
        str, typer.Option(help=CUTS, rich_help_panel=COLUMNS, autocompletion=complete(registered("DISCRETIZERS", "auto")))
    ] = "auto"
    discretizer_of: Annotated[list[str] | None, typer.Option(help=COLUMN_CUTS, rich_help_panel=COLUMNS)] = None
    missing: Annotated[
        Literal["level", "error", "drop-pairwise"] | None, typer.Option(help=MISSING, rich_help_panel=COLUMNS)
    ] = None
    target_type: Annotated[list[str] | None, typer.Option(help=TARGET_TYPE, rich_help_panel=COLUMNS)] = None
    target_discretizer: Annotated[
        str,
        typer.Option(help=TARGET_CUTS, rich_help_panel=COLUMNS, autocompletion=complete(registered("DISCRETIZERS", "auto"))),
    ] = "auto"
    bins: Annotated[
        int | None,
        typer.Option(
            "--n-bins", "--bins", min=1, help="Number of bins of each numeric feature; default: 5.", rich_help_panel=COLUMNS
        ),
    ] = None
    codes: Annotated[
        bool,
        typer.Option("--codes", help="Do not discretize: features are text or integer codes from 0.", rich_help_panel=COLUMNS),
    ] = False
    estimator: Annotated[
        str | None, typer.Option(help="Entropy estimator: plugin, miller-madow or shrinkage.", rich_help_panel=METHOD)
    ] = None
    forced: Annotated[
        str | None, typer.Option(help="Features that are always selected: comma-separated names.", rich_help_panel=METHOD)
    ] = None
    excluded: Annotated[
        str | None, typer.Option(help="Features that are never selected: comma-separated names.", rich_help_panel=METHOD)
    ] = None
    labelwise: Annotated[
        bool, typer.Option("--labelwise", help="Select features for each label separately.", rich_help_panel=METHOD)
    ] = False
    n_jobs: Annotated[int | None, typer.Option(help=THREADS, rich_help_panel=MACHINE)] = None

    def fit(self, path: Path, **more: Any) -> "Fitted":
        """Fit the selector on a file or a data set; ``more`` are parameters that the options do not set."""
        from labelsieve.registry import METHODS, method_of
        from labelsieve.tables.problem import read

        selector = self.make_selector(**more)  # before a long file is read
        data = self.load(path)
        self.check_count(data.X.shape[1])
        method = method_of(selector)
        needs_numbers = method in METHODS and METHODS[method].needs_numbers
        check_cells(data, selector, path)
        if needs_numbers and data.text_features:
            column = next(iter(data.text_features))
            raise InputError(f"{method} calculates with the features, and {column!r} is text; drop it, or make it numbers.")
        X = data.named_features(codes=needs_numbers)
        if not hasattr(X, "columns"):
            declare_columns(selector, data, nominal=not needs_numbers)
        if "target_type" in selector.get_params(deep=False):
            selector.set_params(target_type=types_of_labels(data, selector.target_type))
        try:
            Y = data.Y if needs_numbers or _learns(selector) else data.named_labels()
            problem = read(X, Y, target_type=selector.target_type, estimator=selector)
            return Fitted(selector.fit(problem), problem, data)
        except InputError:
            raise
        except ValueError as error:  # what scikit-learn's checks of input raise
            raise InputError(f"{os.fspath(path)}: {method}: {error}") from None

    def check_count(self, n_features: int) -> None:
        """Refuse a number of features above that of the table."""
        word = "" if self.count is None else self.count.strip()
        if word.isdecimal() and int(word) > n_features:
            asked = f"{int(word):,} features asked for, but the table has {n_features:,}."
            raise InputError(f"{asked} Leave -k out to let labelsieve choose.")

    def make_selector(self, *, in_memory: bool = True, **more: Any) -> Any:
        """Make the selector, with its parameters checked; ``more`` are parameters that the options do not set.

        The number of features is found automatically where none is typed, unless the table is not in memory.
        """
        from labelsieve.registry import (
            DEFAULT_CRITERION,
            METHODS,
            discretizer_of,
            make_selector,
            method_name,
            resolve_method,
            selector_class,
        )
        from labelsieve.stopping import StoppingRule

        settings = self._settings() | more
        name, typed = parse_named(self.criterion or DEFAULT_CRITERION, "--criterion")
        settings = typed | settings
        method = method_name(name)
        if method in METHODS and isinstance(settings.get("n_features_to_select"), StoppingRule):
            takes = getattr(selector_class(method), "_parameter_constraints", {}).get("n_features_to_select", [])
            if StoppingRule not in takes:
                raise InputError(f"{method} does not support stopping rules: give a number of features, -k 10 or -k 10%.")
        try:
            selector = make_selector(name, labelwise=self.labelwise, **settings)
            takes = selector._parameter_constraints.get("n_features_to_select", ())
            if in_memory and not self.labelwise and "n_features_to_select" not in settings and StoppingRule in takes:
                selector.set_params(n_features_to_select="auto")
            if self.bins is not None:
                selector.set_params(discretizer=_with_bins(discretizer_of(selector), self.bins))
            selector._validate_params()
            parameters = selector.get_params(deep=False)
            if "criterion" in parameters and method not in METHODS:  # refuses unknown names of its parts
                parts = ("targets", "discretizer", "target_discretizer")
                resolve_method(parameters["criterion"], *(parameters.get(part, "auto") for part in parts))
        except InputError:
            raise
        except (TypeError, ValueError) as error:
            raise InputError(f"{method}: {error}") from None
        return selector

    def _settings(self) -> dict[str, Any]:
        """Return the parameters of the selector that the options set."""
        if self.codes and (self.bins is not None or self.discretizer != "auto"):
            raise InputError(f"--codes and {'--discretizer' if self.bins is None else '--n-bins'} exclude each other.")
        if self.n_jobs == 0:
            raise InputError("--n-jobs must not be 0; give a number of threads, or -1 for all.")
        given = {
            "estimator": self.estimator,
            "missing": self.missing,
            "n_jobs": self.n_jobs,
            "forced": names_in(self.forced),
            "excluded": names_in(self.excluded),
        }
        settings: dict[str, Any] = {name: value for name, value in given.items() if value}
        if self.targets != "auto":
            settings["targets"] = read_space(self.targets)
        if self.codes:
            settings["discretizer"] = None
        elif self.discretizer != "auto":
            settings["discretizer"] = self.discretizer
        if self.discretizer_of:
            settings["discretizer"] = read_column_cuts(self.discretizer_of, settings.get("discretizer", "auto"))
        if self.target_type:
            settings["target_type"] = read_target_types(self.target_type)
        if self.target_discretizer != "auto":
            settings["target_discretizer"] = self.target_discretizer
        if self.count is not None:
            word = self.count.strip().lower()
            names_rule = word[:1].isalpha() and word not in ("all", "auto")
            read = read_rule if names_rule else read_count
            settings["n_features_to_select"] = word if word == "auto" else read(self.count)
        return settings


class Fitted(NamedTuple):
    """A fitted selector, the problem that it was fitted on, and the data set that was read."""

    selector: "BaseSieve"
    problem: "Problem"
    data: "Dataset | SyntheticData"


@with_options(SelectOptions)
def select(
    file: Annotated[Path, typer.Argument(help=FILE)],
    options: SelectOptions,
    output: Annotated[
        Path | None,
        typer.Option(help="Save the selection as a .json file, for from_json of the selector.", rich_help_panel=OUTPUT),
    ] = None,
    format: FormatOption = Format.table,
    json: JsonOption = False,
    details: Annotated[bool, typer.Option("--details", help=DETAILS, rich_help_panel=OUTPUT)] = False,
    redundant: Annotated[float | None, typer.Option(help=REDUNDANT, rich_help_panel=OUTPUT)] = None,
    stability: Annotated[int | None, typer.Option(min=2, help=STABILITY, rich_help_panel=OUTPUT)] = None,
    auto: Annotated[bool, typer.Option("--auto", help=AUTO, rich_help_panel=AUTOMATIC)] = False,
    portfolio: Annotated[
        str | None, typer.Option(help=PORTFOLIO, rich_help_panel=AUTOMATIC, autocompletion=complete(method_names))
    ] = None,
    learner: Annotated[
        str | None, typer.Option(help=LEARNER, rich_help_panel=AUTOMATIC, autocompletion=complete(registered("CLASSIFIERS")))
    ] = None,
    measure: Annotated[
        str | None, typer.Option(help=MEASURE, rich_help_panel=AUTOMATIC, autocompletion=complete(registered("MEASURES")))
    ] = None,
    time_budget: Annotated[float | None, typer.Option(min=0.0, help=BUDGET, rich_help_panel=AUTOMATIC)] = None,
    memory_limit: Annotated[str | None, typer.Option(help=MEMORY_LIMIT, rich_help_panel=MACHINE)] = None,
    cache_folder: Annotated[Path | None, typer.Option(help=CACHE_FOLDER, rich_help_panel=MACHINE)] = None,
    dask: Annotated[str | None, typer.Option(help=DASK, rich_help_panel=MACHINE)] = None,
) -> None:
    """Select features of a table.

    Numeric columns are discretized; every value of a text or nominal column is a level.
    """
    if redundant is not None and (format is Format.csv or options.labelwise or not 0 < redundant <= 1):
        raise InputError(
            "--redundant takes a number above 0 and at most 1, and goes with --format table or json, not --labelwise."
        )
    if output is not None and (output.suffix != ".json" or not output.parent.is_dir()):
        raise InputError(f"{output}: --output takes the name of a .json file in a folder that exists.")
    if output is not None:
        require_writable(output.parent)
    settings = read_auto_options(options, auto, portfolio, learner, measure, time_budget)
    in_parts = memory_limit is not None or dask is not None
    if auto:
        options = replace(options, criterion="auto")
    with removed_files() if in_parts else nullcontext():
        table = large_table(file, options, memory_limit, cache_folder, always=dask is not None) if in_parts else None
        if table is not None and (auto or redundant is not None or stability is not None):
            raise InputError(
                "--auto, --redundant and --stability need the whole table in memory; raise --memory-limit, leave out --dask."
            )
        if table is not None:
            with cluster(dask):
                selector = fit_large(table, options, on_cluster=dask is not None)
    if table is not None:
        selection: Selection = selector.selection(label_names=table.label_names)
    else:
        selector, problem, data = options.fit(file, **settings)
        names, labels = data.feature_names, data.label_names
        can_explain = selector._can_explain(problem)
        # The table of a terminal shows the explained share in place of the components, unless --details asks for both.
        shows_components = details or json or format is not Format.table or output is not None or not can_explain
        selection = selector.selection(
            problem,
            names=names,
            label_names=labels,
            redundant=redundant,
            components=shows_components,
            explained=can_explain,
            stability=stability,
        )
    if output is not None:
        selector.to_json(output, selection)
    from labelsieve.report.text import auto_document, auto_text, selection_text

    text, document = partial(selection_text, selection, redundant=redundant, details=details), selection.to_dict
    if auto:
        text, document = partial(auto_text, selector, text()), partial(auto_document, selector, selection)
    emit(format, json, table=text, document=document, rows=selection.rows)


def read_auto_options(
    options: SelectOptions,
    auto: bool,
    portfolio: str | None,
    learner: str | None,
    measure: str | None,
    time_budget: float | None,
) -> dict[str, Any]:
    """Return the parameters of :class:`labelsieve.AutoSieve` that were typed; refuse them without ``--auto``."""
    given = {"portfolio": portfolio, "learner": learner, "measure": measure, "time_budget": time_budget}
    settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if not auto:
        if settings:
            raise InputError(f"--{next(iter(settings)).replace('_', '-')} goes with --auto.")
        return {}
    if options.criterion is not None:
        raise InputError("--auto chooses the criterion; leave --criterion out, or name candidates with --portfolio.")
    if options.labelwise or options.estimator is not None:
        raise InputError("--auto goes without --labelwise and --estimator; --portfolio sets cmim:estimator=miller-madow.")
    if portfolio is not None:
        settings["portfolio"] = [_name_or_table("criterion", text, "--portfolio") for text in names_in(portfolio)]
    if learner is not None:
        settings["learner"] = [_name_or_table("name", text, "--learner") for text in names_in(learner)]
    return settings


def _name_or_table(key: str, text: str, option: str) -> Any:
    """Return a name, or a table of its settings if it was typed with parameters.

    >>> _name_or_table("name", "mlknn:k=7", "--learner"), _name_or_table("name", "ridge", "--learner")
    ({'name': 'mlknn', 'k': 7}, 'ridge')
    """
    name, settings = parse_named(text, option)
    return {key: name, **settings} if settings else name


def check_cells(data: "Dataset", selector: Any, path: Path) -> None:
    """Refuse infinite cells, and missing ones if the selector does not support them; the error names row and column."""
    from sklearn.utils import get_tags

    takes_missing = get_tags(selector).input_tags.allow_nan
    for name, rows in data.missing_features.items() if not takes_missing else ():
        counted = f"has {len(rows)} missing values, the first in row {rows[0] + 1}"
        raise InputError(f"{os.fspath(path)}: column {name!r} {counted}; fill them or drop their rows.")
    for name, rows in data.infinite_features.items():
        problem = f"row {rows[0] + 1}, column {name!r}: inf is not a finite number"
        raise InputError(f"{os.fspath(path)}: {problem}; fill such values or drop their rows.")


def declare_columns(selector: Any, data: "Dataset", *, nominal: bool) -> None:
    """Tell a selector what a sparse matrix does not show: its nominal columns, and the positions of columns given by name."""
    from labelsieve.registry import declare_nominal

    if nominal:
        declare_nominal(selector, data.nominal_features, data.X.shape[1])
    position = {name: index for index, name in enumerate(data.feature_names)}
    for key in {"forced", "excluded"} & set(selector.get_params(deep=False)):
        if names := getattr(selector, key):
            selector.set_params(**{key: [position.get(name, name) for name in names]})


def _learns(selector: Any) -> bool:
    """Whether the number of features is found with a learner, which needs labels as numbers."""
    from labelsieve.stopping import CrossValidated

    return isinstance(selector.get_params(deep=False).get("n_features_to_select"), CrossValidated)


@contextmanager
def removed_files() -> Iterator[None]:
    """Inside, a signal to terminate ends the program in order, so that the temporary files of a table are removed."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def large_table(
    path: Path, options: SelectOptions, memory_limit: str | None, cache_folder: Path | None, *, always: bool = False
) -> "ChunkedTable | None":
    """Return the file as a table that is read by columns; None if all of it fits into the limit, unless ``always``."""
    from labelsieve.datasets import ChunkedTable
    from labelsieve.datasets.chunked_table import parquet_dataset
    from labelsieve.datasets.readers.files import CELL, read_size

    limit = None if memory_limit is None else read_size(memory_limit, "--memory-limit")
    parquet = path.is_dir() or _is_parquet(path)
    if parquet:
        dataset = parquet_dataset(path)
        size = CELL * dataset.count_rows() * len(dataset.schema)
    else:  # a cell of a text file has two bytes at least
        size = CELL // 2 * path.stat().st_size if path.is_file() else 0
    if not always and not path.is_dir() and (limit is None or size <= limit):
        return None
    for name, default in (("strings", "error"), ("missing_labels", None), ("label_separator", None)):
        if getattr(options, name) != default:
            raise InputError(f"--{name.replace('_', '-')} is for files that fit into memory; raise --memory-limit.")
    chosen: dict[str, Any] = {"memory_limit": limit, "cache_folder": cache_folder}
    if parquet:
        return ChunkedTable.from_parquet(path, options.labels, **chosen)
    if options.labels is None and _is_libsvm(path):
        return ChunkedTable.from_libsvm(path, **chosen)
    if path.suffix.lower() != ".csv":
        raise InputError(
            f"{path}: only files of Parquet, CSV (.csv) and libsvm (without --labels) are read by columns, which --dask and "
            "--memory-limit need."
        )
    if options.labels is None:
        raise InputError(f"{path}: --labels is needed.")
    return ChunkedTable.from_csv(path, options.labels, **chosen)


def fit_large(table: "ChunkedTable", options: SelectOptions, *, on_cluster: bool = False) -> Any:
    """Fit the selector on a table that is read by columns."""
    from labelsieve.selectors.sieve import Sieve

    options.check_count(table.shape[1])
    selector = options.make_selector(in_memory=False)
    if on_cluster and "backend" in selector.get_params(deep=False):
        selector.set_params(backend="dask")
    if not isinstance(selector, Sieve):
        raise InputError(f"{options.criterion}: this method needs the whole table in memory; raise --memory-limit.")
    return selector.fit(table)


def _is_libsvm(path: Path) -> bool:
    from labelsieve.datasets.readers.files import LOOK
    from labelsieve.datasets.readers.load import is_libsvm

    with path.open("rb") as file:
        return is_libsvm(file.read(LOOK))


def _is_parquet(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


@contextmanager
def cluster(address: str | None) -> Iterator[Any]:
    """Connect to the Dask scheduler at ``address``; yields None without one."""
    if address is None:
        yield None
        return
    if find_spec("distributed") is None:
        raise InputError("--dask needs Dask: pip install 'labelsieve[dask]'")
    distributed = import_module("distributed")
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(f"--dask {address}: no scheduler answers there ({error}). Start one: dask scheduler") from error
    with client:
        yield client


def read_space(text: str) -> Any:
    """Return the label space that was typed: a name, or an object with the parameters.

    >>> read_space("joint"), read_space("frequent:min_count=20")
    ('joint', Frequent(min_count=20))
    """
    from labelsieve.registry import make_label_space

    name, parameters = parse_named(text, "--targets")
    if not parameters:
        return name
    space = make_label_space(name)
    try:
        return space.set_params(**parameters)
    except ValueError as error:
        raise InputError(f"--targets {text}: {error}") from None


def read_target_types(texts: list[str]) -> str | dict[str, str]:
    """Return the types of targets that were typed: one for all, or some by name.

    >>> read_target_types(["numeric"]), read_target_types(["price=numeric", "size=class"])
    ('numeric', {'price': 'numeric', 'size': 'class'})
    """
    from labelsieve.tables.targets import TARGET_TYPES

    named = {name: kind for name, sign, kind in (text.rpartition("=") for text in texts) if sign}
    if len(named) < len(texts) > 1:
        raise InputError("--target-type takes one type for all targets, or NAME=TYPE, as often as there are names.")
    for kind in named.values() if named else texts:
        if kind not in TARGET_TYPES:
            raise unknown_name("target type", kind, TARGET_TYPES)
    return named or texts[0]


def types_of_labels(data: "Dataset | SyntheticData", wanted: Any) -> Any:
    """Return the types of the targets of a file: those that were typed, and classes for text and declared values."""
    from labelsieve.tables.targets import requested_types

    types = requested_types(wanted, len(data.label_names), data.label_names).tolist()
    text = getattr(data, "label_categories", {})
    types = ["class" if kind == "auto" and name in text else kind for name, kind in zip(data.label_names, types, strict=True)]
    return types[0] if len(set(types)) == 1 else types


def _with_bins(discretizer: "Discretizer | None", n_bins: int) -> "Discretizer":
    """Return the discretizer of a selector with this number of bins."""
    if discretizer is None:
        raise InputError("--n-bins: this method does not discretize the features; leave it out.")
    name = next((name for name in ("n_bins", "rest__n_bins") if name in discretizer.get_params()), None)
    if name is None:
        raise InputError(f"--n-bins: {discretizer} finds the number itself; take another --discretizer.")
    changed: Discretizer = discretizer.set_params(**{name: whole_number(n_bins, "--n-bins", 1, 65_535)})
    return changed


def read_column_cuts(texts: list[str], rest: object) -> Any:
    """Return the discretizers of columns that were typed; ``rest`` is that of the other columns.

    >>> read_column_cuts(["age=equal-width:n_bins=3", "zip=levels"], "auto")
    {'age': EqualWidth(n_bins=3), 'zip': Levels()}
    """
    from labelsieve.discretize import Levels
    from labelsieve.registry import make_discretizer
    from labelsieve.registry.methods import accepted

    columns: dict[str, Any] = {}
    for text in texts:
        column, sign, rule = text.partition("=")
        if not sign or not column.strip():
            raise InputError(f"--discretizer-of {text}: it looks like COLUMN=DISCRETIZER, for example age=mdl.")
        name, parameters = parse_named(rule, "--discretizer-of")
        made = Levels() if name == "levels" else make_discretizer(name)
        columns[column.strip()] = made.set_params(**accepted(type(made), parameters, name))
    return columns if isinstance(rest, str) and rest == "auto" else make_discretizer(columns, rest)


def read_rule(text: str) -> "StoppingRule":
    """Return the stopping rule that was typed.

    >>> read_rule("permutation:alpha=0.01:max_features=20")
    PermutationTest(alpha=0.01, max_features=20)
    """
    from labelsieve.registry import make_count, make_stopping_rule

    name, parameters = parse_named(text, "-k")
    try:
        make_count(name)
    except InputError as error:
        counts = "the number of features is a whole number from 1, a fraction such as 10%, or all, or a stopping rule"
        raise InputError(f"-k {text}: {counts}. {error}") from None
    if isinstance(parameters.get("estimator"), str):
        from labelsieve.registry import make_classifier

        parameters["estimator"] = make_classifier(parameters["estimator"])
    return make_stopping_rule(name, **parameters)
