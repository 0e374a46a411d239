"""Naive pairwise deletion: every information term from the rows in which all of its columns are known.

``with pairwise_deletion():`` makes the references of the criteria (:mod:`tests.support.reference_criteria`) read ``None`` in a
column as unknown. A term is one of ``H``, ``mi``, ``cmi``, ``joint_mi`` and ``co``: I(f; s) has the rows in which f and s are
known, I(f; y | s) those in which f, y and s are.
"""

from contextlib import ExitStack, contextmanager
from unittest import mock

import numpy as np

from tests.support import reference_criteria

TERMS = ("H", "mi", "cmi", "joint_mi", "co")


def with_unknown(table, unknown):
    """Columns as tuples, ``None`` where ``unknown`` is true."""
    return [
        tuple(None if hidden else value for value, hidden in zip(column.tolist(), mask, strict=True))
        for column, mask in zip(np.asarray(table).T, np.asarray(unknown).T, strict=True)
    ]


def of_known_rows(term):
    """The same term from the rows in which no column is ``None``; 0 without any."""

    def estimate(*columns):
        rows = [row for row, cells in enumerate(zip(*columns, strict=True)) if None not in cells]
        if not rows:
            return 0.0
        settings = dict(reference_criteria._settings)
        if settings["weights"] is not None:
            settings["weights"] = [settings["weights"][row] for row in rows]
        with reference_criteria.estimating(**settings):
            return term(*(tuple(column[row] for row in rows) for column in columns))

    return estimate


@contextmanager
def pairwise_deletion():
    """Inside, the references of the criteria leave out unknown cells term by term."""
    with ExitStack() as stack:
        for name in TERMS:
            term = getattr(reference_criteria, name)
            stack.enter_context(mock.patch.object(reference_criteria, name, of_known_rows(term)))
        yield
