"""The measures as scikit-learn scorers."""

from collections.abc import Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelsieve.errors import InputError, unknown_name
from labelsieve.metrics.measures_table import MEASURES, NO_OPTIONS, Convention
from labelsieve.metrics.measures_table import options as convention_options
from labelsieve.table_types import SparseMatrix, TableLike, TargetsLike, WeightsLike, is_sparse

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.utils.metadata_routing import MetadataRequest  # loaded late: measures do not import scikit-learn


class Scorer:
    """A measure as a scikit-learn scorer: higher is better, so losses are negated.

    Created by :func:`get_scorer`, for ``scoring=`` in ``cross_validate`` and ``GridSearchCV``, alone or in a dictionary. It
    gets row weights as scikit-learn's scorers do: those of ``GridSearchCV.fit`` or, with metadata routing, those requested by
    :meth:`set_score_request`.
    """

    def __init__(self, measure: str, options: Mapping[str, Any]) -> None:
        self.measure = measure
        self.options = options
        self.weights_request: bool | str | None = None

    def __call__(self, estimator: "BaseEstimator", X: TableLike, Y: TargetsLike, sample_weight: WeightsLike = None) -> float:
        """Score of a fitted estimator on ``X`` and ``Y``."""
        measure = MEASURES[self.measure]
        predicted = for_one_label(label_scores(estimator, X), Y) if measure.needs == "scores" else estimator.predict(X)
        value = measure.function(Y, predicted, sample_weight=sample_weight, **self.options)
        return -value if measure.lower_is_better else value

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Request row weights (True), those of another name (str), or none (False), with metadata routing."""
        from sklearn import get_config

        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError("set_score_request needs sklearn.set_config(enable_metadata_routing=True).")
        self.weights_request = sample_weight
        return self

    def get_metadata_routing(self) -> "MetadataRequest":
        """The requests above, for scikit-learn."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self.weights_request)
        return request

    def _accept_sample_weight(self) -> bool:
        """Whether scikit-learn's searches pass weights to the scorer without metadata routing."""
        return True

    def __repr__(self) -> str:
        listed = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"get_scorer({_name(self.measure)!r}{listed})"


def scorer_names() -> list[str]:
    """Names for :func:`get_scorer`: those of the measures, with the prefix ``neg_`` for losses, as in scikit-learn.

    Examples
    --------
    >>> scorer_names()[:3]
    ['neg_hamming_loss', 'hamming_score', 'neg_subset_loss']
    """
    return [_name(measure) for measure in MEASURES]


def get_scorer(name: str, *, convention: Convention = "labelsieve", **options: object) -> Scorer:
    """A scorer by name, with the options of a convention and additional ones.

    Parameters
    ----------
    name : str
        One of :func:`scorer_names`. Rankings use ``predict_proba`` or else ``decision_function``, the others ``predict``.
    convention : {"labelsieve", "scikit-learn", "mulan", "matlab"} or mapping, default="labelsieve"
        The program whose results to reproduce, or options by measure: see :func:`options`.
    **options
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
        losses = f"; losses are negated: {_name(name)!r}" if name in tuple(MEASURES) else ""
        raise unknown_name("scorer", name, scorer_names(), more=losses)
    measure = name.removeprefix("neg_")
    all_options = convention_options(measure, convention) | options
    _check_options(name, measure, all_options)
    return Scorer(measure, all_options)


def _check_options(name: str, measure: str, options: Mapping[str, Any]) -> None:
    """Refuse invalid options early: in a cross-validation the error would be one of many warnings, and the scores NaN."""
    function = MEASURES[measure].function
    known = [option for option in signature(function).parameters if option not in NO_OPTIONS]
    for option in options:
        if option not in known:
            raise InputError(f"{name} has no option {option!r}; {'it has ' + ', '.join(known) if known else 'it has none'}.")
    value = function([[1, 0]], [[1, 0]], **{option: value for option, value in options.items() if option != "baseline"})
    if not isinstance(value, float):
        raise InputError(f"a scorer returns one number, which {name} with {dict(options)} does not.")


def _name(measure: str) -> str:
    return f"neg_{measure}" if MEASURES[measure].lower_is_better else measure


def label_scores(estimator: "BaseEstimator", X: TableLike) -> Any:
    """Scores of labels: ``predict_proba`` if the estimator has it, else ``decision_function``.

    scikit-learn's multi-output estimators return a list with the class probabilities of each label, of which the column of
    class 1 is used; a constant label of the training rows has a single column, of the only class in ``classes_``.
    """
    if hasattr(estimator, "predict_proba"):
        found = estimator.predict_proba(X)
    elif hasattr(estimator, "decision_function"):
        found = estimator.decision_function(X)
    else:
        raise InputError(f"{estimator!r} has neither predict_proba nor decision_function, and this measure ranks labels.")
    if isinstance(found, list):
        tables = [np.asarray(table) for table in found]
        return np.column_stack(
            [_of_present(table, classes) for table, classes in zip(tables, _classes(estimator, tables), strict=True)]
        )
    return found


def for_one_label(scores: NDArray[Any] | SparseMatrix, Y: TargetsLike) -> NDArray[Any] | SparseMatrix:
    """The scores of a single label from its two columns of class probabilities."""
    shape = Y.shape if is_sparse(Y) else np.asarray(Y).shape
    single = shape[1:] in ((), (1,)) and not is_sparse(scores) and scores.shape[1:] == (2,)
    return np.asarray(scores)[:, 1] if single else scores


def _classes(estimator: object, tables: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """The classes of every label: those of ``classes_``, or absent and present without that attribute."""
    classes = getattr(estimator, "classes_", None)
    if classes is not None and len(classes) == len(tables) and all(np.ndim(of_label) == 1 for of_label in classes):
        return list(classes)
    for label, table in enumerate(tables):
        if table.ndim == 2 and table.shape[1] == 1:
            raise InputError(
                f"{type(estimator).__name__}.predict_proba has one column for label {label}, which may be the label or its "
                "absence: give the estimator a classes_ attribute with the classes of each label."
            )
    return [np.arange(2)] * len(tables)


def _of_present(table: NDArray[Any], classes: ArrayLike) -> NDArray[Any]:
    if table.ndim == 1:
        return table
    present = np.flatnonzero(np.asarray(classes) == 1)
    return table[:, present[0]] if len(present) else np.zeros(len(table))
