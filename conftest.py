"""Settings of all tests and examples, also of the processes that they start."""

import os
import sys
from collections.abc import Generator

import pytest

os.environ["MPLBACKEND"] = "Agg"  # no windows
os.environ.pop("LABELSIEVE_DATA", None)  # results must not depend on the data sets that a user has


@pytest.fixture(autouse=True)
def _close_figures() -> Generator[None]:
    """Close the figures that a test left open: matplotlib warns of more than twenty, in any test that comes later."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
