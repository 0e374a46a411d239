from labelsieve.studies.errors import StudyError
from labelsieve.studies.estimate import Estimate, estimate
from labelsieve.studies.profile import Profile
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.results import StudyResults
from labelsieve.studies.runner import Outcome, Study
from labelsieve.studies.tables import Grid

__all__ = ["Estimate", "Grid", "Outcome", "Profile", "Protocol", "Study", "StudyError", "StudyResults", "estimate"]
