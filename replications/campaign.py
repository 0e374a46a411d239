"""Run the cells that the archive lacks, of all studies together and the cheapest first: ``python -m replications.campaign``.

``run`` takes groups of cells (all splits of a data set, method and classifier) in the order of their expected cost, stops by
itself at its time limit, and leaves folders that ``collect`` merges into the archive. ``plan`` lists what is left and its
expected cost; a machine without the archive runs such a list, or a part of it, with ``run --plan FILE``. ``check`` computes
some archived cells again. The cost of a group is that of its finished splits, in the
archive or in this run; before the first, it is guessed from the size of the data and corrected by the groups of the same
learner that are finished.
"""

import argparse
import json
import math
import multiprocessing
import os
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import accumulate, product
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, NamedTuple

from labelsieve.datasets import Dataset
from labelsieve.errors import InputError, unknown_name
from labelsieve.studies import Protocol
from labelsieve.studies.cells import BatchRunner, StepResult
from labelsieve.studies.data import Source
from labelsieve.studies.plan import Batch, DataFacts, make_plan
from labelsieve.studies.store import StoredResults, StudyStore
from labelsieve.studies.study import store_step
from replications import REPLICATIONS
from replications.archive import KERNELS, KEY, SETTINGS, Finished, Group, collect, finished, matrix_kernels, n_splits, read
from replications.sampling import FEWEST, first_splits

GUESS = 1e-9  # seconds for a row, a feature, a label and a number of features
ENDING = 5.0  # seconds that are kept to store the last results
RECOMPUTED = 3  # cells of each study that a check computes again, of the cheapest fifth
EXACT = 1e-9  # relative difference of values that agree
OTHER_KERNELS = 0.05  # difference that linear models may have where the kernels of the archive cannot run
APPLIED = ("drop", "max_labels", "noise")  # settings of a source that loading applies


@dataclass(eq=False)
class PartOfStudy:
    """A part of a study with its data in memory, and what plans and workers need of it."""

    protocol: Protocol
    runner: BatchRunner
    facts: dict[str, DataFacts]


@dataclass(frozen=True, eq=False)
class Cell:
    """A cell to run: a batch with the selection and the evaluation of one split."""

    group: Group
    batch: Batch


class Costs:
    """Expected seconds of a cell, learned from those that are finished.

    Before the first cell of a group is finished, the guess for it is multiplied by a ratio of seconds to guesses: that of the
    largest finished group with the same data set and classifier, or with the same method and classifier, or of the same study.
    Small groups say little, since most of their seconds do not depend on the size.
    """

    def __init__(self) -> None:
        self.guesses: dict[Group, float] = {}
        self.measured: dict[Group, tuple[float, int]] = {}
        self._largest: dict[tuple[str, ...], Group] = {}

    def add(self, group: Group, seconds: float, count: int = 1) -> None:
        """Record finished cells and their mean seconds."""
        total, number = self.measured.get(group, (0.0, 0))
        self.measured[group] = total + seconds * count, number + count
        for key in self._similar(group):
            if key not in self._largest or self.guesses[group] > self.guesses[self._largest[key]]:
                self._largest[key] = group

    def __call__(self, group: Group) -> float:
        """Return the mean of the finished cells of the group, or the corrected guess."""
        if group in self.measured:
            total, number = self.measured[group]
            return total / number
        largest = next((self._largest[key] for key in self._similar(group) if key in self._largest), None)
        return self.guesses[group] * (1.0 if largest is None else self(largest) / self.guesses[largest])

    @staticmethod
    def _similar(group: Group) -> list[tuple[str, ...]]:
        """Return keys of similar groups, from the most similar ones on."""
        study, part, dataset, method, classifier = group
        return [(study, part, "data", dataset, classifier), (study, part, "method", method, classifier), (study,)]


