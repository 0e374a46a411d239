from labelsieve.criteria.criterion import Criterion
from labelsieve.criteria.relevance import JoinedMIM
from labelsieve.criteria.relevance_redundancy import StepComponents

__all__ = ["Criterion", "JoinedMIM", "StepComponents"]
