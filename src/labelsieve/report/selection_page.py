"""The report of a selection: the answer, then details with scores and figures, the data, and how to reproduce it.

The answer is in ``answer``, in percent of the explained share. Where that share is not defined, for lists of every label and
tables that are not in memory, the selected features with their scores come first.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import nan
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from labelsieve.datasets import Dataset, Description, describe
from labelsieve.errors import InputError
from labelsieve.labelspace import read_targets
from labelsieve.report import figures
from labelsieve.report.answer import Answer, cards, how_many, label_shares, lead, ranking, stand_ins, use_it
from labelsieve.report.html import Cell, Html, Report, Section, facts, figure, folded, joined, numeric, paragraph, table, tag
from labelsieve.report.provenance import (
    EXPLAINED,
    REDUNDANT,
    SIGNAL,
    STABILITY,
    STEPS,
    Row,
    citation_section,
    methods_section,
    reproduce_section,
    selector_facts,
    selector_rows,
    versions,
)
from labelsieve.report.text import noun, ranks_text, targets_text
from labelsieve.selection import COMPONENTS, SelectedFeature, Selection, column_names
from labelsieve.selectors import selection_stability
from labelsieve.selectors.base import BaseSieve
from labelsieve.selectors.discoveries import BaseDiscoveries
from labelsieve.statistics import Stability
from labelsieve.tables.frames import is_frame
from labelsieve.tables.problem import Problem
from labelsieve.tables.targets import TargetTable
from labelsieve.tables.types import TableLike, TargetsLike, as_table

MOST_REDUNDANT = 8  # redundant features that a row of the table shows, the most similar
NAMED = 6  # features that the summary names
FOLDED = 60  # a table of more labels is folded
MAPPED, MAPPED_LABELS = 40, 30  # of the information map: first features, and labels about which they know the most
N_SHOWN = 30  # features with confidence limits
INTERVALS: Row = (
    "confidence limits",
    "The interval of true values for which the observed mutual information is not extreme, by the noncentral chi-square "
    "distribution of the likelihood-ratio statistic; for each feature by itself, whichever label it is most informative about.",
    "Wilks 1938",
)
RANK_SETS: Row = (
    "confidence sets of ranks",
    "Features rank behind others if the difference of their information is larger than in bootstrap samples of the rows; for "
    "all features together.",
    "Mogstad, Romano, Shaikh and Wilhelm 2024",
)
EXPLANATION = (
    "Limits hold for each feature by itself, and ranks, by the information about all {one}s, for all listed features together. "
    "Limits account for the choice of the most informative {one} (Bonferroni). Neither accounts for the fact that features "
    "were selected because of their information in these rows."
)


@dataclass(frozen=True, eq=False)
class Facts:
    """Sizes and names of the data; ``description`` has statistics of labels where all targets are 0 or 1."""

    n_rows: int
    names: tuple[str, ...]
    label_names: tuple[str, ...]
    targets: TargetTable
    description: Description | None
    has_density: bool

    @property
    def n_features(self) -> int:
        return len(self.names)

    def count_of_labels(self) -> str:
        """Return the number of targets and their kind, in words."""
        kind = "label" if self.description is not None else "target"
        return f"{len(self.label_names):,} {kind}{'s' if len(self.label_names) != 1 else ''}"

    @property
    def noun(self) -> str:
        """What the targets are called: labels where all of them are classes, as in the sentence on the selection."""
        return "targets" if self.targets.is_numeric.any() else "labels"

    @property
    def one(self) -> str:
        """What one target is called: "label" or "target"."""
        return self.noun.removesuffix("s")

    def kinds(self) -> list[str]:
        """Return a note on every target: the number of its rows, or what it is."""
        if self.description is not None:
            shares = [float(np.mean(self.targets.classes.column(label) > 0)) for label in range(len(self.label_names))]
            return [f"{round(share * self.n_rows):,} of {self.n_rows:,} rows" for share in shares]
        levels = self.targets.classes.levels
        return ["numeric" if real else f"{int(levels[label])} classes" for label, real in enumerate(self.targets.is_numeric)]

    def rows(self) -> list[tuple[str, str]]:
        """Return the sizes as rows of a table."""
        return [
            ("rows", f"{self.n_rows:,}"),
            ("features", f"{self.n_features:,}"),
            ("labels" if self.description is not None else "targets", f"{len(self.label_names):,}"),
        ]


def selection_report(
    selector: BaseSieve,
    X: TableLike | Problem,
    Y: TargetsLike | None = None,
    *,
    names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    data_name: str = "",
    redundant: float | None = 0.9,
    resamples: int = 0,
    confidence: float | None = 0.95,
    explained: bool = True,
    random_state: int = 0,
    command: str | None = None,
) -> Report:
    """Make the report of a selection: what the features explain, which they are, what each label gets, and details.

    Parameters
    ----------
    selector : fitted selector
        A :class:`labelsieve.Sieve`, :class:`labelsieve.LabelwiseSieve` or another selector with ``selected_``.
    X, Y : array-like, frame, sparse matrix or Problem
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
    explained : bool, default=True
        Estimate the explained share, which repeats the selection in five or seven folds; see
        :meth:`labelsieve.Sieve.explained_share`. Selections for each label have none.
    random_state : int, default=0
        Seed of the resamples.
    command : str, default=None
        The command that made the report, to be shown.

    Notes
    -----
    Cost: a few passes over the selected columns; ``redundant`` takes a pass over all columns for each selected one,
    ``resamples`` as many fits, and ``explained`` a fit for every fold with predictions for at most 1,000 rows.

    Examples
    --------
    >>> from labelsieve import Sieve
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(200)
    >>> sieve = Sieve("mrmr", n_features_to_select=3).fit(data.X, data.Y)
    >>> report = selection_report(sieve, data.X, data.Y, names=data.feature_names, data_name="synthetic songs")
    >>> [section.title for section in report.sections]
    ['How many features', 'Which features', 'What each label gets', 'Use it', 'Details', 'Data', 'Methods', ...]
    """
    check_is_fitted(selector)
    n_features = as_table(X.X if isinstance(X, Problem) else X).shape[1]
    if n_features != selector.n_features_in_:
        raise InputError(f"X has {n_features} features, and the selector was fitted on {selector.n_features_in_}.")
    problem = selector.read_again(X, Y)
    data = read_facts(problem, names if names is not None else problem.feature_names, label_names)
    redundant = redundant if _has_codes(selector, data) else None
    stability = None
    if resamples:
        stability = selection_stability(
            selector, problem.source.X, problem.source.y, n_repeats=resamples, kind="auto", random_state=random_state
        )
    share = selector._known_share()
    if share is None and explained and selector._can_explain(problem):
        share = selector.explained_share(problem)
    selection: Selection = selector.selection(
        problem,
        names=data.names,
        label_names=data.label_names,
        redundant=redundant,
        components=True,
        information=True,
        explained=False if share is None else share,
        stability=stability,
    )
    answer = None if share is None else Answer(selection, share, data.noun, data.n_rows, data.kinds())
    steps = step_components(selection)
    rows = [] if share is None else [EXPLAINED, *([SIGNAL] if selection.selected else [])]
    rows += [*selector_rows(selector), *([STEPS] if steps else []), *([REDUNDANT] if redundant is not None else [])]
    rows += [STABILITY] if stability is not None else []
    blocks = {
        "Data": [*data.rows(), *((f"fingerprint of {name}", print) for name, print in selection.fingerprint.items())],
        f"Parameters of {selection.selector}": selector_facts(selector),
        "Versions": versions(),
    }
    if selection.stability is not None:
        kind, count = selection.stability.kind, str(resamples)
        blocks["Resamples"] = [("kind", kind), ("number", count), ("random_state", str(random_state))]
    limits = None
    if confidence is not None and _has_confidence(selector, problem):
        rows += [INTERVALS, RANK_SETS]
        limits = confidence_section(selector, problem, data, confidence)
    drawn = selection_figures(selector, selection, data, steps, stability)
    code = use_it(selector, selection, command, named=names is not None or is_frame(problem.source.X))
    scored = selected_table(selection, None if answer is not None else redundant)
    details = [("Scores and their components", scored), (f"Information per {data.one}", drawn)]
    details += [] if limits is None else [("Confidence limits of information", limits)]
    if answer is None:
        sections = [Section("selected", "Which features", scored), Section("information", f"Information per {data.one}", drawn)]
        sections += [] if limits is None else [Section("confidence", "Confidence", limits)]
        sections += [Section("use", "Use it", code)]
    else:
        similar = Html("") if redundant is None else stand_ins(selection, redundant)
        sections = [
            Section("number", "How many features", how_many(answer)),
            Section("selected", "Which features", ranking(answer)),
            *([Section("labels", f"What each {data.one} gets", label_shares(answer))] if answer.size else []),
            *([Section("similar", "What could stand in", similar)] if similar else []),
            Section("use", "Use it", code),
            Section("details", "Details", joined([paragraph(_said(selector, selection, data)), *_folds(details)])),
        ]
    name = data_name or "a table"
    sizes = f"{data.n_rows:,} rows, {data.n_features:,} features, {data.count_of_labels()}"
    return Report(
        f"Features of {data_name}" if data_name else "Selected features",
        _summary(selector, selection, data) if answer is None else lead(answer),
        (
            *sections,
            Section("data", "Data", Html(data_section(data) + label_table(data, selection))),
            Section("methods", "Methods", folded(methods_section(rows), "What was computed, with formulas and papers", True)),
            Section("cite", "How to cite", citation_section()),
            Section(
                "reproduce", "How to reproduce", folded(reproduce_section(None, blocks), "Data, parameters and versions", True)
            ),
        ),
        heading=_counts(selection, data) if selection.explained is None else selection.explained.verdict,
        source=f"selection report · {name} · {sizes}",
        summary="" if answer is None else cards(answer),
    )


def _counts(selection: Selection, data: Facts) -> str:
    """Say how many features were selected, for a page without the explained share."""
    return f"{len(selection.columns):,} of {data.n_features:,} features selected for {data.count_of_labels()}"


def _folds(details: Sequence[tuple[str, Html]]) -> list[Html]:
    return [folded(content, title, closed=True) for title, content in details]


def read_facts(problem: Problem, names: Sequence[str] | None, label_names: Sequence[str] | None) -> Facts:
    """Collect sizes, names and statistics of the data that a selector was fitted on."""
    X, y, targets = as_table(problem.source.X), problem.source.y, problem.targets
    if problem.known_rows is not None:  # the page describes all rows, also those without a known target
        targets = read_targets(y, targets.types.tolist())
    n_rows, n_features = int(X.shape[0]), int(X.shape[1])
    features = column_names(X, names, n_features, "feature")
    labels = column_names(y, problem.target_names if label_names is None else label_names, targets.n_columns, "label")
    description = None
    if not targets.is_numeric.any() and int(targets.classes.levels.max()) <= 2:
        # A frame may hold text: its cells are not counted.
        values = sparse.csr_array((n_rows, n_features)) if is_frame(X) else X
        binary = targets.classes.to_dense().astype(np.uint8, copy=False)
        kinds = ("numeric",) * n_features
        description = describe(Dataset(values, binary, features, labels, kinds))  # type: ignore[arg-type]
    return Facts(n_rows, features, labels, targets, description, not is_frame(X))


def _said(selector: BaseSieve, selection: Selection, data: Facts) -> str:
    """Say in sentences which method selected what, and why it stopped."""
    in_space = "" if selector.targets_ is None else f" ({targets_text(selection)})"
    counts = f"{len(selection.columns):,} of {data.n_features:,} features for {data.count_of_labels()}{in_space}"
    words = f"{selection.method} selected {counts}, from {data.n_rows:,} rows."
    return f"{words} {selection.stopping[0].reason}" if len(selection.stopping) == 1 else words


def _summary(selector: BaseSieve, selection: Selection, data: Facts) -> Html:
    words = [_said(selector, selection, data)]
    if selection.selected and not selection.labelwise:
        words.append(f" The first: {', '.join(feature.feature for feature in selection.selected[:NAMED])}.")
    if selection.stability is not None and selection.stability.index is not None:
        index = selection.stability.index
        words.append(f" Stability over resamples of the rows: {index:.2f} (1: the same features every time).")
    return paragraph(*words)


def selected_table(selection: Selection, redundant: float | None) -> Html:
    """Return the table of selected features with scores and components, or the features of every label.

    ``redundant`` is the smallest similarity of the redundant features; with None, there is no column for them.
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
    one, many = noun(selection), noun(selection, 2)
    by_label = table(f"Features of every {one}, in order of selection", [one, "features", ">score of the first"], rows)
    return Html(by_label + table(f"Number of {many} that selected a feature", ["feature", f">{many}"], shared))


