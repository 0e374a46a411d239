"""Binary relevance: one model for each label, on all features or on those that a selector selects for the label."""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.parallel import Parallel, delayed

from labelsieve.classifiers.base import MetaClassifier, Weights, fit_weighted, if_base_has, weight_parameters
from labelsieve.errors import InputError
from labelsieve.parameters import PREDICTOR, REQUIRED, HasMethods, checked_meta_fit, parameter
from labelsieve.resources import one_blas_thread
from labelsieve.tables.types import Matrix, TableLike, TargetsLike, WeightsLike, is_sparse

Columns = Callable[[int], NDArray[np.intp]]  # the features of a label


@dataclass(eq=False, repr=False)
class BinaryRelevance(MetaClassifier):
    """Binary relevance: one clone of a scikit-learn classifier for each label.

    Parameters
    ----------
    base : classifier
        A binary classifier.
    selector : LabelwiseSieve, default=None
        Selects features for each label: any selector whose ``label_support_`` has the columns of each label. None: all
        features for all labels.
    n_jobs : int, default=None
        Labels fitted in parallel, in processes.

    Attributes
    ----------
    models_ : list
        One for each label; the value of a constant label of the training rows is always predicted.
    selector_ : estimator or None
        The fitted selector.

    Notes
    -----
    Labels may be unknown (NaN) in some rows: each is learned from the rows in which it is known. The selector gets the row
    weights if its ``fit`` accepts them, as that of :class:`~labelsieve.LabelwiseSieve` does. Cost: ``n_labels`` fits of
    ``base``.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = BinaryRelevance(DecisionTreeClassifier()).fit([[0.0], [1.0], [2.0]], [[0, 1], [1, 1], [1, 0]])
    >>> model.predict([[0.1], [1.9]])
    array([[0, 1],
           [1, 0]])

    With features selected for each label:

    >>> from sklearn.linear_model import LogisticRegression
    >>> from labelsieve import LabelwiseSieve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> Y = np.column_stack([X[:, 3] > 0, X[:, 1] > 0.5])
    >>> sieve = LabelwiseSieve("mim", n_features_to_select=1)
    >>> model = BinaryRelevance(LogisticRegression(), selector=sieve).fit(X, Y)
    >>> [model.columns.tolist() for model in model.models_]
    [[3], [1]]
    """

    base: BaseEstimator = parameter(REQUIRED, PREDICTOR)
    _: KW_ONLY
    selector: BaseEstimator | None = parameter(None, HasMethods(["fit", "transform"]))
    n_jobs: int | None = None

    @checked_meta_fit
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Fit the selector, if there is one, and all labels; ``sample_weight`` are frequencies that ``base`` accepts."""
        original = X
        X, labels, known, weights = self._read_known(X, y, sample_weight)
        columns = None
        self.selector_: Any = None
        if self.selector is not None:
            given = labels if known is None else np.where(known, labels.toarray(), np.nan)
            self.selector_ = fit_selector(clone(self.selector), self._with_names(original, X), given, weights)
            columns = columns_of(self.selector_)
            X = X.tocsc() if is_sparse(X) else X
        problems = _problems(X, labels.tocsc(), columns, weights, known)
        with one_blas_thread():
            self.models_ = list(Parallel(n_jobs=self.n_jobs)(delayed(fit_binary)(self.base, *problem) for problem in problems))
        return self

    def _queries(self, X: TableLike) -> Matrix:
        """Read the rows to predict, in columns if models have features of their own."""
        X = self._read_queries(X)
        return X.tocsc() if is_sparse(X) and self.selector_ is not None else X

    def _label_probabilities(self, X: TableLike) -> NDArray[np.float64]:
        X = self._queries(X)
        return np.column_stack([model.probability(X) for model in self.models_])

    @if_base_has("decision_function")
    def decision_function(self, X: TableLike) -> NDArray[np.float64]:
        """Compute decision values, positive for predicted labels, shape (n_rows, n_labels); (n_rows,) if Y was one column."""
        X = self._queries(X)
        return self._decisions_in_form_of_y(np.column_stack([model.decision(X) for model in self.models_]))

    def _present(self, X: TableLike) -> NDArray[np.bool_]:
        X = self._queries(X)
        return np.column_stack([model.present(X) for model in self.models_])


def fit_selector(selector: BaseEstimator, X: TableLike, labels: Matrix, weights: Weights) -> Any:
    """Fit a selector, with the weights of the rows if its ``fit`` accepts them."""
    return fit_weighted(selector, X, labels, weights if weight_parameters(selector) else None)


def columns_of(selector: object) -> Columns:
    """Return a function that gives the features that a fitted selector selected for a label."""
    supports = getattr(selector, "label_support_", None)
    if supports is None:
        raise InputError(
            f"selector: {type(selector).__name__} has no label_support_, so it does not select features for each label; use "
            "LabelwiseSieve, or a pipeline with the selector as its first step."
        )
    if sp.issparse(supports):
        return lambda label: supports[[label]].nonzero()[1]
    return lambda label: np.flatnonzero(supports[label])


def _problems(
    X: Matrix, labels: sp.csc_matrix, columns: Columns | None, weights: Weights, known: NDArray[np.bool_] | None
) -> Iterator[tuple[Matrix, NDArray[Any], NDArray[np.intp] | None, Weights]]:
    """Yield rows, values, features and row weights of every label: the rows in which it is ``known`` (None: all)."""
    for label in range(labels.shape[1]):
        y, features = labels[:, label].toarray().ravel(), None if columns is None else columns(label)
        if known is None or known[:, label].all():
            yield X, y, features, weights
            continue
        rows = np.flatnonzero(known[:, label])
        yield X[rows], y[rows], features, None if weights is None else weights[rows]


@dataclass(frozen=True)
class BinaryModel:
    """A fitted classifier of one label, or a constant prediction."""

    estimator: BaseEstimator
    constant: bool | None = None
    columns: NDArray[np.intp] | None = None  # the features of the model; None: all

    def _features(self, X: Matrix) -> Matrix:
        return X if self.columns is None else X[:, self.columns]

    def probability(self, X: Matrix) -> NDArray[np.float64]:
        """Predict the probability of the label for every row."""
        if self.constant is not None:
            return np.full(X.shape[0], float(self.constant))
        probability: NDArray[np.float64] = self.estimator.predict_proba(self._features(X))[:, 1]
        return probability

    def decision(self, X: Matrix) -> NDArray[np.float64]:
        """Compute the decision value of every row, positive where the label is present."""
        if self.constant is not None:
            return np.full(X.shape[0], 1.0 if self.constant else -1.0)
        decision: NDArray[np.float64] = self.estimator.decision_function(self._features(X))
        return decision

    def present(self, X: Matrix) -> NDArray[np.bool_]:
        """Predict whether the label is present, for every row."""
        if self.constant is not None:
            return np.full(X.shape[0], self.constant)
        present: NDArray[np.bool_] = self.estimator.predict(self._features(X)) == 1
        return present


def fit_binary(
    base: BaseEstimator, X: Matrix, y: NDArray[Any], columns: NDArray[np.intp] | None = None, weights: Weights = None
) -> BinaryModel:
    """Fit a clone of ``base`` to 0/1 labels on ``columns`` of X; ``weights`` of the rows are positive."""
    n_present = int(np.count_nonzero(y))
    if n_present in (0, len(y)):
        return BinaryModel(None, n_present > 0)
    if columns is not None and len(columns) == 0:  # without features: the majority class
        return BinaryModel(None, is_majority(y, weights))
    return BinaryModel(fit_weighted(clone(base), X if columns is None else X[:, columns], y, weights), None, columns)


def is_majority(y: NDArray[Any], weights: Weights = None) -> bool:
    """Tell whether a label is present in more than half of the rows, or of their weight.

    >>> is_majority(np.array([1, 0, 0])), is_majority(np.array([1, 0, 0]), np.array([3.0, 1.0, 1.0]))
    (False, True)
    """
    present = np.count_nonzero(y) if weights is None else weights[y != 0].sum()
    return bool(2 * present > (len(y) if weights is None else weights.sum()))
