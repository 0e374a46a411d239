"""The language of criteria: a formula over symbols comes in, a scorer of all features goes out.

Read ``symbols`` for what can be written, then ``plan``: a :class:`Plan` checks a formula, lowers it to joint tables and binds
it to data. ``evaluation`` has the scorer that a search asks for scores.
"""

from labelsieve.formula import symbols
from labelsieve.formula.nodes import Formula, FormulaError
from labelsieve.formula.plan import Plan
from labelsieve.formula.symbols import *  # noqa: F403

__all__ = ["Formula", "FormulaError", "Plan"]
__all__ += symbols.__all__
