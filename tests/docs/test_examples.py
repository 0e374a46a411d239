"""Every example runs, draws a figure, and shows what it says."""

import runpy
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def run(monkeypatch):
    """Run an example as a script would; its names come back, and its figures are there until the test ends."""
    plt.close("all")  # of other tests: changing what draws them is not to be their end
    mpl.use("Agg")
    monkeypatch.setattr(plt, "show", lambda: None)
    yield lambda name: runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    plt.close("all")


def words_spread_over_tags(names):
    assert names["tags_told"]["cmim"][9] > names["tags_told"]["mim"][9]
    assert all(told[-1] == 10 for told in names["tags_told"].values())


def network_is_found(names):
    assert names["links"] == names["true_links"]
    assert names["kinds"] == ["relevant"] * 8, "MRMR comes last"


def selection_beats_chance_and_redundancy_costs(names):
    with_eight = {name: np.mean(values, axis=0)[7] for name, values in names["losses"].items()}
    assert with_eight["cmim"] < with_eight["jmi"] < with_eight["mim"] < with_eight["random"]


def numeric_targets_are_told(names):
    assert names["curve"]["scls"][5] < names["curve"]["rrelieff"][5] < names["curve"]["random"][5]


def own_features_are_better(names):
    assert (names["each"].label_support_ == names["truth"]).all()
    assert names["loss"]["two of its own"] < names["loss"]["all features"] < names["loss"]["two in common"]


def copies_are_avoided(names):
    assert {int(column) % 3 for column in names["order"]["mostrepeated"]} == {0, 1, 2}, "one of each signal or its copy"
    assert max(names["order"]["mostrepeated"]) < 6
    assert {int(column) % 3 for column in names["order"]["mim"]} != {0, 1, 2}
    assert "(f, s, y)" not in names["MostRepeated"]().plan.explain(n_rows=1000, n_features=10, n_targets=3)


PROMISES = {
    "gene_function": network_is_found,
    "label_specific_features": own_features_are_better,
    "multi_target_regression": numeric_targets_are_told,
    "music_emotions": selection_beats_chance_and_redundancy_costs,
    "custom_criterion": copies_are_avoided,
    "text_tagging": words_spread_over_tags,
}


def test_every_example_has_a_promise():
    assert sorted(PROMISES) == sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", PROMISES)
def test_an_example_draws_a_figure_and_shows_what_it_says(name, run):
    names = run(name)
    assert plt.get_fignums()
    PROMISES[name](names)
