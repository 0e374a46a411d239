"""What Pereira et al. (2015) conclude from table II, asked of the printed numbers and of ours, on the data sets run."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from labelsieve.replications.mlinfogain.losses import (
    MEASURES,
    METHODS,
    NEAR,
    WORDS,
    Losses,
    share,
)
from labelsieve.replications.mlinfogain.printed_values import TABLE_1, TABLE_2
from labelsieve.replications.replication import Section
from labelsieve.statistics import Comparison, compare
from labelsieve.statistics.ranks import ranks

ML, BR, COPY, LP = METHODS["MLInfoGain"], METHODS["BR+InfoGain"], METHODS["Copy+InfoGain"], METHODS["LP+InfoGain"]
Row = tuple[float, ...]
Rows = Callable[[str, str], Row]


def printed_row(dataset: str, measure: str) -> Row:
    """Of table II: the four methods, then no selection."""
    *methods, none = TABLE_2[measure][dataset]
    return (*(value for value, _ in methods), none)


def our_row(losses: Losses) -> Rows:
    """The same of a study, in the paper's four decimals."""

    def row(dataset: str, measure: str) -> Row:
        methods = (losses.best(dataset, method, measure).value for method in METHODS.values())
        return tuple(round(value, 4) for value in (*methods, losses.all_features(dataset, measure)))

    return row


def comparison(source: Losses | None, sets: Sequence[str], measure: str) -> Comparison:
    """Friedman's and Nemenyi's tests of the four methods, a row for each data set; of the printed numbers without a source."""
    row = printed_row if source is None else our_row(source)
    return _compared([row(name, measure)[:4] for name in sets])


def comparison_by_percentage(losses: Losses, sets: Sequence[str], measure: str) -> Comparison:
    """The same with a row for each data set and percentage."""
    means = [np.column_stack([losses.means(name, method, measure) for method in METHODS.values()]) for name in sets]
    return _compared(np.vstack(means).round(4))


def _compared(table: Any) -> Comparison:
    return compare(np.asarray(table), lower_is_better=True, methods=list(METHODS), test="nemenyi")


def winners(losses: Losses, sets: Sequence[str]) -> Section:
    """Which column is best in each row, and the order of the four methods."""
    ours = our_row(losses)
    rows = []
    for measure in MEASURES:
        best, order = [], []
        for name in sets:
            printed, found = printed_row(name, measure), ours(name, measure)
            best.append(
                {i for i, v in enumerate(printed) if v == min(printed)} & {i for i, v in enumerate(found) if v == min(found)}
            )
            both = ranks(np.array([printed[:4], found[:4]]), lower_is_better=True)
            order.append(bool((both[0] == both[1]).all()))
        rows.append((WORDS[measure], share(map(bool, best)), share(order)))
    said = (
        "A winner is the column with the least loss, one of several where they tie; ranks are of the four methods, ties shared."
    )
    return Section("Agreement of winners and ranks, by rows of table II", ("measure", ">winner", ">all four ranks"), rows, said)


def no_worse_counts(losses: Losses, sets: Sequence[str]) -> Section:
    """The last two rows of table II, counted over the data sets that were run."""
    rows = []
    for title, count in (("best of its row", _best), ("no worse than no selection", _no_worse)):
        for who, row in (("published", printed_row), ("ours", our_row(losses))):
            found = [count(row(name, measure)) for measure in MEASURES for name in sets]
            rows.append((title, who, *(str(sum(flags)) for flags in zip(*found, strict=True))))
    columns = ("rows of table II", "", *(f">{name}" for name in METHODS), ">No Sel.")
    return Section(f"Summary of table II, of {len(sets) * len(MEASURES)} rows", columns, rows)


def _best(row: Row) -> list[bool]:
    return [value == min(row) for value in row]


def _no_worse(row: Row) -> list[bool]:
    return [value <= row[-1] for value in row]


def differences(losses: Losses, sets: Sequence[str]) -> Section:
    """Figure 1 in numbers."""
    columns = ("measure", "", *(f">{name}" for name in METHODS), ">Friedman p", ">distance", "real differences")
    rows: list[tuple[str, ...]] = []
    for measure in MEASURES if len(sets) > 1 else ():
        for who, found in (
            ("published, all 11 sets", comparison(None, list(TABLE_1), measure)),
            ("published", comparison(None, sets, measure)),
            ("ours", comparison(losses, sets, measure)),
            ("ours, each percentage", comparison_by_percentage(losses, sets, measure)),
        ):
            pairs = [(found.methods[a], found.methods[b]) for a, b in found.pairs() if found.different[a, b]]
            ranked = [f"{one:.2f}" for one in found.average_ranks]
            real = ", ".join(f"{better} < {worse}" for better, worse in pairs) or "none"
            rows.append(
                (WORDS[measure], who, *ranked, f"{found.friedman.p_value:.2g}", f"{found.critical_difference:.2f}", real)
            )
    said = "The paper does not say what it ranks. By the best values of eleven data sets no two methods differ; with a row for "
    said += (
        "each data set and percentage its sentences come out, but such rows are not independent, and the test finds too much."
    )
    return Section(f"Average ranks on {len(sets)} data sets, with Nemenyi's test at 0.05 (figure 1)", columns, rows, said)


