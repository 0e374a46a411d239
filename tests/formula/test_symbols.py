"""A wrong formula raises an error that shows it and underlines the node."""

import numpy as np
import pytest

import labelsieve.formula as language
from labelsieve import Criterion, InputError, Sieve
from labelsieve.criteria import FIMF, MIFS, MLFS, PMU, BetaGamma
from labelsieve.formula import FormulaError, H, I, co, f, mean_s, s, sum_s, sum_y, sum_yz, sum_z, y, z
from labelsieve.registry import CRITERIA

WORDS = {name: getattr(language, name) for name in language.__all__}
X, Y = np.arange(40).reshape(10, 4) % 3, np.arange(20).reshape(10, 2) % 2


def read(text):
    return eval(text, dict(WORDS))


def refusal(function, error=FormulaError):
    with pytest.raises(error) as caught:
        function()
    return str(caught.value)


def underlined(message):
    """The formula of a message, and the part of it that stands over the carets."""
    *_, formula, carets = message.splitlines()
    assert set(carets) == {" ", "^"}, message
    return formula.strip(), formula[carets.index("^") : len(carets)]


def make_criterion(**formulas):
    return type("Mine", (Criterion,), formulas)


# The wrong formula, its message, and the underlined node.
WRONG_TERMS = {
    "I((f, s), (y, z))": ("three variables at the most", "I((f, s), (y, z))"),
    "H((f, s, y, z))": ("three variables at the most", "H((f, s, y, z))"),
    "sum_s(co((f, s), y, z))": ("three variables at the most", "co((f, s), y, z)"),
    "I(f, s | S)": ("s is part of S", "I(f, s | S)"),
    "I(s, z | f)": ("Pairs of targets cannot be combined with selected features", "I(s, z | f)"),
    "I(f, pa | S)": ("Pairs of targets cannot be combined with selected features", "I(f, pa | S)"),
    "I(f, z | pa)": ("z and pa are both second targets", "I(f, z | pa)"),
    "sum_s(I(f, y))": ("sum_s has nothing to run over: s is not mentioned", "I(f, y)"),
    "min_s(I(f, y) + H(f))": ("min_s has nothing to run over: s is not mentioned", "I(f, y) + H(f)"),
    "mean_st(I(f, s))": ("mean_st has nothing to run over: t is not mentioned", "I(f, s)"),
    "sum_st(H(f) + I(f, t))": ("sum_st has nothing to run over: s is not mentioned", "H(f) + I(f, t)"),
    "I((s, t), y)": ("Pairs of selected features cannot be combined with targets", "I((s, t), y)"),
    "I(f, t | S)": ("t is part of S", "I(f, t | S)"),
    "mean_pa(I(f, y))": ("mean_pa has nothing to run over: pa is not mentioned", "I(f, y)"),
    "max_z(I(f, y))": ("max_z has nothing to run over: z is not mentioned", "I(f, y)"),
    "sum_y(sum_y(I(f, y)))": ("sum_y has nothing to run over: y is not mentioned", "sum_y(I(f, y))"),
}
WRONG_SCORES = {
    "I(f, y)": ("y is not inside sum_y, mean_y, min_y, max_y or sum_yz", "I(f, y)"),
    "sum_y(I(f, y)) + I(f, s)": ("s is not inside sum_s, mean_s, min_s or max_s", "I(f, s)"),
    "sum_y(I(f, y) - I(f, y | z))": ("z is not inside sum_z, mean_z, min_z, max_z or sum_yz", "I(f, y | z)"),
    "sum_y(I(f, y) + I(y, pa | f))": ("pa is not inside sum_pa, mean_pa, min_pa or max_pa", "I(y, pa | f)"),
    "sum_y(I(f, y)) + pos(H(f) - I(f, s))": ("s is not inside", "I(f, s)"),
    "sum_y(I(f, y) * sum_y(I(f, y) + H(y)))": ("a reducer over y inside another", "sum_y(I(f, y) + H(y))"),
    "sum_s(I(f, s) + mean_s(I(f, s)))": ("a reducer over s inside another", "mean_s(I(f, s))"),
    "sum_s(I(f, s) + mean_st(I(f, s | t)))": ("a reducer over s inside another", "mean_st(I(f, s | t))"),
    "sum_y(I(f, y)) + I(f, t)": ("t is not inside sum_st or mean_st", "I(f, t)"),
    "sum_st(I(f, s | t) + I(f, S))": ("S changes with every step, so it cannot be added up", "sum_st(I(f, s | t) + I(f, S))"),
    "sum_yz(co(f, y, z) + sum_y(I(f, y)))": ("a reducer over y inside another", "sum_y(I(f, y))"),
    "mean_s(I(f, s) + I(f, S))": ("S changes with every step, so it cannot be added up over s", "mean_s(I(f, s) + I(f, S))"),
    "sum_y(sum_z(mean_s(pos(I(f, s) - I(f, y | z)))))": (
        "what is added up over s cannot depend on a pair of targets",
        "mean_s(pos(I(f, s) - I(f, y | z)))",
    ),
    "sum_y(sum_pa(max_s(I(f, s) + I(y, pa | f))))": (
        "what is added up over s cannot depend on a pair of targets",
        "max_s(I(f, s) + I(y, pa | f))",
    ),
    "sum_y(I(f, y)) + sum_pa(I(f, pa))": ("pa belongs to a y: put it inside sum_y", "sum_pa(I(f, pa))"),
    "sum_z(I(f, z))": ("z belongs to a y: put it inside sum_y", "sum_z(I(f, z))"),
    "sum_z(sum_y(co(f, y, z)))": ("z belongs to a y: put it inside sum_y", "sum_z(sum_y(co(f, y, z)))"),
}
WRONG_FIRSTS = {
    "sum_s(I(f, s))": "sum_s(I(f, s))",
    "sum_y(I(f, y)) - mean_s(I(f, s))": "mean_s(I(f, s))",
    "sum_y(I(f, y | S))": "I(f, y | S)",
    "sum_y(I(f, y)) - mean_st(I(f, s | t))": "mean_st(I(f, s | t))",
}


