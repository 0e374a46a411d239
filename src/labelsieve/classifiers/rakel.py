"""RAkEL: label powersets of a few labels each, which vote."""

from itertools import combinations
from math import comb
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.parallel import Parallel, delayed

from labelsieve.classifiers.base_classifier import MultiLabelClassifier
from labelsieve.classifiers.powerset import fit_powerset
from labelsieve.errors import InputError
from labelsieve.labelspace import Joint
from labelsieve.labelspace.base_space import random_generator

MOST_LISTED = 100_000  # labelsets that are listed to draw from; of more, equal draws are rare and drawn again


class RAkEL(MultiLabelClassifier):
    r"""Random k-labelsets [Tsoumakas, Katakis and Vlahavas 2011].

    Label powersets of ``k`` random labels each. A label is predicted when more than a half of the models that know it do so.

    Parameters
    ----------
    base : classifier
        Of many classes.
    k : int
        Labels of each model; all, where there are fewer.
    n_models : int, optional
        Different labelsets; by default twice as many as labels, and no more than there are. They overlap, and every label is in
        at least one.
    disjoint : bool
        Labels are parted into sets of ``k`` (the last may be smaller), one model each, in place of ``n_models``.
    threshold : float
        Votes, as a share, above which a label is predicted. A tie is not above a half; Mulan counts it as present, which any
        threshold a little below a half does.
    soft : bool
        A vote is the model's probability of the label, in place of 0 or 1; ``base`` must have ``predict_proba``.
    random_state : int, RandomState or None
        Of the labelsets; seeds of ``base`` are its own.
    n_jobs : int, optional
        Models learned at a time.

    Attributes
    ----------
    labelsets_ : list of ndarray
        The labels of each model.
    models_ : list

    Notes
    -----
    Only to cover every label, a label that no random set has takes the place of one that other sets have too.
    ``predict_proba`` gives the share of votes.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "base": [HasMethods(["fit", "predict"])],
        "k": [Interval(Integral, 1, None, closed="left")],
        "n_models": [Interval(Integral, 1, None, closed="left"), None],
        "disjoint": ["boolean"],
        "threshold": [Interval(Real, 0, 1, closed="left")],
        "soft": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        base: Any,
        *,
        k: int = 3,
        n_models: int | None = None,
        disjoint: bool = False,
        threshold: float = 0.5,
        soft: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.base = base
        self.k = k
        self.n_models = n_models
        self.disjoint = disjoint
        self.threshold = threshold
        self.soft = soft
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw labelsets and learn them.

        ``sample_weight`` has a number for every row, 0 to leave it out: how often it counts. ``base`` must take weights.
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
            self.labelsets_ = [np.array(one) for one in random_labelsets(n_labels, k, n_models, rng)]
        by_label = labels.tocsc()
        self.models_ = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_powerset)(self.base, X, sp.csr_matrix(by_label[:, chosen]), Joint(), weights)
            for chosen in self.labelsets_
        )
        return self

    def _label_probabilities(self, X: Any) -> NDArray[np.float64]:
        X = self._read_queries(X)
        votes = np.zeros((X.shape[0], self.n_labels_))
        for chosen, model in zip(self.labelsets_, self.models_, strict=True):
            votes[:, chosen] += model.probabilities(X) if self.soft else model.present(X)
        votes /= np.bincount(np.concatenate(self.labelsets_), minlength=self.n_labels_)
        return votes

    def _present(self, X: Any) -> NDArray[np.bool_]:
        present: NDArray[np.bool_] = self._label_probabilities(X) > self.threshold
        return present


def random_labelsets(n_labels: int, k: int, n_sets: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Different sets of ``k`` labels in ascending order, every label in one at least.

    >>> random_labelsets(4, 2, 3, np.random.default_rng(0))
    [(0, 2), (1, 3), (2, 3)]
    """
    if n_sets * k < n_labels:
        raise InputError(f"{n_sets} sets of {k} labels cannot have all {n_labels}: use a larger n_models or k.")
    if comb(n_labels, k) <= MOST_LISTED:
        listed = list(combinations(range(n_labels), k))
        sets = {listed[place] for place in rng.choice(len(listed), n_sets, replace=False)}
    else:
        sets = set()
        while len(sets) < n_sets:
            sets.add(tuple(sorted(rng.choice(n_labels, k, replace=False).tolist())))
    counts = np.bincount([label for one in sets for label in one], minlength=n_labels)
    for label in np.flatnonzero(counts == 0).tolist():
        # A set with the new label is a new one, so sets stay different. One with a label to spare exists: there are k * n_sets
        # places, more than labels that are in some set.
        spare = [(one, given) for one in sorted(sets) for given in one if counts[given] > 1]
        one, given = spare[int(rng.integers(len(spare)))]
        sets.remove(one)
        sets.add(tuple(sorted({*one, label} - {given})))
        counts[given] -= 1
        counts[label] += 1
    return sorted(sets)
