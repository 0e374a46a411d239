"""Where the optional prototype and data sets lie; what needs them does without when they are absent."""

import os
from pathlib import Path

VARIABLE = "LABELSIEVE_SHARED"


def shared_folder(name):
    """Sub-folder ``name`` of $LABELSIEVE_SHARED, or of ``shared`` beside the checkout; None if absent."""
    beside_checkout = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get(VARIABLE, beside_checkout)) / name
    return folder if folder.is_dir() else None
