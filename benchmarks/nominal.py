"""Selections from nominal columns of frames, compared with the same data as clean codes, in one run.

Quick run: ``python -m benchmarks.nominal --repeat 2``.
"""

import argparse

import numpy as np

from benchmarks.clock import timed
from benchmarks.table import number, print_table

SHAPES = ((20_000, 200, 20, 8), (100_000, 30, 10, 12))  # rows, features, labels, levels
CRITERIA = ("mim", "jmi", "cmim")


def tables(codes, n_levels):
    """The same columns as categories and text of pandas, and as an enumeration of polars."""
    import pandas as pd
    import polars as pl

    words = np.array([f"level {level:02}" for level in range(n_levels)])
    columns = {f"c{j}": codes[:, j] for j in range(codes.shape[1])}
    return {
        "categories": pd.DataFrame({name: pd.Categorical.from_codes(column, words) for name, column in columns.items()}),
        "enumeration": pl.DataFrame({name: pl.Series(words[column], dtype=pl.Enum(words)) for name, column in columns.items()}),
        "text": pd.DataFrame({name: words[column] for name, column in columns.items()}),
    }


def main(arguments=None):
    from labelsieve import Sieve

    parser = argparse.ArgumentParser(prog="python -m benchmarks.nominal", description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3, help="runs; the best counts (default: 3)")
    rounds = parser.parse_args(arguments).repeat
    rng = np.random.default_rng(0)
    rows = []
    for n_rows, n_features, n_labels, n_levels in SHAPES:
        codes = rng.integers(0, n_levels, size=(n_rows, n_features)).astype(np.uint8)
        labels = (rng.random((n_rows, n_labels)) < 0.2).astype(np.uint8)
        frames = tables(codes, n_levels)
        for criterion in CRITERIA:
            clean = Sieve(criterion, discretizer=None, n_features_to_select=10, n_jobs=1)
            seconds = timed(lambda clean=clean, codes=codes, labels=labels: clean.fit(codes, labels), rounds)[0]
            cells = [str(n_rows), str(n_features), str(n_labels), str(n_levels), number(seconds)]
            for frame in frames.values():
                nominal = Sieve(criterion, n_features_to_select=10, n_jobs=1)
                taken = timed(lambda nominal=nominal, frame=frame, labels=labels: nominal.fit(frame, labels), rounds)[0]
                cells.append(number(taken / seconds))
            rows.append((criterion, cells))
    print_table("seconds, and ratios to codes", ["N", "d", "q", "levels", "codes", *(f"{kind}/codes" for kind in frames)], rows)


if __name__ == "__main__":
    main()