@pytest.mark.parametrize("text", WRONG_TERMS)
def test_a_term_that_cannot_be_counted_is_refused_where_it_is_written(text):
    problem, node = WRONG_TERMS[text]
    message = refusal(lambda: read(text))
    assert problem in message
    formula, marked = underlined(message)
    assert formula in text
    assert marked == node


@pytest.mark.parametrize("text", WRONG_SCORES)
def test_an_open_variable_is_refused_when_the_criterion_is_made(text):
    problem, node = WRONG_SCORES[text]
    message = refusal(lambda: make_criterion(score=read(text)))
    assert message.startswith("Mine, score: ")
    assert problem in message
    assert underlined(message) == (text, node)


@pytest.mark.parametrize("text", WRONG_FIRSTS)
def test_a_first_rule_that_looks_at_the_selected_is_refused(text):
    message = refusal(lambda: make_criterion(first=read(text), score=sum_y(I(f, y))))
    assert message.startswith("Mine, first: nothing is selected yet")
    assert underlined(message) == (text, WRONG_FIRSTS[text])


@pytest.mark.parametrize("text", ["sum_y(min_s(I(f, y | s)))", "sum_y(I(f, y)) - max_s(I(f, s))"])
def test_an_extreme_over_the_selected_needs_a_first_rule(text):
    message = refusal(lambda: make_criterion(score=read(text)))
    assert "give `first`" in message
    assert message.endswith(f"    {text}")
    assert make_criterion(first=sum_y(I(f, y)), score=read(text))


@pytest.mark.parametrize("text", ["sum_y(H(y))", "H(S)", "sum_s(sum_y(I(s, y)))"])
def test_a_formula_without_the_candidate_is_refused(text):
    for which in ("score", "first"):
        message = refusal(lambda which=which: make_criterion(**{"score": sum_y(I(f, y)), which: read(text)}))
        assert message.startswith(f"Mine, {which}: the candidate f is not mentioned")
        assert message.endswith(f"    {text}")


@pytest.mark.parametrize("text", ["I(f, 'y')", "I('f', y)", "H(3)", "I(f, (y, 2))", "I(f, ())", "co(f, y, None)", "H(f | 'x')"])
def test_what_is_not_a_variable_is_named_beside_the_variables_there_are(text):
    assert "is not a variable; the variables are f, s, t, S, y, z, pa" in refusal(lambda: read(text))


@pytest.mark.parametrize("text", ["I(f | s, y)", "co(f, y | z, s)", "H(f | s | y)"])
def test_a_condition_that_is_not_last_is_refused(text):
    assert "a condition goes last" in refusal(lambda: read(text))


@pytest.mark.parametrize("text", ["I(f, y) + f", "s * I(f, y)", "sum_y(y)", "pos(S)", "minimum(I(f, y), z)", "f / H(f)"])
def test_a_variable_outside_a_term_is_refused_with_a_hint(text):
    assert "a variable stands inside I(...), H(...) or co(...)" in refusal(lambda: read(text))


