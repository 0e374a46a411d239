"""The report of a selection."""

from collections import Counter
from collections.abc import Sequence
from math import nan

from sklearn.utils.validation import check_is_fitted

from labelsieve.errors import InputError
from labelsieve.report.html import Html, Report, Section, joined, numeric, paragraph, table, tag
from labelsieve.report.provenance import (
    REDUNDANT,
    STABILITY,
    STEPS,
    citation_section,
    methods_section,
    reproduce_section,
    selector_facts,
    selector_rows,
    versions,
)
from labelsieve.report.selection_figures import (
    INTERVALS,
    RANK_SETS,
    Facts,
    confidence_section,
    data_section,
    label_table,
    read_facts,
    selection_figures,
)
from labelsieve.report.text import targets_text
from labelsieve.selectors import selection_stability
from labelsieve.selectors.base import BaseSieve
from labelsieve.selectors.selection import COMPONENTS, SelectedFeature, Selection
from labelsieve.tables.label_sets import label_matrix
from labelsieve.tables.types import TableLike, TargetsLike

MOST_REDUNDANT = 8  # redundant features that a row shows, the most similar
NAMED = 6  # features that the summary names


def selection_report(
    selector: BaseSieve,
    X: TableLike,
    Y: TargetsLike,
    *,
    names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    data_name: str = "",
    redundant: float | None = 0.9,
    resamples: int = 0,
    confidence: float | None = 0.95,
    random_state: int = 0,
    command: str | None = None,
) -> Report:
    """A report of a selection: selected features, information per label, data, methods, and how to reproduce it.

    Parameters
    ----------
    selector : fitted selector
        A :class:`labelsieve.Sieve`, :class:`labelsieve.LabelwiseSieve` or another selector with ``selected_``.
    X, Y : array-like, frame or sparse matrix
        The data that it was fitted on.
    names, label_names : sequence of str, default=None
        Names of features and labels; by default the columns of frames, or numbers.
    data_name : str, default=""
        The name of the data, for the title.
    redundant : float or None, default=0.9
        List features that were not selected and are at least this similar (0 to 1) to a selected one; None lists none.
    resamples : int, default=0
        Select again on this many resamples of the rows, for the stability of the selection; 0 does not.
    confidence : float or None, default=0.95
        Confidence level of the limits of information and of the ranks of features; None: no such section. Selections for each
        label, and data with missing cells, have none either.
    random_state : int, default=0
        Seed of the resamples.
    command : str, default=None
        The command that made the report, to be shown.

    Returns
    -------
    Report

    Notes
    -----
    Cost: a few passes over the selected columns; ``redundant`` takes a pass over all columns for each selected one,
    ``resamples`` as many fits.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(200)
    >>> sieve = Sieve("mrmr", n_features_to_select=3).fit(data.X, data.Y)
    >>> report = selection_report(sieve, data.X, data.Y, names=data.feature_names, data_name="synthetic songs")
    >>> [section.title for section in report.sections]
    ['Selected features', 'Information per label', 'Confidence', 'Data', 'Methods', 'How to cite', 'How to reproduce']
    """
    check_is_fitted(selector)
    data = read_facts(
        X,
        Y,
        names if names is not None else getattr(selector, "feature_names_in_", None),
        label_names,
        getattr(selector, "target_types_", "auto"),
    )
    if data.n_features != selector.n_features_in_:
        raise InputError(f"X has {data.n_features} features, and the selector was fitted on {selector.n_features_in_}.")
    redundant = redundant if _has_codes(selector, data) else None
    stability = None
    if resamples:
        stability = selection_stability(selector, X, Y, n_repeats=resamples, kind="auto", random_state=random_state)
    selection: Selection = selector.selection(
        X,
        Y,
        names=data.names,
        label_names=data.label_names,
        redundant=redundant,
        components=True,
        information=True,
        stability=stability,
    )
    steps = step_components(selection)
    selected = selected_table(selection, redundant)
    rows = [*selector_rows(selector), *([STEPS] if steps else []), *([REDUNDANT] if redundant is not None else [])]
    rows += [STABILITY] if stability is not None else []
    blocks = {
        "Data": [*data.rows(), *((f"fingerprint of {name}", print) for name, print in selection.fingerprint.items())],
        f"Parameters of {selection.selector}": selector_facts(selector),
        "Versions": versions(),
    }
    if selection.stability is not None:
        kind, count = selection.stability.kind, str(resamples)
        blocks["Resamples"] = [("kind", kind), ("number", count), ("random_state", str(random_state))]
    figures = selection_figures(selector, selection, data, steps, stability)
    sections = [Section("selected", "Selected features", selected), Section("information", "Information per label", figures)]
    if confidence is not None and _has_confidence(selector, X, Y):
        rows += [INTERVALS, RANK_SETS]
        sections.append(Section("confidence", "Confidence", confidence_section(selector, X, Y, data, confidence)))
    return Report(
        f"Features of {data_name}" if data_name else "Selected features",
        _summary(selector, selection, data),
        (
            *sections,
            Section("data", "Data", Html(data_section(data) + label_table(data, selection))),
            Section("methods", "Methods", methods_section(rows)),
            Section("cite", "How to cite", citation_section()),
            Section("reproduce", "How to reproduce", reproduce_section(command, blocks)),
        ),
    )


