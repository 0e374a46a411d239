"""Figure 4 of Sun and Kudo (2017): five information-theoretic selectors, four global and one for each label."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from labelsieve import Sieve
from labelsieve.chains import ClassifierChain
from labelsieve.criteria import Criterion
from labelsieve.discretize import MeanStd
from labelsieve.formula import I, f, mean_s, s, sum_y, y
from labelsieve.labelspace import NetworkRule
from labelsieve.studies import Protocol
from replications.curves import measure_panels
from replications.optimized_chains.common import (
    FIGURE_SETS,
    N_FEATURES,
    PROGRAM,
    PROGRAMMED,
    WORDS,
    WRITTEN,
    BySize,
    GivenOrder,
    Variant,
    in_readings,
    occ,
    protocol,
    svm,
)
from replications.replication import (
    AS_PUBLISHED,
    Claim,
    DataHome,
    Figures,
    Replication,
    Results,
    ResultTable,
    claims_table,
    selected_sets,
    values_text,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GLOBAL = ("MLMIM", "MLJMI", "MLMRMR", "MLFS global")
LOCAL, ADDED = "MLFS local", "MLMRMR +"
SHOWN = (*GLOBAL, LOCAL, ADDED)
MEASURED = {measure: WORDS[measure] for measure in ("exact_match", "macro_f1")}
EVERY = [(method, measure) for method in SHOWN for measure in MEASURED]
ENDS = {WRITTEN: "", PROGRAMMED: PROGRAM}  # of the names of parts
MAX_FEATURES = 200
CHAIN = "kCC"
SMALL = 3  # of the ten numbers of features: the "smaller values of M" of the text


class AddedRedundancy(Criterion):
    """MRMR with the wrong sign: redundant features are preferred."""

    paper = "a program, not a paper"
    score = sum_y(I(f, y) + mean_s(I(f, s)))


def protocols(*, full: bool = False, sets: Sequence[str] | None = None, data_home: DataHome = None) -> dict[str, Protocol]:
    """Return two parts for each data set, as MLFS local has no single ranking: with ``full``, all four sets, otherwise scene.

    With ``full``, there are two more for each set, run as programmed.

    >>> list(protocols())
    ['scene', 'scene-local']
    """
    names = selected_sets(FIGURE_SETS, sets, FIGURE_SETS if full else FIGURE_SETS[:1])
    parts: dict[str, Protocol] = {}
    for name in names:
        parts |= in_readings(name, partial(_global, name, data_home), full=full)
        parts |= in_readings(f"{name}-local", partial(_local, name, data_home), full=full)
    return parts


def _global(name: str, data_home: DataHome, variant: Variant) -> Protocol:
    return protocol([name], data_home, selectors(variant), [(CHAIN, chain(variant))], n_features=numbers(name))


def _local(name: str, data_home: DataHome, variant: Variant) -> Protocol:
    chains = [(CHAIN, BySize(occ(order="given", variant=variant)))]
    return protocol([name], data_home, [(LOCAL, GivenOrder())], chains, n_features=numbers(name))


def numbers(name: str) -> list[int]:
    """Return 10 % to 100 % of 200 features, or of all where there are fewer.

    >>> numbers("yeast")
    [10, 21, 31, 41, 52, 62, 72, 82, 93, 103]
    """
    most = min(N_FEATURES[name], MAX_FEATURES)
    return [round(most * tenths / 10) for tenths in range(1, 11)]


def selectors(variant: Variant = "paper") -> list[tuple[str, Any]]:
    """Return the selectors with one ranking for all labels; as programmed, they have the levels of that program."""
    levels = MeanStd() if variant == "paper" else MeanStd(factor=0.5, decimals=3, keep_binary=True)
    how = {"discretizer": levels, **AS_PUBLISHED}
    return [
        ("MLMIM", Sieve("mim", **how)),
        ("MLJMI", Sieve("jmi", **how)),
        ("MLMRMR", Sieve("mrmr", **how)),
        (ADDED, Sieve(AddedRedundancy(), **how)),
        ("MLFS global", Sieve("mlfs", parents=network(variant), **how)),
    ]


def network(variant: Variant) -> NetworkRule:
    """Return the parents of each label: 0.8 q of the labels before it, rounded up, or to the nearest number as programmed."""
    return NetworkRule("kcc", order="given", rounding="up" if variant == "paper" else "nearest")


def chain(variant: Variant = "paper") -> ClassifierChain:
    """Return the classifier of all five."""
    return ClassifierChain(svm(), network=network(variant))


def over_m(results: Results, name: str, method: str, measure: str, reading: str) -> Any:
    """Return means over the folds for the ten numbers of features."""
    part = results.get(f"{name}{'-local' if method == LOCAL else ''}{ENDS[reading]}")
    values = np.empty((0, 0)) if part is None else part.curve(name, method, measure, CHAIN)[1]
    return values.mean(axis=0) if len(values) else np.empty(0)


def sets_of(results: Results, reading: str) -> list[str]:
    """Return data sets with results of all selectors."""
    return [name for name in FIGURE_SETS if all(over_m(results, name, *key, reading).size for key in EVERY)]


def result_tables(results: Results) -> list[ResultTable]:
    """Return means and ranges over the numbers of features, then the claims, for each reading."""
    return [table for reading in ENDS if sets_of(results, reading) for table in _tables(results, reading)]


def _tables(results: Results, reading: str) -> list[ResultTable]:
    tables = []
    for measure, words in MEASURED.items():
        rows = []
        for name in sets_of(results, reading):
            values = {method: over_m(results, name, method, measure, reading) for method in SHOWN}
            best = max(values, key=lambda method: values[method].mean())
            rows.append((name, *(f"{curve.mean():.3f}" for curve in values.values()), best))
            rows.append(("  range", *(f"{np.ptp(curve):.3f}" for curve in values.values()), ""))
        columns = ("data set", *(f">{method.removeprefix('ML')}" for method in SHOWN), "best")
        title = f"{words}: mean over ten numbers of features, and their range, {reading}"
        tables.append(ResultTable(title, columns, rows))
    parts = [f"{name}{kind}{ENDS[reading]}" for name in FIGURE_SETS for kind in ("", "-local")]
    for mrmr in ("MLMRMR", ADDED):
        tables.append(claims_table(_claims(results, mrmr, reading), f"{reading}, with {mrmr}", parts))
    return tables


def _claims(results: Results, mrmr: str, reading: str) -> list[Claim]:
    names = sets_of(results, reading)
    listed = []
    every = ("MLMIM", "MLJMI", mrmr, "MLFS global", LOCAL)
    others = every[:3]
    for measure, words in MEASURED.items():
        tables = {method: np.array([over_m(results, name, method, measure, reading) for name in names]) for method in every}
        mean = {method: float(table.mean()) for method, table in tables.items()}
        few = {method: float(table[:, :SMALL].mean()) for method, table in tables.items()}
        spread = {method: float(np.ptp(table, axis=1).mean()) for method, table in tables.items()}
        listed += [
            Claim(f"MLFS local is best on average ({words})", max(mean, key=lambda method: mean[method]) == LOCAL, _text(mean)),
            Claim(f"it changes least with M ({words})", min(spread, key=lambda method: spread[method]) == LOCAL, _text(spread)),
            Claim(
                f"of the global ones MLFS is best ({words})",
                all(mean["MLFS global"] > mean[method] for method in others),
                _text({method: mean[method] for method in every[:4]}),
            ),
            Claim(
                f"with few features, up to 30 %, both MLFS are ahead ({words})",
                all(min(few[LOCAL], few["MLFS global"]) > few[method] for method in others),
                _text(few),
            ),
        ]
    return listed


def _text(values: dict[str, float]) -> str:
    return values_text(values, "{:.3f}")


def figures(results: Results) -> Figures:
    """Draw exact match above and macro-F1 below, over the share of min(d, 200) features, for each reading."""
    return {f"figure4{end}": _panels(results, reading) for reading, end in ENDS.items() if sets_of(results, reading)}


def _panels(results: Results, reading: str) -> "Figure":
    def curves_of(name: str, measure: str) -> tuple[Sequence[float], dict[str, Any]]:
        return range(10, 101, 10), {method: over_m(results, name, method, measure, reading) for method in SHOWN}

    def xlabel(name: str) -> str:
        return f"% of {min(N_FEATURES[name], MAX_FEATURES)} features"

    return measure_panels(MEASURED, sets_of(results, reading), curves_of, xlabel)


REPLICATION = Replication.of("optimized_chains", "mlfs-figure4", protocols, result_tables, figures)
