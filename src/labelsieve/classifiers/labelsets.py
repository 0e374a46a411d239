"""Classifiers whose classes are labelsets: label powerset, pruned sets and RAkEL."""

from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from math import comb
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.parallel import Parallel, delayed

from labelsieve.classifiers.base import MetaClassifier, MultiLabelClassifier, Weights, fit_weighted, if_base_has
from labelsieve.errors import InputError
from labelsieve.labelspace import (
    EncodedTargets,
    Joint,
    LabelSpace,
    Pruned,
    read_targets,
)
from labelsieve.labelspace.base import RandomState, random_generator
from labelsieve.parameters import AT_LEAST_ONE, PREDICTOR, REQUIRED, Interval, checked_meta_fit, parameter
from labelsieve.resources import one_blas_thread
from labelsieve.tables.types import Matrix, TableLike, TargetsLike, WeightsLike


@dataclass(eq=False, repr=False)
class LabelPowerset(MetaClassifier):
    r"""Label powerset: one multi-class classifier whose classes are the distinct labelsets of the training rows.

    It predicts only labelsets of the training rows. The probability of a label is :math:`\sum_{S \ni l} P(S \mid x)` over the
    labelsets :math:`S`.

    Parameters
    ----------
    base : classifier
        A multi-class classifier.

    Attributes
    ----------
    model_ : PowersetModel
        The fitted classifier and the labelsets of its classes.

    Notes
    -----
    ``predict`` returns the most probable labelset, which is optimal for the subset 0/1 loss; ``predict_proba(X) > 0.5`` has
    every label with a probability above a half, which is optimal for the Hamming loss. The two may differ. If ``base`` has a
    ``decision_function``, the decision value of a label is that of the best labelset with it minus that of the best without it:
    positive for predicted labels.

    Cost: one fit of ``base`` with as many classes as there are distinct labelsets.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = LabelPowerset(DecisionTreeClassifier()).fit([[0.0], [1.0], [2.0]], [[0, 1], [1, 1], [1, 0]])
    >>> model.predict([[0.1], [1.9]])
    array([[0, 1],
           [1, 0]])
    """

    base: BaseEstimator = parameter(REQUIRED, PREDICTOR)

    @checked_meta_fit
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Fit the classifier of labelsets; ``sample_weight`` are frequencies of the rows, which ``base`` must accept."""
        X, labels, weights = self._read(X, y, sample_weight)
        self.model_ = fit_powerset(self.base, X, labels, self._space(), weights)
        return self

    def _space(self) -> LabelSpace:
        return Joint()

    def _label_probabilities(self, X: TableLike) -> NDArray[np.float64]:
        X = self._read_queries(X)
        return self.model_.probabilities(X)

    def _present(self, X: TableLike) -> NDArray[np.bool_]:
        X = self._read_queries(X)
        return self.model_.present(X)

    @if_base_has("decision_function")
    def decision_function(self, X: TableLike) -> NDArray[np.float64]:
        """Compute decision values, positive for predicted labels, shape (n_rows, n_labels); (n_rows,) if Y was one column."""
        X = self._read_queries(X)
        return self._decisions_in_form_of_y(self.model_.decisions(X))


@dataclass(eq=False, repr=False)
class PrunedPowerset(LabelPowerset):
    """Label powerset without rare labelsets: pruned problem transformation, PPT [Read 2008].

    Parameters
    ----------
    min_count : int, default=3
        The smallest number of training rows, or sum of their weights, of a labelset that is kept; see
        :class:`~labelsieve.labelspace.Pruned`.
    split : bool or "smallest", default=False
        False drops the rows with a rare labelset. With True they count once for each frequent labelset that their labels are
        split into, so little is lost; ``"smallest"`` splits into the smallest frequent labelsets, as Mulan does.
    threshold : float, default=None
        None predicts the most probable labelset, as the paper does. A number predicts every label whose probability is larger;
        ``base`` must have ``predict_proba``. Mulan's program predicts in this way, with 0.21.

    Notes
    -----
    Mulan's ``PPT`` with its default ``p = 3`` keeps labelsets of more than three rows: ``PrunedPowerset(base, min_count=4,
    split="smallest", threshold=0.21)``. A threshold below a half predicts more labels, and labelsets that no training row has.

    A row of weight 3 equals three rows for the pruning and for ``base``, and every labelset that it is split into has weight 3.
    So with weights that sum to 1 no labelset is frequent: scale them to sum to the number of rows.

    Cost: one fit of ``base`` with as many classes as there are frequent labelsets.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, Y = np.arange(5.0).reshape(-1, 1), [[0, 1], [0, 1], [1, 0], [1, 0], [1, 1]]
    >>> PrunedPowerset(KNeighborsClassifier(1), min_count=2).fit(X, Y).predict([[4.0]])
    array([[1, 0]])
    """

    _: KW_ONLY
    min_count: int = parameter(3, AT_LEAST_ONE)
    split: bool | Literal["smallest"] = False
    threshold: float | None = parameter(None, Interval(Real, 0, 1, closed="left"))

    def _space(self) -> LabelSpace:
        if self.threshold is not None and not hasattr(self.base, "predict_proba"):
            raise InputError(f"PrunedPowerset(threshold=...) needs a base with predict_proba, not {self.base!r}; use None.")
        return Pruned(min_count=self.min_count, split=self.split)

    def _present(self, X: TableLike) -> NDArray[np.bool_]:
        if self.threshold is None:
            return super()._present(X)
        present: NDArray[np.bool_] = self._label_probabilities(X) > self.threshold
        return present

    @if_base_has("decision_function")
    def decision_function(self, X: TableLike) -> NDArray[np.float64]:
        """Compute decision values, positive for predicted labels; with a ``threshold``, probabilities minus the threshold."""
        if self.threshold is None:
            return super().decision_function(X)
        return self._decisions_in_form_of_y(self._label_probabilities(X) - self.threshold)


MAX_LISTED = 100_000  # k-labelsets that are listed to draw from; among more, repeated draws are rare and rejected


@dataclass(eq=False, repr=False)
class RAkEL(MultiLabelClassifier):
    r"""Random k-labelsets [Tsoumakas, Katakis and Vlahavas 2011].

    Label powersets of ``k`` random labels each. A label is predicted if more than half of its models predict it.

    Parameters
    ----------
    base : classifier
        A multi-class classifier.
    k : int, default=3
        Labels of each model; all labels, if there are fewer.
    n_models : int, default=None
        Number of distinct k-labelsets; None: twice the number of labels, at most all. They overlap, and every label is in at
        least one.
    disjoint : bool, default=False
        Split the labels into sets of ``k`` (the last may be smaller), with one model each, in place of ``n_models``.
    threshold : float, default=0.5
        Fraction of votes above which a label is predicted. A tie is not above a half; Mulan counts it as present, as does any
        threshold slightly below a half.
    soft : bool, default=False
        A vote is the model's probability of the label, in place of 0 or 1; ``base`` must have ``predict_proba``.
    random_state : int, RandomState instance or None, default=None
        Seed of the labelsets; ``base`` keeps its own.
    n_jobs : int, default=None
        Models fitted in parallel, in threads; for a base that computes in Python, ``joblib.parallel_config(backend="loky")``
        selects processes.

    Attributes
    ----------
    labelsets_ : list of ndarray
        The labels of each model.
    models_ : list
        The fitted label powersets.

    Notes
    -----
    A label in no random set replaces a label that is in several, so that every label is covered. ``predict_proba`` returns the
    fraction of votes.

    Cost: ``n_models`` fits of ``base`` with up to :math:`2^k` classes.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> Y = np.column_stack([X[:, 0] > 1, X[:, 0] > 3, X[:, 0] > 5, X[:, 0] < 4]).astype(int)
    >>> model = RAkEL(DecisionTreeClassifier(random_state=0), random_state=0).fit(X, Y)
    >>> [labels.tolist() for labels in model.labelsets_]
    [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
    >>> model.predict([[2.2]])
    array([[1, 0, 0, 1]])
    """

    base: BaseEstimator = parameter(REQUIRED, PREDICTOR)
    _: KW_ONLY
    k: int = parameter(3, AT_LEAST_ONE)
    n_models: int | None = parameter(None, AT_LEAST_ONE)
    disjoint: bool = False
    threshold: float = parameter(0.5, Interval(Real, 0, 1, closed="left"))
    soft: bool = False
    random_state: RandomState = None
    n_jobs: int | None = None

    @checked_meta_fit
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Draw labelsets and fit their models; ``sample_weight`` are frequencies of the rows, which ``base`` must accept."""
        if self.soft and not hasattr(self.base, "predict_proba"):
            raise InputError(f"RAkEL(soft=True) needs a base with predict_proba, not {self.base!r}.")
        X, labels, weights = self._read(X, y, sample_weight)
        n_labels, rng = labels.shape[1], random_generator(self.random_state)
        k = min(self.k, n_labels)
        if self.disjoint:
            order = rng.permutation(n_labels)
            self.labelsets_ = [np.sort(order[start : start + k]) for start in range(0, n_labels, k)]
        else:
            n_models = min(2 * n_labels if self.n_models is None else self.n_models, comb(n_labels, k))
            self.labelsets_ = [np.array(labelset) for labelset in random_labelsets(n_labels, k, n_models, rng)]
        by_label = labels.tocsc()
        with one_blas_thread():
            self.models_ = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(fit_powerset)(self.base, X, sp.csr_matrix(by_label[:, labelset]), Joint(), weights)
                for labelset in self.labelsets_
            )
        return self

    def _label_probabilities(self, X: TableLike) -> NDArray[np.float64]:
        X = self._read_queries(X)
        votes = np.zeros((X.shape[0], self.n_labels_))
        for labelset, model in zip(self.labelsets_, self.models_, strict=True):
            votes[:, labelset] += model.probabilities(X) if self.soft else model.present(X)
        votes /= np.bincount(np.concatenate(self.labelsets_), minlength=self.n_labels_)
        return votes

    def _base(self) -> Any:
        return self.base

    def _present(self, X: TableLike) -> NDArray[np.bool_]:
        present: NDArray[np.bool_] = self._label_probabilities(X) > self.threshold
        return present


