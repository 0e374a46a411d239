"""The command that compares methods on one's own data: ``labelsieve compare``."""

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelsieve.cli.datasets_command import FILE, LABELS
from labelsieve.cli.options import (
    Format,
    FormatOption,
    JsonOption,
    asked_format,
    complete,
    emit,
    method_names,
    names_in,
    parse_named,
)
from labelsieve.cli.run_study import CHANGED, DRY_RUN, JOBS, OUT, RETRY, Changed, end, prepare, run
from labelsieve.errors import InputError
from labelsieve.report.plaintext import plain_table, printable, prose, tables, text_of

if TYPE_CHECKING:
    from labelsieve.studies import Outcome, Protocol, StudyResults

METHODS = "Names with commas; see labelsieve methods. relieff:n_neighbors=20 sets a parameter."
CLASSIFIERS = (
    "Names with commas: mlknn, brknn, iblr, br, lp, ppt, rakel, homer, copies, lift, cc, ecc, ebcc, occ, eocc, or knn for "
    "numbers; mlknn:k=7 sets a parameter, br:base=tree what it is made of: logistic, svm, tree or bayes."
)
PROFILE = "Print where the time went, by method, of all cells that are stored."
NARROW = {"selection": "select", "training": "train", "prediction": "predict", "training and prediction": "train+predict"}
DATA = f"{FILE} Or one .toml file, which says everything."


def compare(
    data: Annotated[list[str], typer.Argument(help=DATA)],
    out: Annotated[Path, typer.Option(help=OUT)],
    methods: Annotated[str | None, typer.Option(help=METHODS, autocompletion=complete(method_names))] = None,
    labels: Annotated[str | None, typer.Option(help=LABELS)] = None,
    k: Annotated[str | None, typer.Option("--n-features", "--k", "-k", help="How many: 1..50, 5,10,20, or 10%,20%.")] = None,
    splits: Annotated[str | None, typer.Option(help="30x50%, 10-fold, or either after 'stratified'.")] = None,
    classifier: Annotated[str | None, typer.Option("--classifiers", "--classifier", help=CLASSIFIERS)] = None,
    measures: Annotated[str | None, typer.Option(help="Names with commas, such as hamming_loss,macro_f1.")] = None,
    baselines: Annotated[str | None, typer.Option(help="random,all unless told; none takes them out.")] = None,
    convention: Annotated[str | None, typer.Option(help="Of measures: labelsieve, scikit-learn, mulan or matlab.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of splits and of methods that draw.")] = None,
    jobs: Annotated[int, typer.Option("--n-jobs", "--jobs", help=JOBS)] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help=DRY_RUN)] = False,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for one selection or evaluation.")] = None,
    memory_limit: Annotated[float | None, typer.Option(help="MB for the same (Linux).")] = None,
    changed: Annotated[Changed, typer.Option(help=CHANGED)] = Changed.refuse,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help=RETRY)] = False,
    profile: Annotated[bool, typer.Option("--profile", help=PROFILE)] = False,
    format: FormatOption = Format.table,
    json: JsonOption = False,
) -> None:
    """Compare methods on data sets: select inside every split, evaluate, and keep every result.

    Killed at any moment, the same command goes on where it was.
    """
    from labelsieve.studies import Protocol, StudyResults

    given: dict[str, Any] = {
        "methods": methods,
        "n_features": k,
        "splits": splits,
        "classifiers": classifier,
        "measures": measures,
    }
    given |= {"baselines": baselines, "convention": convention, "seed": seed, "labels": labels}
    told = {name: value for name, value in given.items() if value is not None}
    if data[0].endswith(".toml"):
        if told or len(data) > 1:
            raise InputError(
                f"{data[0]}: this file says everything; leave out other data sets and {', '.join(told) or 'files'}."
            )
        protocol = Protocol.from_toml(data[0])
    else:
        protocol = from_options(data, told)
    how = {"time_limit": time_limit, "memory_limit": memory_limit, "changed": changed.value, "retry_failed": retry_failed}
    format = asked_format(format, json)
    prepared = prepare(protocol, out, jobs, changed=changed.value, retry_failed=retry_failed)
    if dry_run:
        by_method = prepared.document["minutes_by_method"]
        rows = [["method", "minutes"], *by_method.items()]
        emit(format, False, table=lambda: prepared.text, document=lambda: prepared.document, rows=lambda: rows)
        return
    outcome = run(prepared, jobs, how)
    results = StudyResults(out, protocol=protocol)
    show_means(protocol, results, outcome, format)
    if profile:
        show_profile(out)
    end({out: outcome}, [results])


def from_options(data: list[str], told: dict[str, Any]) -> "Protocol":
    """A protocol of what was typed."""
    from labelsieve.studies import Protocol
    from labelsieve.studies.protocol.data_sources import read_source

    if "methods" not in told:
        raise InputError("--methods: which ones? Names with commas, such as jmi,scls; labelsieve methods lists them.")
    settings = {key: value for key, value in told.items() if key != "labels"}
    labels = {key: told[key] for key in ("labels",) if key in told}
    sources = [{"name": read_source(one).name, "path": one, **labels} for one in data]
    for name in ("methods", "measures", "baselines"):
        if name in settings:
            settings[name] = names_in(settings[name])
    settings["methods"] = [read_method_option(one) for one in settings["methods"]]
    if settings.get("baselines") == ["none"]:
        settings["baselines"] = []
    if "classifiers" in settings:
        settings["classifiers"] = read_classifiers_option(settings["classifiers"])
    return Protocol(sources, settings.pop("methods"), **settings)


