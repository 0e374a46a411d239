"""The place of a selector on the leaderboard, a custom selector in it, and shares of noise among selected features."""

import importlib
import inspect
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator

from labelsieve.errors import InputError, StudyError, unknown_name
from labelsieve.statistics import Posterior, bayesian_signed_rank
from labelsieve.studies import Protocol, StudyResults
from labelsieve.studies.data import added_counts
from labelsieve.studies.protocol import ALL
from labelsieve.studies.store import reading
from leaderboard.board import BoardResults, Floats, study_folders

AVERAGED = (5, 10, 20, 40)  # numbers of features over which ranks and shares of noise are averaged
SAME_WITHIN = 0.01  # a smaller difference of a measure is practically none


@dataclass(frozen=True)
class Neighbor:
    """A selector in the leaderboard, with the data sets on which the placed one is better and worse than it.

    ``posterior`` has the probabilities that the placed one is better, practically equivalent, and worse.
    """

    name: str
    average_rank: float
    wins: int
    losses: int
    posterior: Posterior | None


@dataclass(frozen=True)
class Placement:
    """The place of a selector: its rank among ``n_ranked``, its average rank over ``datasets``, and all others, best first."""

    name: str
    place: int
    n_ranked: int
    average_rank: float
    datasets: tuple[str, ...]
    others: tuple[Neighbor, ...]


def with_selector(board: BoardResults, own: BoardResults, name: str) -> BoardResults:
    """Return a leaderboard with the results of one more selector, restricted to its data sets and learners."""
    if name in board.methods:
        raise InputError(f"the leaderboard has a selector {name!r}; use another name.")
    datasets = [data for data in board.datasets if data.name in {one.name for one in own.datasets}]
    learners = [learner for learner in board.learners if learner in own.learners]
    if not datasets or not learners:
        raise InputError(f"{name}: the leaderboard has none of its data sets with one of its learners.")
    old_d, old_l = [board.datasets.index(data) for data in datasets], [board.learners.index(learner) for learner in learners]
    new_d = [[one.name for one in own.datasets].index(data.name) for data in datasets]
    new_l, method = [own.learners.index(learner) for learner in learners], own.methods.index(name)
    values = np.full((len(datasets), len(board.methods) + 1, *board.values.shape[2:]), np.nan)[:, :, old_l]
    values[:, :-1] = board.values[old_d][:, :, old_l]
    for place, measure in enumerate(board.measures):
        if measure in own.measures:
            values[:, -1, :, place] = own.values[new_d][:, method][:, new_l, own.measures.index(measure)]

    def joined(ours: Floats, theirs: Floats) -> Floats:
        return np.concatenate([ours[old_d], theirs[new_d][:, [method]]], axis=1)

    return replace(
        board,
        datasets=datasets,
        methods=[*board.methods, name],
        learners=learners,
        values=values,
        n_splits=np.concatenate([board.n_splits[old_d][:, :, old_l], own.n_splits[new_d][:, [method]][:, :, new_l]], axis=1),
        n_failed=np.concatenate([board.n_failed[old_d][:, :, old_l], own.n_failed[new_d][:, [method]][:, :, new_l]], axis=1),
        cpu=joined(board.cpu, own.cpu),
        memory=joined(board.memory, own.memory),
    )


def restricted(board: BoardResults, datasets: Sequence[str] = (), learners: Sequence[str] = ()) -> BoardResults:
    """Return the results of some data sets, by name or tag, and learners.

    If none are named: all data sets, and the learners with at least half as many results as the one with most, since a learner
    that ran with few selectors would leave the others without a rank.
    """
    words = {word for data in board.datasets for word in (data.name, *data.tags)}
    for kind, names, known in (("data set or tag", datasets, sorted(words)), ("learner", learners, board.learners)):
        for name in names:
            if name not in known:
                raise unknown_name(f"{kind} of this leaderboard", name, known)
    kept = [d for d, data in enumerate(board.datasets) if not datasets or set(datasets) & {data.name, *data.tags}]
    n_run = ((board.n_splits[kept] > 0) | (board.n_failed[kept] > 0)).sum(axis=(0, 1))
    used = [l for l, name in enumerate(board.learners) if (name in learners if learners else 2 * n_run[l] >= n_run.max())]
    return replace(
        board,
        datasets=[board.datasets[d] for d in kept],
        learners=[board.learners[l] for l in used],
        values=board.values[kept][:, :, used],
        n_splits=board.n_splits[kept][:, :, used],
        n_failed=board.n_failed[kept][:, :, used],
        cpu=board.cpu[kept],
        memory=board.memory[kept],
    )


