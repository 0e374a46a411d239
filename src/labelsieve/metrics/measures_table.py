"""The measures by name, and the options under which other programs compute them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any, Literal

from labelsieve.errors import InputError, unknown_name
from labelsieve.metrics import labelset_measures, ranking_measures, top_k_measures
from labelsieve.metrics.measure_arrays import FOR_UNKNOWN, TrueLabels
from labelsieve.metrics.rrmse import rrmse
from labelsieve.table_types import TableLike, TargetsLike, WeightsLike


@dataclass(frozen=True)
class Measure:
    """A measure and the predictions that it needs: an entry of ``MEASURES``.

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
    "precision_at_k": Measure(top_k_measures.precision_at_k, "scores", False, evaluated=False),
    "ndcg_at_k": Measure(top_k_measures.ndcg_at_k, "scores", False, evaluated=False),
    "rrmse": Measure(rrmse, "numbers", True),
}

NO_OPTIONS = ("Y", "predicted", "scores", "sample_weight")  # parameters of a measure that are not options
Convention = str | Mapping[str, Mapping[str, Any]]

#: Options of the measures, by the name of a convention and of the measure; see :func:`labelsieve.metrics.options`.
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


def options(measure: str, convention: Convention = "labelsieve") -> dict[str, Any]:
    """Options with which a measure equals that of another program: "labelsieve", "scikit-learn", "mulan" or "matlab".

    A custom convention is a mapping from measures to options; measures that are not in it have their defaults.

    "mulan" and "matlab" (the toolboxes that follow Zhang and Zhou's code) were determined by comparing results; options that
    their test data do not determine are the defaults. Matlab toolboxes also differ in ways that have no option: a row without
    labels counts -1 in coverage, and average precision and ranking loss are NaN if there is one.

    Examples
    --------
    >>> options("coverage", "mulan")
    {'ties': 'later'}
    >>> options("macro_f1", {"macro_f1": {"zero_division": 0.0}})
    {'zero_division': 0.0}
    """
    if measure not in tuple(MEASURES):
        raise unknown_name("measure", measure, MEASURES)
    return dict(read_convention(convention).get(measure, {}))


def read_convention(convention: Convention) -> Mapping[str, Mapping[str, Any]]:
    """The options of a convention by measure; refuse unknown names, measures and options."""
    if not isinstance(convention, Mapping):
        if convention not in tuple(CONVENTIONS):
            more = ", or a mapping from measures to options"
            raise unknown_name("convention", convention, CONVENTIONS, more=more)
        return CONVENTIONS[convention]
    for measure, given in convention.items():
        if measure not in tuple(MEASURES):
            raise unknown_name("measure", measure, MEASURES)
        known = [name for name in signature(MEASURES[measure].function).parameters if name not in NO_OPTIONS]
        if not isinstance(given, Mapping):
            raise InputError(
                f"convention: {measure} needs a table of options, not {given!r}; it has {', '.join(known) or 'none'}."
            )
        for name in given:
            if name not in known:
                raise InputError(f"convention: {unknown_name(f'option of {measure}', name, known)}")
    return convention


def evaluate(
    Y: TargetsLike | TrueLabels,
    predicted: TargetsLike | None = None,
    scores: TableLike | None = None,
    *,
    convention: Convention = "labelsieve",
    sample_weight: WeightsLike = None,
) -> dict[str, float]:
    """All measures of labels that can be computed from predicted labelsets, from scores, or from both, except those at k.

    Parameters
    ----------
    Y : array-like, frame or sparse matrix of 0 and 1, shape (n_rows, n_labels)
        Where a label is unknown (NaN), cells are left out. Measures that need all labels of a row are then not computed: exact
        match, its loss, and the measures of rankings.
    predicted, scores : array-like of the same shape, default=None
        Predicted labels as 0 and 1, and scores, such as probabilities; at least one of the two.
    convention : {"labelsieve", "scikit-learn", "mulan", "matlab"} or mapping, default="labelsieve"
        The program whose results to reproduce, or options by measure: see :func:`options`.
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
            truth, given[MEASURES[name].needs], sample_weight=sample_weight, **options(name, convention)
        )
        for name in computed
    }
