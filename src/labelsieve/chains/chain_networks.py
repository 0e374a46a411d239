"""The network of a chain: given, or learned by a rule or a published name."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from labelsieve.classifiers.weight_routing import Weights
from labelsieve.counting.backends import CountingOptions
from labelsieve.counting.codes import Codes
from labelsieve.counting.row_weights import quantized_weights
from labelsieve.discretize import Discretizer, EqualWidth, one_table
from labelsieve.errors import InputError
from labelsieve.labelspace import LabelNetwork, NetworkRule, find_parents, read_targets
from labelsieve.labelspace.base_space import random_generator
from labelsieve.registry import resolve_method

# Binary relevance, a classifier chain in a random order (Read et al. 2011), the tree of Zaragoza et al. (2011), and Sun and
# Kudo's (2017) k-dependence chain; then the rules by their own names.
SETTINGS: dict[str, dict[str, Any]] = {
    "br": {"parents": "none", "order": "given"},
    "cc": {"parents": "preceding", "order": "random"},
    "bcc": {"parents": "tree"},
    "kcc": {"parents": "kcc"},
    "preceding": {"parents": "preceding"},
    "tree": {"parents": "tree"},
    "none": {"parents": "none", "order": "given"},
}


def rule_named(network: Any, random_state: Any = None) -> Any:
    """A rule from its name; anything else as it is. ``random_state`` is for rules that have none of their own.

    >>> rule_named("br")
    NetworkRule(order='given', parents='none')
    """
    if isinstance(network, str):
        if network not in SETTINGS:
            names = ", ".join(map(repr, SETTINGS))
            raise InputError(f"network must be {names}, lists of parents, a LabelNetwork or a NetworkRule, not {network!r}.")
        network = NetworkRule(**SETTINGS[network])
    if isinstance(network, NetworkRule) and random_state is not None and network.random_state is None:
        network = clone(network).set_params(random_state=random_generator(random_state))
    return network


def learn_network(
    network: Any,
    X: Any,
    labels: sp.csr_matrix,
    *,
    discretizer: Discretizer,
    names: Any = None,
    weights: Weights = None,
    n_jobs: int | None = None,
) -> LabelNetwork:
    """The network of the labels. Labels with one value alone are nobody's parents, and have none, whoever gave the network.

    ``discretizer`` makes codes of X for rules that condition on the features themselves. ``weights`` of the rows are above 0.
    """
    targets = read_targets(labels, "classes").classes
    codes = Codes.from_values(np.zeros((labels.shape[0], 1), dtype=np.uint8))
    if isinstance(network, NetworkRule) and _looks_at_features(network):
        codes = one_table(discretizer.encode(X, targets, weights), "A network")
    options = CountingOptions(weights=quantized_weights(weights, "plugin"), n_jobs=n_jobs)
    lists, found = find_parents(network, X, codes, targets, options=options)
    if lists is None:
        raise InputError("network is None; give lists of parents, a LabelNetwork, a NetworkRule or a name.")
    order = LabelNetwork.from_lists(lists).order if found is None else found.order
    varies = varying(labels)
    kept = [[parent for parent in mine if varies[parent] and varies[label]] for label, mine in enumerate(lists)]
    given = None if found is None else found.names
    return LabelNetwork(order, tuple(map(tuple, kept)), given if names is None else tuple(map(str, names)))


def varying(labels: sp.csr_matrix) -> NDArray[np.bool_]:
    """Labels that some rows have and others have not.

    >>> varying(sp.csr_matrix([[0, 1, 1], [0, 1, 0]])).tolist()
    [False, False, True]
    """
    counts = np.asarray(labels.sum(axis=0, dtype=np.int64)).ravel()
    varies: NDArray[np.bool_] = (counts > 0) & (counts < labels.shape[0])
    return varies


def _looks_at_features(rule: NetworkRule) -> bool:
    if rule.n_components is not None:
        return False
    if rule.parents == "tree":
        return rule.edge_weight == "given-features"
    return isinstance(rule.order, str) and rule.order == "information"


def discretizer_of(selector: Any) -> Discretizer:
    """That of the selector, or five bins of equal width.

    >>> discretizer_of(None)
    EqualWidth()
    """
    if not hasattr(selector, "criterion") or not hasattr(selector, "discretizer"):
        return EqualWidth()
    return resolve_method(selector.criterion, discretizer=selector.discretizer).discretizer