def step_components(selection: Selection) -> dict[str, list[float]]:
    """Return the components of the first features, those that have all of them; empty where no feature has."""
    counted = [feature.components for feature in selection.selected if feature.added is not None]
    return {kind: [components[kind] for components in counted] for kind in COMPONENTS} if counted else {}


def _has_codes(selector: BaseSieve, data: Facts) -> bool:
    """Whether redundant features can be found: this needs one list of features and one table of codes."""
    discretizer = selector.discretizer_
    if discretizer is None or hasattr(selector, "label_ranking") or not len(selector.selected_):
        return False
    return getattr(discretizer, "targets", None) != "single" or len(data.label_names) == 1


def selection_figures(
    selector: BaseSieve, selection: Selection, data: Facts, steps: dict[str, list[float]], stability: Stability | None
) -> Html:
    """Draw ranking or shared features, information map, label network, stopping curve and stability."""
    pieces = [
        *(_shared(selector, data) if np.ndim(selector.selected_) == 2 else _ranked(selector, data, steps)),
        *_map(selector, selection, data),
        *_network(selector, data),
        *_curve(selector),
        *_stability(stability, data),
    ]
    return tag("div", *pieces, class_="figures") if pieces else paragraph("Nothing was selected, so there is no figure.")


def _shared(selector: BaseSieve, data: Facts) -> list[Html]:
    counts = selector.label_support_.sum(axis=0)
    if not counts.any():
        return []
    return [
        figure(
            partial(figures.shared_features, selector, names=data.names, label_names=data.label_names),
            name="figure-shared",
            title=f"Which {data.noun} share features.",
            description=f"{(counts > 1).sum()} features belong to several {data.noun}, {(counts == 1).sum()} to one.",
            caption=f"A dot is a selected feature, the larger the earlier; at the right, how many {data.noun} selected it.",
        )
    ]


