"""What ``Sieve.explain`` predicts, compared with fits: seconds and bytes of tables of several shapes.

``python -m benchmarks.costs`` prints predicted and measured CPU time and memory with their ratios, which should be between one
half and two. Rows of ``numbers`` are numeric and binned; the others are codes. Memory is the growth of a fresh process.
"""

import argparse
import re

import numpy as np

from benchmarks.clock import timed
from benchmarks.memory import extra_memory, in_fresh_process
from benchmarks.table import megabytes, number, print_table

# rows, features, labels, levels, share of the rows that have a label, steps
SHAPES = (
    (5_000, 500, 20, 2, 0.1, 20),
    (2_000, 100, 14, 5, 0.3, 20),
    (20_000, 200, 50, 5, 0.1, 10),
    (1_500, 2_000, 40, 2, 0.05, 10),
    (100_000, 60, 4, 5, 0.3, 10),
)
CRITERIA = ("mim", "mrmr", "jmi", "cmim")
DISCRETIZERS = ("equal-width", "equal-frequency", "k-means", "mdl")
NUMBERS = (30_000, 40, 5, 5, 0.2, 10)
MEMORY_OF = ((200_000, 200, 20, 5, 0.1, 5), (2_000, 5_000, 200, 2, 0.1, 5))


def sieve_for(criterion, discretizer, picks):
    from labelsieve import Sieve

    return Sieve(criterion, discretizer=discretizer, n_features_to_select=picks, n_jobs=1)


def table(shape, *, numeric=False):
    rows, features, labels, levels, share, _ = shape
    rng = np.random.default_rng(1)
    X = rng.normal(size=(rows, features)) if numeric else rng.integers(0, levels, (rows, features)).astype(np.uint8)
    return X, (rng.random((rows, labels)) < share).astype(np.uint8)


def predicted(sieve, shape):
    """Seconds and bytes, read from the text that users read."""
    rows, features, labels, levels, share, _ = shape
    text = sieve.explain(rows, features, labels, levels, label_share=share)
    seconds = float(re.search(r"about (\S+) s on one thread", text).group(1))
    return seconds, 1e6 * float(re.search(r"peak: +about (\S+) MB", text).group(1))


def memory_of(criterion, shape):
    """Bytes by which the process grows in a fit."""
    X, Y = table(shape)
    sieve_for(criterion, None, 2).fit(X[:100, :10], Y[:100])  # imports and pools
    sieve = sieve_for(criterion, None, shape[-1])
    return extra_memory(lambda: sieve.fit(X, Y))


def times(rounds):
    """Rows of the table, and the ratios."""
    cases = [(criterion, None, shape) for shape in SHAPES for criterion in CRITERIA]
    cases += [("jmi", discretizer, NUMBERS) for discretizer in DISCRETIZERS]
    for criterion, discretizer, shape in cases:
        X, Y = table(shape, numeric=discretizer is not None)
        sieve = sieve_for(criterion, discretizer, shape[-1])
        seconds, _ = timed(lambda sieve=sieve, X=X, Y=Y: sieve.fit(X, Y), rounds)
        guess, _ = predicted(sieve, shape)
        name = criterion if discretizer is None else f"{criterion}, {discretizer}"
        cells = [*map(str, shape), number(1e3 * guess), number(1e3 * seconds), number(guess / seconds)]
        yield (name, cells), guess / seconds


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.costs", description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3, help="rounds; the best run counts (default: 3)")
    options = parser.parse_args(arguments)
    rows, ratios = zip(*times(options.repeat), strict=True)
    shape = ["N", "d", "q", "levels", "share", "steps"]
    print_table("one thread", [*shape, "predicted ms", "CPU ms", "predicted/CPU"], rows)
    print(f"within a factor of two: {sum(0.5 <= ratio <= 2 for ratio in ratios)} of {len(ratios)}\n")
    lines = []
    for one in MEMORY_OF:
        for criterion in ("jmi", "cmim"):
            used, (_, guess) = in_fresh_process(memory_of, criterion, one), predicted(sieve_for(criterion, None, one[-1]), one)
            lines.append((criterion, [*map(str, one), megabytes(guess), megabytes(used), number(guess / used)]))
    print_table("memory", [*shape, "predicted MB", "MB", "predicted/measured"], lines)


if __name__ == "__main__":
    main()
