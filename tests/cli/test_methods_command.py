"""Every method on the command line: it runs and selects what the library selects, or says why it cannot."""

import json

import numpy as np
import pytest

from labelsieve import LabelwiseSieve, Sieve
from labelsieve.registry import METHODS, PRESETS, make_selector, method_names, selector_class
from labelsieve.selectors import LLSF, selection_stability
from labelsieve.stopping import GTest
from labelsieve.studies import StudyResults
from labelsieve.studies.estimators import read_method
from tests.support.command_line import refusal, run, table_fixtures, write
from tests.support.discovery import few_repetitions

# One target alone, and test_command_auto.py.
ELSEWHERE = {"qpfs", "auto"}
RANKING = [name for name, method in METHODS.items() if not method.no_ranking and name not in ELSEWHERE]
OTHERS = [name for name, method in METHODS.items() if method.no_ranking]


frame, file = table_fixtures(150)


def selected(*arguments):
    result = run("select", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("name", RANKING)
def test_every_ranking_method_chooses_what_its_selector_chooses(frame, file, name):
    few = few_repetitions(selector_class(name), METHODS[name].settings)
    given = [name.upper(), *(f"{key}={value}" for key, value in few.items())]
    document = selected(file, "--labels", 5, "-k", 4, "--criterion", ":".join(given))
    own = selector_class(name)(**METHODS[name].settings, **few, n_features_to_select=4)
    expected = own.fit(frame.iloc[:, :-5], frame.iloc[:, -5:])
    assert [one["column"] for one in document["selected"]] == expected.selected_.tolist()
    assert [feature["score"] for feature in document["selected"]] == pytest.approx(expected.scores_.tolist())
    assert document["formula"] == METHODS[name].formula
    assert repr(read_method(name).estimator) == repr(selector_class(name)(**METHODS[name].settings))


def test_one_target_methods_take_one_target(file):
    assert len(selected(file, "--labels", 1, "-k", 3, "--criterion", "qpfs")["selected"]) == 3
    assert "qpfs') is for one target" in refusal("select", file, "--labels", 5, "--criterion", "qpfs")


@pytest.mark.parametrize("name", OTHERS)
def test_methods_without_a_ranking_are_refused_with_a_remedy(file, name, tmp_path):
    reason = f"{name}: {METHODS[name].no_ranking}"
    assert reason in refusal("select", file, "--labels", 5, "--criterion", name)
    assert reason in refusal("compare", file, "--labels", 5, "--methods", name, "--out", tmp_path / "study")
    assert "do not accept it" in " ".join(run("methods", name).stdout.split())


def test_every_name_is_listed_once_with_its_facts():
    names = method_names()
    assert len(set(names)) == len(names)
    documents = json.loads(run("methods", "--json").stdout)
    assert [one["name"] for one in documents] == names
    for one in documents:
        assert one["formula"]
        assert one["paper"]
        assert one["summary"]
        assert one["ranking"] or one["remedy"]
    csv = run("methods", "--format", "csv").stdout.splitlines()
    assert len(csv) == 1 + len(names)
    assert {one["kind"] for one in documents} == {"criterion", "published method", "selector"}
    assert {one["name"] for one in documents if one["kind"] == "published method"} == set(PRESETS)


def test_parameters_behind_a_name_reach_the_selector_or_the_criterion(frame, file):
    fewer = selected(file, "--labels", 5, "-k", 4, "--criterion", "relieff:n_neighbors=3")
    expected = make_selector("relieff", n_neighbors=3, n_features_to_select=4).fit(frame.iloc[:, :-5], frame.iloc[:, -5:])
    assert [feature["score"] for feature in fewer["selected"]] == pytest.approx(expected.scores_.tolist())
    assert "normalized" not in selected(file, "--labels", 5, "--criterion", "jmi")["formula"]
    assert "sqrt" in selected(file, "--labels", 5, "--criterion", "jmi:normalized=true")["formula"]
    for given, reason in {
        "relieff:color=1": "relieff takes no color; ReliefF has n_features_to_select, n_neighbors",
        "relieff:n_neighbors=0": "'n_neighbors' parameter of ReliefF must be",
        "jmi:color=1": "jmi takes no color; Sieve has discretizer, ",
        "relieff:n_neighbors": "parameters look like relieff:name=value",
    }.items():
        assert reason in refusal("select", file, "--labels", 5, "--criterion", given)
    assert "random takes no estimator" in refusal(
        "select", file, "--labels", 5, "--criterion", "random", "--estimator", "plugin"
    )


def test_options_reach_the_sieve(frame, file):
    options = ("--estimator", "shrinkage", "--forced", "noise1", "--excluded", "rel1,rel2", "--discretizer", "equal-frequency")
    document = selected(file, "--labels", 5, "-k", 3, *options)
    how = {"estimator": "shrinkage", "forced": ["noise1"], "excluded": ["rel1", "rel2"], "discretizer": "equal-frequency"}
    expected = Sieve(n_features_to_select=3, **how).fit(frame.iloc[:, :-5], frame.iloc[:, -5:])
    assert [one["column"] for one in document["selected"]] == expected.selected_.tolist()


def test_text_is_refused_by_methods_that_calculate_and_taken_by_those_that_count(tmp_path):
    path = write(tmp_path, "key,b,y\nC,1,0\nD,2,1\nC,3,0\nE,4,1\n")
    assert "relieff calculates with the features, and 'key' is text" in refusal(
        "select", path, "--labels", 1, "--criterion", "relieff"
    )
    assert selected(path, "--labels", 1, "--criterion", "chi-square", "-k", 1)["selected"][0]["feature"] == "key"


def test_lists_of_labels_are_those_of_the_library(frame, file):
    X, Y = frame.iloc[:, :-5], frame.iloc[:, -5:]
    expected = LabelwiseSieve("hybrid", n_features_to_select=3).fit(X, Y)
    document = selected(file, "--labels", 5, "-k", 3, "--labelwise")
    for place, label in enumerate(Y.columns):
        own = [one["column"] for one in document["selected"] if one["label"] == label]
        assert own == expected.selected_[place].tolist()
    stopped = LabelwiseSieve("hybrid", n_features_to_select=GTest(0.01)).fit(X, Y)
    document = selected(file, "--labels", 5, "--labelwise", "-k", "g-test:alpha=0.01")
    lengths = [sum(one["label"] == label for one in document["selected"]) for label in Y.columns]
    assert lengths == stopped.n_selected_.tolist()
    assert [one["rule"] for one in document["stopping"]] == ["GTest"] * 5
    csv = run("select", file, "--labels", 5, "-k", 3, "--labelwise", "--format", "csv").stdout.splitlines()
    assert (csv[0], len(csv)) == ("label,rank,feature,top_label,column,score,relevance,top_label_information", 16)
    assert "label-0      1" in run("select", file, "--labels", 5, "-k", 3, "--labelwise").stdout
    assert "chi-square: it ranks features for all labels together" in refusal(
        "select", file, "--labels", 5, "--labelwise", "--criterion", "chi-square"
    )


@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
def test_llsf_has_lists_of_labels_by_size(frame, file):
    result = run("select", file, "--labels", 5, "--labelwise", "--criterion", "llsf:beta=5:convex=true", "--json")
    document = json.loads(result.stdout)
    fitted = LLSF(beta=5, convex=True).fit(frame.iloc[:, :-5], frame.iloc[:, -5:])
    for place, label in enumerate(frame.columns[-5:]):
        own = [one for one in document["selected"] if one["label"] == label]
        assert {one["column"] for one in own} == set(np.flatnonzero(fitted.label_support_[place]))
        assert np.all(np.diff([abs(one["score"]) for one in own]) <= 0)
    assert "llsf takes no n_features_to_select" in refusal(
        "select", file, "--labels", 5, "--labelwise", "--criterion", "llsf", "-k", 3
    )
    again = run("select", file, "--labels", 5, "--labelwise", "--criterion", "llsf:beta=5:max_iter=1", "--json")
    assert "labelsieve: note: LLSF's objective" in again.stderr
    assert ".py:" not in again.stderr
    assert json.loads(again.stdout)


@pytest.mark.parametrize(("name", "kind"), [("jmi", "bootstrap"), ("relieff", "subsample")])
def test_stability_is_that_of_the_library(frame, file, name, kind):
    document = selected(file, "--labels", 5, "-k", 4, "--criterion", name, "--stability", 4)["stability"]
    own = make_selector(name, n_features_to_select=4)
    expected = selection_stability(own, frame.iloc[:, :-5], frame.iloc[:, -5:], n_repeats=4, kind=kind, random_state=0)
    assert document["index"] == pytest.approx(expected.index)
    assert document["interval"] == pytest.approx(list(expected.interval))
    assert "Stability " in run("select", file, "--labels", 5, "-k", 4, "--criterion", name, "--stability", 4).stdout


def test_compare_takes_every_kind_of_method(file, tmp_path):
    methods = "jmi,ela-chi,relieff:n_neighbors=3"
    how = ["-k", "1..3", "--splits", "2x50%", "--classifiers", "mlknn:k=3", "--measures", "hamming_loss", "--baselines", "none"]
    result = run("compare", file, "--labels", 5, "--methods", methods, "--out", tmp_path / "study", *how, "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["cells"] == {"run": 6, "known": 0, "failed": 0, "stale": 0}
    assert list(document["results"][0]["means"]["table"]) == methods.split(",")
    assert StudyResults(tmp_path / "study").methods == methods.split(",")
