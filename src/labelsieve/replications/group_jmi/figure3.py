"""Figure 3 of Sechidis, Spyromitros-Xioufis and Vlahavas (2019): Group-JMI-Rand beside six criteria of the literature.

Four critical-difference diagrams, whose average ranks are printed. They are multiples of 1/18: on each of the nine data sets
the methods were ranked once (ties shared), by their ranks over the numbers of features.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import spearmanr

from labelsieve.replications.claims import Claim, not_run
from labelsieve.replications.curve_panels import NAMES
from labelsieve.replications.replication import Section
from labelsieve.statistics import Comparison, compare
from labelsieve.studies.results.study_results import StudyResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUP = "Group-JMI-Rand"
# Names of the study; Group-JMI-Rand has one for each reading.
OTHERS = {"mim": "MIM-BR", "ela-chi": "ELA-CHI", "ami": "AMI", "pmu": "PMU", "fimf": "FIMF", "scls": "SCLS"}
PRINTED: dict[str, dict[str, float]] = {
    "hamming_loss": {
        "SCLS": 2.222,
        GROUP: 2.889,
        "AMI": 4.222,
        "MIM-BR": 4.333,
        "FIMF": 4.444,
        "PMU": 4.778,
        "ELA-CHI": 5.111,
    },
    "ranking_loss": {
        GROUP: 2.444,
        "SCLS": 3.0,
        "ELA-CHI": 3.444,
        "AMI": 4.278,
        "MIM-BR": 4.5,
        "PMU": 4.889,
        "FIMF": 5.444,
    },
    "coverage": {
        GROUP: 2.5,
        "SCLS": 3.111,
        "AMI": 4.056,
        "ELA-CHI": 4.278,
        "MIM-BR": 4.278,
        "PMU": 4.778,
        "FIMF": 5.0,
    },
    "macro_f1": {
        GROUP: 2.556,
        "SCLS": 2.889,
        "MIM-BR": 3.833,
        "AMI": 3.944,
        "ELA-CHI": 4.444,
        "PMU": 5.111,
        "FIMF": 5.222,
    },
}
FIRST = {"hamming_loss": "SCLS", "ranking_loss": GROUP, "coverage": GROUP, "macro_f1": GROUP}


def comparison(results: StudyResults, measure: str, group: str) -> Comparison | None:
    """Friedman's and Nemenyi's tests over the data sets, on ranks over the numbers of features; None without two sets."""
    methods = {group: GROUP, **OTHERS}
    if measure not in results.measures or not set(methods) <= set(results.methods):
        return None
    grid = results.ranks(measure, methods=list(methods))
    table = np.array([[grid.value(name, method) for method in methods] for name in grid.rows])
    table = table[np.isfinite(table).all(axis=1)]
    return compare(table, lower_is_better=True, methods=list(methods.values())) if len(table) > 1 else None


def sections(results: StudyResults, group: str, reading: str) -> list[Section]:
    """Published and our average ranks, a table for each measure."""
    found = []
    for measure, printed in PRINTED.items():
        own = comparison(results, measure, group)
        if own is None:
            continue
        ours = dict(zip(own.methods, map(float, own.average_ranks), strict=True))
        rows = [
            (name, f"{rank:.3f}", f"{ours[name]:.3f}", str(_place(name, printed)), str(_place(name, ours)))
            for name, rank in printed.items()
        ]
        columns = ("method", ">published rank", ">our rank", ">published place", ">our place")
        title = f"Figure 3, {NAMES[measure]}, Group-JMI-Rand by {reading}: average ranks on {own.n_datasets} data sets"
        alike = float(spearmanr(list(printed.values()), [ours[name] for name in printed]).statistic)
        tests = (
            "Friedman's test shows differences" if own.friedman.p_value < own.alpha else "Friedman's test shows no difference"
        )
        distance = (
            ""
            if own.critical_difference is None
            else f", and ranks less than {own.critical_difference:.2f} apart may differ by chance"
        )
        found.append(
            Section(title, columns, rows, f"Rank correlation with the published ranks {alike:.2f}. {tests}{distance}.")
        )
    return found


def _place(name: str, ranks: Mapping[str, float]) -> int:
    """From 1; those with the same rank share the best place."""
    return 1 + sum(rank < ranks[name] - 1e-9 for rank in ranks.values())


def claims(results: StudyResults, group: str) -> list[Claim]:
    """What section 4.2 says about the four diagrams."""
    listed, tops, apart = [], [], []
    for measure, first in FIRST.items():
        said = f"Figure 3: {first} is first in {NAMES[measure]}."
        own = comparison(results, measure, group)
        if own is None:
            listed.append(not_run(said))
            continue
        ranks = dict(zip(own.methods, map(float, own.average_ranks), strict=True))
        leading = ", ".join(f"{name} {ranks[name]:.2f}" for name in sorted(ranks, key=lambda name: ranks[name])[:3])
        listed.append(Claim(said, _place(first, ranks) == 1, f"{leading} ({own.n_datasets} of 9 sets)"))
        tops.append(all(_place(name, ranks) <= 2 for name in (GROUP, "SCLS")))
        apart.append(bool(own.different[own.methods.index(GROUP), own.methods.index("SCLS")]))
    two, same = "Group-JMI-Rand and SCLS are always in the top two positions.", "They never differ significantly."
    if not tops:
        return [*listed, not_run(two), not_run(same)]
    listed.append(Claim(two, all(tops), f"in {sum(tops)} of {len(tops)} measures"))
    return [*listed, Claim(same, not any(apart), f"they do in {sum(apart)} of {len(apart)} measures")]


def figure(results: StudyResults, group: str) -> "Figure | None":
    """The four diagrams, one below the other."""
    from labelsieve.report.figures import critical_difference_diagram
    from labelsieve.report.figures.figure_style import FONT, WIDTH, pyplot

    found = {measure: own for measure in PRINTED if (own := comparison(results, measure, group)) is not None}
    if not found:
        return None
    drawn: Figure = pyplot().figure(figsize=(WIDTH, 1.75 * len(found)))
    for place, (measure, own) in enumerate(found.items()):
        top = 1 - place / len(found)
        drawn.text(0.5, top - 0.01, NAMES[measure], ha="center", va="top", fontsize=FONT + 1, weight="bold")
        ax = drawn.add_axes((0.0, top - 0.97 / len(found), 1.0, 0.83 / len(found)))
        critical_difference_diagram(own, ax=ax)
    return drawn
