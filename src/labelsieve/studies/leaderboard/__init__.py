from labelsieve.studies.leaderboard.board_results import BoardResults, read_board, study_folders
from labelsieve.studies.leaderboard.merged_stores import merge
from labelsieve.studies.leaderboard.parquet_results import export_results, exported_folders, import_results

__all__ = ["BoardResults", "export_results", "exported_folders", "import_results", "merge", "read_board", "study_folders"]
