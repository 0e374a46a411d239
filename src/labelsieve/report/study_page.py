"""The report of a study: results with ranks and tests, curves, stability, data sets, methods and how to reproduce it."""

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from labelsieve.errors import InputError
from labelsieve.report.differences import Differences, difference_chart
from labelsieve.report.figures import critical_difference_diagram
from labelsieve.report.figures.curves import legend_columns
from labelsieve.report.figures.style import new_axes
from labelsieve.report.html import Cell, Html, Report, Section, figure, glued, joined, numeric, paragraph, table, tag
from labelsieve.report.provenance import (
    RANKS,
    STABILITY,
    TESTS,
    citation_section,
    method_row,
    methods_section,
    reproduce_section,
    settings_text,
    versions,
)
from labelsieve.statistics import Comparison

if TYPE_CHECKING:
    from labelsieve.studies import Grid, StudyResults

NARROW = 3.8  # inches of a figure: fits a phone
WIDE, SMALL = 1120, 358  # pixels of the two drawings of the dot plot
BASELINES = ("random", "all")
AVERAGE = "average"  # the classifier of a StudyResults that stands for all
SCALED = {
    "standard": "Classifiers got features of mean 0 and variance 1, by the training rows.",
    "minmax": "Classifiers got features from 0 to 1, by the training rows.",
    "none": "Classifiers got the features unscaled.",
}
MOST_NAMED = 4  # methods that equal the best and are named in the heading
MAX_FAILURES = 50  # failed cells that are listed


def study_report(results: "StudyResults", *, name: str = "", command: str | None = None) -> Report:
    """Make the report of a study: results with ranks and tests, curves, stability, data sets, methods, and reproduction.

    Parameters
    ----------
    results : StudyResults
        The results of the study, which may still be running.
    name : str, default=""
        Name of the study, for the title.
    command : str, default=None
        The command that made the report, to be shown.

    Examples
    --------
    >>> import tempfile
    >>> from labelsieve.datasets import Dataset, make_feature_roles
    >>> from labelsieve.studies import Protocol, Study, StudyResults
    >>> data, folder = make_feature_roles(80, random_state=0), tempfile.mkdtemp()
    >>> names = tuple(data.feature_names), tuple(data.label_names), ("numeric",) * len(data.feature_names)
    >>> songs = Dataset(data.X, data.Y, *names, name="songs")
    >>> protocol = Protocol([songs], ["jmi", "mim"], n_features="1..3", measures=["hamming_loss"], splits="2x50%")
    >>> _ = Study(protocol, folder).run()
    >>> [section.title for section in study_report(StudyResults(folder)).sections]
    ['How far behind the best', 'hamming loss', 'Stability', 'Data sets', 'Methods', 'How to cite', 'How to reproduce']
    """
    if not results.datasets:
        raise InputError("this study has no results; run it first.")
    learners = [*results.classifiers, *([AVERAGE] if len(results.classifiers) > 1 else [])]
    pairs = [(measure, classifier) for measure in _measures(results) for classifier in learners]
    sections = [_measure_section(results, *pair) for pair in pairs]
    size = f"{_count(len(results.methods), 'method')} on {_count(len(results.datasets), 'data set')}"
    finding = Finding.of(results, *pairs[len(learners) - 1])
    behind = _behind(results, *pairs[len(learners) - 1], finding)
    return Report(
        f"{name}: {size}" if name else f"A study of {size}",
        _lead(results),
        (
            *behind,
            *sections,
            Section("stability", "Stability", _stability(results)),
            Section("data", "Data sets", datasets_table(results)),
            Section("methods", "Methods", methods_section(_method_rows(results))),
            Section("cite", "How to cite", citation_section()),
            Section("reproduce", "How to reproduce", reproduction(results, command)),
        ),
        heading="" if finding is None else finding.sentence(),
        source=f"study{f' · {name}' if name else ''} · {size}",
        summary="" if finding is None else finding.cards(),
    )


