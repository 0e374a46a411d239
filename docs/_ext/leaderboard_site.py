"""The page of the leaderboard, made from the results in the repository, next to the built documentation."""

from pathlib import Path

from labelsieve.cli.leaderboard import stored_board
from labelsieve.report import leaderboard_report
from labelsieve.studies.leaderboard import read_board

RESULTS = Path(__file__).parents[2] / "leaderboard" / "results"
PAGE = "leaderboard-page.html"


def write_page(app, error):
    if error is None and app.builder.format == "html":
        with stored_board(RESULTS) as folder:
            leaderboard_report(read_board(folder), command="labelsieve leaderboard page leaderboard/results").write(
                Path(app.outdir) / PAGE
            )


def setup(app):
    app.connect("build-finished", write_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
