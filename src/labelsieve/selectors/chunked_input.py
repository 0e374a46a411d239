"""Reading a :class:`~labelsieve.datasets.ChunkedTable`: targets into memory, features into a file of codes."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from labelsieve.counting.backends.chunked.codes_file import CodesFile, MappedCodes, SparseCodesFile, one_writer
from labelsieve.datasets.chunked_table import ChunkedTable
from labelsieve.datasets.column_sources import is_dask
from labelsieve.discretize import Discretizer
from labelsieve.errors import InputError
from labelsieve.fingerprint import text_print
from labelsieve.labelspace import read_targets
from labelsieve.progress import progress_bar
from labelsieve.selectors.column_frames import set_feature_names
from labelsieve.tables.codes import Codes
from labelsieve.tables.features import from_device
from labelsieve.tables.targets import TargetTable, TargetTypes, requested_types
from labelsieve.tables.types import TargetsLike, WeightsLike

if TYPE_CHECKING:
    from labelsieve.selectors.base import BaseSieve


def from_elsewhere(X: Any, y: TargetsLike | None) -> tuple[Any, Any]:
    """Collections of Dask as a table that is read by columns, arrays of a GPU in memory; anything else as it is."""
    return (ChunkedTable.from_dask(X, y), None) if is_dask(X) else (from_device(X), from_device(y))


def check_chunked(selector: "BaseSieve", X: ChunkedTable, y: TargetsLike | None) -> ChunkedTable:
    """The table, with the attributes that scikit-learn's checks set."""
    if not getattr(selector, "_takes_chunks", False):
        raise InputError(f"{type(selector).__name__} needs the table in memory; Sieve takes a ChunkedTable.")
    if y is not None:
        raise InputError("A ChunkedTable has the labels itself; leave out y.")
    set_feature_names(selector, X.shape[1], X.feature_names)
    return X


def read_chunked_targets(table: ChunkedTable, target_type: TargetTypes) -> TargetTable:
    """All targets, read one after the other: one or two bytes for each class, eight for each number."""
    sparse = table.sparse_labels()
    if sparse is not None:
        return read_targets(sparse, target_type)
    wanted = requested_types(target_type, table.n_labels, table.label_names)
    read = [read_targets(table.label(column), str(kind)) for column, kind in enumerate(wanted)]
    names = table.label_names
    if len(read) == 1:
        return read[0]
    classes = [targets.classes for targets in read]
    levels = np.concatenate([codes.levels for codes in classes])
    missing = np.concatenate([[codes.has_missing] for codes in classes])
    dense = np.empty((classes[0].n_rows, len(levels)), dtype=np.uint8 if levels.max() <= 256 else np.uint16, order="F")
    for position, codes in enumerate(classes):
        dense[:, position] = codes.column(0)
    codes = Codes(len(dense), levels, names, dense=dense, missing=missing if missing.any() else None)
    is_numeric = np.concatenate([targets.is_numeric for targets in read])
    return TargetTable(codes, is_numeric, np.hstack([targets.numbers for targets in read]))


def encode_chunked(discretizer: Discretizer, table: ChunkedTable, targets: Codes, weights: WeightsLike) -> MappedCodes:
    """Codes of all features, in a file: the columns of a table are binned independently of each other.

    Cost: every column is read once, and not at all if it is in ``cache_folder``.
    """
    key = _key(discretizer, table, targets, weights)
    names = table.feature_names or tuple(str(j) for j in range(table.shape[1]))
    folder = None if table.cache_folder is None else Path(table.cache_folder, key)
    with one_writer(folder):
        file = (SparseCodesFile if table.is_sparse else CodesFile)(table.n_rows, names, folder=folder, key=key)
        _write_columns(file, discretizer, table, targets, weights)
        return file.codes(table.memory_limit, on_cluster=table.on_cluster)


def _write_columns(
    file: CodesFile | SparseCodesFile, discretizer: Discretizer, table: ChunkedTable, targets: Codes, weights: WeightsLike
) -> None:
    waiting, done = file.unfinished, 0
    with progress_bar("encoding features") as progress:
        for columns in table.groups(waiting):
            some = discretizer.for_columns(columns, table.feature_names)
            codes = some.encode(table.features(columns), targets, weights)
            if isinstance(codes, list):
                raise InputError(
                    "Cut points for each target need the table in memory; use MDL(targets='joint') or MDL(targets='copy')."
                )
            file.write(columns, codes)
            done += len(columns)
            progress(done, len(waiting))


def _key(discretizer: Discretizer, table: ChunkedTable, targets: Codes, weights: WeightsLike) -> str:
    """What the codes depend on; the targets too, if the discretizer is supervised."""
    if table.cache_folder is None:
        return ""
    of_targets = joblib.hash((targets.levels, targets.dense, targets.sparse)) if discretizer.uses_targets else ""
    settings = type(discretizer).__name__, joblib.hash(discretizer.get_params()), joblib.hash(weights)
    return text_print(table.key, *settings, of_targets)
