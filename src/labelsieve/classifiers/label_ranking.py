"""Classifiers that rank the labels of a row and decide how many of them to predict.

:class:`CLR` ranks labels by votes of pairwise models and cuts the ranking at a virtual label; :class:`MetaLabeler` ranks them
by the scores of one model per label and predicts their number.
"""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.parallel import Parallel, delayed

from labelsieve.classifiers.base import MetaClassifier, MultiLabelClassifier, Weights, fit_weighted, if_base_has
from labelsieve.classifiers.binary_relevance import BinaryModel, fit_binary
from labelsieve.errors import InputError
from labelsieve.parameters import PREDICTOR, REQUIRED, checked_meta_fit, parameter
from labelsieve.resources import one_blas_thread
from labelsieve.tables.types import Matrix, TableLike, TargetsLike, WeightsLike


@dataclass(eq=False, repr=False)
class CLR(MultiLabelClassifier):
    r"""Calibrated label ranking [Fürnkranz, Hüllermeier, Loza Mencía and Brinker 2008].

    A model for each pair of labels, learned from the rows that have exactly one of the two, votes for one of them. A virtual
    label stands between the present and the absent labels of a row: it is compared with each label by a model of all rows,
    that of binary relevance. Labels with more votes than the virtual label are predicted.

    Parameters
    ----------
    base : classifier
        A binary classifier.
    ties : {"absent", "present"}, default="absent"
        Prediction for a label with as many votes as the virtual label; in Mulan it is present.
    n_jobs : int, default=None
        Models fitted in parallel, in threads; for a base that computes in Python, ``joblib.parallel_config(backend="loky")``
        selects processes.

    Attributes
    ----------
    pairs_ : list of tuple
        The pairs of labels that have a model. A pair without a row that has exactly one of the two gives no vote.
    pair_models_, label_models_ : list
        The models of these pairs, and those of each label against the virtual one.

    Notes
    -----
    ``predict_proba`` returns :math:`1/2 + (v_y - v_0) / 2q` for the votes :math:`v_y` of a label, those of the virtual label,
    :math:`v_0`, and q labels. It orders the labels of a row by their votes, and is not a calibrated probability.

    Cost: :math:`q (q + 1) / 2` fits of ``base``. A row is part of at most :math:`(q - m) m` pairs if it has m labels, so that
    the fits of the pairs together see little more than ``n_rows * q * cardinality`` rows.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> Y = np.column_stack([X[:, 0] > 1, X[:, 0] > 3, X[:, 0] < 4]).astype(int)
    >>> model = CLR(DecisionTreeClassifier(random_state=0)).fit(X, Y)
    >>> model.predict([[2.2], [7.0]])
    array([[1, 0, 1],
           [1, 1, 0]])
    >>> model.votes([[2.2]])
    (array([[2, 0, 3]]), array([1]))
    """

    base: BaseEstimator = parameter(REQUIRED, PREDICTOR)
    _: KW_ONLY
    ties: Literal["absent", "present"] = "absent"
    n_jobs: int | None = None

    @checked_meta_fit
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Fit a model for each pair and label; ``sample_weight`` are frequencies of the rows, which ``base`` must accept."""
        X, labels, weights = self._read(X, y, sample_weight)
        columns = labels.tocsc()
        present = [columns[:, label].toarray().ravel() for label in range(labels.shape[1])]
        with one_blas_thread():
            self.label_models_: list[BinaryModel] = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(fit_binary)(self.base, X, values, None, weights) for values in present
            )
            self.pairs_ = [
                (one, two) for one, two in combinations(range(len(present)), 2) if (present[one] != present[two]).any()
            ]
            self.pair_models_: list[BinaryModel] = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(fit_binary)(self.base, *problem) for problem in self._pair_problems(X, present, weights)
            )
        return self

    def _pair_problems(
        self, X: Matrix, present: list[NDArray[Any]], weights: Weights
    ) -> Iterator[tuple[Matrix, NDArray[Any], None, Weights]]:
        """Yield the rows with exactly one label of each pair, and whether they have the first one."""
        for one, two in self.pairs_:
            rows = np.flatnonzero(present[one] != present[two])
            yield X[rows], present[one][rows], None, None if weights is None else weights[rows]

    def votes(self, X: TableLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the votes for each label, of shape (n_rows, n_labels), and those for the virtual label."""
        X = self._read_queries(X)
        votes = np.column_stack([model.present(X) for model in self.label_models_]).astype(np.int64)
        virtual = self.n_labels_ - votes.sum(axis=1)
        for (one, two), model in zip(self.pairs_, self.pair_models_, strict=True):
            first = model.present(X)
            votes[:, one] += first
            votes[:, two] += ~first
        return votes, virtual

    def _label_probabilities(self, X: TableLike) -> NDArray[np.float64]:
        votes, virtual = self.votes(X)
        scores: NDArray[np.float64] = 0.5 + (votes - virtual[:, np.newaxis]) / (2 * self.n_labels_)
        return scores

    def _present(self, X: TableLike) -> NDArray[np.bool_]:
        votes, virtual = self.votes(X)
        return votes >= virtual[:, np.newaxis] + (self.ties == "absent")

    def _base(self) -> Any:
        return self.base


