"""Table 2 and figure 3 of Sechidis, Spyromitros-Xioufis and Vlahavas (2019): Group-JMI-Rand on nine data sets.

Table 2 has average ranks of Single-JMI, Joint-JMI and Group-JMI-Rand over the numbers of features, 1 for the best. Figure 3 is
the same experiment with six criteria of the literature: four critical difference diagrams with printed average ranks. These
are multiples of 1/18: on each of the nine data sets the methods were ranked once (average ranks for ties), by their ranks over
the numbers of features.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.stats import spearmanr

from labelsieve.statistics import Comparison, compare
from labelsieve.studies import Protocol, StudyResults
from replications.curves import NAMES
from replications.replication import (
    DATA,
    SWAPPED,
    Claim,
    Compared,
    DataHome,
    Figures,
    Replication,
    Results,
    ResultTable,
    as_published,
    claims_table,
    grade,
    not_run,
    printed_values,
    selected_sets,
    sources,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PART = "table2"
STRATIFIED = "-stratified"  # end of the names of parts with such halves
#: Halves of the rows for training, and the part that is run on them; the paper writes "holdout balanced cross-validation".
HALVES = {"random halves": PART, "stratified halves": PART + STRATIFIED}
SPLITS = {"": "30x50%", STRATIFIED: "stratified 30x50%"}
SWAPPED_PART = f"{PART}-swapped"  # languagelog with labels and words exchanged, on random halves
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
GROUP = "Group-JMI-Rand"
# Names in the results and in the paper; Group-JMI-Rand has a name for each reading.
OTHERS = {"mim": "MIM-BR", "ela-chi": "ELA-CHI", "ami": "AMI", "pmu": "PMU", "fimf": "FIMF", "scls": "SCLS"}
PRINTED_RANKS: dict[str, dict[str, float]] = printed_values("group_jmi")["figure 3"]
FIRST = {"hamming_loss": "SCLS", "ranking_loss": GROUP, "coverage": GROUP, "macro_f1": GROUP}


def protocols(*, full: bool = False, sets: Sequence[str] | None = None, data_home: DataHome = None) -> dict[str, Protocol]:
    """Return the experiment: with ``full``, 30 repetitions on nine sets, otherwise 3 on two small ones.

    With ``full``, stratified halves are run as well, and languagelog with labels and words exchanged.

    >>> protocols(full=True)["table2"]
    Protocol: 9 data sets, 10 methods (single-jmi, ...), 50 numbers of features, 1 classifier, 4 measures, 30x50%
    """
    names = selected_sets((*SETS, SWAPPED), sets, (*SETS, SWAPPED) if full else QUICK_SETS)
    plain, swapped = [name for name in names if name != SWAPPED], [name for name in names if name == SWAPPED]
    if not full:
        return {PART: _protocol(names, data_home, "3x50%")}
    parts = {
        PART: (plain, SPLITS[""]),
        PART + STRATIFIED: (names, SPLITS[STRATIFIED]),
        SWAPPED_PART: (swapped, SPLITS[""]),
    }
    return {part: _protocol(chosen, data_home, splits) for part, (chosen, splits) in parts.items() if chosen}


def _protocol(names: Sequence[str], data_home: DataHome, splits: str) -> Protocol:
    return Protocol(
        sources(names, data_home, **DATA),
        as_published([*METHODS, NORMALIZED_GROUP, *({"name": name, "discretizer": FIVE_BINS} for name in OTHERS)]),
        n_features="1..50",
        classifiers=[{"name": "mlknn", "k": 7}],
        measures=list(PRINTED),
        splits=splits,
        baselines=[],
        convention=ABSENT_LABELS_ZERO,
        scale=None,
    )


def result_tables(results: Results) -> list[ResultTable]:
    """Return table 2, figure 3 and the claims, for each reading and kind of halves."""
    tables = []
    for halves, name in HALVES.items():
        for reading, methods in READINGS.items() if name in results else ():
            part, words = results[name], f"Group-JMI-Rand by {reading}, {halves}"
            swapped = results.get(SWAPPED_PART) if name == PART else part
            tables += [*table2(part, reading, words, swapped), *rank_tables(part, methods[2], words)]
            tables.append(claims_table(claims(part, reading), words, [name]))
    return tables


class PairedRanks(NamedTuple):
    """Published ranks and ours of a data set, and whether the same method is first."""

    dataset: str
    printed: tuple[float, ...]
    ours: tuple[float, ...]
    same_winner: bool


def paired_ranks(results: StudyResults, measure: str, reading: str, sets: Sequence[str] = SETS) -> list[PairedRanks]:
    """Return the published ranks and ours of each of the ``sets`` that was run."""
    methods = READINGS[reading]
    grid = results.ranks(measure, methods=methods)
    winners = grid.winners()
    rows = []
    for name in sets:
        printed = PRINTED[measure]["languagelog" if name == SWAPPED else name]
        if name in winners:
            first = methods[printed.index(min(printed))]
            ours = tuple(grid.value(name, method) for method in methods)
            rows.append(PairedRanks(name, printed, ours, first in winners[name]))
    return rows


def table2(results: StudyResults, reading: str, words: str = "", swapped: StudyResults | None = None) -> list[ResultTable]:
    """Return ranks of the paper and ours, a table for each measure; the last has a summary of the agreement.

    The exchanged languagelog has a row in each table, but does not count: the file itself does.
    """
    words = words or f"Group-JMI-Rand by {reading}"
    columns = ("data set", ">published S", ">J", ">G", ">ours S", ">J", ">G", "winner")
    tables, agrees, differences = [], [], []
    exchanged: list[float] = []
    for measure in PRINTED:
        rows: list[tuple[str, ...]] = []
        grades: dict[tuple[int, int], str] = {}
        counted = paired_ranks(results, measure, reading)
        extra = [] if swapped is None else paired_ranks(swapped, measure, reading, [SWAPPED])
        for name, printed, ours, same_winner in [*counted, *extra]:
            grades |= {
                (len(rows), column): grade(rank, theirs, NEAR)
                for column, (theirs, rank) in enumerate(zip(printed, ours, strict=True), start=4)
            }
            numbers = [f"{rank:.2f}" for rank in (*printed, *ours)]
            rows.append((name, *numbers, "same" if same_winner else "other"))
            gaps = [abs(theirs - rank) for theirs, rank in zip(printed, ours, strict=True)]
            if name == SWAPPED:
                exchanged += gaps
            else:
                agrees.append(same_winner)
                differences += gaps
        tables.append(ResultTable(f"Table 2, {NAMES[measure]}, {words}", columns, rows, grades=grades))
    near = sum(difference <= NEAR for difference in differences)
    summary = (
        f"By {reading} the published winner (S: Single-JMI, J: Joint-JMI, G: Group-JMI-Rand) is ours in {sum(agrees)} of "
        f"{len(agrees)} settings; {near} of {len(differences)} ranks are within {NEAR:g} of the published ones, "
        f"{np.mean(differences) if differences else 0.0:.2f} apart on average."
    )
    if exchanged:
        summary += f" Ranks of {SWAPPED} are {np.mean(exchanged):.2f} apart from those printed for languagelog."
    return [*tables[:-1], replace(tables[-1], summary=summary, compared=Compared(len(differences), near, words))]


def claims(results: StudyResults, reading: str) -> list[Claim]:
    """Return the claims of section 4.1, that Group-JMI-Rand is first in most settings, and of figure 3."""
    methods, wins = READINGS[reading], [0.0, 0.0, 0.0]
    for measure in PRINTED:
        for name, best in results.ranks(measure, methods=methods).winners().items():
            for method in best if name in SETS else ():
                wins[methods.index(method)] += 1 / len(best)
    text = "Table 2: Group-JMI-Rand is first in 20 of 36 settings, Joint-JMI in 13, Single-JMI in 3: it outperforms both."
    observed = f"Group-JMI-Rand {wins[2]:g}, Joint-JMI {wins[1]:g}, Single-JMI {wins[0]:g} of {sum(wins):g}"
    return [Claim(text, wins[2] == max(wins), observed), *rank_claims(results, methods[2])]


def rank_comparison(results: StudyResults, measure: str, group: str) -> Comparison | None:
    """Compare the methods over data sets by their ranks over the numbers of features; None with fewer than two sets."""
    methods = {group: GROUP, **OTHERS}
    if measure not in results.measures or not set(methods) <= set(results.methods):
        return None
    grid = results.ranks(measure, methods=list(methods))
    table = np.array([[grid.value(name, method) for method in methods] for name in grid.rows if name != SWAPPED])
    table = table[np.isfinite(table).all(axis=1)]
    return compare(table, lower_is_better=True, methods=list(methods.values())) if len(table) > 1 else None


def rank_tables(results: StudyResults, group: str, words: str) -> list[ResultTable]:
    """Return published average ranks and ours, a table for each measure."""
    tables = []
    for measure, printed in PRINTED_RANKS.items():
        compared = rank_comparison(results, measure, group)
        if compared is None:
            continue
        ours = _average_ranks(compared)
        rows = [
            (name, f"{rank:.3f}", f"{ours[name]:.3f}", str(_position(name, printed)), str(_position(name, ours)))
            for name, rank in printed.items()
        ]
        columns = ("method", ">published rank", ">our rank", ">published position", ">our position")
        title = f"Figure 3, {NAMES[measure]}, {words}: average ranks on {compared.n_datasets} data sets"
        correlation = float(spearmanr(list(printed.values()), [ours[name] for name in printed]).statistic)
        summary = f"Rank correlation with the published ranks {correlation:.2f}. Friedman's test shows "
        summary += "differences" if compared.friedman.p_value < compared.alpha else "no difference"
        if compared.critical_difference is not None:
            summary += f"; the critical difference of average ranks is {compared.critical_difference:.2f}"
        tables.append(ResultTable(title, columns, rows, f"{summary}."))
    return tables


def rank_claims(results: StudyResults, group: str) -> list[Claim]:
    """Return the claims of section 4.2 about the four diagrams."""
    listed, tops, apart = [], [], []
    for measure, first in FIRST.items():
        text = f"Figure 3: {first} is first in {NAMES[measure]}."
        compared = rank_comparison(results, measure, group)
        if compared is None:
            listed.append(not_run(text))
            continue
        ranks = _average_ranks(compared)
        leading = ", ".join(f"{name} {ranks[name]:.2f}" for name in sorted(ranks, key=lambda name: ranks[name])[:3])
        listed.append(Claim(text, _position(first, ranks) == 1, f"{leading} ({compared.n_datasets} of 9 sets)"))
        tops.append(all(_position(name, ranks) <= 2 for name in (GROUP, "SCLS")))
        apart.append(bool(compared.different[compared.methods.index(GROUP), compared.methods.index("SCLS")]))
    two, same = "Group-JMI-Rand and SCLS are always in the top two positions.", "They never differ significantly."
    if not tops:
        return [*listed, not_run(two), not_run(same)]
    listed.append(Claim(two, all(tops), f"in {sum(tops)} of {len(tops)} measures"))
    return [*listed, Claim(same, not any(apart), f"they do in {sum(apart)} of {len(apart)} measures")]


def _average_ranks(compared: Comparison) -> dict[str, float]:
    return dict(zip(compared.methods, map(float, compared.average_ranks), strict=True))


def _position(name: str, ranks: Mapping[str, float]) -> int:
    """Return the position from 1; equal ranks have the same position."""
    return 1 + sum(rank < ranks[name] - 1e-9 for rank in ranks.values())


def figures(results: Results) -> Figures:
    """Draw the diagrams of figure 3 for each reading and kind of halves."""
    names = {READINGS["equation 3"][2]: "figure3", NORMALIZED: "figure3-normalized"}
    drawn = {
        f"{name}{part.removeprefix(PART)}": rank_diagrams(results[part], group)
        for part in HALVES.values()
        if part in results
        for group, name in names.items()
    }
    return {name: figure for name, figure in drawn.items() if figure is not None}


def rank_diagrams(results: StudyResults, group: str) -> "Figure | None":
    """Draw the four diagrams in one column."""
    from labelsieve.report.figures import critical_difference_diagram
    from labelsieve.report.figures.style import FONT, WIDTH, pyplot

    found = {measure: rank_comparison(results, measure, group) for measure in PRINTED_RANKS}
    comparisons = {measure: compared for measure, compared in found.items() if compared is not None}
    if not comparisons:
        return None
    drawn: Figure = pyplot().figure(figsize=(WIDTH, 1.75 * len(comparisons)))
    for row, (measure, compared) in enumerate(comparisons.items()):
        top = 1 - row / len(comparisons)
        drawn.text(0.5, top - 0.01, NAMES[measure], ha="center", va="top", fontsize=FONT + 1, weight="bold")
        ax = drawn.add_axes((0.0, top - 0.97 / len(comparisons), 1.0, 0.83 / len(comparisons)))
        critical_difference_diagram(compared, ax=ax)
    return drawn


REPLICATION = Replication.of("group_jmi", "group-jmi-table2", protocols, result_tables, figures)
