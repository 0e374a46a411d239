"""Tables I and II and figure 1 of Pereira et al. (2015): four information gain rankings with BR-kNN, and claims about them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from labelsieve.statistics import Comparison, ranks
from labelsieve.studies import Protocol
from replications.mlinfogain.losses import (
    MEASURES,
    METHODS,
    NEAR,
    PERCENTAGES,
    TABLE_1,
    TABLE_2,
    WORDS,
    Losses,
    cells_of_test,
    compared_methods,
    graded,
    marked,
    mulan_protocol,
    same,
    share,
)
from replications.mulan import MulanRanking
from replications.replication import (
    Claim,
    Compared,
    DataHome,
    Figures,
    Replication,
    Results,
    ResultTable,
    claims_table,
    selected_sets,
    sources,
)

PART = "tables12"
SETS = tuple(TABLE_1)
QUICK_SETS = ("emotions", "flags")
ML, BR, COPY, LP = METHODS["MLInfoGain"], METHODS["BR+InfoGain"], METHODS["Copy+InfoGain"], METHODS["LP+InfoGain"]
LOWEST = {METHODS[name]: f"{METHODS[name]}-lowest" for name in ("Copy+InfoGain", "LP+InfoGain")}
CAUTION = (
    "The paper picks the best of nine percentages on the folds that it tests on, which favors every selection over none. "
    "Where it is selected on the other folds, each fold has the best percentage of the nine others."
)
Row = tuple[float, ...]
Rows = Callable[[str, str], Row]


def protocols(*, full: bool = False, sets: Sequence[str] | None = None, data_home: DataHome = None) -> dict[str, Protocol]:
    """Return the experiment: with ``full``, eleven sets, otherwise two small ones; all ten folds in any case.

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
    agreement = replace(agreement, compared=Compared(len(both), sum(both)))
    tables = [first, *second, agreement, winners(losses, ready), no_worse_counts(losses, ready), differences(losses, ready)]
    tables += [counts(losses, ready), *(order_of_ties(losses, ready, *pair) for pair in LOWEST.items())]
    return [*tables, claims_table(claims(losses, ready))]


def claims(losses: Losses, sets: Sequence[str]) -> list[Claim]:
    """Return the claims of sections 5 and 5.1; those of the tests have a verdict for each reading of what was ranked."""
    ours = our_row(losses)
    no_worse = _no_worse_by_percentage(losses, sets)
    listed = [Claim(MOST, 2 * sum(no_worse) > len(no_worse), share(no_worse))]
    for sentence, (test, least, most) in COUNTED.items():
        flags = [test(ours(name, measure)) for measure in MEASURES for name in sets]
        listed.append(Claim(sentence, least <= sum(flags) / len(flags) <= most, f"in {share(flags)} rows"))
    readings = {"best values": comparison, "a row for each percentage": comparison_by_percentage}
    for words, compared in readings.items() if len(sets) > 1 else ():
        found = {measure: compared(losses, sets, measure) for measure in MEASURES}
        for sentence, test_of in STATISTICAL.items():
            flags = [test_of(one) for one in found.values()]
            listed.append(Claim(f"{sentence}, by {words}", all(flags), f"in {share(flags)} measures"))
    return listed


def _no_worse_by_percentage(losses: Losses, sets: Sequence[str]) -> list[bool]:
    """Return for each data set and percentage whether MLInfoGain has no larger Hamming loss than no selection."""
    hamming = MEASURES[0]
    return [
        round(float(value), 4) <= round(losses.all_features(name, hamming), 4)
        for name in sets
        for value in losses.means(name, ML, hamming)
    ]


def table_1(losses: Losses, ready: Sequence[str]) -> tuple[ResultTable, list[bool]]:
    """Return Hamming losses of MLInfoGain by percentage, and which cells agree."""
    rows: list[tuple[str, ...]] = []
    cells: list[bool] = []
    grades: dict[tuple[int, int], str] = {}
    for name in ready:
        measure, printed = "hamming_loss", TABLE_1[name]
        ours = [*losses.means(name, METHODS["MLInfoGain"], measure).tolist(), losses.all_features(name, measure)]
        rows.append((name, "published", *(f"{value:.4f}" for value in printed)))
        grades |= graded(len(rows), ours, printed)
        rows.append(("", "ours", *map(marked, ours, printed)))
        cells += map(same, ours, printed)
    columns = ("data set", "", *(f">{percent}%" for percent in PERCENTAGES), ">100%")
    return ResultTable("Table I: Hamming loss, MLInfoGain; * is farther than 0.0001", columns, rows, grades=grades), cells


