"""Stop where more features no longer improve the predictions of an estimator."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from labelsieve.errors import InputError, is_whole, not_negative, unknown_name
from labelsieve.labelspace.base_space import RandomState
from labelsieve.metrics import MEASURES
from labelsieve.plotting import Axes, figure_function
from labelsieve.stopping.base_rule import MAX_CURVE_LENGTH, SelectionPath, StoppingRule
from labelsieve.table_types import TableLike, TargetsLike


@dataclass(eq=False, repr=False)
class CrossValidated(StoppingRule):
    r"""Keep the number of features that an estimator needs, by cross-validation of selection and estimator together.

    In every fold features are selected from the training rows alone, and the estimator is evaluated on the test rows with the
    first 1, 2, ..., of them. The smallest number of features whose mean is within one standard error of the best mean is kept
    (Breiman et al. 1984):

    .. math:: k^* = \min \{ k : |\bar m_k - \bar m_{best}| \le s_{best} / \sqrt{F} \}

    Assumes that rows are exchangeable, or a ``cv`` that splits them accordingly. The result depends on the estimator and the
    measure; folds share rows, so the standard error is somewhat too small.

    Parameters
    ----------
    estimator : estimator, default=None
        None: ``MLkNN(k=10)``, or ``KNNRegressor`` if a target is numeric. Nearest-neighbor estimators (BRkNN, MLkNN, IBLR,
        KNNRegressor) predict for all numbers of features at little more than the cost of one; others are fitted for each.
    measure : str or callable, default=None
        A name of :data:`labelsieve.metrics.MEASURES`, or a scorer ``(estimator, X, Y) -> float``, higher is better. None:
        ``"hamming_loss"``, or ``"rrmse"`` if a target is numeric.
    cv : int or splitter, default=5
        Number of shuffled folds, or a scikit-learn splitter such as those of :mod:`labelsieve.datasets.splits`.
    standard_errors : float, default=1.0
        Tolerance of the choice, in standard errors of the best mean; 0 keeps the best number of features.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.
    max_features : int, default=None
        The largest number of features to evaluate; None: all, 100 at most.
    scale : {"standard", "minmax", None}, default="standard"
        Scaling of the features for nearest-neighbor estimators, by the training rows of every fold: mean 0 and variance 1, the
        range from 0 to 1, or none. Missing cells get the means of the training rows, and a nominal feature an indicator for
        each of its 20 most frequent levels. Other estimators get the features as they are; use a pipeline to prepare them.

    Attributes
    ----------
    sizes_ : ndarray of int
        Numbers of features.
    curve_ : ndarray of shape (n_folds, n_sizes)
        The measure in every fold.
    standard_error_ : ndarray of shape (n_sizes,)
        Standard error of the mean over the folds.
    best_size_, kept_size_ : int
        The number of features with the best mean, and the number that is kept.
    lower_is_better_ : bool
        Whether the measure is a loss.
    reason_ : str
        Why this number was kept.

    Notes
    -----
    ``forced`` and ``excluded`` apply in every fold. ``sample_weight`` is used in the selection, not by the estimator or the
    measure. Cost: a selection and the estimator's curve for every fold, then the selection on all rows.

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

    estimator: Any = None
    measure: Any = None
    _: KW_ONLY
    cv: Any = 5
    standard_errors: float = 1.0
    random_state: RandomState = 0
    max_features: int | None = None
    scale: str | None = "standard"

    def decide(self, path: SelectionPath) -> int:
        """The smallest number of features within ``standard_errors`` of the best mean."""
        self._check()
        if path.has_unknown_labels:
            raise InputError(
                "CrossValidated evaluates predictions of all labels, and some are unknown (NaN); use PermutationTest, GTest, "
                "Knee, ScoreThreshold or a number of features."
            )
        most = self._max_features(path, path.n_forced + MAX_CURVE_LENGTH)
        least = max(1, path.n_forced)
        estimator = None if self.estimator is None else clone(self.estimator)
        from labelsieve.classifiers.learner_features import read_scale  # most selections need no learner

        scale = read_scale(self.scale)
        folds = [
            path.evaluator(train, test, estimator, self.measure, most, scale) for train, test in self._split(path.X, path.Y)
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
        within = mean >= mean[best] - float(self.standard_errors) * self.standard_error_[best]
        kept = int(self.sizes_[np.argmax(within)])
        near = f"; {kept} is the smallest size within {self.standard_errors:g} standard errors of it"
        self.reason_ = f"The best mean is at size {self.best_size_}{near if kept < self.best_size_ else ''}."
        self.kept_size_ = kept
        path.search.extend(kept)
        return kept

    def plot(self, *, ylabel: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the measure over the number of features: see :func:`labelsieve.report.figures.stopping_curve`."""
        return figure_function("stopping_curve")(self, ylabel=ylabel, ax=ax)

    def _check(self) -> None:
        if isinstance(self.measure, str) and self.measure not in MEASURES:
            raise unknown_name("measure", self.measure, MEASURES, more=", or a scorer (estimator, X, Y) -> float")
        if self.measure is not None and not isinstance(self.measure, str) and not callable(self.measure):
            raise InputError(f"measure must be a name or a scorer (estimator, X, Y) -> float, not {self.measure!r}.")
        if self.estimator is not None and not hasattr(self.estimator, "fit"):
            raise InputError(f"estimator must have fit and predict, and {self.estimator!r} has not; pass the estimator itself.")
        not_negative(self.standard_errors, "standard_errors")

    def _split(self, X: TableLike, Y: TargetsLike | None) -> Any:
        from sklearn.model_selection import KFold, check_cv  # loaded late: no other rule needs it

        if is_whole(self.cv):
            if (n_rows := _num_samples(X)) < int(self.cv):
                raise InputError(
                    f"CrossValidated: {self.cv} folds need {self.cv} rows, and there are n_samples = {n_rows}; use fewer "
                    "folds, or give a number of features."
                )
            random = check_random_state(self.random_state)
            return KFold(int(self.cv), shuffle=True, random_state=random).split(X)
        return check_cv(self.cv, Y, classifier=is_classifier(self.estimator)).split(X, Y)
