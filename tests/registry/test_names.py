"""Names that people type: aliases, any case, and a suggestion for every misspelled one."""

from inspect import signature

import numpy as np
import pytest
from sklearn.utils._param_validation import StrOptions

from labelsieve import InputError, LabelwiseSieve, QuadraticSieve, Sieve, chains, classifiers, discretize, selectors
from labelsieve.registry import (
    ALIASES,
    CLASSIFIERS,
    DISCRETIZERS,
    LABEL_SPACES,
    METHODS,
    STOPPING_RULES,
    make_base,
    make_classifier,
    make_count,
    make_criterion,
    make_discretizer,
    make_label_space,
    make_selector,
    make_stopping_rule,
    method_names,
)
from labelsieve.selectors import ChiSquare, ReliefF
from labelsieve.selectors.pptmi import PPTMI
from labelsieve.selectors.rankings.univariate import BaselineSieve
from labelsieve.stopping import CrossValidated, GTest, PermutationTest
from tests.support.command_line import refusal, run
from tests.support.discovery import estimator_classes
from tests.support.selection_data import assert_same_selection, make_data

KNOWN = {
    "criterion": method_names(),
    "label space": LABEL_SPACES,
    "discretizer": DISCRETIZERS,
    "stopping rule": STOPPING_RULES,
    "classifier": CLASSIFIERS,
}
MAKERS = {
    "criterion": make_selector,
    "label space": make_label_space,
    "discretizer": make_discretizer,
    "stopping rule": make_stopping_rule,
    "classifier": make_classifier,
}
ALL_ALIASES = [(kind, alias, name) for kind, aliases in ALIASES.items() for alias, name in aliases.items()]


@pytest.mark.parametrize(("kind", "alias", "name"), ALL_ALIASES)
def test_an_alias_in_any_spelling_is_its_name(kind, alias, name):
    assert name in KNOWN[kind]
    assert alias not in KNOWN[kind]
    expected = repr(MAKERS[kind](name))
    for typed in (alias, alias.upper(), alias.replace("-", "_")):
        assert repr(MAKERS[kind](typed)) == expected


@pytest.mark.parametrize("kind", KNOWN)
def test_every_name_with_a_letter_too_many_is_suggested(kind):
    for name in KNOWN[kind]:
        with pytest.raises(InputError, match=rf"Did you mean '{name}'\?"):
            MAKERS[kind](f"{name}w")


def test_aliases_select_like_their_names():
    X, Y = make_data()
    named = Sieve("mim", targets="joint", discretizer="equal-frequency", n_features_to_select=3).fit(X, Y)
    typed = Sieve("Mutual_Info", targets="powerset", discretizer="quantile", n_features_to_select=3).fit(X, Y)
    assert_same_selection(typed, named)
    assert typed.selection().method == "mim"
    assert_same_selection(ChiSquare(discretizer="uniform").fit(X, Y), ChiSquare(discretizer="equal-width").fit(X, Y))


@pytest.mark.parametrize(("name", "method"), {"anova": "mean-f", "f_classif": "mean-f", "RFE": "rfe", "lasso": "l1"}.items())
def test_names_of_methods_in_other_libraries_make_their_selectors(name, method):
    assert repr(make_selector(name)) == repr(make_selector(method))
    with pytest.raises(InputError, match=r"no formula for a greedy search; use labelsieve\.selectors\."):
        Sieve(name).fit(*make_data())


@pytest.mark.parametrize(
    ("count", "rule"),
    [("permutation", PermutationTest()), ("cv", CrossValidated()), ("g-test", GTest()), ("G_Test", GTest()), ("all", None)],
)
def test_the_number_of_features_can_be_a_word(count, rule):
    X, Y = make_data()
    sieve = Sieve("mim", n_features_to_select=count).fit(X, Y)
    expected = Sieve("mim", n_features_to_select=rule).fit(X, Y)
    assert_same_selection(sieve, expected)
    assert getattr(sieve, "stopping_", None).__class__ is rule.__class__
    assert sieve.get_params()["n_features_to_select"] == count