def placement(board: BoardResults, name: str, *, measure: str | None = None, sizes: Sequence[int] = AVERAGED) -> Placement:
    """Place a selector of a leaderboard among the selectors that have results, or failed, wherever it has.

    Selectors are ranked on each data set, learner and number of features, 1 for the best; a failure is last. Data sets with no
    more features than are selected are left out. ``measure`` is that of data sets with labels (default: the first).
    """
    if name not in board.methods:
        raise unknown_name("selector of this leaderboard", name, board.methods)
    if measure is not None and measure not in board.measures:
        raise unknown_name("measure of this leaderboard", measure, board.measures)
    mine, wanted = board.methods.index(name), [k for k, size in enumerate(board.sizes) if size in sizes]
    rows: list[tuple[str, bool, Floats]] = []
    compared = {m for m, method in enumerate(board.methods) if method != ALL}
    for d, data in enumerate(board.datasets):
        q = board.measures.index(measure if measure in data.measures else data.measures[0])
        usable = [
            (l, k)
            for l in range(len(board.learners))
            for k in wanted
            if board.sizes[k] < data.n_features and (np.isfinite(board.values[d, mine, l, q, k]) or board.n_failed[d, mine, l])
        ]
        if not usable:
            continue
        table = np.array([board.values[d, :, l, q, k] for l, k in usable])
        failed = np.array([board.n_failed[d, :, l] > 0 for l, _ in usable])
        compared -= set(np.flatnonzero((~np.isfinite(table) & ~failed).any(axis=0)).tolist())
        rows.append((data.name, board.lower_is_better[q], table))
    if not rows or len(compared) < 2:
        raise InputError(f"{name}: no other selector was run on its data sets with its learners and numbers of features.")
    order = sorted(compared)
    average = np.mean([_ranks(table[:, order], lower).mean(axis=0) for _, lower, table in rows], axis=0)
    averages = dict(zip(order, average.tolist(), strict=True))
    scores = np.array([(-1 if lower else 1) * table.mean(axis=0) for _, lower, table in rows])
    best_first = sorted(order, key=lambda m: averages[m])
    others = tuple(_neighbor(board.methods[m], averages[m], scores[:, mine], scores[:, m]) for m in best_first if m != mine)
    names = tuple(row[0] for row in rows)
    return Placement(name, best_first.index(mine) + 1, len(order), averages[mine], names, others)


def _ranks(table: Floats, lower: bool) -> Floats:
    worst = np.inf if lower else -np.inf
    rows = np.where(np.isfinite(table), table, worst)
    return np.asarray(rankdata(rows if lower else -rows, axis=1), dtype=np.float64)


def _neighbor(name: str, rank: float, mine: Floats, other: Floats) -> Neighbor:
    known = np.isfinite(mine) & np.isfinite(other)
    wins = int((mine[known] > other[known]).sum() + (np.isfinite(mine) & ~np.isfinite(other)).sum())
    losses = int((mine[known] < other[known]).sum() + (~np.isfinite(mine) & np.isfinite(other)).sum())
    posterior = None
    if known.any():
        posterior = bayesian_signed_rank(mine[known], other[known], same_within=SAME_WITHIN, n_samples=4000)
    return Neighbor(name, rank, wins, losses, posterior)


def load_selector(path: str | os.PathLike[str], name: str | None = None) -> Any:
    """Import a Python file and return an instance of its selector: the class ``name``, or the only one with ``fit``.

    A selector has ``fit(X, Y)``, sets ``selected_``, a ranking of the columns with the best first, and follows scikit-learn's
    conventions for parameters; ``n_features_to_select`` and ``random_state`` are set if it has them.
    """
    file = Path(path)
    if not file.exists() or file.suffix != ".py" or not file.stem.isidentifier():
        raise InputError(f"{file}: not a Python file; a selector is a class in a file such as my_selector.py.")
    if str(file.parent.resolve()) not in sys.path:
        sys.path.insert(0, str(file.parent.resolve()))  # processes of a study import the file by its name
    try:
        module = importlib.import_module(file.stem)
    except Exception as error:
        raise InputError(f"{file}: {type(error).__name__}: {error}") from error
    if Path(module.__file__ or "").resolve() != file.resolve():
        raise InputError(f"{file}: another module has the name {file.stem}; rename the file.")
    classes = [
        kind
        for kind in vars(module).values()
        if inspect.isclass(kind) and kind.__module__ == module.__name__ and hasattr(kind, "fit") and hasattr(kind, "get_params")
    ]
    found = [kind for kind in classes if name is None or kind.__name__ == name]
    if len(found) != 1:
        known = ", ".join(kind.__name__ for kind in classes) or "none with fit and get_params"
        raise InputError(f"{file}: which class is the selector? It has {known}; name one.")
    try:
        return found[0]()
    except TypeError as error:
        raise InputError(f"{file}: {found[0].__name__} needs defaults for all parameters ({error}).") from error


