"""The page of a leaderboard: one self-contained HTML file whose script filters, ranks, compares and draws."""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.metrics import MEASURES
from labelsieve.report.html import Html, Report, Section, joined, numeric, paragraph, table, tag
from labelsieve.statistics import critical_difference
from leaderboard.board import BoardResults

MISSING = 65535  # of 16 bits: no value
KINDS = ("development", "confirmation")  # tags that are no kinds of data
RULE = (
    "Features are ranked in the training rows of random halves and evaluated on the other half, for every number of features. "
    "Methods are ranked on each data set, learner and number of features, 1 for the best; ranks are averaged. A method that "
    "failed on a data set is ranked last there. Data sets with no more features than are selected are left out. Methods that "
    "were not run on all of the data sets, and all features as a reference, are listed without a rank. Time is the processor "
    "time of a selection, the geometric mean over the data sets; memory its peak above that of a random selection, the median. "
    "The average over learners leaves out those that ran with few selectors."
)


def leaderboard_report(board: BoardResults, *, title: str = "Leaderboard of feature selectors", command: str = "") -> Report:
    """Return the page of a leaderboard, from the results that :func:`leaderboard.read_board` returns.

    Statistics are computed in the page, for any choice of data sets, learner, measure and number of features: average ranks
    with Nemenyi's critical difference, and Bayesian signed-rank comparisons with a region of practical equivalence.

    Parameters
    ----------
    board : BoardResults
        The results of a study.
    title : str, default="Leaderboard of feature selectors"
        Title of the page.
    command : str, default=""
        The command that made the page, if it is to be shown.

    Returns
    -------
    Report

    Examples
    --------
    >>> import tempfile
    >>> from labelsieve.datasets import Dataset, make_feature_roles
    >>> from labelsieve.studies import Protocol, Study
    >>> from leaderboard import read_board
    >>> data, folder = make_feature_roles(80, random_state=0), tempfile.mkdtemp()
    >>> names = tuple(data.feature_names), tuple(data.label_names), ("numeric",) * len(data.feature_names)
    >>> songs = Dataset(data.X, data.Y, *names, name="songs")
    >>> _ = Study(Protocol([songs], ["jmi", "mim"], n_features=[1, 2], splits="2x50%"), folder).run()
    >>> "4 selectors, 1 data sets" in leaderboard_report(read_board(folder)).html()
    True
    """
    n_failed = sum(count for *_, count in board.errors)
    counts = (
        f"{len(board.methods)} selectors, {len(board.datasets)} data sets, {len(board.learners)} learners, "
        f"{board.n_cells:,} cells run (data set, split, selector, learner), {n_failed:,} of them failed, "
        f"{board.hours:,.1f} CPU hours."
    )
    sections = (
        Section("ranks", "Ranks", joined([_filters(board), _box("table"), _box("ranks-figure")])),
        Section("comparisons", "Bayesian comparisons", joined([_choice("compared", "Selector"), _box("bayes")])),
        Section("time", "Accuracy and time", _box("scatter")),
        Section("datasets", "Data sets", _box("heat")),
        Section("curves", "Curves", joined([_choice("curve-data", "Data set"), _box("curve")])),
        Section("failures", "Failures", _failures(board)),
        Section("protocol", "Protocol", joined([paragraph(RULE), paragraph(f"Made by {command}.") if command else Html("")])),
    )
    lead = joined([paragraph(counts), tag("noscript", paragraph("This page needs scripts, which are in the file itself."))])
    style, script = (Path(__file__).with_suffix(kind).read_text("utf-8") for kind in (".css", ".js"))
    data = json.dumps(_document(board), separators=(",", ":"))
    return Report(title, lead, sections, style=style, script=script, data=data)


def _box(name: str) -> Html:
    return tag("div", id=f"board-{name}", class_="scroll", role="group", aria_label=name.replace("-", " "))


def _choice(name: str, label: str) -> Html:
    return tag("p", tag("label", f"{label} ", tag("select", id=f"board-{name}")))


def _filters(board: BoardResults) -> Html:
    kinds = [kind for kind in _tags(board) if kind not in KINDS]
    numeric = {name for data in board.datasets for name in data.measures if _is_numeric(name)}
    with_labels = [("labels", "all with labels")] if any(len(data.measures) > 1 for data in board.datasets) else []
    fields = {
        "part": ("Data sets", [("", "all"), *((part, part) for part in KINDS if part in _tags(board))]),
        "kind": ("Kind of data", [*with_labels, ("", "all"), *((kind, kind) for kind in kinds)]),
        "learner": ("Learner", [("", "average"), *((name, name) for name in board.learners)]),
        "measure": (
            "Measure (numeric targets: RRMSE)",
            [(name, name.replace("_", " ")) for name in board.measures if name not in numeric or len(board.measures) == 1],
        ),
        "common": ("Only data sets with all selectors", [("", "no"), ("yes", "yes")]),
        "size": ("Number of features", [("", "average of 5, 10, 20, 40"), *((str(size), str(size)) for size in board.sizes)]),
    }
    made = []
    for name, (label, choices) in fields.items():
        options = (tag("option", text, value=value) for value, text in choices)
        made.append(tag("label", f"{label} ", tag("select", *options, id=f"board-{name}")))
    return tag("form", *made, class_="filters", aria_label="Filters")


def _tags(board: BoardResults) -> list[str]:
    return list(dict.fromkeys(tag for data in board.datasets for tag in data.tags))


def _is_numeric(measure: str) -> bool:
    return MEASURES[measure].needs == "numbers"


def _failures(board: BoardResults) -> Html:
    if not board.errors:
        return paragraph("No cell failed.")
    rows = [[dataset, method, error, numeric(count, digits=0)] for dataset, method, error, count in board.errors]
    return table("Failed cells", ["data set", "selector", "error", ">cells"], rows)


def _document(board: BoardResults) -> dict[str, Any]:
    """Return what the script reads; values are 16 bits of the range of their measure."""
    ranges = []
    codes = np.full(board.values.shape, MISSING, dtype="<u2")
    for place in range(len(board.measures)):
        values = board.values[:, :, :, place]
        known = np.isfinite(values)
        low, high = (float(values[known].min()), float(values[known].max())) if known.any() else (0.0, 1.0)
        unit = (high - low) / (MISSING - 1) or 1.0
        codes[:, :, :, place][known] = np.rint((values[known] - low) / unit).astype("<u2")
        ranges.append([low, unit])
    most = max(2, len(board.methods))
    return {
        "datasets": [
            {
                **{"name": data.name, "tags": data.tags, "rows": data.n_rows, "features": data.n_features},
                **{"labels": data.n_labels, "measures": [board.measures.index(name) for name in data.measures]},
            }
            for data in board.datasets
        ],
        "methods": board.methods,
        "learners": board.learners,
        "measures": board.measures,
        "lower": board.lower_is_better,
        "sizes": board.sizes,
        "ranges": ranges,
        "values": base64.b64encode(codes.tobytes()).decode(),
        "splits": board.n_splits.tolist(),
        "failed": board.n_failed.tolist(),
        "cpu": _plain(board.cpu, 4),
        "memory": _plain(board.memory, 1),
        # Nemenyi's critical difference for so many methods on 6 data sets: that for N is this times sqrt(6 / N).
        "critical": [0.0, 0.0, *(round(critical_difference(k, 6), 5) for k in range(2, most + 1))],
    }


def _plain(numbers: NDArray[np.float64], digits: int) -> list[list[float | None]]:
    return [[round(float(value), digits) if np.isfinite(value) else None for value in row] for row in numbers]
