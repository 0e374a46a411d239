from labelsieve.criteria.catalogue import CATALOGUE, criterion_named
from labelsieve.criteria.criterion import Criterion

__all__ = ["CATALOGUE", "Criterion", "criterion_named"]
