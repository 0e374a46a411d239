"""Sparse codes in files, column after column, for tables that do not fit into memory."""

from pathlib import Path

import numpy as np

from labelsieve.counting.codes import Codes, SparseCodes
from labelsieve.counting.column_log import ColumnLog, mapped
from labelsieve.counting.mapped_codes import MappedCodes


class SparseCodesFile:
    """Writes the columns of a sparse table of codes to files, in their order.

    Parameters
    ----------
    n_rows : int
    names : sequence of str
        Of all columns.
    folder, key
        As for :class:`~labelsieve.counting.column_log.ColumnLog`.
    """

    def __init__(self, n_rows: int, names: tuple[str, ...], *, folder: Path | None = None, key: str = "") -> None:
        self._n_rows, self._names, self._folder = n_rows, names, folder
        facts, files = ("sizes", "levels", "implicit", "missing"), ("rows.bin", "codes.bin")
        self._log = ColumnLog(len(names), facts, files, folder=folder, key=f"sparse {n_rows} {key}")

    @property
    def unfinished(self) -> list[int]:
        """Columns that are still to be written."""
        return self._log.unfinished

    def write(self, columns: list[int], codes: Codes) -> None:
        """Add the next columns; they are finished when this returns."""
        assert columns == self.unfinished[: len(columns)]
        sparse = codes.sparse if codes.sparse is not None else _listed(codes)
        facts = {
            "sizes": np.diff(sparse.starts),
            "levels": codes.levels,
            "implicit": sparse.implicit,
            "missing": np.zeros(len(columns), dtype=int) if codes.missing is None else codes.missing.astype(int),
        }
        start = int(self._log.facts["sizes"].sum())
        rows = 0, 4 * start, np.ascontiguousarray(sparse.rows, np.uint32)
        listed = 1, 2 * start, np.ascontiguousarray(sparse.codes, np.uint16)
        self._log.write((rows, listed), columns, facts)

    def codes(self, memory_limit: int | None, *, on_cluster: bool = False) -> MappedCodes:
        """All columns."""
        assert not self.unfinished
        facts = self._log.facts
        starts = np.concatenate([[0], np.cumsum(facts["sizes"])])
        types = np.uint32, np.uint16
        rows, codes = (mapped(file, dtype, int(starts[-1])) for file, dtype in zip(self._log.files, types, strict=True))
        return MappedCodes(
            self._n_rows,
            facts["levels"].astype(np.uint32),
            self._names,
            sparse=SparseCodes(starts, rows, codes, facts["implicit"].astype(np.uint16)),
            missing=facts["missing"].astype(bool) if facts["missing"].any() else None,
            memory_limit=memory_limit,
            folder=self._folder,
            on_cluster=on_cluster,
        )


def _listed(codes: Codes) -> SparseCodes:
    """The codes other than 0 of dense columns."""
    columns = [codes.column(j) for j in range(codes.n_columns)]
    rows = [np.flatnonzero(column) for column in columns]
    starts = np.concatenate([[0], np.cumsum([len(of_column) for of_column in rows])]).astype(np.int64)
    listed = np.concatenate([column[of_column] for column, of_column in zip(columns, rows, strict=True)])
    return SparseCodes(starts, np.concatenate(rows).astype(np.uint32), listed, np.zeros(len(columns), dtype=np.uint16))
