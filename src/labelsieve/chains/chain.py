"""Classifier chains over a label network that is given, random or learned.

``BaseChain.fit`` learns the network, then the features of each label, then the links of the chain in ``links.py``; predictions
search for a labelset in ``inference.py``.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from labelsieve.chains.inference import Inferred, beam, check_exact, exact, greedy, monte_carlo
from labelsieve.chains.links import Link, fit_chain
from labelsieve.classifiers.base import MetaClassifier, Weights, if_base_has
from labelsieve.classifiers.binary_relevance import Columns, columns_of, fit_selector
from labelsieve.counting.backends import CountingOptions
from labelsieve.discretize import Discretizer, EqualWidth, one_table
from labelsieve.errors import InputError, require_same_rows, unknown_name
from labelsieve.labelspace import LabelNetwork, NetworkRule, find_parents
from labelsieve.labelspace.base import RandomState, random_generator
from labelsieve.parameters import AT_LEAST_ONE, AT_LEAST_TWO, PREDICTOR, HasMethods, checked_meta_fit, parameter
from labelsieve.registry import resolve_method
from labelsieve.tables.codes import Codes
from labelsieve.tables.types import Matrix, TableLike, TargetsLike, WeightsLike, is_sparse
from labelsieve.tables.weights import quantized_weights

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


@dataclass(eq=False, repr=False)
class BaseChain(MetaClassifier):
    """A chain of one model for each label: fit, inference and probabilities. A subclass has the network and the selector.

    Parameters
    ----------
    base : classifier, default=None
        A binary classifier; None: ``sklearn.svm.LinearSVC()``.
    inference : {"greedy", "beam", "exact", "monte-carlo"}, default="greedy"
        Search of the labelset: label by label; with the ``beam_width`` best prefixes; among all labelsets (up to 15 labels);
        among ``n_samples`` samples of the chain. All but the first need a ``base`` with probabilities.
    loss : {"subset", "hamming", "f1"}, default="subset"
        The loss to minimize: predict the most probable labelset, the labels with a probability above a half, or the labelset
        with the largest expected F1. Greedy and beam search support the first alone.
    beam_width, n_samples : int, default=10 and 100
        Number of prefixes of ``"beam"``, and of samples of ``"monte-carlo"``.
    parent_values : {"true", "cross-validated"}, default="true"
        The parents' values in training: the labels of the training rows, or their predictions from ``cv`` folds.
    cv : int, default=5
        Number of folds for cross-validated parents.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples, and of random orders and roots of rules that have none.
    n_jobs : int, default=None
        Labels fitted in parallel; folds in parallel with cross-validated parents.

    Attributes
    ----------
    network_ : LabelNetwork
        Constant labels of the training rows have no parents and are no parents; their value is always predicted.
    chain_ : Chain
        The fitted models, in chain order.
    """

    base: BaseEstimator | None = parameter(None, PREDICTOR)
    _: KW_ONLY
    inference: Literal["greedy", "beam", "exact", "monte-carlo"] = "greedy"
    loss: Literal["subset", "hamming", "f1"] = "subset"
    beam_width: int = parameter(10, AT_LEAST_ONE)
    n_samples: int = parameter(100, AT_LEAST_ONE)
    parent_values: Literal["true", "cross-validated"] = "true"
    cv: int = parameter(5, AT_LEAST_TWO)
    random_state: RandomState = None
    n_jobs: int | None = None

    def _base(self) -> Any:
        return LinearSVC() if self.base is None else self.base

    def _network_and_selector(self) -> tuple[Any, Any]:
        """Return the parents of the labels, or a rule that learns them, and the selector of their features."""
        raise NotImplementedError

    @checked_meta_fit
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Learn the network, the features of every label, and its classifier.

        ``sample_weight`` are frequencies of the rows: for a learned network, for a selector whose ``fit`` accepts weights, and
        for ``base``, which must accept them. The folds of cross-validated parents are not weighted.
        """
        self._check_inference()
        names, original = getattr(y, "columns", None), X
        X, labels, weights = self._read(X, y, sample_weight)
        if self.inference == "exact":
            check_exact(int(varying(labels).sum()))
        network, selector = self._network_and_selector()
        self.network_ = learn_network(
            named_rule(network, self.random_state),
            X,
            labels,
            discretizer=discretizer_of(selector),
            names=names,
            weights=weights,
            n_jobs=self.n_jobs,
        )
        columns = self._select(selector, self._with_names(original, X), labels, weights)
        self.chain_ = fit_chain(
            self._base(),
            X.tocsc() if columns is not None and is_sparse(X) else X,
            labels.tocsc(),
            self.network_,
            columns=columns,
            cv=None if self.parent_values == "true" else self.cv,
            weights=weights,
            n_jobs=self.n_jobs,
        )
        return self

    def _check_inference(self) -> None:
        """Refuse inference without the probabilities that it needs."""
        if self.inference != "greedy" and not hasattr(self._base(), "predict_proba"):
            raise InputError(
                f"inference={self.inference!r} needs probabilities, and {type(self._base()).__name__} has no predict_proba; "
                "use inference='greedy', another base, or sklearn.calibration.CalibratedClassifierCV around it."
            )
        if self.loss != "subset" and self.inference in ("greedy", "beam"):
            raise InputError(
                f"loss={self.loss!r} needs the probabilities of labelsets, which inference={self.inference!r} does not have; "
                "use inference='exact' or 'monte-carlo'."
            )

    def _select(self, selector: Any, X: TableLike, labels: sp.csr_matrix, weights: Weights) -> Columns | None:
        """Fit the selector, given the parents of the labels if it uses them, and return the features of each label."""
        self.selector_: Any = None
        if selector is None:
            return None
        selector = clone(selector)
        if "parents" in selector.get_params(deep=False) and selector.parents is None:
            selector.set_params(parents=self.network_.to_lists())
        self.selector_ = fit_selector(selector, X, labels, weights)
        return columns_of(self.selector_)

    def _queries(self, X: TableLike) -> Matrix:
        """Read the rows to predict."""
        X = self._read_queries(X)
        self._validate_params()  # inference= and loss= may have been changed after fit
        self._check_inference()
        greedy_columns = self.inference == "greedy" and self.chain_.needs_columns  # other inference indexes rows
        return X.tocsc() if is_sparse(X) and greedy_columns else X

    def _infer(self, X: Matrix) -> Inferred:
        """Search for labelsets, and return also the probability of every label."""
        chain = self.chain_
        if self.inference == "exact":
            return exact(chain, X, self.loss)
        if self.inference == "monte-carlo":
            return monte_carlo(chain, X, self.loss, self.n_samples, random_generator(self.random_state))
        values = greedy(chain, X) if self.inference == "greedy" else beam(chain, X, self.beam_width)
        return Inferred(values, chain.along(X, values, Link.probability))

    def _values(self, X: Matrix) -> NDArray[np.uint8]:
        """Predict labelsets in chain order; greedy inference needs no probabilities."""
        return greedy(self.chain_, X) if self.inference == "greedy" else self._infer(X).values

    def _present(self, X: TableLike) -> NDArray[np.bool_]:
        values = self._values(self._queries(X))
        return self.chain_.by_label(values).astype(bool)

    def _label_probabilities(self, X: TableLike) -> NDArray[np.float64]:
        inferred = self._infer(self._queries(X))
        return self.chain_.by_label(inferred.probabilities)

    @if_base_has("predict_proba")
    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Predict the probability of every label, shape (n_rows, n_labels); of both values, if Y was one column.

        Marginal probabilities with exact inference and samples; else conditional on the predicted values of the parents.
        """
        return self._in_form_of_y(self._label_probabilities(X))

    @if_base_has("decision_function")
    def decision_function(self, X: TableLike) -> NDArray[np.float64]:
        """Compute decision values given the predicted parents, shape (n_rows, n_labels), or (n_rows,) if Y was one column.

        With greedy inference, positive for the predicted labels. Other inference compares labelsets, and may predict a label
        in spite of a negative decision value.
        """
        X = self._queries(X)
        decisions = self.chain_.along(X, self._values(X), Link.decision)
        by_label = self.chain_.by_label(decisions)
        for label, present in self.chain_.fixed.items():
            by_label[:, label] = 1.0 if present else -1.0
        return self._decisions_in_form_of_y(by_label)

    @if_base_has("predict_proba")
    def joint_log_proba(self, X: TableLike, y: TargetsLike) -> NDArray[np.float64]:
        """Compute the log-probability of the labelsets ``y`` under the chain, one for each row."""
        check_is_fitted(self)
        X = self._read_queries(X)
        labels = self._coder.encode(y)
        require_same_rows(X.shape[0], len(labels), "y")
        values = labels[:, self.chain_.labels]
        present = self.chain_.along(X, values, Link.probability)
        with np.errstate(divide="ignore"):
            logs: NDArray[np.float64] = np.log(np.where(values, present, 1 - present)).sum(axis=1)
        for label, constant in self.chain_.fixed.items():
            logs[labels[:, label] != constant] = -np.inf
        return logs


@dataclass(eq=False, repr=False)
class ClassifierChain(BaseChain):
    r"""One classifier for each label, whose input is the features and the label's parents.

    The model is :math:`P(y \mid x) = \prod_l P(y_l \mid x_{S_l}, y_{Pa_l})`: Read et al. (2011) with all earlier labels as
    parents, Zaragoza et al. (2011) with one each, Sun and Kudo (2017) with k of them and features :math:`S_l` for each label.

    Parameters
    ----------
    network : {"preceding", "br", "cc", "kcc", "bcc", "tree", "none"}, lists, LabelNetwork or NetworkRule, default="preceding"
        The parents of every label, or a rule that learns them. ``"br"`` has none; ``"cc"`` is a chain in a random order,
        ``"preceding"`` in that of Sun and Kudo; ``"bcc"`` a tree from a random root; ``"kcc"`` their k-dependence chain, with
        k = 0.8 of the labels.
    selector : LabelwiseSieve, default=None
        Selects features for each label: any selector whose ``label_support_`` has the columns of each label. If its ``parents``
        are None they are set to those of the network. None: all features for all labels.

    Attributes
    ----------
    selector_ : estimator or None
        The fitted selector.

    Notes
    -----
    Cost: a fit of ``base`` for each label; ``1 + cv`` for labels with children when parents are cross-validated. Sparse X
    stays sparse.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> first = X[:, 0] > 0
    >>> Y = np.column_stack([first, first ^ (X[:, 1] > 1), X[:, 2] > 0]).astype(int)
    >>> model = ClassifierChain(network="kcc").fit(X, Y)
    >>> model.network_.to_lists()
    [[1], [], [1, 0]]
    >>> model.predict([[1.0, 0.0, 1.0, 0.0]])
    array([[1, 1, 1]])
    """

    _: KW_ONLY
    network: str | Sequence[Sequence[int]] | LabelNetwork | NetworkRule = parameter(
        "preceding", str, "array-like", LabelNetwork, NetworkRule
    )
    selector: BaseEstimator | None = parameter(None, HasMethods(["fit", "transform"]))

    def _network_and_selector(self) -> tuple[Any, Any]:
        return self.network, self.selector


def named_rule(network: object, random_state: RandomState = None) -> Any:
    """Look up a rule by its name; anything else is returned unchanged. ``random_state`` is set where the rule has none.

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
    """Learn the network of the labels. In any network, constant labels have no parents and are no parents.

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
    """Return a mask of the labels that are present in some rows and absent in others.

    >>> varying(sp.csr_matrix([[0, 1, 1], [0, 1, 0]])).tolist()
    [False, False, True]
    """
    counts = np.bincount(labels.indices, minlength=labels.shape[1])  # no zeros are stored
    varies: NDArray[np.bool_] = (counts > 0) & (counts < labels.shape[0])
    return varies


def _needs_features(rule: NetworkRule) -> bool:
    """Tell whether a rule conditions on the features."""
    if rule.n_components is not None:
        return False
    if rule.parents == "tree":
        return rule.edge_weight == "given-features"
    return isinstance(rule.order, str) and rule.order == "information"


def discretizer_of(selector: BaseEstimator) -> Discretizer:
    """Return the discretizer of the selector, or five bins of equal width.

    >>> discretizer_of(None)
    EqualWidth()
    """
    if not hasattr(selector, "criterion") or not hasattr(selector, "discretizer"):
        return EqualWidth()
    return resolve_method(selector.criterion, discretizer=selector.discretizer).discretizer
