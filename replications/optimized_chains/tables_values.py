"""Tables 3 to 7 of Sun and Kudo (2017): the printed numbers, and ours from the parts of the replication.

Printed are means over five folds, average ranks, and Friedman's statistic.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelsieve.studies.protocol import ALL
from replications.optimized_chains.setup import SETS, SWAPPED
from replications.replication import Results, printed_values

METHODS = ("BR", "ECC", "EBCC", "MDDM", "LLSF", "oCC", "EoCC")
_PRINTED = printed_values("optimized_chains")
PRINTED: dict[str, dict[str, tuple[float, ...]]] = _PRINTED["tables 3 to 6"]

# The last rows of the tables. That of EoCC by macro-F1 is printed as 3.039, which is BR's; its ranks have the mean 4.577.
RANKS: dict[str, tuple[float, ...]] = _PRINTED["average ranks"]

# Table 7, seven methods on thirteen sets.
FRIEDMAN: dict[str, float] = _PRINTED["table 7"]

SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)  # of the features, or of the directions of MDDM
BETAS = (0.001, 0.01, 0.1, 1.0, 10.0)  # of LLSF
OWN = "own features"  # the method of classifiers that select features for every label
FIXED, TUNED, ENSEMBLES, FILLED, HELD_OUT = "fixed", "tuned", "ensembles", "filled", "held-out"
N_FOLDS = 5

WRITTEN, PROGRAMMED = "as written", "as programmed"
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
    def by_other_folds(self) -> float:
        """Value with the parameter, for every fold, that is best on the test rows of the other folds.

        >>> Cell(np.array([[1.0, 0.0], [0.0, 0.5], [0.0, 0.4]])).by_other_folds
        0.0
        """
        total = self.values.sum(axis=0)
        return float(np.mean([fold[int((total - fold).argmax())] for fold in self.values]))


def cell(results: Results, reading: str, name: str, method: str, measure: str) -> Cell | None:
    """Return the values of a data set and method; None unless all folds are finished."""
    part, classifiers = READINGS[reading][method]
    return _cell(results, part, classifiers, name, measure)


def held_out_value(results: Results, name: str, method: str, measure: str) -> float | None:
    """Return the value with the parameter tuned, by exact match, on rows held out of the training rows."""
    values = _cell(results, HELD_OUT, (method,), name, measure)
    return None if values is None else values.best


def _cell(results: Results, part: str, classifiers: Sequence[str], name: str, measure: str) -> Cell | None:
    if part not in results or name not in results[part].datasets:
        return None
    method = OWN if part in (TUNED, ENSEMBLES, FILLED) else ALL
    known = [classifier for classifier in classifiers if classifier in results[part].classifiers]
    tables = [results[part].curve(name, method, measure, classifier)[1] for classifier in known]
    if len(known) < len(classifiers) or any(len(table) < N_FOLDS for table in tables):
        return None
    return Cell(np.hstack(tables))


def sets_in(results: Results) -> list[str]:
    """Return data sets in the order of the tables, the swapped one after its origin."""
    known = {name for part in results.values() for name in part.datasets}
    order = [*SETS[:8], SWAPPED, *SETS[8:]]
    return [name for name in order if name in known]


def printed(name: str, measure: str) -> tuple[float, ...]:
    """Return the row of the paper's table."""
    return PRINTED[measure]["languagelog" if name == SWAPPED else name]


def complete_sets(results: Results, reading: str) -> list[str]:
    """Return data sets with all seven methods; languagelog is included once, swapped if that was run."""
    done = [
        name
        for name in sets_in(results)
        if all(cell(results, reading, name, method, "exact_match") is not None for method in METHODS)
    ]
    return [name for name in done if not (name == "languagelog" and SWAPPED in done)]


def grid(results: Results, reading: str, measure: str, names: Sequence[str]) -> NDArray[np.float64]:
    """Return best-on-test values, a row for each data set and a column for each of the seven methods."""

    def best(name: str, method: str) -> float:
        values = cell(results, reading, name, method, measure)
        return np.nan if values is None else values.best

    return np.array([[best(name, method) for method in METHODS] for name in names])