def random_labelsets(n_labels: int, k: int, n_sets: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Draw distinct sets of ``k`` labels in ascending order, every label in at least one.

    >>> random_labelsets(4, 2, 3, np.random.default_rng(0))
    [(0, 2), (1, 3), (2, 3)]
    """
    if n_sets * k < n_labels:
        raise InputError(f"{n_sets} sets of {k} labels cannot cover all {n_labels}: use a larger n_models or k.")
    if comb(n_labels, k) <= MAX_LISTED:
        listed = list(combinations(range(n_labels), k))
        sets = {listed[index] for index in rng.choice(len(listed), n_sets, replace=False)}
    else:
        sets = set()
        while len(sets) < n_sets:
            sets.add(tuple(sorted(rng.choice(n_labels, k, replace=False).tolist())))
    counts = np.bincount([label for labelset in sets for label in labelset], minlength=n_labels)
    for label in np.flatnonzero(counts == 0).tolist():
        # No set has the new label, so the changed set is distinct. A set with a repeated label exists: the sets have
        # k * n_sets members, more than the labels that are in some set.
        repeated = [(labelset, other) for labelset in sorted(sets) for other in labelset if counts[other] > 1]
        labelset, other = repeated[int(rng.integers(len(repeated)))]
        sets.remove(labelset)
        sets.add(tuple(sorted({*labelset, label} - {other})))
        counts[other] -= 1
        counts[label] += 1
    return sorted(sets)


@dataclass(frozen=True)
class PowersetModel:
    """A model of labelsets, and the labels of each of its classes."""

    model: "ClassModel"
    labelsets: sp.csr_matrix  # of shape (n_classes, n_labels)

    def present(self, X: Matrix) -> NDArray[np.bool_]:
        """Predict the labelset of every row."""
        present: NDArray[np.bool_] = self.labelsets[self.model.classes(X)].toarray().astype(bool)
        return present

    def probabilities(self, X: Matrix) -> NDArray[np.float64]:
        """Predict the probability of each label: the sum over the labelsets with it."""
        # Rounding may make a sum larger than 1.
        probabilities: NDArray[np.float64] = self.model.probabilities(X) @ self.labelsets.astype(np.float64)
        return np.minimum(probabilities, 1.0)

    def decisions(self, X: Matrix) -> NDArray[np.float64]:
        """Compute decision values: the best labelset with a label minus the best without it; 1 or -1 for constant labels."""
        of_classes, rows, predicted = self.model.decisions(X), np.arange(X.shape[0]), self.model.classes(X)
        # Some classifiers, such as SVC, break ties of their decisions differently: the predicted class must be the largest.
        of_predicted, of_classes[rows, predicted] = of_classes[rows, predicted], -np.inf
        of_classes[rows, predicted] = np.maximum(of_predicted, np.nextafter(of_classes.max(axis=1), np.inf))
        decisions = np.empty((X.shape[0], self.labelsets.shape[1]))
        for label in range(decisions.shape[1]):
            has = self.labelsets[:, [label]].toarray().ravel().astype(bool)
            if has.all() or not has.any():
                decisions[:, label] = 1.0 if has.all() else -1.0
            else:
                decisions[:, label] = of_classes[:, has].max(axis=1) - of_classes[:, ~has].max(axis=1)
        return decisions


def fit_powerset(base: BaseEstimator, X: Matrix, labels: sp.csr_matrix, space: LabelSpace, weights: Weights) -> PowersetModel:
    """Fit the classes that ``space`` (:class:`Joint` or :class:`Pruned`) encodes the labels as; see :func:`fit_classes`."""
    encoded = space.encode(read_targets(labels), weights)
    model = fit_classes(base, X, encoded, weights)
    rows: NDArray[np.integer] = np.arange(labels.shape[0])
    if encoded.row_index is not None:
        rows = encoded.row_index
    elif encoded.rows is not None:
        rows = np.flatnonzero(encoded.rows)
    # Rows of a class have all of its labels, and rows split into it have others too: the smallest labelset is the class.
    classes, sizes = encoded.codes.column(0), np.diff(labels.indptr)[rows]
    order = np.lexsort((sizes, classes))
    _, first = np.unique(classes[order], return_index=True)
    return PowersetModel(model, labels[rows[order[first]]])


@dataclass(frozen=True)
class ClassModel:
    """A fitted classifier of classes ``0 .. n_classes - 1``, or a constant class."""

    estimator: BaseEstimator
    n_classes: int
    constant: int = 0  # the predicted class if there is no estimator

    def _spread(self, values: NDArray[np.float64], absent: float | NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a column for every class; the estimator has columns for the classes of its training rows."""
        if self.estimator is not None and len(self.estimator.classes_) == self.n_classes:
            return values
        spread = np.empty((values.shape[0], self.n_classes))
        spread[:] = absent
        spread[:, [self.constant] if self.estimator is None else self.estimator.classes_] = values
        return spread

    def probabilities(self, X: Matrix) -> NDArray[np.float64]:
        """Predict the probability of every class: shape (n_rows, n_classes)."""
        values = np.ones((X.shape[0], 1)) if self.estimator is None else self.estimator.predict_proba(X)
        return self._spread(values, 0.0)

    def decisions(self, X: Matrix) -> NDArray[np.float64]:
        """Compute decision values, the largest for the predicted class; those of unseen classes are 1 below all."""
        if self.estimator is None:
            values = np.ones((X.shape[0], 1))
        else:
            values = self.estimator.decision_function(X)
            if values.ndim == 1:  # two classes: the value of the second
                values = np.column_stack([-values / 2, values / 2])
            elif values.shape[1] != len(self.estimator.classes_) or _decides_between_pairs(self.estimator):
                raise InputError(
                    f"{self.estimator!r} has decision values for pairs of classes, and one for each class is needed; use "
                    "decision_function_shape='ovr'."
                )
        return self._spread(values, values.min(axis=1, keepdims=True) - 1)

    def classes(self, X: Matrix) -> NDArray[np.intp]:
        """Predict the class of every row."""
        if self.estimator is None:
            return np.full(X.shape[0], self.constant, dtype=np.intp)
        classes: NDArray[np.intp] = self.estimator.predict(X)
        return classes


def _decides_between_pairs(estimator: BaseEstimator) -> bool:
    """Tell whether an estimator is a one-versus-one support vector machine, also in a pipeline.

    The number of decision values does not tell for three classes, which have as many pairs.
    """
    settings = estimator.get_params() if hasattr(estimator, "get_params") else {}
    return any(name.endswith("decision_function_shape") and value == "ovo" for name, value in settings.items())


def fit_classes(base: BaseEstimator, X: Matrix, encoded: EncodedTargets, weights: Weights) -> ClassModel:
    """Fit a clone of ``base`` to one variable of a label space, on its rows with their weights and repetitions.

    ``weights`` of the rows are positive. Cost: the fit, and a copy of its rows; a row that counts for several classes is copied
    several times.
    """
    classes = encoded.codes.column(0).astype(np.intp)
    n_classes = int(encoded.codes.levels[0])
    if len(classes) == 0:
        scaled = "" if weights is None else ", or a sample_weight that adds up to the number of rows"
        raise InputError(
            f"No row of n_samples = {X.shape[0]} is left to learn from: every labelset is rarer than min_count. Use a smaller "
            f"min_count{scaled}."
        )
    if (classes == classes[0]).all():
        return ClassModel(None, n_classes, int(classes[0]))
    kept = encoded.rows if encoded.row_index is None else encoded.row_index
    if kept is None:
        return ClassModel(fit_weighted(clone(base), X, classes, weights), n_classes)
    rows = np.flatnonzero(kept) if kept.dtype == bool else kept
    return ClassModel(fit_weighted(clone(base), X[rows], classes, None if weights is None else weights[rows]), n_classes)
