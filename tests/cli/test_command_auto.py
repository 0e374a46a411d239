"""``labelsieve select --auto``: what AutoSieve does in Python, as text and JSON."""

import json

import pytest

from labelsieve import AutoSieve
from tests.support.command_line import refusal, run, table_fixtures

QUICK = ["--auto", "--portfolio", "mim,cmim:estimator=miller-madow", "--learner", "mlknn:k=5"]


frame, file = table_fixtures(150)


def test_the_command_chooses_what_python_chooses(frame, file):
    portfolio = ["mim", {"criterion": "cmim", "estimator": "miller-madow"}]
    expected = AutoSieve(portfolio, learner={"name": "mlknn", "k": 5}).fit(frame.iloc[:, :-5], frame.iloc[:, -5:])
    document = json.loads(run("select", file, "--labels", 5, *QUICK, "--json").stdout)
    assert [feature["column"] for feature in document["selected"]] == expected.selected_.tolist()
    assert document["auto"]["verdict_text"] == expected.verdict_text_
    assert document["auto"]["score"] == pytest.approx(expected.score_)
    assert document["auto"]["comparison"]["method"] == expected.comparison_["method"]


@pytest.mark.parametrize("width", [60, 120])
def test_verdict_and_comparison_fit_the_terminal(file, width):
    text = run("select", file, "--labels", 5, *QUICK, "--time-budget", 0.001, width=width).stdout
    assert max(map(len, text.splitlines())) <= width
    words = " ".join(text.split())
    assert "* mim" in words
    assert "Not evaluated: cmim estimator=miller-madow (no time was left)." in words
    assert "all features" in words


def test_options_that_do_not_go_together_are_refused(file):
    assert "goes with --auto" in refusal("select", file, "--labels", 5, "--time-budget", 3)
    assert "--auto chooses the criterion" in refusal("select", file, "--labels", 5, "--auto", "--criterion", "jmi")
    assert "goes without --labelwise" in refusal("select", file, "--labels", 5, "--auto", "--labelwise")
    assert "auto takes no targets" in refusal("select", file, "--labels", 5, "--auto", "--targets", "joint")