@dataclass(frozen=True)
class Finding:
    """What a study found by its first measure: the best method, all features, and the methods that equal the best."""

    measure: str  # in words, with the classifier
    best: str
    value: float  # mean of the best method over the data sets
    n_wins: int  # data sets on which it is the best
    n_datasets: int
    all_features: float | None  # their mean; None where they were not evaluated
    equal: tuple[str, ...] | None  # methods that are not distinguishable from the best; None where there is no test

    @classmethod
    def of(cls, results: "StudyResults", measure: str, classifier: str) -> "Finding | None":
        """Summarize a study; None where no data set has the results of all methods."""
        grid = results.means(measure, classifier)
        methods = [method for method in grid.columns if method not in BASELINES]
        table = np.array([[grid.value(dataset, method) for method in methods] for dataset in grid.rows])
        known = [index for index, row in enumerate(table) if not np.isnan(row).any()]
        if not methods or not known:
            return None
        means = table[known].mean(axis=0)
        best = methods[int(np.argmin(means) if grid.lower_is_better else np.argmax(means))]
        whole = [grid.value(grid.rows[index], "all") for index in known] if "all" in grid.columns else [float("nan")]
        of_best = table[known, methods.index(best)]
        tops = table[known].min(axis=1) if grid.lower_is_better else table[known].max(axis=1)
        equal: tuple[str, ...] | None = None
        try:
            compared = results.compare(measure, classifier)
            at = compared.methods.index(best)
            equal = tuple(
                compared.methods[other] for other in compared.order if other != at and not compared.different[at, other]
            )
        except InputError:  # the section of the measure says why there is no test
            pass
        learner = "" if len(results.classifiers) == 1 else f", {'average' if classifier == AVERAGE else classifier}"
        return cls(
            f"{measure.replace('_', ' ')}{learner}",
            best,
            float(means.min() if grid.lower_is_better else means.max()),
            int(np.sum(of_best == tops)),
            len(known),
            None if np.isnan(whole).any() else float(np.mean(whole)),
            tuple(method for method in equal if method not in BASELINES) if equal is not None else None,
        )

    def sentence(self) -> str:
        """Write the heading.

        >>> Finding("hamming loss", "jmi", 0.1234, 2, 3, 0.13, ("mim",)).sentence()
        'Best: jmi (hamming loss 0.123). All features: 0.130. Not distinguishable from the best: mim.'
        """
        words = f"Best: {self.best} ({self.measure} {self.value:.3f})."
        words += "" if self.all_features is None else f" All features: {self.all_features:.3f}."
        return words if self.equal is None else f"{words} Not distinguishable from the best: {self._equal()}."

    def _equal(self) -> str:
        assert self.equal is not None
        left = len(self.equal) - MOST_NAMED
        more = [f"and {left} more"] if left > 0 else []
        return " ".join([", ".join(self.equal[:MOST_NAMED]), *more]) if self.equal else "none"

    def cards(self) -> str:
        """Show the same as cards."""
        found = [
            _card(
                "Best",
                self.best,
                f"{self.value:.3f} on average over {_count(self.n_datasets, 'data set')}; best on {self.n_wins}",
            )
        ]
        if self.all_features is not None:
            difference = f"{self.all_features - self.value:+.3f}".replace("-", "−")
            found.append(_card("All features", f"{self.all_features:.3f}", f"{difference} relative to {self.best}"))
        if self.equal is not None:
            found.append(_card("Not distinguishable from the best", self._equal(), "by the test over the data sets, at 5 %"))
        return tag("div", *found, class_="cards")


def _behind(results: "StudyResults", measure: str, classifier: str, finding: Finding | None) -> list[Section]:
    """Return the section with the dot plot of differences to the best; none where methods cannot be compared split by split."""
    bands = {} if finding is None else results.differences(finding.best, measure, classifier)
    if finding is None or not bands:
        return []
    grid = results.means(measure, classifier)
    every = [
        dataset
        for dataset in grid.rows
        if not any(np.isnan(grid.value(dataset, name)) or grid.note(dataset, name) for name in grid.columns)
    ]
    methods = [method for method in grid.columns if method != "all"]
    means = {method: float(np.mean([grid.value(dataset, method) for dataset in every])) for method in methods}
    order = sorted(means, key=lambda method: means[method] if grid.lower_is_better else -means[method])
    order.sort(key=lambda method: method != finding.best)
    found = Differences(
        finding.best, finding.measure, {method: means[method] for method in order}, _wins(grid, every, order), bands
    )
    better = "lower" if grid.lower_is_better else "higher"
    about = (
        f"Mean {finding.measure} over the data sets, as a difference to {finding.best}; {better} is better. "
        "Lines are 95 % intervals over the splits, corrected for rows that splits share and for "
        f"{_count(len(bands), 'comparison')}. Filled: the interval contains 0. They describe these data sets; the tests below "
        "are about others."
    )
    wide, small = (difference_chart(found, name=f"behind-{width}", width=width) for width in (WIDE, SMALL))
    drawings = (tag("div", wide, class_="wide-screen"), tag("div", small, class_="small-screen"))
    return [
        Section("behind", "How far behind the best", joined([tag("p", glued(about), class_="about"), tag("figure", *drawings)]))
    ]


def _wins(grid: "Grid", datasets: list[str], methods: list[str]) -> dict[str, int]:
    """Count the data sets on which each method has the best mean of these methods; ties count for all."""
    wins = dict.fromkeys(methods, 0)
    for dataset in datasets:
        values = {method: grid.value(dataset, method) for method in methods}
        best = min(values.values()) if grid.lower_is_better else max(values.values())
        for method, value in values.items():
            wins[method] += value == best
    return wins


