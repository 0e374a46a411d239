"""From p-values of association to q-values, and the information that the tests could have detected."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, chndtrinc

from labelsieve.counting.codes import Codes
from labelsieve.errors import InputError
from labelsieve.statistics.association_tests import NONE, PERMUTATION, TESTS, AssociationTests
from labelsieve.statistics.false_discovery import Combination, Correction, adjusted, hierarchical_tests
from labelsieve.statistics.table_margins import LevelCounts, largest_entropy

POWER = 0.8
Real = NDArray[np.float64]


@dataclass(frozen=True)
class FamilyRule:
    """How p-values become q-values: see :class:`labelsieve.selectors.MarginalDiscoveries`."""

    method: Literal["hierarchical", "pooled"] = "hierarchical"
    combination: Combination = "simes"
    correction: Correction = "bh"

    def q_values(self, tests: AssociationTests) -> tuple[Real, Real]:
        """Of every feature, and of every pair; 1 for constant features and targets, which are left out of the corrections."""
        features, targets = (np.flatnonzero((tests.tests != NONE).any(axis=axis)) for axis in (1, 0))
        of_features, of_pairs = np.ones(len(tests.tests)), np.ones(tests.tests.shape)
        if not len(features):
            return of_features, of_pairs
        p_values = tests.p_values[np.ix_(features, targets)]
        if self.method == "pooled":
            q_values = adjusted(p_values.ravel(), self.correction).reshape(p_values.shape)
            of_features[features] = q_values.min(axis=1)
        else:
            _, of_features[features], q_values = hierarchical_tests(
                p_values, combination=self.combination, correction=self.correction
            )
        of_pairs[np.ix_(features, targets)] = q_values
        return of_features, of_pairs

    def single_level(self, alpha: float, n_features: int, n_targets: int) -> float:
        """The p-value at which a pair is discovered though all others have p = 1."""
        n_pairs = n_features * n_targets
        n_corrected = n_pairs if self.method == "pooled" else n_features
        penalty = (1 / np.arange(1, n_corrected + 1)).sum() if self.correction == "by" else 1.0
        return float(alpha / (n_pairs * penalty))


class MarginalEvidence:
    """The smallest association that tests of these rows, features and targets can discover.

    Attributes
    ----------
    level : float
        The p-value of a single pair that is discovered though no other is.
    degrees : int
        The most frequent degrees of freedom of a pair; 0 if all columns are constant.
    minimum_information, detectable_information : float
        Observed information with that p-value; and true information that has it with a probability of 80 %. NaN without
        degrees of freedom.
    largest_information : float
        The most information that a feature of these rows can have about a target: the smaller one of their largest entropies.
    """

    def __init__(self, tests: AssociationTests, X: Codes, Y: Codes, alpha: float, rule: FamilyRule) -> None:
        self.tests, self.n_rows, self.alpha = tests, X.n_rows, alpha
        tested = tests.tests != NONE
        sizes = [max(1, int(np.count_nonzero(tested.any(axis=axis)))) for axis in (1, 0)]
        self.level = rule.single_level(alpha, *sizes)
        x, y = (LevelCounts.of_columns(codes).occurring for codes in (X, Y))
        self.degrees = _most_frequent(x) * _most_frequent(y)
        self.largest_information = min(largest_entropy(X), largest_entropy(Y))
        self.minimum_information = self.detectable_information = float("nan")
        if self.degrees:
            self.minimum_information = detectable_information(self.n_rows, self.degrees, self.level)
            self.detectable_information = detectable_information(self.n_rows, self.degrees, self.level, POWER)

    def reason(self, n_permutations: int, *, found: bool) -> str:
        """The tests that were used and, if nothing was found, what could have been."""
        tests = self.tests
        counts = np.bincount(tests.tests.ravel(), minlength=len(TESTS))
        used = ", ".join(f"{count:,} {name}" for name, count in zip(TESTS, counts, strict=True) if count and name != "none")
        sentences = [f"p-values: {used}." if used else "All features or all labels are constant: there is nothing to test."]
        smallest = 1 / (1 + n_permutations)
        if not found and self.degrees:
            sentences.append(
                f"Nothing is discovered at {self.alpha:g}: the smallest p-value is {tests.p_values.min():.2g}, and the largest "
                f"information {tests.information.max():.4f} nats. With {self.n_rows:,} rows a single pair needs a p-value of "
                f"{self.level:.2g}, about {self.minimum_information:.4f} nats; {self._power()}"
            )
        if not found and counts[PERMUTATION] and smallest > self.level:
            sentences.append(
                f"{n_permutations:,} permutations have p-values of {smallest:.2g} or more; increase n_permutations to "
                f"{int(np.ceil(1 / self.level)):,} to discover a single pair by them."
            )
        return " ".join(sentences)

    def _power(self) -> str:
        """How much information is enough, if any is."""
        if self.minimum_information > self.largest_information:
            return f"no pair can have more than {self.largest_information:.4f} nats in these rows, so more rows are needed."
        return f"true information of {self.detectable_information:.4f} nats reaches that with a probability of {POWER:.0%}."


def _most_frequent(occurring: NDArray[np.int64]) -> int:
    """The most frequent number of levels that occur, less one; of columns that are not constant."""
    several = occurring[occurring > 1]
    return int(np.bincount(several).argmax()) - 1 if len(several) else 0


def detectable_information(n_rows: int, degrees: int, level: float, power: float | None = None) -> float:
    r"""Information, in nats, at which :math:`G = 2n \, I` has a p-value of ``level``.

    .. math:: I = \frac{\chi^2_{1 - level}}{2n}

    with ``degrees`` of freedom. With ``power``, the true information that is significant with this probability: under it
    :math:`G` has a noncentral chi-square distribution with noncentrality :math:`2n \, I`.

    >>> round(detectable_information(1000, 4, 0.05 / 1000), 4)
    0.0125
    >>> round(detectable_information(1000, 4, 0.05 / 1000, power=0.8), 4)
    0.0154
    """
    if n_rows < 1 or degrees < 1 or not 0 < level < 1:
        raise InputError("detectable_information needs rows, degrees of freedom and a level between 0 and 1.")
    threshold = float(chdtri(degrees, level))
    if power is None:
        return threshold / (2 * n_rows)
    found = float(chndtrinc(threshold, degrees, 1 - power))
    return (found if np.isfinite(found) else threshold) / (2 * n_rows)
