"""ByColumn: different discretizers for different columns."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from labelsieve.discretize.base import Discretizer, Missing
from labelsieve.discretize.kept_values import Levels
from labelsieve.errors import told_before
from labelsieve.parameters import REQUIRED, parameter
from labelsieve.tables.codes import Codes
from labelsieve.tables.frames import NumberTable, read_table
from labelsieve.tables.problem import column_numbers
from labelsieve.tables.types import ColumnsLike, TableLike, TargetsLike, WeightsLike

KINDS = ("int", "float", "str")


@dataclass(eq=False, repr=False)
class ByColumn(Discretizer):
    """Discretize columns by different rules.

    A selector takes a dictionary with names of discretizers for it: ``Sieve(discretizer={"age": "mdl", "int": None})``.

    Parameters
    ----------
    columns : mapping of str, int or tuple to Discretizer
        For a name or position of a column, or a tuple of them, its discretizer. ``"int"`` stands for all numeric columns of
        whole numbers, ``"float"`` for other numeric columns, and ``"str"`` for nominal ones, unless a column has that name.
        Names and positions override these kinds.
    rest : Discretizer
        For all other columns.
    missing : {"level", "error", "drop-pairwise"} or None, default=None
        See :class:`EqualWidth`; None: that of every discretizer.
    nominal : "all" or sequence of int or str, default=None
        See :class:`EqualWidth`.

    Notes
    -----
    Nominal columns keep their levels with every discretizer. Cost: that of the discretizers; sparse input is encoded densely.

    Examples
    --------
    >>> from labelsieve.discretize import EqualWidth
    >>> rule = ByColumn({0: Levels()}, EqualWidth(2))
    >>> rule.encode([[7.0, 0.1], [1.0, 0.9], [4.0, 0.2]]).to_dense()
    array([[2, 0],
           [0, 1],
           [1, 0]], dtype=uint8)
    """

    columns: Mapping[Any, Discretizer] = parameter(REQUIRED, dict)
    rest: Discretizer = parameter(REQUIRED, Discretizer)
    _: KW_ONLY
    missing: Missing | None = None
    nominal: ColumnsLike | None = parameter(None, "array-like", str)

    @property
    def uses_targets(self) -> bool:
        return any(rule.uses_targets for rule in (self.rest, *self.columns.values()))

    def encode(
        self, X: TableLike | NumberTable, y: TargetsLike | Codes | None = None, sample_weight: WeightsLike = None
    ) -> Codes | list[Codes]:
        """Encode ``X``; returns codes, or a list of codes, one for each target, if a discretizer has cut points for each."""
        self._validate_params()
        with told_before():  # the discretizers of the columns give the same
            table = read_table(X, allow_missing=True)
        parts: dict[int, list[int]] = {}
        rules = self._rules(table)
        for column, rule in enumerate(rules):
            parts.setdefault(id(rule), []).append(column)
        encoded = []
        for some in parts.values():
            rule = rules[some[0]].for_columns(some, table.names)
            rule = rule if self.missing is None else clone(rule).set_params(missing=self.missing)
            encoded.append((some, rule.encode(table.take_columns(some), y, sample_weight)))
        n_tables = max(len(codes) if isinstance(codes, list) else 1 for _, codes in encoded)
        tables = [
            _merged([(some, codes[at] if isinstance(codes, list) else codes) for some, codes in encoded], table)
            for at in range(n_tables)
        ]
        return tables[0] if n_tables == 1 else tables

    def _rules(self, table: NumberTable) -> list[Discretizer]:
        """Return the discretizer of every column."""
        rules = [self.rest] * table.shape[1]
        kinds = {key: rule for key, rule in self.columns.items() if _is_kind(key, table.names)}
        if kinds:
            found = _kinds(table)
            rules = [kinds.get(kind, rule) for kind, rule in zip(found, rules, strict=True)]
        if self.nominal is not None:
            levels = Levels()
            n_columns = table.shape[1]
            every = isinstance(self.nominal, str)
            for column in range(n_columns) if every else column_numbers(self.nominal, table.names, n_columns, "nominal"):
                rules[column] = levels
        for key, rule in self.columns.items():
            if key not in kinds:
                for column in _positions(key, table.names, table.shape[1]):
                    rules[column] = rule
        return rules

    def for_columns(self, columns: Sequence[int], names: Sequence[str] | None) -> "ByColumn":
        """Return the discretizer of a table that has only these columns, in this order; ``names`` are those of all columns."""
        rules: dict[Any, Discretizer] = {key: rule for key, rule in self.columns.items() if _is_kind(key, names)}
        for key in self.columns.keys() - rules.keys():
            for column in _positions(key, names):
                if column in columns:
                    rules[list(columns).index(column)] = self.columns[key].for_columns(columns, names)
        settings: dict[str, Any] = {"missing": self.missing, "nominal": self.nominal}
        if self.nominal is not None and not isinstance(self.nominal, str):
            named = column_numbers(self.nominal, names, None, "nominal")
            settings["nominal"] = [at for at, column in enumerate(columns) if column in named]
        return ByColumn(rules, self.rest.for_columns(columns, names), **settings)


def _is_kind(key: object, names: Sequence[str] | None) -> bool:
    return key in KINDS and (names is None or key not in names)


def _positions(key: object, names: Sequence[str] | None, n_columns: int | None = None) -> list[int]:
    """Return the positions of a name, a position or a tuple of them; a position may be text, as in a file."""
    if isinstance(key, str) and key.isdigit() and key not in (() if names is None else names):
        key = int(key)
    return column_numbers(key if isinstance(key, tuple) else (key,), names, n_columns, "discretizer")


def _kinds(table: NumberTable) -> list[str]:
    kinds = []
    for column in range(table.shape[1]):
        values = table.column(column)
        values = values[np.isfinite(values)]
        whole = "int" if np.array_equal(values, np.floor(values)) else "float"
        kinds.append("str" if column in table.nominal else whole)
    return kinds


def _merged(parts: list[tuple[list[int], Codes]], table: NumberTable) -> Codes:
    """Put the codes of groups of columns into one table."""
    n_rows, n_columns = table.shape
    levels = np.empty(n_columns, dtype=np.uint32)
    missing = np.zeros(n_columns, dtype=bool)
    for columns, codes in parts:
        levels[columns] = codes.levels
        missing[columns] = False if codes.missing is None else codes.missing
    dense = np.empty((n_rows, n_columns), dtype=np.uint8 if levels.max() <= 256 else np.uint16, order="F")
    for columns, codes in parts:
        dense[:, columns] = codes.to_dense()
    return Codes(n_rows, levels, table.names, dense=dense, missing=missing if missing.any() else None)
