"""Lookup of figures and other views by name.

They are in a higher layer than the results that they draw, so results know them by name only. The name is looked up when
a figure is drawn; until then neither the figures nor matplotlib are loaded.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
else:
    Axes = Any  # matplotlib is optional


def figure_function(name: str) -> Callable[..., Axes]:
    """Return the function of that name in :mod:`labelsieve.report.figures`.

    >>> figure_function("curves").__name__
    'curves'
    """
    found: Callable[..., Axes] = getattr(import_module("labelsieve.report.figures"), name)
    return found


def report_function(name: str) -> Any:
    """Return the function of that name in :mod:`labelsieve.report`.

    >>> report_function("selection_text").__name__
    'selection_text'
    """
    return import_module("labelsieve.report").__getattr__(name)  # some modules have the name of their function
