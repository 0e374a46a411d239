"""The measures as scikit-learn scorers."""

from typing import Any

from labelsieve.errors import InputError
from labelsieve.metrics.conventions import MEASURES, options
from labelsieve.metrics.responses import for_one_label, label_scores


class Scorer:
    """A measure that asks an estimator for what it needs; higher is better, so losses come with a minus.

    What ``scoring`` takes in ``cross_validate`` and ``GridSearchCV``, alone or in a dictionary. Made by :func:`get_scorer`.
    """

    def __init__(self, measure: str, how: dict[str, Any]) -> None:
        self.measure = measure
        self.how = how

    def __call__(self, estimator: Any, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """Score of a fitted estimator on ``X`` and ``Y``."""
        measure = MEASURES[self.measure]
        answer = for_one_label(label_scores(estimator, X), Y) if measure.needs == "scores" else estimator.predict(X)
        value = measure.function(Y, answer, sample_weight=sample_weight, **self.how)
        return -value if measure.lower_is_better else value

    def __repr__(self) -> str:
        listed = "".join(f", {name}={value!r}" for name, value in self.how.items())
        return f"get_scorer({_name(self.measure)!r}{listed})"


def scorer_names() -> list[str]:
    """Names that :func:`get_scorer` knows: those of the measures, with ``neg_`` before losses, as in scikit-learn.

    Examples
    --------
    >>> scorer_names()[:3]
    ['neg_hamming_loss', 'hamming_score', 'neg_subset_loss']
    """
    return [_name(measure) for measure in MEASURES]


def get_scorer(name: str, *, convention: str = "labelsieve", **how: Any) -> Scorer:
    """A scorer by name, with the options of a convention and those given here.

    Parameters
    ----------
    name : str
        One of :func:`scorer_names`. Rankings use ``predict_proba`` or else ``decision_function``, the others ``predict``.
    convention : {"labelsieve", "scikit-learn", "mulan", "matlab"}
    **how
        Options of the measure, such as ``ties="half"``.

    Returns
    -------
    Scorer

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> scoring = {name: get_scorer(name) for name in ("neg_ranking_loss", "macro_f1")}
    >>> found = cross_validate(KNeighborsClassifier(), X, Y, scoring=scoring)
    >>> bool((found["test_neg_ranking_loss"] <= 0).all()), bool((found["test_macro_f1"] >= 0).all())
    (True, True)
    """
    measure = {_name(measure): measure for measure in MEASURES}.get(name)
    if measure is None:
        losses = f" Losses are negated: {_name(name)!r}." if name in MEASURES else ""
        raise InputError(f"there is no scorer {name!r}; there are {', '.join(scorer_names())}.{losses}")
    return Scorer(measure, options(measure, convention) | how)


def _name(measure: str) -> str:
    return f"neg_{measure}" if MEASURES[measure].lower_is_better else measure
