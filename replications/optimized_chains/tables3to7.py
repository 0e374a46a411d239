"""Tables 3 to 7 and figure 8 of Sun and Kudo (2017): oCC, EoCC and five other methods on thirteen data sets.

Printed are means over five folds, average ranks, and Friedman's statistic.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as f_distribution
from sklearn.model_selection import GridSearchCV, ShuffleSplit

from labelsieve.chains import ChainEnsemble, ClassifierChain
from labelsieve.metrics import get_scorer
from labelsieve.selectors import LLSF
from labelsieve.statistics import Comparison, compare, critical_difference
from labelsieve.studies import Protocol
from labelsieve.studies.protocol import ALL
from replications.curves import diagram_panels
from replications.optimized_chains.common import (
    MEASURES,
    OWN,
    PROGRAMMED,
    SETS,
    TIES,
    VARIANTS,
    WORDS,
    WRITTEN,
    BySize,
    GivenOrder,
    SharedDirections,
    TunedShare,
    Variant,
    occ,
    protocol,
    svm,
)
from replications.replication import (
    SWAPPED,
    WITHIN,
    Claim,
    Compared,
    DataHome,
    Figures,
    Replication,
    Results,
    ResultTable,
    claims_table,
    grade,
    printed_values,
    selected_sets,
    values_text,
)
from replications.sampling import FEWEST, Interval, intervals, rank_differences

METHODS = ("BR", "ECC", "EBCC", "MDDM", "LLSF", "oCC", "EoCC")
_PRINTED = printed_values("optimized_chains")
PRINTED: dict[str, dict[str, tuple[float, ...]]] = _PRINTED["tables 3 to 6"]
# Those of EBCC are 0.001 nearly everywhere, which cannot be the spread over five folds.
DEVIATIONS: dict[str, dict[str, tuple[float, ...]]] = _PRINTED["standard deviations of tables 3 to 6"]
HALF_DIGIT = 0.0005  # of printed values
# The last rows of the tables. That of EoCC by macro-F1 is printed as 3.039, which is BR's; its ranks have the mean 4.577.
RANKS: dict[str, tuple[float, ...]] = _PRINTED["average ranks"]
# Table 7, seven methods on thirteen sets.
FRIEDMAN: dict[str, float] = _PRINTED["table 7"]
QUICK_SETS = ("emotions", "scene")
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)  # of the features, or of the directions of MDDM
BETAS = (0.001, 0.01, 0.1, 1.0, 10.0)  # of LLSF
STEPS = 100  # of LLSF
FIXED, TUNED, ENSEMBLES, FILLED, HELD_OUT = "fixed", "tuned", "ensembles", "filled", "held-out"
N_FOLDS = 5
_BETAS = tuple(f"LLSF {beta:g}" for beta in BETAS)
# Part of the study and classifiers in it: one with all its numbers of features, or several with one parameter each.
_AS_WRITTEN: dict[str, tuple[str, tuple[str, ...]]] = {
    "BR": (FIXED, ("BR",)),
    "ECC": (FIXED, ("ECC",)),
    "EBCC": (FIXED, ("EBCC",)),
    "MDDM": (TUNED, ("MDDM",)),
    "LLSF": (FIXED, _BETAS),
    "oCC": (TUNED, ("oCC",)),
    "EoCC": (ENSEMBLES, ("EoCC",)),
}
READINGS: dict[str, dict[str, tuple[str, tuple[str, ...]]]] = {
    WRITTEN: _AS_WRITTEN,
    PROGRAMMED: _AS_WRITTEN
    | {
        "ECC": (FIXED, ("ECC program",)),
        "EBCC": (FIXED, ("EBCC program",)),
        "MDDM": (FILLED, ("MDDM program",)),
        "oCC": (TUNED, ("oCC program",)),
        "EoCC": (ENSEMBLES, ("EoCC program",)),
    },
}
TOLERANCE = dict.fromkeys(MEASURES, 0.02) | {"hamming_score": 0.005}  # all methods are near 1 where labels are rare
TABLE = dict(zip(MEASURES, (3, 4, 5, 6), strict=True))
TUNED_METHODS = ("MDDM", "oCC", "EoCC")
MIN_SETS = 3  # data sets for ranks and tests


def protocols(*, full: bool = False, sets: Sequence[str] | None = None, data_home: DataHome = None) -> dict[str, Protocol]:
    """Return parts: methods without a number of features, with every number, and with one tuned on held-out rows.

    ``full`` is all thirteen sets, and one of them twice (see the assumptions); otherwise two small ones.

    >>> protocols(full=True)["tuned"]
    Protocol: 14 data sets, 1 method (own features), 5 numbers of features, 3 classifiers, 4 measures, FoldsByData
    """
    names = selected_sets((*SETS, SWAPPED), sets, (*SETS, SWAPPED) if full else QUICK_SETS)
    order = [(OWN, GivenOrder())]
    return {
        FIXED: protocol(names, data_home, [ALL], fixed()),
        TUNED: protocol(names, data_home, order, tuned(), n_features=SHARES),
        ENSEMBLES: protocol(names, data_home, order, ensembles(), n_features=SHARES),
        FILLED: protocol(names, data_home, order, filled(), n_features=SHARES),
        HELD_OUT: protocol(names, data_home, [ALL], tuned_inside()),
    }


def fixed() -> list[tuple[str, Any]]:
    """Return methods with all features, and LLSF, which has another parameter."""
    llsf = [(f"LLSF {beta:g}", llsf_chain(beta)) for beta in BETAS]
    ensembles = [
        (f"{name}{suffix}", ChainEnsemble(chain, svm(), sampling=sampling, ties=TIES[sampling], random_state=0))
        for name, chain in (("ECC", "cc"), ("EBCC", "bcc"))
        for suffix, sampling in zip(("", " program"), VARIANTS.values(), strict=True)
    ]
    return [
        ("BR", ClassifierChain(svm(), network="br")),
        ("CC", ClassifierChain(svm(), network="cc", random_state=0)),
        *ensembles,
        *llsf,
    ]


def tuned() -> list[tuple[str, Any]]:
    """Return MDDM, and oCC as written and as programmed, for every number of features."""
    return [
        ("MDDM", BySize(SharedDirections(svm()))),
        ("oCC", BySize(occ())),
        ("oCC program", BySize(occ(variant="authors-program"))),
    ]


def ensembles() -> list[tuple[str, Any]]:
    """Return EoCC as written and as programmed."""
    return [
        ("EoCC", BySize(eocc(occ(order="random"), "paper"))),
        ("EoCC program", BySize(eocc(occ(order="random", variant="authors-program"), "authors-program"))),
    ]


def filled() -> list[tuple[str, Any]]:
    """Return MDDM of a program without mu."""
    return [("MDDM program", BySize(SharedDirections(svm(), directions="filled")))]


def tuned_inside() -> list[tuple[str, Any]]:
    """Return methods with the number tuned inside the training rows; EoCC is left out, as it would double the cost."""
    inside = ShuffleSplit(1, test_size=0.25, random_state=0)
    grid = {"selector__beta": list(BETAS)}
    return [
        ("MDDM", TunedShare(SharedDirections(svm()), SHARES)),
        ("LLSF", GridSearchCV(llsf_chain(BETAS[0]), grid, scoring=get_scorer("exact_match"), cv=inside)),
        ("oCC", TunedShare(occ(), SHARES)),
    ]


def parts_of(reading: str) -> list[str]:
    """Return the parts of the study that a reading uses.

    >>> parts_of(WRITTEN)
    ['fixed', 'tuned', 'ensembles']
    """
    return list(dict.fromkeys(part for part, _ in READINGS[reading].values()))


def llsf_chain(beta: float) -> ClassifierChain:
    """Return BR on the features that LLSF selects for every label."""
    return ClassifierChain(svm(), network="br", selector=LLSF(beta=beta, max_iter=STEPS))


def eocc(chain: object, sampling: Variant) -> ChainEnsemble:
    """Return ten oCC in random orders that vote."""
    return ChainEnsemble(chain, sampling=sampling, ties=TIES[sampling], random_state=0)


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
            tables.append(claims_table(claims(results, reading), reading, parts_of(reading)))
    return tables


def _table(results: Results, reading: str, measure: str) -> ResultTable:
    rows: list[tuple[str, ...]] = []
    near, within, run, same, winners = 0, 0, 0, 0, 0
    sampled: list[bool] = []  # whether the interval has the printed value
    tolerance = TOLERANCE[measure]
    grades = {}
    for name in sets_in(results):
        cells = [cell(results, reading, name, method, measure) for method in METHODS]
        theirs, deviations = printed(name, measure), printed(name, measure, DEVIATIONS)
        shown = []
        for column, (measured, value, deviation) in enumerate(zip(cells, theirs, deviations, strict=True), start=1):
            if measured is None:
                shown.append("-")
                continue
            counted = name != "languagelog" or SWAPPED not in sets_in(results)  # its row of the paper counts once
            if measured.is_sampled:
                low, high = measured.interval
                shown.append(f"~{measured.best:.3f}±{max(high - measured.best, measured.best - low):.3f}")
                sampled += [low - HALF_DIGIT <= value <= high + HALF_DIGIT] * counted
                continue
            close = abs(measured.best - value) <= tolerance
            found = grades[len(rows), column] = grade(measured.best, value, deviation + HALF_DIGIT)
            shown.append(f"{measured.best:.3f}" + (" " if close else "*"))
            if counted:
                near, within, run = near + close, within + (found == WITHIN), run + 1
        rows += [(name, *shown), ("  printed", *(f"{value:.3f} " for value in theirs))]
        ours = [measured.best for measured in cells if measured is not None and not measured.is_sampled]
        if len(ours) == len(cells) and len({round(value, 3) for value in theirs}) > 1:
            winners += 1
            same += theirs[int(np.argmax(ours))] == max(theirs)
    summary = (
        f"{near} of {run} cells are within {tolerance} of those printed; * marks the others. {within} are within the printed "
        "standard deviation."
    )
    if winners:
        summary += f" The printed winner is ours on {same} of {winners} data sets."
    if sampled:
        summary += f" ~: {len(sampled)} sampled, whose interval (±) has the printed value in {sum(sampled)}."
    title = f"Table {TABLE[measure]}, {WORDS[measure]}, {reading}; best parameter on the test folds"
    columns = ("data set", *(f">{method}" for method in METHODS))
    compared = Compared(run, near, reading, within, len(sampled))
    return ResultTable(title, columns, rows, summary, compared=compared, grades=grades)


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
    return float(f_distribution.ppf(0.95, len(METHODS) - 1, (len(METHODS) - 1) * (n_sets - 1)))


def _every_share(results: Results, reading: str, measure: str) -> ResultTable:
    rows = []
    for name in sets_in(results):
        for method in TUNED_METHODS:
            values = cell(results, reading, name, method, measure)
            if values is not None and not values.is_sampled:
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


def claims(results: Results, reading: str) -> list[Claim]:
    """Return the claims of sections 8.6 and 8.7, by average ranks over the thirteen data sets.

    Values that are sampled may be anywhere in their intervals, and values that are missing anywhere from 0 to 1. A claim is
    decided if no such values could change its verdict.
    """
    names = complete_sets(results, reading)
    comparisons = {
        measure: compare(grid(results, reading, measure, names), lower_is_better=False, methods=METHODS) for measure in MEASURES
    }
    possible = {measure: Possible.of(results, reading, measure) for measure in MEASURES}
    ranks = {
        measure: dict(zip(METHODS, map(float, compared.average_ranks), strict=True))
        for measure, compared in comparisons.items()
    }
    where = "" if len(names) == len(SETS) else f" ({len(names)} of {len(SETS)} data sets are complete)"
    listed = [_first(ranks, possible, "oCC", measure) for measure in ("exact_match", "macro_f1", "micro_f1")]
    listed.append(_first(ranks, possible, "EoCC", "hamming_score"))
    for method, others, text in (
        ("EoCC", ("ECC", "EBCC"), "EoCC is the best of the three ensembles by all four measures"),
        ("ECC", ("EBCC",), "ECC is better than EBCC by all four measures"),
        ("LLSF", ("MDDM",), "LLSF, local, is better than MDDM, global, by all four measures"),
    ):
        listed.append(_everywhere(ranks, possible, method, others, text))
    positions = {measure: sorted(METHODS, key=ranks[measure].__getitem__).index("BR") + 1 for measure in MEASURES}
    in_front = [possible[measure].is_among("BR", 3) for measure in MEASURES]
    only_macro = every(
        (found if measure == "macro_f1" else _not(found)) for measure, found in zip(MEASURES, in_front, strict=True)
    )
    listed.append(Claim("BR is among the best three by macro-F1 alone", only_macro, _by_measure(positions, "{:d}")))
    p_values = {measure: compared.friedman.p_value for measure, compared in comparisons.items()}
    differ = all(value < 0.05 for value in p_values.values()) if all(one.is_exact for one in possible.values()) else None
    listed.append(Claim("Friedman's test shows differences by all four measures", differ, _by_measure(p_values, "p = {:.2g}")))
    listed.append(_significant(comparisons["exact_match"], possible["exact_match"]))
    return [replace(claim, observed=f"{claim.observed}{where}.", certain=claim.holds is not None) for claim in listed]


@dataclass(frozen=True)
class Possible:
    """What average ranks are possible with values in intervals: the least and the largest difference of every two methods."""

    least: NDArray[np.float64]
    most: NDArray[np.float64]

    @classmethod
    def of(cls, results: Results, reading: str, measure: str) -> Self:
        """Return the differences over the thirteen data sets."""
        swapped = SWAPPED in complete_sets(results, reading)
        names = [SWAPPED if name == "languagelog" and swapped else name for name in SETS]
        cells = [[cell(results, reading, name, method, measure) for method in METHODS] for name in names]
        ends = np.array([[(0.0, 1.0) if one is None else one.interval for one in row] for row in cells])
        return cls(*rank_differences(ends[..., 0], ends[..., 1]))

    @property
    def is_exact(self) -> bool:
        """Whether all values are known."""
        return bool(np.array_equal(self.least, self.most))

    def ends(self, method: str, other: str) -> Interval:
        """Return the least and the largest average rank of a method minus that of another."""
        pair = METHODS.index(method), METHODS.index(other)
        return Interval(float(self.least[pair]), float(self.most[pair]))

    def is_ahead(self, method: str, other: str, *, or_equal: bool = False) -> bool | None:
        """Say whether a method has a better average rank than another; None if that is undecided."""
        low, high = self.ends(method, other)
        if high < 0 or (or_equal and high == 0):
            return True
        return False if low > 0 or (not or_equal and low == 0) else None

    def is_among(self, method: str, count: int) -> bool | None:
        """Say whether at most ``count`` - 1 methods have a better average rank; None if that is undecided."""
        ahead = [self.is_ahead(other, method) for other in METHODS if other != method]
        if sum(found is not False for found in ahead) < count:
            return True
        return False if sum(found is True for found in ahead) >= count else None


def every(found: Iterable[bool | None]) -> bool | None:
    """Return whether all hold: False if one does not, None if that is undecided.

    >>> every([True, None]), every([True, None, False])
    (None, False)
    """
    found = list(found)
    return False if False in found else None if None in found else True


def _not(found: bool | None) -> bool | None:
    return None if found is None else not found


Ranks = Mapping[str, Mapping[str, float]]


def _first(ranks: Ranks, possible: Mapping[str, Possible], method: str, measure: str) -> Claim:
    by_method = ranks[measure]
    order = sorted(by_method, key=by_method.__getitem__)
    shown = ", ".join(f"{name} {by_method[name]:.2f}" for name in dict.fromkeys([*order[:2], method]))
    first = every(possible[measure].is_ahead(method, other, or_equal=True) for other in METHODS if other != method)
    return Claim(f"{method} has the best average rank by {WORDS[measure]}", first, shown)


def _everywhere(ranks: Ranks, possible: Mapping[str, Possible], method: str, others: tuple[str, ...], text: str) -> Claim:
    wins = {measure: all(by_method[method] < by_method[other] for other in others) for measure, by_method in ranks.items()}
    lost = [WORDS[measure] for measure, won in wins.items() if not won]
    holds = every(possible[measure].is_ahead(method, other) for measure in MEASURES for other in others)
    return Claim(text, holds, f"not by {', '.join(lost)}" if lost else "by all")


def _significant(compared: Comparison, possible: Possible) -> Claim:
    """Check that by exact match oCC and EoCC differ from BR, MDDM and LLSF, and not from ECC and EBCC."""
    index = {method: compared.methods.index(method) for method in METHODS}
    expected = {
        (method, other): other not in ("ECC", "EBCC")
        for method in ("oCC", "EoCC")
        for other in ("BR", "MDDM", "LLSF", "ECC", "EBCC")
    }
    different = {pair: bool(compared.different[index[pair[0]], index[pair[1]]]) for pair in expected}
    distance = critical_difference(len(METHODS), len(SETS))
    # The test needs Friedman's, which only complete values have. Ranks that are too near to differ suffice to refute the claim.
    near = {pair: max(map(abs, possible.ends(*pair))) <= distance for pair in expected}
    refuted = any(apart and near[pair] for pair, apart in expected.items())
    holds = different == expected if possible.is_exact else False if refuted else None
    listed = [" and ".join(pair) for pair, apart in different.items() if apart]
    return Claim(
        "by exact match Nemenyi's test separates oCC and EoCC from all except ECC and EBCC",
        holds,
        f"CD {compared.critical_difference:.2f}; different: {', '.join(listed) or 'none of these pairs'}",
    )


def _by_measure(values: Mapping[str, float], form: str) -> str:
    return values_text({WORDS[measure]: value for measure, value in values.items() if np.isfinite(value)}, form)


@dataclass(frozen=True)
class Cell:
    """Values of a method by fold (rows) and parameter (columns)."""

    values: NDArray[np.float64]

    @property
    def means(self) -> NDArray[np.float64]:
        """Means over the folds, by parameter."""
        means: NDArray[np.float64] = self.values.mean(axis=0)
        return means

    @property
    def best(self) -> float:
        """Value with the parameter that is best on the test rows, as the paper's numbers seem to be."""
        return float(self.means.max())

    @property
    def is_sampled(self) -> bool:
        """Whether only the first folds have been run."""
        return len(self.values) < N_FOLDS

    @property
    def interval(self) -> Interval:
        """The interval of the best value over all folds: no width if all have been run."""
        low, high = intervals(self.values, N_FOLDS)
        return Interval(float(low.max()), float(high.max()))

    @property
    def by_other_folds(self) -> float:
        """Value with the parameter, for every fold, that is best on the test rows of the other folds.

        >>> Cell(np.array([[1.0, 0.0], [0.0, 0.5], [0.0, 0.4]])).by_other_folds
        0.0
        """
        total = self.values.sum(axis=0)
        return float(np.mean([fold[int((total - fold).argmax())] for fold in self.values]))


