"""The command that chooses features of a file: ``labelsieve select``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labelsieve.cli.datasets_command import FILE, LABELS
from labelsieve.cli.options import (
    Format,
    FormatOption,
    JsonOption,
    complete,
    discretizer_names,
    emit,
    method_names,
    names_in,
    parse_named,
    read_count,
    rule_names,
    space_names,
)
from labelsieve.errors import InputError
from labelsieve.report.plaintext import number, plain_table, printable, prose, text_of

if TYPE_CHECKING:
    from labelsieve.selectors.select_file import FileSelection
    from labelsieve.stopping import StoppingRule

CRITERION = "A criterion or method; see labelsieve methods. relieff:n_neighbors=20 sets a parameter."
COUNT = "How many features: a number, a share such as 10%, or all. With --stop: at the most."
STOP = "Find the number by a rule: threshold, knee, g-test, permutation or cross-validation; permutation:alpha=0.01 sets more."
TARGETS = (
    "What labels are taken for: single, joint, pruned, copy, copy-weight, select-max, select-min, select-random, ignore, "
    "group, group-rand or group-auto; auto: as the method says."
)
STABILITY = "Select from so many resamples of the rows too, and say how much of the selection is chance."
CUTS = "How numbers become codes: equal-width, equal-frequency, k-means, mean-std or mdl; auto: as the method says."


LabelsOption = Annotated[str | None, typer.Option(help=LABELS)]
CountOption = Annotated[str | None, typer.Option("-k", "--n-features-to-select", help=f"{COUNT} 10 unless told.")]
CriterionOption = Annotated[str, typer.Option("--criterion", "--method", help=CRITERION, autocompletion=complete(method_names))]
StopOption = Annotated[str | None, typer.Option(help=STOP, autocompletion=complete(rule_names))]
TargetsOption = Annotated[str, typer.Option(help=TARGETS, autocompletion=complete(space_names))]
CutsOption = Annotated[str, typer.Option(help=CUTS, autocompletion=complete(discretizer_names))]
BinsOption = Annotated[
    int | None, typer.Option("--n-bins", "--bins", min=1, help="Equal-width bins of each feature; 5 unless told.")
]
CodesOption = Annotated[bool, typer.Option("--codes", help="No bins: features are text or whole numbers from 0.")]
EstimatorOption = Annotated[str | None, typer.Option(help="Of entropies: plugin, miller-madow or shrinkage.")]
ForcedOption = Annotated[str | None, typer.Option(help="Features that come first: names with commas.")]
ExcludedOption = Annotated[str | None, typer.Option(help="Features that never come: names with commas.")]
LabelwiseOption = Annotated[bool, typer.Option("--labelwise", help="A list for every label instead of one for all.")]
JobsOption = Annotated[int | None, typer.Option(help="Threads; -1: all. The result does not depend on it.")]
ALIKE = "List what was left out and is so similar (0 to 1) to a choice."


def select(
    file: Annotated[Path, typer.Argument(help=FILE)],
    labels: LabelsOption = None,
    count: CountOption = None,
    criterion: CriterionOption = "jmi",
    stop: StopOption = None,
    targets: TargetsOption = "auto",
    discretizer: CutsOption = "auto",
    bins: BinsOption = None,
    codes: CodesOption = False,
    estimator: EstimatorOption = None,
    forced: ForcedOption = None,
    excluded: ExcludedOption = None,
    labelwise: LabelwiseOption = False,
    output: Annotated[Path | None, typer.Option(help="Save the selection as .json, for from_json of its selector.")] = None,
    format: FormatOption = Format.table,
    json: JsonOption = False,
    n_jobs: JobsOption = None,
    twins: Annotated[float | None, typer.Option(help=ALIKE)] = None,
    stability: Annotated[int | None, typer.Option(min=2, help=STABILITY)] = None,
) -> None:
    """Choose features of a table.

    Text in a feature column is numbered by its sorted values. Where a column has more different values than there are bins,
    those numbers are binned like any others; --n-bins with a larger number, or --codes, keeps the values apart.
    """
    if twins is not None and (format is Format.csv or labelwise or not 0 < twins <= 1):
        raise InputError("--twins takes a number above 0 and at most 1, and goes with --format table or json, not --labelwise.")
    if output is not None and (output.suffix != ".json" or not output.parent.is_dir()):
        raise InputError(f"{output}: --output takes the name of a .json file in a folder that exists.")
    cut = {"discretizer": discretizer, "bins": bins, "codes": codes}
    more = {"estimator": estimator, "forced": names_in(forced), "excluded": names_in(excluded), "n_jobs": n_jobs}
    how: dict[str, Any] = {"targets": targets, "labelwise": labelwise, "twins": twins, "stability": stability}
    result = choose(file, labels, count, criterion, stop, cut, more, how)
    if output is not None:
        result.sieve.to_json(output)
    emit(format, json, table=lambda: shown(result, twins), document=result.document, rows=result.rows)


def choose(
    file: Path,
    labels: str | None,
    count: str | None,
    criterion: str,
    stop: str | None,
    cut: dict[str, Any],
    more: dict[str, Any],
    how: dict[str, Any],
) -> "FileSelection":
    """Select as the options say: ``cut`` are those of bins, ``more`` other settings, ``how`` what ``select_file`` takes."""
    bins, codes, discretizer = cut["bins"], cut["codes"], cut["discretizer"]
    if codes + (bins is not None) + (discretizer != "auto") > 1:
        raise InputError("--codes, --n-bins and --discretizer exclude each other.")
    if more["n_jobs"] == 0:
        raise InputError("--n-jobs must not be 0; give a number of threads, or -1 for all.")
    name, settings = parse_named(criterion, "--criterion")
    settings |= {key: value for key, value in more.items() if value}
    if discretizer != "auto":
        settings["discretizer"] = discretizer
    how_many: Any = "auto" if count is None else read_count(count)
    if stop is not None:
        how_many = read_stop(stop, None if count is None else how_many)
    from labelsieve.selectors.select_file import select_file

    n_bins: Any = None if codes else bins or "auto"
    how = {"n_features_to_select": how_many, "n_bins": n_bins, "settings": settings, **how}
    result = select_file(file, labels, method=name, **how)
    for column, values in result.binned_text.items():
        note = f"{column!r} is text with {values} different values, in {result.n_bins} bins by the alphabet"
        typer.echo(f"labelsieve: note: {note}; --n-bins {values} or --codes keeps them apart.", err=True)
    return result


def read_stop(text: str, most: int | float | None) -> "StoppingRule":
    """The rule that was typed, looking at ``most`` features.

    >>> read_stop("permutation:alpha=0.01", 20)
    PermutationTest(alpha=0.01, max_features=20)
    """
    from labelsieve.registry import make_stopping_rule

    name, parameters = parse_named(text, "--stop")
    if isinstance(most, float):
        raise InputError("--stop: with a rule, -k is the most features, a whole number.")
    if most is not None:
        parameters.setdefault("max_features", most)
    if isinstance(parameters.get("estimator"), str):
        from labelsieve.studies.protocol.named_estimators import read_classifier

        parameters["estimator"] = read_classifier(parameters["estimator"]).estimator
    return make_stopping_rule(name, **parameters)


def shown(result: "FileSelection", twins: float | None) -> str:
    """A table of the chosen features and, if asked for, one of their twins."""
    label = "label" if len(result.labels) == 1 else "labels"
    listed = bool(result.choices) and result.choices[0].label is not None
    n_chosen = len({one.column for one in result.choices})
    unit = f"scores in {result.unit}" if result.unit == "nats" else f"scores are {result.unit}"
    head = (
        f"{result.method}: {n_chosen} of {result.n_features} features for {len(result.labels)} {label} "
        f"({result.targets}), from {result.n_rows:,} rows; {unit}."
    )
    parts = result.parts if len(result.parts) > 1 else []  # a single part is the score itself
    table = plain_table(*(["label"] if listed else []), ">rank", "feature", ">score", *(f">{part}" for part in parts))
    for one in result.choices:
        numbers = map(number, [one.score, *(one.parts[part] for part in parts)])
        table.add_row(*([printable(str(one.label))] if listed else []), str(one.rank), printable(one.feature), *numbers)
    below = [prose(f"{told['rule']}: {told['reason']}") for told in result.stopping if len(result.stopping) == 1]
    if result.stability is not None:
        told = result.stability
        low, high = (number(bound) for bound in told["interval"])
        what = f"Stability {number(told['index'])} (95 %: {low} to {high}) over {told['n_repeats']} resamples ({told['kind']})"
        below.append(prose(f"{what}; 1: the same features every time, 0: chance."))
    if twins is not None:
        alike = plain_table("chosen", "left out", ">similarity")
        for one in result.choices:
            for twin, similarity in one.twins.items():
                alike.add_row(printable(one.feature), printable(twin), number(similarity))
        if alike.row_count:
            below += [f"Left out, though similar to a chosen feature (at least {twins:g}; 1 tells the same):", text_of(alike)]
        else:
            below.append(f"No feature that was left out is similar to a chosen one (at least {twins:g}).")
    return "\n\n".join([prose(head), *([text_of(table)] if result.choices else []), *below])
