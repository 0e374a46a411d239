"""Tables 3 to 7 and figure 8 of Sun and Kudo (2017) beside ours, and what the paper says of them."""

from typing import TYPE_CHECKING

import numpy as np

from labelsieve.replications.claims import claims_section
from labelsieve.replications.figure_panels import panels
from labelsieve.replications.optimized_chains.setup import MEASURES, WORDS
from labelsieve.replications.optimized_chains.tables_claims import claims
from labelsieve.replications.optimized_chains.tables_printed import FRIEDMAN, METHODS
from labelsieve.replications.optimized_chains.tables_values import (
    READINGS,
    SHARES,
    WRITTEN,
    cell,
    chosen_value,
    complete_sets,
    grid,
    printed,
    sets_in,
)
from labelsieve.replications.replication import Results, Section
from labelsieve.report.figures import critical_difference_diagram
from labelsieve.report.figures.figure_style import FONT
from labelsieve.statistics import Comparison, compare

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEAR = {"hamming_score": 0.005}  # which is near 1 for all methods where labels are rare
NEAR_OTHERWISE = 0.02
TABLE = dict(zip(MEASURES, (3, 4, 5, 6), strict=True))
TUNED_METHODS = ("MDDM", "oCC", "EoCC")
FEWEST = 3  # data sets for ranks and tests


def sections(results: Results) -> list[Section]:
    """The tables for both readings, ranks, every number of features, and the claims."""
    found = []
    for reading in READINGS:
        if any(cell(results, reading, name, "oCC", "exact_match") for name in sets_in(results)):
            found += [_table(results, reading, measure) for measure in MEASURES]
            found += _ranks(results, reading)
            found += [_every_share(results, reading, measure) for measure in MEASURES]
    for reading in READINGS:
        if len(complete_sets(results, reading)) >= FEWEST:
            one = claims_section(claims(results, reading))
            found.append(Section(f"{one.title}, {reading}", one.columns, one.rows, one.verdict))
    return found


def _table(results: Results, reading: str, measure: str) -> Section:
    rows, near, run, same, winners = [], 0, 0, 0, 0
    tolerance = NEAR.get(measure, NEAR_OTHERWISE)
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
    verdict = f"{near} of {run} cells are within {tolerance} of those printed; * marks the others."
    if winners:
        verdict += f" The printed winner is ours on {same} of {winners} data sets."
    title = f"Table {TABLE[measure]}, {WORDS[measure]}, {reading}; best parameter on the test folds"
    return Section(title, ("data set", *(f">{method}" for method in METHODS)), rows, verdict)


def _ranks(results: Results, reading: str) -> list[Section]:
    names = complete_sets(results, reading)
    if len(names) < FEWEST:
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
        Section(title, columns, rows, f"Data sets: {', '.join(names)}. Printed ranks are of the same sets."),
        Section(
            f"Table 7, Friedman's F_F, {reading}", ("measure", ">ours", ">printed, same sets", ">printed, 13"), tests, critical
        ),
    ]


def compared(results: Results, reading: str, measure: str) -> tuple[Comparison, Comparison]:
    """Friedman's and Nemenyi's tests of our numbers and of those printed, on the same data sets."""
    names = complete_sets(results, reading)
    ours, theirs = grid(results, reading, measure, names), np.array([printed(name, measure) for name in names])
    return compare(ours, lower_is_better=False, methods=METHODS), compare(theirs, lower_is_better=False, methods=METHODS)


def _critical(n_sets: int) -> float:
    from scipy.stats import f

    return float(f.ppf(0.95, len(METHODS) - 1, (len(METHODS) - 1) * (n_sets - 1)))


def _every_share(results: Results, reading: str, measure: str) -> Section:
    rows = []
    for name in sets_in(results):
        for method in TUNED_METHODS:
            found = cell(results, reading, name, method, measure)
            if found is not None:
                chosen = chosen_value(results, name, method, measure) if reading == WRITTEN else None
                nested = "-" if chosen is None else f"{chosen:.3f}"
                rows.append((f"{name} {method}", *(f"{one:.3f}" for one in (*found.means, found.by_other_folds)), nested))
    title = f"{WORDS[measure]} for every share of the features, {reading}"
    columns = ("method", *(f">{share}" for share in SHARES), ">others", ">held out")
    verdict = (
        "others: for every fold the share that is best on the other four; held out: the share with the best exact match on a "
        "quarter of the training rows."
    )
    return Section(title, columns, rows, verdict)


def figures(results: Results) -> "dict[str, Figure]":
    """Figure 8, critical difference diagrams: ours in both readings, and from the printed numbers on the same data sets."""
    found = {}
    for reading in READINGS:
        names = complete_sets(results, reading)
        if len(names) < FEWEST:
            continue
        both = {measure: compared(results, reading, measure) for measure in MEASURES}
        slug = reading.replace(" ", "-")
        found[f"figure8-{slug}"] = _diagrams({measure: pair[0] for measure, pair in both.items()})
        if reading == WRITTEN:
            found["figure8-printed"] = _diagrams({measure: pair[1] for measure, pair in both.items()})
    return found


def _diagrams(comparisons: dict[str, Comparison]) -> "Figure":
    figure: Figure
    figure, axes = panels(2, 2, height=2.0)
    for ax, (measure, comparison) in zip(axes.ravel(), comparisons.items(), strict=True):
        ax.set_title(WORDS[measure], fontsize=FONT)
        critical_difference_diagram(comparison, ax=ax)
    return figure
