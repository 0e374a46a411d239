"""RAkEL: an ensemble of label powersets on random k-labelsets."""

from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from math import comb
from numbers import Real
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.parallel import Parallel, delayed

from labelsieve.classifiers.base_classifier import MultiLabelClassifier
from labelsieve.classifiers.powerset import fit_powerset
from labelsieve.classifiers.shared_logistic import SharedLogistic, warn_unconverged
from labelsieve.counting.checked_parameters import AT_LEAST_ONE, PREDICTOR, REQUIRED, parameter
from labelsieve.errors import InputError
from labelsieve.labelspace import Joint
from labelsieve.labelspace.base_space import RandomState, random_generator
from labelsieve.table_types import TableLike, TargetsLike, WeightsLike

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

    Cost: ``n_models`` fits of ``base`` with up to :math:`2^k` classes. A plain ``LogisticRegression`` on dense features is
    fitted by a solver of the core, see :class:`BinaryRelevance`.

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

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Draw labelsets and fit their models.

        ``sample_weight`` are frequencies of the rows. ``base`` must accept weights.
        """
        if self.soft and not hasattr(self.base, "predict_proba"):
            raise InputError(f"RAkEL(soft=True) needs a base with predict_proba, not {self.base!r}.")
        X, labels, weights = self._read_weighted(X, y, sample_weight)
        n_labels, rng = labels.shape[1], random_generator(self.random_state)
        k = min(self.k, n_labels)
        if self.disjoint:
            order = rng.permutation(n_labels)
            self.labelsets_ = [np.sort(order[start : start + k]) for start in range(0, n_labels, k)]
        else:
            n_models = min(2 * n_labels if self.n_models is None else self.n_models, comb(n_labels, k))
            self.labelsets_ = [np.array(labelset) for labelset in random_labelsets(n_labels, k, n_models, rng)]
        by_label, shared = labels.tocsc(), SharedLogistic.of(self.base, X, weights)
        self.models_ = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(fit_powerset)(self.base, X, sp.csr_matrix(by_label[:, labelset]), Joint(), weights, shared)
            for labelset in self.labelsets_
        )
        estimators = [powerset.model.estimator for powerset in self.models_]
        warn_unconverged(zip([labelset.tolist() for labelset in self.labelsets_], estimators, strict=True))
        return self

    def _label_probabilities(self, X: TableLike) -> NDArray[np.float64]:
        X = self._read_queries(X)
        votes = np.zeros((X.shape[0], self.n_labels_))
        for labelset, model in zip(self.labelsets_, self.models_, strict=True):
            votes[:, labelset] += model.probabilities(X) if self.soft else model.present(X)
        votes /= np.bincount(np.concatenate(self.labelsets_), minlength=self.n_labels_)
        return votes

    def _present(self, X: TableLike) -> NDArray[np.bool_]:
        present: NDArray[np.bool_] = self._label_probabilities(X) > self.threshold
        return present


def random_labelsets(n_labels: int, k: int, n_sets: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Distinct sets of ``k`` labels in ascending order, every label in at least one.

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
