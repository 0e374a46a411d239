"""The label network of a chain: given, or learned by a rule or a published name."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from labelsieve.classifiers.weight_routing import Weights
from labelsieve.counting.backends import CountingOptions
from labelsieve.counting.codes import Codes
from labelsieve.counting.row_weights import quantized_weights
from labelsieve.discretize import Discretizer, EqualWidth, one_table
from labelsieve.errors import InputError, unknown_name
from labelsieve.labelspace import LabelNetwork, NetworkRule, find_parents
from labelsieve.labelspace.base_space import RandomState, random_generator
from labelsieve.registry import resolve_method
from labelsieve.table_types import TableLike

# Binary relevance, a classifier chain in a random order (Read et al. 2011), the tree of Zaragoza et al. (2011), and Sun and
# Kudo's (2017) k-dependence chain; then the rules by name.
RULES: dict[str, NetworkRule] = {
    "br": NetworkRule("none", order="given"),
    "cc": NetworkRule("preceding", order="random"),
    "bcc": NetworkRule("tree"),
    "kcc": NetworkRule("kcc"),
    "preceding": NetworkRule("preceding"),
    "tree": NetworkRule("tree"),
    "none": NetworkRule("none", order="given"),
}


def named_rule(network: object, random_state: RandomState = None) -> Any:
    """A rule from its name; anything else is returned unchanged. ``random_state`` is set where the rule has none.

    >>> named_rule("br")
    NetworkRule(order='given', parents='none')
    """
    if isinstance(network, str):
        if network not in RULES:
            raise unknown_name("network", network, RULES, more=", lists of parents, a LabelNetwork or a NetworkRule")
        network = RULES[network]
    if isinstance(network, NetworkRule) and random_state is not None and network.random_state is None:
        network = replace(network, random_state=random_generator(random_state))
    return network


def learn_network(
    network: Any,
    X: TableLike,
    labels: sp.csr_matrix,
    *,
    discretizer: Discretizer,
    names: Any = None,
    weights: Weights = None,
    n_jobs: int | None = None,
) -> LabelNetwork:
    """The network of the labels. In any network, constant labels have no parents and are no parents.

    ``discretizer`` encodes X for rules that condition on the features. ``weights`` of the rows are positive.
    """
    targets = Codes.from_values(labels, what="Y")
    codes = Codes.from_values(np.zeros((labels.shape[0], 1), dtype=np.uint8))
    if isinstance(network, NetworkRule) and _needs_features(network):
        codes = one_table(discretizer.encode(X, targets, weights), "A network")
    options = CountingOptions(weights=quantized_weights(weights, "plugin"), n_jobs=n_jobs)
    lists, found = find_parents(network, X, codes, targets, options=options)
    if lists is None:
        raise InputError("network is None; pass lists of parents, a LabelNetwork, a NetworkRule or a name.")
    order = LabelNetwork.from_lists(lists).order if found is None else found.order
    varies = varying(labels)
    kept = [[parent for parent in parents if varies[parent] and varies[label]] for label, parents in enumerate(lists)]
    given = None if found is None else found.names
    return LabelNetwork(order, tuple(map(tuple, kept)), given if names is None else tuple(map(str, names)))


def varying(labels: sp.csr_matrix) -> NDArray[np.bool_]:
    """Mask of the labels that are present in some rows and absent in others.

    >>> varying(sp.csr_matrix([[0, 1, 1], [0, 1, 0]])).tolist()
    [False, False, True]
    """
    counts = np.bincount(labels.indices, minlength=labels.shape[1])  # no zeros are stored
    varies: NDArray[np.bool_] = (counts > 0) & (counts < labels.shape[0])
    return varies


def _needs_features(rule: NetworkRule) -> bool:
    if rule.n_components is not None:
        return False
    if rule.parents == "tree":
        return rule.edge_weight == "given-features"
    return isinstance(rule.order, str) and rule.order == "information"


def discretizer_of(selector: BaseEstimator) -> Discretizer:
    """The discretizer of the selector, or five bins of equal width.

    >>> discretizer_of(None)
    EqualWidth()
    """
    if not hasattr(selector, "criterion") or not hasattr(selector, "discretizer"):
        return EqualWidth()
    return resolve_method(selector.criterion, discretizer=selector.discretizer).discretizer
