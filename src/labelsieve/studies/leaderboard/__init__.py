from labelsieve.studies.leaderboard.board_results import BoardResults, read_board, study_folders
from labelsieve.studies.leaderboard.noise_shares import noise_shares
from labelsieve.studies.leaderboard.parquet_results import export_results, exported_folders, import_results, merge
from labelsieve.studies.leaderboard.placement import (
    Neighbor,
    Placement,
    check_same_rows,
    load_selector,
    own_protocols,
    placement,
    restricted,
    with_selector,
)

__all__ = [
    "BoardResults",
    "Neighbor",
    "Placement",
    "check_same_rows",
    "export_results",
    "exported_folders",
    "import_results",
    "load_selector",
    "merge",
    "noise_shares",
    "own_protocols",
    "placement",
    "read_board",
    "restricted",
    "study_folders",
    "with_selector",
]