def load_parts(names: Sequence[str], sets: Sequence[str] | None, data_home: str | None) -> dict[tuple[str, str], PartOfStudy]:
    """Load the data of all studies; each data set is read once."""
    datasets: dict[str, Dataset] = {}
    parts = {}
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # which data sets have no published folds: the page says so
            protocols = REPLICATIONS[name].protocols(full=True, sets=None, data_home=data_home)
        for part, whole in protocols.items():
            sources = [source for source in whole.datasets if sets is None or source.name in sets]
            for position, source in enumerate(sources):
                key = json.dumps(source.settings, default=repr, sort_keys=True) + source.name
                if key not in datasets:
                    datasets[key] = source.load()
                left = {setting: value for setting, value in source.settings.items() if setting not in APPLIED}
                sources[position] = Source(source.name, left, datasets[key])
            if sources:
                whole.datasets = sources
                runner = BatchRunner(whole, kept_bytes=float("inf"))
                facts = {source.name: DataFacts.of(*runner.load(source.name)) for source in sources}
                parts[name, part] = PartOfStudy(whole, runner, facts)
    return parts


def guess(shape: Sequence[int], sizes: Sequence[int]) -> float:
    """Return the seconds of a cell, before any is finished, by the rows, features and labels and the numbers of features."""
    n_rows, _, n_labels = shape
    return GUESS * n_rows * n_labels * sum(sizes)


class Left(NamedTuple):
    """Groups that are not finished: how many, how many of these have samples, and their expected seconds."""

    groups: int
    sampled: int
    seconds: float


def groups_left(name: str) -> dict[Group, Left]:
    """Return the groups that the archive lacks of a study, and their expected processor seconds, without loading data."""
    known, (_, shapes) = finished([name]), read(name)
    costs, missing = Costs(), {}
    for part, protocol in REPLICATIONS[name].protocols(full=True, sets=None, data_home=None).items():
        sources = [source for source in protocol.datasets if source.name in shapes.get(part, {})]
        wanted = {source.name: n_splits(protocol, shapes[part][source.name][0]) for source in sources}
        for source, method, learner in product(sources, protocol.methods, protocol.classifiers):
            shape = shapes[part][source.name][:3]
            group = Group(name, part, source.name, method.name, learner.name)
            costs.guesses[group] = guess(shape, protocol.sizes(shape[1], method, learner))
            done = known[group].splits if group in known else set()
            if done:
                costs.add(group, known[group].seconds, len(done))
            if len(done) < wanted[source.name]:
                missing[group] = wanted[source.name] - len(done)
    return {
        group: Left(1, int(group in known and first_splits(known[group].splits) >= FEWEST), count * costs(group))
        for group, count in missing.items()
    }


def left_by_classifier(left: Mapping[Group, Left]) -> dict[str, Left]:
    """Add up groups by their classifier.

    >>> one, other = (Group("study", "part", name, "jmi", "knn") for name in ("flags", "birds"))
    >>> left_by_classifier({one: Left(1, 0, 2.0), other: Left(1, 1, 3.0)})
    {'knn': Left(groups=2, sampled=1, seconds=5.0)}
    """
    total: dict[str, Left] = {}
    for group, one in left.items():
        before = total.get(group.classifier, Left(0, 0, 0.0))
        total[group.classifier] = Left(before.groups + one.groups, before.sampled + one.sampled, before.seconds + one.seconds)
    return total


def fitting(left: Mapping[Group, Left], seconds: float) -> int:
    """Return how many groups can be run in so many seconds, the cheapest first.

    >>> groups = [Group("study", "part", name, "jmi", "knn") for name in ("flags", "birds", "yeast")]
    >>> fitting(dict(zip(groups, (Left(1, 0, 20.0), Left(1, 0, 5.0), Left(1, 0, 10.0)))), 16.0)
    2
    """
    total = accumulate(sorted(one.seconds for one in left.values()))
    return sum(spent <= seconds for spent in total)


def cells_to_run(
    parts: Mapping[tuple[str, str], PartOfStudy], known: Mapping[Group, Finished], most_splits: int | None = None
) -> tuple[dict[Group, list[Cell]], Costs]:
    """Return the missing cells by group, of all splits or of the first ``most_splits``, and their expected costs."""
    missing: dict[Group, list[Cell]] = defaultdict(list)
    costs = Costs()
    for (study, part), loaded in parts.items():
        plan = make_plan(loaded.protocol, list(loaded.facts.values()), StoredResults({}, {}))
        for batch in plan.batches:
            selections = {step.method.name: step for step in batch.steps if step.classifier is None}
            for step in batch.steps:
                if step.classifier is None:
                    continue
                group = Group(study, part, batch.dataset, step.method.name, step.classifier.name)
                if group not in costs.guesses:
                    costs.guesses[group] = guess(loaded.facts[batch.dataset].shape, step.sizes)
                    if group in known:
                        costs.add(group, known[group].seconds, max(1, len(known[group].splits)))
                wanted = most_splits is None or batch.split < most_splits
                if wanted and (group not in known or batch.split not in known[group].splits):
                    missing[group].append(Cell(group, replace(batch, steps=[selections[step.method.name], step])))
    for cells in missing.values():
        cells.sort(key=lambda cell: cell.batch.split)
    return dict(missing), costs


