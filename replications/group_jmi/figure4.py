"""Figure 4 of Sechidis, Spyromitros-Xioufis and Vlahavas (2019): Group-JMI-Rand against RReliefF on six regression sets.

The paper draws curves without numbers; only the ticks of the axes can be read.
"""

from collections.abc import Sequence

from labelsieve.studies import Protocol, StudyResults
from replications.curves import CurveDifference, curve_difference, mean_with_interval, results_panels
from replications.group_jmi.table2 import FIVE_BINS, NORMALIZED, NORMALIZED_GROUP
from replications.replication import (
    Claim,
    DataHome,
    Figures,
    Replication,
    Results,
    ResultTable,
    as_published,
    claims_table,
    not_run,
    printed_values,
    selected_sets,
    sources,
)

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
TICKS: dict[str, tuple[float, float] | None] = printed_values("group_jmi")["ticks of figure 4"]
SETS = tuple(TICKS)
BETTER, SAME, WORSE = "best", "the same as RReliefF 50", "outperformed by both RReliefF"
STATED = {"atp1d": BETTER, "atp7d": BETTER, "oes10": BETTER, "osales": BETTER, "oes97": SAME, "scm20d": WORSE}


def protocols(*, full: bool = False, sets: Sequence[str] | None = None, data_home: DataHome = None) -> dict[str, Protocol]:
    """Return the experiment: with ``full``, 30 repetitions on six sets, otherwise 3 on two small ones.

    >>> protocols(full=True)["figure4"]
    Protocol: 6 data sets, 4 methods (rrelieff-10, ...), 50 numbers of features, 1 classifier, 1 measure, 30x50%
    """
    experiment = Protocol(
        sources(
            selected_sets(SETS, sets, SETS if full else ("atp7d", "oes97")), data_home, osales={"missing_values": "train-mean"}
        ),
        as_published(
            [
                *({"name": name, "criterion": "rrelieff", "n_neighbors": k} for name, k in RELIEF.items()),
                {"name": READINGS["equation 3"], "discretizer": FIVE_BINS},
                NORMALIZED_GROUP,
            ]
        ),
        n_features="1..50",
        classifiers=[{"name": "knn", "k": 10}],
        measures=[MEASURE],
        splits="30x50%" if full else "3x50%",
        baselines=[],
        scale=None,
    )
    return {PART: experiment}


def claims(results: StudyResults, reading: str) -> list[Claim]:
    """Return the claims of section 5: the best method on each data set."""
    return [_claim(results, READINGS[reading], name) for name in SETS]


def _claim(results: StudyResults, group: str, dataset: str) -> Claim:
    text = f"Group-JMI-Rand is {STATED[dataset]} on {dataset}."
    by_label = {LABELS[other]: curve_difference(results, dataset, MEASURE, group, other) for other in RELIEF}
    differences = {label: gap for label, gap in by_label.items() if gap is not None}
    if len(differences) < len(by_label):
        return not_run(text)
    ten, fifty = differences.values()
    holds = {BETTER: ten.mean < 0 and fifty.mean < 0, SAME: not fifty.is_significant, WORSE: ten.mean > 0 and fifty.mean > 0}[
        STATED[dataset]
    ]
    observed = ", ".join(f"{_difference_text(gap)} against {name}" for name, gap in differences.items())
    return Claim(text, holds, f"mean difference {observed}", (dataset,))


def _difference_text(gap: CurveDifference) -> str:
    return f"{gap.mean:+.4f}{'' if gap.is_significant else ' (not significant)'}"


def result_tables(results: Results) -> list[ResultTable]:
    """Return means over the numbers of features with intervals, the range of our curves and of the paper's axes, and claims."""
    part = results[PART]
    grid = part.means(MEASURE)
    rows, spans = [], []
    for name in SETS:
        curves = [part.curve(name, method, MEASURE)[1] for method in LABELS]
        if not all(curve.size for curve in curves):
            continue
        cells = []
        for method in LABELS:
            cells.append(mean_with_interval(grid.value(name, method), grid.half_width(name, method)))
        rows.append((name, *cells))
        means = [curve.mean(axis=0) for curve in curves]
        lowest, highest = min(curve.min() for curve in means), max(curve.max() for curve in means)
        ticks = TICKS[name]
        inside = "-" if ticks is None else "yes" if ticks[0] - 0.05 <= lowest and highest <= ticks[1] + 0.05 else "no"
        printed = ("-", "-") if ticks is None else tuple(f"{tick:.2f}" for tick in ticks)
        spans.append((name, *printed, f"{lowest:.3f}", f"{highest:.3f}", inside))
    mean = "RRMSE, means over the numbers of features; 0.8135(65) has a 95 % interval of 0.0065 to both sides"
    ticks_head = ("data set", ">lowest tick, paper", ">highest tick, paper", ">lowest here", ">highest here", "within")
    tables = [
        ResultTable(mean, ("data set", *(f">{label}" for label in LABELS.values())), rows),
        ResultTable("Range of the curves (within: not more than 0.05 beyond the ticks of the paper's axis)", ticks_head, spans),
    ]
    for reading, group in READINGS.items():
        tables += [_ranks(part, group, reading), claims_table(claims(part, reading), f"Group-JMI-Rand by {reading}")]
    return tables


def _ranks(results: StudyResults, group: str, reading: str) -> ResultTable:
    """Return ranks over the numbers of features, which the paper has for labels only."""
    methods = [*RELIEF, group]
    grid = results.ranks(MEASURE, methods=methods)
    best = grid.winners()
    rows = [
        (name, *(f"{grid.value(name, method):.2f}{'*' if method in best[name] else ' '}" for method in methods))
        for name in SETS
        if name in best
    ]
    columns = ("data set", *(f">{LABELS[method]}" for method in methods))
    return ResultTable(f"Average ranks over the numbers of features, Group-JMI-Rand by {reading}; * the best", columns, rows)


def figures(results: Results) -> Figures:
    """Draw the six panels of figure 4."""
    panels = [[(name, MEASURE) for name in SETS[start : start + 3]] for start in (0, 3)]
    figure = results_panels(results[PART], panels, LABELS)
    return {} if figure is None else {"figure4": figure}


REPLICATION = Replication.of("group_jmi", "group-jmi-regression", protocols, result_tables, figures)