def _card(title: str, value: str, below: str) -> Html:
    return tag("div", tag("p", title), tag("p", value, class_="value words"), tag("p", glued(below)), class_="card")


def _measures(results: "StudyResults") -> list[str]:
    ordered = [measure for measure in results.protocol.get("measures", []) if measure in results.measures]
    return [*ordered, *(measure for measure in results.measures if measure not in ordered)]


def _lead(results: "StudyResults") -> Html:
    settings = results.protocol
    words = f"{_count(len(results.methods), 'method')} ({', '.join(results.methods)}) on "
    words += f"{_count(len(results.datasets), 'data set')}, evaluated with {', '.join(results.classifiers)}. "
    words += f"Splits: {settings.get('splits', 'unknown')}. "
    words += "Features were selected inside every split, from its training rows only. "
    words += SCALED.get(settings.get("scale", "none"), "")
    return joined([paragraph(words), kept_and_failed(results)])


def kept_and_failed(results: "StudyResults") -> Html:
    """Return notes about failed cells, and about results kept from before a change."""
    notes = []
    if results.failures:
        words = "1 cell failed and is" if len(results.failures) == 1 else f"{len(results.failures):,} cells failed and are"
        notes.append(f"{words} not in the numbers; see How to reproduce.")
    if results.mixed:
        notes.append(f"These results differ in {' and '.join(results.mixed)}: some were kept from before a change.")
    return joined(tag("p", note, class_="note") for note in notes)


def _measure_section(results: "StudyResults", measure: str, classifier: str) -> Section:
    learner = "average of the classifiers" if classifier == AVERAGE else classifier
    title = measure.replace("_", " ") + (f", {learner}" if len(results.classifiers) > 1 else "")
    key = f"{measure}-{AVERAGE if classifier == AVERAGE else results.classifiers.index(classifier)}".replace("_", "-")
    grid = results.means(measure, classifier)
    better = "lower" if grid.lower_is_better else "higher"
    pieces = [
        paragraph(
            f"Means over the numbers of features and the splits, with 95 % intervals over the splits; {better} is better."
        ),
        _grid(f"Means of {title}", grid, "±"),
    ]
    compared = [method for method in results.methods if method not in BASELINES]
    if len(compared) > 1:
        ranks = results.ranks(measure, classifier)
        caption = f"Ranks by {title}, averaged over the numbers of features; bold: the best, several where they tie"
        pieces.append(_grid(caption, ranks) if ranks.winners() else paragraph("No ranks: methods differ in their splits."))
    pieces += _tests(results, measure, classifier, key)
    for number, dataset in enumerate(results.datasets):
        pieces.append(_curves(results, dataset, measure, classifier, f"{key}-{number}", opened=number == 0))
    return Section(key, title, joined(pieces))


def _grid(caption: str, grid: "Grid", sign: str = "") -> Html:
    best = grid.winners()
    rows = []
    for name in grid.rows:
        cells: list[object] = [name]
        for column in grid.columns:
            value, half = grid.value(name, column), grid.half_width(name, column)
            digits = 3 if sign else 2
            text = "-" if np.isnan(value) else f"{value:.{digits}f}" + ("" if half is None else f" {sign} {half:.{digits}f}")
            text += f" ({note})" if (note := grid.note(name, column)) else ""
            cells.append(Cell(text, value, column in best.get(name, ())))
        rows.append(cells)
    return table(caption, ["data set", *(f">{column}" for column in grid.columns)], rows)


def _tests(results: "StudyResults", measure: str, classifier: str, key: str) -> list[Html]:
    """Return the tests over the data sets, or why there are none."""
    try:
        compared: Comparison = results.compare(measure, classifier)
    except InputError as error:
        return [paragraph(f"No tests over the data sets: {error}")]
    tests, _, summary = str(compared).split("\n\n")
    rows = []
    for index in compared.order:
        worse = [compared.methods[other] for other in compared.order if compared.better(index, other)]
        rows.append([numeric(float(compared.average_ranks[index]), digits=2), compared.methods[index], ", ".join(worse) or "-"])
    heads = [">average rank", "method", "better than"]
    words = joined(
        [
            tag("h3", "Significant differences"),
            *(paragraph(line) for line in tests.split("\n")),
            table(f"Average ranks by {measure.replace('_', ' ')} over the data sets", heads, rows, name=1),
            paragraph(summary.replace("\n", " ")),
        ]
    )
    title = f"Average ranks by {measure.replace('_', ' ')}."
    order = ", ".join(f"{compared.methods[index]} {compared.average_ranks[index]:.2f}" for index in compared.order)
    caption = "The best method is on the left; a bar joins methods without a significant difference."
    draw = partial(critical_difference_diagram, compared, width=NARROW)
    return [words, figure(draw, name=f"ranks-{key}", title=title, description=order, caption=caption)]


