"""How many of the selected features are columns that were added as noise."""

import json
import os
from collections.abc import Sequence

import numpy as np

from labelsieve.errors import InputError
from labelsieve.studies.leaderboard.board_results import study_folders
from labelsieve.studies.protocol import ALL
from labelsieve.studies.protocol.added_noise import added_counts
from labelsieve.studies.results.records import read_records

SIZES = (5, 10, 20, 40)


def noise_shares(folder: str | os.PathLike[str], *, sizes: Sequence[int] = SIZES) -> dict[str, tuple[float, float, int]]:
    """Fractions of irrelevant and corrupted columns among the first features, by method, and the number of data sets.

    Shares are averaged over numbers of features below the number of original ones, then over splits and data sets. Data sets
    without ``noise`` are left out.
    """
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for path in study_folders(folder).values():
        records = read_records(path)
        settings = {table["name"]: table["noise"] for table in records.protocol.get("datasets", []) if "noise" in table}
        for row in records.selections:
            if row.dataset not in settings or row.selected is None or row.method == ALL:  # all features are no ranking
                continue
            n_original = original_count(records.shapes[row.dataset].n_features, settings[row.dataset])
            ranking = np.array(json.loads(row.selected))
            n_irrelevant = added_counts(n_original, settings[row.dataset])[0]
            limits = n_original, n_original + n_irrelevant
            heads = [ranking[:size] for size in sizes if size < n_original and len(ranking) >= size]
            if heads:
                shares = [(((head >= limits[0]) & (head < limits[1])).mean(), (head >= limits[1]).mean()) for head in heads]
                irrelevant, corrupted = np.mean(shares, axis=0).tolist()
                found.setdefault(row.method, {}).setdefault(row.dataset, []).append((irrelevant, corrupted))
    if not found:
        raise InputError(f"{folder}: no selection of a data set with noise; run a protocol with noise, such as noise.toml.")
    means = {method: np.mean([np.mean(rows, axis=0) for rows in by_data.values()], axis=0) for method, by_data in found.items()}
    order = sorted(means, key=lambda method: float(means[method].sum()))
    return {method: (float(means[method][0]), float(means[method][1]), len(found[method])) for method in order}


def original_count(n_features: int, noise: dict[str, float]) -> int:
    """Return the number of features before noise was added.

    >>> original_count(17, {"irrelevant": 0.5, "corrupted": 0.25})
    10
    """
    return next(d for d in range(n_features + 1) if d + sum(added_counts(d, noise)) >= n_features)
