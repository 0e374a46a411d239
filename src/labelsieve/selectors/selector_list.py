"""Selectors from names, tables of settings and objects: the members of an ensemble, the candidates of an automatic choice."""

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import BaseEstimator, clone

from labelsieve.counting.constant_targets import part_of_the_rows
from labelsieve.errors import InputError
from labelsieve.labelspace import read_targets
from labelsieve.registry import make_selector, method_of
from labelsieve.table_types import TableLike, TargetsLike


def read_selectors(given: object, what: str) -> dict[str, Any]:
    """Unfitted selectors by name, in order.

    Parameters
    ----------
    given : str, mapping, selector, or a sequence of these
        A name that ``labelsieve methods`` lists; a mapping of settings with the ``criterion``, and a ``name`` if it shall have
        another; or a selector, which is cloned.
    what : str
        The parameter, for messages.

    Examples
    --------
    >>> read_selectors(["mim", {"criterion": "cmim", "estimator": "miller-madow"}], "selectors")
    {'mim': Sieve(criterion='mim'), 'cmim estimator=miller-madow': Sieve(estimator='miller-madow')}
    """
    single = isinstance(given, str | Mapping) or hasattr(given, "fit")
    members = [given] if single else list(given) if isinstance(given, Sequence) else []
    if not members:
        raise InputError(f"{what} must be a method's name, a table of settings, a selector, or a list of these, not {given!r}.")
    selectors: dict[str, Any] = {}
    for member in members:
        name, selector = _read(member, what)
        number = 2
        unique = name
        while unique in selectors:
            unique, number = f"{name} ({number})", number + 1
        selectors[unique] = selector
    return selectors


def _read(given: object, what: str) -> tuple[str, Any]:
    if isinstance(given, str):
        selector = make_selector(given)
        return method_of(selector), selector
    if isinstance(given, Mapping):
        settings = dict(given)
        name = settings.pop("name", None)
        criterion = settings.pop("criterion", name)
        if criterion is None:
            raise InputError(f"{what}: a table of settings needs a criterion, the name of a method, and has {sorted(given)}.")
        selector = make_selector(criterion, **settings)
        shown = [method_of(selector), *(f"{key}={value}" for key, value in settings.items())]
        return str(name or " ".join(shown)), selector
    if isinstance(given, type) or not (hasattr(given, "fit") and hasattr(given, "get_params")):
        raise InputError(f"{what}: {given!r} is neither a method's name, a table of settings, nor a selector.")
    if hasattr(given, "label_ranking"):
        raise InputError(
            f"{what}: {type(given).__name__} selects features for each label; use a selector with one ranking for all labels."
        )
    return method_of(given), clone(given)


def for_all_rows(selector: BaseEstimator, Y: TargetsLike) -> Any:
    """The selector with the types that the targets have in all rows: few rows may look like the other type."""
    if getattr(selector, "target_type", None) is None:
        return selector
    return clone(selector).set_params(target_type=read_targets(Y, selector.target_type).types.tolist())


def ranked(selector: BaseEstimator, X: TableLike, Y: TargetsLike, n_features: int | None, name: str) -> list[int]:
    """The first ``n_features`` columns (None: all) that a clone of the selector ranks, best first."""
    fitted = clone(selector)
    settings = {"n_features_to_select": n_features, "warm_start": False}
    fitted.set_params(**{key: value for key, value in settings.items() if key in fitted.get_params(deep=False)})
    with part_of_the_rows():
        fitted.fit(X, Y)
    columns = getattr(fitted, "selected_", None)
    if columns is None or getattr(columns, "ndim", 1) != 1:
        raise InputError(f"{name} has no ranking of the features for all targets together; take another selector.")
    return [int(column) for column in columns]