def test_words_for_the_number_of_features_work_in_every_selector_that_has_the_rule():
    X, Y = make_data()
    for kind in (Sieve, QuadraticSieve, ChiSquare, PPTMI, BaselineSieve, ReliefF):
        assert len(kind(n_features_to_select="all").fit(X, Y).selected_) == 8
    assert LabelwiseSieve(n_features_to_select="all").fit(X, Y).selected_.shape == (4, 8)
    assert len(LabelwiseSieve(n_features_to_select="g-test").fit(X, Y).stopping_) == 4
    assert ChiSquare(n_features_to_select="cv").fit(X, Y).stopping_ is not None
    for kind in (PPTMI, BaselineSieve):
        with pytest.raises(InputError, match=f"{kind.__name__} does not support stopping rules"):
            kind(n_features_to_select="cv").fit(X, Y)
    for typed, meant in (("cvv", "cross-validation"), ("permutatoin", "permutation"), ("al", "all")):
        with pytest.raises(InputError, match=f"is not a number of features. Did you mean '{meant}'"):
            Sieve(n_features_to_select=typed).fit(X, Y)
    assert make_count(0.5) == 0.5


def test_a_warm_start_continues_with_words():
    X, Y = make_data()
    sieve = Sieve("jmi", n_features_to_select=2, warm_start=True).fit(X, Y)
    assert_same_selection(
        sieve.set_params(n_features_to_select="all").fit(X, Y), Sieve("jmi", n_features_to_select=None).fit(X, Y)
    )


def word_parameters():
    """Every parameter of an estimator that has a fixed set of words."""
    for package in (selectors, classifiers, chains, discretize):
        for kind in estimator_classes(package):
            for name, allowed in getattr(kind, "_parameter_constraints", {}).items():
                words = [word for rule in allowed if isinstance(rule, StrOptions) for word in rule.options]
                if words and str not in allowed:
                    yield pytest.param(kind, name, max(words, key=len), id=f"{kind.__name__}-{name}")


@pytest.mark.parametrize(("kind", "name", "word"), list(word_parameters()))
def test_every_misspelled_word_of_a_parameter_is_refused_with_a_suggestion(kind, name, word):
    X, Y = make_data()
    typed = f"{word}x"
    with pytest.raises(
        InputError, match=f"The '{name}' parameter of {kind.__name__} must be one of .*, not '{typed}'"
    ) as refused:
        kind(**{name: typed}, **({"base": make_base("tree")} if "base" in signature(kind).parameters else {})).fit(X, Y)
    assert len(word) < 3 or f"Did you mean '{word}'?" in str(refused.value)


def test_there_are_parameters_with_words_in_every_package():
    packages = {case.values[0].__module__.split(".")[1] for case in word_parameters()}
    assert packages == {"selectors", "classifiers", "chains", "discretize"}


def test_the_command_line_lists_aliases_and_takes_them(tmp_path):
    listed = run("methods").stdout
    for _, alias, _ in ALL_ALIASES:
        assert alias in " ".join(listed.split())
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, size=(60, 4))
    path = tmp_path / "table.csv"
    np.savetxt(path, np.column_stack([rows, rows[:, 0] > 0]), fmt="%d", delimiter=",", header="a,b,c,d,y", comments="")
    options = ("select", path, "--labels", 1, "--criterion")
    assert run(*options, "mutual_info", "--targets", "powerset", "-k", "all").stdout.startswith("4 of 4 features explain")
    assert "PermutationTest: " in run(*options, "mim", "-k", "permutation").stdout
    assert "The best number of up to 4 features " in run(*options, "mim", "-k", "cv").stdout
    assert run(*options, "mim", "-k", "permutation:alpha=0.2").exit_code == 0
    assert "Did you mean 'cross-validation'?" in refusal(*options, "mim", "-k", "cvv")
    assert "Did you mean 'joint'?" in refusal(*options, "mim", "--targets", "powerse")
    assert "Did you mean 'equal-frequency'?" in refusal(*options, "mim", "--discretizer", "quantle")
    assert "Did you mean 'plugin'?" in refusal(*options, "mim", "--estimator", "plugn")
    assert "Did you mean 'jmi'?" in refusal("methods", "jmii")
    assert run(*options, "anova", "-k", 2).stdout.startswith("2 of 4 features explain")


@pytest.mark.parametrize("command", ["select", "report"])
def test_help_lists_the_registered_names(command):
    text = " ".join(run(command, "--help").stdout.split()).replace("- ", "-")
    for names in (LABEL_SPACES, DISCRETIZERS, STOPPING_RULES):
        *first, last = names
        assert f"{', '.join(first)} or {last}" in text
    assert set(METHODS) <= set(method_names())
    assert make_criterion("mim").name == "mim"