def own_protocols(board: str | os.PathLike[str], name: str, selector: BaseEstimator) -> dict[str, Protocol]:
    """Return the stored protocols of a leaderboard with one selector instead of its methods, by study."""
    return {
        study: Protocol(**{**_stored_protocol(folder), "methods": [(name, selector)], "baselines": []})
        for study, folder in study_folders(board).items()
    }


def check_same_rows(board: str | os.PathLike[str], own: str | os.PathLike[str]) -> None:
    """Refuse results of other data or splits than those of the leaderboard."""
    theirs = study_folders(board)
    for study, folder in study_folders(own).items():
        ours, known = _rows(folder), _rows(theirs[study])
        for key, rows in ours.items():
            if key in known and known[key] != rows:
                raise StudyError(f"{folder}: {key[0]}, split {key[1]}: other data or rows than in the leaderboard.")


def _stored_protocol(folder: Path) -> dict[str, Any]:
    with reading(folder) as db:
        found = db and db.execute("SELECT value FROM facts WHERE key = 'protocol'").fetchone()
    if not found:
        raise StudyError(f"{folder}: it has no protocol; was it run?")
    stored: dict[str, Any] = json.loads(found[0])
    return stored


def _rows(folder: Path) -> dict[tuple[str, int], tuple[str, str]]:
    with reading(folder) as db:
        found = () if db is None else db.execute("SELECT DISTINCT dataset, split, data, rows FROM selections")
        return {(dataset, split): (data, rows) for dataset, split, data, rows in found}


def noise_shares(folder: str | os.PathLike[str], *, sizes: Sequence[int] = AVERAGED) -> dict[str, tuple[float, float, int]]:
    """Return fractions of irrelevant and corrupted columns among the first features, and the number of data sets, by method.

    Shares are averaged over numbers of features below the number of original ones, then over splits and data sets. Data sets
    without ``noise`` are left out.
    """
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for path in study_folders(folder).values():
        results = StudyResults(path)
        settings = {table["name"]: table["noise"] for table in results.protocol.get("datasets", []) if "noise" in table}
        methods = [method for method in results.methods if method != ALL]  # all features are no ranking
        for dataset, method in product([name for name in results.shapes if name in settings], methods):
            n_original = original_count(results.shapes[dataset].n_features, settings[dataset])
            n_irrelevant = added_counts(n_original, settings[dataset])[0]
            limits = n_original, n_original + n_irrelevant
            for ranking in map(np.array, results.rankings(dataset, method)):
                heads = [ranking[:size] for size in sizes if size < n_original and len(ranking) >= size]
                if heads:
                    shares = [(((head >= limits[0]) & (head < limits[1])).mean(), (head >= limits[1]).mean()) for head in heads]
                    irrelevant, corrupted = np.mean(shares, axis=0).tolist()
                    found.setdefault(method, {}).setdefault(dataset, []).append((irrelevant, corrupted))
    if not found:
        raise InputError(f"{folder}: no selection of a data set with noise; run a protocol with noise, such as noise.toml.")
    means = {method: np.mean([np.mean(rows, axis=0) for rows in by_data.values()], axis=0) for method, by_data in found.items()}
    order = sorted(means, key=lambda method: float(means[method].sum()))
    return {method: (float(means[method][0]), float(means[method][1]), len(found[method])) for method in order}


def original_count(n_features: int, noise: dict[str, float]) -> int:
    """Return the number of features before noise was added.

    >>> original_count(17, {"irrelevant": 0.5, "corrupted": 0.25})
    10
    """
    return next(d for d in range(n_features + 1) if d + sum(added_counts(d, noise)) >= n_features)
