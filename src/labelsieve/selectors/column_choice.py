"""Columns that a selector always or never selects, by number or by name."""

import numpy as np

from labelsieve.errors import InputError, did_you_mean, is_whole
from labelsieve.table_types import ColumnsLike


class ColumnChoice:
    """The parameters ``forced`` and ``excluded``, as column numbers."""

    forced: ColumnsLike
    excluded: ColumnsLike
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
        forced, excluded = self._columns(self.forced, "forced"), self._columns(self.excluded, "excluded")
        both = sorted(set(forced) & set(excluded))
        if both:
            raise InputError(f"Column {both[0]} is both forced and excluded.")
        if len(excluded) == self.n_features_in_:
            raise InputError("Every column is excluded; leave at least one to select.")
        return forced, excluded