def read_classifier_option(text: str) -> dict[str, Any]:
    """What is typed for a classifier.

    >>> read_classifier_option("mlknn:k=7:s=0.5")
    {'name': 'mlknn', 'k': 7, 's': 0.5}
    """
    name, parameters = parse_named(text, "--classifiers")
    return {"name": name, **parameters}


def read_classifiers_option(text: str) -> list[dict[str, Any]]:
    """What is typed for several; those of one kind have what was typed as their names.

    >>> [one["name"] for one in read_classifiers_option("brknn:k=5,mlknn:k=3,mlknn:k=7")]
    ['brknn', 'mlknn:k=3', 'mlknn:k=7']
    """
    typed = names_in(text)
    found = [read_classifier_option(one) for one in typed]
    kinds = [one["name"] for one in found]
    return [
        {**one, "name": said, "classifier": one["name"]} if kinds.count(one["name"]) > 1 else one
        for said, one in zip(typed, found, strict=True)
    ]


def read_method_option(text: str) -> dict[str, Any]:
    """What is typed for a method; with parameters its name in the results is what was typed.

    >>> read_method_option("relieff:n_neighbors=20")
    {'name': 'relieff:n_neighbors=20', 'criterion': 'relieff', 'n_neighbors': 20}
    """
    name, parameters = parse_named(text, "--methods")
    return {"name": text, "criterion": name, **parameters} if parameters else {"name": name}


def show_means(protocol: "Protocol", results: "StudyResults", outcome: "Outcome", format: Format) -> None:
    """Print means, the best marked, and who is first by rank, in the form asked for."""
    found = [means_of(protocol, results, one, measure) for one, measure in judged(protocol, results)]

    def document() -> dict[str, Any]:
        cells = {"run": outcome.n_run, "known": outcome.n_known, "failed": outcome.n_failed, "stale": outcome.n_stale}
        keys = ("data_set", "split", "method", "classifier", "error")
        failures = [dict(zip(keys, row, strict=True)) for row in results.failures]
        return {"cells": cells, "mixed": list(results.mixed), "failures": failures, "results": found}

    def rows() -> list[list[Any]]:
        head = ["classifier", "measure", "data set", "method", "mean"]
        own = [
            [one["classifier"], one["measure"], name, method, value]
            for one in found
            for name, values in one["means"].items()
            for method, value in values.items()
        ]
        return [head, *own]

    emit(format, False, table=lambda: means_in_words(found, list(results.mixed)), document=document, rows=rows)


def judged(protocol: "Protocol", results: "StudyResults") -> list[tuple[str, str]]:
    """The classifiers and measures there are results of, in the order of the protocol."""
    classifiers = [one.name for one in protocol.classifiers if one.name in results.classifiers]
    return [(one, measure) for one in classifiers for measure in protocol.measures if measure in results.measures]


def means_of(protocol: "Protocol", results: "StudyResults", classifier: str, measure: str) -> dict[str, Any]:
    """Means over the numbers of features and splits, the best of every data set, and how often each is first by rank."""
    sets = [source.name for source in protocol.datasets if source.name in results.datasets]
    methods = [one.name for one in protocol.methods if one.name in results.methods]
    grid = results.means(measure, classifier)
    own = [one for one in methods if one not in protocol.baselines]
    first = {}
    if len(sets) > 1 and len(own) > 1:
        first = results.ranks(measure, classifier, methods=own).wins()
    best = grid.winners()
    return {
        "classifier": classifier,
        "measure": measure,
        "lower_is_better": grid.lower_is_better,
        "means": {name: {one: grid.value(name, one) for one in methods} for name in sets},
        "best": {name: list(best.get(name, ())) for name in sets},
        "notes": {f"{one} on {name}": grid.note(name, one) for name in sets for one in methods if grid.note(name, one)},
        "first_by_rank": first,
    }


def means_in_words(found: list[dict[str, Any]], mixed: list[str]) -> str:
    """The same for people: the best marked."""
    parts = [] if found else [prose("No cell has a result.")]
    for one in found:
        way = "lower" if one["lower_is_better"] else "higher"
        what = f"{one['measure']}, {one['classifier']}"
        head = f"{what}: means over the numbers of features and splits, {way} is better; *: the best."
        methods = list(next(iter(one["means"].values()), {}))
        rows = []
        for name, values in one["means"].items():
            marks = {method: "*" if method in one["best"][name] else " " for method in values}
            cells = ["- " if isnan(value) else f"{value:.4f}{marks[method]}" for method, value in values.items()]
            rows.append([printable(name), *cells])
        parts += [prose(head), tables(["data set", *(f">{printable(name)}" for name in methods)], rows)]
        if one["notes"]:
            said = "; ".join(f"{where}: {note}" for where, note in one["notes"].items())
            parts.append(prose(f"Not compared, for there is less of them: {said}."))
        if one["first_by_rank"]:
            wins = ", ".join(f"{method} {count}" for method, count in one["first_by_rank"].items())
            parts.append(prose(f"First by rank over the numbers of features: {wins}."))
    if mixed:
        parts.append(prose(f"These numbers are of more than one kind of {' and '.join(mixed)}: some were kept."))
    return "\n\n".join(parts)


def show_profile(out: Path) -> None:
    """Print the seconds of every method by what they went to."""
    from labelsieve.studies.results.profile import profile_of

    head, *rows = profile_of(out).rows()
    table = plain_table(head[0], *(f">{NARROW.get(name, name)}" for name in head[1:]))
    for row in rows:
        table.add_row(*map(printable, row))
    typer.echo(
        "\n".join(["", prose("Seconds of all cells that are stored, and shares of them:"), "", text_of(table)]), err=True
    )