def _ranked(selector: BaseSieve, data: Facts, steps: dict[str, list[float]]) -> list[Html]:
    if not len(selector.selected_):
        return []
    scores = figure(
        partial(figures.ranking, selector, names=data.names),
        name="figure-ranking",
        title="Scores and their components.",
        description="A bar for every selected feature in order of selection; the table of selected features has the numbers.",
        caption="Score of each feature in the step in which it was selected, split into components.",
    )
    if not steps:
        return [scores]
    split = figure(
        partial(figures.ranking, selector, names=data.names, components=steps),
        name="figure-steps",
        title="Relevance, redundancy and complementarity of every step.",
        description="Three bars for every selected feature, in order of selection.",
        caption="The same components for every criterion, averaged over the features selected before; the sum is added.",
    )
    return [scores, split]


def _map(selector: BaseSieve, selection: Selection, data: Facts) -> list[Html]:
    columns = _mapped(selector)
    if not columns:
        return []
    index = {column: row for row, column in enumerate(selection.columns)}
    shown = selection.information()[[index[column] for column in columns]]
    n_labels = shown.shape[1]
    labels = np.sort(np.argsort(-shown.sum(axis=0), kind="stable")[:MAPPED_LABELS])
    shown = shown[:, labels]
    row, label = (int(axis) for axis in np.unravel_index(int(shown.argmax()), shown.shape))
    most = f"Most: {data.names[columns[row]]} about {data.label_names[labels[label]]}, {shown[row, label]:.3f} nats."
    names = [data.label_names[label] for label in labels]
    extent = f" The first {MAPPED} features." if len(index) > MAPPED else ""
    if n_labels > MAPPED_LABELS:
        extent += f" {MAPPED_LABELS} of {n_labels:,} {data.noun}, those with the most information."
    return [
        figure(
            partial(figures.information_map, shown, features=[data.names[column] for column in columns], labels=names),
            name="figure-map",
            title=f"Information of features about {data.noun}.",
            description=most,
            caption=f"Mutual information; similar features and similar {data.noun} are neighbors.{extent} {most}",
        )
    ]


