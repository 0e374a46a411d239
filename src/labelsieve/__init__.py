"""Feature selection for multi-label and multi-target data, on an exact counting core."""

from typing import TYPE_CHECKING, Any

from labelsieve.errors import InputError

if TYPE_CHECKING:
    from labelsieve.criteria import Criterion
    from labelsieve.labelspace import LabelNetwork, NetworkRule
    from labelsieve.selectors.auto.sieve import AutoSieve
    from labelsieve.selectors.labelwise import LabelwiseSieve
    from labelsieve.selectors.pair_counts import PairCounts
    from labelsieve.selectors.pptmi import PPTMI
    from labelsieve.selectors.quadratic import QuadraticSieve
    from labelsieve.selectors.rankings.univariate import BaselineSieve
    from labelsieve.selectors.sieve import Sieve

    __version__: str

__all__ = [
    "PPTMI",
    "AutoSieve",
    "BaselineSieve",
    "Criterion",
    "InputError",
    "LabelNetwork",
    "LabelwiseSieve",
    "NetworkRule",
    "PairCounts",
    "QuadraticSieve",
    "Sieve",
    "__version__",
]

# Loaded when asked for: scikit-learn takes most of a second, and the information measures do without it.
_MODULES = {
    "PPTMI": "labelsieve.selectors.pptmi",
    "AutoSieve": "labelsieve.selectors.auto.sieve",
    "BaselineSieve": "labelsieve.selectors.rankings.univariate",
    "Criterion": "labelsieve.criteria",
    "LabelNetwork": "labelsieve.labelspace",
    "LabelwiseSieve": "labelsieve.selectors.labelwise",
    "NetworkRule": "labelsieve.labelspace",
    "PairCounts": "labelsieve.selectors.pair_counts",
    "QuadraticSieve": "labelsieve.selectors.quadratic",
    "Sieve": "labelsieve.selectors.sieve",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("labelsieve")
    if name in _MODULES:
        from importlib import import_module

        found = globals()[name] = getattr(import_module(_MODULES[name]), name)
        return found
    raise AttributeError(f"module 'labelsieve' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
