"""Table 2 of Sechidis, Spyromitros-Xioufis and Vlahavas (2019): Single-JMI, Joint-JMI and Group-JMI-Rand on nine data sets.

Published numbers are average ranks over the numbers of features, 1 for the best; see the assumptions below for settings
that the paper leaves open. Figure 3 is the same experiment with criteria of the literature, and its
methods are run together with these.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from labelsieve.studies.protocol import Protocol
from labelsieve.studies.results import StudyResults
from replications.claims import Claim, ResultTable, claims_table
from replications.group_jmi import figure3
from replications.panels import NAMES
from replications.replication import (
    DataHome,
    Figures,
    Replication,
    Results,
    as_published,
    printed_values,
    selected_sets,
    sources,
)

PART = "table2"
METHODS = ("single-jmi", "joint-jmi", "group-jmi-rand")
NORMALIZED = "group-jmi-rand-normalized"
FIVE_BINS = {"name": "equal-width", "n_bins": 5}
NORMALIZED_GROUP = {
    "name": NORMALIZED,
    "criterion": {"name": "jmi", "normalized": True},
    "targets": "group-rand",
    "discretizer": FIVE_BINS,
}
# The grouped criterion as the author's program computes it, and as the paper's equation 3 has it; the others are plain.
READINGS = {"the author's program": (*METHODS[:2], NORMALIZED), "equation 3": METHODS}

# Single-JMI, Joint-JMI, Group-JMI-Rand, as printed.
PRINTED: dict[str, dict[str, tuple[float, float, float]]] = printed_values("group_jmi")["table 2"]
SETS = tuple(PRINTED["hamming_loss"])
QUICK_SETS = ("emotions", "yeast")
# Labels that no test row has and that are predicted for none; the paper does not say how they count.
ABSENT_LABELS_ZERO = {"macro_f1": {"zero_division": 0.0}}
NEAR = 0.25  # of ranks from 1 to 3


def protocols(*, full: bool = False, sets: Sequence[str] | None = None, data_home: DataHome = None) -> dict[str, Protocol]:
    """The experiment: ``full`` is 30 repetitions on nine sets, otherwise 3 on two small ones.

    >>> protocols(full=True)["table2"]
    Protocol: 9 data sets, 10 methods (single-jmi, ...), 50 numbers of features, 1 classifier, 4 measures, 30x50%
    """
    names = selected_sets(SETS, sets, SETS if full else QUICK_SETS)
    experiment = Protocol(
        sources(names, data_home, genbase={"drop": ["protein"]}),
        as_published([*METHODS, NORMALIZED_GROUP, *({"name": name, "discretizer": FIVE_BINS} for name in figure3.OTHERS)]),
        n_features="1..50",
        classifiers=[{"name": "mlknn", "k": 7}],
        measures=list(PRINTED),
        splits="30x50%" if full else "3x50%",
        baselines=[],
        convention=ABSENT_LABELS_ZERO,
        scale=None,
    )
    return {PART: experiment}


class PairedRanks(NamedTuple):
    """Published ranks and ours of a data set, and whether the same method is first."""

    dataset: str
    printed: tuple[float, ...]
    ours: tuple[float, ...]
    same_winner: bool


def paired_ranks(results: StudyResults, measure: str, reading: str) -> list[PairedRanks]:
    """Return the published ranks and ours of each data set that was run."""
    methods = READINGS[reading]
    grid = results.ranks(measure, methods=methods)
    winners = grid.winners()
    rows = []
    for name, printed in PRINTED[measure].items():
        if name in winners:
            first = methods[printed.index(min(printed))]
            ours = tuple(grid.value(name, method) for method in methods)
            rows.append(PairedRanks(name, printed, ours, first in winners[name]))
    return rows


def table2(results: StudyResults, reading: str) -> list[ResultTable]:
    """Return ranks of the paper and ours, a table for each measure; the last has a summary of the agreement."""
    columns = ("data set", ">published S", ">J", ">G", ">ours S", ">J", ">G", "winner")
    tables, agrees, differences = [], [], []
    for measure in PRINTED:
        rows = []
        for name, printed, ours, same_winner in paired_ranks(results, measure, reading):
            numbers = [f"{rank:.2f}" for rank in (*printed, *ours)]
            rows.append((name, *numbers, "same" if same_winner else "other"))
            agrees.append(same_winner)
            differences += [abs(theirs - rank) for theirs, rank in zip(printed, ours, strict=True)]
        tables.append(ResultTable(f"Table 2, {NAMES[measure]}, Group-JMI-Rand by {reading}", columns, rows))
    near = sum(difference <= NEAR for difference in differences)
    summary = (
        f"By {reading} the published winner (S: Single-JMI, J: Joint-JMI, G: Group-JMI-Rand) is ours in {sum(agrees)} of "
        f"{len(agrees)} settings; {near} of {len(differences)} ranks are within {NEAR:g} of the published ones, "
        f"{np.mean(differences) if differences else 0.0:.2f} apart on average."
    )
    return [*tables[:-1], ResultTable(tables[-1].title, columns, tables[-1].rows, summary)]


def claims(results: StudyResults, reading: str) -> list[Claim]:
    """Return the claims of section 4.1, that Group-JMI-Rand is first in most settings, and of figure 3."""
    methods, wins = READINGS[reading], [0.0, 0.0, 0.0]
    for measure in PRINTED:
        for best in results.ranks(measure, methods=methods).winners().values():
            for method in best:
                wins[methods.index(method)] += 1 / len(best)
    text = "Table 2: Group-JMI-Rand is first in 20 of 36 settings, Joint-JMI in 13, Single-JMI in 3: it outperforms both."
    observed = f"Group-JMI-Rand {wins[2]:g}, Joint-JMI {wins[1]:g}, Single-JMI {wins[0]:g} of {sum(wins):g}"
    return [Claim(text, wins[2] == max(wins), observed), *figure3.claims(results, methods[2])]


def result_tables(results: Results) -> list[ResultTable]:
    """Return table 2, figure 3 and the claims, for each reading."""
    part = results[PART]
    tables = []
    for reading, methods in READINGS.items():
        tables += [*table2(part, reading), *figure3.result_tables(part, methods[2], reading)]
        tables.append(claims_table(claims(part, reading), f"Group-JMI-Rand by {reading}"))
    return tables


def figures(results: Results) -> Figures:
    """Draw the diagrams of figure 3 for each reading."""
    names = {READINGS["equation 3"][2]: "figure3", NORMALIZED: "figure3-normalized"}
    drawn = {name: figure3.figure(results[PART], group) for group, name in names.items()}
    return {name: figure for name, figure in drawn.items() if figure is not None}


REPLICATION = Replication.of("group_jmi", "group-jmi-table2", protocols, result_tables, figures)
