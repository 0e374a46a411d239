"""Classes loaded when they are asked for, and their parameters."""

import inspect
from importlib import import_module
from typing import Any

from labelsieve.errors import InputError


def load_class(path: str) -> Any:
    """The class behind a dotted path.

    >>> load_class("labelsieve.Sieve").__name__
    'Sieve'
    """
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def parameter_names(own: Any) -> list[str]:
    """Parameters of a class."""
    return list(inspect.signature(own).parameters) if own.__init__ is not object.__init__ else []


def accepted(own: Any, settings: dict[str, Any], name: str) -> dict[str, Any]:
    """The settings, if the selector has them all."""
    known = parameter_names(own)
    for key in settings:
        if key not in known:
            raise InputError(
                f"{name} takes no {key}; {own.__name__} has {', '.join(one for one in known if one != 'criterion')}."
            )
    return settings