def run(
    names: Sequence[str],
    out: Path,
    *,
    jobs: int,
    minutes: float,
    sets: Sequence[str] | None = None,
    data_home: str | None = None,
    known: Mapping[Group, Finished],
    planned: Container[Group] | None = None,
    most_splits: int | None = None,
) -> int:
    """Run missing cells until nothing is left or the time is over; return the number of finished cells.

    Cells are written to ``OUT/STUDY/PART`` as they finish. A cell that does not fit in the remaining time is not started, and
    one that is running at its end is lost. With ``planned``, other groups are not run, and with ``most_splits``, later splits.
    """
    deadline = time.monotonic() + 60 * minutes - ENDING
    parts = load_parts(names, sets, data_home)
    missing, costs = cells_to_run(parts, known, most_splits)
    if planned is not None:
        missing = {group: cells for group, cells in missing.items() if group in planned}
    cells = dict(enumerate(cell for group in missing.values() for cell in group))
    say(f"{len(cells):,} cells of {len(missing):,} groups are missing.")
    done = 0
    with ExitStack() as stack:
        stores = {}
        for key, part in parts.items():
            store = stores[key] = stack.enter_context(StudyStore(out / key[0] / key[1]))
            datasets = [(data.name, data.data, *data.shape, data.test_share) for data in part.facts.values()]
            store.begin(part.protocol.plain(), datasets)
        for index, results in _in_workers(cells, parts, Queue(cells, costs), jobs, deadline):
            cell = cells[index]
            for result in results:
                done += store_step(stores[cell.group[:2]], cell.batch, result)
            costs.add(cell.group, sum(result.used.cpu or result.used.seconds for result in results))
            if done % 500 == 0:
                say(f"{done:,} cells, {max(0.0, deadline - time.monotonic()):.0f} s left.")
        for store in stores.values():
            store.end()
    say(f"{done:,} cells finished, {len(cells) - done:,} left.")
    return done


def _in_workers(
    cells: Mapping[int, Cell],
    parts: Mapping[tuple[str, str], PartOfStudy],
    queue: "Queue",
    jobs: int,
    deadline: float,
) -> Iterator[tuple[int, list[StepResult]]]:
    """Yield the results of cells as they finish, the cheapest groups first.

    Workers are copies of this process, so they share the data that it has loaded.
    """
    processes = multiprocessing.get_context("fork")
    workers: dict[Any, Any] = {}
    try:
        for _ in range(min(jobs, len(cells))):
            here, there = processes.Pipe()
            process = processes.Process(target=_work, args=(cells, parts, there), daemon=True)
            process.start()
            workers[here] = process
            there.close()
        idle, busy = list(workers), set[Any]()
        while True:
            while idle and (index := queue.take(deadline - time.monotonic())) is not None:
                pipe = idle.pop()
                pipe.send(index)
                busy.add(pipe)
            left = deadline - time.monotonic()
            if not busy or left <= 0:
                return
            ready: list[Any] = list(wait(list(busy), timeout=left))
            for pipe in ready:
                index, results = pipe.recv()
                busy.remove(pipe)
                idle.append(pipe)
                yield index, results
    finally:
        for process in workers.values():
            process.kill()
            process.join()


class Queue:
    """Cells in the order in which they run: the group that needs the fewest seconds in all comes first.

    The order is decided for every cell anew, so a group that turns out to be expensive waits.
    """

    def __init__(self, cells: Mapping[int, Cell], costs: Costs) -> None:
        self._costs = costs
        self._waiting: dict[Group, list[int]] = defaultdict(list)
        for index, cell in cells.items():
            self._waiting[cell.group].append(index)

    def take(self, seconds_left: float) -> int | None:
        """Return the next cell; None if no cell fits in the time."""
        expected = {group: self._costs(group) for group in self._waiting}
        fitting = [group for group, seconds in expected.items() if seconds < seconds_left]
        if not fitting:
            return None
        cheapest = min(fitting, key=lambda group: expected[group] * len(self._waiting[group]))
        index = self._waiting[cheapest].pop(0)  # the first split, so that samples are of the first splits
        if not self._waiting[cheapest]:
            del self._waiting[cheapest]
        return index


