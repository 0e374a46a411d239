"""What goes with what: the combinations of data, criterion and options that a Sieve refuses, checked before data are read."""

from collections.abc import Callable
from dataclasses import dataclass

from labelsieve.criteria import Hybrid, JoinedMIM
from labelsieve.errors import InputError
from labelsieve.labelspace import refusal
from labelsieve.registry import ResolvedMethod
from labelsieve.stopping import CrossValidated, Knee, PermutationTest, ScoreThreshold, StoppingRule

KINDS = ("formula", "joined", "least squares", "hybrid")
_OF_KIND = {
    "formula": "a formula",
    "joined": "labels joined after scoring (br-infogain, gmm)",
    "least squares": "least squares (omp)",
    "hybrid": "information and least squares (hybrid, the default)",
}


@dataclass(frozen=True)
class Request:
    """A fit that was asked for: the method, the kind of the data, and the options that not every method supports."""

    method: ResolvedMethod
    stored: bool = False  # a ChunkedTable or a Dask collection
    counted: bool = False  # PairCounts
    rule: StoppingRule | None = None
    target_weight: bool = False

    @property
    def kind(self) -> str:
        """The kind of the criterion: one of ``KINDS``."""
        criterion = self.method.criterion
        if isinstance(criterion, JoinedMIM):
            return "joined"
        if isinstance(criterion, Hybrid):
            return "hybrid"
        return "formula" if self.method.linear is None else "least squares"


@dataclass(frozen=True)
class Refusal:
    """An option, the kinds of criteria that do not support it, and the reason with the remedy."""

    option: str
    asked: Callable[[Request], bool]
    kinds: tuple[str, ...]
    reason: str


_LINEAR = ("least squares", "hybrid")
_OF_ADDED = (ScoreThreshold, Knee)


def _of_scores(request: Request) -> bool:
    return isinstance(request.rule, _OF_ADDED) and request.rule.of == "score"


def _of_added(request: Request) -> bool:
    return isinstance(request.rule, _OF_ADDED) and request.rule.of == "added"


def _of_counts(request: Request) -> bool:
    return request.rule is not None and not isinstance(request.rule, (*_OF_ADDED, CrossValidated, PermutationTest))


_NO_COUNTS = (
    "the rule tests what a feature adds to those selected before it, by counts that this method does not have; use "
    "ScoreThreshold, Knee(of='score'), CrossValidated or a number."
)


#: Every combination that is refused because of the kind of its criterion, in the order in which they are checked.
REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        "PairCounts",
        lambda request: request.counted,
        (*_LINEAR, "joined"),
        "PairCounts have counts of pairs alone; use a criterion whose formula needs no more, such as Sieve('mrmr').",
    ),
    Refusal(
        "target_weight",
        lambda request: request.target_weight,
        ("joined",),
        "target_weight is for sums over the targets; use a criterion such as Sieve('cmim').",
    ),
    Refusal(
        "stopping rule by scores",
        _of_scores,
        ("hybrid",),
        "its scores are relative to the best candidate of every step and do not decrease; use of='added', GTest, "
        "CrossValidated or a fixed number, or another criterion, such as cmim.",
    ),
    Refusal(
        "permutation test",
        lambda request: isinstance(request.rule, PermutationTest),
        ("hybrid",),
        "its scores are relative to the best candidate of every step, also with permuted targets; use GTest, FDR or "
        "CrossValidated, or another criterion, such as cmim.",
    ),
    Refusal(
        "permutation test",
        lambda request: isinstance(request.rule, PermutationTest),
        ("joined",),
        "the rule permutes the targets of a formula, and these scores are joined after scoring; use GTest, CrossValidated or a "
        "number.",
    ),
    Refusal("permutation test", lambda request: isinstance(request.rule, PermutationTest), ("least squares",), _NO_COUNTS),
    Refusal("other tests (g-test, fdr)", _of_counts, ("least squares",), _NO_COUNTS),
    Refusal(
        "stopping rule by added information",
        _of_added,
        ("least squares",),
        "the added information is not available for this method; use of='score'.",
    ),
)


def require_supported(request: Request) -> None:
    """Raise an error that names the reason and the remedy if the combination is not supported."""
    method, caller = request.method, f"Sieve({request.method.name})"
    for each in REFUSALS:
        if request.kind in each.kinds and each.asked(request):
            raise InputError(f"{caller}: {each.reason}")
    if method.formula is not None:
        plan = method.formula.plan
        needs = [*plan.target_needs, *(("weights of targets",) if request.target_weight else ())]
        # Every label space has sums over targets; a formula that needs no more fits all of them.
        reason = None if needs == ["sums over targets"] else refusal(needs, method.space)
        if request.target_weight and not plan.takes_target_weights:
            reason = "target_weight is for sums over the targets, and this formula pairs or compares them."
        if reason is not None:
            raise InputError(f"{caller}: {reason}")
    if request.counted and method.space.name != "single":
        raise InputError(f"PairCounts are counts of single targets; use targets='single', not {method.space.name!r}.")
    if request.rule is not None and (request.stored or request.counted):
        raise InputError("A stopping rule needs the table in memory; give a number of features, a fraction, or 'all'.")
    if request.rule is not None and request.rule.is_test:
        method.discretizer.require_unsupervised(type(request.rule).__name__)


def support_table() -> str:
    """The table in Markdown that the documentation shows: options in rows, kinds of criteria in columns.

    >>> print(support_table().splitlines()[0][:30])
    | option | a formula | labels
    """
    lines = [f"| option | {' | '.join(_OF_KIND[kind] for kind in KINDS)} |", "|---" * (len(KINDS) + 1) + "|"]
    for option in dict.fromkeys(each.option for each in REFUSALS):
        refused = {kind for each in REFUSALS if each.option == option for kind in each.kinds}
        lines.append(f"| {option} | {' | '.join('no' if kind in refused else 'yes' for kind in KINDS)} |")
    return "\n".join(lines)