def _curves(results: "StudyResults", dataset: str, measure: str, classifier: str, key: str, *, opened: bool) -> Html:
    grid = results.means(measure, classifier)
    means = {method: grid.value(dataset, method) for method in results.methods}
    words = ", ".join(f"{method} {value:.3f}" for method, value in means.items() if np.isfinite(value))
    drawing = figure(
        partial(_draw_curves, results, dataset, measure, classifier),
        name=f"curves-{key}",
        title=f"{measure.replace('_', ' ').capitalize()} against the number of features, {dataset}.",
        description=f"Means over all numbers: {words}.",
        caption="Means over the splits with 95 % bands; splits share rows, so the bands are somewhat too narrow.",
    )
    return tag("details", tag("summary", f"Curves of {dataset}"), drawing, open=opened)


def _draw_curves(results: "StudyResults", dataset: str, measure: str, classifier: str) -> Any:
    rows = -(-len(results.methods) // legend_columns(results.methods))
    return results.plot(dataset, measure, classifier, legend="below", ax=new_axes(NARROW, 2.6 + 0.17 * rows))


def _stability(results: "StudyResults") -> Html:
    methods = [name for name in results.methods if name != "all"]
    rows = []
    for dataset in results.datasets:
        n_features = results.shapes[dataset].n_features
        curves = (results.curve(dataset, method, results.measures[0], results.classifiers[0]) for method in methods)
        size = max((int(k) for sizes, _ in curves for k in sizes if k < n_features), default=0)
        row: list[object] = [dataset, numeric(size, digits=0)]
        for method in methods:
            stability = results.stability(dataset, method, size) if size else None
            row.append(numeric(float("nan") if stability is None else stability.index, digits=2))
        rows.append(row)
    words = (
        "The agreement between the selections of different splits: 1 for the same features in every split, 0 for random "
        "selections. Splits share rows, so selections agree more than on new data."
    )
    heads = ["data set", ">features", *(f">{method}" for method in methods)]
    return Html(paragraph(words) + table("Stability of the selections over the splits", heads, rows))


def datasets_table(results: "StudyResults", of: str = "") -> Html:
    """Return a table of sizes and fingerprints of the data; ``of`` is appended to the caption."""
    rows = [
        [name, *(numeric(size, digits=0) for size in sizes), tag("code", fingerprint)]
        for name, (*sizes, fingerprint) in results.shapes.items()
    ]
    return table(f"Data sets{of}", ["data set", ">rows", ">features", ">labels", "fingerprint"], rows)


def _method_rows(results: "StudyResults") -> list[Any]:
    settings = {method["name"]: method for method in results.protocol.get("methods", [])}
    rows = []
    for name in results.methods:
        given = settings.get(name, {})
        criterion = given.get("criterion", name)
        known = criterion.get("name", name) if isinstance(criterion, dict) else criterion
        rows.append(method_row(name, known))
    classifiers = results.protocol.get("classifiers", [])
    rows += [(str(settings["name"]), f"Classifier {settings_text(settings)}.", "-") for settings in classifiers]
    return [*rows, RANKS, TESTS, STABILITY]


def reproduction(results: "StudyResults", command: str | None) -> Html:
    """Return the protocol, the runs, and the failed cells."""
    settings = results.protocol
    keys = ("seed", "splits", "convention", "scale", "n_features", "baselines")
    shown = {key: settings[key] for key in keys if key in settings}
    if isinstance(shown.get("n_features"), list):
        shown["n_features"] = ", ".join(map(str, shown["n_features"]))
    if "baselines" in shown:
        shown["baselines"] = ", ".join(shown["baselines"]) or "none"
    blocks = {"Protocol": [(key, str(value)) for key, value in shown.items()]}
    for number, run in enumerate(results.runs, 1):
        environment = json.loads(run.environment or "{}")
        rows = [("started", run.started), ("ended", run.ended or "running"), ("labelsieve", run.version)]
        blocks[f"Run {number}"] = [*rows, *((key, str(value)) for key, value in environment.items())]
    blocks["This report"] = versions()
    text = json.dumps(settings, indent=1)
    section = reproduce_section(command, blocks, text, "The whole protocol, as JSON")
    if results.failures:
        failed = [[name, numeric(split, digits=0), *rest] for name, split, *rest in results.failures[:MAX_FAILURES]]
        heads = ["data set", ">split", "method", "classifier", "error"]
        section = Html(section + table(f"{_count(len(results.failures), 'failed cell')}", heads, failed))
    return section


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
