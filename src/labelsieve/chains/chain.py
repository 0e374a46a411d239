"""Classifier chains over any label network."""

from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import _fit_context, clone
from sklearn.svm import LinearSVC
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from labelsieve.chains.chain_links import Link
from labelsieve.chains.chain_networks import discretizer_of, learn_network, rule_named, varying
from labelsieve.chains.fit_links import Columns, fit_chain
from labelsieve.chains.inference import Answer, beam, check_exact, exact, greedy, monte_carlo
from labelsieve.classifiers.base_classifier import MultiLabelClassifier
from labelsieve.classifiers.binary_models import columns_of
from labelsieve.classifiers.weight_routing import Weights, fit_weighted, weight_parameters
from labelsieve.errors import InputError
from labelsieve.labelspace import LabelNetwork, NetworkRule
from labelsieve.labelspace.base_space import random_generator

Inference = Literal["greedy", "beam", "exact", "monte-carlo"]
Loss = Literal["subset", "hamming", "f1"]


def base_has(method: str) -> Any:
    """A check for ``available_if``: the base estimator has the method."""

    def check(self: Any) -> bool:
        getattr(self._base(), method)
        return True

    return check


class ClassifierChain(MultiLabelClassifier):
    r"""One classifier for each label, which sees the features and the label's parents.

    The model is :math:`P(y \mid x) = \prod_l P(y_l \mid x_{S_l}, y_{Pa_l})`: Read et al. (2011) with all earlier labels as
    parents, Zaragoza et al. (2011) with one each, Sun and Kudo (2017) with k of them and features :math:`S_l` for each label.

    Parameters
    ----------
    base : classifier, optional
        Of two classes; by default a linear support vector machine.
    network : {"preceding", "br", "cc", "kcc", "bcc", "tree", "none"}, lists, LabelNetwork or NetworkRule
        The parents of every label, or how to learn them. ``"br"`` has none; ``"cc"`` is a chain in a random order,
        ``"preceding"`` in that of Sun and Kudo; ``"bcc"`` a tree from a random root; ``"kcc"`` their k-dependence chain, with
        k = 0.8 of the labels.
    selector : LabelwiseSieve, optional
        Features for each label: anything whose ``label_support_`` says which columns each label chose. One whose ``parents``
        are not set gets those of the network. None: all features for all labels.
    inference : {"greedy", "beam", "exact", "monte-carlo"}
        How label sets are found: label by label; with the ``beam_width`` best beginnings; from all label sets (up to 15
        labels); from ``n_samples`` that the chain draws. All but the first need a ``base`` with probabilities.
    loss : {"subset", "hamming", "f1"}
        What to predict: the most probable set, the labels that are more probable than not, or the set with the largest expected
        F. Greedy and beam search know the first alone.
    beam_width, n_samples : int
    parent_values : {"true", "cross-validated"}
        What children learn from: the labels of the training rows, or predictions for them from ``cv`` folds.
    cv : int
    random_state : int, RandomState instance or None
        For random orders and roots of rules without a seed of their own, and for samples.
    n_jobs : int, optional
        Labels learned at a time; folds at a time with cross-validated parents.

    Attributes
    ----------
    network_ : LabelNetwork
        Without labels that have the same value in every training row: they are always predicted so, and are nobody's parents.
    chain_ : the fitted models, in their order
    selector_ : the fitted selector, where there is one

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "base": [HasMethods(["fit", "predict"]), None],
        "network": [str, "array-like", LabelNetwork, NetworkRule],
        "selector": [HasMethods(["fit", "transform"]), None],
        "inference": [StrOptions({"greedy", "beam", "exact", "monte-carlo"})],
        "loss": [StrOptions({"subset", "hamming", "f1"})],
        "beam_width": [Interval(Integral, 1, None, closed="left")],
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "parent_values": [StrOptions({"true", "cross-validated"})],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        base: Any = None,
        *,
        network: Any = "preceding",
        selector: Any = None,
        inference: Inference = "greedy",
        loss: Loss = "subset",
        beam_width: int = 10,
        n_samples: int = 100,
        parent_values: Literal["true", "cross-validated"] = "true",
        cv: int = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.base = base
        self.network = network
        self.selector = selector
        self.inference = inference
        self.loss = loss
        self.beam_width = beam_width
        self.n_samples = n_samples
        self.parent_values = parent_values
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _base(self) -> Any:
        return LinearSVC() if self.base is None else self.base

    def _parts(self) -> tuple[Any, Any]:
        """The network, given or a rule, and the selector."""
        return self.network, self.selector

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the network, the features of every label, and its classifier.

        ``sample_weight`` has a number for every row, 0 to leave it out: how often it counts, for a network that is learned,
        for a selector whose ``fit`` takes weights, and for ``base``, which must take them. Folds of cross-validated parents
        are of rows.
        """
        self._check_inference()
        names, given = getattr(y, "columns", None), X
        X, labels, weights = self._read_weighted(X, y, sample_weight)
        if self.inference == "exact":
            check_exact(int(varying(labels).sum()))
        network, selector = self._parts()
        rule = rule_named(network, self.random_state)
        discretizer = discretizer_of(selector)
        how: dict[str, Any] = {"weights": weights, "n_jobs": self.n_jobs}
        self.network_ = learn_network(rule, X, labels, discretizer=discretizer, names=names, **how)
        columns = self._columns(selector, self._named(given, X), labels, weights)
        X = X.tocsc() if columns is not None and sp.issparse(X) else X
        cv = None if self.parent_values == "true" else self.cv
        self.chain_ = fit_chain(self._base(), X, labels.tocsc(), self.network_, columns=columns, cv=cv, **how)
        return self

    def _weighted_parts(self) -> list[Any]:
        return [self._base()]

    def _check_inference(self) -> None:
        if self.inference != "greedy" and not hasattr(self._base(), "predict_proba"):
            raise InputError(
                f"inference={self.inference!r} needs probabilities, and {type(self._base()).__name__} has no predict_proba; "
                "use inference='greedy', another base, or sklearn.calibration.CalibratedClassifierCV around it."
            )
        if self.loss != "subset" and self.inference in ("greedy", "beam"):
            raise InputError(
                f"loss={self.loss!r} needs the probabilities of whole label sets, which inference={self.inference!r} does not "
                "have; use inference='exact' or 'monte-carlo'."
            )

    def _columns(self, selector: Any, X: Any, labels: sp.csr_matrix, weights: Weights) -> Columns:
        if selector is None:
            self.__dict__.pop("selector_", None)
            return None
        selector = clone(selector)
        if "parents" in selector.get_params(deep=False) and selector.parents is None:
            selector.set_params(parents=self.network_.to_lists())
        self.selector_ = fit_weighted(selector, X, labels, weights if weight_parameters(selector) else None)
        return columns_of(self.selector_)

    def _queries(self, X: Any) -> Any:
        X = self._read_queries(X)
        self._validate_params()  # a fitted chain may be asked in another way, which must be one that there is
        self._check_inference()
        greedy_columns = self.inference == "greedy" and self.chain_.needs_columns  # others take rows, again and again
        return X.tocsc() if sp.issparse(X) and greedy_columns else X

    def _answer(self, X: Any) -> Answer:
        chain = self.chain_
        if self.inference == "exact":
            return exact(chain, X, self.loss)
        if self.inference == "monte-carlo":
            return monte_carlo(chain, X, self.loss, self.n_samples, random_generator(self.random_state))
        values = greedy(chain, X) if self.inference == "greedy" else beam(chain, X, self.beam_width)
        return Answer(values, chain.along(X, values, Link.probability))

    def _values(self, X: Any) -> NDArray[np.uint8]:
        return greedy(self.chain_, X) if self.inference == "greedy" else self._answer(X).values

    def _present(self, X: Any) -> NDArray[np.bool_]:
        values = self._values(self._queries(X))
        return self.chain_.by_label(values).astype(bool)

    def _label_probabilities(self, X: Any) -> NDArray[np.float64]:
        answer = self._answer(self._queries(X))
        return self.chain_.by_label(answer.probabilities)

    @available_if(base_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of every label: shape (n_rows, n_labels). When Y was one column, of its two values.

        Marginal probabilities with exact inference and samples; else given the predicted values of the parents.
        """
        return super().predict_proba(X)

    @available_if(base_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Of every label given the predicted values of its parents: (n_rows, n_labels), or (n_rows,) when Y was one column.

        Positive where the label is predicted when inference is greedy. Other inference weighs whole label sets, and may
        predict a label in spite of a negative decision.
        """
        X = self._queries(X)
        decisions = self.chain_.along(X, self._values(X), Link.decision)
        by_label = self.chain_.by_label(decisions)
        for label, present in self.chain_.fixed.items():
            by_label[:, label] = 1.0 if present else -1.0
        return by_label[:, 0] if self._coder.kind == "one" else by_label

    @available_if(base_has("predict_proba"))  # type: ignore[untyped-decorator]
    def joint_log_proba(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Log-probability of the label sets ``y`` under the chain, one for each row."""
        check_is_fitted(self)
        X = self._read_queries(X)
        labels = self._coder.encode(y)
        if len(labels) != X.shape[0]:
            raise InputError(f"X has {X.shape[0]} rows and y has {len(labels)}; they must be the same rows.")
        values = labels[:, self.chain_.labels]
        present = self.chain_.along(X, values, Link.probability)
        with np.errstate(divide="ignore"):
            logs: NDArray[np.float64] = np.log(np.where(values, present, 1 - present)).sum(axis=1)
        for label, always in self.chain_.fixed.items():
            logs[labels[:, label] != always] = -np.inf
        return logs
