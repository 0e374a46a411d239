"""Parents as users give them: lists, a network, a rule, or the name of a rule."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.backends.factory import DEFAULT_OPTIONS, CountingOptions
from labelsieve.counting.codes import Codes
from labelsieve.errors import InputError
from labelsieve.labelspace.label_network import LabelNetwork
from labelsieve.labelspace.network_rule import NetworkRule, numbers
from labelsieve.labelspace.parent_lists import check_parents

NETWORKS = ("kcc", "tree", "preceding")


def find_parents(
    parents: Any,
    X: Any,
    codes: Codes,
    Y: Codes,
    rows: NDArray[np.bool_] | None = None,
    options: CountingOptions = DEFAULT_OPTIONS,
) -> tuple[list[list[int]] | None, LabelNetwork | None]:
    """Parents of every target as lists, and as a network where they are one.

    A rule learns from ``X`` as it came (without the ``rows`` that are false) and from ``codes`` and ``Y``, which have the rows
    that count.

    >>> Y = Codes.from_values([[0, 1], [1, 0], [0, 1]])
    >>> find_parents([[], [0]], None, Y, Y)[0]
    [[], [0]]
    >>> find_parents(NetworkRule("preceding", order="given"), None, Y, Y)[1]
    LabelNetwork(order=(0, 1), parents=((), (0,)), names=None)
    """
    rule = NetworkRule(parents) if isinstance(parents, str) else parents  # type: ignore[arg-type]
    if isinstance(rule, NetworkRule):
        values = X if X is None else numbers(X)
        values = values if values is None or rows is None else values[np.flatnonzero(rows)]
        rule = rule.learn_from_codes(values, codes, Y, options)
    if not isinstance(rule, LabelNetwork):
        return check_parents(rule, Y.n_columns), None
    if rule.n_labels != Y.n_columns:
        raise InputError(
            f"parents is a network of {rule.n_labels} labels for {Y.n_columns} targets; learn it from the same targets."
        )
    return rule.to_lists(), rule
