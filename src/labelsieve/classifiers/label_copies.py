"""One model whose classes are the labels, learned from a copy of a row for each of its labels, or from one of them."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from labelsieve.classifiers.base_classifier import MultiLabelClassifier, base_has
from labelsieve.classifiers.multiclass import ClassModel, fit_classes
from labelsieve.classifiers.weight_routing import Weights
from labelsieve.errors import InputError
from labelsieve.labelspace import Copy, CopyWeight, Ignore, LabelSpace, SelectMax, SelectMin, SelectRandom, read_targets
from labelsieve.names import resolve

SPACES = {space.name: space for space in (Copy, CopyWeight, SelectMax, SelectMin, SelectRandom, Ignore)}


class LabelCopies(MultiLabelClassifier):
    r"""One scikit-learn classifier whose classes are the labels [Boutell et al. 2004; Pereira et al. 2015, section 2].

    Its probabilities say which label a row has if it has one, and add up to 1 over the labels. A label is predicted where its
    probability is above a threshold :math:`t`, by default the one with which as many labels are predicted on the training
    rows as they have: :math:`\sum_i |\{l : P(l \mid x_i) > t\}| \approx \sum_i |Y_i|` [Read et al. 2011].

    Parameters
    ----------
    base : classifier
        Of many classes, with ``predict_proba`` or ``decision_function``.
    targets : {"copy", "copy-weight", "select-max", "select-min", "select-random", "ignore"} or LabelSpace
        A row counts once for each of its labels; the same, with weights that add up to 1 for each row (``base.fit`` must take
        ``sample_weight``); with the most frequent of its labels, the rarest, or a random one; or only if it has just one. For
        another seed give ``labelsieve.labelspace.SelectRandom(random_state=...)``.
    threshold : float, optional
        Of probabilities, or decision values where there are none. None calibrates it as above; a base that knows its training
        rows by heart, such as a full tree, then has a threshold that is too high for others.

    Attributes
    ----------
    threshold_ : float
    n_rows_left_out_ : int
        Training rows that did not count, of those with a weight: those without labels, and under "ignore" those with several.

    Notes
    -----
    When there is one label only, its two values are the classes and the threshold is a half: ``base`` itself.

    Cost: one fit of ``base`` on as many rows as there are labels in all rows together, which are copied for it.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.array([[0.0], [0.2], [0.9], [1.1], [2.0], [2.2]])
    >>> Y = [[1, 0], [1, 0], [1, 1], [1, 1], [0, 1], [0, 1]]
    >>> LabelCopies(GaussianNB()).fit(X, Y).predict([[0.1], [1.0], [2.1]])
    array([[1, 0],
           [1, 1],
           [0, 1]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "base": [HasMethods(["fit", "predict"])],
        "targets": [StrOptions(set(SPACES)), LabelSpace],
        "threshold": [Interval(Real, None, None, closed="neither"), None],
    }

    def __init__(self, base: Any, *, targets: Any = "copy", threshold: float | None = None) -> None:
        self.base = base
        self.targets = targets
        self.threshold = threshold

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn which labels go with which rows, and where to draw the line.

        ``sample_weight`` has a number for every row, 0 to leave it out: how often it counts, for ``base``, which must take
        weights, for the frequency of labels, and for the threshold. Copies of a row share it as ``targets`` says.
        """
        if not hasattr(self.base, "predict_proba") and not hasattr(self.base, "decision_function"):
            raise InputError(f"LabelCopies needs a base with predict_proba or decision_function, not {self.base!r}.")
        X, labels, weights = self._read_weighted(X, y, sample_weight)
        alone = labels.shape[1] == 1
        if alone:
            labels = sp.hstack([1 - labels.toarray(), labels], format="csr")
        if labels.nnz == 0:  # nothing is ever there
            self._model, self.threshold_, self.n_rows_left_out_ = None, 0.0, X.shape[0]
            return self
        made = resolve(self.targets, SPACES, LabelSpace, "label space").encode(read_targets(labels), weights)
        if made.codes.n_columns != 1 or int(made.codes.levels[0]) != labels.shape[1]:
            raise InputError(f"LabelCopies needs a label space whose classes are the labels, not {self.targets!r}.")
        self._model = fit_classes(self.base, X, made, weights)
        self.n_rows_left_out_ = made.n_left_out
        if self.threshold is not None:
            self.threshold_ = float(self.threshold)
        elif alone:
            self.threshold_ = 0.5 if hasattr(self.base, "predict_proba") else 0.0
        else:
            self.threshold_ = threshold_for(self._scores(X), _n_labels(labels, weights), weights)
        return self

    def _scores(self, X: Any) -> NDArray[np.float64]:
        return self._of_labels(X, ClassModel.probabilities if hasattr(self.base, "predict_proba") else ClassModel.decisions)

    def _of_labels(self, X: Any, answer: Any) -> NDArray[np.float64]:
        if self._model is None:
            return np.zeros((X.shape[0], self.n_labels_))
        values: NDArray[np.float64] = answer(self._model, X)
        return values[:, -self.n_labels_ :]  # of two classes, when there is one label, the second

    def _label_probabilities(self, X: Any) -> NDArray[np.float64]:
        X = self._read_queries(X)
        return self._of_labels(X, ClassModel.probabilities)

    def _present(self, X: Any) -> NDArray[np.bool_]:
        X = self._read_queries(X)
        present: NDArray[np.bool_] = self._scores(X) > self.threshold_
        return present

    @available_if(base_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Of every label, the probability to be a row's only one: (n_rows, n_labels). When Y was one column, of its values."""
        return super().predict_proba(X)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """By how much each label is above the threshold: shape (n_rows, n_labels), or (n_rows,) when Y was one column."""
        X = self._read_queries(X)
        decisions = self._scores(X) - self.threshold_
        return decisions[:, 0] if self._coder.kind == "one" else decisions


def _n_labels(labels: sp.csr_matrix, weights: Weights) -> float:
    """Of all rows together, each as often as it counts."""
    return labels.nnz if weights is None else float(np.diff(labels.indptr) @ weights)


def threshold_for(scores: NDArray[np.float64], n_wanted: float, weights: Weights = None) -> float:
    """Halfway between two scores, so that about ``n_wanted`` of them are above: as near as ties allow, the higher of equals.

    With ``weights`` the scores of a row count as often as it does.

    >>> threshold_for(np.array([[0.9, 0.1], [0.6, 0.4]]), 2)
    0.5
    """
    if weights is None:
        values, counts = np.unique(scores, return_counts=True)
    else:
        values, places = np.unique(scores, return_inverse=True)
        counts = np.bincount(places.ravel(), weights=np.repeat(weights, scores.shape[1]))
    above = np.cumsum(counts[::-1])[::-1]  # how many are at least that large
    best = len(values) - 1 - int(np.abs(above - n_wanted)[::-1].argmin())
    below = values[best - 1] if best > 0 else values[0] - 1.0
    return float((below + values[best]) / 2)
