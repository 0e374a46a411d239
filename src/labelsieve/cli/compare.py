"""The verb ``compare``: run a study of methods on data sets, and print its means."""

from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import typer

from labelsieve.cli import run_study
from labelsieve.cli.options import (
    COMPARED,
    FILE,
    RUN,
    Format,
    FormatOption,
    JsonOption,
    ReadOptions,
    asked_format,
    complete,
    emit,
    messages_as_options,
    method_names,
    names_in,
    parse_named,
    registered,
    with_options,
)
from labelsieve.cli.run_study import CHANGED, DRY_RUN, JOBS, OUT, RETRY, Changed, PartOptions, RunOptions
from labelsieve.errors import InputError
from labelsieve.report.text import printable, prose, tables

if TYPE_CHECKING:
    from labelsieve.studies import Outcome, Protocol, StudyPlan, StudyResults


# The default of the library, its strongest simple rival by information, and two ways that users of scikit-learn know.
DEFAULT_METHODS = "hybrid,cmim,extra-trees,l1"
METHODS = (
    "Comma-separated names; see labelsieve methods. relieff:n_neighbors=20 sets a parameter. "
    f"Default: {DEFAULT_METHODS.replace(',', ', ')}."
)
N_FEATURES = "Numbers of features: 1..50, 5,10,20, or 10%,20%; default: 1..50."
SPLITS = "30x50%, 10-fold, or either after 'stratified'; default: 30x50%."
CLASSIFIERS = (
    "Comma-separated names; may be repeated. For labels: mlknn, logistic, svm, trees, forest, brknn, iblr, br, lp, ppt, rakel, "
    "homer, copies, lift, cc, ecc, ebcc, occ, eocc; for numeric targets: knn, ridge, trees, forest; or the import path of a "
    "scikit-learn estimator. Default: mlknn, or knn for numeric targets. mlknn:k=7 sets a parameter, br:base=tree the base: "
    "logistic, svm, tree, bayes."
)
SCALE = "Scaling of the features for the classifiers, by the training rows: standard, minmax or none; default: standard."
MEASURES = (
    "Comma-separated names, such as hamming_loss,macro_f1. Default: hamming_loss, ranking_loss, coverage, macro_f1; for "
    "numeric targets rrmse."
)
FILLED = "train-mean: impute missing cells by the means of the training rows. Default: an error if unsupported."
DATA = f"{FILE} Or one .toml file with the whole protocol."


@dataclass(frozen=True)
class CompareOptions(PartOptions, ReadOptions):
    """Options for reading files of data, and for running a part of a protocol."""


