"""Sparse codes in files, column after column, for tables that do not fit into memory."""

import os
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.counting.codes import Codes, SparseCodes
from labelsieve.counting.mapped_codes import MappedCodes, OpenFile


class SparseCodesFile:
    """Writes the columns of a sparse table of codes to files without names, of which nothing stays.

    Parameters
    ----------
    n_rows : int
    names : sequence of str
        Of all columns.
    """

    def __init__(self, n_rows: int, names: tuple[str, ...]) -> None:
        self._n_rows, self._names = n_rows, names
        self._rows, self._codes = (OpenFile(tempfile.TemporaryFile()) for _ in range(2))  # noqa: SIM115  closed by OpenFile
        self._sizes: list[int] = []
        self._levels: list[int] = []
        self._implicit: list[int] = []
        self._missing: list[bool] = []

    @property
    def unfinished(self) -> list[int]:
        """Columns that are still to be written."""
        return list(range(len(self._levels), len(self._names)))

    def write(self, columns: list[int], codes: Codes) -> None:
        """Add the next columns."""
        assert columns == self.unfinished[: len(columns)]
        sparse = codes.sparse if codes.sparse is not None else _listed(codes)
        self._rows.raw.write(np.ascontiguousarray(sparse.rows, dtype=np.uint32).data)
        self._codes.raw.write(np.ascontiguousarray(sparse.codes, dtype=np.uint16).data)
        self._sizes += np.diff(sparse.starts).tolist()
        self._levels += codes.levels.tolist()
        self._implicit += sparse.implicit.tolist()
        self._missing += [False] * len(columns) if codes.missing is None else codes.missing.tolist()

    def codes(self, memory_limit: int | None, *, on_cluster: bool = False) -> MappedCodes:
        """All columns."""
        assert not self.unfinished
        starts = np.concatenate([[0], np.cumsum(self._sizes)]).astype(np.int64)
        rows, codes = (_mapped(file, dtype) for file, dtype in ((self._rows, np.uint32), (self._codes, np.uint16)))
        return MappedCodes(
            self._n_rows,
            np.array(self._levels, dtype=np.uint32),
            self._names,
            sparse=SparseCodes(starts, rows, codes, np.array(self._implicit, dtype=np.uint16)),
            missing=np.array(self._missing) if any(self._missing) else None,
            memory_limit=memory_limit,
            on_cluster=on_cluster,
        )


def _mapped(file: OpenFile, dtype: Any) -> NDArray[Any]:
    file.raw.flush()
    return np.memmap(file.raw, dtype=dtype, mode="r") if os.fstat(file.raw.fileno()).st_size else np.empty(0, dtype=dtype)


def _listed(codes: Codes) -> SparseCodes:
    """The codes other than 0 of dense columns."""
    columns = [codes.column(j) for j in range(codes.n_columns)]
    rows = [np.flatnonzero(column) for column in columns]
    starts = np.concatenate([[0], np.cumsum([len(of_column) for of_column in rows])]).astype(np.int64)
    listed = np.concatenate([column[of_column] for column, of_column in zip(columns, rows, strict=True)])
    return SparseCodes(starts, np.concatenate(rows).astype(np.uint32), listed, np.zeros(len(columns), dtype=np.uint16))
