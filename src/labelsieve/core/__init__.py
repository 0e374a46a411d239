"""The compiled core. This package alone imports it; kernels know codes and counts, never criteria.

The names are those of its stub, ``_native.pyi``.
"""

from labelsieve.core._native import *  # noqa: F403
