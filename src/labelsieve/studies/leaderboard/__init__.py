from labelsieve.studies.leaderboard.placement import (
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
from labelsieve.studies.leaderboard.results import (
    BoardResults,
    export_results,
    exported_folders,
    import_results,
    merge,
    read_board,
    study_folders,
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
