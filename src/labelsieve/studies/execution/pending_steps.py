"""What is still to do: the steps of a study that its file does not have, gathered by data set and split."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from labelsieve.fingerprint import code_print, seed_of, text_print
from labelsieve.studies.protocol.data_sources import Loaded
from labelsieve.studies.protocol.named_estimators import NamedEstimator
from labelsieve.studies.protocol.protocol import Protocol
from labelsieve.studies.store.store import Store
from labelsieve.studies.store.stored_results import Prints, Stored
from labelsieve.studies.study_error import StudyError

SelectionKey = tuple[str, int, str]
CellKey = tuple[str, int, str, str]


@dataclass(frozen=True, eq=False)
class Step:
    """A selection (``classifier`` is None) or the evaluation of one with a classifier; ``seed`` is for what it draws."""

    method: NamedEstimator
    classifier: NamedEstimator | None
    n_wanted: int
    sizes: list[int]
    measures: list[str]
    prints: Prints
    seed: int


@dataclass(frozen=True, eq=False)
class Batch:
    """The steps of one split, which share its rows; ``rankings`` are those that are known already."""

    dataset: str
    split: int
    data: str
    rows: str
    steps: list[Step]
    rankings: dict[str, list[int]]


@dataclass(eq=False)
class Todo:
    """What is to do, what is done, and what was made under other conditions."""

    batches: list[Batch] = field(default_factory=list)
    n_cells: int = 0
    n_done: int = 0
    n_failed: int = 0
    stale_selections: list[SelectionKey] = field(default_factory=list)
    stale_cells: list[CellKey] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def n_missing(self) -> int:
        """Cells to run."""
        return sum(step.classifier is not None for batch in self.batches for step in batch.steps)

    def changes(self) -> str:
        """What changed since the stored cells were made, in words."""
        return ", ".join(f"{reason} ({count:,} {'cell' if count == 1 else 'cells'})" for reason, count in self.reasons.items())


@dataclass(frozen=True, eq=False)
class DataFacts:
    """What planning needs to know of a data set."""

    name: str
    data: str
    shape: tuple[int, int, int]
    rows: list[str]
    test_share: float


def facts_of(protocol: Protocol, data: Loaded) -> DataFacts:
    """Look at a data set and its splits."""
    protocol.check_data(data)
    splits = protocol.splits.splits(data.X, data.Y, data.name)
    share = sum(len(split.test) for split in splits) / sum(len(split.test) + len(split.train) for split in splits)
    return DataFacts(data.name, data.print, data.shape, [split.print for split in splits], share)


def find_steps(protocol: Protocol, facts: list[DataFacts], stored: Stored, *, retry_failed: bool = False) -> Todo:
    """Compare what a protocol wants with what is stored.

    Cells that were made from other data, rows, settings or code are listed as stale and not among the steps.
    """
    todo = Todo()
    for data in facts:
        for split, rows in enumerate(data.rows):
            batch = Batch(data.name, split, data.data, rows, [], {})
            for method in protocol.methods:
                batch.steps.extend(_of_method(protocol, data, batch, method, stored, todo, retry_failed))
            if batch.steps:
                todo.batches.append(batch)
    return todo


def _of_method(
    protocol: Protocol,
    data: DataFacts,
    batch: Batch,
    method: NamedEstimator,
    stored: Stored,
    todo: Todo,
    retry_failed: bool,
) -> Iterator[Step]:
    seed = seed_of(protocol.seed, data.name, batch.split, method.name)
    sizes = protocol.sizes(data.shape[1], method)
    key: SelectionKey = (data.name, batch.split, method.name)
    own = Prints(data.data, batch.rows, text_print(method.identity, str(seed)), code_print())
    steps = []
    for classifier in protocol.classifiers:
        todo.n_cells += 1
        settings = text_print(method.identity, str(seed), classifier.identity, protocol.convention)
        prints = Prints(own.data, own.rows, settings, own.code)
        wanted: dict[str, Any] = {"sizes": sizes, "measures": protocol.measures}
        found = stored.cells.get((*key, classifier.name))
        if found is not None and found.prints != prints:
            todo.stale_cells.append((*key, classifier.name))
            todo.reasons.update([_reason(found.prints, prints, protocol, stored, data.name, method, classifier)])
            continue
        if found is not None and found.has_values:
            if set(sizes) <= set(found.sizes) and set(protocol.measures) <= set(found.measures):
                todo.n_done += 1
                continue
            wanted = {
                "sizes": sorted({*sizes, *found.sizes}),
                "measures": list(dict.fromkeys([*found.measures, *protocol.measures])),
            }
        if found is not None and found.error is not None and not retry_failed:
            todo.n_failed += 1
            continue
        # The same for all methods: what a classifier leaves to chance does not set them apart.
        own_seed = seed_of(protocol.seed, data.name, batch.split, "classifier", classifier.name)
        steps.append(Step(method, classifier, max(wanted["sizes"]), prints=prints, seed=own_seed, **wanted))
    known = stored.selections.get(key)
    if known is not None and known.prints != own:
        todo.stale_selections.append(key)
        if not any(cell[:3] == key for cell in todo.stale_cells[-len(protocol.classifiers) :]):
            todo.reasons.update([_reason(known.prints, own, protocol, stored, data.name, method)])
        known = None
    if not steps:
        return
    n_wanted = max(step.n_wanted for step in steps)
    if known is not None and known.selected is not None and known.n_wanted >= n_wanted:
        batch.rankings[method.name] = known.selected
    else:
        yield Step(method, None, n_wanted, [], [], own, seed)
    yield from steps


def _reason(old: Prints, new: Prints, protocol: Protocol, stored: Stored, dataset: str, *parts: NamedEstimator) -> str:
    """The first thing that changed, in words."""
    changed = [name for name in ("data", "rows", "settings", "code") if getattr(old, name) != getattr(new, name)]
    words = {"data": f"the data of {dataset}", "rows": f"the splits of {dataset}", "code": "the code of labelsieve"}
    if changed[0] != "settings":
        return words[changed[0]]
    # A hash does not say which: where the last run had another seed or convention, that is why.
    before = stored.protocol
    shared = [name for name in ("seed", "convention") if before.get(name, now := getattr(protocol, name)) != now]
    if shared:
        return f"the {' and the '.join(shared)}"
    kind = "settings" if all(part.settings is not None for part in parts) else "settings or code"
    return f"{kind} of {' or '.join(part.name for part in parts)}"


def settle(todo: Todo, store: Store, changed: str) -> bool:
    """Do what ``changed`` says about stale cells; True when the steps must be found again."""
    if not todo.stale_cells and not todo.stale_selections:
        return False
    if changed == "refuse":
        raise StudyError(
            f"{store.path}: since its results were made there is a change in {todo.changes()}, and they are not mixed with new "
            "ones. Run those cells again (changed='rerun'), keep them beside new ones (changed='keep'), or use another folder."
        )
    if changed == "rerun":
        store.forget(todo.stale_selections, todo.stale_cells)
        return True
    return False
