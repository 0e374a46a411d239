"""Tables I and II and figure 1 of Pereira et al. (2015): four information gain rankings with BR-kNN."""

from collections.abc import Sequence

from labelsieve.studies.protocol import Protocol
from replications.claims import ResultTable
from replications.mlinfogain.losses import (
    METHODS,
    PERCENTAGES,
    TABLE_1,
    TABLE_2,
    WORDS,
    Losses,
    marked,
    mulan_protocol,
    same,
    share,
)
from replications.mlinfogain.table2_claims import claims, differences, no_worse_counts, order_of_ties, winners
from replications.mulan import MulanRanking
from replications.replication import DataHome, Figures, Replication, Results, selected_sets, sources

PART = "tables12"
SETS = tuple(TABLE_1)
QUICK_SETS = ("emotions", "flags")
LOWEST = {METHODS[name]: f"{METHODS[name]}-lowest" for name in ("Copy+InfoGain", "LP+InfoGain")}


def protocols(*, full: bool = False, sets: Sequence[str] | None = None, data_home: DataHome = None) -> dict[str, Protocol]:
    """The experiment: ``full`` is eleven sets, otherwise two small ones; all ten folds in any case.

    >>> protocols(full=True)["tables12"].n_features
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    """
    names = selected_sets(SETS, sets, SETS if full else QUICK_SETS)
    lowest = [(name, MulanRanking(method, ties="lowest")) for method, name in LOWEST.items()]
    return {
        PART: mulan_protocol(
            sources(names, data_home), [*METHODS.values(), *lowest], [percent / 100 for percent in PERCENTAGES]
        )
    }


def result_tables(results: Results) -> list[ResultTable]:
    """Return both tables with ours below the published numbers, agreement, the tests behind figure 1, and claims."""
    losses = Losses(results[PART])
    ready = losses.complete(SETS, [*METHODS.values(), *LOWEST.values()])
    if not ready:
        return [ResultTable("Tables I and II", ("data set",), [], "No data set is finished yet.")]
    first, in_first = table_1(losses, ready)
    second, in_second = table_2(losses, ready)
    rows = [("table I", share(in_first))]
    rows += [(f"table II, {WORDS[measure]}", share(cells)) for measure, cells in in_second.items()]
    both = [*in_first, *(agrees for cells in in_second.values() for agrees in cells)]
    agreement = ResultTable("Cells within 0.0001 of the published ones", ("table", ">cells"), rows, f"Total: {share(both)}.")
    tables = [first, *second, agreement, winners(losses, ready), no_worse_counts(losses, ready), differences(losses, ready)]
    return [*tables, claims(losses, ready), *(order_of_ties(losses, ready, *pair) for pair in LOWEST.items())]


def table_1(losses: Losses, ready: Sequence[str]) -> tuple[ResultTable, list[bool]]:
    """Return Hamming losses of MLInfoGain by percentage, and which cells agree."""
    rows: list[tuple[str, ...]] = []
    cells: list[bool] = []
    for name in ready:
        measure, printed = "hamming_loss", TABLE_1[name]
        ours = [*losses.means(name, METHODS["MLInfoGain"], measure).tolist(), losses.all_features(name, measure)]
        rows.append((name, "published", *(f"{value:.4f}" for value in printed)))
        rows.append(("", "ours", *map(marked, ours, printed)))
        cells += map(same, ours, printed)
    columns = ("data set", "", *(f">{percent}%" for percent in PERCENTAGES), ">100%")
    return ResultTable("Table I: Hamming loss, MLInfoGain; * is farther than 0.0001", columns, rows), cells


def table_2(losses: Losses, ready: Sequence[str]) -> tuple[list[ResultTable], dict[str, list[bool]]]:
    """Return the best percentage of each method by measure, and which cells agree; the last column does not count."""
    tables, agree = [], {}
    for measure in WORDS:
        rows: list[tuple[str, ...]] = []
        cells: list[bool] = []
        for name in ready:
            *printed, none = TABLE_2[measure][name]
            best = [losses.best(name, method, measure) for method in METHODS.values()]
            rows.append((name, "published", *(f"{value:.4f} ({percent}%)" for value, percent in printed), f"{none:.4f}"))
            ours = [f"{marked(least.value, value)} ({least.percent}%)" for least, (value, _) in zip(best, printed, strict=True)]
            rows.append(("", "ours", *ours, marked(losses.all_features(name, measure), none)))
            cells += [same(least.value, value) for least, (value, _) in zip(best, printed, strict=True)]
        title = f"Table II: {WORDS[measure]}, best percentage"
        tables.append(ResultTable(title, ("data set", "", *(f">{name}" for name in METHODS), ">No Sel."), rows))
        agree[measure] = cells
    return tables, agree


def figures(results: Results) -> Figures:
    """Draw figure 1: a critical difference diagram for each measure, if there are at least two data sets."""
    from labelsieve.report.figures import critical_difference_diagram
    from replications.mlinfogain.table2_claims import comparison

    losses = Losses(results[PART])
    ready = losses.complete(SETS, METHODS.values())
    if len(ready) < 2:
        return {}
    return {
        f"figure1-{measure}": critical_difference_diagram(comparison(losses, ready, measure)).figure.figure for measure in WORDS
    }


REPLICATION = Replication.of("mlinfogain", "infogain-tables12", protocols, result_tables, figures)
