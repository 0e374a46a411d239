"""Figure 4 of Sechidis, Spyromitros-Xioufis and Vlahavas (2019): Group-JMI-Rand against RReliefF on six regression sets.

The paper draws curves; of numbers, only the ticks of its axes can be read.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from labelsieve.replications.claims import Claim, claims_section, not_run
from labelsieve.replications.compare_curves import Duel, duel
from labelsieve.replications.curve_panels import results_panels
from labelsieve.replications.group_jmi.table2 import NORMALIZED, PAPER
from labelsieve.replications.replication import Replication, Results, Section, selected_sets, sources
from labelsieve.studies.protocol.protocol import Protocol
from labelsieve.studies.results.study_results import StudyResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Sechidis et al. 2019, figure 4: Group-JMI-Rand and RReliefF for numeric targets"
PART = "figure4"
MEASURE = "rrmse"
RELIEF = {"rrelieff-10": 10, "rrelieff-50": 50}
READINGS = {"equation 3": "group-jmi-rand", "the author's program": NORMALIZED}
LABELS = {
    "rrelieff-10": "RReliefF 10",
    "rrelieff-50": "RReliefF 50",
    READINGS["equation 3"]: "Group-JMI-Rand",
    NORMALIZED: "Group-JMI-Rand, normalized",
}
# The lowest and the highest tick of the axes that are legible.
TICKS: dict[str, tuple[float, float] | None] = {
    "atp1d": (0.6, 1.0),
    "atp7d": (0.8, 1.1),
    "oes10": (0.8, 1.0),
    "oes97": (0.95, 1.05),
    "osales": (0.95, 1.1),
    "scm20d": None,
}
SETS = tuple(TICKS)
BETTER, SAME, WORSE = "best", "the same as RReliefF 50", "outperformed by both RReliefF"
SAID = {"atp1d": BETTER, "atp7d": BETTER, "oes10": BETTER, "osales": BETTER, "oes97": SAME, "scm20d": WORSE}

CHOICES = {
    "repetitions": "30 random halves, as for the multi-label data; the section on regression does not say.",
    "numbers of features": "1 to 50, as the figure draws them.",
    "normalized": "Both readings of Group-JMI-Rand: equation 3, and the author's program, which divides information by the "
    "root of the entropies.",
    "RRMSE": "Relative to the means of the training rows, averaged over the targets.",
    "distances": "Features enter the distances of the regression as they are, without scaling; RReliefF scales them to [0, 1] "
    "itself. Absolute values hang on this.",
    "osales": "10,012 values are missing and are filled with means of the training rows. The file has 401 features; the paper "
    "counts 413, which is 401 and the 12 targets.",
    "best": "By the mean over all numbers of features. Two methods are the same where their difference stays within its "
    "95 % interval over the repetitions.",
}


def protocols(
    *, full: bool = False, sets: Sequence[str] | None = None, data_home: str | os.PathLike[str] | None = None
) -> dict[str, Protocol]:
    """The experiment: ``full`` is 30 repetitions on six sets, otherwise 3 on two small ones.

    >>> protocols(full=True)["figure4"]
    Protocol: 6 data sets, 4 methods (rrelieff-10, ...), 50 numbers of features, 1 classifier, 1 measure, 30x50%
    """
    five = {"name": "equal-width", "n_bins": 5}
    experiment = Protocol(
        sources(
            selected_sets(SETS, sets, SETS if full else ("atp7d", "oes97")), data_home, osales={"missing_values": "train-mean"}
        ),
        [
            *({"name": name, "criterion": "rrelieff", "n_neighbors": k} for name, k in RELIEF.items()),
            {"name": READINGS["equation 3"], "discretizer": five},
            {
                "name": NORMALIZED,
                "criterion": {"name": "jmi", "normalized": True},
                "targets": "group-rand",
                "discretizer": five,
            },
        ],
        n_features="1..50",
        classifiers=[{"name": "knn", "k": 10}],
        measures=[MEASURE],
        splits="30x50%" if full else "3x50%",
        baselines=[],
    )
    return {PART: experiment}


def claims(results: StudyResults, reading: str) -> list[Claim]:
    """Which method is best on which set, as section 5 has it."""
    return [_claim(results, READINGS[reading], name) for name in SETS]


def _claim(results: StudyResults, group: str, dataset: str) -> Claim:
    said = f"Group-JMI-Rand is {SAID[dataset]} on {dataset}."
    found = {LABELS[other]: duel(results, dataset, MEASURE, group, other) for other in RELIEF}
    duels = {label: one for label, one in found.items() if one is not None}
    if len(duels) < len(found):
        return not_run(said)
    ten, fifty = duels.values()
    holds = {
        BETTER: ten.mean < 0 and fifty.mean < 0,
        SAME: not fifty.is_sure,
        WORSE: ten.mean > 0 and fifty.mean > 0,
    }[SAID[dataset]]
    return Claim(said, holds, "mean difference " + ", ".join(f"{_told(one)} against {label}" for label, one in duels.items()))


def _told(one: Duel) -> str:
    return f"{one.mean:+.4f}{'' if one.is_sure else ' (not sure)'}"


def sections(results: Results) -> list[Section]:
    """Means over the numbers of features with their intervals, the span of our curves beside the paper's axes, the claims."""
    own = results[PART]
    grid = own.means(MEASURE)
    rows, spans = [], []
    for name in SETS:
        curves = [own.curve(name, method, MEASURE)[1] for method in LABELS]
        if not all(one.size for one in curves):
            continue
        cells = []
        for method in LABELS:
            half = grid.half_width(name, method)
            cells.append(f"{grid.value(name, method):.4f}" + ("" if half is None else f"({round(half * 1e4)})"))
        rows.append((name, *cells))
        means = [one.mean(axis=0) for one in curves]
        lowest, highest = min(one.min() for one in means), max(one.max() for one in means)
        ticks = TICKS[name]
        inside = "-" if ticks is None else "yes" if ticks[0] - 0.05 <= lowest and highest <= ticks[1] + 0.05 else "no"
        printed = ("-", "-") if ticks is None else tuple(f"{one:.2f}" for one in ticks)
        spans.append((name, *printed, f"{lowest:.3f}", f"{highest:.3f}", inside))
    mean = "RRMSE, means over the numbers of features; 0.8135(65) has a 95 % interval of 0.0065 to both sides"
    ticks_head = ("data set", ">lowest tick, paper", ">highest tick, paper", ">lowest here", ">highest here", "within")
    found = [
        Section(mean, ("data set", *(f">{label}" for label in LABELS.values())), rows),
        Section("Where the curves lie (within: not more than 0.05 beyond the ticks of the paper's axis)", ticks_head, spans),
    ]
    for reading, group in READINGS.items():
        found += [_ranks(own, group, reading), claims_section(claims(own, reading), f"Claims, Group-JMI-Rand by {reading}")]
    return found


def _ranks(results: StudyResults, group: str, reading: str) -> Section:
    """Ranks over the numbers of features, as the paper has them for labels: a second look at the same curves."""
    methods = [*RELIEF, group]
    grid = results.ranks(MEASURE, methods=methods)
    best = grid.winners()
    rows = [
        (name, *(f"{grid.value(name, one):.2f}{'*' if one in best[name] else ' '}" for one in methods))
        for name in SETS
        if name in best
    ]
    columns = ("data set", *(f">{LABELS[one]}" for one in methods))
    return Section(f"Average ranks over the numbers of features, Group-JMI-Rand by {reading}; * the best", columns, rows)


def figures(results: Results) -> "dict[str, Figure]":
    """The six panels of figure 4."""
    panels = [[(name, MEASURE) for name in SETS[start : start + 3]] for start in (0, 3)]
    figure = results_panels(results[PART], panels, LABELS)
    return {} if figure is None else {"figure4": figure}


STUDY = Replication("group-jmi-regression", TITLE, PAPER, CHOICES, protocols, sections, figures)
