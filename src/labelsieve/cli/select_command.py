"""The command that selects features of a file, ``labelsieve select``, and the options of its automatic choice."""

from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelsieve.cli.large_files import CACHE_FOLDER, DASK, MEMORY_LIMIT, cluster, fit_large, large_table
from labelsieve.cli.options import (
    Format,
    FormatOption,
    JsonOption,
    complete,
    emit,
    method_names,
    names_in,
    parse_named,
    registered,
    with_options,
)
from labelsieve.cli.read_options import FILE
from labelsieve.cli.select_options import REDUNDANT, SelectOptions
from labelsieve.errors import InputError

if TYPE_CHECKING:
    from labelsieve.selectors.selection import Selection

STABILITY = "Report the stability of the selection over this number of resamples of the rows."
AUTO = "Choose the method and the number of features by nested cross-validation, and report whether selection helps."
PORTFOLIO = "With --auto: candidate methods, comma-separated, as for --criterion; default: that of AutoSieve."
LEARNER = "With --auto: learners to evaluate with, comma-separated; default: nearest neighbors and ridge regression."
MEASURE = "With --auto: the measure to optimize; default: average_precision, rrmse of numbers, hamming_score of 2 to 4 labels."
BUDGET = "With --auto: seconds; candidates that do not fit are skipped and listed."


@with_options(SelectOptions)
def select(
    file: Annotated[Path, typer.Argument(help=FILE)],
    options: SelectOptions,
    output: Annotated[
        Path | None, typer.Option(help="Save the selection as a .json file, for from_json of the selector.")
    ] = None,
    format: FormatOption = Format.table,
    json: JsonOption = False,
    redundant: Annotated[float | None, typer.Option(help=REDUNDANT)] = None,
    stability: Annotated[int | None, typer.Option(min=2, help=STABILITY)] = None,
    auto: Annotated[bool, typer.Option("--auto", help=AUTO)] = False,
    portfolio: Annotated[str | None, typer.Option(help=PORTFOLIO, autocompletion=complete(method_names))] = None,
    learner: Annotated[str | None, typer.Option(help=LEARNER, autocompletion=complete(registered("CLASSIFIERS")))] = None,
    measure: Annotated[str | None, typer.Option(help=MEASURE, autocompletion=complete(registered("MEASURES")))] = None,
    time_budget: Annotated[float | None, typer.Option(min=0.0, help=BUDGET)] = None,
    memory_limit: Annotated[str | None, typer.Option(help=MEMORY_LIMIT)] = None,
    cache_folder: Annotated[Path | None, typer.Option(help=CACHE_FOLDER)] = None,
    dask: Annotated[str | None, typer.Option(help=DASK)] = None,
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
    in_parts = memory_limit is not None or dask is not None
    if in_parts and options.criterion is None and not auto:  # one that is counted in parts, whether or not the file fits
        options = replace(options, criterion="cmim")
    candidates = {"portfolio": portfolio, "learner": learner, "measure": measure, "time_budget": time_budget}
    chosen = AutoSelectOptions.of(options, auto, **candidates)
    from labelsieve.report.selection_text import selection_text

    table = None
    if in_parts:
        table = large_table(file, options, memory_limit, cache_folder, always=dask is not None)
    if table is not None:
        if auto or redundant is not None or stability is not None:
            raise InputError(
                "--auto, --redundant and --stability need the whole table in memory; raise --memory-limit, leave out --dask."
            )
        with cluster(dask):
            selector = fit_large(table, options, on_cluster=dask is not None)
        selection: Selection = selector.selection(label_names=table.label_names)
    else:
        selector, X, data = chosen.fit(file)
        names, labels = data.feature_names, data.label_names
        selection = selector.selection(
            X, data.Y, names=names, label_names=labels, redundant=redundant, components=True, stability=stability
        )
    if output is not None:
        selector.to_json(output, selection)
    text, document = partial(selection_text, selection, redundant=redundant), selection.to_dict
    if hasattr(selector, "verdict_text_"):
        from labelsieve.report.selection_text import auto_document, auto_text

        text, document = partial(auto_text, selector, text()), partial(auto_document, selector, selection)
    emit(format, json, table=text, document=document, rows=selection.rows)


@dataclass(frozen=True)
class AutoSelectOptions(SelectOptions):
    """Options of an automatic selection, as typed."""

    portfolio: str | None = None
    learner: str | None = None
    measure: str | None = None
    time_budget: float | None = None

    @classmethod
    def of(cls, options: SelectOptions, auto: bool, **given: Any) -> SelectOptions:
        """The options, automatic if asked for."""
        typed = [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]
        if not auto:
            if typed:
                raise InputError(f"{typed[0]} goes with --auto.")
            return options
        if options.criterion is not None:
            raise InputError("--auto chooses the criterion; leave --criterion out, or name candidates with --portfolio.")
        if options.labelwise or options.stop is not None or options.estimator is not None:
            raise InputError(
                "--auto goes without --labelwise, --stop and --estimator; --portfolio sets cmim:estimator=miller-madow."
            )
        values = {field.name: getattr(options, field.name) for field in fields(SelectOptions)}
        return cls(**{**values, "criterion": "auto"}, **given)

    def _settings(self) -> dict[str, Any]:
        settings = super()._settings()
        if self.portfolio is not None:
            settings["portfolio"] = [_table("criterion", text, "--portfolio") for text in names_in(self.portfolio)]
        if self.learner is not None:
            settings["learner"] = [_table("name", text, "--learner") for text in names_in(self.learner)]
        if self.measure is not None:
            settings["measure"] = self.measure
        if self.time_budget is not None:
            settings["time_budget"] = self.time_budget
        return settings


def _table(key: str, text: str, option: str) -> Any:
    """A name, or a table of its settings.

    >>> _table("name", "mlknn:k=7", "--learner"), _table("name", "ridge", "--learner")
    ({'name': 'mlknn', 'k': 7}, 'ridge')
    """
    name, settings = parse_named(text, option)
    return {key: name, **settings} if settings else name
