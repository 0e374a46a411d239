"""The verb ``discover``: list associated features and labels at a false discovery rate."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from labelsieve.cli.options import (
    COLUMNS,
    FILE,
    MACHINE,
    OUTPUT,
    THREADS,
    Format,
    FormatOption,
    JsonOption,
    ReadOptions,
    complete,
    emit,
    names_in,
    registered,
    require_writable,
    with_options,
)
from labelsieve.cli.report import require_matplotlib
from labelsieve.cli.select import CUTS, read_column_cuts, types_of_labels
from labelsieve.errors import InputError, share, unknown_name

if TYPE_CHECKING:
    from labelsieve.datasets import Dataset
    from labelsieve.selectors.discoveries import BaseDiscoveries

NULL = "marginal: a feature is independent of the labels; conditional: given all other features, by knockoffs."
FDR = "The false discovery rate, of features and of the labels of selected features."
METHOD = "hierarchical: features first, then their labels; pooled: all pairs together, without an error rate over features."
COMBINE = "p-value of a feature: simes, or fisher for independent labels."
CORRECTION = "bh: Benjamini and Hochberg; by: Benjamini and Yekutieli, for any dependence of the features."
STRATA = "A column with the batch or site of every row: association is tested within them. It is not a feature."
EXCLUDED = "Comma-separated names of features that are not tested."
GROUPS = "A column with the patient or subject of every row: rows of one are permuted as a whole. It is not a feature."
PERMUTATIONS = "Permutations for pairs with few rows, and with --groups for all pairs."
SEED = "Seed of the permutations, or of the knockoffs."
SAMPLER = (
    "Model of the features for knockoffs: tree, for levels, text and missing cells; gaussian, for numbers; auto: tree if every "
    "column has few values."
)
REPEATS = "Sets of knockoffs, with --null conditional."
COLUMN_CUTS = "COLUMN=DISCRETIZER for one column (repeatable), as for labelsieve select."
TESTS = "Error rate and tests"  # a heading of the help
SHOWN = "Discoveries in the table; json and csv have all."
FOLDER = "Write figures into this folder: volcano.png, map.png and, of p-values, calibration.png."
# Options of one null hypothesis only.
OPTIONS = {
    "marginal": ("method", "combine", "correction", "strata", "groups", "n_permutations"),
    "conditional": ("sampler", "n_repeats"),
}


class Found(NamedTuple):
    """The fitted selector, the names of the features that were tested, and the data."""

    selector: "BaseDiscoveries"
    names: list[str]
    data: "Dataset"


@dataclass(frozen=True)
class DiscoverOptions(ReadOptions):
    """Options that say what to test, as they were typed."""

    fdr: Annotated[float, typer.Option("--alpha", "--fdr", help=FDR, rich_help_panel=TESTS)] = 0.05
    null: Annotated[Literal["marginal", "conditional"], typer.Option(help=NULL, rich_help_panel=TESTS)] = "marginal"
    method: Annotated[Literal["hierarchical", "pooled"], typer.Option(help=METHOD, rich_help_panel=TESTS)] = "hierarchical"
    combine: Annotated[Literal["simes", "fisher"], typer.Option(help=COMBINE, rich_help_panel=TESTS)] = "simes"
    correction: Annotated[Literal["bh", "by"], typer.Option(help=CORRECTION, rich_help_panel=TESTS)] = "bh"
    strata: Annotated[str | None, typer.Option(help=STRATA, rich_help_panel=TESTS)] = None
    groups: Annotated[str | None, typer.Option(help=GROUPS, rich_help_panel=TESTS)] = None
    excluded: Annotated[str | None, typer.Option("--excluded", "--exclude", help=EXCLUDED, rich_help_panel=COLUMNS)] = None
    discretizer: Annotated[
        str, typer.Option(help=CUTS, rich_help_panel=COLUMNS, autocompletion=complete(registered("DISCRETIZERS", "auto")))
    ] = "auto"
    discretizer_of: Annotated[list[str] | None, typer.Option(help=COLUMN_CUTS, rich_help_panel=COLUMNS)] = None
    n_permutations: Annotated[int, typer.Option(min=1, help=PERMUTATIONS, rich_help_panel=TESTS)] = 9999
    sampler: Annotated[Literal["auto", "tree", "gaussian"], typer.Option(help=SAMPLER, rich_help_panel=TESTS)] = "auto"
    n_repeats: Annotated[int, typer.Option(min=1, help=REPEATS, rich_help_panel=TESTS)] = 20
    random_state: Annotated[int, typer.Option("--random-state", "--seed", min=0, help=SEED, rich_help_panel=TESTS)] = 0
    n_jobs: Annotated[int | None, typer.Option(help=THREADS, rich_help_panel=MACHINE)] = None

    def fit(self, path: Path) -> Found:
        """Test the features of a file or a data set."""
        from labelsieve.registry import declare_nominal
        from labelsieve.selectors import ConditionalDiscoveries, MarginalDiscoveries

        share(self.fdr, "--fdr")
        rule: Any = self.discretizer
        if self.discretizer_of:
            rule = read_column_cuts(self.discretizer_of, "auto" if rule == "auto" else rule)
        shared = {"alpha": self.fdr, "random_state": self.random_state, "discretizer": rule, "n_jobs": self.n_jobs}
        selector: BaseDiscoveries
        for null, names_of_options in OPTIONS.items():
            given = [name for name in names_of_options if getattr(self, name) != getattr(DiscoverOptions, name)]
            if given and null != self.null:
                raise InputError(f"--{given[0].replace('_', '-')} is an option of --null {null}; drop one of the two.")
        if self.null == "conditional":
            selector = ConditionalDiscoveries(**shared, sampler=self.sampler, n_repeats=self.n_repeats)
        else:
            own = {name: getattr(self, name) for name in ("method", "combine", "correction", "n_permutations")}
            selector = MarginalDiscoveries(**shared, **own)
        data = self.load(path)
        X, names = data.named_features(), list(data.feature_names)
        of_rows: dict[str, Any] = {}
        for option, column in (("strata", self.strata), ("groups", self.groups)):
            if column is not None:
                of_rows[option] = _column(X, list(data.feature_names), column, f"--{option}")
        left_out = {self.strata, self.groups, *names_in(self.excluded or "")}
        for unknown in left_out - {*names, None}:
            raise unknown_name("feature (--excluded)", unknown, names)
        kept = [index for index, name in enumerate(names) if name not in left_out]
        if not kept:
            raise InputError(f"{os.fspath(path)}: no feature is left to test.")
        if not hasattr(X, "columns"):  # a sparse matrix does not show which columns are nominal
            declare_nominal(selector, [kept.index(column) for column in data.nominal_features if column in kept], len(kept))
        selector.set_params(target_type=types_of_labels(data, "auto"))
        try:
            selector.fit(_columns(X, kept), data.named_labels(), **of_rows)
        except InputError:
            raise
        except ValueError as error:  # what scikit-learn's checks of input raise
            raise InputError(f"{os.fspath(path)}: {error}") from None
        return Found(selector, [names[column] for column in kept], data)


def _column(X: Any, names: list[str], column: str, option: str) -> Any:
    """Return the values of the column with a name."""
    import numpy as np

    if column not in names:
        raise unknown_name(f"column ({option})", column, names)
    index = names.index(column)
    if not hasattr(X, "columns"):
        return X[:, [index]].toarray().ravel() if hasattr(X, "toarray") else np.asarray(X)[:, index]
    import narwhals.stable.v1 as nw

    return nw.from_native(X, eager_only=True)[:, index].to_numpy()


def _columns(X: Any, kept: list[int]) -> Any:
    import numpy as np

    from labelsieve.parameters import take_columns

    return X if len(kept) == X.shape[1] else take_columns(X, np.array(kept))


@with_options(DiscoverOptions)
def discover(
    file: Annotated[Path, typer.Argument(help=FILE)],
    options: DiscoverOptions,
    out: Annotated[Path | None, typer.Option(help=FOLDER, rich_help_panel=OUTPUT)] = None,
    n_shown: Annotated[int, typer.Option(min=1, help=SHOWN, rich_help_panel=OUTPUT)] = 20,
    format: FormatOption = Format.table,
    json: JsonOption = False,
) -> None:
    """List associated features and labels at a false discovery rate.

    Every pair of a feature and a label is tested by its mutual information. The false discovery rate is the expected fraction
    of listed features that are independent of all labels. --null conditional lists features that have information about some
    label given all other features.
    """
    if out is not None:
        require_matplotlib()
        require_writable(next(folder for folder in (out, *out.absolute().parents) if folder.exists()))
    selector, names, data = options.fit(file)
    named = {"names": names, "label_names": data.label_names}
    if out is not None:
        write_figures(selector, out, named)
    from labelsieve.report.text import discovery_text

    table = selector.discovery_table(**named)
    emit(
        format,
        json,
        table=lambda: discovery_text(selector, names=names, label_names=data.label_names, n_shown=n_shown),
        document=lambda: document_of(selector, table, names),
        rows=lambda: [list(table), *zip(*table.values(), strict=True)],
    )


def document_of(selector: "BaseDiscoveries", table: dict[str, list[Any]], names: list[str]) -> dict[str, Any]:
    """Return the result as plain values, for JSON."""
    of_pairs = ("method", "minimum_information_", "detectable_information_") if selector.finds_pairs else ()
    return {
        "alpha": selector.alpha,
        "n_features": selector.n_features_in_,
        "n_labels": int(selector.label_q_values_.shape[1]),
        "reason": selector.reason_,
        **{name.rstrip("_"): getattr(selector, name) for name in of_pairs},
        "selected": [
            {"feature": names[column], "q": float(selector.q_values_[column]), "information": float(score)}
            for column, score in zip(selector.selected_, selector.scores_, strict=True)
        ],
        "discoveries": [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)],
    }


def write_figures(selector: "BaseDiscoveries", folder: Path, named: dict[str, Any]) -> None:
    """Write the figures as PNG files: the map if there is a discovery, the calibration if there are p-values."""
    from labelsieve.report.figures import discovery_map, discovery_volcano, p_value_calibration
    from labelsieve.report.figures.style import off_screen

    folder.mkdir(parents=True, exist_ok=True)
    with off_screen():
        drawn = {"volcano": discovery_volcano(selector, **named)}
        if selector.finds_pairs:
            drawn["calibration"] = p_value_calibration(selector.p_values_)
        if selector.support_.any():
            drawn["map"] = discovery_map(selector, **named)
        for name, ax in drawn.items():
            ax.figure.figure.savefig(folder / f"{name}.png", dpi=150, bbox_inches="tight")
    typer.echo(f"labelsieve: {len(drawn)} figures written to {folder.resolve()}", err=True)
