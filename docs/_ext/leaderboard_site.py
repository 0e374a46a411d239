"""The page of the leaderboard, made from the results in the repository, next to the built documentation."""

from pathlib import Path

from leaderboard import leaderboard_report, read_board, stored_board

RESULTS = Path(__file__).parents[2] / "leaderboard" / "results"
PAGE = "leaderboard-page.html"


def write_page(app, error):
    if error is None and app.builder.format == "html":
        with stored_board(RESULTS) as folder:
            report = leaderboard_report(read_board(folder), command="python -m leaderboard page leaderboard/results")
        report.write(Path(app.outdir) / PAGE)


def setup(app):
    app.connect("build-finished", write_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