def step_components(selection: Selection) -> dict[str, list[float]]:
    """Components of the first features, those that have all of them; empty where no feature has."""
    counted = [feature.components for feature in selection.selected if feature.added is not None]
    return {kind: [components[kind] for components in counted] for kind in COMPONENTS} if counted else {}


def _has_codes(selector: BaseSieve, data: Facts) -> bool:
    """Whether redundant features can be found: one list of features, and one table of codes."""
    discretizer = getattr(selector, "discretizer_", None)
    if discretizer is None or hasattr(selector, "label_ranking") or not len(selector.selected_):
        return False
    return getattr(discretizer, "targets", None) != "single" or len(data.label_names) == 1


def _has_confidence(selector: BaseSieve, X: TableLike, Y: TargetsLike) -> bool:
    """Whether there is one list of features whose codes, and those of the targets, are known in all rows."""
    if hasattr(selector, "label_ranking") or not len(selector.selected_):
        return False
    discretizer = getattr(selector, "discretizer_", None)
    if getattr(discretizer, "targets", None) == "single":
        return False
    codes = selector._selected_codes(X, label_matrix(Y), [int(column) for column in selector.selected_])
    return not any(table.has_missing for table in codes)


def _summary(selector: BaseSieve, selection: Selection, data: Facts) -> Html:
    in_space = "" if getattr(selector, "targets_", None) is None else f" ({targets_text(selection)})"
    counts = f"{len(selection.columns):,} of {data.n_features:,} features for {data.count_of_labels()}{in_space}"
    words = [f"{selection.method} selected {counts}, from {data.n_rows:,} rows."]
    if selection.selected and not selection.labelwise:
        words.append(f" The first: {', '.join(feature.feature for feature in selection.selected[:NAMED])}.")
    if len(selection.stopping) == 1:
        words.append(f" {selection.stopping[0].reason}")
    if selection.stability is not None and selection.stability.index is not None:
        index = selection.stability.index
        words.append(f" Stability over resamples of the rows: {index:.2f} (1: the same features every time).")
    return paragraph(*words)


def selected_table(selection: Selection, redundant: float | None) -> Html:
    """One list with scores and components, or the list of every label.

    ``redundant`` is the smallest similarity of the redundant features; None has no column for them.
    """
    if not selection.selected:
        return paragraph("No feature was selected.")
    if selection.labelwise:
        return _by_label(selection)
    columns = selection.table()
    numbers = [name for name in ("score", *COMPONENTS, "added") if name in columns]
    heads = [">rank", "feature", ">column", *(f">{name}" for name in numbers), "most informative about", ">nats"]
    caption = "Selected features, in order of selection"
    if redundant is not None:
        heads.append("redundant features")
        caption += f"; redundant features were not selected and have a similarity of at least {redundant:g}"
    rows = []
    for index, feature in enumerate(selection.selected):
        row: list[object] = [numeric(feature.rank, digits=0), feature.feature, numeric(feature.column, digits=0)]
        row += [numeric(nan if columns[name][index] is None else columns[name][index]) for name in numbers]
        row += [
            str(feature.top_label),
            numeric(nan if feature.top_label_information is None else feature.top_label_information),
        ]
        rows.append([*row, *([] if redundant is None else [_redundant(feature)])])
    return table(caption, heads, rows, name=1)


def _redundant(feature: SelectedFeature) -> Html:
    if not feature.redundant:
        return Html("-")
    names = [f"{name} ({similarity:.2f})" for name, similarity in list(feature.redundant.items())[:MOST_REDUNDANT]]
    left = len(feature.redundant) - len(names)
    return joined([joined(names, ", "), tag("span", f" and {left} more") if left else ""])


def _by_label(selection: Selection) -> Html:
    lists: dict[str, list[SelectedFeature]] = {label: [] for label in selection.labels}
    for feature in selection.selected:
        lists[str(feature.label)].append(feature)
    rows = [
        [label, joined((feature.feature for feature in features), ", "), numeric(features[0].score) if features else "-"]
        for label, features in lists.items()
    ]
    names = {feature.column: feature.feature for feature in selection.selected}
    counts = Counter(feature.column for feature in selection.selected)
    ranked = sorted(counts, key=lambda column: (-counts[column], column))
    shared = [[names[column], numeric(counts[column], digits=0)] for column in ranked]
    by_label = table("Features of every label, in order of selection", ["label", "features", ">score of the first"], rows)
    return Html(by_label + table("Number of labels that selected a feature", ["feature", ">labels"], shared))
