"""The results of the leaderboard, read once per build: its interactive page, and the directive ``ranks`` for tables of ranks.

The numbers of selectors, data sets and cells on the page of the leaderboard are computed here.
"""

from functools import cache
from pathlib import Path
from typing import ClassVar

from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective
from study_pages import list_table

from labelsieve.statistics import critical_difference
from leaderboard import leaderboard_report, placement, read_board, restricted, stored_board

RESULTS = Path(__file__).parents[2] / "leaderboard" / "results"
PAGE = "leaderboard-page.html"
DEFAULT = "hybrid-bounded"  # the name of the default of Sieve() in the results
N_FIRST = 8  # selectors of a table that are shown for their rank
ALWAYS = ("cmim", "extra-trees", "l1", "mrmr", "jmi", "mim", "mean-f", "random")  # shown wherever they have a rank
LABELS = {
    "micro_f1": "micro-F1",
    "macro_f1": "macro-F1",
    "average_precision": "average precision",
    "hamming_loss": "Hamming loss",
}
MEASURES = {"labels": LABELS, "numeric": {"rrmse": "RRMSE"}}


@cache
def board():
    with stored_board(RESULTS) as folder:
        return read_board(folder)


def ranks(study, part, learners):
    """Yield what was compared, and a table of average ranks, of which the first measure decides the order.

    The last columns compare the default with each selector by the first measure.
    """
    names = [data.name for data in board().datasets if data.study == study and (part == "all" or part in data.tags)]
    chosen = restricted(board(), names, learners)
    found = {text: placement(chosen, DEFAULT, measure=measure) for measure, text in MEASURES[study].items()}
    first, *_ = found.values()
    averages = [
        {DEFAULT: one.average_rank, **{other.name: other.average_rank for other in one.others}} for one in found.values()
    ]
    against = {other.name: other for other in first.others}
    order = sorted(averages[0], key=averages[0].get)
    difference = critical_difference(first.n_ranked, len(first.datasets))
    yield f"{len(first.datasets)} data sets, {first.n_ranked} selectors, critical difference {difference:.1f}."
    yield ""
    head = ["selector", *found, "default wins-losses", "better", "equivalent"]
    shown = [name for name in order if name in order[:N_FIRST] or name in ALWAYS or name == DEFAULT]
    yield from list_table([head, *([name_of(name), *cells(name, averages), *odds(against.get(name))] for name in shown)])


def name_of(name):
    return "**the default**" if name == DEFAULT else f"``{name}``"


def cells(name, averages):
    return [f"{average[name]:.1f}" if name in average else "-" for average in averages]


def odds(other):
    if other is None:
        return ["", "", ""]
    return [f"{other.wins}-{other.losses}", f"{other.posterior.first:.2f}", f"{other.posterior.same:.2f}"]


def extent():
    """Yield the size of the run."""
    found = board()
    failed = sum(error[-1] for error in found.errors)
    kinds = [sum(data.study == study for data in found.datasets) for study in ("labels", "numeric")]
    yield (
        f"The results have {len(found.datasets)} data sets ({kinds[0]} with labels, {kinds[1]} with numeric targets), "
        f"{len(found.methods)} selectors and {found.n_cells:,} cells, of which {failed} failed. They took "
        f"{found.hours:.1f} hours of CPU time."
    )


class Ranks(SphinxDirective):
    """``ranks`` with a study, a part (development, confirmation or all) and learners; without arguments the extent."""

    optional_arguments = 2
    option_spec: ClassVar = {"learners": directives.unchanged}

    def run(self):
        learners = [name.strip() for name in self.options.get("learners", "").split(",") if name.strip()]
        lines = ranks(*self.arguments, learners) if self.arguments else extent()
        self.content = StringList(list(lines), source="leaderboard/results")
        return self.parse_content_to_nodes()


def write_page(app, error):
    if error is None and app.builder.format == "html":
        report = leaderboard_report(board(), command="python -m leaderboard page leaderboard/results")
        report.write(Path(app.outdir) / PAGE)


def setup(app):
    app.add_directive("ranks", Ranks)
    app.connect("build-finished", write_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
