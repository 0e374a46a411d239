"""The archive of replicated values: ``replications/results/NAME.parquet`` has every value of the study ``NAME``.

A row is the value of one measure in one cell (part of the study, data set, split, method, classifier) with one number of
features, together with the fingerprints of what it depends on, the commit that computed it, and its processor seconds.
Studies write their cells to folders (:mod:`replications.campaign`); :func:`collect` merges such folders into the archive.
Tables, figures and verdicts of the documentation are made from :func:`archived`, which returns what
:class:`labelsieve.studies.StudyResults` would.
"""

import json
import sqlite3
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_info

from labelsieve.errors import InputError
from labelsieve.fingerprint import code_print
from labelsieve.studies import Protocol, StudyResults
from labelsieve.studies.results import DatasetRecord, FailedCell, ResultRow
from labelsieve.studies.store import FILE, reading_study
from replications import REPLICATIONS
from replications.sampling import FEWEST, first_splits

RESULTS = Path(__file__).with_name("results")
# Linear models that stop at a tolerance predict a few labels differently with other kernels for matrices or other vector
# instructions of numpy. So all archived cells are computed with those that every x86 processor with AVX2 can run.
KERNELS = "Haswell"
SETTINGS = {
    "OPENBLAS_CORETYPE": KERNELS,
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "OMP_NUM_THREADS": "1",
}
DATASETS = b"datasets"  # key of the metadata: for every part and data set its shape, fingerprint and share of test rows
TEXTS = ("part", "dataset", "method", "classifier", "measure", "data", "rows", "settings", "code", "commit", "error")
NUMBERS = {"split": "int16", "k": "int32", "value": "float64", "seconds": "float32", "cpu": "float32"}
NUMBERS |= {"selection_seconds": "float32", "selection_cpu": "float32"}
KEY = ("part", "dataset", "split", "method", "classifier")
VALUE = ("k", "measure", "value", "seconds", "cpu", "selection_seconds", "selection_cpu")
COLUMNS = (*KEY, *VALUE, "data", "rows", "settings", "code", "commit", "error")
# Every cell with the selection that it used.
_JOINED = """
FROM cells LEFT JOIN selections ON selections.dataset = cells.dataset AND selections.split = cells.split
    AND selections.method = cells.method
"""
_COST = "cells.dataset, cells.split, cells.method, cells.classifier, cells.cpu, selections.cpu"
# All columns of the archive except part and commit; a cell that failed has no values.
_CELLS = f"""
SELECT cells.dataset, cells.split, cells.method, cells.classifier, k, measure, value, cells.seconds, cells.cpu,
    selections.seconds, selections.cpu, cells.data, cells.rows, cells.settings, cells.code, cells.error
{_JOINED} LEFT JOIN results ON cell = cells.id ORDER BY cells.id, k, measure
"""
Columns = dict[str, list[Any]]
Shapes = dict[str, dict[str, list[Any]]]


class Group(NamedTuple):
    """The cells that differ in the split only; their mean is a replicated value."""

    study: str
    part: str
    dataset: str
    method: str
    classifier: str


def matrix_kernels() -> set[str]:
    """Return the names of the kernels with which numpy and scipy multiply matrices on this machine."""
    return {str(library.get("architecture")) for library in threadpool_info() if library["user_api"] == "blas"}


