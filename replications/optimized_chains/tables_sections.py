"""Tables 3 to 7 and figure 8 of Sun and Kudo (2017) with our numbers, and the claims of the paper."""

from collections.abc import Mapping

import numpy as np

from labelsieve.statistics import Comparison, compare
from replications.claims import Claim, ResultTable, claims_table, values_text
from replications.optimized_chains.setup import MEASURES, WORDS
from replications.optimized_chains.tables_values import (
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
from replications.panels import diagram_panels
from replications.replication import Figures, Results

TOLERANCE = dict.fromkeys(MEASURES, 0.02) | {"hamming_score": 0.005}  # all methods are near 1 where labels are rare
TABLE = dict(zip(MEASURES, (3, 4, 5, 6), strict=True))
TUNED_METHODS = ("MDDM", "oCC", "EoCC")
MIN_SETS = 3  # data sets for ranks and tests


def result_tables(results: Results) -> list[ResultTable]:
    """Return the tables for both readings, ranks, every number of features, and the claims."""
    tables = []
    for reading in READINGS:
        if any(cell(results, reading, name, "oCC", "exact_match") for name in sets_in(results)):
            tables += [_table(results, reading, measure) for measure in MEASURES]
            tables += _ranks(results, reading)
            tables += [_every_share(results, reading, measure) for measure in MEASURES]
    for reading in READINGS:
        if len(complete_sets(results, reading)) >= MIN_SETS:
            tables.append(claims_table(claims(results, reading), reading))
    return tables


def _table(results: Results, reading: str, measure: str) -> ResultTable:
    rows, near, run, same, winners = [], 0, 0, 0, 0
    tolerance = TOLERANCE[measure]
    for name in sets_in(results):
        cells = [cell(results, reading, name, method, measure) for method in METHODS]
        theirs = printed(name, measure)
        shown = []
        for measured, value in zip(cells, theirs, strict=True):
            close = measured is not None and abs(measured.best - value) <= tolerance
            shown.append("-" if measured is None else f"{measured.best:.3f}" + (" " if close else "*"))
            near, run = near + close, run + (measured is not None)
        rows += [(name, *shown), ("  printed", *(f"{value:.3f} " for value in theirs))]
        ours = [measured.best for measured in cells if measured is not None]
        if len(ours) == len(cells) and len({round(value, 3) for value in theirs}) > 1:
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
        for name, who, source in ((words, "ours", ours), ("", "printed", theirs)):
            rows.append((name, who, *(f"{rank:.2f}" for rank in source.average_ranks)))
        tests.append((words, *(f"{value:.2f}" for value in (ours.friedman.f, theirs.friedman.f, FRIEDMAN[measure]))))
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
            values = cell(results, reading, name, method, measure)
            if values is not None:
                tuned = held_out_value(results, name, method, measure) if reading == WRITTEN else None
                nested = "-" if tuned is None else f"{tuned:.3f}"
                rows.append((f"{name} {method}", *(f"{value:.3f}" for value in (*values.means, values.by_other_folds)), nested))
    title = f"{WORDS[measure]} for every share of the features, {reading}"
    columns = ("method", *(f">{share}" for share in SHARES), ">others", ">held out")
    summary = (
        "others: for every fold the share that is best on the other four; held out: the share with the best exact match on a "
        "quarter of the training rows."
    )
    return ResultTable(title, columns, rows, summary)


def figures(results: Results) -> Figures:
    """Draw figure 8, critical difference diagrams: ours in both readings, and of the printed numbers on the same data sets."""
    comparisons = {}
    for reading in READINGS:
        names = complete_sets(results, reading)
        if len(names) < MIN_SETS:
            continue
        both = {WORDS[measure]: compared(results, reading, measure) for measure in MEASURES}
        comparisons[f"figure8-{reading.replace(' ', '-')}"] = diagram_panels({title: ours for title, (ours, _) in both.items()})
        if reading == WRITTEN:
            comparisons["figure8-printed"] = diagram_panels({title: theirs for title, (_, theirs) in both.items()})
    return comparisons


def claims(results: Results, reading: str) -> list[Claim]:
    """Return the claims of sections 8.6 and 8.7, by average ranks over the data sets with all seven methods."""
    names = complete_sets(results, reading)
    comparisons = {
        measure: compare(grid(results, reading, measure, names), lower_is_better=False, methods=METHODS) for measure in MEASURES
    }
    ranks = {
        measure: dict(zip(METHODS, map(float, compared.average_ranks), strict=True))
        for measure, compared in comparisons.items()
    }
    listed = [_first(ranks, "oCC", measure) for measure in ("exact_match", "macro_f1", "micro_f1")]
    listed.append(_first(ranks, "EoCC", "hamming_score"))
    listed.append(_everywhere(ranks, "EoCC", ("ECC", "EBCC"), "EoCC is the best of the three ensembles by all four measures"))
    listed.append(_everywhere(ranks, "ECC", ("EBCC",), "ECC is better than EBCC by all four measures"))
    listed.append(_everywhere(ranks, "LLSF", ("MDDM",), "LLSF, local, is better than MDDM, global, by all four measures"))
    positions = {measure: sorted(METHODS, key=ranks[measure].__getitem__).index("BR") + 1 for measure in MEASURES}
    only_macro = [measure for measure, position in positions.items() if position <= 3] == ["macro_f1"]
    listed.append(Claim("BR is among the best three by macro-F1 alone", only_macro, _by_measure(positions, "{:d}.")))
    p_values = {measure: compared.friedman.p_value for measure, compared in comparisons.items()}
    differ = all(value < 0.05 for value in p_values.values())
    listed.append(Claim("Friedman's test shows differences by all four measures", differ, _by_measure(p_values, "p = {:.2g}")))
    listed.append(_significant(comparisons["exact_match"]))
    return listed


def _first(ranks: dict[str, dict[str, float]], method: str, measure: str) -> Claim:
    by_method = ranks[measure]
    order = sorted(by_method, key=by_method.__getitem__)
    shown = ", ".join(f"{name} {by_method[name]:.2f}" for name in dict.fromkeys([*order[:2], method]))
    return Claim(f"{method} has the best average rank by {WORDS[measure]}", by_method[method] == by_method[order[0]], shown)


def _everywhere(ranks: dict[str, dict[str, float]], method: str, others: tuple[str, ...], text: str) -> Claim:
    wins = {measure: all(by_method[method] < by_method[other] for other in others) for measure, by_method in ranks.items()}
    lost = [WORDS[measure] for measure, won in wins.items() if not won]
    return Claim(text, not lost, f"not by {', '.join(lost)}" if lost else "by all")


def _significant(compared: Comparison) -> Claim:
    """Check that by exact match oCC and EoCC differ from BR, MDDM and LLSF, and not from ECC and EBCC."""
    index = {method: compared.methods.index(method) for method in METHODS}
    pairs = {
        (method, other): bool(compared.different[index[method], index[other]])
        for method in ("oCC", "EoCC")
        for other in ("BR", "MDDM", "LLSF", "ECC", "EBCC")
    }
    expected = {pair: pair[1] not in ("ECC", "EBCC") for pair in pairs}
    different = [f"{method} and {other}" for (method, other), is_different in pairs.items() if is_different]
    return Claim(
        "by exact match Nemenyi's test separates oCC and EoCC from all except ECC and EBCC",
        pairs == expected,
        f"CD {compared.critical_difference:.2f}; different: {', '.join(different) or 'none of these pairs'}",
    )


def _by_measure(values: Mapping[str, float], form: str) -> str:
    return values_text({WORDS[measure]: value for measure, value in values.items() if np.isfinite(value)}, form)
