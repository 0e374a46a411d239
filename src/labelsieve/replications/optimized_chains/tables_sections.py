"""Tables 3 to 7 and figure 8 of Sun and Kudo (2017) with our numbers, and the claims of the paper."""

from typing import TYPE_CHECKING

import numpy as np

from labelsieve.replications.claims import ResultTable, claims_table
from labelsieve.replications.optimized_chains.setup import MEASURES, WORDS
from labelsieve.replications.optimized_chains.tables_claims import claims
from labelsieve.replications.optimized_chains.tables_values import (
    FRIEDMAN,
    METHODS,
    READINGS,
    SHARES,
    WRITTEN,
    cell,
    complete_sets,
    grid,
    held_out_value,
    printed,
    sets_in,
)
from labelsieve.replications.panels import diagram_panels
from labelsieve.replications.replication import Results
from labelsieve.statistics import Comparison, compare

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCE = dict.fromkeys(MEASURES, 0.02) | {"hamming_score": 0.005}  # all methods are near 1 where labels are rare
TABLE = dict(zip(MEASURES, (3, 4, 5, 6), strict=True))
TUNED_METHODS = ("MDDM", "oCC", "EoCC")
MIN_SETS = 3  # data sets for ranks and tests


def result_tables(results: Results) -> list[ResultTable]:
    """Return the tables for both readings, ranks, every number of features, and the claims."""
    found = []
    for reading in READINGS:
        if any(cell(results, reading, name, "oCC", "exact_match") for name in sets_in(results)):
            found += [_table(results, reading, measure) for measure in MEASURES]
            found += _ranks(results, reading)
            found += [_every_share(results, reading, measure) for measure in MEASURES]
    for reading in READINGS:
        if len(complete_sets(results, reading)) >= MIN_SETS:
            found.append(claims_table(claims(results, reading), reading))
    return found


def _table(results: Results, reading: str, measure: str) -> ResultTable:
    rows, near, run, same, winners = [], 0, 0, 0, 0
    tolerance = TOLERANCE[measure]
    for name in sets_in(results):
        cells = [cell(results, reading, name, method, measure) for method in METHODS]
        theirs = printed(name, measure)
        shown = []
        for one, value in zip(cells, theirs, strict=True):
            close = one is not None and abs(one.best - value) <= tolerance
            shown.append("-" if one is None else f"{one.best:.3f}" + (" " if close else "*"))
            near, run = near + close, run + (one is not None)
        rows += [(name, *shown), ("  printed", *(f"{value:.3f} " for value in theirs))]
        if all(one is not None for one in cells) and len({round(value, 3) for value in theirs}) > 1:
            ours = [one.best for one in cells if one is not None]
            winners += 1
            same += theirs[int(np.argmax(ours))] == max(theirs)
    summary = f"{near} of {run} cells are within {tolerance} of those printed; * marks the others."
    if winners:
        summary += f" The printed winner is ours on {same} of {winners} data sets."
    title = f"Table {TABLE[measure]}, {WORDS[measure]}, {reading}; best parameter on the test folds"
    return ResultTable(title, ("data set", *(f">{method}" for method in METHODS)), rows, summary)


def _ranks(results: Results, reading: str) -> list[ResultTable]:
    names = complete_sets(results, reading)
    if len(names) < MIN_SETS:
        return []
    rows, tests = [], []
    for measure in MEASURES:
        ours, theirs = compared(results, reading, measure)
        words = WORDS[measure]
        for name, who, one in ((words, "ours", ours), ("", "printed", theirs)):
            rows.append((name, who, *(f"{rank:.2f}" for rank in one.average_ranks)))
        tests.append((words, *(f"{one:.2f}" for one in (ours.friedman.f, theirs.friedman.f, FRIEDMAN[measure]))))
    title = f"Average ranks over {len(names)} data sets, {reading}"
    columns = ("measure", "whose", *(f">{method}" for method in METHODS))
    critical = f"The critical value for {len(names)} sets is {_critical(len(names)):.2f}, for thirteen 2.23."
    return [
        ResultTable(title, columns, rows, f"Data sets: {', '.join(names)}. Printed ranks are of the same sets."),
        ResultTable(
            f"Table 7, Friedman's F_F, {reading}", ("measure", ">ours", ">printed, same sets", ">printed, 13"), tests, critical
        ),
    ]


def compared(results: Results, reading: str, measure: str) -> tuple[Comparison, Comparison]:
    """Compare the methods by our numbers and by those printed, on the same data sets."""
    names = complete_sets(results, reading)
    ours, theirs = grid(results, reading, measure, names), np.array([printed(name, measure) for name in names])
    return compare(ours, lower_is_better=False, methods=METHODS), compare(theirs, lower_is_better=False, methods=METHODS)


def _critical(n_sets: int) -> float:
    from scipy.stats import f

    return float(f.ppf(0.95, len(METHODS) - 1, (len(METHODS) - 1) * (n_sets - 1)))


def _every_share(results: Results, reading: str, measure: str) -> ResultTable:
    rows = []
    for name in sets_in(results):
        for method in TUNED_METHODS:
            found = cell(results, reading, name, method, measure)
            if found is not None:
                tuned = held_out_value(results, name, method, measure) if reading == WRITTEN else None
                nested = "-" if tuned is None else f"{tuned:.3f}"
                rows.append((f"{name} {method}", *(f"{one:.3f}" for one in (*found.means, found.by_other_folds)), nested))
    title = f"{WORDS[measure]} for every share of the features, {reading}"
    columns = ("method", *(f">{share}" for share in SHARES), ">others", ">held out")
    summary = (
        "others: for every fold the share that is best on the other four; held out: the share with the best exact match on a "
        "quarter of the training rows."
    )
    return ResultTable(title, columns, rows, summary)


def figures(results: Results) -> "dict[str, Figure]":
    """Draw figure 8, critical difference diagrams: ours in both readings, and of the printed numbers on the same data sets."""
    found = {}
    for reading in READINGS:
        names = complete_sets(results, reading)
        if len(names) < MIN_SETS:
            continue
        both = {WORDS[measure]: compared(results, reading, measure) for measure in MEASURES}
        found[f"figure8-{reading.replace(' ', '-')}"] = diagram_panels({title: ours for title, (ours, _) in both.items()})
        if reading == WRITTEN:
            found["figure8-printed"] = diagram_panels({title: theirs for title, (_, theirs) in both.items()})
    return found
