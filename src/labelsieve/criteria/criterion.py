"""The base class of criteria: a criterion is its formula."""

from functools import cached_property
from typing import Any, ClassVar

from labelsieve.formula import Formula, FormulaError, Plan


class Criterion:
    """Base of all criteria: a subclass states ``score``, and ``first`` where the empty selection needs another formula.

    A criterion with parameters sets ``score`` in ``__init__``. Formulas are checked when the class is defined.

    Examples
    --------
    >>> from labelsieve.formula import I, f, s, sum_s, sum_y, y
    >>> class Cautious(Criterion):
    ...     "Relevance minus half the redundancy."
    ...
    ...     score = sum_y(I(f, y)) - 0.5 * sum_s(I(f, s))
    >>> Cautious().score
    sum_y(I(f, y)) - 0.5 * sum_s(I(f, s))
    """

    score: Formula
    first: Formula | None = None
    paper: ClassVar[str] = ""
    name: ClassVar[str]  # by default the class name in lower case
    listed: ClassVar[bool] = True  # in the registry of methods

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = cls.__dict__.get("name", cls.__name__.lower())
        if "score" in cls.__dict__ and not isinstance(cls.__dict__["score"], property):
            Plan(cls.score, cls.first, name=cls.__name__)

    @cached_property
    def plan(self) -> Plan:
        """The plan of the formula, which knows the tables that must be counted: see :meth:`labelsieve.formula.Plan.explain`."""
        try:
            score = self.score
        except AttributeError:
            raise FormulaError(f"{type(self).__name__} has no score: set it in the class or in __init__.") from None
        return Plan(score, self.first, name=self.name)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "plan"}

    def __repr__(self) -> str:
        return f"{type(self).__name__}(score={getattr(self, 'score', None)})"
