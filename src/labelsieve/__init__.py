"""Feature selection for data in which every row has many labels, on an exact counting core."""

from typing import TYPE_CHECKING, Any

from labelsieve.errors import InputError

if TYPE_CHECKING:
    from labelsieve.baselines import BaselineSieve
    from labelsieve.criteria import Criterion
    from labelsieve.labelspace import LabelNetwork, NetworkRule
    from labelsieve.labelwise import LabelwiseSieve
    from labelsieve.pptmi import PPTMI
    from labelsieve.quadratic import QuadraticSieve
    from labelsieve.selection import Sieve

    __version__: str

__all__ = [
    "PPTMI",
    "BaselineSieve",
    "Criterion",
    "InputError",
    "LabelNetwork",
    "LabelwiseSieve",
    "NetworkRule",
    "QuadraticSieve",
    "Sieve",
    "__version__",
]

# Loaded when asked for: scikit-learn takes most of a second, and the information measures do without it.
_HOMES = {
    "PPTMI": "labelsieve.pptmi",
    "BaselineSieve": "labelsieve.baselines",
    "Criterion": "labelsieve.criteria",
    "LabelNetwork": "labelsieve.labelspace",
    "LabelwiseSieve": "labelsieve.labelwise",
    "NetworkRule": "labelsieve.labelspace",
    "QuadraticSieve": "labelsieve.quadratic",
    "Sieve": "labelsieve.selection",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("labelsieve")
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'labelsieve' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
