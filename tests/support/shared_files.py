"""Where reference outputs and data sets lie that are not part of the repository; tests skip without them."""

import os
from pathlib import Path

import pytest

VARIABLE = "LABELSIEVE_SHARED"
NEXT_TO_THE_CHECKOUT = Path(__file__).resolve().parents[3] / "shared"


def shared_file(*parts):
    """A file of $LABELSIEVE_SHARED, or of ``shared`` next to the checkout; skips the test when it is absent."""
    path = Path(os.environ.get(VARIABLE, NEXT_TO_THE_CHECKOUT)).joinpath(*parts)
    if not path.is_file():
        pytest.skip(f"{Path(*parts)} is not there; set ${VARIABLE} to the folder of reference files and data sets")
    return path