@cache
def archived(name: str) -> dict[str, StudyResults]:
    """Return the results of a study by part; parts without finished cells are absent.

    Only complete groups of cells are included: a mean over some of the splits could not be compared with the printed one. A
    study that marks samples also gets the first splits of groups that have two or more of them.
    """
    columns, shapes = read(name)
    if not columns:
        return {}
    protocols = REPLICATIONS[name].protocols(full=True, sets=None, data_home=None)
    splits: dict[tuple[str, str, str, str], set[int]] = defaultdict(set)
    for part, dataset, split, method, classifier in zip(*(columns[key] for key in KEY), strict=True):
        splits[part, dataset, method, classifier].add(split)
    wanted = {
        (part, dataset): n_splits(protocols[part], record[0])
        for part in protocols
        for dataset, record in shapes.get(part, {}).items()
    }
    used = {group: _used_splits(done, wanted.get(group[:2], 1), REPLICATIONS[name].samples) for group, done in splits.items()}
    rows: dict[str, list[ResultRow]] = defaultdict(list)
    failures: dict[str, list[FailedCell]] = defaultdict(list)
    selecting: dict[str, dict[tuple[str, str, int], float]] = defaultdict(dict)
    for row in zip(*(columns[key] for key in COLUMNS), strict=True):
        part, dataset, split, method, classifier, k, measure, value, seconds, _, selection, *_ = row
        if split >= used[part, dataset, method, classifier]:
            continue
        data, fold, _, code, _, error = row[-6:]
        if error:
            failures[part].append(FailedCell(dataset, split, method, classifier, error))
        if measure:
            rows[part].append(ResultRow(dataset, split, method, classifier, k, measure, value, seconds, data, code, fold))
            selecting[part][dataset, method, split] = selection or 0.0
    results = {}
    for part in protocols:
        if part in rows:
            seconds_of: dict[tuple[str, str], float] = defaultdict(float)
            for (dataset, method, _), spent in selecting[part].items():
                seconds_of[dataset, method] += spent
            found = {row.method for row in rows[part]}
            results[part] = StudyResults.from_rows(
                rows[part],
                failures=failures[part],
                methods=[method.name for method in protocols[part].methods if method.name in found],
                shapes={name: DatasetRecord(*record[:4]) for name, record in shapes[part].items()},
                test_shares={name: record[4] for name, record in shapes[part].items()},
                seconds=seconds_of,
            )
    return results


def _used_splits(done: set[int], n_wanted: int, samples: bool) -> int:
    """Return how many of the first splits of a group are shown: all, those of a sample, or none."""
    if len(done) >= n_wanted:
        return max(done) + 1
    first = first_splits(done)
    return first if samples and first >= FEWEST else 0


def n_splits(protocol: Protocol, n_rows: int) -> int:
    """Return the number of splits of a data set with so many rows."""
    if protocol.splits.count is not None:
        return protocol.splits.count
    return sum(1 for _ in protocol.splits.splitter.split(np.empty((n_rows, 0))))


def read(name: str) -> tuple[Columns, Shapes]:
    """Return the columns of an archive, and the facts about its data sets; both are empty where there is none."""
    path = RESULTS / f"{name}.parquet"
    if not path.exists():
        return {}, {}
    table = _parquet().read_table(path)
    columns = {column: _cells(table.column(column).combine_chunks(), column in TEXTS) for column in table.column_names}
    return columns, json.loads(table.schema.metadata[DATASETS])


def _cells(column: Any, is_text: bool) -> list[Any]:
    """Return the cells of a column, as its ``to_pylist`` would in ten times the time; None where there is no value."""
    absent = ~column.is_valid().to_numpy(zero_copy_only=False)
    if is_text:
        texts = np.array(column.dictionary.to_pylist(), dtype=object)
        cells = texts[column.indices.fill_null(0).to_numpy()] if len(texts) else np.full(len(column), None)
    else:
        cells = column.fill_null(0).to_numpy().astype(object)
    cells[absent] = None
    return cells.tolist()


class Finished(NamedTuple):
    """The finished splits of a group, and the mean processor seconds of one of them."""

    splits: set[int]
    seconds: float