def table_2(losses: Losses, ready: Sequence[str]) -> tuple[list[ResultTable], dict[str, list[bool]]]:
    """Return the best percentage of each method by measure, and which cells agree; the last column does not count."""
    tables, agree = [], {}
    for measure in WORDS:
        rows: list[tuple[str, ...]] = []
        cells: list[bool] = []
        grades: dict[tuple[int, int], str] = {}
        for name in ready:
            *printed, none = TABLE_2[measure][name]
            best = [losses.best(name, method, measure) for method in METHODS.values()]
            rows.append((name, "published", *(f"{value:.4f} ({percent}%)" for value, percent in printed), f"{none:.4f}"))
            ours = [f"{marked(least.value, value)} ({least.percent}%)" for least, (value, _) in zip(best, printed, strict=True)]
            values = [*(least.value for least in best), losses.all_features(name, measure)]
            grades |= graded(len(rows), values, [*(value for value, _ in printed), none])
            rows.append(("", "ours", *ours, marked(values[-1], none)))
            cells += [same(least.value, value) for least, (value, _) in zip(best, printed, strict=True)]
        title = f"Table II: {WORDS[measure]}, best percentage"
        columns = ("data set", "", *(f">{name}" for name in METHODS), ">No Sel.")
        tables.append(ResultTable(title, columns, rows, grades=grades))
        agree[measure] = cells
    return tables, agree


def winners(losses: Losses, sets: Sequence[str]) -> ResultTable:
    """Return the agreement on the best column of each row, and on the order of the four methods."""
    ours = our_row(losses)
    rows = []
    for measure in MEASURES:
        best, order = [], []
        for name in sets:
            printed, measured = printed_row(name, measure), ours(name, measure)
            best.append(any(map(all, zip(_best(printed), _best(measured), strict=True))))
            both = ranks(np.array([printed[:4], measured[:4]]), lower_is_better=True)
            order.append(bool((both[0] == both[1]).all()))
        rows.append((WORDS[measure], share(best), share(order)))
    summary = "A winner is a column with the least loss; ranks are of the four methods, with average ranks for ties."
    return ResultTable(
        "Agreement of winners and ranks, by rows of table II", ("measure", ">winner", ">all four ranks"), rows, summary
    )


def no_worse_counts(losses: Losses, sets: Sequence[str]) -> ResultTable:
    """Return the last two rows of table II, over the data sets that were run."""
    rows = []
    for title, count in (("best of its row", _best), ("no worse than no selection", _no_worse)):
        for who, row in (("published", printed_row), ("ours", our_row(losses))):
            counts = [count(row(name, measure)) for measure in MEASURES for name in sets]
            rows.append((title, who, *(str(sum(flags)) for flags in zip(*counts, strict=True))))
    columns = ("rows of table II", "", *(f">{name}" for name in METHODS), ">No Sel.")
    return ResultTable(f"Summary of table II, of {len(sets) * len(MEASURES)} rows", columns, rows)


def _best(row: Row) -> list[bool]:
    return [value == min(row) for value in row]


def _no_worse(row: Row) -> list[bool]:
    return [value <= row[-1] for value in row]


def differences(losses: Losses, sets: Sequence[str]) -> ResultTable:
    """Return the average ranks and tests that figure 1 draws."""
    columns = ("measure", "", *(f">{name}" for name in METHODS), ">Friedman p", ">CD", "significant differences")
    rows: list[tuple[str, ...]] = []
    for measure in MEASURES if len(sets) > 1 else ():
        for who, compared in (
            ("published, all 11 sets", comparison(None, list(TABLE_1), measure)),
            ("published", comparison(None, sets, measure)),
            ("ours", comparison(losses, sets, measure)),
            ("ours, each percentage", comparison_by_percentage(losses, sets, measure)),
        ):
            rows.append((WORDS[measure], who, *cells_of_test(compared)))
    summary = (
        "The paper does not state what it ranks. By the best values of eleven data sets no two methods differ; with "
        "a row for each data set and percentage its claims hold, but such rows are not independent and the test is too liberal."
    )
    return ResultTable(f"Average ranks on {len(sets)} data sets, Nemenyi's test at 0.05 (figure 1)", columns, rows, summary)


def counts(losses: Losses, sets: Sequence[str]) -> ResultTable:
    """Return what the claims of sections 5 and 5.1 count, by the printed numbers of these data sets, and by ours."""
    sources: tuple[Rows, Rows] = printed_row, our_row(losses)
    rows = [_table_1(losses, sets)]
    for sentence, (test, *_) in COUNTED.items():
        counted = [share(test(row(name, measure)) for measure in MEASURES for name in sets) for row in sources]
        rows.append((sentence, *counted, ""))
    rows.append(_tuned_on_other_folds(losses, sets))
    if len(sets) > 1:
        comparisons = [
            [comparison(None, sets, measure) for measure in MEASURES],
            [comparison(losses, sets, measure) for measure in MEASURES],
            [comparison_by_percentage(losses, sets, measure) for measure in MEASURES],
        ]
        for sentence, summary in STATISTICAL.items():
            rows.append((sentence, *(f"{share(map(summary, by_measure))} measures" for by_measure in comparisons)))
    columns = ("counted", ">published", ">ours", ">ours, each percentage")
    return ResultTable("Counts behind the claims of sections 5 and 5.1", columns, rows, CAUTION)


