"""Table IV of Pereira et al. (2015): BR + InfoGain against MLInfoGain on large data sets, and their cost."""

from collections.abc import Sequence
from statistics import geometric_mean

from labelsieve.statistics import compare
from labelsieve.studies import Protocol, StudyResults
from replications.mlinfogain.losses import ALL, MEASURES, TABLE_4, WORDS, Losses, graded, marked, mulan_protocol, same, share
from replications.replication import (
    Claim,
    Compared,
    DataHome,
    Replication,
    Results,
    ResultTable,
    claims_table,
    selected_sets,
    sources,
)

PART = "table4"
METHODS = {"BR": "br-infogain", "ML": "mlinfogain"}
SETS = tuple(f"yahoo-{name}" for name in ("arts", "business", "education", "health", "reference", "science"))
QUICK_SETS = ("yahoo-arts",)
LONGER = 50  # times; the paper says roughly 100
SIGNIFICANT = 0.05


def protocols(*, full: bool = False, sets: Sequence[str] | None = None, data_home: DataHome = None) -> dict[str, Protocol]:
    """Return the experiment: with ``full``, the six available sets, otherwise the smallest one.

    >>> protocols(full=True)["table4"]
    Protocol: 6 data sets, 3 methods (br-infogain, mlinfogain, all), 1 number of features, 1 classifier, 4 measures, MulanFolds
    """
    names = selected_sets(SETS, sets, SETS if full else QUICK_SETS)
    return {PART: mulan_protocol(sources(names, data_home), METHODS.values(), [0.1])}


def result_tables(results: Results) -> list[ResultTable]:
    """Return published losses, seconds and claims next to ours."""
    part = results[PART]
    losses = Losses(part)
    ready = losses.complete(SETS, METHODS.values())
    tables = [_losses(losses, ready), _seconds(part, ready), _counts(part, losses, ready)]
    return [*tables, claims_table(claims(part, losses, ready))]


def claims(results: StudyResults, losses: Losses, ready: Sequence[str]) -> list[Claim]:
    """Return the claims of section 5.2, on the data sets that are available."""
    listed = []
    where = f"of {len(ready)} data sets, where the paper has {len(TABLE_4)}"
    for measure in MEASURES:
        pairs = [tuple(float(losses.means(name, method, measure)[0]) for method in METHODS.values()) for name in ready]
        favored = sum(br < ml for br, ml in pairs)
        text = f"BR + InfoGain has a lower {WORDS[measure]} on most sets"
        listed.append(Claim(text, favored > len(pairs) / 2, f"on {favored} {where}"))
        p_value = _p_value(pairs)
        holds = float(p_value.removeprefix("p = ")) >= SIGNIFICANT if p_value != "-" else None
        listed.append(Claim(f"there is no significant difference in {WORDS[measure]} (Wilcoxon)", holds, p_value))
    seconds = [[sum(results.seconds(name, method)) for method in (METHODS["ML"], ALL, METHODS["BR"])] for name in ready]
    for text, flags in {
        f"BR + InfoGain takes more than {LONGER} times as long as MLInfoGain": [br > LONGER * ml for ml, _, br in seconds],
        "no selection is faster than BR + InfoGain": [none < br for _, none, br in seconds],
        "no selection is slower than MLInfoGain": [none > ml for ml, none, _ in seconds],
    }.items():
        listed.append(Claim(text, all(flags), f"on {sum(flags)} {where}"))
    return listed


def _losses(losses: Losses, ready: list[str]) -> ResultTable:
    rows: list[tuple[str, ...]] = []
    agree = []
    grades: dict[tuple[int, int], str] = {}
    for name in ready:
        ours = {short: [float(losses.means(name, method, loss)[0]) for loss in MEASURES] for short, method in METHODS.items()}
        printed = dict(zip(METHODS, TABLE_4[name], strict=True))
        rows.append((name, "published", *(f"{value:.4f}" for short in METHODS for value in printed[short][:4])))
        pairs = [pair for short in METHODS for pair in zip(ours[short], printed[short][:4], strict=True)]
        grades |= graded(len(rows), *zip(*pairs, strict=True))
        rows.append(("", "ours", *(marked(*pair) for pair in pairs)))
        agree += [same(*pair) for pair in pairs]
    columns = ("data set", "", *(f">{short} {loss}" for short in METHODS for loss in ("HLoss", "SLoss", "EbAcc", "RLoss")))
    summary = f"{share(agree)} cells are within 0.0001; * is not."
    compared = Compared(len(agree), sum(agree))
    n_available = f"{len(ready)} of {len(TABLE_4)} data sets are available and finished."
    return ResultTable(
        "Losses at 10 % of the features", columns, rows, f"{summary} {n_available}", compared=compared, grades=grades
    )


