"""How a result finds its figure_function.

Pictures are drawn on a floor above everything that can be drawn, so the floors below know them by name only: the name is
looked up when somebody asks for the figure, and until then neither the figures nor matplotlib are loaded.
"""

from importlib import import_module
from typing import Any


def figure_function(name: str) -> Any:
    """The function of that name in :mod:`labelsieve.report.figures`.

    >>> figure_function("curves").__name__
    'curves'
    """
    return getattr(import_module("labelsieve.report.figures"), name)
