from labelsieve.criteria.criterion import Criterion
from labelsieve.criteria.joined_mim import JoinedMIM
from labelsieve.criteria.score_split import StepComponents

__all__ = ["Criterion", "JoinedMIM", "StepComponents"]
