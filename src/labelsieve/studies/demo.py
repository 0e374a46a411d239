"""Every criterion of the catalog on data of which the right answer is known."""

from dataclasses import dataclass, replace

from labelsieve.datasets.synthetic.feature_roles import Kind, SyntheticData, make_feature_roles
from labelsieve.formula import Formula
from labelsieve.registry import CRITERIA, make_criterion
from labelsieve.selectors.sieve import Sieve

# How the kinds of features are called where there is little room.
SHORT: dict[Kind, str] = {"relevant": "rel", "joint": "xor", "noisy copy": "copy", "irrelevant": "noise"}
# How often the second switch is on. The outcome hangs on it: without a lean no search that takes one feature at a time can tell
# a switch from noise, and with 0.65 nearly all take copies first. 0.75 is where, over a few seeds, each criterion did much the
# same thing every time; it was picked for that, after looking.
LEAN = 0.75


@dataclass(frozen=True)
class Outcome:
    """What one criterion chose.

    ``sees_interaction`` is true when its formula has tables of a candidate, a chosen feature and a label: without them, a
    feature that is useful only beside another one cannot show.
    """

    criterion: str
    chosen: tuple[int, ...]
    found: dict[Kind, int]
    sees_interaction: bool


@dataclass(frozen=True)
class Demo:
    """The data, and what every criterion made of it."""

    data: SyntheticData
    outcomes: tuple[Outcome, ...]

    @property
    def answer(self) -> tuple[int, ...]:
        """The features to choose: they tell all there is to know, and none of them repeats another."""
        return (*self.data.columns("relevant"), *self.data.columns("joint"))

    def share(self, outcome: Outcome, kind: Kind) -> str:
        """How many features of this kind were taken, of how many there are."""
        return f"{outcome.found[kind]}/{len(self.data.columns(kind))}"

    def sentences(self) -> list[str]:
        """What one sees, in words."""
        return [self._who_found_all(), self._who_found_the_pair(), self._who_was_misled()]

    def _who_found_all(self) -> str:
        complete = [one.criterion for one in self.outcomes if set(one.chosen) == set(self.answer)]
        what = f"exactly the {len(self.answer)} features that matter"
        if not complete:
            return f"None of the {len(self.outcomes)} criteria chose {what}."
        return f"{len(complete)} of {len(self.outcomes)} criteria chose {what}: {', '.join(complete)}."

    def _who_found_the_pair(self) -> str:
        n_both = len(self.data.columns("joint"))
        found: dict[bool, list[bool]] = {True: [], False: []}
        for one in self.outcomes:
            found[one.sees_interaction].append(one.found["joint"] == n_both)
        return (
            f"The xor pair was found by {sum(found[True])} of the {len(found[True])} criteria that count a candidate together "
            f"with a chosen feature and a label, and by {sum(found[False])} of the {len(found[False])} that do not."
        )

    def _who_was_misled(self) -> str:
        return f"{self._takers('noisy copy', 'a redundant copy')}; {self._takers('irrelevant', 'a noise feature')}."

    def _takers(self, kind: Kind, what: str) -> str:
        taken = [one.found[kind] for one in self.outcomes if one.found[kind]]
        most = f" (at most {max(taken)} of {len(self.data.columns(kind))})" if taken else ""
        return f"{len(taken)} took {what}{most}"


def demo_data(n_rows: int = 2000, random_state: int = 0) -> SyntheticData:
    """Four relevant features, a blurred copy of each, a pair of switches and ten of chance, all 0 or 1, with short names.

    Two levels for all, so that no criterion prefers a feature for its number of levels.

    >>> data = demo_data(100)
    >>> sorted(name for name, role in zip(data.feature_names, data.roles) if role.kind in ("relevant", "joint"))
    ['rel1', 'rel2', 'rel3', 'rel4', 'xor1', 'xor2']
    """
    data = make_feature_roles(
        n_rows,
        n_labels=5,
        n_relevant=4,
        n_noisy_copies=4,
        n_xor_pairs=1,
        n_irrelevant=10,
        xor_lean=LEAN,
        n_levels=2,
        random_state=random_state,
    )
    names = [""] * len(data.roles)
    for kind, short in SHORT.items():
        for number, column in enumerate(data.columns(kind), 1):
            origin = data.roles[column].copy_of
            names[column] = f"{short}{number}" if origin is None else f"{short}{names[origin].removeprefix('rel')}"
    return replace(data, feature_names=tuple(names))


def run_demo(n_rows: int = 2000, random_state: int = 0) -> Demo:
    """Let every criterion choose as many features as matter, and compare what it took with the roles of the features.

    >>> demo = run_demo(n_rows=500)
    >>> first = demo.outcomes[0]
    >>> first.criterion, demo.share(first, "relevant")
    ('mim', '4/4')
    """
    data = demo_data(n_rows, random_state)
    n_right = len(data.columns("relevant")) + len(data.columns("joint"))
    outcomes = []
    for name in CRITERIA:
        sieve = Sieve(make_criterion(name), n_features_to_select=n_right).fit(data.X, data.Y)
        chosen = tuple(int(column) for column in sieve.selected_)
        kinds = [data.roles[column].kind for column in chosen]
        found = {kind: kinds.count(kind) for kind in SHORT}
        outcomes.append(Outcome(name, chosen, found, sees_interaction(make_criterion(name).score)))
    return Demo(data, tuple(outcomes))


def sees_interaction(score: Formula) -> bool:
    """True when some term has a candidate, a chosen feature and a label in it.

    >>> sees_interaction(make_criterion("jmi").score), sees_interaction(make_criterion("mrmr").score)
    (True, False)
    """
    terms = [node.free for node in score.walk() if not node.children]
    return any({"f", "y"} <= variables and variables & {"s", "S"} for variables in terms)
