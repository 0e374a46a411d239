from labelsieve.studies.execution.estimate import ESTIMATE_METHOD, Estimate, estimate
from labelsieve.studies.execution.study import Changed, Outcome, Study

__all__ = ["ESTIMATE_METHOD", "Changed", "Estimate", "Outcome", "Study", "estimate"]
