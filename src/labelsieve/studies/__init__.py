from labelsieve.errors import StudyError
from labelsieve.studies.execution import Estimate, Outcome, Study, estimate
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.results import Grid, Profile, StudyResults

__all__ = ["Estimate", "Grid", "Outcome", "Profile", "Protocol", "Study", "StudyError", "StudyResults", "estimate"]
