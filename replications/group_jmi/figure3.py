"""Figure 3 of Sechidis, Spyromitros-Xioufis and Vlahavas (2019): Group-JMI-Rand and six criteria of the literature.

Four critical difference diagrams with printed average ranks. They are multiples of 1/18: on each of the nine data sets the
methods were ranked once (average ranks for ties), by their ranks over the numbers of features.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import spearmanr

from labelsieve.statistics import Comparison, compare
from labelsieve.studies.results import StudyResults
from replications.claims import Claim, ResultTable, not_run
from replications.panels import NAMES
from replications.replication import printed_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUP = "Group-JMI-Rand"
# Names in the results and in the paper; Group-JMI-Rand has a name for each reading.
OTHERS = {"mim": "MIM-BR", "ela-chi": "ELA-CHI", "ami": "AMI", "pmu": "PMU", "fimf": "FIMF", "scls": "SCLS"}
PRINTED: dict[str, dict[str, float]] = printed_values("group_jmi")["figure 3"]
FIRST = {"hamming_loss": "SCLS", "ranking_loss": GROUP, "coverage": GROUP, "macro_f1": GROUP}


def comparison(results: StudyResults, measure: str, group: str) -> Comparison | None:
    """Compare the methods over data sets by their ranks over the numbers of features; None with fewer than two sets."""
    methods = {group: GROUP, **OTHERS}
    if measure not in results.measures or not set(methods) <= set(results.methods):
        return None
    grid = results.ranks(measure, methods=list(methods))
    table = np.array([[grid.value(name, method) for method in methods] for name in grid.rows])
    table = table[np.isfinite(table).all(axis=1)]
    return compare(table, lower_is_better=True, methods=list(methods.values())) if len(table) > 1 else None


def result_tables(results: StudyResults, group: str, reading: str) -> list[ResultTable]:
    """Return published average ranks and ours, a table for each measure."""
    tables = []
    for measure, printed in PRINTED.items():
        compared = comparison(results, measure, group)
        if compared is None:
            continue
        ours = _average_ranks(compared)
        rows = [
            (name, f"{rank:.3f}", f"{ours[name]:.3f}", str(_position(name, printed)), str(_position(name, ours)))
            for name, rank in printed.items()
        ]
        columns = ("method", ">published rank", ">our rank", ">published position", ">our position")
        title = f"Figure 3, {NAMES[measure]}, Group-JMI-Rand by {reading}: average ranks on {compared.n_datasets} data sets"
        correlation = float(spearmanr(list(printed.values()), [ours[name] for name in printed]).statistic)
        summary = f"Rank correlation with the published ranks {correlation:.2f}. Friedman's test shows "
        summary += "differences" if compared.friedman.p_value < compared.alpha else "no difference"
        if compared.critical_difference is not None:
            summary += f"; the critical difference of average ranks is {compared.critical_difference:.2f}"
        tables.append(ResultTable(title, columns, rows, f"{summary}."))
    return tables


def _average_ranks(compared: Comparison) -> dict[str, float]:
    return dict(zip(compared.methods, map(float, compared.average_ranks), strict=True))


def _position(name: str, ranks: Mapping[str, float]) -> int:
    """Return the position from 1; equal ranks have the same position."""
    return 1 + sum(rank < ranks[name] - 1e-9 for rank in ranks.values())


def claims(results: StudyResults, group: str) -> list[Claim]:
    """Return the claims of section 4.2 about the four diagrams."""
    listed, tops, apart = [], [], []
    for measure, first in FIRST.items():
        text = f"Figure 3: {first} is first in {NAMES[measure]}."
        compared = comparison(results, measure, group)
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


def figure(results: StudyResults, group: str) -> "Figure | None":
    """Draw the four diagrams in one column."""
    from labelsieve.report.figures import critical_difference_diagram
    from labelsieve.report.figures.style import FONT, WIDTH, pyplot

    comparisons = {measure: compared for measure in PRINTED if (compared := comparison(results, measure, group)) is not None}
    if not comparisons:
        return None
    drawn: Figure = pyplot().figure(figsize=(WIDTH, 1.75 * len(comparisons)))
    for row, (measure, comparison_found) in enumerate(comparisons.items()):
        top = 1 - row / len(comparisons)
        drawn.text(0.5, top - 0.01, NAMES[measure], ha="center", va="top", fontsize=FONT + 1, weight="bold")
        ax = drawn.add_axes((0.0, top - 0.97 / len(comparisons), 1.0, 0.83 / len(comparisons)))
        critical_difference_diagram(comparison_found, ax=ax)
    return drawn
