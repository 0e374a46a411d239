"""What selectors get besides a table of codes: columns by number or name, and tables of numbers."""

from contextlib import suppress
from typing import Any

import numpy as np

from labelsieve.datasets.chunked_table import ChunkedTable
from labelsieve.errors import InputError, did_you_mean, is_whole, require_same_rows
from labelsieve.labelspace import target_names
from labelsieve.selectors.pair_counts import PairCounts
from labelsieve.tables.cut_points import require_finite
from labelsieve.tables.features import check_numbers, required
from labelsieve.tables.frames import read_table, unmask
from labelsieve.tables.label_sets import read_label_sets
from labelsieve.tables.targets import constant_numbers, warn_of_constant_targets
from labelsieve.tables.types import ColumnsLike, Matrix, TableLike, TargetsLike, is_sparse

TableOrCounts = TableLike | ChunkedTable | PairCounts


class ColumnChoice:
    """The parameters ``forced`` and ``excluded``, as column numbers."""

    n_features_in_: int

    def _columns(self, columns: ColumnsLike, what: str) -> list[int]:
        """Column numbers from numbers or names, without repetition."""
        names = getattr(self, "feature_names_in_", None)
        indices: list[int] = []
        for column in columns:
            if isinstance(column, str):
                if names is None or column not in names:
                    suggestion = "" if names is None else did_you_mean(column, map(str, names))
                    raise InputError(f"{what}: there is no feature named {column!r}.{suggestion}")
                indices.append(int(np.flatnonzero(names == column)[0]))
            elif is_whole(column) and 0 <= int(column) < self.n_features_in_:
                indices.append(int(column))
            else:
                raise InputError(f"{what}: {column!r} is not a column from 0 to {self.n_features_in_ - 1} or a name.")
        return list(dict.fromkeys(indices))

    def _checked_columns(self) -> tuple[list[int], list[int]]:
        forced, excluded = (self._columns(getattr(self, name), name) for name in ("forced", "excluded"))
        both = sorted(set(forced) & set(excluded))
        if both:
            raise InputError(f"Column {both[0]} is both forced and excluded.")
        if len(excluded) == self.n_features_in_:
            raise InputError("Every column is excluded; leave at least one to select.")
        return forced, excluded


def read_numbers(selector: Any, X: TableLike, Y: TargetsLike | None) -> tuple[Matrix, Matrix]:
    """``X`` and ``Y`` as finite numbers, dense or sparse rows, for methods that calculate with them.

    ``Y`` has two dimensions. Both are arrays of float64, or CSR.
    """
    Y, numbers = required(selector, Y), check_numbers(selector, X)
    named: TargetsLike = unmask(named_labels(selector, Y))
    if isinstance(named, np.ndarray) and named.dtype.kind == "O":
        with suppress(TypeError, ValueError):  # numbers that came as objects; anything else is refused below
            named = named.astype(np.float64)
    try:
        table = read_table(named, what="Y")
        require_finite(table, allow_missing=False, what="Y")
    except InputError as error:
        raise InputError(f"{type(selector).__name__} calculates with the targets. {error}") from None
    require_same_rows(numbers.shape[0], table.shape[0])
    targets = table.sparse.tocsr() if table.dense is None else table.dense
    if targets.shape[0] > 1:
        warn_of_constant_targets(constant_numbers(targets), getattr(selector, "label_names_", None))
    return numbers.tocsr() if is_sparse(numbers) else numbers, targets.astype(np.float64, copy=False)


def named_labels(selector: Any, Y: TargetsLike | None, X: TableOrCounts | None = None) -> Any:
    """``Y`` with label sets as labels of 0 and 1; the names of the targets, where ``Y`` has them, become ``label_names_``."""
    selector.__dict__.pop("label_names_", None)
    sets = None
    if isinstance(X, ChunkedTable | PairCounts):
        names = X.label_names if isinstance(X, ChunkedTable) else X.label_names_
    else:
        sets = read_label_sets(Y)
        names = target_names(Y) if sets is None else sets.names
    if names is not None:
        selector.label_names_ = np.array(names, dtype=object)
    return Y if sets is None else sets.matrix
