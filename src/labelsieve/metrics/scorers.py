"""The measures as scikit-learn scorers."""

from inspect import signature
from typing import TYPE_CHECKING, Any, Self

from labelsieve.errors import InputError
from labelsieve.metrics.estimator_scores import for_one_label, label_scores
from labelsieve.metrics.measures_table import MEASURES, options

if TYPE_CHECKING:
    from sklearn.utils.metadata_routing import MetadataRequest  # measures load no scikit-learn; who routes metadata has it


class Scorer:
    """A measure that asks an estimator for what it needs; higher is better, so losses come with a minus.

    What ``scoring`` takes in ``cross_validate`` and ``GridSearchCV``, alone or in a dictionary. Made by :func:`get_scorer`.
    Row weights reach it as they reach scikit-learn's own: those that ``GridSearchCV.fit`` is given or, where metadata are
    routed, those that :meth:`set_score_request` asks for.
    """

    def __init__(self, measure: str, how: dict[str, Any]) -> None:
        self.measure = measure
        self.how = how
        self.weights_request: bool | str | None = None

    def __call__(self, estimator: Any, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """Score of a fitted estimator on ``X`` and ``Y``."""
        measure = MEASURES[self.measure]
        answer = for_one_label(label_scores(estimator, X), Y) if measure.needs == "scores" else estimator.predict(X)
        value = measure.function(Y, answer, sample_weight=sample_weight, **self.how)
        return -value if measure.lower_is_better else value

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Ask for row weights (True), for those of another name (str), or for none (False), where metadata are routed."""
        from sklearn import get_config

        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError("There is nothing to ask before sklearn.set_config(enable_metadata_routing=True).")
        self.weights_request = sample_weight
        return self

    def get_metadata_routing(self) -> "MetadataRequest":
        """What scikit-learn asks for the wishes above."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self.weights_request)
        return request

    def _accept_sample_weight(self) -> bool:
        """What scikit-learn's searches ask of scorers when weights are fitted with and nothing is routed."""
        return True

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
    if name not in scorer_names():
        losses = f" Losses are negated: {_name(name)!r}." if name in tuple(MEASURES) else ""
        raise InputError(f"there is no scorer {name!r}; there are {', '.join(scorer_names())}.{losses}")
    measure = name.removeprefix("neg_")
    chosen = options(measure, convention) | how
    _try(name, measure, chosen)
    return Scorer(measure, chosen)


def _try(name: str, measure: str, how: dict[str, Any]) -> None:
    """Refuse options now: in a cross-validation their error would be one of many warnings, and the scores NaN."""
    function = MEASURES[measure].function
    known = [option for option in signature(function).parameters if option not in ("Y", "predicted", "scores", "sample_weight")]
    for option in how:
        if option not in known:
            raise InputError(f"{name} has no option {option!r}; {'it has ' + ', '.join(known) if known else 'it has none'}.")
    value = function([[1, 0]], [[1, 0]], **{option: own for option, own in how.items() if option != "baseline"})
    if not isinstance(value, float):
        raise InputError(f"a scorer answers one number, which {name} with {how} does not.")


def _name(measure: str) -> str:
    return f"neg_{measure}" if MEASURES[measure].lower_is_better else measure
