from labelsieve.studies.store.stored_results import (
    PHASES,
    CellKey,
    Fingerprints,
    MeasuredValue,
    ResourcesUsed,
    SelectionKey,
    StoredCell,
    StoredRanking,
    StoredResults,
    stored_results,
)
from labelsieve.studies.store.study_store import StudyStore

__all__ = [
    "PHASES",
    "CellKey",
    "Fingerprints",
    "MeasuredValue",
    "ResourcesUsed",
    "SelectionKey",
    "StoredCell",
    "StoredRanking",
    "StoredResults",
    "StudyStore",
    "stored_results",
]
