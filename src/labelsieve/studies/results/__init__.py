from labelsieve.studies.results.grid import Grid
from labelsieve.studies.results.profile import Profile, profile_of
from labelsieve.studies.results.study_results import StudyResults

__all__ = ["Grid", "Profile", "StudyResults", "profile_of"]
