"""Every method by its name: the criteria, the published methods, and the selectors that are no greedy search."""

import inspect
from importlib import import_module
from typing import Any

from labelsieve.criteria import CATALOGUE, METHODS, Criterion
from labelsieve.errors import InputError
from labelsieve.labelwise import LabelwiseSieve
from labelsieve.recipes import PRESETS, recipe
from labelsieve.selection import Sieve


def known_methods() -> list[str]:
    """The names, as ``labelsieve methods`` lists them.

    >>> "jmi" in known_methods(), "mlinfogain" in known_methods(), "ela-chi" in known_methods()
    (True, True, True)
    """
    return list(dict.fromkeys([*CATALOGUE, *PRESETS, *METHODS]))


def selector_class(name: str) -> Any:
    """The class that runs a method: that of :data:`METHODS`, otherwise :class:`Sieve`.

    >>> selector_class("ela-chi").__name__, selector_class("jmi").__name__
    ('ChiSquare', 'Sieve')
    """
    method = METHODS.get(name.lower())
    if method is None:
        return Sieve
    home, _, own = f"labelsieve.{method.selector}".rpartition(".")
    return getattr(import_module(home), own)


def selector_named(criterion: Any, *, labelwise: bool = False, **settings: Any) -> Any:
    """An unfitted selector of this method, with other settings where they are given.

    Parameters
    ----------
    criterion : str or Criterion
        A name of :func:`known_methods`, or a criterion of your own.
    labelwise : bool
        Lists for every target by itself (:class:`LabelwiseSieve`; LLSF has nothing else) instead of one ranking for all.
    **settings
        Parameters of the selector, or, where it has none of that name, of the criterion.

    Examples
    --------
    >>> selector_named("relieff", n_neighbors=20)
    ReliefF(n_neighbors=20)
    >>> selector_named("cmim", with_relevance=True, n_features_to_select=3).criterion.with_relevance
    True
    """
    name = criterion.lower() if isinstance(criterion, str) else None
    method = METHODS.get(name or "")
    if method is not None:
        own = selector_class(str(name))
        if labelwise and not hasattr(own, "transform_label"):
            raise InputError(
                f"{name}: it ranks features for all labels together; take a criterion or llsf for lists of labels."
            )
        if not labelwise and method.no_ranking:
            raise InputError(f"{name}: {method.no_ranking}")
        return own(**{**method.settings, **_accepted(own, settings, str(name))})
    own = LabelwiseSieve if labelwise else Sieve
    if name is not None and name not in PRESETS:
        recipe(name)  # refuses what nobody knows
        extra = {key: settings.pop(key) for key in list(settings) if key in _parameters(CATALOGUE[name])}
        criterion = CATALOGUE[name](**extra) if extra else name
    return own(criterion, **_accepted(own, settings, criterion.name if isinstance(criterion, Criterion) else str(name)))


def _parameters(own: Any) -> list[str]:
    return list(inspect.signature(own).parameters) if own.__init__ is not object.__init__ else []


def _accepted(own: Any, settings: dict[str, Any], name: str) -> dict[str, Any]:
    """The settings, if the selector has them all."""
    known = _parameters(own)
    for key in settings:
        if key not in known:
            raise InputError(
                f"{name} takes no {key}; {own.__name__} has {', '.join(one for one in known if one != 'criterion')}."
            )
    return settings
