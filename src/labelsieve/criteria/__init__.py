from labelsieve.criteria.catalogue import CATALOGUE, criterion_named
from labelsieve.criteria.criterion import Criterion
from labelsieve.criteria.joined import JoinedMIM
from labelsieve.criteria.method import METHODS, Method, methods_of
from labelsieve.criteria.step_parts import StepParts

__all__ = ["CATALOGUE", "METHODS", "Criterion", "JoinedMIM", "Method", "StepParts", "criterion_named", "methods_of"]