def _mapped(selector: BaseSieve) -> list[int]:
    """Return the columns of the map: in order of selection, or those that most labels selected."""
    if np.ndim(selector.selected_) == 1:
        return [int(column) for column in selector.selected_[:MAPPED]]
    counts = selector.label_support_.sum(axis=0)
    return [int(column) for column in np.argsort(-counts, kind="stable")[:MAPPED] if counts[column]]


def _network(selector: BaseSieve, data: Facts) -> list[Html]:
    network = getattr(selector, "network_", None)
    if network is None:
        return []
    lists = [f"{data.label_names[label]} after {_parents(network.parents[label], data)}" for label in network.order]
    return [
        figure(
            partial(network.plot, names=data.label_names),
            name="figure-network",
            title="The label network.",
            description="; ".join(lists),
            caption="In chain order from top to bottom; arcs lead from parents to children, strong ones from first parents.",
        )
    ]


def _parents(parents: tuple[int, ...], data: Facts) -> str:
    return " and ".join(data.label_names[parent] for parent in parents) or "nothing"


def _curve(selector: BaseSieve) -> list[Html]:
    rule = selector.stopping_
    if rule is None or not hasattr(rule, "kept_size_"):
        return []
    return [
        figure(
            partial(figures.stopping_curve, rule),
            name="figure-stopping",
            title="Loss against the number of features." if rule.lower_is_better_ else "Score against the number of features.",
            description=rule.reason_,
            caption=f"From cross-validation with the selection inside. {rule.reason_}",
        )
    ]