@with_options(CompareOptions)
def compare(
    data: Annotated[list[str], typer.Argument(help=DATA)],
    *,
    out: Annotated[
        Path | None, typer.Option(help=f"{OUT} Default: NAME-study, after the first data set.", rich_help_panel=COMPARED)
    ] = None,
    options: CompareOptions,
    methods: Annotated[
        str | None, typer.Option(help=METHODS, autocompletion=complete(method_names), rich_help_panel=COMPARED)
    ] = None,
    k: Annotated[str | None, typer.Option("--n-features", "--k", "-k", help=N_FEATURES, rich_help_panel=COMPARED)] = None,
    splits: Annotated[str | None, typer.Option(help=SPLITS, rich_help_panel=COMPARED)] = None,
    classifiers: Annotated[
        list[str] | None,
        typer.Option(
            "--classifiers",
            "--classifier",
            "--learner",
            help=CLASSIFIERS,
            autocompletion=complete(registered("CLASSIFIERS")),
            rich_help_panel=COMPARED,
        ),
    ] = None,
    measures: Annotated[str | None, typer.Option(help=MEASURES, rich_help_panel=COMPARED)] = None,
    baselines: Annotated[
        str | None, typer.Option(help="random, variance, all, or none; default: random,all.", rich_help_panel=COMPARED)
    ] = None,
    convention: Annotated[
        str | None,
        typer.Option(help="Convention of measures: labelsieve, scikit-learn, mulan or matlab.", rich_help_panel=COMPARED),
    ] = None,
    scale: Annotated[str | None, typer.Option(help=SCALE, rich_help_panel=COMPARED)] = None,
    missing_values: Annotated[str | None, typer.Option(help=FILLED, rich_help_panel=COMPARED)] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Random state of splits and methods; default: 0.", rich_help_panel=COMPARED)
    ] = None,
    jobs: Annotated[int, typer.Option("--n-jobs", "--jobs", help=JOBS, rich_help_panel=RUN)] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help=DRY_RUN, rich_help_panel=RUN)] = False,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds of one selection or evaluation.", rich_help_panel=RUN)
    ] = None,
    memory_limit: Annotated[
        float | None, typer.Option(help="MB of one selection or evaluation (Linux).", rich_help_panel=RUN)
    ] = None,
    changed: Annotated[Changed, typer.Option(help=CHANGED, rich_help_panel=RUN)] = Changed.refuse,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help=RETRY, rich_help_panel=RUN)] = False,
    format: FormatOption = Format.table,
    json: JsonOption = False,
) -> None:
    """Compare methods on data sets, over many splits of the rows.

    Every method selects features of the training rows of a split and is evaluated on its test rows. All results are stored,
    and after an interruption the same command resumes the study.
    """
    from labelsieve.studies import Protocol, Study, StudyResults

    given = {
        "methods": methods,
        "n_features": k,
        "splits": splits,
        "classifiers": ",".join(classifiers) if classifiers else None,
        "measures": measures,
        "baselines": baselines,
        "convention": convention,
        "scale": scale,
        "seed": seed,
    }
    settings = {name: value for name, value in given.items() if value is not None}
    reading = options.settings() | ({} if missing_values is None else {"missing_values": missing_values})
    if data[0].endswith(".toml"):
        if settings or reading or len(data) > 1:
            more = ", ".join([*settings, *reading]) or "files"
            raise InputError(f"{data[0]}: this file is the whole protocol; leave out other data sets and {more}.")
        protocols = Protocol.several_from_toml(data[0])
    else:
        with messages_as_options():  # reading the first data set may refuse it
            protocols = {"": protocol_from_options(data, settings, reading)}
    if out is None:
        out = Path(f"{Path(data[0]).name.partition('.')[0]}-study")
    format = asked_format(format, json)
    if len(protocols) > 1 and format is not Format.table:
        raise InputError(
            f"{data[0]}: it has several studies, and one document cannot have all; python -m leaderboard reads them."
        )
    run_options = RunOptions(jobs, changed, retry_failed, time_limit, memory_limit)
    outcomes: dict[Path, Outcome] = {}
    stored = []
    for name, protocol in options.part().of(protocols).items():
        study = Study(protocol, out / name if name else out)
        with messages_as_options():
            if dry_run:
                print_plan(protocol, run_study.dry_run(study, run_options), format)
                continue
            outcome = run_study.run(study, run_options)
        results = StudyResults(study.folder, protocol=protocol)
        if len(protocols) == 1:
            print_means(protocol, results, outcome, format)
        outcomes[Path(study.folder)] = outcome
        stored.append(results)
    if len(protocols) > 1 and not dry_run:
        typer.echo(f"labelsieve: average ranks: python -m leaderboard ranks {out}", err=True)
    run_study.end(outcomes, stored)


def print_plan(protocol: "Protocol", plan: "StudyPlan", format: Format) -> None:
    """Print how many cells are stored and how many are left, in the requested format."""
    emit(
        format,
        False,
        table=lambda: run_study.plan_text(protocol, plan),
        document=lambda: run_study.plan_document(protocol, plan),
        rows=lambda: run_study.plan_rows(plan),
    )


