"""Binary relevance by neighbors: a label is as likely as it is frequent among the nearest rows."""

from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from labelsieve.classifiers.base_classifier import MultiLabelClassifier
from labelsieve.classifiers.nearest_neighbors import Neighbors, Ties, nearest_neighbors
from labelsieve.classifiers.neighbor_labels import LabelVotes


class NeighborClassifier(MultiLabelClassifier):
    """One search for all labels. Subclasses learn from neighbors and labels; few of them look at X again."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [Interval(Integral, 1, None, closed="left")],
        "ties": [StrOptions({"first", "all"})],
        "n_jobs": [Integral, None],
    }

    k: int
    ties: Ties
    n_jobs: int | None

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows, and learn what neighbors tell about labels."""
        self._X, labels = self._read(X, y)
        needed = self._needs_neighbors_of_rows
        own = nearest_neighbors(self._X, k=self.k, ties=self.ties, n_jobs=self.n_jobs) if needed else None
        self._learn(self._X, own, labels)
        return self

    _needs_neighbors_of_rows = True

    @property
    def _needs_features(self) -> bool:
        return False

    def _learn(self, X: Any, own: Neighbors | None, labels: sp.csr_matrix) -> None:
        """From each training row's neighbors, itself left out. ``X`` may be None unless ``_needs_features``."""
        raise NotImplementedError

    def _answer(self, X: Any, found: Neighbors, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Of each label, from the neighbors of the rows asked about; written to ``out`` where there is one."""
        raise NotImplementedError

    def _neighbors(self, X: Any) -> Neighbors:
        return nearest_neighbors(self._X, X, k=self.k, ties=self.ties, n_jobs=self.n_jobs)

    def _label_probabilities(self, X: Any) -> NDArray[np.float64]:
        X = self._read_queries(X)
        return self._answer(X, self._neighbors(X))


class BRkNN(NeighborClassifier):
    """Binary relevance with k nearest neighbors [Spyromitros, Tsoumakas and Vlahavas 2008].

    The probability of a label is its share among the neighbors.

    Parameters
    ----------
    k : int
        Neighbors.
    ties : {"first", "all"}
        Exactly ``k`` neighbors, or every row as near as the ``k``-th (Weka's and Mulan's habit).
    smoothing : {None, "mulan"}
        Mulan's confidence :math:`(c + 1/N) / (k + q/N)` in place of :math:`c / k`.
    extension : {None, "a", "b"}
        What is predicted: labels of more than half of the neighbors; (a) also the likeliest label where there would be
        none; (b) the ``s`` likeliest, ``s`` the mean number of labels of the neighbors, a half rounded down. Ties
        to the first label.
    n_jobs : int, optional
        Threads.

    Notes
    -----
    Cost: see :func:`~labelsieve.classifiers.nearest_neighbors`; nothing is learned.

    Examples
    --------
    >>> BRkNN(k=2).fit([[0.0], [1.0], [5.0], [6.0]], [[1, 0], [1, 1], [0, 1], [0, 1]]).predict_proba([[0.4], [5.5]])
    array([[1. , 0.5],
           [0. , 1. ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighborClassifier._parameter_constraints,
        "smoothing": [StrOptions({"mulan"}), None],
        "extension": [StrOptions({"a", "b"}), None],
    }
    _needs_neighbors_of_rows = False

    def __init__(
        self,
        k: int = 10,
        *,
        ties: Ties = "first",
        smoothing: Literal["mulan"] | None = None,
        extension: Literal["a", "b"] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.ties = ties
        self.smoothing = smoothing
        self.extension = extension
        self.n_jobs = n_jobs

    def _learn(self, X: Any, own: Neighbors | None, labels: sp.csr_matrix) -> None:
        self._labels = labels.astype(np.int32)

    def _answer(self, X: Any, found: Neighbors, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        shares = LabelVotes.of(self._labels).counts(found, self.n_jobs, out)
        n_rows, n_labels = self._labels.shape
        extra = 1 / n_rows if self.smoothing == "mulan" else 0.0
        shares += extra
        shares /= found.counts[:, np.newaxis] + n_labels * extra
        return shares

    def _present(self, X: Any) -> NDArray[np.bool_]:
        X = self._read_queries(X)
        found = self._neighbors(X)
        return self._extended(self._answer(X, found), found)

    def _extended(self, probabilities: NDArray[np.float64], found: Neighbors) -> NDArray[np.bool_]:
        check_is_fitted(self)
        present: NDArray[np.bool_] = probabilities > 0.5
        if self.extension == "a":
            empty = ~present.any(axis=1)
            present[empty, probabilities[empty].argmax(axis=1)] = True
        elif self.extension == "b":
            sizes = np.asarray(self._labels.sum(axis=1))
            wanted = np.ceil(found.sum(sizes)[:, 0] / found.counts - 0.5)
            places = np.argsort(np.argsort(-probabilities, axis=1, kind="stable"), axis=1)
            present = places < wanted[:, np.newaxis]
        return present