def claims(losses: Losses, sets: Sequence[str]) -> Section:
    """Sentences of sections 5 and 5.1: what the printed numbers of these data sets say, and what ours say."""
    sources: tuple[Rows, Rows] = printed_row, our_row(losses)
    rows = [_table_1(losses, sets)]
    for sentence, holds in COUNTED.items():
        counts = [share(holds(row(name, measure)) for measure in MEASURES for name in sets) for row in sources]
        rows.append((sentence, *counts, ""))
    rows.append(_chosen_elsewhere(losses, sets))
    if len(sets) > 1:
        found = [
            [comparison(None, sets, measure) for measure in MEASURES],
            [comparison(losses, sets, measure) for measure in MEASURES],
            [comparison_by_percentage(losses, sets, measure) for measure in MEASURES],
        ]
        for sentence, verdict in STATISTICAL.items():
            rows.append((sentence, *(f"{share(map(verdict, by_measure))} measures" for by_measure in found)))
    columns = ("claim", ">published", ">ours", ">ours, each percentage")
    return Section("Claims of sections 5 and 5.1", columns, rows, CAUTION)


def _table_1(losses: Losses, sets: Sequence[str]) -> tuple[str, ...]:
    def no_worse(hamming: Sequence[float]) -> list[bool]:
        return [round(value, 4) <= round(hamming[-1], 4) for value in hamming[:-1]]

    ours = {name: [*losses.means(name, ML, MEASURES[0]), losses.all_features(name, MEASURES[0])] for name in sets}
    counts = [share(flag for name in sets for flag in no_worse(values[name])) for values in (TABLE_1, ours)]
    return "most selections by MLInfoGain are no worse than none (table I)", *counts, ""


def _chosen_elsewhere(losses: Losses, sets: Sequence[str]) -> tuple[str, ...]:
    held = share(
        round(losses.chosen_elsewhere(name, ML, measure), 4) <= round(losses.all_features(name, measure), 4)
        for measure in MEASURES
        for name in sets
    )
    return "MLInfoGain is no worse than none, percentage chosen on the other folds", "-", held, ""


def _beats(found: Comparison, better: str, worse: str) -> bool:
    a, b = (list(METHODS.values()).index(one) for one in (better, worse))
    return bool(found.different[a, b] and found.average_ranks[a] < found.average_ranks[b])


# Of a row of table II: the four methods in the order of METHODS, then no selection.
COUNTED: dict[str, Callable[[Row], bool]] = {
    "MLInfoGain is best in half of the rows": lambda row: row[3] == min(row),
    "BR + InfoGain is best in half of the rows": lambda row: row[0] == min(row),
    "no selection is rarely best": lambda row: row[4] == min(row),
    "MLInfoGain is nearly always no worse than none": lambda row: row[3] <= row[4],
}
STATISTICAL: dict[str, Callable[[Comparison], bool]] = {
    "Friedman's test rejects that all four are alike": lambda found: bool(found.friedman.p_value < 0.05),
    "MLInfoGain is significantly better than Copy + InfoGain": lambda found: _beats(found, ML, COPY),
    "MLInfoGain is significantly better than LP + InfoGain": lambda found: _beats(found, ML, LP),
    "MLInfoGain and BR + InfoGain do not differ": lambda found: not (_beats(found, ML, BR) or _beats(found, BR, ML)),
}
CAUTION = (
    "The paper picks the best of nine percentages on the folds that it tests on, which favors every selection over none. "
    "Where it is chosen on other folds, each fold takes the best of the nine others."
)


def order_of_ties(losses: Losses, sets: Sequence[str], method: str, lowest: str) -> Section:
    """What a method owes to the order of features that tie: the rows that move with ties to the lowest column."""
    rows = []
    for measure in MEASURES:
        for name in sets:
            as_was, other = (losses.best(name, one, measure) for one in (method, lowest))
            if abs(as_was.value - other.value) > NEAR:
                rest = min(losses.best(name, one, measure).value for one in METHODS.values() if one != method)
                turns = (as_was.value <= rest) != (other.value <= rest)
                rows.append((WORDS[measure], name, str(as_was), str(other), f"{rest:.4f}", "yes" if turns else ""))
    said = f"The best value moves by more than {NEAR:g} in {len(rows)} of {len(sets) * len(MEASURES)} rows."
    columns = ("measure", "data set", ">Weka's order", ">lowest first", ">best other method", "winner changes")
    return Section(f"{method} under two orders of ties", columns, rows, said)
