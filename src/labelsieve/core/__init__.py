"""The compiled core. This package alone imports it; kernels know codes and counts, never criteria.

Its signatures are in ``_native.pyi``, which the build writes.
"""

from labelsieve.core._native import *  # noqa: F403
