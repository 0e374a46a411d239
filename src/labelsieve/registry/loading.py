"""Classes loaded when they are asked for, and their parameters."""

import inspect
from importlib import import_module
from typing import Any

from labelsieve.errors import InputError


def load_class(path: str) -> Any:
    """The class at a dotted path.

    >>> load_class("labelsieve.Sieve").__name__
    'Sieve'
    """
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def parameter_names(kind: Any) -> list[str]:
    """Parameters of a class."""
    return list(inspect.signature(kind).parameters) if kind.__init__ is not object.__init__ else []


def accepted(kind: Any, settings: dict[str, Any], name: str) -> dict[str, Any]:
    """The settings, if the selector has them all."""
    known = parameter_names(kind)
    for key in settings:
        if key not in known:
            raise InputError(
                f"{name} takes no {key}; {kind.__name__} has {', '.join(name for name in known if name != 'criterion')}."
            )
    return settings
