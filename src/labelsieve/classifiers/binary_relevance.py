"""Binary relevance: every label by itself, on all features or on its own."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import _fit_context, clone
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metaestimators import available_if

from labelsieve.classifiers.base_classifier import MultiLabelClassifier, base_has
from labelsieve.classifiers.binary_models import columns_of, fit_labels, probabilities
from labelsieve.classifiers.weight_routing import Weights, fit_weighted, weight_parameters


class BinaryRelevance(MultiLabelClassifier):
    """One copy of a scikit-learn classifier for each label.

    Parameters
    ----------
    base : classifier
        Of two classes.
    n_jobs : int, optional
        Labels learned at a time.

    Attributes
    ----------
    models_ : list
        One for each label; a label that all training rows have, or none has, is always predicted so.

    Notes
    -----
    Cost: ``n_labels`` fits of ``base``.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = BinaryRelevance(DecisionTreeClassifier()).fit([[0.0], [1.0], [2.0]], [[0, 1], [1, 1], [1, 0]])
    >>> model.predict([[0.1], [1.9]])
    array([[0, 1],
           [1, 0]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "base": [HasMethods(["fit", "predict"])],
        "n_jobs": [Integral, None],
    }

    def __init__(self, base: Any, *, n_jobs: int | None = None) -> None:
        self.base = base
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn every label.

        ``sample_weight`` has a number for every row, 0 to leave it out: how often it counts. ``base`` must take weights.
        """
        given = X
        X, labels, weights = self._read_weighted(X, y, sample_weight)
        columns = self._columns(self._named(given, X), labels, weights)
        self.models_ = fit_labels(self.base, X, labels, columns=columns, weights=weights, n_jobs=self.n_jobs)
        return self

    def _columns(self, X: Any, labels: sp.csr_matrix, weights: Weights) -> Any:
        """Which features each label sees; None: all."""
        return None

    def _queries(self, X: Any) -> Any:
        X = self._read_queries(X)
        return X.tocsc() if sp.issparse(X) and any(model.columns is not None for model in self.models_) else X

    def _label_probabilities(self, X: Any) -> NDArray[np.float64]:
        X = self._queries(X)
        return probabilities(self.models_, X)

    @available_if(base_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of every label: shape (n_rows, n_labels). When Y was one column, of its two values."""
        return super().predict_proba(X)

    @available_if(base_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Of every label, positive where it is present: shape (n_rows, n_labels), or (n_rows,) when Y was one column."""
        X = self._queries(X)
        decisions = np.column_stack([model.decision(X) for model in self.models_])
        return decisions[:, 0] if self._coder.kind == "one" else decisions

    def _present(self, X: Any) -> NDArray[np.bool_]:
        X = self._queries(X)
        return np.column_stack([model.present(X) for model in self.models_])


class LabelSpecific(BinaryRelevance):
    """Binary relevance in which every label sees features of its own.

    Parameters
    ----------
    selector : LabelwiseSieve
        Or another selector whose ``label_support_`` says which columns each label chose.
    base : classifier
        Of two classes.
    n_jobs : int, optional
        Labels learned at a time.

    Attributes
    ----------
    selector_ : the fitted selector
    models_ : list
        One for each label.

    Notes
    -----
    Row weights go to the selector too where its ``fit`` takes them, as that of :class:`~labelsieve.LabelwiseSieve` does.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from labelsieve import LabelwiseSieve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> Y = np.column_stack([X[:, 3] > 0, X[:, 1] > 0.5])
    >>> model = LabelSpecific(LabelwiseSieve("mim", n_features_to_select=1), LogisticRegression()).fit(X, Y)
    >>> [model.columns.tolist() for model in model.models_]
    [[3], [1]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "selector": [HasMethods(["fit", "transform"])],
        **BinaryRelevance._parameter_constraints,
    }

    def __init__(self, selector: Any, base: Any, *, n_jobs: int | None = None) -> None:
        self.selector = selector
        self.base = base
        self.n_jobs = n_jobs

    def _columns(self, X: Any, labels: sp.csr_matrix, weights: Weights) -> Any:
        self.selector_ = fit_weighted(clone(self.selector), X, labels, weights if weight_parameters(self.selector) else None)
        return columns_of(self.selector_)