def cell(results: Results, reading: str, name: str, method: str, measure: str) -> Cell | None:
    """Return the values of a data set and method, of all folds or of the first ones; None with fewer than two."""
    part, classifiers = READINGS[reading][method]
    return _cell(results, part, classifiers, name, measure)


def held_out_value(results: Results, name: str, method: str, measure: str) -> float | None:
    """Return the value with the parameter tuned, by exact match, on rows held out of the training rows."""
    values = _cell(results, HELD_OUT, (method,), name, measure)
    return None if values is None or values.is_sampled else values.best


def _cell(results: Results, part: str, classifiers: Sequence[str], name: str, measure: str) -> Cell | None:
    if part not in results or name not in results[part].datasets:
        return None
    method = OWN if part in (TUNED, ENSEMBLES, FILLED) else ALL
    known = [classifier for classifier in classifiers if classifier in results[part].classifiers]
    tables = [results[part].curve(name, method, measure, classifier)[1] for classifier in known]
    n_folds = min(map(len, tables), default=0)
    if len(known) < len(classifiers) or n_folds < FEWEST:
        return None
    return Cell(np.hstack([table[:n_folds] for table in tables]))


def sets_in(results: Results) -> list[str]:
    """Return data sets in the order of the tables, the swapped one after its origin."""
    known = {name for part in results.values() for name in part.datasets}
    order = [*SETS[:8], SWAPPED, *SETS[8:]]
    return [name for name in order if name in known]


def printed(name: str, measure: str, table: Mapping[str, Mapping[str, tuple[float, ...]]] = PRINTED) -> tuple[float, ...]:
    """Return the row of the paper's table, of means or of standard deviations."""
    return table[measure]["languagelog" if name == SWAPPED else name]


def complete_sets(results: Results, reading: str) -> list[str]:
    """Return data sets with all folds of all seven methods; languagelog is included once, swapped if that was run."""

    def is_complete(name: str) -> bool:
        cells = [cell(results, reading, name, method, "exact_match") for method in METHODS]
        return all(one is not None and not one.is_sampled for one in cells)

    done = [name for name in sets_in(results) if is_complete(name)]
    return [name for name in done if not (name == "languagelog" and SWAPPED in done)]


def grid(results: Results, reading: str, measure: str, names: Sequence[str]) -> NDArray[np.float64]:
    """Return best-on-test values, a row for each data set and a column for each of the seven methods."""

    def best(name: str, method: str) -> float:
        values = cell(results, reading, name, method, measure)
        return np.nan if values is None else values.best

    return np.array([[best(name, method) for method in METHODS] for name in names])


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


REPLICATION = Replication.of("optimized_chains", "occ-tables", protocols, result_tables, figures, samples=True)