def protocol_from_options(data: list[str], given: dict[str, Any], reading: dict[str, Any]) -> "Protocol":
    """Make a protocol from the options of the command line; ``reading`` are the options for every data set."""
    from labelsieve.studies import Protocol
    from labelsieve.studies.data import LoadedData, read_source
    from labelsieve.studies.protocol import NUMERIC_MEASURES

    settings = {"methods": DEFAULT_METHODS, **given}
    sources = [read_source({"name": read_source(path).name, "path": path, **reading}) for path in data]
    for name in ("methods", "measures", "baselines"):
        if name in settings:
            settings[name] = names_in(settings[name])
    settings["methods"] = [read_method_option(text) for text in settings["methods"]]
    if settings.get("baselines") == ["none"]:
        settings["baselines"] = []
    if "classifiers" in settings:
        settings["classifiers"] = read_classifiers_option(settings["classifiers"])
    if "measures" not in settings:  # the first data set says which are meant; it is passed on, so that it is read once
        sources[0] = replace(sources[0], dataset=sources[0].read())
        loaded = LoadedData.of(sources[0])
        if loaded.is_numeric and not loaded.has_unknown_labels:
            settings["measures"] = NUMERIC_MEASURES
    return Protocol(sources, **settings)


def read_classifier_option(text: str) -> dict[str, Any]:
    """Return the settings of one classifier that was typed.

    >>> read_classifier_option("mlknn:k=7:s=0.5")
    {'name': 'mlknn', 'k': 7, 's': 0.5}
    """
    name, parameters = parse_named(text, "--classifiers")
    return {"name": name, **parameters}


def read_classifiers_option(text: str) -> list[dict[str, Any]]:
    """Return the settings of several classifiers; those of the same kind are named by their full text.

    >>> [settings["name"] for settings in read_classifiers_option("brknn:k=5,mlknn:k=3,mlknn:k=7")]
    ['brknn', 'mlknn:k=3', 'mlknn:k=7']
    """
    texts = names_in(text)
    classifiers = [read_classifier_option(entry) for entry in texts]
    kinds = [settings["name"] for settings in classifiers]
    return [
        {**settings, "name": name, "classifier": kind} if kinds.count(kind) > 1 else settings
        for name, kind, settings in zip(texts, kinds, classifiers, strict=True)
    ]


def read_method_option(text: str) -> dict[str, Any]:
    """Return the settings of one method; with parameters, its name in the results is the full text.

    >>> read_method_option("relieff:n_neighbors=20")
    {'name': 'relieff:n_neighbors=20', 'criterion': 'relieff', 'n_neighbors': 20}
    """
    name, parameters = parse_named(text, "--methods")
    return {"name": text, "criterion": name, **parameters} if parameters else {"name": name}


class MeanTable(TypedDict):
    """Means of a measure over the numbers of features and splits, by data set and method."""

    classifier: str
    measure: str
    lower_is_better: bool
    means: dict[str, dict[str, float]]
    best: dict[str, list[str]]
    notes: dict[str, str]
    first_by_rank: dict[str, int]
    n_ranked: int
    n_tied_for_first: int


def print_means(protocol: "Protocol", results: "StudyResults", outcome: "Outcome", format: Format) -> None:
    """Print means with the best marked, and counts of first ranks, in the requested format."""
    mean_tables = [mean_table(protocol, results, *pair) for pair in evaluated_pairs(protocol, results)]

    def document() -> dict[str, Any]:
        cells = {"run": outcome.n_run, "known": outcome.n_known, "failed": outcome.n_failed, "stale": outcome.n_stale}
        keys = ("data_set", "split", "method", "classifier", "error")
        failures = [dict(zip(keys, failure, strict=True)) for failure in results.failures]
        return {"cells": cells, "mixed": list(results.mixed), "failures": failures, "results": mean_tables}

    def rows() -> list[list[Any]]:
        head = ["classifier", "measure", "data set", "method", "mean"]
        body = [
            [table["classifier"], table["measure"], name, method, value]
            for table in mean_tables
            for name, values in table["means"].items()
            for method, value in values.items()
        ]
        return [head, *body]

    emit(format, False, table=lambda: means_text(mean_tables, list(results.mixed)), document=document, rows=rows)


