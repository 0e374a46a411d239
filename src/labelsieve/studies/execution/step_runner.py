"""Running the steps of a batch in one process, and tracking a batch that runs in another."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from labelsieve.errors import StudyError
from labelsieve.fingerprint import code_print
from labelsieve.studies.execution.cell_work import Evaluation, SplitWork
from labelsieve.studies.execution.pending_steps import Batch, Step
from labelsieve.studies.execution.stopwatch import Stopwatch
from labelsieve.studies.protocol import LoadedData, Protocol, Split
from labelsieve.studies.store.stored_results import MeasuredValue, ResourcesUsed

MAX_ERROR_LENGTH = 500  # stored characters of an error


@dataclass(frozen=True)
class StepResult:
    """The outcome of the step at ``index`` in its batch: a ranking, values, or an error."""

    index: int
    ranking: list[int] | None
    values: list[MeasuredValue] | None
    used: ResourcesUsed
    error: str | None = None


class StepRunner:
    """Run batches, keeping the data set of the last one in memory."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._sources = {source.name: source for source in protocol.datasets}
        self._data: LoadedData | None = None
        self._splits: list[Split] = []

    def prepare(self, batch: Batch) -> SplitWork:
        """Load the rows of a split; data, rows and code must be those of the plan, wherever this process runs."""
        if any(step.fingerprints.code != code_print() for step in batch.steps):
            raise StudyError("the code of labelsieve differs between processes, or changed while the study ran. Run it again.")
        if self._data is None or self._data.name != batch.dataset:
            self._data = LoadedData.of(self._sources[batch.dataset])
            self._splits = self._protocol.splits.splits(self._data.X, self._data.Y, self._data.name)
            if self._data.fingerprint != batch.data:
                raise StudyError(f"data set {batch.dataset!r}: the data changed while the study ran. Run it again.")
        split = self._splits[batch.split]
        if split.fingerprint != batch.rows:
            raise StudyError(f"data set {batch.dataset!r}: the rows of split {batch.split} changed; is the splitter seeded?")
        return SplitWork(self._data, split, self._protocol.scale)

    def steps(self, batch: Batch, work: SplitWork) -> Iterator[StepResult]:
        """Run the steps. One that fails yields its error; the others continue, except those that need its ranking."""
        rankings = dict(batch.rankings)
        for index, step in enumerate(batch.steps):
            watch = Stopwatch()
            try:
                if step.classifier is None:
                    ranking = work.select(step.method.estimator, step.n_wanted, step.seed)
                    rankings[step.method.name] = ranking
                    yield StepResult(index, ranking, None, watch.used())
                elif step.method.name in rankings:
                    values = work.evaluate(self._evaluation(step, rankings[step.method.name]), watch=watch)
                    yield StepResult(index, None, values, watch.used())
            except Exception as error:
                yield StepResult(index, None, None, watch.used(), error_text(error))

    def _evaluation(self, step: Step, ranking: list[int]) -> Evaluation:
        assert step.classifier is not None
        if len(ranking) < max(step.sizes):
            raise StudyError(f"{step.method.name} selected {len(ranking)} features, and {max(step.sizes)} were wanted.")
        convention = self._protocol.convention
        return Evaluation(step.classifier.estimator, ranking, step.sizes, step.measures, convention, step.seed)


def error_text(error: BaseException) -> str:
    """Return an error in one line.

    >>> error_text(ValueError("too  few"))
    'ValueError: too few'
    """
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:MAX_ERROR_LENGTH]


class BatchProgress:
    """The progress of a batch in another process: the number of finished steps, and the rankings that they gave."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._n_finished = 0
        self._rankings = dict(batch.rankings)

    def record(self, result: StepResult) -> bool:
        """Record the result of a step; False if it was known, as when the batch was restarted elsewhere."""
        if result.index < self._n_finished:
            return False
        self._n_finished = result.index + 1
        if result.ranking is not None:
            self._rankings[self.batch.steps[result.index].method.name] = result.ranking
        return True

    def fail_current(self, error: str, seconds: float) -> tuple[StepResult | None, Batch | None]:
        """Return a failed result for the step at which the worker died, and a batch of the steps that can still run."""
        left = self._runnable(self.batch.steps[self._n_finished :])
        if not left:
            return None, None
        failed = left[0]
        result = StepResult(self.batch.steps.index(failed), None, None, ResourcesUsed(seconds, None), error)
        if failed.classifier is None:  # without its ranking there is nothing to evaluate
            left = [step for step in left if step.method.name != failed.method.name]
        rest = [step for step in left if step is not failed]
        return result, replace(self.batch, steps=rest, rankings=self._rankings) if rest else None

    def _runnable(self, steps: list[Step]) -> list[Step]:
        """Return steps with a ranking; evaluations of a failed selection were recorded with it."""
        known = {*self._rankings, *(step.method.name for step in steps if step.classifier is None)}
        return [step for step in steps if step.method.name in known]
