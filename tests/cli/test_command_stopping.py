"""``labelsieve select -k RULE``: the rules of the library, by name, and where they make no sense."""

import json

import pytest

from labelsieve import QuadraticSieve, Sieve
from labelsieve.registry import STOPPING_RULES, make_stopping_rule
from labelsieve.stopping import FDR, CrossValidated, GTest, Knee, PermutationTest, ScoreThreshold
from tests.support.command_line import refusal, run, table_fixtures

TYPED = {
    "threshold:threshold=0.1": ScoreThreshold(0.1),
    "threshold:threshold=0.3:relative=true:of=added": ScoreThreshold(0.3, relative=True, of="added"),
    "knee": Knee(),
    "g-test:given=all": GTest(given="all"),
    "fdr:alpha=0.02": FDR(0.02),
    "permutation:alpha=0.02:n_permutations=49": PermutationTest(0.02, n_permutations=49),
    "cross-validation:cv=3:max_features=5": CrossValidated(cv=3, max_features=5),
}


frame, file = table_fixtures(200)


def test_every_rule_is_tried_here():
    assert {text.split(":")[0] for text in TYPED} == set(STOPPING_RULES)


@pytest.mark.parametrize("text", TYPED)
def test_a_rule_keeps_what_it_keeps_in_python(frame, file, text):
    expected = Sieve("cmim", n_features_to_select=TYPED[text]).fit(frame.iloc[:, :-5].to_numpy(), frame.iloc[:, -5:].to_numpy())
    result = run("select", file, "--labels", 5, "--criterion", "cmim", "-k", text, "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert [feature["column"] for feature in document["selected"]] == expected.selected_.tolist()
    assert document["stopping"][0]["reason"] == expected.stopping_.reason_


def test_the_table_says_why_it_stopped(file):
    shown = run("select", file, "--labels", 5, "-k", "g-test:max_features=1").stdout
    assert "1 of 20 features" in shown
    assert shown.rstrip().endswith("GTest: max_features.")
    nothing = run("select", file, "--labels", 5, "--criterion", "cmim", "-k", "threshold:threshold=99")
    assert (nothing.exit_code, "0 of 20 features" in nothing.stdout) == (0, True)


def test_a_share_and_all_are_numbers_of_features(file):
    assert "4 of 20 features" in run("select", file, "--labels", 5, "-k", "20%").stdout
    assert "20 of 20 features" in run("select", file, "--labels", 5, "-k", "all").stdout


def test_weights_of_a_quadratic_program_are_cut_at_a_share_of_the_largest(frame, file):
    document = json.loads(
        run(
            "select", file, "--labels", 5, "--criterion", "mlqpfs", "-k", "threshold:threshold=0.5:relative=true", "--json"
        ).stdout
    )
    weights = QuadraticSieve(n_features_to_select=None).fit(frame.iloc[:, :-5], frame.iloc[:, -5:]).weights_
    assert len(document["selected"]) == (weights > 0.5 * weights.max()).sum() > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-k", "often"), "or a stopping rule. 'often' is not a number of features. Known: auto, all, threshold, knee"),
        (("-k", "g-test:color=1"), "g-test takes no color; GTest has alpha"),
        (("-k", "g-test:alpha=2"), "alpha must be between 0 and 1"),
        (("-k", "g-test", "--targets", "copy"), "counts rows several times"),
        (("-k", "g-test", "--criterion", "chi-square"), "tests what a feature adds to those selected before it"),
        (("-k", "knee", "--criterion", "relieff"), "use Knee(of='score')"),
        (("-k", "g-test", "--criterion", "pptmi"), "pptmi does not support stopping rules"),
        (("-k", "cross-validation", "--labelwise"), "CrossValidated evaluates predictions of all targets together"),
        (("-k", "0"), "a whole number from 1, a fraction such as 10%, or all"),
        (("-k", "some"), "a whole number from 1, a fraction such as 10%, or all"),
        (("--json", "--format", "csv"), "exclude each other"),
        (("--discretizer", "mdl", "--codes"), "exclude each other"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(file, options, message):
    assert message in refusal("select", file, "--labels", 5, *options)


def test_a_learner_is_named_as_in_compare(file):
    text = "cross-validation:estimator=brknn:measure=macro_f1:cv=3:max_features=3"
    assert "By cross-validation the best number of features is " in run("select", file, "--labels", 5, "-k", text).stdout


def test_names_are_those_of_the_rules():
    for name, rule in STOPPING_RULES.items():
        assert type(make_stopping_rule(name)) is rule
