"""Label powerset: one model whose classes are the labelsets of the training rows."""

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.metaestimators import available_if

from labelsieve.classifiers.base_classifier import MetaClassifier, base_has
from labelsieve.classifiers.multiclass import ClassModel, fit_classes
from labelsieve.classifiers.shared_logistic import SharedLogistic
from labelsieve.classifiers.weight_routing import Weights
from labelsieve.counting.checked_parameters import AT_LEAST_ONE, PREDICTOR, REQUIRED, parameter
from labelsieve.errors import InputError
from labelsieve.labelspace import Joint, LabelSpace, Pruned, read_targets
from labelsieve.table_types import Matrix, TableLike, TargetsLike, WeightsLike


@dataclass(frozen=True)
class PowersetModel:
    """A model of labelsets, and the labels of each of its classes."""

    model: ClassModel
    labelsets: sp.csr_matrix  # of shape (n_classes, n_labels)

    def present(self, X: Matrix) -> NDArray[np.bool_]:
        """The predicted labelset."""
        present: NDArray[np.bool_] = self.labelsets[self.model.classes(X)].toarray().astype(bool)
        return present

    def probabilities(self, X: Matrix) -> NDArray[np.float64]:
        """Probability of each label: the sum over the labelsets with it."""
        # Rounding may make a sum larger than 1.
        probabilities: NDArray[np.float64] = self.model.probabilities(X) @ self.labelsets.astype(np.float64)
        return np.minimum(probabilities, 1.0)

    def decisions(self, X: Matrix) -> NDArray[np.float64]:
        """Decision value of each label: the best labelset with it minus the best without it; 1 or -1 for constant labels."""
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


def fit_powerset(
    base: BaseEstimator,
    X: Matrix,
    labels: sp.csr_matrix,
    space: LabelSpace,
    weights: Weights = None,
    shared: SharedLogistic | None = None,
) -> PowersetModel:
    """Fit the classes that ``space`` (:class:`Joint` or :class:`Pruned`) encodes the labels as; see :func:`fit_classes`."""
    encoded = space.encode(read_targets(labels), weights)
    model = fit_classes(base, X, encoded, weights, shared)
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

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Fit the classifier of labelsets.

        ``sample_weight`` are frequencies of the rows. ``base`` must accept weights.
        """
        X, labels, weights = self._read_weighted(X, y, sample_weight)
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

    @available_if(base_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: TableLike) -> NDArray[np.float64]:
        """Decision values, positive for predicted labels: shape (n_rows, n_labels), or (n_rows,) if Y was one column."""
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

    @available_if(base_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: TableLike) -> NDArray[np.float64]:
        """Decision values, positive for predicted labels; with a ``threshold``, probabilities minus the threshold."""
        if self.threshold is None:
            return super().decision_function(X)  # type: ignore[no-any-return]
        return self._decisions_in_form_of_y(self._label_probabilities(X) - self.threshold)
