"""False discovery rates: combined p-values of a family, adjusted p-values, and families of tests in two levels."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc
from scipy.stats import false_discovery_control

from labelsieve.errors import InputError, one_of

Real = NDArray[np.float64]
Combination = Literal["simes", "fisher"]
Correction = Literal["bh", "by"]
COMBINATIONS = ("simes", "fisher")
CORRECTIONS = ("bh", "by")


def adjusted(p_values: Real, correction: Correction = "bh") -> Real:
    r"""Adjusted p-values (q-values) of every row: the smallest level at which a test is a discovery.

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
    r"""One p-value for every row, of the hypothesis that all null hypotheses of the row are true.

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
    r"""q-values of families of tests (the rows) and of the tests in them (the columns).

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
    """The q-values of single tests, for families that are selected by any q-values: see :func:`hierarchical_tests`."""
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
