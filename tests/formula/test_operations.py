"""Reducers: an operation owns what depends on it, and nothing unknown is computed as something else."""

import copy
import pickle
from dataclasses import dataclass, fields

import numpy as np
import pytest

import labelsieve.formula as language
from labelsieve import Criterion, LabelwiseSieve, Sieve
from labelsieve.counting.workspace import Workspace
from labelsieve.formula import Formula, FormulaError, I, Plan, f, pa, s, sum_y, y, z
from labelsieve.formula.lowering import lower
from labelsieve.formula.nodes import Apply, Reduce
from labelsieve.formula.plan import check_open
from labelsieve.formula.values import MAX, MEAN, MIN, SUM, Operation
from labelsieve.information import Codes
from tests.support.criterion_cases import make_case, make_parents

BODIES = {"s": I(f, y | s), "y": I(f, y), "z": I(f, y | z), "pa": I(y, pa | f)}
REDUCERS = [f"{operation}_{variable}" for variable in BODIES for operation in ("sum", "mean", "min", "max")]


class Scored(Criterion):
    first = sum_y(I(f, y))

    def __init__(self, score):
        self.score = score


@dataclass(frozen=True, repr=False)
class Squared(Formula):
    """A node that nothing in the package knows."""

    body: Formula

    @property
    def children(self):
        return (self.body,)

    def text(self):
        return [self.body, "^2"]


def fit(score, selector=Sieve, seed=7, **parameters):
    X, Y = make_case(seed, n_targets=4)
    parents = make_parents(seed, Y.shape[1])
    return selector(Scored(score), discretizer=None, n_features_to_select=4, parents=parents, **parameters).fit(X, Y)


def reduced(operation, variable):
    body = Reduce(operation, variable, BODIES[variable])
    return body if variable == "y" else sum_y(body)


def unknown(*_):
    return Squared(sum_y(I(f, y)))


@pytest.mark.parametrize(
    "refuse",
    [
        lambda: lower(unknown()),
        lambda: lower(1 + language.sqrt(unknown())),
        lambda: check_open(unknown(), "score"),
        lambda: Plan(unknown()),
        lambda: Plan(sum_y(I(f, y)), first=unknown()),
        lambda: type("Mine", (Criterion,), {"score": unknown()}),
        lambda: fit(unknown(), LabelwiseSieve),
    ],
    ids=["lowering", "lowering inside", "checks", "plan", "plan, first", "criterion", "selector"],
)
def test_an_unknown_node_raises(refuse):
    with pytest.raises(FormulaError, match="Squared is not a node that formulas can have"):
        refuse()


@pytest.mark.parametrize("variable", BODIES)
@pytest.mark.parametrize("operation", ["median", "max", None, np.maximum])
def test_what_is_not_an_operation_raises(operation, variable):
    with pytest.raises(FormulaError, match="is not an operation that a reducer can have"):
        Reduce(operation, variable, BODIES[variable])


def test_an_unknown_variable_domain_or_function_raises():
    with pytest.raises(FormulaError, match="'p' is not a variable that a reducer can run over"):
        Reduce(SUM, "p", BODIES["pa"])
    with pytest.raises(FormulaError, match="'before' is not a domain of a reducer"):
        Reduce(SUM, "y", BODIES["y"], "before")
    with pytest.raises(FormulaError, match="'largest' is not a function of formulas"):
        Apply("largest", (I(f, y), I(f, s)))


@pytest.mark.parametrize("name", REDUCERS)
def test_every_operation_has_a_reducer_over_every_variable(name):
    operation, variable = name.split("_")
    formula = getattr(language, name)(BODIES[variable])
    assert formula.operation == {"sum": SUM, "mean": MEAN, "min": MIN, "max": MAX}[operation]
    assert formula.variable == variable
    assert str(formula) == f"{name}({BODIES[variable]})"


@pytest.mark.parametrize("variable", BODIES)
@pytest.mark.parametrize("same", [SUM, MEAN, MIN, MAX], ids=lambda operation: operation.name)
def test_nothing_depends_on_the_name_of_an_operation(same, variable):
    """An operation that is defined elsewhere is computed by what it does, also where it cannot be moved inward."""
    other = Operation("another", same.ufunc, same.identity, same.linear, same.averages)
    ours, expected = fit(reduced(other, variable)), fit(reduced(same, variable))
    assert np.array_equal(ours.selected_, expected.selected_)
    np.testing.assert_allclose(ours.scores_, expected.scores_, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", REDUCERS)
def test_targets_evaluated_together_have_the_scores_of_each_alone(name):
    variable = name.split("_")[1]
    score = getattr(language, name)(BODIES[variable])
    score = score if variable == "y" else sum_y(score)
    X, Y = make_case(7, n_targets=4)
    together = fit(score, LabelwiseSieve)
    for target in range(4):
        workspace, parents = Workspace(Codes.from_values(X), Codes.from_values(Y)), make_parents(7, 4)
        plan = Scored(score).plan
        scorer = plan.bind(workspace, targets=slice(target, target + 1), parents=parents)
        for step, feature in enumerate(together.selected_[target]):
            scores = scorer.scores()
            assert together.scores_[target, step] == scores[feature]
            scorer.select(int(feature))


def test_extremes_of_no_target_are_zero():
    X, Y = make_case(7, n_targets=1)
    for name in ("mean_z", "min_z", "max_z"):
        score = sum_y(getattr(language, name)(I(f, y | z))) + 0.0 * sum_y(I(f, y))
        assert not Sieve(Scored(score), discretizer=None).fit(X, Y).scores_[1:].any()


@pytest.mark.parametrize("again", [copy.deepcopy, lambda formula: pickle.loads(pickle.dumps(formula))], ids=["copy", "pickle"])
@pytest.mark.parametrize("name", REDUCERS)
def test_a_copied_formula_is_the_same(name, again):
    formula = getattr(language, name)(BODIES[name.split("_")[1]])
    assert again(formula) == formula
    assert hash(again(formula)) == hash(formula)
    assert lower(again(formula)) == lower(formula)


def test_planning_and_fitting_leave_nodes_as_they_are():
    score = sum_y(I(f, y)) - language.mean_s(I(f, s)) + language.sum_s(language.pos(I(f, s)))
    fit(score)
    for node in score.walk():
        assert set(vars(node)) <= {*(field.name for field in fields(node)), "free", "is_static"}
