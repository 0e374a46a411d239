"""One process at work: goes through the steps of a split and says what came of each."""

from collections.abc import Iterator
from dataclasses import dataclass

from labelsieve.fingerprint import code_print
from labelsieve.studies.execution.cell_work import SplitWork, Values
from labelsieve.studies.execution.pending_steps import Batch
from labelsieve.studies.execution.resources_used import Spent, Stopwatch
from labelsieve.studies.protocol.data_sources import Loaded
from labelsieve.studies.protocol.protocol import Protocol
from labelsieve.studies.protocol.split_rule import Split
from labelsieve.studies.study_error import StudyError

LONGEST = 500  # characters of an error that are kept


@dataclass(frozen=True)
class Done:
    """What came of a step, by its place in the batch: a ranking, values, or an error."""

    place: int
    ranking: list[int] | None
    values: Values | None
    spent: Spent
    error: str | None = None


class Bench:
    """Keeps the data set that it worked on last."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._sources = {source.name: source for source in protocol.datasets}
        self._data: Loaded | None = None
        self._splits: list[Split] = []

    def prepare(self, batch: Batch) -> SplitWork:
        """The rows of a split; they and the code must be those that were planned with, wherever this process runs."""
        if any(step.prints.code != code_print() for step in batch.steps):
            raise StudyError(
                "the code of labelsieve is not the same wherever this study runs, or has just changed. Run it again."
            )
        if self._data is None or self._data.name != batch.dataset:
            self._data = Loaded.of(self._sources[batch.dataset])
            self._splits = self._protocol.splits.splits(self._data.X, self._data.Y, self._data.name)
            if self._data.print != batch.data:
                raise StudyError(f"data set {batch.dataset!r}: the data changed while the study ran. Run it again.")
        split = self._splits[batch.split]
        if split.print != batch.rows:
            raise StudyError(f"data set {batch.dataset!r}: split {batch.split} is not what it was; is the splitter seeded?")
        return SplitWork(self._data, split)

    def steps(self, batch: Batch, work: SplitWork) -> Iterator[Done]:
        """Go through the steps; one that fails says why and the others go on, but those that need its ranking."""
        rankings = dict(batch.rankings)
        for place, step in enumerate(batch.steps):
            watch = Stopwatch()
            try:
                if step.classifier is None:
                    ranking = work.select(step.method.estimator, step.n_wanted, step.seed)
                    rankings[step.method.name] = ranking
                    yield Done(place, ranking, None, watch.spent())
                elif step.method.name in rankings:
                    chosen = rankings[step.method.name]
                    if len(chosen) < max(step.sizes):
                        raise StudyError(f"{step.method.name} chose {len(chosen)} features, and {max(step.sizes)} were wanted.")
                    what = (step.classifier.estimator, chosen, step.sizes, step.measures, self._protocol.convention)
                    values = work.evaluate(*what, seed=step.seed, watch=watch)
                    yield Done(place, None, values, watch.spent())
            except Exception as error:
                yield Done(place, None, None, watch.spent(), said(error))


def said(error: BaseException) -> str:
    """An error in one line.

    >>> said(ValueError("too  few"))
    'ValueError: too few'
    """
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:LONGEST]
