from labelsieve.studies.execution.estimate import Estimate, estimate
from labelsieve.studies.execution.study import Outcome, Study
from labelsieve.studies.protocol.protocol import Protocol
from labelsieve.studies.results.grid import Grid
from labelsieve.studies.results.profile import Profile
from labelsieve.studies.results.study_results import StudyResults
from labelsieve.studies.study_error import StudyError

__all__ = ["Estimate", "Grid", "Outcome", "Profile", "Protocol", "Study", "StudyError", "StudyResults", "estimate"]
