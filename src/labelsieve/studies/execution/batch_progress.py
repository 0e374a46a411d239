"""How far somebody else has come with a batch, and what is to do when he is lost."""

from dataclasses import replace

from labelsieve.studies.execution.pending_steps import Batch, Step
from labelsieve.studies.execution.resources_used import Spent
from labelsieve.studies.execution.step_runner import Done


class Accumulator:
    """A batch that was given away: which of its steps are known, and the rankings that came of them."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._next = 0
        self._rankings = dict(batch.rankings)

    def note(self, done: Done) -> bool:
        """Take what came of a step; False if it was known, as when a batch is begun anew somewhere else."""
        if done.place < self._next:
            return False
        self._next = done.place + 1
        if done.ranking is not None:
            self._rankings[self.batch.steps[done.place].method.name] = done.ranking
        return True

    def lost(self, why: str, seconds: float) -> tuple[Done | None, Batch | None]:
        """The step that took its worker with it, as failed, and a batch of those that can still be done."""
        left = self._left(self.batch.steps[self._next :])
        if not left:
            return None, None
        failed = left[0]
        lost = Done(self.batch.steps.index(failed), None, None, Spent(seconds, None), why)
        if failed.classifier is None:  # without its ranking there is nothing to evaluate
            left = [step for step in left if step.method.name != failed.method.name]
        rest = [step for step in left if step is not failed]
        return lost, replace(self.batch, steps=rest, rankings=self._rankings) if rest else None

    def _left(self, steps: list[Step]) -> list[Step]:
        """Steps that can be done; evaluations of a selection that failed were recorded with it."""
        known = {*self._rankings, *(step.method.name for step in steps if step.classifier is None)}
        return [step for step in steps if step.method.name in known]
