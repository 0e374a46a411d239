"""Feature selection for data in which every row has many labels, on an exact counting core."""

from typing import Any

from labelsieve.errors import InputError

__all__ = ["InputError", "__version__"]


def __getattr__(name: str) -> Any:
    # Reading the package's metadata takes longer than everything else here, and few ask for it.
    if name == "__version__":
        from importlib.metadata import version

        return version("labelsieve")
    raise AttributeError(f"module 'labelsieve' has no attribute {name!r}")
