"""Folder of the optional prototype and data sets; benchmarks that need them are skipped if it is absent."""

import json
import os
from pathlib import Path

VARIABLE = "LABELSIEVE_SHARED"


def shared_folder(name):
    """Sub-folder ``name`` of $LABELSIEVE_SHARED, or of the folder ``shared`` next to the checkout; None if absent."""
    next_to_checkout = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get(VARIABLE, next_to_checkout)) / name
    return folder if folder.is_dir() else None


def real_dataset(name):
    """A data set of the shared folder, and its entry in the manifest."""
    from labelsieve import datasets

    folder = shared_folder("data")
    entry = json.loads((folder / "MANIFEST.json").read_text(encoding="utf-8"))["datasets"][name]
    return datasets.load(folder / next(file["path"] for file in entry["files"] if ".arff" in file["path"])), entry
