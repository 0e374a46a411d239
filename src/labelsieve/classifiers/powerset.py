"""Label powerset: one model whose classes are the label rows seen in training."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.metaestimators import available_if

from labelsieve.classifiers.base_classifier import MultiLabelClassifier, base_has
from labelsieve.classifiers.multiclass import ClassModel, fit_classes
from labelsieve.classifiers.weight_routing import Weights
from labelsieve.labelspace import Joint, LabelSpace, Pruned, read_targets


@dataclass(frozen=True)
class PowersetModel:
    """A model of label rows, and which labels each of its classes has."""

    model: ClassModel
    labelsets: sp.csr_matrix  # of shape (n_classes, n_labels)

    def present(self, X: Any) -> NDArray[np.bool_]:
        """The label row predicted."""
        present: NDArray[np.bool_] = self.labelsets[self.model.classes(X)].toarray().astype(bool)
        return present

    def probabilities(self, X: Any) -> NDArray[np.float64]:
        """Of a label: the sum over the label rows with it."""
        # Sums of rounded numbers may reach a little beyond 1.
        probabilities: NDArray[np.float64] = self.model.probabilities(X) @ self.labelsets.astype(np.float64)
        return np.minimum(probabilities, 1.0)

    def decisions(self, X: Any) -> NDArray[np.float64]:
        """Of a label: the best label row with it less the best without it; 1 or -1 where there is no other."""
        of_classes, rows, predicted = self.model.decisions(X), np.arange(X.shape[0]), self.model.classes(X)
        # Some classifiers, SVC for one, break ties of their decisions in another way: what they predict comes first here.
        own, of_classes[rows, predicted] = of_classes[rows, predicted], -np.inf
        of_classes[rows, predicted] = np.maximum(own, np.nextafter(of_classes.max(axis=1), np.inf))
        decisions = np.empty((X.shape[0], self.labelsets.shape[1]))
        for label in range(decisions.shape[1]):
            has = self.labelsets[:, [label]].toarray().ravel().astype(bool)
            if has.all() or not has.any():
                decisions[:, label] = 1.0 if has.all() else -1.0
            else:
                decisions[:, label] = of_classes[:, has].max(axis=1) - of_classes[:, ~has].max(axis=1)
        return decisions


def fit_powerset(base: Any, X: Any, labels: sp.csr_matrix, space: LabelSpace, weights: Weights = None) -> PowersetModel:
    """Learn the classes that ``space`` (:class:`Joint` or :class:`Pruned`) makes of the labels."""
    made = space.encode(read_targets(labels), weights)
    model = fit_classes(base, X, made, weights)
    rows: NDArray[Any] = np.arange(labels.shape[0])
    if made.row_index is not None:
        rows = made.row_index
    elif made.rows is not None:
        rows = np.flatnonzero(made.rows)
    # Rows of a class have all of its labels, and those that were split into it others too: the shortest row is the class.
    classes, sizes = made.codes.column(0), np.diff(labels.indptr)[rows]
    order = np.lexsort((sizes, classes))
    _, first = np.unique(classes[order], return_index=True)
    return PowersetModel(model, labels[rows[order[first]]])


class LabelPowerset(MultiLabelClassifier):
    r"""One scikit-learn classifier of many classes, which are the distinct label rows of the training data.

    It predicts whole label rows, so only such as it has seen. The probability of a label is
    :math:`\sum_{S \ni l} P(S \mid x)` over the label rows :math:`S`.

    Parameters
    ----------
    base : classifier
        Of many classes.

    Attributes
    ----------
    model_ : the fitted classifier and the label rows of its classes

    Notes
    -----
    ``predict`` gives the likeliest label row, the right choice for the subset 0/1 loss; ``predict_proba(X) > 0.5`` gives every
    label that is likelier than not, the right choice for the Hamming loss. The two may differ. Where ``base`` has a
    ``decision_function``, that of a label is the best row with it less the best row without it: positive where it is predicted.

    Cost: one fit of ``base`` with as many classes as there are distinct label rows.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = LabelPowerset(DecisionTreeClassifier()).fit([[0.0], [1.0], [2.0]], [[0, 1], [1, 1], [1, 0]])
    >>> model.predict([[0.1], [1.9]])
    array([[0, 1],
           [1, 0]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"base": [HasMethods(["fit", "predict"])]}

    def __init__(self, base: Any) -> None:
        self.base = base

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the label rows.

        ``sample_weight`` has a number for every row, 0 to leave it out: how often it counts. ``base`` must take weights.
        """
        X, labels, weights = self._read_weighted(X, y, sample_weight)
        self.model_ = fit_powerset(self.base, X, labels, self._space(), weights)
        return self

    def _space(self) -> LabelSpace:
        return Joint()

    def _ask(self, X: Any, answer: Callable[[PowersetModel, Any], NDArray[Any]]) -> NDArray[Any]:
        X = self._read_queries(X)
        return answer(self.model_, X)

    def _label_probabilities(self, X: Any) -> NDArray[np.float64]:
        return self._ask(X, PowersetModel.probabilities)

    def _present(self, X: Any) -> NDArray[np.bool_]:
        return self._ask(X, PowersetModel.present)

    @available_if(base_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of every label: shape (n_rows, n_labels). When Y was one column, of its two values."""
        return super().predict_proba(X)

    @available_if(base_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Of every label, positive where it is present: shape (n_rows, n_labels), or (n_rows,) when Y was one column."""
        decisions = self._ask(X, PowersetModel.decisions)
        return decisions[:, 0] if self._coder.kind == "one" else decisions


class PrunedPowerset(LabelPowerset):
    """Label powerset without rare label rows: pruned problem transformation, PPT [Read 2008].

    Parameters
    ----------
    base : classifier
        Of many classes.
    min_count : int
        The fewest training rows, or the least sum of their weights, that keep a label row; see
        :class:`~labelsieve.labelspace.Pruned`.
    split : bool
        What becomes of the rows with a rare label row: False drops them, True lets them count once for each frequent label
        row that their labels are split into, so that little is lost.

    Attributes
    ----------
    model_ : the fitted classifier and the label rows of its classes

    Notes
    -----
    A row of weight 3 is three rows to the pruning as to ``base``, and every part that it is split into weighs 3. So weights
    that add up to 1, say, leave no label row frequent: scale them to add up to the number of rows.

    Cost: one fit of ``base`` with as many classes as there are frequent label rows.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, Y = np.arange(5.0).reshape(-1, 1), [[0, 1], [0, 1], [1, 0], [1, 0], [1, 1]]
    >>> PrunedPowerset(KNeighborsClassifier(1), min_count=2).fit(X, Y).predict([[4.0]])
    array([[1, 0]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LabelPowerset._parameter_constraints,
        "min_count": [Interval(Integral, 1, None, closed="left")],
        "split": ["boolean"],
    }

    def __init__(self, base: Any, *, min_count: int = 3, split: bool = False) -> None:
        self.base = base
        self.min_count = min_count
        self.split = split

    def _space(self) -> LabelSpace:
        return Pruned(min_count=self.min_count, split=self.split)