@dataclass(eq=False, repr=False)
class MetaLabeler(MetaClassifier):
    """Binary relevance with a predicted number of labels [Tang, Rajan and Narayanan 2009].

    One model per label scores the labels of a row, and one model of the features, whose classes are the numbers of labels in
    the training rows, predicts how many of the best ones are present. This is the content-based variant of the paper.

    Parameters
    ----------
    base : classifier
        A binary classifier with ``predict_proba`` or ``decision_function``.
    counter : classifier, default=None
        A multi-class classifier of the number of labels; None: a clone of ``base``, which must then handle many classes.
    n_jobs : int, default=None
        Labels fitted in parallel, in threads.

    Attributes
    ----------
    models_ : list
        The models of the labels.
    counter_ : classifier or None
        The fitted model of the number of labels; None if all training rows have equally many.
    counts_ : ndarray of int
        The numbers of labels that may be predicted.

    Notes
    -----
    Of labels with equal scores the first ones are predicted. Cost: ``n_labels + 1`` fits of ``base``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> Y = np.column_stack([X[:, 0] > 1, X[:, 0] > 3, X[:, 0] < 4]).astype(int)
    >>> model = MetaLabeler(LogisticRegression(C=100.0)).fit(X, Y)
    >>> model.counts_
    array([1, 2])
    >>> model.predict([[0.0], [7.0]])
    array([[0, 0, 1],
           [1, 1, 0]])
    """

    base: BaseEstimator = parameter(REQUIRED, PREDICTOR)
    counter: BaseEstimator | None = parameter(None, PREDICTOR)
    _: KW_ONLY
    n_jobs: int | None = None

    @checked_meta_fit
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Fit all models; ``sample_weight`` are frequencies of the rows, which ``base`` and ``counter`` must accept."""
        if not (hasattr(self.base, "predict_proba") or hasattr(self.base, "decision_function")):
            raise InputError(
                f"MetaLabeler ranks labels by scores: {self.base!r} has neither predict_proba nor decision_function."
            )
        X, labels, weights = self._read(X, y, sample_weight)
        columns = sp.csc_matrix(labels)
        with one_blas_thread():
            self.models_: list[BinaryModel] = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(fit_binary)(self.base, X, columns[:, label].toarray().ravel(), None, weights)
                for label in range(columns.shape[1])
            )
            numbers = np.asarray(labels.astype(np.int64).sum(axis=1)).ravel()
            self.counts_ = np.unique(numbers)
            self.counter_: Any = None
            if len(self.counts_) > 1:
                self.counter_ = fit_weighted(clone(self._counter()), X, numbers, weights)
        return self

    def _counter(self) -> Any:
        return self.base if self.counter is None else self.counter

    def _weighted_estimators(self) -> list[Any]:
        return [self.base, self._counter()]

    def _label_probabilities(self, X: TableLike) -> NDArray[np.float64]:
        X = self._read_queries(X)
        return np.column_stack([model.probability(X) for model in self.models_])

    def _scores(self, X: Matrix) -> NDArray[np.float64]:
        """Return probabilities or decision values; labels that all training rows have, or none has, are first or last."""
        if hasattr(self.base, "predict_proba"):
            return np.column_stack([model.probability(X) for model in self.models_])
        scores = np.column_stack([model.decision(X) for model in self.models_])
        for label, model in enumerate(self.models_):
            if model.constant is not None:
                scores[:, label] = np.inf if model.constant else -np.inf
        return scores

    @if_base_has("predict_proba")
    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Predict the probability of every label by its own model, shape (n_rows, n_labels); of both values for one column."""
        return super().predict_proba(X)

    def _present(self, X: TableLike) -> NDArray[np.bool_]:
        X = self._read_queries(X)
        order = np.argsort(-self._scores(X), axis=1, kind="stable")
        numbers = np.full(X.shape[0], self.counts_[0]) if self.counter_ is None else self.counter_.predict(X).astype(np.int64)
        present = np.zeros(order.shape, dtype=bool)
        np.put_along_axis(present, order, np.arange(order.shape[1]) < numbers[:, np.newaxis], axis=1)
        return present