def _stability(stability: Stability | None, data: Facts) -> list[Html]:
    if stability is None:
        return []
    often = int(np.count_nonzero(stability.frequency >= 0.9))
    words = f"{often} features were selected in at least 90 % of {len(stability.masks)} resamples."
    return [
        figure(
            partial(figures.selection_stability, stability, names=data.names, n_shown=20),
            name="figure-stability",
            title="How often features are selected on resampled rows.",
            description=words,
            caption=f"{words} The dotted line is the expectation for random features.",
        )
    ]


def _has_confidence(selector: BaseSieve, problem: Problem) -> bool:
    """Whether there is one list of features whose codes, and those of the targets, are known in all rows."""
    if hasattr(selector, "label_ranking") or not len(selector.selected_) or problem.known_rows is not None:
        return False
    codes, targets = selector.coding().codes(problem, selector.selected_.tolist())
    return not isinstance(codes, list) and not codes.has_missing and not targets.has_missing


def confidence_section(selector: BaseSieve, problem: Problem, data: Facts, confidence: float) -> Html:
    """Return confidence limits of the first selected features as a table and a figure, and figures of discoveries."""
    found = selector.information_confidence(
        problem, confidence=confidence, names=data.names, label_names=data.label_names, n_shown=N_SHOWN, backend="dict"
    )
    q_values = found.get("q")
    heads = ["feature", "most informative about", ">nats", ">lower", ">upper", "rank", *([">q-value"] if q_values else [])]
    rows = [
        [
            feature,
            found["label"][row],
            *(numeric(found[name][row]) for name in ("information", "lower", "upper")),
            ranks_text(found, row),
            *([Cell(f"{q_values[row]:.2g}", q_values[row])] if q_values else []),
        ]
        for row, feature in enumerate(found["feature"])
    ]
    percent = f"{100 * confidence:g} %"
    certain = sum(first == last for first, last in zip(found["first_rank"], found["last_rank"], strict=True))
    words = f"The rank of {certain} of {len(rows)} features is certain."
    chart = figure(
        partial(figures.information_confidence, found, confidence=confidence),
        name="figure-confidence",
        title=f"Information with its {percent} confidence limits, and ranks.",
        description=f"A line from the lower to the upper limit for every feature. {words}",
        caption=f"About the {data.one} that a feature is most informative about. {words}",
    )
    listed = table(f"Confidence limits ({percent}) of information, and ranks", heads, rows)
    drawn = tag("div", chart, *_discoveries(selector, data), class_="figures")
    return joined([paragraph(EXPLANATION.format(one=data.one)), listed, drawn])


