"""Arguments that no caller of ours hands to the core, to be tried in a process that may crash.

``python -m tests.support.hostile_inputs NAME ...`` prints a line for each: ``refused`` and the exception, or ``accepted``.
"""

import sys

import numpy as np

from labelsieve.core import _native

LABEL = [[0], [1], [0], [1], [1]]
WAYS = ("auto", "positional", "tiled", "sparse", "histogram")


def u16(*values):
    return np.array(values, dtype=np.uint16)


def u32(*values):
    return np.array(values, dtype=np.uint32)


def i64(*values):
    return np.array(values, dtype=np.int64)


def dense(values, *levels, dtype=np.uint8):
    return _native.dense_table(np.array(values, dtype=dtype), u32(*levels))


def sparse(starts, rows, codes, implicit, levels):
    return _native.sparse_table(i64(*starts), u32(*rows), u16(*codes), u16(*implicit), 5, u32(*levels))


def session(x=None, y=None, *, n_values=6, strategy="auto", n_threads=1):
    """A session of five rows, on ``x`` and ``y`` where given."""
    good = dense(LABEL, 2)
    values = np.arange(n_values, dtype=np.int64)
    return _native.Session(good if x is None else x, good if y is None else y, values, None, n_threads, strategy)


def of_entries(*rows, n_values=None):
    """A session of five targets whose entries name these rows."""
    good = dense(LABEL, 2)
    values = np.arange(len(rows) + 1 if n_values is None else n_values, dtype=np.int64)
    return _native.Session(good, good, values, None, 1, "auto", u32(*rows))


def weighted(n_weights=5, n_logarithms=4097, scale=1.0):
    good = dense(LABEL, 2)
    weights = _native.Weights(np.ones(n_weights, dtype=np.uint64), np.zeros(n_logarithms), scale, 0)
    return _native.Session(good, good, None, weights, 1, "auto")


def run(given, n_given, first=0, last=1, n_sums=1):
    session().run(u32(*given), n_given, first, last, False, i64(0), np.zeros(n_sums, dtype=np.int64))


def ask(session, n_features=1, n_targets=1, n_rows=5):
    """Every question that a session answers."""
    session.feature_sums(np.empty(n_features, dtype=np.int64))
    session.target_sums(np.empty(n_targets, dtype=np.int64))
    for n_given in (1, 2, 70):
        given = (np.arange(n_rows) % n_given).astype(np.uint32)
        sums = np.empty(n_features * n_targets, dtype=np.int64)
        session.run(given, n_given, 0, n_targets, False, np.empty(n_features, dtype=np.int64), sums)


def ask_in_every_way(x=None, y=None):
    """Raises when every way of counting refuses; returns when one of them takes it."""
    refusals = []
    for strategy in WAYS:
        try:
            ask(session(x, y, strategy=strategy))
        except ValueError as refusal:
            refusals.append(refusal)
    if len(refusals) == len(WAYS):
        raise refusals[0]


def cut(rule, n_bins, weights=None):
    return _native.cut_numbers(_native.dense_numbers(np.arange(5.0)[:, None]), rule, n_bins, 1.0, 0.0, False, weights, 1.0)


def mdl(classes, *, starts=None, n_values=6):
    numbers = _native.dense_numbers(np.arange(5.0)[:, None])
    values = np.arange(n_values, dtype=np.int64)
    classes = classes[:, None]
    return _native.mdl_numbers(numbers, starts, classes, u32(2), None, 1.0, values, np.zeros(4097), 1.0, False, False)


def apply(out, cuts=None, starts=None):
    cuts = np.array([1.5]) if cuts is None else cuts
    numbers = _native.dense_numbers(np.arange(5.0)[:, None])
    _native.apply_cuts(
        numbers, i64(0, len(cuts)) if starts is None else starts, cuts, False, out, u16(0), np.zeros(1, np.uint8)
    )


