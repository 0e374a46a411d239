"""All measures by name, the function that evaluates predictions by them, and scorers for scikit-learn."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelsieve.errors import InputError, unknown_name
from labelsieve.metrics import labelsets as labelset_measures
from labelsieve.metrics import rankings as ranking_measures
from labelsieve.metrics.arrays import FOR_UNKNOWN, TrueLabels
from labelsieve.metrics.regression import rrmse
from labelsieve.tables.types import SparseMatrix, TableLike, TargetsLike, WeightsLike, is_sparse

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.utils.metadata_routing import MetadataRequest


@dataclass(frozen=True)
class Measure:
    """A measure with the predictions that it needs, as ``MEASURES`` lists them.

    Attributes
    ----------
    function : callable
        The function of this package.
    needs : {"labels", "scores", "numbers"}
        The predictions: labelsets, scores of labels, or numbers.
    lower_is_better : bool
        Whether the measure is a loss.
    evaluated : bool
        Whether :func:`evaluate` includes it: not the measures of the best k labels, as k must be chosen.

    Examples
    --------
    >>> MEASURES["hamming_loss"].needs, MEASURES["hamming_loss"].lower_is_better
    ('labels', True)
    """

    function: Callable[..., float]
    needs: Literal["labels", "scores", "numbers"]
    lower_is_better: bool
    evaluated: bool = True


#: The measures by name.
MEASURES: Mapping[str, Measure] = {
    "hamming_loss": Measure(labelset_measures.hamming_loss, "labels", True),
    "hamming_score": Measure(labelset_measures.hamming_score, "labels", False),
    "subset_loss": Measure(labelset_measures.subset_loss, "labels", True),
    "exact_match": Measure(labelset_measures.exact_match, "labels", False),
    "example_accuracy": Measure(labelset_measures.example_accuracy, "labels", False),
    "example_f1": Measure(labelset_measures.example_f1, "labels", False),
    "macro_f1": Measure(labelset_measures.macro_f1, "labels", False),
    "micro_f1": Measure(labelset_measures.micro_f1, "labels", False),
    "ranking_loss": Measure(ranking_measures.ranking_loss, "scores", True),
    "one_error": Measure(ranking_measures.one_error, "scores", True),
    "coverage": Measure(ranking_measures.coverage, "scores", True),
    "average_precision": Measure(ranking_measures.average_precision, "scores", False),
    "precision_at_k": Measure(ranking_measures.precision_at_k, "scores", False, evaluated=False),
    "ndcg_at_k": Measure(ranking_measures.ndcg_at_k, "scores", False, evaluated=False),
    "rrmse": Measure(rrmse, "numbers", True),
}

NO_OPTIONS = ("Y", "predicted", "scores", "sample_weight")  # parameters of a measure that are not options
Convention = str | Mapping[str, Mapping[str, Any]]

#: Options of the measures, by the name of a convention and of the measure; see :func:`labelsieve.metrics.convention_options`.
CONVENTIONS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "labelsieve": {},
    "scikit-learn": {
        "example_accuracy": {"zero_division": 0.0},
        "example_f1": {"zero_division": 0.0},
        "macro_f1": {"zero_division": 0.0},
        "micro_f1": {"zero_division": 0.0},
        "ranking_loss": {"rows": "all"},
        "coverage": {"count_from": 1},
        "ndcg_at_k": {"zero_division": 0.0},
    },
    "mulan": {
        "ranking_loss": {"ties": "later", "rows": "all"},
        "one_error": {"ties": "later"},
        "coverage": {"ties": "later"},
        "average_precision": {"ties": "later"},
    },
    "matlab": {
        "example_accuracy": {"zero_division": 0.0},
        "example_f1": {"zero_division": 0.0},
        "macro_f1": {"zero_division": 0.0},
        "micro_f1": {"zero_division": 0.0},
        "one_error": {"ties": "best", "rows": "informative"},
        "coverage": {"ties": "later"},
        "average_precision": {"ties": "later", "rows": "informative"},
    },
}


def convention_options(measure: str, convention: Convention = "labelsieve") -> dict[str, Any]:
    """Options with which a measure equals that of another program: "labelsieve", "scikit-learn", "mulan" or "matlab".

    A custom convention is a mapping from measures to options; measures that are not in it have their defaults.

    "mulan" and "matlab" (the toolboxes that follow Zhang and Zhou's code) were determined by comparing results; options that
    their test data do not determine are the defaults. Matlab toolboxes also differ in ways that have no option: a row without
    labels counts -1 in coverage, and average precision and ranking loss are NaN if there is one.

    Examples
    --------
    >>> convention_options("coverage", "mulan")
    {'ties': 'later'}
    >>> convention_options("macro_f1", {"macro_f1": {"zero_division": 0.0}})
    {'zero_division': 0.0}
    """
    if measure not in tuple(MEASURES):
        raise unknown_name("measure", measure, MEASURES)
    return dict(read_convention(convention).get(measure, {}))


def read_convention(convention: Convention) -> Mapping[str, Mapping[str, Any]]:
    """Look up the options of a convention by measure; refuse unknown names, measures and options."""
    if not isinstance(convention, Mapping):
        if convention not in tuple(CONVENTIONS):
            more = ", or a mapping from measures to options"
            raise unknown_name("convention", convention, CONVENTIONS, more=more)
        return CONVENTIONS[convention]
    for measure, given in convention.items():
        if measure not in tuple(MEASURES):
            raise unknown_name("measure", measure, MEASURES)
        known = _options_of(measure)
        if not isinstance(given, Mapping):
            raise InputError(
                f"convention: {measure} needs a table of options, not {given!r}; it has {', '.join(known) or 'none'}."
            )
        for name in given:
            if name not in known:
                raise InputError(f"convention: {unknown_name(f'option of {measure}', name, known)}")
    return convention


def _options_of(measure: str) -> list[str]:
    return [name for name in signature(MEASURES[measure].function).parameters if name not in NO_OPTIONS]


def evaluate(
    Y: TargetsLike | TrueLabels,
    predicted: TargetsLike | None = None,
    scores: TableLike | None = None,
    *,
    convention: Convention = "labelsieve",
    sample_weight: WeightsLike = None,
) -> dict[str, float]:
    """Compute all measures of labels that follow from predicted labelsets, from scores, or from both, except those at k.

    Parameters
    ----------
    Y : array-like, frame or sparse matrix of 0 and 1, shape (n_rows, n_labels)
        Where a label is unknown (NaN), cells are left out. Measures that need all labels of a row are then not computed: exact
        match, its loss, and the measures of rankings.
    predicted, scores : array-like of the same shape, default=None
        Predicted labels as 0 and 1, and scores, such as probabilities; at least one of the two.
    convention : {"labelsieve", "scikit-learn", "mulan", "matlab"} or mapping, default="labelsieve"
        The program whose results to reproduce, or options by measure: see :func:`convention_options`.
    sample_weight : array-like of shape (n_rows,), default=None
        The weight of each row.

    Returns
    -------
    dict of str to float

    Notes
    -----
    Cost: the sum of the costs of the measures; the predictions are validated by each.

    Examples
    --------
    >>> evaluate([[1, 0], [0, 1]], scores=[[0.9, 0.1], [0.6, 0.5]])
    {'ranking_loss': 0.5, 'one_error': 0.5, 'coverage': 0.5, 'average_precision': 0.75}
    """
    if predicted is None and scores is None:
        raise InputError("evaluate needs predicted labels, scores, or both.")
    given = {"labels": predicted, "scores": scores, "numbers": None}
    truth = TrueLabels.of(Y)
    computed = [name for name, measure in MEASURES.items() if given[measure.needs] is not None and measure.evaluated]
    if truth.known is not None:
        computed = [name for name in computed if name in FOR_UNKNOWN]
        if not computed:
            raise InputError("evaluate: some labels of Y are unknown (NaN), and measures of rankings need all; pass predicted.")
    return {
        name: MEASURES[name].function(
            truth, given[MEASURES[name].needs], sample_weight=sample_weight, **convention_options(name, convention)
        )
        for name in computed
    }


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
        """Score a fitted estimator on ``X`` and ``Y``."""
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
        """Tell scikit-learn which weights :meth:`set_score_request` asked for."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self.weights_request)
        return request

    def _accept_sample_weight(self) -> bool:
        """Tell scikit-learn's searches to pass weights to the scorer without metadata routing, too."""
        return True

    def __repr__(self) -> str:
        listed = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"get_scorer({_name(self.measure)!r}{listed})"


def scorer_names() -> list[str]:
    """List the names for :func:`get_scorer`: those of the measures, with the prefix ``neg_`` for losses, as in scikit-learn.

    Examples
    --------
    >>> scorer_names()[:3]
    ['neg_hamming_loss', 'hamming_score', 'neg_subset_loss']
    """
    return [_name(measure) for measure in MEASURES]


def get_scorer(name: str, *, convention: Convention = "labelsieve", **options: object) -> Scorer:
    """Make a scorer by name, with the options of a convention and additional ones.

    Parameters
    ----------
    name : str
        One of :func:`scorer_names`. Rankings use ``predict_proba`` or else ``decision_function``, the others ``predict``.
    convention : {"labelsieve", "scikit-learn", "mulan", "matlab"} or mapping, default="labelsieve"
        The program whose results to reproduce, or options by measure: see :func:`convention_options`.
    **options
        Options of the measure, such as ``ties="half"``.

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
        if name in tuple(MEASURES):
            raise InputError(
                f"{name!r} is not a scorer, because higher is better there and losses are negated: {_name(name)!r}."
            )
        raise unknown_name("scorer", name, scorer_names())
    measure = name.removeprefix("neg_")
    all_options = convention_options(measure, convention) | options
    _check_options(name, measure, all_options)
    return Scorer(measure, all_options)


def _check_options(name: str, measure: str, options: Mapping[str, Any]) -> None:
    """Refuse invalid options early: in a cross-validation the error would be one of many warnings, and the scores NaN."""
    function = MEASURES[measure].function
    known = _options_of(measure)
    for option in options:
        if option not in known:
            raise InputError(f"{name} has no option {option!r}; {'it has ' + ', '.join(known) if known else 'it has none'}.")
    value = function([[1, 0]], [[1, 0]], **{option: value for option, value in options.items() if option != "baseline"})
    if not isinstance(value, float):
        raise InputError(f"a scorer returns one number, which {name} with {dict(options)} does not.")


def _name(measure: str) -> str:
    return f"neg_{measure}" if MEASURES[measure].lower_is_better else measure


def label_scores(estimator: "BaseEstimator", X: TableLike) -> Any:
    """Return scores of labels: ``predict_proba`` if the estimator has it, else ``decision_function``.

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
    """Take the scores of a single label from its two columns of class probabilities."""
    shape = Y.shape if is_sparse(Y) else np.asarray(Y).shape
    single = shape[1:] in ((), (1,)) and not is_sparse(scores) and scores.shape[1:] == (2,)
    return np.asarray(scores)[:, 1] if single else scores


def _classes(estimator: object, tables: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return the classes of every label: those of ``classes_``, or absent and present without that attribute."""
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
    """Return the column of class 1; zeros if no training row had the label."""
    if table.ndim == 1:
        return table
    present = np.flatnonzero(np.asarray(classes) == 1)
    return table[:, present[0]] if len(present) else np.zeros(len(table))
