"""Error rates over many tests: q-values of features and pairs, and the smallest association that can be discovered."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri, chndtrinc
from scipy.stats import false_discovery_control

from labelsieve.discoveries.association import NONE, PERMUTATION, TESTS, AssociationTests, LevelCounts, largest_entropy
from labelsieve.errors import InputError, one_of
from labelsieve.tables.codes import Codes

Real = NDArray[np.float64]
Combination = Literal["simes", "fisher"]
Correction = Literal["bh", "by"]
COMBINATIONS = ("simes", "fisher")
CORRECTIONS = ("bh", "by")


def adjusted(p_values: Real, correction: Correction = "bh") -> Real:
    r"""Adjust the p-values of every row: a q-value is the smallest level at which a test is a discovery.

    .. math:: q_{(i)} = \min_{k \ge i} \; \min\Big(1, \frac{c \, m}{k} \, p_{(k)}\Big)

    for :math:`m` tests in a row; :math:`c = 1` for ``"bh"`` (Benjamini and Hochberg 1995), whose false discovery rate is
    controlled for independent and positively dependent tests, and :math:`c = \sum_{i \le m} 1/i` for ``"by"`` (Benjamini and
    Yekutieli 2001), under any dependence.

    >>> adjusted(np.array([0.01, 0.02, 0.9]))
    array([0.03, 0.03, 0.9 ])
    """
    one_of(correction, "correction", CORRECTIONS)
    values = _checked(p_values)
    if not values.size:
        return values.copy()
    result: Real = np.minimum(false_discovery_control(values, axis=-1, method=correction), 1.0)
    return result


def combined(p_values: Real, combination: Combination = "simes") -> Real:
    r"""Combine every row into one p-value, of the hypothesis that all null hypotheses of the row are true.

    ``"simes"`` (1986): :math:`\min_k \frac{m}{k} p_{(k)}`, valid for independent and positively dependent p-values.
    ``"fisher"`` (1925): :math:`-2 \sum \log p` is chi-square distributed with :math:`2m` degrees of freedom, for independent
    p-values only: with dependent ones, such as those of correlated labels, the combined p-value is too small.

    >>> combined(np.array([[0.01, 0.4], [0.5, 0.6]])).round(3)
    array([0.02, 0.6 ])
    >>> combined(np.array([[0.01, 0.4]]), "fisher").round(4)
    array([0.0261])
    """
    one_of(combination, "combine", COMBINATIONS)
    values = _checked(p_values)
    m = values.shape[-1]
    if combination == "simes":
        smallest: Real = (np.sort(values, axis=-1) * (m / np.arange(1, m + 1))).min(axis=-1)
        return np.minimum(smallest, 1.0)
    with np.errstate(divide="ignore"):
        fisher: Real = chdtrc(2 * m, -2 * np.log(values).sum(axis=-1))
    return fisher


class HierarchicalTests(NamedTuple):
    """The result of :func:`hierarchical_tests`.

    Attributes
    ----------
    family_p_values, family_q_values : ndarray of shape (n_families,)
        p-values and q-values of the families.
    q_values : ndarray of shape (n_families, n_tests)
        q-values of the tests.
    """

    family_p_values: Real
    family_q_values: Real
    q_values: Real


def hierarchical_tests(
    p_values: Real, *, combination: Combination = "simes", correction: Correction = "bh"
) -> HierarchicalTests:
    r"""Compute q-values of families of tests (the rows) and of the tests in them (the columns).

    Peterson, Bogomolov, Benjamini and Sabatti (2016), after Benjamini and Bogomolov (2014): the p-values of a family are
    combined; families are selected by their q-values at level :math:`\alpha`; in each of the :math:`R` selected ones of
    :math:`d`, Benjamini and Hochberg's procedure is applied at level :math:`\alpha R / d`. The false discovery rate over
    families is at most :math:`\alpha`, and so is the expected average, over the selected families, of the false discovery
    proportion inside a family.

    The q-value of a test is the smallest :math:`\alpha` at which its family is selected and it is discovered inside of it:

    .. math:: q_{jl} = \min_{\alpha \ge q_j} \; \max\Big(\alpha, \frac{d}{R(\alpha)} \, \tilde p_{jl}\Big)

    with :math:`\tilde p_{jl}` the adjusted p-value inside the family and :math:`R(\alpha)` the number of families with
    :math:`q_j \le \alpha`. Cost: sorting the p-values.

    >>> tests = hierarchical_tests(np.array([[0.001, 0.9], [0.5, 0.6]]))
    >>> tests.family_q_values, tests.q_values
    (array([0.004, 0.6  ]), array([[0.004, 0.9  ], [0.6  , 0.6  ]]))
    """
    values = _checked(p_values)
    of_families = combined(values, combination)
    family_q = adjusted(of_families, correction)
    return HierarchicalTests(of_families, family_q, within_selected(values, family_q))


def within_selected(p_values: Real, family_q_values: Real) -> Real:
    """Compute q-values of single tests given the q-values of their families: see :func:`hierarchical_tests`."""
    inside, n_families = adjusted(p_values), len(family_q_values)
    if not inside.size:
        return inside
    # The number of selected families changes at the levels q; level * selected / d grows with them.
    levels, first = np.unique(family_q_values, return_inverse=True)
    n_selected = np.searchsorted(np.sort(family_q_values), levels, side="right")
    reached = levels * n_selected / n_families
    crossing = np.searchsorted(reached, inside)  # the first level at which the test is discovered, if its family is
    own = first.reshape(-1, 1)
    at = np.maximum(crossing, own)
    none = at >= len(levels)
    candidate = np.where(none, np.inf, levels[np.minimum(at, len(levels) - 1)])
    before = np.maximum(at, 1) - 1  # discovered between this level and the next
    between = np.where(before >= own, np.maximum(inside * n_families / n_selected[before], levels[before]), np.inf)
    result: Real = np.minimum(np.minimum(candidate, between), 1.0)
    return result


def _checked(p_values: Real) -> Real:
    values = np.asarray(p_values, dtype=np.float64)
    if values.size and not ((values >= 0) & (values <= 1)).all():
        raise InputError("p-values must be between 0 and 1; one is not, or it is NaN.")
    return values


POWER = 0.8  # probability of a discovery that detectable information stands for


@dataclass(frozen=True)
class FamilyRule:
    """Rule that turns p-values into q-values; :class:`labelsieve.selectors.MarginalDiscoveries` describes its options."""

    method: Literal["hierarchical", "pooled"] = "hierarchical"
    combination: Combination = "simes"
    correction: Correction = "bh"

    def q_values(self, tests: AssociationTests) -> tuple[Real, Real]:
        """Return q-values of every feature and of every pair; those of constant columns, which are not tested, are 1."""
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
        """Return the p-value at which a pair is discovered though all others have p = 1."""
        n_pairs = n_features * n_targets
        n_corrected = n_pairs if self.method == "pooled" else n_features
        penalty = (1 / np.arange(1, n_corrected + 1)).sum() if self.correction == "by" else 1.0
        return float(alpha / (n_pairs * penalty))


class MarginalEvidence:
    """The smallest association that tests of these rows, features and targets can discover.

    ``level`` is the p-value of a single pair that is discovered though no other is, ``minimum_information`` the observed
    information with that p-value, and ``detectable_information`` the true information that has it with a probability of 80 %,
    for the most frequent ``degrees`` of freedom; both are NaN if all columns are constant. ``largest_information`` is the most
    that a feature of these rows can have about a target: the smaller one of their largest entropies.
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
        """Say which tests were used and, if nothing was found, what could have been found."""
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
        """Say how much information is enough to be discovered, if any is."""
        if self.minimum_information > self.largest_information:
            return f"no pair can have more than {self.largest_information:.4f} nats in these rows, so more rows are needed."
        return f"true information of {self.detectable_information:.4f} nats reaches that with a probability of {POWER:.0%}."


def _most_frequent(occurring: NDArray[np.int64]) -> int:
    """Return the most frequent number of occurring levels, minus one, of the columns that are not constant."""
    several = occurring[occurring > 1]
    return int(np.bincount(several).argmax()) - 1 if len(several) else 0


def detectable_information(n_rows: int, degrees: int, level: float, power: float | None = None) -> float:
    r"""Compute the information, in nats, at which :math:`G = 2n \, I` has a p-value of ``level``.

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