@pytest.mark.parametrize(
    "text", ["I(f, y) + '1'", "'2' * I(f, y)", "sum_y('x')", "I(f, y) / None", "sqrt([1])", "I(f, y) - 1j"]
)
def test_what_is_neither_formula_nor_number_is_refused(text):
    assert "is neither a formula nor a number" in refusal(lambda: read(text))


@pytest.mark.parametrize("text", ["I(f, y) and 1", "not I(f, y)", "I(f, y) if H(f) else 0", "bool(sum_y(I(f, y)))"])
def test_a_truth_value_is_refused_with_what_to_use_instead(text):
    message = refusal(lambda: read(text))
    assert "use pos, minimum or maximum instead of comparing" in message
    assert message.splitlines()[1].strip() in text


@pytest.mark.parametrize("text", ["I(f, y) > 0", "min(I(f, y), H(f))", "max(H(f), 0)", "I(f, y) <= H(f)"])
def test_a_comparison_never_gives_an_answer(text):
    refusal(lambda: read(text), (TypeError, FormulaError))


@pytest.mark.parametrize("name", [name for name in CRITERIA if CRITERIA[name]().plan.target_needs != ("sums over targets",)])
def test_pairs_of_targets_are_refused_under_joint_targets(name):
    message = refusal(lambda: Sieve(name, targets="joint", discretizer=None).fit(X, Y), InputError)
    reason = "parents are of single targets" if name == "mlfs" else "label pairs need separate targets"
    assert message == f"Sieve({name!r}): {reason}: use targets='single' (got 'joint', which is a single variable)."


def test_an_unknown_criterion_is_refused_with_the_known_ones():
    for unknown in ("jmii", "", int, "beta gamma"):
        message = refusal(lambda unknown=unknown: Sieve(unknown).fit(X, Y), InputError)
        assert f"{unknown!r} is not a criterion." in message


@pytest.mark.parametrize(
    "make", [lambda x: MIFS(x), lambda x: BetaGamma(1, x), lambda x: MLFS(beta=x), lambda x: MLFS(gamma=x)]
)
@pytest.mark.parametrize("wrong", ["0.5", [1], {"beta": 1}])
def test_a_weight_that_is_no_number_is_refused(make, wrong):
    assert "is neither a formula nor a number" in refusal(lambda: make(wrong))


@pytest.mark.parametrize("wrong", ["both", None, True])
def test_an_unknown_way_to_count_pairs_is_refused_with_the_known_ones(wrong):
    known = "'once', 'ordered', 'ordered-and-equal'"
    assert refusal(lambda: PMU(pairs=wrong), ValueError) == f"pairs must be one of {known}, not {wrong!r}."


@pytest.mark.parametrize("n_top", [2.5, "two", -1, 0])
def test_a_number_of_top_labels_that_is_no_number_is_refused(n_top):
    refusal(lambda: Sieve(FIMF(n_top=n_top), discretizer=None).fit(X, np.hstack([Y, Y])), ValueError)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_refused(number):
    refusal(lambda: Sieve(MIFS(number), discretizer=None).fit(X, Y), ValueError)


@pytest.mark.parametrize(
    "formulas",
    [
        {},
        {"score": 1},
        {"score": f},
        {"score": sum_y(I(f, y)), "first": 0},
    ],
    ids=["none", "a number", "a variable", "a number for first"],
)
def test_a_criterion_whose_score_is_no_formula_is_refused(formulas):
    refusal(lambda: Sieve(make_criterion(**formulas)(), discretizer=None).fit(X, Y), ValueError)


def test_pairs_of_targets_in_the_first_rule_are_refused_under_joint_targets():
    criterion = make_criterion(first=sum_yz(co(f, y, z)), score=sum_s(sum_y(I((f, s), y))))()
    refusal(lambda: Sieve(criterion, targets="joint", discretizer=None).fit(X, Y), InputError)


def test_the_place_is_found_when_a_term_is_used_twice():
    shared = I(f, y | z)
    message = refusal(lambda: make_criterion(score=sum_y(sum_z(shared) + shared)))
    assert message.splitlines()[-1].index("^") > message.splitlines()[-2].index("+")


def test_the_same_formula_may_be_used_twice():
    relevance = sum_y(I(f, y))
    assert str(relevance * (1 - mean_s(I(f, s) / H(f))) + relevance).count("sum_y(I(f, y))") == 2
