from labelsieve.formula import symbols
from labelsieve.formula.nodes import Formula, FormulaError
from labelsieve.formula.plan import Plan
from labelsieve.formula.symbols import *  # noqa: F403

__all__ = ["Formula", "FormulaError", "Plan"]
__all__ += symbols.__all__