def _work(cells: Mapping[int, Cell], parts: Mapping[tuple[str, str], PartOfStudy], pipe: Any) -> None:
    """Run cells until the pipe is closed."""
    while True:
        try:
            index = pipe.recv()
        except EOFError:
            return
        cell = cells[index]
        pipe.send((index, run_cell(parts[cell.group[:2]], cell)))


def run_cell(part: PartOfStudy, cell: Cell) -> list[StepResult]:
    """Run the selection and the evaluation of a cell in this process, with one thread for linear algebra."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of solvers that do not converge, thousands of times
        return list(part.runner.run(cell.batch))


class Recomputed(NamedTuple):
    """An archived cell that was computed again: its key, and pairs of archived and new values."""

    cell: tuple[object, ...]
    values: list[tuple[float, float]]

    @property
    def difference(self) -> float:
        """The largest difference of its values."""
        return max(abs(archived - new) for archived, new in self.values)

    def agrees(self) -> bool:
        """Whether the values are equal, or close where this machine cannot run the kernels of the archive."""
        if matrix_kernels() == {KERNELS}:
            return all(math.isclose(*pair, rel_tol=EXACT, abs_tol=1e-12) for pair in self.values)
        return self.difference <= OTHER_KERNELS


def recompute(name: str, data_home: str | None, n_cells: int = RECOMPUTED) -> Iterator[Recomputed]:
    """Compute archived cells of a study again, one of each group, at equal distances in the cheapest fifth of the groups."""
    columns, _ = read(name)
    if not columns:
        raise InputError(f"nothing of {name} is archived; run replications.campaign.")
    values: dict[tuple[Any, ...], dict[tuple[int, str], float]] = defaultdict(dict)
    needed = (*KEY, "k", "measure", "value", "error")
    for *key, k, measure, value, error in zip(*(columns[column] for column in needed), strict=True):
        if not error:
            values[tuple(key)][k, measure] = value
    splits: dict[Group, set[int]] = defaultdict(set)
    for part, dataset, split, method, classifier in values:
        splits[Group(name, part, dataset, method, classifier)].add(split)
    costs = finished([name])
    groups = sorted(splits, key=lambda group: costs[group].seconds)
    step = max(1, len(groups) // 5 // n_cells)
    chosen = groups[: n_cells * step : step]
    parts = load_parts([name], sorted({group.dataset for group in chosen}), data_home)
    cells, _ = cells_to_run(parts, {})
    for group in chosen:
        cell = next(cell for cell in cells[group] if cell.batch.split in splits[group])
        *_, result = run_cell(parts[name, group.part], cell)
        if result.error is not None or result.values is None:
            raise InputError(f"{group} failed: {result.error}")
        wanted = values[group.part, group.dataset, cell.batch.split, group.method, group.classifier]
        got = {(each.n_features, each.measure): each.value for each in result.values}
        if got.keys() != wanted.keys():
            raise InputError(f"{group} has values of {sorted(got)}, and the archive has values of {sorted(wanted)}.")
        yield Recomputed((*group, cell.batch.split), [(wanted[one], got[one]) for one in wanted])


def check(names: Sequence[str], data_home: str | None) -> bool:
    """Compute some archived cells of all studies again and print their differences; return whether all agree."""
    say(f"Kernels for matrices: {', '.join(sorted(matrix_kernels()))}; those of the archive: {KERNELS}.")
    agree = True
    for name in names:
        found = list(recompute(name, data_home))
        agree &= all(cell.agrees() for cell in found)
        n_values, largest = sum(len(cell.values) for cell in found), max(cell.difference for cell in found)
        say(f"{name}: {len(found)} cells with {n_values:,} values, largest difference {largest:.2g}")
        for cell in found:
            if not cell.agrees():
                say(f"  {', '.join(map(str, cell.cell))} differs by {cell.difference:.2g}")
    return agree


def plan_document(
    missing: Mapping[Group, Sequence[Cell]], costs: Costs, known: Mapping[Group, Finished]
) -> list[dict[str, Any]]:
    """Return what is left by group, the cheapest first, and what is finished of it."""
    listed = [
        {
            **group._asdict(),
            "missing": len(cells),
            "seconds": round(costs(group) * len(cells), 2),
            "measured": group in costs.measured,
            "finished": sorted(known[group].splits) if group in known else [],
        }
        for group, cells in missing.items()
    ]
    return sorted(listed, key=lambda entry: entry["seconds"])


def read_plan(path: Path) -> dict[Group, Finished]:
    """Return the groups of a plan, with the splits that are finished and the expected seconds of a cell."""
    entries = json.loads(path.read_text("utf-8"))
    return {
        Group(*(entry[name] for name in Group._fields)): Finished(set(entry["finished"]), entry["seconds"] / entry["missing"])
        for entry in entries
    }


def with_splits(known: Mapping[Group, Finished], more: Mapping[Group, Finished]) -> dict[Group, Finished]:
    """Add the finished splits of groups; the seconds are those of ``more`` where it has the group."""
    added = {
        group: Finished(found.splits | known[group].splits, found.seconds) for group, found in more.items() if group in known
    }
    return {**known, **more, **added}


def say(text: str) -> None:
    """Print a line at once, also into a file."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m replications.campaign", description=(__doc__ or "").partition("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, words in (
        ("run", "Run missing cells."),
        ("plan", "List missing cells as JSON, cheapest first."),
        ("check", "Compute some archived cells again and compare."),
    ):
        command = commands.add_parser(name, help=words, description=words)
        command.add_argument("studies", nargs="*", metavar="STUDY", help="Names of studies; default: all.")
        command.add_argument("--sets", help="Only these data sets, comma-separated.")
        if name != "check":
            command.add_argument("--splits", type=int, metavar="N", help="Only the first N splits, for samples.")
        command.add_argument("--data", help="Folder of the data sets; default: $LABELSIEVE_DATA.")
        if name == "run":
            command.add_argument("--fresh", action="store_true", help="Ignore the archive; read the folder only.")
            command.add_argument(
                "--plan", type=Path, help="Run the groups of this file, an output of plan; ignore the archive."
            )
            command.add_argument("--out", type=Path, required=True, help="Folder for the results.")
            command.add_argument("--jobs", type=int, default=1, help="Number of processes.")
            command.add_argument("--minutes", type=float, default=10.0, help="Time limit.")
    command = commands.add_parser("collect", help="Merge folders of results into the archive.")
    command.add_argument("folders", nargs="+", type=Path)
    command.add_argument("--commit", help="Commit of the code that ran; default: that of the checkout.")
    given = parser.parse_args(arguments)
    if given.command == "collect":
        for name, count in collect(given.folders, given.commit).items():
            say(f"{name}: {count:,} cells")
        return
    planned = read_plan(given.plan) if given.command == "run" and given.plan is not None else None
    listed = list(REPLICATIONS) if planned is None else sorted({group.study for group in planned})
    names = given.studies or listed
    for name in names:
        if name not in REPLICATIONS:
            raise unknown_name("replication", name, REPLICATIONS)
    sets = None if given.sets is None else given.sets.split(",")
    if given.command == "run":
        if matrix_kernels() != {KERNELS}:
            raise InputError(f"archived cells use the {KERNELS} kernels of OpenBLAS, which this machine cannot run.")
        known = finished([] if given.fresh or planned is not None else names, given.out)
        if planned is not None:
            known = with_splits(planned, known)
            sets = sorted({group.dataset for group in planned}) if sets is None else sets
        options = {"jobs": given.jobs, "minutes": given.minutes, "sets": sets, "data_home": given.data}
        run(names, given.out, **options, known=known, planned=planned, most_splits=given.splits)
    elif given.command == "check":
        if not check(names, given.data):
            raise SystemExit(1)
    else:
        known = finished(names)
        missing, costs = cells_to_run(load_parts(names, sets, given.data), known, given.splits)
        json.dump(plan_document(missing, costs, known), sys.stdout, indent=1)


if __name__ == "__main__":
    if not SETTINGS.items() <= os.environ.items():  # numpy and scipy read them when they are imported
        os.execve(sys.executable, [sys.executable, "-m", "replications.campaign", *sys.argv[1:]], os.environ | SETTINGS)
    try:
        main()
    except InputError as error:
        raise SystemExit(str(error)) from None
