"""Methods that are not a formula for the greedy search, each with its selector class; ``methods.toml`` has the facts."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from labelsieve import discretize


@dataclass(frozen=True)
class Method:
    """Facts about a method, and the selector that runs it.

    Attributes
    ----------
    summary, formula, paper, cost : str
        One line each.
    selector : str
        The selector class, from the root of the package.
    settings : mapping
        The parameters of the selector that define the method.
    reading : str
        What the paper leaves open, and our interpretation of it.
    scores : str
        The unit of the scores.
    needs_numbers : bool
        Whether the method computes with the values of the features: columns of text are refused then.
    no_ranking : str
        Why the method does not rank the features for all labels together, and the remedy; empty if it does.
    """

    summary: str
    formula: str
    paper: str
    cost: str
    selector: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    reading: str = ""
    scores: str = "scores"
    needs_numbers: bool = False
    no_ranking: str = ""

    @property
    def call(self) -> str:
        """The call in Python.

        >>> METHODS["ela-chi"].call
        "labelsieve.selectors.ChiSquare(targets='copy-weight')"
        """
        return f"labelsieve.{self.selector}({', '.join(f'{name}={value!r}' for name, value in self.settings.items())})"


_FILE = files("labelsieve.registry").joinpath("methods.toml")


def _read(facts: dict[str, Any]) -> Method:
    """A method from its facts; a discretizer is its class with its parameters, ``{ EqualFrequency = { n_bins = 2 } }``."""
    settings = dict(facts.get("settings", {}))
    if isinstance(settings.get("discretizer"), dict):
        ((kind, parameters),) = settings["discretizer"].items()
        settings["discretizer"] = getattr(discretize, kind)(**parameters)
    return Method(**{**facts, "settings": settings})


#: Methods that are not criteria, by name.
METHODS: dict[str, Method] = {name: _read(facts) for name, facts in tomllib.loads(_FILE.read_text("utf-8")).items()}


def methods_of(selector: str) -> set[str]:
    """Names of the methods that a selector class runs.

    >>> sorted(methods_of("QuadraticSieve"))
    ['mlqpfs', 'qpfs']
    """
    return {name for name, method in METHODS.items() if method.selector == selector}
