"""Figures 1 and 2 of Sechidis, Spyromitros-Xioufis and Vlahavas (2019): Group-JMI by number of clusters and size of groups.

The paper draws curves and prints no numbers; it names the best setting for each data set.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from labelsieve.studies import Protocol, StudyResults
from replications.curves import NAMES, curve_difference, results_panels
from replications.group_jmi.table2 import ABSENT_LABELS_ZERO, FIVE_BINS, SPLITS, STRATIFIED
from replications.replication import (
    DATA,
    Claim,
    DataHome,
    Figures,
    Replication,
    Results,
    ResultTable,
    as_published,
    claims_table,
    not_run,
    selected_sets,
    sources,
)

PART = "parameters"
HALVES = {"random halves": PART, "stratified halves": PART + STRATIFIED}
SETS = ("image", "medical", "genbase")
MEASURES = ("hamming_loss", "ranking_loss", "macro_f1")
# The reading of the paper's equation, and of the author's program; see the assumptions.
READINGS = {"equation 3": False, "the author's program": True}
CLUSTERS, PROPORTIONS = (4, 8, 16), (0.25, 0.5, 0.75)
FIXED = {"n_clusters": 8, "pot": 0.5}
FIGURES: dict[str, list[dict[str, float]]] = {
    "figure1": [FIXED | {"n_clusters": n_clusters} for n_clusters in CLUSTERS],
    "figure2": [FIXED | {"pot": share} for share in PROPORTIONS],
}
SHOWN = {"figure1": "Figure 1", "figure2": "Figure 2"}
VARIED = {"figure1": "n_clusters", "figure2": "pot"}
# The setting that is best, or the two between which there is no clear winner.
BEST: dict[str, dict[str, tuple[float, ...]]] = {
    "figure1": {"image": (4,), "medical": (16,), "genbase": (8, 16)},
    "figure2": {"image": (0.75,), "medical": (0.25,), "genbase": (0.5, 0.75)},
}


def label_space_name(setting: Mapping[str, float], reading: str) -> str:
    """Return the name of a method in the results.

    >>> label_space_name({"n_clusters": 4, "pot": 0.5}, "the author's program")
    'group-4-50%-normalized'
    """
    return f"group-{setting['n_clusters']:g}-{setting['pot']:.0%}{'-normalized' if READINGS[reading] else ''}"


def protocols(*, full: bool = False, sets: Sequence[str] | None = None, data_home: DataHome = None) -> dict[str, Protocol]:
    """Return the experiment: with ``full``, 30 repetitions on three sets, otherwise 3 on genbase.

    With ``full``, stratified halves are run as well.

    >>> protocols(full=True)["parameters"]
    Protocol: 3 data sets, 10 methods (group-4-50%, ...), 50 numbers of features, 1 classifier, 3 measures, 30x50%
    """
    methods: dict[str, dict[str, Any]] = {}
    for reading, normalized in READINGS.items():
        for setting in [*FIGURES["figure1"], *FIGURES["figure2"]]:
            criterion = {"name": "jmi", "normalized": normalized}
            method = {"criterion": criterion, "targets": {"name": "group", **setting}}
            methods[label_space_name(setting, reading)] = method | {"discretizer": FIVE_BINS}
    return {
        PART + halves: Protocol(
            sources(selected_sets(SETS, sets, SETS if full else ("genbase",)), data_home, **DATA),
            as_published([{"name": name, **method} for name, method in methods.items()]),
            n_features="1..50",
            classifiers=[{"name": "mlknn", "k": 7}],
            measures=MEASURES,
            splits=splits,
            baselines=[],
            convention=ABSENT_LABELS_ZERO,
            scale=None,
        )
        for halves, splits in (SPLITS if full else {"": "3x50%"}).items()
    }


def ranks(results: StudyResults, figure: str, reading: str, dataset: str) -> dict[float, list[float]] | None:
    """Return average ranks of the settings of a figure, one for each measure."""
    names = {setting[VARIED[figure]]: label_space_name(setting, reading) for setting in FIGURES[figure]}
    if dataset not in results.datasets or not set(MEASURES) <= set(results.measures):
        return None
    grids = [results.ranks(measure, methods=list(names.values())) for measure in MEASURES]
    averages = {value: [grid.value(dataset, name) for grid in grids] for value, name in names.items()}
    return None if np.isnan(list(averages.values())).any() else averages


def claims(results: StudyResults, reading: str) -> list[Claim]:
    """Return the claims of section 3.3: the best setting of every data set."""
    return [
        _claim(results, figure, reading, dataset, values) for figure, best in BEST.items() for dataset, values in best.items()
    ]


def _claim(results: StudyResults, figure: str, reading: str, dataset: str, best: tuple[float, ...]) -> Claim:
    words = " and ".join(_setting_text(figure, setting) for setting in best)
    text = f"{SHOWN[figure]}: {words} is the best on {dataset}."
    if len(best) > 1:
        text = f"{SHOWN[figure]}: no clear winner between {words} on {dataset}."
    ranked = ranks(results, figure, reading, dataset)
    if ranked is None:
        return not_run(text)
    order = sorted(ranked, key=lambda value: sum(ranked[value]))
    observed = ", ".join(f"{_setting_text(figure, value)} {np.mean(ranked[value]):.2f}" for value in order)
    holds = set(order[: len(best)]) == set(best)
    if len(best) > 1:
        names = [label_space_name(FIXED | {VARIED[figure]: value}, reading) for value in best]
        differences = [gap for measure in MEASURES if (gap := curve_difference(results, dataset, measure, *names)) is not None]
        signs = {bool(gap.mean > 0) for gap in differences}
        no_winner = len(signs) > 1 or not all(gap.is_significant for gap in differences)
        observed += "; the two " + ("do not differ" if no_winner else "differ") + " significantly in all measures"
        holds = holds and no_winner
    return Claim(text, holds, f"average ranks: {observed}", (dataset,))


def _setting_text(figure: str, value: float) -> str:
    return f"NoC {value:g}" if figure == "figure1" else f"PoT {value:.0%}"


def result_tables(results: Results) -> list[ResultTable]:
    """Return average ranks of the settings for each figure, reading and kind of halves, and the claims."""
    return [
        table
        for halves, part in HALVES.items()
        if part in results
        for table in _tables(results[part], part, f", {halves}" if len(results) > 1 else "")
    ]


def _tables(results: StudyResults, part: str, halves: str) -> list[ResultTable]:
    tables = []
    for reading in READINGS:
        for figure, settings in FIGURES.items():
            values = [setting[VARIED[figure]] for setting in settings]
            rows = []
            for dataset in SETS:
                by_value = ranks(results, figure, reading, dataset) or {}
                for column, measure in enumerate(MEASURES if by_value else ()):
                    averages = [by_value[value][column] for value in values]
                    cells = [f"{rank:.2f}{'*' if rank == min(averages) else ' '}" for rank in averages]
                    rows.append((f"{dataset}, {NAMES[measure]}", *cells))
            columns = ("data set, measure", *(f">{_setting_text(figure, value)}" for value in values))
            title = f"{SHOWN[figure]}, Group-JMI by {reading}{halves}: average ranks over the numbers of features, * the best"
            tables.append(ResultTable(title, columns, rows))
        tables.append(claims_table(claims(results, reading), f"Group-JMI by {reading}{halves}", [part]))
    return tables


def figures(results: Results) -> Figures:
    """Draw both figures by both readings: a row for each data set, a column for each measure."""
    drawn = {}
    panels = [[(dataset, measure) for measure in MEASURES] for dataset in SETS]
    for part, (reading, normalized) in product([part for part in HALVES.values() if part in results], READINGS.items()):
        for figure, settings in FIGURES.items():
            methods = {
                label_space_name(setting, reading): _setting_text(figure, setting[VARIED[figure]]) for setting in settings
            }
            drawing = results_panels(results[part], panels, methods)
            if drawing is not None:
                drawn[f"{figure}{'-normalized' if normalized else ''}{part.removeprefix(PART)}"] = drawing
    return drawn


REPLICATION = Replication.of("group_jmi", "group-jmi-parameters", protocols, result_tables, figures)
