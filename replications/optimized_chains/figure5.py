"""Figure 5 of Sun and Kudo (2017): oCC over the number of parents and the number of features."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labelsieve.report.figures.style import FONT
from labelsieve.studies import Protocol, StudyResults
from replications.curves import panels
from replications.optimized_chains.common import (
    FIGURE_SETS,
    OWN,
    WORDS,
    BySize,
    GivenOrder,
    Variant,
    in_readings,
    occ,
    protocol,
    readings,
)
from replications.replication import (
    Claim,
    DataHome,
    Figures,
    Replication,
    Results,
    ResultTable,
    claims_table,
    selected_sets,
    values_text,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PART = "grid"
MEASURED = {measure: WORDS[measure] for measure in ("exact_match", "macro_f1")}
SHARES = tuple(round(0.05 * step, 2) for step in range(1, 21))
QUICK_SHARES = (0.25, 0.5, 0.75, 1.0)
FEW, STABLE = 0.25, 0.02  # a small share of parents; its largest distance below the best share


def protocols(*, full: bool = False, sets: Sequence[str] | None = None, data_home: DataHome = None) -> dict[str, Protocol]:
    """Return the experiment: with ``full``, 5 % to 100 % of parents and features on four sets; otherwise by 25 % on scene.

    With ``full``, it is run as written and as programmed.

    >>> protocols(full=True)["grid"]
    Protocol: 4 data sets, 1 method (own features), 20 numbers of features, 20 classifiers, 4 measures, FoldsByData
    """
    names = selected_sets(FIGURE_SETS, sets, FIGURE_SETS if full else FIGURE_SETS[:1])
    shares = SHARES if full else QUICK_SHARES

    def grid_of(variant: Variant) -> Protocol:
        chains = [(f"k={share:.0%}", BySize(occ(k=share, order="given", variant=variant))) for share in shares]
        return protocol(names, data_home, [(OWN, GivenOrder())], chains, n_features=shares)

    return in_readings(PART, grid_of, full=full)


def grid(results: StudyResults, name: str, measure: str) -> tuple[list[str], Any, Any]:
    """Return shares of parents, numbers of features, and means over the folds with a row for each share."""
    shares = sorted(results.classifiers, key=lambda share: int(share[2:-1]))
    curves = {share: results.curve(name, OWN, measure, share) for share in shares}
    done = {share: curve for share, curve in curves.items() if len(curve[1])}
    sizes = next(iter(done.values()))[0] if done else []
    return list(done), sizes, np.array([values.mean(axis=0) for _, values in done.values()])


def complete_sets(part: StudyResults) -> list[str]:
    """Return the data sets for which every share of the parents is finished."""
    return [name for name in part.datasets if len(grid(part, name, "exact_match")[0]) == len(part.classifiers)]


def result_tables(results: Results) -> list[ResultTable]:
    """Return the best cell of each data set, and the claims, for each reading."""
    named = readings(PART, results)
    return [table for reading, part in named.items() for table in _tables(results[part], reading, part)]


def _tables(part: StudyResults, reading: str, name_of_part: str) -> list[ResultTable]:
    tables = []
    stable, fewer = {}, {}
    for measure, words in MEASURED.items():
        rows = []
        for name in complete_sets(part):
            shares, sizes, table = grid(part, name, measure)
            k, m = np.unravel_index(int(table.argmax()), table.shape)
            best, corner = float(table.max()), float(table[-1, -1])
            rows.append((name, f"{best:.3f}", shares[k][2:], str(sizes[m]), f"{corner:.3f}"))
            over_k = table.mean(axis=1)
            small = [row for row, share in enumerate(shares) if int(share[2:-1]) <= 100 * FEW]
            stable[f"{name}, {words}"] = 1 - float(over_k[small].max() / over_k.max())
            fewer[f"{name}, {words}"] = float(sizes[m] / sizes[-1])
        columns = ("data set", ">best", ">parents", ">features", ">all of both")
        tables.append(ResultTable(f"{words}: the best of the grid, {reading}", columns, rows))
    claims = [
        Claim(
            f"a small share of the parents is enough (at {FEW:.0%} at most {STABLE:.0%} below the best, mean over M)",
            all(distance <= STABLE for distance in stable.values()),
            values_text(stable, "{:.1%}", "; "),
        ),
        Claim(
            "oCC is best with a fraction of the features",
            all(share < 1 for share in fewer.values()),
            values_text(fewer, "{:.0%}", "; "),
        ),
    ]
    return [*tables, claims_table(claims, reading, [name_of_part])]


def figures(results: Results) -> Figures:
    """Draw heat maps of exact match above and macro-F1 below, for each reading; dark is better."""
    drawn = {f"figure5{part.removeprefix(PART)}": results[part] for part in readings(PART, results).values()}
    return {name: _maps(part) for name, part in drawn.items() if complete_sets(part)}


def _maps(part: StudyResults) -> "Figure":
    names = complete_sets(part)
    figure, axes = panels(2, len(names))
    for row, (measure, words) in enumerate(MEASURED.items()):
        for ax, name in zip(axes[row], names, strict=True):
            shares, _, table = grid(part, name, measure)
            drawn = ax.imshow(table, origin="lower", aspect="auto", cmap="cividis_r", extent=(0, 100, 0, int(shares[-1][2:-1])))
            bar = figure.colorbar(drawn, ax=ax)
            bar.ax.tick_params(labelsize=FONT - 1)
            ax.set_title(f"{name}, {words}", fontsize=FONT)
            ax.tick_params(labelsize=FONT)
        axes[row, 0].set_ylabel("% of the parents", fontsize=FONT)
    figure.supxlabel("% of the features", fontsize=FONT)
    return figure


REPLICATION = Replication.of("optimized_chains", "occ-figure5", protocols, result_tables, figures)
