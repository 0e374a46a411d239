from labelsieve.errors import StudyError
from labelsieve.studies.estimate import Estimate, estimate
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.records import Grid, Profile
from labelsieve.studies.results import StudyResults
from labelsieve.studies.study import Outcome, Study

__all__ = ["Estimate", "Grid", "Outcome", "Profile", "Protocol", "Study", "StudyError", "StudyResults", "estimate"]
