"""Settings of the discretizer that a selector uses, whether it is an object, a name or that of the method."""

from collections.abc import Sequence

from sklearn.base import BaseEstimator, clone

from labelsieve.discretize import Discretizer
from labelsieve.registry.classes import CRITERIA, make_discretizer
from labelsieve.registry.presets import AUTO, PRESETS, resolve_method


def discretizer_of(selector: BaseEstimator) -> Discretizer | None:
    """A copy of the discretizer that a selector would use; None if it has none.

    >>> from labelsieve import Sieve
    >>> discretizer_of(Sieve("mlfs"))
    MeanStd()
    """
    settings = selector.get_params(deep=False)
    if "discretizer" not in settings:
        return None
    rule = settings["discretizer"]
    if isinstance(rule, str) and rule == AUTO:
        criterion = settings.get("criterion")
        named = isinstance(criterion, str) and criterion.lower() in (*CRITERIA, *PRESETS)
        rule = resolve_method(criterion if named else "mim").discretizer
    copy: Discretizer = clone(make_discretizer(rule))
    return copy


def declare_nominal(selector: BaseEstimator, columns: Sequence[int], n_columns: int) -> None:
    """Make a selector keep the levels of these columns, which the table does not show: one of numbers, or a sparse matrix.

    >>> from labelsieve import Sieve
    >>> sieve = Sieve("mlfs")
    >>> declare_nominal(sieve, [2], 5)
    >>> sieve
    Sieve(criterion='mlfs', discretizer=MeanStd(nominal=[2]))
    """
    if not columns:
        return
    nominal = "all" if len(columns) == n_columns else list(columns)
    if "nominal" in selector.get_params(deep=False):
        selector.set_params(nominal=nominal)
    rule = discretizer_of(selector)
    if rule is not None and "nominal" in rule.get_params(deep=False):
        selector.set_params(discretizer=rule.set_params(nominal=nominal))