def evaluated_pairs(protocol: "Protocol", results: "StudyResults") -> list[tuple[str, str]]:
    """Return the classifiers and measures with results, in the order of the protocol, then the average of the classifiers."""
    from labelsieve.studies.protocol import AVERAGE

    classifiers = [classifier.name for classifier in protocol.classifiers if classifier.name in results.classifiers]
    classifiers += [AVERAGE] if len(classifiers) > 1 else []
    return [(classifier, measure) for classifier in classifiers for measure in protocol.measures if measure in results.measures]


def mean_table(protocol: "Protocol", results: "StudyResults", classifier: str, measure: str) -> MeanTable:
    """Return means over the numbers of features and splits, the best of every data set, and counts of first ranks."""
    sets = [source.name for source in protocol.datasets if source.name in results.datasets]
    methods = [method.name for method in protocol.methods if method.name in results.methods]
    grid = results.means(measure, classifier)
    compared = [method for method in methods if method not in protocol.baselines]
    first, ranked = {}, {}
    if len(sets) > 1 and len(compared) > 1:
        ranks = results.ranks(measure, classifier, methods=compared)
        first, ranked = ranks.wins(), ranks.winners()
    best = grid.winners()
    return {
        "classifier": classifier,
        "measure": measure,
        "lower_is_better": grid.lower_is_better,
        "means": {name: {method: grid.value(name, method) for method in methods} for name in sets},
        "best": {name: list(best.get(name, ())) for name in sets},
        "notes": {
            f"{method} on {name}": grid.note(name, method) for name in sets for method in methods if grid.note(name, method)
        },
        "first_by_rank": first,
        "n_ranked": len(ranked),
        "n_tied_for_first": sum(len(winners) > 1 for winners in ranked.values()),
    }


def means_text(mean_tables: list[MeanTable], mixed: list[str]) -> str:
    """Return the tables of means as text, the best marked."""
    from labelsieve.studies.protocol import AVERAGE

    blocks = [] if mean_tables else [prose("No cell has a result.")]
    for table in mean_tables:
        better = "lower" if table["lower_is_better"] else "higher"
        learner = "average of the classifiers" if table["classifier"] == AVERAGE else table["classifier"]
        head = f"{table['measure']}, {learner}: means over the numbers of features and splits, {better} is better; "
        methods = list(next(iter(table["means"].values()), {}))
        rows = []
        for name, values in table["means"].items():
            marks = {method: "*" if method in table["best"][name] else " " for method in values}
            cells = ["- " if isnan(value) else f"{value:.4f}{marks[method]}" for method, value in values.items()]
            rows.append([printable(name), *cells])
        blocks += [prose(f"{head}*: the best."), tables(["data set", *(f">{printable(name)}" for name in methods)], rows)]
        if table["notes"]:
            notes = "; ".join(f"{cell}: {note}" for cell, note in table["notes"].items())
            blocks.append(prose(f"Not compared, as splits are missing: {notes}."))
        if table["first_by_rank"]:
            wins = ", ".join(f"{method} {count}" for method, count in table["first_by_rank"].items())
            blocks.append(
                prose(f"First by rank over the numbers of features, of {table['n_ranked']} data sets: {wins}.{_ties(table)}")
            )
    if mixed:
        blocks.append(prose(f"These results differ in {' and '.join(mixed)}: some were kept from before a change."))
    return "\n\n".join(blocks)


def _ties(table: MeanTable) -> str:
    """Return a sentence about data sets on which methods share the first rank; empty if there are none."""
    tied = table["n_tied_for_first"]
    where = "one of them" if tied == 1 else f"{tied} of them"
    return f" On {where} several methods share the first rank, and each of them is counted." if tied else ""