def _table_1(losses: Losses, sets: Sequence[str]) -> tuple[str, ...]:
    printed = (value <= TABLE_1[name][-1] for name in sets for value in TABLE_1[name][:-1])
    return MOST, share(printed), share(_no_worse_by_percentage(losses, sets)), ""


def _tuned_on_other_folds(losses: Losses, sets: Sequence[str]) -> tuple[str, ...]:
    held = share(
        round(losses.tuned_on_other_folds(name, ML, measure), 4) <= round(losses.all_features(name, measure), 4)
        for measure in MEASURES
        for name in sets
    )
    return "MLInfoGain is no worse than none, percentage selected on the other folds", "-", held, ""


def order_of_ties(losses: Losses, sets: Sequence[str], method: str, lowest: str) -> ResultTable:
    """Return the effect of the order of tied features: the rows that change with ties to the lowest column."""
    rows = []
    for measure in MEASURES:
        for name in sets:
            weka, other = (losses.best(name, ranking, measure) for ranking in (method, lowest))
            if abs(weka.value - other.value) > NEAR:
                rest = min(losses.best(name, ranking, measure).value for ranking in METHODS.values() if ranking != method)
                changes = (weka.value <= rest) != (other.value <= rest)
                rows.append((WORDS[measure], name, str(weka), str(other), f"{rest:.4f}", "yes" if changes else ""))
    summary = f"The best value changes by more than {NEAR:g} in {len(rows)} of {len(sets) * len(MEASURES)} rows."
    columns = ("measure", "data set", ">Weka's order", ">lowest first", ">best other method", "winner changes")
    return ResultTable(f"{method} under two orders of ties", columns, rows, summary)


def printed_row(dataset: str, measure: str) -> Row:
    """Return a row of table II: the four methods, then no selection."""
    *methods, none = TABLE_2[measure][dataset]
    return (*(value for value, _ in methods), none)


def our_row(losses: Losses) -> Rows:
    """Return a function for the rows of a study, in the paper's four decimals."""

    def row(dataset: str, measure: str) -> Row:
        methods = (losses.best(dataset, method, measure).value for method in METHODS.values())
        return tuple(round(value, 4) for value in (*methods, losses.all_features(dataset, measure)))

    return row


def comparison(source: Losses | None, sets: Sequence[str], measure: str) -> Comparison:
    """Compare the four methods by Friedman's and Nemenyi's tests over data sets; the printed numbers without a source."""
    row = printed_row if source is None else our_row(source)
    return compared_methods([row(name, measure)[:4] for name in sets])


def comparison_by_percentage(losses: Losses, sets: Sequence[str], measure: str) -> Comparison:
    """Compare the four methods with a row for each data set and percentage."""
    means = [np.column_stack([losses.means(name, method, measure) for method in METHODS.values()]) for name in sets]
    return compared_methods(np.vstack(means).round(4))


def _beats(compared: Comparison, better: str, worse: str) -> bool:
    a, b = (list(METHODS.values()).index(method) for method in (better, worse))
    return bool(compared.different[a, b] and compared.average_ranks[a] < compared.average_ranks[b])


MOST = "most selections by MLInfoGain are no worse than none (table I)"
# Of a row of table II, the four methods in the order of METHODS, then no selection; and the share of rows that each word means.
COUNTED: dict[str, tuple[Callable[[Row], bool], float, float]] = {
    "MLInfoGain is best in half of the rows": (lambda row: row[3] == min(row), 0.4, 0.6),
    "BR + InfoGain is best in half of the rows": (lambda row: row[0] == min(row), 0.4, 0.6),
    "no selection is rarely best": (lambda row: row[4] == min(row), 0.0, 0.25),
    "MLInfoGain is nearly always no worse than none": (lambda row: row[3] <= row[4], 0.9, 1.0),
}
STATISTICAL: dict[str, Callable[[Comparison], bool]] = {
    "Friedman's test rejects that all four are equal": lambda compared: bool(compared.friedman.p_value < 0.05),
    "MLInfoGain is significantly better than Copy + InfoGain": lambda compared: _beats(compared, ML, COPY),
    "MLInfoGain is significantly better than LP + InfoGain": lambda compared: _beats(compared, ML, LP),
    "MLInfoGain and BR + InfoGain do not differ": lambda compared: not (_beats(compared, ML, BR) or _beats(compared, BR, ML)),
}


def figures(results: Results) -> Figures:
    """Draw figure 1: a critical difference diagram for each measure, if there are at least two data sets."""
    from labelsieve.report.figures import critical_difference_diagram

    losses = Losses(results[PART])
    ready = losses.complete(SETS, METHODS.values())
    if len(ready) < 2:
        return {}
    return {
        f"figure1-{measure}": critical_difference_diagram(comparison(losses, ready, measure)).figure.figure for measure in WORDS
    }


REPLICATION = Replication.of("mlinfogain", "infogain-tables12", protocols, result_tables, figures)
