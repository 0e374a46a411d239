"""What a formula says about itself: its text is what was written, and its explanation is what is counted."""

import pytest

import labelsieve.formula as language
from labelsieve import Sieve
from labelsieve.counting.backends import NativeBackend
from labelsieve.formula import Plan
from labelsieve.registry import CRITERIA
from tests.support.criterion_cases import make_case

WORDS = {name: getattr(language, name) for name in language.__all__}

WRITTEN = [
    "I(f, y)",
    "I((f, s), y)",
    "I(f, y | s)",
    "I(f, y | (f, s))",
    "H(f)",
    "H((f, s, y))",
    "H((f, s) | y)",
    "H(f | (s, y))",
    "co(f, y, z)",
    "co((f, s), y, f)",
    "sum_y(I(f, y) - mean_s(I(f, s)))",
    "sum_y(I(f, y)) * (1 - sum_s(I(f, s) / H(f)))",
    "sum_y(sum_s(I((f, s), y) / H((f, s, y))))",
    "sum_y(I(f, y)) - sum_yz(co(f, y, z)) - sum_s(sum_y(co(f, s, y)))",
    "sum_y(I(f, y)) - sum_yz(co(f, y, z), top=3)",
    "sum_y(I(f, y) - mean_st(I(f, s | t))) + sum_st(H((s, t)) - H(f | t))",
    "sum_y(max_z(pos(I(f, y | z) - I(f, y))))",
    "sum_y(I(f, y) + mean_pa(I(y, pa | f)) + sum_pa(I(y, pa | f)))",
    "max_y(sum_z(I(f, y | z))) + mean_y(H(y | f))",
    "minimum(I(f, S), max_s(I(f, s)))",
    "maximum(sqrt(H(f)), 2 * min_s(H(f | s)))",
    "(I(f, y) + H(f)) / 2",
    "I(f, y) / (H(f) * H(y))",
    "I(f, y) / (H(f) / H(y))",
    "I(f, y) / H(f) / H(y)",
    "I(f, y) - (H(f) - H(y))",
    "I(f, y) - H(f) * H(y)",
    "I(f, y) - 0.25 * H(f)",
    "-I(f, y) + 3",
    "-(I(f, y) + H(f))",
    "1 - I(f, y)",
    "2 / H(f)",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_a_formula_reads_as_it_was_written(text):
    formula = eval(text, dict(WORDS))
    assert str(formula) == repr(formula) == text


@pytest.mark.parametrize(
    "text", ["I(f, y) - 2", "1000000 * H(f)", "0.123456789 * H(f)"], ids=["less a number", "a million", "nine digits"]
)
def test_numbers_read_as_they_were_written(text):
    assert str(eval(text, dict(WORDS))) == text


@pytest.mark.parametrize("name", CRITERIA)
def test_a_criterion_read_from_its_text_is_itself(name):
    criterion = CRITERIA[name]()
    assert eval(str(criterion.score), dict(WORDS)) == criterion.score
    assert repr(criterion) == f"{CRITERIA[name].__name__}(score={criterion.score})"


def tables_of(explanation):
    """Lines of an explanation that list tables, as (when, what, count)."""
    lines = [line for line in explanation.splitlines() if line.endswith(" tables")]
    parts = [(line.split(":")[0], line.split(":", 1)[1].rsplit(None, 2)) for line in lines]
    return [(when, what.strip(), int(count.replace(",", ""))) for when, (what, count, _) in parts]


EXPLAINED = {
    "mim": [("once", "tables (f, y), added over the targets", 200 * 30)],
    "mrmr": [("once", "tables (f, y), added over the targets", 200 * 30), ("each step", "tables (f, s)", 200)],
    "jmi": [
        ("once", "tables (f, y), added over the targets", 200 * 30),
        ("each step", "tables (f, s, y), added over the targets", 200 * 30),
    ],
    "cmi": [("each step", "tables (f, S, y), added over the targets", 200 * 30)],
    "cmim": [
        ("once", "tables (f, y), added over the targets", 200 * 30),
        ("each step", "tables (f, s, y), for every target", 200 * 30),
    ],
    "pmu": [
        ("once", "tables (f, y), added over the targets", 200 * 30),
        ("each step", "tables (f, s, y), added over the targets", 200 * 30),
        ("once", "tables (f, z, y), added over the targets", 200 * 30 * 29 // 2),
    ],
}


@pytest.mark.parametrize("name", EXPLAINED)
def test_an_explanation_lists_the_tables_that_are_counted(name):
    explanation = Sieve(name).explain(n_rows=1000, n_features=200, n_targets=30)
    assert explanation.startswith(f"{name}: {CRITERIA[name]().score}\n")
    assert tables_of(explanation) == EXPLAINED[name]
    assert "packed bits 0.1 MB" in explanation  # 200 columns of five levels, four of them listed: 100,000 bytes


def test_an_explanation_of_joint_targets_is_that_of_one_target():
    joint = Sieve("jmi", targets="joint").explain(1000, 200, 30)
    assert joint == Sieve("jmi").explain(1000, 200, 1)


def test_an_explanation_of_fimf_lists_the_pairs_of_top_labels_alone():
    tables = tables_of(Sieve("fimf").explain(1000, 200, 30))
    assert ("once", "tables (f, z, y), added over the targets", 200 * 10 * 9 // 2) in tables


@pytest.mark.parametrize("name", CRITERIA)
def test_what_a_formula_does_not_mention_is_never_counted(name, monkeypatch):
    """Panels with targets are asked for after a pick only by formulas with a term of candidate, selected and target."""
    monkeypatch.setattr(NativeBackend, "candidates", lambda backend: None)  # no search counts candidates one by one
    asked = []

    def watched(count):
        def ask(*arguments, targets=slice(None), **options):
            asked.append(targets != slice(0))
            return count(*arguments, targets=targets, **options)

        return ask

    X, Y = make_case(2, n_targets=4)
    sieve = Sieve(name, discretizer=None, n_features_to_select=1, warm_start=True).fit(X, Y)
    for method in ("panel", "fold_given_feature"):
        monkeypatch.setattr(NativeBackend, method, watched(getattr(NativeBackend, method)))
    sieve.set_params(n_features_to_select=4).fit(X, Y)
    plan = CRITERIA[name]().plan
    wants_triples = any(given in plan.needs and (plan.needs[given].total or plan.needs[given].full) for given in "sS")
    assert any(asked) == wants_triples
    assert bool(asked) == (not plan.is_ranking)


def test_rankings_are_known_as_such():
    assert {name for name in CRITERIA if CRITERIA[name]().plan.is_ranking} == {"mim", "enm", "fimf"}


def test_a_custom_plan_explains_itself_by_name():
    plan = Plan(language.sum_y(language.I(language.f, language.y)), name="mine")
    assert plan.explain(10, 20, 3).splitlines()[0] == "mine: sum_y(I(f, y))"
