"""The columns of a data frame of Spark, for a :class:`~labelsieve.datasets.ChunkedTable`."""

import weakref
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, Self

import numpy as np

from labelsieve.counting.backends.spark import spark_errors
from labelsieve.datasets.column_sources import CELL_BYTES, Rows, TableColumns, needs
from labelsieve.errors import InputError
from labelsieve.fingerprint import array_print

ROW_HASH, WEIGHT = "row", "weight"
RESULT_BYTES = 2**28  # of columns that are read from Spark together
SPARK_TYPES = (
    "boolean",
    "byte",
    "short",
    "integer",
    "long",
    "float",
    "double",
    "string",
    "char",
    "varchar",
    "date",
    "timestamp",
)


class SparkColumns(TableColumns):
    """Source of columns of a data frame of Spark, which caches it.

    Every reading also takes a hash of each row, so that rows which Spark computed again in another order are noticed.
    """

    def __init__(self, frame: Any, features: Sequence[str], labels: Sequence[str], weight: str | None) -> None:
        functions = import_module("pyspark.sql.functions")
        stored = {f"x{j}": name for j, name in enumerate(features)} | {f"y{j}": name for j, name in enumerate(labels)}
        if weight is not None:
            stored[WEIGHT] = weight
        cells = [_spark_column(frame, name).alias(alias) for alias, name in stored.items()]
        with spark_errors("read the frame"):
            rows = frame.select(*cells)
            self._frame = rows.select(*stored, functions.xxhash64(*stored).alias(ROW_HASH)).persist()
            weakref.finalize(self, _release, self._frame).atexit = False
            n_rows = int(self._frame.count())
        super().__init__([*stored][: len(features)], [f"y{j}" for j in range(len(labels))], n_rows, (features, labels))
        self._order: str | None = None
        self._kept = needs("pyarrow").table({})  # labels that were read together
        if weight is not None:
            self.weights = self._collect([WEIGHT]).column(0).to_numpy().astype(np.float64)

    @classmethod
    def of(cls, frame: Any, labels: Any, weight: Any = None) -> Self:
        """Make a source of a frame whose columns ``labels`` are the targets; ``weight`` has the weights of the rows."""
        if not hasattr(frame, "mapInArrow") or not hasattr(frame, "toArrow"):
            raise InputError(
                f"X must be a data frame of PySpark 4 or newer, not {type(frame).__name__} of {type(frame).__module__}."
            )
        listed = [labels] if isinstance(labels, str) else labels
        if not isinstance(listed, list | tuple | np.ndarray) or not all(isinstance(name, str) for name in listed):
            raise InputError(
                "Rows of two frames of Spark have no common order, so one frame must have features and targets: pass the names "
                "of its columns that are targets, fit(frame, ['calm', 'loud'])."
            )
        if weight is not None and not isinstance(weight, str):
            raise InputError(
                "Rows of Spark have no order; make the weights a column of X, and pass its name: sample_weight='weight'."
            )
        columns, listed = list(frame.columns), [str(name) for name in listed]
        used = [*listed, *([] if weight is None else [weight])]
        for name in columns:
            if columns.count(name) > 1:
                raise InputError(f"X has several columns named {name!r}; give every column a name of its own.")
        for name in used:
            if name not in columns:
                raise InputError(f"X has no column named {name!r}; it has {', '.join(map(repr, columns[:20]))}.")
            if used.count(name) > 1:
                raise InputError(f"{name!r} is named twice among the targets and weights.")
        return cls(frame, [name for name in columns if name not in used], listed, weight)

    @property
    def backend(self) -> str:
        """That of Spark."""
        return "spark"

    def groups(self, columns: Sequence[int], limit: int) -> list[list[int]]:
        """Split as others, but Spark's default limit of 1 GB for a result must not be reached either."""
        return super().groups(columns, min(limit, CELL_BYTES // 8 * RESULT_BYTES))

    def _read(self, names: list[str], rows: Rows) -> Any:
        if names[0] in self._labels and names[0] not in self._kept.column_names:
            # A job for each label would take longer than reading: those that fit are read together.
            step, first = max(1, RESULT_BYTES // (8 * self.n_rows)), int(names[0][1:])
            self._kept = self._collect(list(self._labels[first : first + step]))
        table = self._kept.select(names) if names[0] in self._labels else self._collect(names)
        return table if rows is None else table.filter(needs("pyarrow").array(rows))

    def _collect(self, names: list[str]) -> Any:
        with spark_errors("read columns of the frame"):
            table = self._frame.select(*names, ROW_HASH).toArrow()
        order = array_print(table.column(ROW_HASH).to_numpy())
        if self._order not in (None, order):
            raise InputError(
                "The rows of the frame changed, or came in another order, when Spark computed them again; write it to a table "
                "or call checkpoint() on it first."
            )
        self._order = order
        return table.select(names)


def _spark_column(frame: Any, name: str) -> Any:
    """Return a column of a frame of Spark; decimal numbers become floating point, and nested columns are refused."""
    kind = frame.schema[name].dataType.typeName()
    column = frame["`" + name.replace("`", "``") + "`"]
    if kind == "decimal":
        return column.cast("double")
    if kind.removesuffix("_ntz") not in SPARK_TYPES:
        raise InputError(
            f"Column {name!r} of X is of type {frame.schema[name].dataType.simpleString()}, which is neither numbers nor text; "
            "leave it out, or make a column of each of its elements (vectors: pyspark.ml.functions.vector_to_array)."
        )
    return column


def _release(frame: Any) -> None:
    with suppress(Exception):  # whatever a session that has ended raises
        frame.unpersist()
