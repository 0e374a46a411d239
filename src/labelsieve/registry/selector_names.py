"""Selectors by the names of methods."""

from typing import Any

from labelsieve.criteria import Criterion
from labelsieve.errors import InputError
from labelsieve.registry.classes import CRITERIA, accepted, load_class, parameter_names
from labelsieve.registry.presets import PRESETS, resolve_method
from labelsieve.registry.published_methods import METHODS


def selector_class(name: str) -> Any:
    """The class that runs a method.

    >>> selector_class("ela-chi").__name__, selector_class("jmi").__name__
    ('ChiSquare', 'Sieve')
    """
    method = METHODS.get(name.lower())
    return load_class("labelsieve.Sieve" if method is None else f"labelsieve.{method.selector}")


def method_of(selector: Any) -> str:
    """The name of the method that a selector runs; of a selector that no method lists, its class name.

    >>> method_of(make_selector("lp-relieff", n_neighbors=3)), method_of(make_selector("cmim", with_relevance=True))
    ('lp-relieff', 'cmim')
    """
    criterion = getattr(selector, "criterion", None)
    if isinstance(criterion, str):
        return criterion.lower()
    if criterion is not None:
        return str(getattr(criterion, "name", None) or type(criterion).__name__)
    settings = selector.get_params(deep=False)
    for name, method in METHODS.items():
        if method.selector.rpartition(".")[2] == type(selector).__name__ and method.settings.items() <= settings.items():
            return name
    return type(selector).__name__


def make_selector(criterion: Any, *, labelwise: bool = False, **settings: Any) -> Any:
    """An unfitted selector of this method, with other settings where they are given.

    Parameters
    ----------
    criterion : str or Criterion
        A name of :func:`method_names`, or a custom criterion.
    labelwise : bool
        Lists for every target by itself (:class:`LabelwiseSieve`; LLSF has nothing else) instead of one ranking for all.
    **settings
        Parameters of the selector, or, where it has none of that name, of the criterion.

    Examples
    --------
    >>> make_selector("relieff", n_neighbors=20)
    ReliefF(n_neighbors=20)
    >>> make_selector("cmim", with_relevance=True, n_features_to_select=3).criterion.with_relevance
    True
    """
    name = criterion.lower() if isinstance(criterion, str) else None
    method = METHODS.get(name or "")
    if method is not None:
        kind = selector_class(str(name))
        if labelwise and not hasattr(kind, "transform_label"):
            raise InputError(
                f"{name}: it ranks features for all labels together; take a criterion or llsf for lists of labels."
            )
        if not labelwise and method.no_ranking:
            raise InputError(f"{name}: {method.no_ranking}")
        return kind(**{**method.settings, **accepted(kind, settings, str(name))})
    kind = load_class("labelsieve.LabelwiseSieve" if labelwise else "labelsieve.Sieve")
    if name is not None and name not in PRESETS:
        resolve_method(name)  # raises for an unknown name
        extra = {key: settings.pop(key) for key in list(settings) if key in parameter_names(CRITERIA[name])}
        criterion = CRITERIA[name](**extra) if extra else name
    return kind(criterion, **accepted(kind, settings, criterion.name if isinstance(criterion, Criterion) else str(name)))