def same_row(n_times):
    """A sparse column that lists row 3 again and again."""
    rows, codes = np.full(n_times, 3, dtype=np.uint32), np.ones(n_times, dtype=np.uint16)
    return _native.sparse_table(i64(0, n_times), rows, codes, u16(0), 5, u32(2))


# The core must refuse these.
WRONG = {
    "feature code out of range": lambda: ask_in_every_way(x=dense([[0], [1], [200], [1], [0]], 2)),
    "16-bit feature code out of range": lambda: ask_in_every_way(x=dense([[0], [1], [256], [1], [0]], 2, dtype=np.uint16)),
    "code of a wide feature out of range": lambda: ask_in_every_way(
        x=dense([[0], [1], [60_000], [1], [0]], 40, dtype=np.uint16)
    ),
    "target code out of range": lambda: ask_in_every_way(y=dense([[0], [1], [200], [1], [0]], 2)),
    "sparse code out of range": lambda: sparse([0, 1], [2], [7], [0], [2]),
    "implicit code out of range": lambda: sparse([0, 1], [2], [1], [9], [2]),
    "no levels": lambda: dense(LABEL, 0),
    "65,536 levels": lambda: dense(LABEL, 65_536),
    "fewer levels than columns": lambda: dense([[0, 1], [1, 0]], 2),
    "codes of 32 bits": lambda: dense(LABEL, 2, dtype=np.uint32),
    "sparse row out of range": lambda: sparse([0, 1], [5], [1], [0], [2]),
    "starts beyond the entries": lambda: sparse([0, 9], [0], [1], [0], [2]),
    "starts before the entries": lambda: sparse([-3, 1], [0], [1], [0], [2]),
    "starts that fall": lambda: sparse([0, 2, 1, 2], [0, 1], [1, 1], [0, 0, 0], [2, 2, 2]),
    "starts that are huge": lambda: sparse([0, 2**62, 1], [0], [1], [0, 0], [2, 2]),
    "no starts": lambda: sparse([], [], [], [], []),
    "rows and codes of different length": lambda: sparse([0, 2], [0, 1], [1], [0], [2]),
    "feature that lists a row twice": lambda: ask_in_every_way(x=same_row(2)),
    "feature that lists a row ten million times": lambda: ask_in_every_way(x=same_row(10_000_000)),
    "target that lists a row twice": lambda: ask_in_every_way(y=same_row(2)),
    "target that lists a row ten million times": lambda: ask_in_every_way(y=same_row(10_000_000)),
    "values for fewer counts than rows": lambda: session(n_values=5),
    "neither values nor weights": lambda: _native.Session(dense(LABEL, 2), dense(LABEL, 2), None, None, 1, "auto"),
    "too few weights": lambda: weighted(n_weights=4),
    "an entry beyond the rows": lambda: of_entries(0, 1, 2, 3, 5),
    "an entry far beyond the rows": lambda: of_entries(0, 1, 2, 3, 2**32 - 1),
    "entries for other targets": lambda: of_entries(0, 1, 2, 3, 4, 4),
    "no entries": lambda: of_entries(),
    "too few values for entries": lambda: of_entries(0, 0, 1, 1, 2, n_values=5),
    "too few logarithms": lambda: weighted(n_logarithms=4096),
    "different rows": lambda: session(y=dense([[0], [1]], 2)),
    "unknown strategy": lambda: session(strategy="abacus"),
    "an array for a table": lambda: session(x=np.zeros((5, 1), dtype=np.uint8)),
    "a session that was never initialized": lambda: ask(_native.Session.__new__(_native.Session)),
    "given code out of range": lambda: run([0, 1, 2, 1, 0], 2),
    "given without levels": lambda: run([0, 0, 0, 0, 0], 0),
    "given with more levels than memory": lambda: run([0, 0, 0, 0, 0], 2**62),
    "given with too few rows": lambda: run([0, 1], 2),
    "targets out of range": lambda: run([0, 0, 0, 0, 0], 1, last=2, n_sums=2),
    "targets backwards": lambda: run([0, 0, 0, 0, 0], 1, first=1, last=0, n_sums=0),
    "an output array that is too short": lambda: run([0, 0, 0, 0, 0], 1, n_sums=0),
    "joint code out of range": lambda: _native.refine(u32(0, 5), 2, u16(0, 1), 2),
    "joined code out of range": lambda: _native.refine(u32(0, 1), 2, u16(0, 9), 2),
    "joined rows of different length": lambda: _native.refine(u32(0, 1), 2, u16(0), 2),
    "levels for fewer columns": lambda: _native.scan_codes(np.zeros((2, 3)), u32(0, 0)),
    "copy of another shape": lambda: _native.copy_codes(np.zeros((2, 3)), np.zeros((2, 2), np.uint8, "F")),
    "bins of no rows": lambda: _native.equal_width(np.zeros((0, 1)), 5, False, np.zeros((0, 1), np.uint16, "F"), u32(0)),
    "no bins": lambda: _native.equal_width(np.zeros((1, 1)), 0, False, np.zeros((1, 1), np.uint16, "F"), u32(0)),
    "numbers that list rows out of order": lambda: _native.sparse_numbers(i64(0, 2), u32(3, 1), np.zeros(2), 5),
    "numbers that list a row out of range": lambda: _native.sparse_numbers(i64(0, 1), u32(5), np.zeros(1), 5),
    "numbers of starts that fall": lambda: _native.sparse_numbers(i64(0, 2, 1), u32(0), np.zeros(1), 5),
    "numbers without rows": lambda: _native.dense_numbers(np.zeros((0, 2))),
    "cuts by an unknown rule": lambda: cut("golden-section", 5),
    "cuts into no bins": lambda: cut("k-means", 0),
    "cuts into four levels about the mean": lambda: cut("mean-std", 4),
    "cuts of too few weights": lambda: cut("k-means", 2, np.ones(4, dtype=np.uint64)),
    "cuts by a class out of range": lambda: mdl(u16(0, 1, 2, 0, 1)),
    "cuts by too few classes": lambda: mdl(u16(0, 1)),
    "cuts by classes of starts that fall": lambda: mdl(u16(0, 1, 0, 1, 0), starts=i64(0, 1, 2, 1, 4, 5)),
    "cuts by a table that is too short": lambda: mdl(u16(0, 1, 0, 1, 0), n_values=5),
    "cuts applied to too few codes": lambda: apply(np.zeros(4, dtype=np.uint8)),
    "cuts applied to codes that are too narrow": lambda: apply(np.zeros(5, dtype=np.uint8), np.arange(300.0)),
    "cuts of starts beyond them": lambda: apply(np.zeros(5, dtype=np.uint8), np.arange(2.0), i64(0, 9)),
    "bins of starts that fall": lambda: _native.equal_width_sparse(
        i64(0, 2, 1), np.zeros(2), 5, 5, False, u16(0, 0), u16(0, 0), u32(0, 0)
    ),
}

# The core may take these or refuse them, and lives on.
ODD = {
    "no rows": lambda: ask(session(dense(np.empty((0, 1)), 2), dense(np.empty((0, 1)), 2), n_values=1), n_rows=0),
    "no columns": lambda: ask(session(dense(np.empty((5, 0))), dense(np.empty((5, 0)))), 0, 0),
    "an output array of another type": lambda: session().feature_sums(np.empty(1)),
    "no threads": lambda: ask(session(n_threads=0)),
    "nothing to join": lambda: _native.refine(u32(), 0, u16(), 0),
    "a scale that is no number": lambda: ask(weighted(scale=float("nan"))),
    "an endless scale": lambda: ask(weighted(scale=float("inf"))),
}


def answer(name):
    try:
        (WRONG | ODD)[name]()
    except Exception as error:
        return " ".join(f"refused: {type(error).__name__}: {error}".split())
    return "accepted"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(answer(name), flush=True)  # noqa: T201
