"""The command that selects features of a file: ``labelsieve select``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from labelsieve.cli.options import Format, FormatOption, JsonOption, emit, with_options
from labelsieve.cli.read_options import FILE
from labelsieve.cli.select_options import REDUNDANT, SelectOptions
from labelsieve.errors import InputError
from labelsieve.report.plaintext import number, plain_table, printable, prose, text_of

if TYPE_CHECKING:
    from labelsieve.selectors.selection import Selection

STABILITY = "Also select from this many resamples of the rows, and report the stability of the selection."


@with_options(SelectOptions)
def select(
    file: Annotated[Path, typer.Argument(help=FILE)],
    options: SelectOptions,
    output: Annotated[Path | None, typer.Option(help="Save the selection as .json, for from_json of its selector.")] = None,
    format: FormatOption = Format.table,
    json: JsonOption = False,
    redundant: Annotated[float | None, typer.Option(help=REDUNDANT)] = None,
    stability: Annotated[int | None, typer.Option(min=2, help=STABILITY)] = None,
) -> None:
    """Select features of a table.

    Numeric columns are cut into bins; text and nominal columns keep their values as levels.
    """
    if redundant is not None and (format is Format.csv or options.labelwise or not 0 < redundant <= 1):
        raise InputError(
            "--redundant takes a number above 0 and at most 1, and goes with --format table or json, not --labelwise."
        )
    if output is not None and (output.suffix != ".json" or not output.parent.is_dir()):
        raise InputError(f"{output}: --output takes the name of a .json file in a folder that exists.")
    selector, X, data = options.fit(file)
    from labelsieve.selectors import selection_stability

    resampled = None
    if stability is not None:
        resampled = selection_stability(selector, X, data.Y, n_repeats=stability, kind="auto", random_state=0)
    selection: Selection = selector.selection(
        X, data.Y, names=data.feature_names, label_names=data.label_names, redundant=redundant, stability=resampled
    )
    if output is not None:
        selector.to_json(output, selection)
    emit(format, json, table=lambda: as_text(selection, redundant), document=selection.to_dict, rows=selection.rows)


def as_text(selection: "Selection", redundant: float | None) -> str:
    """A table of the selected features and, if asked for, one of redundant features."""
    labels = "label" if len(selection.labels) == 1 else "labels"
    unit = f"scores in {selection.unit}" if selection.unit == "nats" else f"scores are {selection.unit}"
    head = (
        f"{selection.method}: {len(selection.columns)} of {selection.n_features} features for {len(selection.labels)} {labels} "
        f"({selection.targets}), from {selection.n_rows:,} rows; {unit}."
    )
    components = selection.components if len(selection.components) > 1 else []  # a single component is the score itself
    label_column = ["label"] if selection.labelwise else []
    table = plain_table(*label_column, ">rank", "feature", ">score", *(f">{kind}" for kind in components))
    for feature in selection.selected:
        numbers = map(number, [feature.score, *(feature.components[kind] for kind in components)])
        label = [printable(str(feature.label))] if selection.labelwise else []
        table.add_row(*label, str(feature.rank), printable(feature.feature), *numbers)
    below = [prose(f"{decision.rule}: {decision.reason}") for decision in selection.stopping if len(selection.stopping) == 1]
    below += [] if selection.stability is None else [prose(_stability_text(selection))]
    below += [] if redundant is None else _redundant_texts(selection, redundant)
    return "\n\n".join([prose(head), *([text_of(table)] if selection.selected else []), *below])


def _stability_text(selection: "Selection") -> str:
    stability = selection.stability
    assert stability is not None
    resamples = f"over {stability.n_repeats} resamples ({stability.kind})"
    if stability.index is None or stability.interval is None:
        return f"Stability {resamples} is not defined: all features or none were selected every time."
    low, high = map(number, stability.interval)
    interval = f"(95 %: {low} to {high})"
    return f"Stability {number(stability.index)} {interval} {resamples}; 1: the same features every time, 0: random selections."


def _redundant_texts(selection: "Selection", at_least: float) -> list[str]:
    table = plain_table("selected", "not selected", ">similarity")
    for feature in selection.selected:
        for name, similarity in feature.redundant.items():
            table.add_row(printable(feature.feature), printable(name), number(similarity))
    if not table.row_count:
        return [f"No feature that was not selected is redundant (similarity at least {at_least:g})."]
    return [f"Redundant features (similarity at least {at_least:g}; 1: the same information):", text_of(table)]
