"""Every criterion of the catalogue on data of which the right answer is known."""

from dataclasses import dataclass

from labelsieve.criteria import CATALOGUE, criterion_named
from labelsieve.datasets.synthetic import KnownAnswer, Role, make_known_answer
from labelsieve.information.formula import Formula
from labelsieve.selection import Sieve


@dataclass(frozen=True)
class Outcome:
    """What one criterion chose.

    ``sees_interaction`` is true when its formula has tables of a candidate, a chosen feature and a label: without them, a
    feature that is useful only beside another one cannot show.
    """

    criterion: str
    chosen: tuple[int, ...]
    found: dict[Role, int]
    sees_interaction: bool


@dataclass(frozen=True)
class Demo:
    """The data, and what every criterion made of it."""

    data: KnownAnswer
    outcomes: tuple[Outcome, ...]

    def share(self, outcome: Outcome, role: Role) -> str:
        """How many features of this role were taken, of how many there are."""
        return f"{outcome.found[role]}/{self.data.roles.count(role)}"

    def sentences(self) -> list[str]:
        """What one sees, in words."""
        return [self._who_found_all(), self._who_found_the_pair(), self._who_was_misled()]

    def _who_found_all(self) -> str:
        complete = [one.criterion for one in self.outcomes if set(one.chosen) == set(self.data.answer)]
        what = f"exactly the {len(self.data.answer)} features that matter"
        if not complete:
            return f"None of the {len(self.outcomes)} criteria chose {what}."
        return f"{len(complete)} of {len(self.outcomes)} criteria chose {what}: {', '.join(complete)}."

    def _who_found_the_pair(self) -> str:
        pair = self.data.roles.count("xor")
        found = {
            kind: [one.found["xor"] == pair for one in self.outcomes if one.sees_interaction is kind] for kind in (True, False)
        }
        return (
            f"The xor pair was found by {sum(found[True])} of the {len(found[True])} criteria that count a candidate together "
            f"with a chosen feature and a label, and by {sum(found[False])} of the {len(found[False])} that do not."
        )

    def _who_was_misled(self) -> str:
        return f"{self._takers('redundant', 'a redundant copy')}; {self._takers('noise', 'a noise feature')}."

    def _takers(self, role: Role, what: str) -> str:
        taken = [one.found[role] for one in self.outcomes if one.found[role]]
        most = f" (at most {max(taken)} of {self.data.roles.count(role)})" if taken else ""
        return f"{len(taken)} took {what}{most}"


def run_demo(n_rows: int = 2000, random_state: int = 0) -> Demo:
    """Let every criterion choose as many features as matter.

    >>> demo = run_demo(n_rows=500)
    >>> first = demo.outcomes[0]
    >>> first.criterion, demo.share(first, "relevant")
    ('mim', '4/4')
    """
    data = make_known_answer(n_rows, random_state)
    outcomes = []
    for name in CATALOGUE:
        sieve = Sieve(name, n_features_to_select=len(data.answer)).fit(data.X, data.Y)
        chosen = tuple(int(column) for column in sieve.selected_)
        roles: list[Role] = [data.roles[column] for column in chosen]
        found = {role: roles.count(role) for role in set(data.roles)}
        outcomes.append(Outcome(name, chosen, found, sees_interaction(criterion_named(name).score)))
    return Demo(data, tuple(outcomes))


def sees_interaction(score: Formula) -> bool:
    """True when some term has a candidate, a chosen feature and a label in it.

    >>> sees_interaction(criterion_named("jmi").score), sees_interaction(criterion_named("mrmr").score)
    (True, False)
    """
    terms = [node.free for node in score.walk() if not node.parts]
    return any({"f", "y"} <= variables and variables & {"s", "S"} for variables in terms)