def _discoveries(selector: BaseSieve, data: Facts) -> list[Html]:
    """Draw information against q-values, and the map of discovered pairs."""
    if not isinstance(selector, BaseDiscoveries) or not selector.finds_pairs:
        return []
    n_pairs = int(selector.pair_support_.sum())
    words = f"{n_pairs:,} pairs of a feature and a {data.one} are discovered at a false discovery rate of {selector.alpha:g}."
    names: dict[str, Any] = {"names": data.names, "label_names": data.label_names}
    volcano = figure(
        partial(figures.discovery_volcano, selector, **names),
        name="figure-volcano",
        title="Information against q-values.",
        description=words,
        caption=f"{words} The smallest q-values have names.",
    )
    pairs = figure(
        partial(figures.discovery_map, selector, **names),
        name="figure-discoveries",
        title=f"Discovered pairs of features and {data.noun}.",
        description=words,
        caption="The darker, the more information; dots are discovered pairs, others are blank.",
    )
    return [volcano, pairs]


def data_section(data: Facts) -> Html:
    """Return a table of the statistics of the data that papers print."""
    rows: list[tuple[object, object]] = list(data.rows())
    description = data.description
    if description is not None:
        rows += [
            ("labels in a row, on average (cardinality)", f"{description.cardinality:.3f}"),
            ("as a fraction of all labels (density)", f"{description.density:.4f}"),
            ("distinct labelsets", f"{description.n_distinct:,}"),
            ("mean imbalance (MeanIR)", f"{description.mean_imbalance:.2f}"),
            ("variation of the imbalance (CVIR)", f"{description.imbalance_variation:.3f}"),
            ("rare labels among frequent ones (SCUMBLE)", f"{description.scumble:.3f}"),
        ]
        rows += [("nonzero cells of X", f"{100 * description.x_density:.1f} %")] if data.has_density else []
    return facts("Statistics of the data", rows)


def label_table(data: Facts, selection: Selection) -> Html:
    """Return a table of the labels: frequency, and the selected feature that is most informative about each."""
    information, columns = selection.information(), selection.columns
    rows = []
    for label, name in enumerate(data.label_names):
        row: list[object] = [name]
        if data.description is not None:
            share = float(np.mean(data.targets.classes.column(label) > 0))
            row += [numeric(share * data.n_rows, digits=0), numeric(100 * share, digits=1)]
            row.append(numeric(float(data.description.imbalance[label]), digits=2))
        else:
            real = bool(data.targets.is_numeric[label])
            row.append("numeric" if real else f"{int(data.targets.classes.levels[label])} classes")
        if columns:
            best = int(information[:, label].argmax())
            row += [data.names[columns[best]], numeric(float(information[best, label]))]
        rows.append(row)
    heads = ["label", ">rows", ">percent", ">imbalance"] if data.description is not None else ["target", "kind"]
    heads += ["most informative feature", ">nats"] if columns else []
    caption = "Labels" if data.description is not None else "Targets"
    return folded(table(caption, heads, rows), f"All {len(rows):,} {caption.lower()}", len(rows) > FOLDED)
