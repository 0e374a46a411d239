"""Studies compare selection methods over data sets, splits and classifiers, and can be killed and resumed at any moment.

A :class:`Protocol` says what to run, :class:`Study` runs its missing cells into a folder, and :class:`StudyResults` reads the
folder as tables and figures. Start reading in ``study.py``.
"""

from labelsieve.errors import StudyError
from labelsieve.studies.plan import StudyPlan
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.results import Grid, StudyResults
from labelsieve.studies.study import Outcome, Study

__all__ = ["Grid", "Outcome", "Protocol", "Study", "StudyError", "StudyPlan", "StudyResults"]
