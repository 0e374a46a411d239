"""Binary relevance: a separate classifier for each label, on all features or on label-specific ones."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metaestimators import available_if

from labelsieve.classifiers.base_classifier import MetaClassifier, base_has
from labelsieve.classifiers.binary_models import columns_of, fit_labels, probabilities
from labelsieve.classifiers.weight_routing import Weights, fit_weighted, weight_parameters
from labelsieve.counting.checked_parameters import PREDICTOR, REQUIRED, parameter
from labelsieve.table_types import Matrix, TableLike, TargetsLike, WeightsLike, is_sparse


@dataclass(eq=False, repr=False)
class BinaryRelevance(MetaClassifier):
    """Binary relevance: one clone of a scikit-learn classifier for each label.

    Parameters
    ----------
    base : classifier
        A binary classifier.
    n_jobs : int, default=None
        Labels fitted in parallel.

    Attributes
    ----------
    models_ : list
        One for each label; the value of a constant label of the training rows is always predicted.

    Notes
    -----
    Labels may be unknown (NaN) in some rows: each is learned from the rows in which it is known. Cost: ``n_labels`` fits of
    ``base``.

    A ``LogisticRegression`` with its default solver and penalty, on at most 256 dense features, is fitted by a solver of the
    core, in threads. It finds the minimum more exactly than scikit-learn, which stops within ``tol``: probabilities differ
    by about 0.001 from those of the default ``tol``. One ``ConvergenceWarning`` names all labels that have not converged after
    ``max_iter`` steps. Other bases are fitted in processes.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = BinaryRelevance(DecisionTreeClassifier()).fit([[0.0], [1.0], [2.0]], [[0, 1], [1, 1], [1, 0]])
    >>> model.predict([[0.1], [1.9]])
    array([[0, 1],
           [1, 0]])
    """

    base: BaseEstimator = parameter(REQUIRED, PREDICTOR)
    _: KW_ONLY
    n_jobs: int | None = None

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Fit the classifier of every label.

        ``sample_weight`` are frequencies of the rows. ``base`` must accept weights.
        """
        original = X
        X, labels, known, weights = self._read_known_weighted(X, y, sample_weight)
        given = labels if known is None else np.where(known, labels.toarray(), np.nan)
        columns = self._columns(self._with_names(original, X), given, weights)
        self.models_ = fit_labels(self.base, X, labels, columns=columns, weights=weights, known=known, n_jobs=self.n_jobs)
        return self

    def _columns(self, X: TableLike, labels: Matrix, weights: Weights) -> Callable[[int], NDArray[np.intp]] | None:
        """The features of each label; None: all. Labels are sparse, or dense with NaN where they are unknown."""
        return None

    def _queries(self, X: TableLike) -> Matrix:
        X = self._read_queries(X)
        return X.tocsc() if is_sparse(X) and any(model.columns is not None for model in self.models_) else X

    def _label_probabilities(self, X: TableLike) -> NDArray[np.float64]:
        X = self._queries(X)
        return probabilities(self.models_, X)

    @available_if(base_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: TableLike) -> NDArray[np.float64]:
        """Decision values, positive for predicted labels: shape (n_rows, n_labels), or (n_rows,) if Y was one column."""
        X = self._queries(X)
        return self._decisions_in_form_of_y(np.column_stack([model.decision(X) for model in self.models_]))

    def _present(self, X: TableLike) -> NDArray[np.bool_]:
        X = self._queries(X)
        return np.column_stack([model.present(X) for model in self.models_])


class LabelSpecific(BinaryRelevance):
    """Binary relevance on label-specific features.

    Parameters
    ----------
    selector : LabelwiseSieve
        Or another selector whose ``label_support_`` has the columns of each label.

    Attributes
    ----------
    selector_ : estimator
        The fitted selector.

    Notes
    -----
    The selector gets the row weights if its ``fit`` accepts them, as that of :class:`~labelsieve.LabelwiseSieve` does.

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

    def __init__(self, selector: BaseEstimator, base: BaseEstimator, *, n_jobs: int | None = None) -> None:
        super().__init__(base, n_jobs=n_jobs)
        self.selector = selector

    def _columns(self, X: TableLike, labels: Matrix, weights: Weights) -> Callable[[int], NDArray[np.intp]] | None:
        self.selector_ = fit_weighted(clone(self.selector), X, labels, weights if weight_parameters(self.selector) else None)
        return columns_of(self.selector_)
