"""The report of a selection."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from labelsieve.errors import InputError
from labelsieve.labelspace import label_space_name
from labelsieve.report.data_section import Facts, data_section, label_table, read_facts
from labelsieve.report.html import Html, paragraph
from labelsieve.report.html_page import Report, Section
from labelsieve.report.methods_section import STABILITY, STEPS, TWINS, citation_section, methods_section, selector_rows
from labelsieve.report.reproduce import data_print, reproduce_section, selector_facts, versions
from labelsieve.report.selected_table import chosen_table, twins_of
from labelsieve.report.selection_figures import selection_figures
from labelsieve.selectors import selection_stability as resampled
from labelsieve.selectors.pptmi import PPTMI
from labelsieve.selectors.relief import BaseRelief
from labelsieve.selectors.selection_stability import Kind
from labelsieve.statistics import Stability

NAMED = 6  # features that the summary names


def selection_report(
    selector: Any,
    X: Any,
    Y: Any,
    *,
    names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    data_name: str = "",
    twins: float | None = 0.9,
    resamples: int = 0,
    random_state: int = 0,
    command: str | None = None,
) -> Report:
    """All about a selection: the data, the chosen features and what they tell, the methods, and how to get the same again.

    Parameters
    ----------
    selector : fitted selector
        A :class:`labelsieve.Sieve`, :class:`labelsieve.LabelwiseSieve` or another selector with ``selected_``.
    X, Y : array-like, frame or sparse matrix
        The data that it was fitted on.
    names, label_names : sequence of str, optional
        Of features and labels; by default the columns of frames, or numbers.
    data_name : str
        What the data are called, for the title.
    twins : float, optional
        List features left out that are so similar (0 to 1) to a chosen one; None looks for none.
    resamples : int
        Select again on so many samples of the rows, to see how stable the choice is; 0 does not.
    random_state : int
        Of the resamples.
    command : str, optional
        The command that made it, to be shown.

    Returns
    -------
    Report

    Notes
    -----
    Cost: a few passes over the chosen columns; twins look at every column for each chosen one; resamples are as many fits.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_known_answer
    >>> data = make_known_answer(200)
    >>> sieve = Sieve("mrmr", n_features_to_select=3).fit(data.X, data.Y)
    >>> report = selection_report(sieve, data.X, data.Y, names=data.feature_names, data_name="made-up songs")
    >>> [section.title for section in report.sections]
    ['Chosen features', 'What they tell', 'Data', 'Methods', 'How to cite', 'How to get the same again']
    """
    check_is_fitted(selector)
    data = read_facts(X, Y, names if names is not None else getattr(selector, "feature_names_in_", None), label_names)
    if data.n_features != selector.n_features_in_:
        raise InputError(f"X has {data.n_features} features, and the selector was fitted on {selector.n_features_in_}.")
    labelwise = np.ndim(selector.selected_) == 2
    alike = None if labelwise or twins is None else twins_of(selector, X, Y, twins)
    kind: Kind = "subsample" if isinstance(selector, BaseRelief | PPTMI) else "bootstrap"  # a row twice is its own neighbor
    stability = None
    if resamples:
        stability = resampled(selector, X, Y, n_repeats=resamples, kind=kind, random_state=random_state)
    told = selector.label_information(X, Y)
    parts = (
        selector.information_components(X, Y) if hasattr(selector, "information_components") and _one_table(selector) else None
    )
    chosen = chosen_table(selector, data, told, parts, alike)
    rows = [*selector_rows(selector), *([STEPS] if parts else []), *([TWINS] if alike is not None else [])]
    rows += [STABILITY] if stability is not None else []
    blocks = {
        "Data": [*data.rows(), ("fingerprint of X", data_print(X)), ("fingerprint of Y", data_print(Y))],
        f"Parameters of {type(selector).__name__}": selector_facts(selector),
        "Versions": versions(),
    }
    if stability is not None:
        blocks["Resamples"] = [("kind", kind), ("how many", str(resamples)), ("random_state", str(random_state))]
    title = f"Features of {data_name}" if data_name else "Chosen features"
    return Report(
        title,
        _lead(selector, data, stability),
        (
            Section("chosen", "Chosen features", chosen),
            Section("told", "What they tell", selection_figures(selector, data, told, parts, stability)),
            Section("data", "Data", Html(data_section(data) + label_table(data, selector, told))),
            Section("methods", "Methods", methods_section(rows)),
            Section("cite", "How to cite", citation_section()),
            Section("again", "How to get the same again", reproduce_section(command, blocks)),
        ),
    )


def _one_table(selector: Any) -> bool:
    """True unless features were counted in other bins for every target."""
    return getattr(getattr(selector, "discretizer_", None), "targets", None) != "single"


def _lead(selector: Any, data: Facts, stability: Stability | None) -> Html:
    n_chosen = int(np.count_nonzero(selector.support_))
    name = selector.criterion if isinstance(getattr(selector, "criterion", None), str) else type(selector).__name__
    space = getattr(selector, "targets_", None)
    taken = "" if space is None else f" ({label_space_name(space)})"
    words = [f"{name} chose {n_chosen:,} of {data.n_features:,} features for {data.count_of_labels()}{taken}, "]
    words.append(f"from {data.n_rows:,} rows.")
    if np.ndim(selector.selected_) == 1 and n_chosen:
        first = [data.names[int(column)] for column in selector.selected_[:NAMED]]
        words.append(f" The first: {', '.join(first)}.")
    rule = getattr(selector, "stopping_", None)
    if rule is not None and hasattr(rule, "reason_"):  # one for all labels
        words.append(f" {rule.reason_}")
    if stability is not None and not np.isnan(stability.index):
        words.append(f" Over resamples of the rows the selection is stable to {stability.index:.2f} (1: always the same).")
    return paragraph(*words)
