"""Stop where more features no longer help a learner."""

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state

from labelsieve.errors import InputError, is_whole, not_negative
from labelsieve.metrics import MEASURES
from labelsieve.plotting import figure_function
from labelsieve.stopping.base_rule import MOST_LOOKED_AT, SelectionPath, StoppingRule


class CrossValidated(StoppingRule):
    r"""Keep as many features as a learner needs, by cross-validation with the selection inside.

    In every fold features are selected anew from the training rows alone, and the learner is judged on the other rows with the
    first 1, 2, ..., of them. Of the mean curve the best size is found, and the smallest size that is no more than one standard
    error worse is kept (Breiman et al. 1984):

    .. math:: k^* = \min \{ k : |\bar m_k - \bar m_{best}| \le s_{best} / \sqrt{F} \}

    Assumes that rows can be taken for each other, unless ``cv`` says how to split. The answer serves this learner and this
    measure; folds share rows, so the standard error is somewhat too small.

    Parameters
    ----------
    estimator : estimator, optional
        The learner; by default ``MLkNN(k=10)``, and ``KNNRegressor`` where a target is real. Learners by neighbors (BRkNN,
        MLkNN, IBLR, KNNRegressor) answer for all sizes at little more than the price of one; others are fitted for each size.
    measure : str or callable, optional
        A name of :data:`labelsieve.metrics.MEASURES`, by default ``"hamming_loss"`` (``"rrmse"`` where a target is real); or a
        scorer ``(estimator, X, Y) -> float``, higher is better.
    cv : int or splitter
        Folds, shuffled, or a scikit-learn splitter such as those of :mod:`labelsieve.datasets.splits`.
    standard_errors : float
        How much worse than the best is good enough; 0 keeps the best.
    random_state : int, RandomState or None
        Of the shuffle.
    max_features : int, optional
        How far to look; by default all features, 100 at the most.

    Attributes
    ----------
    sizes_ : ndarray of int
        Numbers of features.
    curve_ : ndarray of shape (n_folds, n_sizes)
        The measure.
    standard_error_ : ndarray of shape (n_sizes,)
    best_size_, kept_size_ : int
    lower_is_better_ : bool
        Whether the measure is a loss.
    reason_ : str

    Notes
    -----
    Forced and excluded features are so in every fold. ``sample_weight`` counts in the selection; the learner and the measure do
    not see it. Cost: a selection and the learner's curve for every fold, then the selection on all rows.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.classifiers import MLkNN
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_rows=300, n_xor_pairs=0)
    >>> sieve = Sieve("cmim", n_features_to_select=CrossValidated(MLkNN(k=7), max_features=8)).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in sieve.selected_]
    ['relevant', 'relevant', 'relevant', 'relevant']
    >>> sieve.stopping_.curve_.mean(axis=0).round(2)
    array([...])
    """

    name = "cross-validation"

    def __init__(
        self,
        estimator: Any = None,
        measure: Any = None,
        *,
        cv: Any = 5,
        standard_errors: float = 1.0,
        random_state: Any = 0,
        max_features: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.measure = measure
        self.cv = cv
        self.standard_errors = standard_errors
        self.random_state = random_state
        self.max_features = max_features

    def decide(self, evidence: SelectionPath) -> int:
        """The smallest number that is as good as the best, but for chance."""
        self._check()
        most = self._most(evidence, evidence.n_forced + MOST_LOOKED_AT)
        least = max(1, evidence.n_forced)
        learner = None if self.estimator is None else clone(self.estimator)
        folds = [
            evidence.evaluator(train, test, learner, self.measure, most) for train, test in self._split(evidence.X, evidence.Y)
        ]
        if len(folds) < 2:
            raise InputError("CrossValidated: one fold has no standard error; use a cv of two folds or more.")
        self.sizes_ = np.arange(least, most + 1)
        self.curve_ = np.array(folds)[:, least - 1 :]
        self.standard_error_ = self.curve_.std(axis=0, ddof=1) / np.sqrt(len(folds))
        lower = isinstance(self.measure, str) and MEASURES[self.measure].lower_is_better
        self.lower_is_better_ = lower or self.measure is None  # both defaults are losses
        mean = -self.curve_.mean(axis=0) if self.lower_is_better_ else self.curve_.mean(axis=0)
        best = int(mean.argmax())
        self.best_size_ = int(self.sizes_[best])
        good = mean >= mean[best] - float(self.standard_errors) * self.standard_error_[best]
        kept = int(self.sizes_[np.argmax(good)])
        self.reason_ = f"{kept} features are within {self.standard_errors:g} standard errors of {self.best_size_}, the best."
        self.kept_size_ = kept
        evidence.search.extend(kept)
        return kept

    def plot(self, *, ylabel: str | None = None, ax: Any = None) -> Any:
        """Draw the measure over the number of features: see :func:`labelsieve.report.figures.stopping_curve`."""
        return figure_function("stopping_curve")(self, ylabel=ylabel, ax=ax)

    def _check(self) -> None:
        if isinstance(self.measure, str) and self.measure not in MEASURES:
            raise InputError(f"measure: there is no {self.measure!r}; there are {', '.join(MEASURES)}, or give a scorer.")
        if self.measure is not None and not isinstance(self.measure, str) and not callable(self.measure):
            raise InputError(f"measure must be a name or a scorer (estimator, X, Y) -> float, not {self.measure!r}.")
        if self.estimator is not None and not hasattr(self.estimator, "fit"):
            raise InputError(f"estimator must have fit and predict, and {self.estimator!r} has not; give the learner itself.")
        not_negative(self.standard_errors, "standard_errors")

    def _split(self, X: Any, Y: Any) -> Any:
        from sklearn.model_selection import KFold, check_cv  # here: no other rule needs it

        if is_whole(self.cv):
            random = check_random_state(self.random_state)
            return KFold(int(self.cv), shuffle=True, random_state=random).split(X)
        return check_cv(self.cv, Y, classifier=is_classifier(self.estimator)).split(X, Y)