def _seconds(results: StudyResults, ready: list[str]) -> ResultTable:
    rows = []
    ratios, selecting = [], []
    for name in ready:
        seconds = {method: results.seconds(name, method) for method in (*METHODS.values(), ALL)}
        br, ml = (seconds[method] for method in METHODS.values())
        printed = [values[4] for values in TABLE_4[name]]
        ratios.append((sum(br) / sum(ml), printed[0] / printed[1]))
        selecting.append(br[0] / ml[0])
        numbers = [f"{value:.1f}" for value in (*br, *ml, seconds[ALL][1])]
        rows.append(
            (
                name,
                *(f"{value:,}" for value in printed),
                f"{ratios[-1][1]:.0f}",
                *numbers,
                f"{ratios[-1][0]:.1f}",
                f"{selecting[-1]:.1f}",
            )
        )
    theirs = ("data set", ">published BR", ">ML", ">BR/ML")
    columns = (
        *theirs,
        ">ours BR: select",
        ">classify",
        ">ML: select",
        ">classify",
        ">all: classify",
        ">BR/ML",
        ">of selection",
    )
    if not rows:
        return ResultTable("Seconds of ten folds", columns, rows)
    here, there = (geometric_mean(column) for column in zip(*ratios, strict=True))
    summary = f"BR + InfoGain takes {there:.0f} times as long as MLInfoGain in the paper and {here:.1f} times here "
    summary += f"({geometric_mean(selecting):.1f} times for the selection alone; geometric means)."
    return ResultTable("Seconds of ten folds", columns, rows, summary)


def _counts(results: StudyResults, losses: Losses, ready: list[str]) -> ResultTable:
    rows: list[tuple[str, ...]] = []
    for index, measure in enumerate(MEASURES):
        printed = {name: (br[index], ml[index]) for name, (br, ml) in TABLE_4.items()}
        ours = {name: tuple(float(losses.means(name, method, measure)[0]) for method in METHODS.values()) for name in ready}
        tables: list[list[tuple[float, ...]]] = [list(printed.values()), [printed[name] for name in ready], list(ours.values())]
        rows.append(
            (f"BR + InfoGain favored slightly: lower {WORDS[measure]}", *(share(br < ml for br, ml in row) for row in tables))
        )
        rows.append((f"no significant difference in {WORDS[measure]} (Wilcoxon)", *map(_p_value, tables)))
    seconds = [[sum(results.seconds(name, method)) for method in (METHODS["ML"], ALL, METHODS["BR"])] for name in ready]
    ratios = [printed[0][4] / printed[1][4] for printed in TABLE_4.values()]
    there = [
        share(ratio > LONGER for ratio in ratios),
        share(TABLE_4[name][0][4] > LONGER * TABLE_4[name][1][4] for name in ready),
    ]
    rows.append(
        (f"BR + InfoGain takes more than {LONGER} times as long", *there, share(br > LONGER * ml for ml, _, br in seconds))
    )
    rows.append(("no selection is faster than BR + InfoGain", "stated", "stated", share(none < br for _, none, br in seconds)))
    rows.append(("no selection is slower than MLInfoGain", "stated", "stated", share(none > ml for ml, none, _ in seconds)))
    columns = ("counted", ">published, all", ">published, these", ">ours")
    summary = f"A p-value below {SIGNIFICANT} contradicts a claim of no difference."
    return ResultTable("Counts behind the claims of section 5.2", columns, rows, summary)


def _p_value(table: Sequence[tuple[float, ...]]) -> str:
    """Return the p-value of Wilcoxon's test for the two methods; it needs at least two data sets."""
    if len(table) < 2:
        return "-"
    return f"p = {compare(table, lower_is_better=True, methods=list(METHODS), test='wilcoxon').p_values[0, 1]:.2g}"


REPLICATION = Replication.of("mlinfogain", "infogain-table4", protocols, result_tables)
