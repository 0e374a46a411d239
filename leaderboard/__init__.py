"""The leaderboard: all selectors on the data sets of the catalog, its results, and the commands that publish them.

Folders of ``labelsieve compare`` come in, or the Parquet files in ``results/``; ranks and an HTML page go out. Start reading in
:mod:`leaderboard.board`, which reads and stores results; :mod:`leaderboard.places` ranks selectors, and
``python -m leaderboard`` is in :mod:`leaderboard.__main__`.
"""

from leaderboard.board import (
    BoardData,
    BoardResults,
    export_results,
    exported_folders,
    import_results,
    merge_results,
    read_board,
    stored_board,
    study_folders,
)
from leaderboard.page import leaderboard_report
from leaderboard.places import (
    Neighbor,
    Placement,
    check_same_rows,
    load_selector,
    noise_shares,
    own_protocols,
    placement,
    restricted,
    with_selector,
)

__all__ = [
    "BoardData",
    "BoardResults",
    "Neighbor",
    "Placement",
    "check_same_rows",
    "export_results",
    "exported_folders",
    "import_results",
    "leaderboard_report",
    "load_selector",
    "merge_results",
    "noise_shares",
    "own_protocols",
    "placement",
    "read_board",
    "restricted",
    "stored_board",
    "study_folders",
    "with_selector",
]
