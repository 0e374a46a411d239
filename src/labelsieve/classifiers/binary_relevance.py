"""Binary relevance: one model for each label."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.utils import gen_even_slices
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed

from labelsieve.classifiers.base import MetaClassifier, Weights, base_has, fit_weighted, weight_parameters
from labelsieve.classifiers.shared_logistic import SharedLogistic, warn_unconverged
from labelsieve.errors import InputError
from labelsieve.parameters import PREDICTOR, REQUIRED, parameter
from labelsieve.tables.types import Matrix, TableLike, TargetsLike, WeightsLike, is_sparse

TASKS = 2  # for every process: models differ in cost
MOST_LABELS = 64  # of a task


@dataclass(frozen=True)
class BinaryModel:
    """A fitted classifier of one label, or a constant prediction."""

    estimator: BaseEstimator
    constant: bool | None = None
    columns: NDArray[np.intp] | None = None  # the features of the model; None: all

    def _features(self, X: Matrix) -> Matrix:
        return X if self.columns is None else X[:, self.columns]

    def probability(self, X: Matrix) -> NDArray[np.float64]:
        """Probability of the label for every row."""
        if self.constant is not None:
            return np.full(X.shape[0], float(self.constant))
        probability: NDArray[np.float64] = self.estimator.predict_proba(self._features(X))[:, 1]
        return probability

    def decision(self, X: Matrix) -> NDArray[np.float64]:
        """Decision value for every row, positive where the label is present."""
        if self.constant is not None:
            return np.full(X.shape[0], 1.0 if self.constant else -1.0)
        decision: NDArray[np.float64] = self.estimator.decision_function(self._features(X))
        return decision

    def present(self, X: Matrix) -> NDArray[np.bool_]:
        """Prediction of the estimator for every row."""
        if self.constant is not None:
            return np.full(X.shape[0], self.constant)
        present: NDArray[np.bool_] = self.estimator.predict(self._features(X)) == 1
        return present


def fit_binary(
    base: BaseEstimator, X: Matrix, y: NDArray[Any], columns: NDArray[np.intp] | None = None, weights: Weights = None
) -> BinaryModel:
    """A clone of ``base`` fitted to 0/1 labels on ``columns`` of X; ``weights`` of the rows are positive."""
    n_present = int(np.count_nonzero(y))
    if n_present in (0, len(y)):
        return BinaryModel(None, n_present > 0)
    if columns is not None and len(columns) == 0:  # without features: the majority class
        return BinaryModel(None, is_majority(y, weights))
    return BinaryModel(fit_weighted(clone(base), X if columns is None else X[:, columns], y, weights), None, columns)


def is_majority(y: NDArray[Any], weights: Weights = None) -> bool:
    """True if a label is present in more than half of the rows, or of their weight.

    >>> is_majority(np.array([1, 0, 0])), is_majority(np.array([1, 0, 0]), np.array([3.0, 1.0, 1.0]))
    (False, True)
    """
    present = np.count_nonzero(y) if weights is None else weights[y != 0].sum()
    return bool(2 * present > (len(y) if weights is None else weights.sum()))


def fit_labels(
    base: BaseEstimator,
    X: Matrix,
    labels: sp.csr_matrix,
    *,
    columns: Callable[[int], NDArray[np.intp]] | None = None,
    weights: Weights = None,
    known: NDArray[np.bool_] | None = None,
    n_jobs: int | None = None,
) -> list[BinaryModel]:
    """A model for every column of ``labels``; ``columns(l)`` are the features of label ``l``.

    The model of a label has the rows in which it is ``known`` (default: all).
    """
    by_label = labels.tocsc()
    if columns is not None and is_sparse(X):
        X = X.tocsc()

    def rows_of(label: int) -> tuple[Any, NDArray[Any], NDArray[np.intp] | None, Weights]:
        y, features = by_label[:, label].toarray().ravel(), None if columns is None else columns(label)
        if known is None or known[:, label].all():
            return X, y, features, weights
        rows = np.flatnonzero(known[:, label])
        if not len(rows):
            raise InputError(f"Y, column {label}: the label is unknown in every row that counts; leave it out.")
        return X[rows], y[rows], features, None if weights is None else weights[rows]

    shared = SharedLogistic.of(base, X, weights) if columns is None else None
    if shared is not None:
        complete = np.ones(labels.shape[1], dtype=bool) if known is None else known.all(axis=0)
        counts = np.asarray(by_label.sum(axis=0, dtype=np.int64)).ravel()
        varying = np.flatnonzero(complete & (counts > 0) & (counts < labels.shape[0]))
        fits = shared.fit_labels([by_label[:, [label]].toarray().ravel().astype(np.uint8) for label in varying], n_jobs=n_jobs)
        fitted = {label: BinaryModel(model) for label, model in zip(varying.tolist(), fits, strict=True)}
        others = [label for label in range(labels.shape[1]) if label not in fitted]
        tasks = (delayed(_fit_known)(base, *rows_of(label)) for label in others)
        fitted |= zip(others, Parallel(n_jobs=n_jobs, prefer="threads")(tasks), strict=True)
        models = [fitted[label] for label in range(labels.shape[1])]
        warn_unconverged((label, model.estimator) for label, model in enumerate(models))
        return models
    # Processes get the rows with every task: one task for some labels, unless labels have rows of their own.
    n_labels, jobs = labels.shape[1], effective_n_jobs(n_jobs)
    n_tasks = n_labels if known is not None or jobs == 1 else max(min(n_labels, TASKS * jobs), -(-n_labels // MOST_LABELS))
    tasks = (
        delayed(_fit_some)(base, [rows_of(label) for label in range(some.start, some.stop)])
        for some in gen_even_slices(n_labels, n_tasks)
    )
    return [model for models in Parallel(n_jobs=n_jobs)(tasks) for model in models]


def _fit_known(
    base: BaseEstimator, X: Matrix, y: NDArray[Any], columns: NDArray[np.intp] | None = None, weights: Weights = None
) -> BinaryModel:
    """A logistic regression of one label, on its rows."""
    shared = SharedLogistic.of(base, X, weights)
    if shared is None or not 0 < np.count_nonzero(y) < len(y):
        return fit_binary(base, X, y, columns, weights)
    return BinaryModel(next(shared.fit_labels([y.astype(np.uint8)])))


def _fit_some(base: object, problems: list[tuple[Any, NDArray[Any], NDArray[np.intp] | None, Weights]]) -> list[BinaryModel]:
    return [fit_binary(base, *problem) for problem in problems]


def columns_of(selector: object) -> Callable[[int], NDArray[np.intp]]:
    """The features that a fitted selector selected for each label."""
    supports = getattr(selector, "label_support_", None)
    if supports is None:
        raise InputError(
            f"selector: {type(selector).__name__} has no label_support_, so it does not select features for each label; use "
            "LabelwiseSieve, or a pipeline with the selector as its first step."
        )
    if sp.issparse(supports):
        return lambda label: supports[[label]].nonzero()[1]
    return lambda label: np.flatnonzero(supports[label])


def probabilities(models: list[BinaryModel], X: Matrix) -> NDArray[np.float64]:
    """Probabilities of all labels: one column for each model."""
    return np.column_stack([model.probability(X) for model in models])


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