def finished(names: Iterable[str], folder: Path | None = None) -> dict[Group, Finished]:
    """Return the groups with finished or failed cells: those of studies in the archive, and all in a folder of results."""
    groups: dict[Group, dict[int, float]] = defaultdict(dict)
    for name in names:
        columns, _ = read(name)
        if columns:
            needed = (*KEY, "cpu", "selection_cpu")
            cells = dict.fromkeys(zip(*(columns[key] for key in needed), strict=True))  # without a repetition for each value
            for part, dataset, split, method, classifier, cpu, selection in cells:
                groups[Group(name, part, dataset, method, classifier)][split] = (cpu or 0.0) + (selection or 0.0)
    for path in () if folder is None else folder.glob(f"*/*/{FILE}"):
        part, study = path.parent.name, path.parent.parent.name
        with reading_study(path.parent) as db:
            for dataset, split, method, classifier, cpu, selection in db.execute(f"SELECT {_COST} {_JOINED}"):
                groups[Group(study, part, dataset, method, classifier)][split] = (cpu or 0.0) + (selection or 0.0)
    return {group: Finished(set(cells), sum(cells.values()) / len(cells)) for group, cells in groups.items()}


def collect(folders: Iterable[Path], commit: str | None = None) -> dict[str, int]:
    """Merge the studies in ``FOLDER/NAME/PART`` into the archive, and return the number of cells of each study.

    A cell that is already archived is replaced. ``commit`` is that of the code that ran; by default the checkout's, which
    must then have the same code.
    """
    counts = {}
    folders = list(folders)
    for name in REPLICATIONS:
        cells: dict[tuple[Any, ...], list[tuple[Any, ...]]] = defaultdict(list)
        columns, shapes = read(name)
        for row in zip(*(columns[key] for key in COLUMNS), strict=True) if columns else ():
            cells[row[: len(KEY)]].append(row)
        new = [path.parent for folder in folders for path in sorted(folder.glob(f"{name}/*/{FILE}"))]
        for folder in new:
            fresh: dict[tuple[Any, ...], list[tuple[Any, ...]]] = defaultdict(list)
            with reading_study(folder) as db:
                for row in _rows_of(db, folder.name, commit):
                    fresh[row[: len(KEY)]].append(row)
                facts = db.execute("SELECT name, n_rows, n_features, n_labels, data, test_share FROM datasets")
                shapes.setdefault(folder.name, {}).update({dataset: list(record) for dataset, *record in facts})
            cells |= fresh
        if new and cells:
            write(name, [row for key in sorted(cells) for row in cells[key]], shapes)
        counts[name] = len(cells)
    return counts


def _rows_of(db: sqlite3.Connection, part: str, commit: str | None) -> Iterable[tuple[Any, ...]]:
    """Yield rows of the archive from the file of a study."""
    for *cell, code, error in db.execute(_CELLS):
        if commit is None and code != code_print():
            raise InputError(f"part {part!r} was computed by other code than this checkout's; pass the commit that ran it.")
        used = commit if commit is not None else _head()
        *head, data, rows, settings = cell
        yield (part, *head, data, rows, settings, code, used, error)


@cache
def _head() -> str:
    """Return the commit of the checkout."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=RESULTS.parent, capture_output=True, text=True, check=True)
    return done.stdout.strip()[:12]


def write(name: str, rows: list[tuple[Any, ...]], shapes: Mapping[str, Mapping[str, list[Any]]]) -> Path:
    """Write the archive of a study; equal contents give equal bytes."""
    arrow = import_module("pyarrow")
    kinds = {column: arrow.dictionary(arrow.int32(), arrow.string()) for column in TEXTS}
    kinds |= {column: arrow.type_for_alias(kind) for column, kind in NUMBERS.items()}
    metadata = {DATASETS: json.dumps({part: dict(sorted(sets.items())) for part, sets in sorted(shapes.items())}).encode()}
    schema = arrow.schema([(column, kinds[column]) for column in COLUMNS], metadata=metadata)
    values = zip(*rows, strict=True)
    arrays = [arrow.array(column, type=field.type) for column, field in zip(values, schema, strict=True)]
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.parquet"
    table = arrow.Table.from_arrays(arrays, schema=schema)
    _parquet().write_table(table, path, compression="zstd", compression_level=19, use_dictionary=True)
    return path


def _parquet() -> Any:
    try:
        return import_module("pyarrow.parquet")
    except ImportError:
        raise InputError("the archive needs pyarrow: pip install 'labelsieve[tables]'.") from None
