"""Copy and select transformations as classifiers: one model whose classes are the labels."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from labelsieve.classifiers.base_classifier import MetaClassifier, base_has
from labelsieve.classifiers.multiclass import ClassModel, fit_classes
from labelsieve.classifiers.weight_routing import Weights
from labelsieve.counting.checked_parameters import PREDICTOR, REQUIRED, parameter
from labelsieve.errors import InputError, resolve
from labelsieve.labelspace import Copy, CopyWeight, Ignore, LabelSpace, SelectMax, SelectMin, SelectRandom, read_targets
from labelsieve.table_types import Matrix, TableLike, TargetsLike, WeightsLike

SPACES = {space.name: space for space in (Copy, CopyWeight, SelectMax, SelectMin, SelectRandom, Ignore)}


@dataclass(eq=False, repr=False)
class LabelCopies(MetaClassifier):
    r"""Copy transformation: one classifier whose classes are the labels [Boutell et al. 2004; Pereira et al. 2015, section 2].

    Its probabilities sum to 1 over the labels. A label is predicted if its probability is above a threshold :math:`t`, by
    default the one that reproduces the label cardinality of the training rows:
    :math:`\sum_i |\{l : P(l \mid x_i) > t\}| \approx \sum_i |Y_i|` [Read et al. 2011].

    Parameters
    ----------
    base : classifier
        A multi-class classifier with ``predict_proba`` or ``decision_function``.
    targets : {"copy", "copy-weight", "select-max", "select-min", "select-random", "ignore"} or LabelSpace, default="copy"
        The transformation: one copy of a row for each of its labels; the same, with weights that sum to 1 for each row
        (``base.fit`` must accept ``sample_weight``); the most frequent label of each row, the rarest, or a random one; or only
        the rows with one label. For another seed pass ``labelsieve.labelspace.SelectRandom(random_state=...)``.
    threshold : float, default=None
        Threshold of probabilities, or of decision values if there are none. None calibrates it as above; for a base that fits
        its training rows perfectly, such as a full tree, this threshold is too high for other rows.

    Attributes
    ----------
    threshold_ : float
        The threshold that is used.
    n_rows_left_out_ : int
        Dropped training rows of positive weight: those without labels, and under "ignore" those with several.

    Notes
    -----
    With a single label, its two values are the classes and the threshold is a half: the same as ``base``.

    Cost: one fit of ``base`` on as many copied rows as there are labels in all rows together.

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

    base: BaseEstimator = parameter(REQUIRED, PREDICTOR)
    _: KW_ONLY
    targets: str | LabelSpace = parameter("copy", StrOptions(set(SPACES)), LabelSpace)
    threshold: float | None = parameter(None, Interval(Real, None, None, closed="neither"))

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Fit the classifier, and calibrate the threshold.

        ``sample_weight`` are frequencies of the rows: for ``base``, which must accept weights, for the frequency of labels, and
        for the threshold. ``targets`` determines the weight of each copy.
        """
        if not hasattr(self.base, "predict_proba") and not hasattr(self.base, "decision_function"):
            raise InputError(f"LabelCopies needs a base with predict_proba or decision_function, not {self.base!r}.")
        X, labels, weights = self._read_weighted(X, y, sample_weight)
        single = labels.shape[1] == 1
        if single:
            labels = sp.hstack([1 - labels.toarray(), labels], format="csr")
        if labels.nnz == 0:  # no row has a label
            self._model, self.threshold_, self.n_rows_left_out_ = None, 0.0, X.shape[0]
            return self
        encoded = resolve(self.targets, SPACES, LabelSpace, "label space").encode(read_targets(labels), weights)
        if encoded.codes.n_columns != 1 or int(encoded.codes.levels[0]) != labels.shape[1]:
            raise InputError(f"LabelCopies needs a label space whose classes are the labels, not {self.targets!r}.")
        self._model = fit_classes(self.base, X, encoded, weights)
        self.n_rows_left_out_ = encoded.n_left_out
        if self.threshold is not None:
            self.threshold_ = float(self.threshold)
        elif single:
            self.threshold_ = 0.5 if hasattr(self.base, "predict_proba") else 0.0
        else:
            n_labels = labels.nnz if weights is None else float(np.diff(labels.indptr) @ weights)  # of all rows
            self.threshold_ = threshold_for(self._scores(X), n_labels, weights)
        return self

    def _scores(self, X: Matrix) -> NDArray[np.float64]:
        return self._of_labels(X, ClassModel.probabilities if hasattr(self.base, "predict_proba") else ClassModel.decisions)

    def _of_labels(self, X: Matrix, method: Callable[[ClassModel, Any], NDArray[np.float64]]) -> NDArray[np.float64]:
        if self._model is None:
            return np.zeros((X.shape[0], self.n_labels_))
        return method(self._model, X)[:, -self.n_labels_ :]  # with one label, the second of two classes

    def _label_probabilities(self, X: TableLike) -> NDArray[np.float64]:
        X = self._read_queries(X)
        return self._of_labels(X, ClassModel.probabilities)

    def _present(self, X: TableLike) -> NDArray[np.bool_]:
        X = self._read_queries(X)
        present: NDArray[np.bool_] = self._scores(X) > self.threshold_
        return present

    @available_if(base_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Probability of every label as the only one, shape (n_rows, n_labels); of both values, if Y was one column."""
        return self._in_form_of_y(self._label_probabilities(X))

    def decision_function(self, X: TableLike) -> NDArray[np.float64]:
        """Scores minus the threshold: shape (n_rows, n_labels), or (n_rows,) if Y was one column."""
        X = self._read_queries(X)
        return self._decisions_in_form_of_y(self._scores(X) - self.threshold_)


def threshold_for(scores: NDArray[np.float64], n_wanted: float, weights: Weights = None) -> float:
    """A threshold halfway between two scores with about ``n_wanted`` scores above it: as near as ties allow, the higher of two.

    ``weights`` are frequencies of the rows.

    >>> threshold_for(np.array([[0.9, 0.1], [0.6, 0.4]]), 2)
    0.5
    """
    if weights is None:
        values, counts = np.unique(scores, return_counts=True)
    else:
        values, index = np.unique(scores, return_inverse=True)
        counts = np.bincount(index.ravel(), weights=np.repeat(weights, scores.shape[1]))
    above = np.cumsum(counts[::-1])[::-1]  # number of scores that are at least as large
    best = len(values) - 1 - int(np.abs(above - n_wanted)[::-1].argmin())
    below = values[best - 1] if best > 0 else values[0] - 1.0
    return float((below + values[best]) / 2)
