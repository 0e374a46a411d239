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
    """The same columns as categories, text and objects of pandas, as an enumeration of polars, and of Arrow."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    words = np.array([f"level {level:02}" for level in range(n_levels)])
    objects = words.astype(object)
    columns = {f"c{j}": codes[:, j] for j in range(codes.shape[1])}
    return {
        "categories": pd.DataFrame({name: pd.Categorical.from_codes(column, words) for name, column in columns.items()}),
        "enumeration": pl.DataFrame({name: pl.Series(words[column], dtype=pl.Enum(words)) for name, column in columns.items()}),
        "text": pd.DataFrame({name: words[column] for name, column in columns.items()}),
        "objects": pd.DataFrame({name: pd.Series(objects[column], dtype=object) for name, column in columns.items()}),
        "arrow": pa.table({name: pa.array(objects[column]) for name, column in columns.items()}),
        "dictionary": pa.table({name: pa.array(objects[column]).dictionary_encode() for name, column in columns.items()}),
    }


def encode_text(table):
    """Number the words with pyarrow, without counting anything."""
    return [column.dictionary_encode() for column in table.columns]


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
            cells.append(number(timed(lambda table=frames["arrow"]: encode_text(table), rounds)[0] / seconds))
            rows.append((criterion, cells))
    columns = ["N", "d", "q", "levels", "codes", *frames, "dictionary_encode"]
    print_table("seconds, and ratios to them", columns, rows)


if __name__ == "__main__":
    main()
