"""Every example runs, draws a figure, and its results support its text."""

import runpy
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def run(monkeypatch):
    """Run an example as a script and return its globals; its figures stay open until the test ends."""
    plt.close("all")  # those of other tests, before the backend changes
    mpl.use("Agg")
    monkeypatch.setattr(plt, "show", lambda: None)
    yield lambda name: runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    plt.close("all")


def words_cover_more_tags(names):
    assert min(names["tags_covered"][name][9] for name in ("hybrid", "cmim")) > names["tags_covered"]["mim"][9]
    assert all(np.count_nonzero(names["tag_of_word"][words] >= 0) >= 39 for words in names["selected"].values())
    assert all(covered[-1] == 10 for covered in names["tags_covered"].values())


def network_is_found(names):
    assert names["edges"] == names["true_edges"]
    assert names["kinds"] == ["relevant"] * 8, "MRMR comes last"


def selection_beats_random_features_and_redundancy_costs(names):
    with_eight = {name: np.mean(values, axis=0)[7] for name, values in names["losses"].items()}
    assert with_eight["hybrid"] < with_eight["jmi"] < with_eight["mim"] < with_eight["random"]


def selection_reduces_the_regression_error(names):
    best = max(names["curve"][name][5] for name in ("hybrid", "scls"))
    assert best < names["curve"]["rrelieff"][5] < names["curve"]["random"][5]


def label_specific_features_are_better(names):
    assert (names["labelwise"].label_support_ == names["relevant"]).all()
    assert names["loss"]["label-specific"] < names["loss"]["all features"] < names["loss"]["common"]


def copies_are_avoided(names):
    assert {int(column) % 3 for column in names["order"]["largestredundancy"]} == {0, 1, 2}, "one of each signal or its copy"
    assert max(names["order"]["largestredundancy"]) < 6
    assert {int(column) % 3 for column in names["order"]["mim"]} != {0, 1, 2}
    assert "(f, s, y)" not in names["LargestRedundancy"]().plan.explain(n_rows=1000, n_features=10, n_targets=3)


def sites_together_select_as_all_rows(names):
    assert np.array_equal(names["sieve"].scores_, names["central"].scores_)
    assert set(names["sieve"].selected_[:3].tolist()) == {2, 4, 9}
    assert names["changes"][0] == 0 < names["changes"][-1]


def selection_beats_document_frequency(names):
    by_size = {name: np.array(values) for name, values in names["precision"].items()}
    assert all((by_size[name] > by_size["document frequency"]).all() for name in ("mim", "cmim"))


def channels_are_far_apart_and_enough(names):
    explained, kept = names["explained"], len(names["sieve"].selected_)
    assert kept < 30
    assert explained.below_all[explained.at(kept)] < 0.02
    assert explained.explained[2] > 0.7
    assert np.diff(np.sort(names["sieve"].selected_[:3])).min() >= 20


def few_pixels_explain_most(names):
    explained = names["explained"]
    assert explained.explained[-1] > 0.9
    assert explained.explained[-1] > explained.explained[4] + 0.1
    assert np.unique(names["sieve"].selected_ // 8).size >= 5, "they are in most rows of the image"


def digits_have_their_own_pixels(names):
    assert names["n_used"] > 20
    assert np.mean(names["shared"]) < 3


def no_shuffled_column_is_discovered(names):
    assert {"bmi", "bp", "s5"} <= set(names["found"])
    assert not any(name.endswith("shuffled") for name in names["found"])


def few_words_predict_as_well_as_all(names):
    assert names["f1"][40] > names["everything"] - 0.03
    assert names["f1"][5] > 0.65
    assert {"classifier", "regression"} & set(names["names"])


def nothing_is_kept(names):
    explained = names["explained"]
    assert len(names["sieve"].selected_) == 0
    assert (explained.explained < 2 * explained.errors).all()


CHECKS = {
    "diabetes_discoveries": no_shuffled_column_is_discovered,
    "exercise_and_body": nothing_is_kept,
    "pixels_of_digits": few_pixels_explain_most,
    "pixels_of_each_digit": digits_have_their_own_pixels,
    "spectra_of_meat": channels_are_far_apart_and_enough,
    "words_of_docstrings": few_words_predict_as_well_as_all,
    "federated_selection": sites_together_select_as_all_rows,
    "gene_function": network_is_found,
    "label_specific_features": label_specific_features_are_better,
    "multi_target_regression": selection_reduces_the_regression_error,
    "music_emotions": selection_beats_random_features_and_redundancy_costs,
    "custom_criterion": copies_are_avoided,
    "text_tagging": words_cover_more_tags,
    "vocabulary_reduction": selection_beats_document_frequency,
}


def test_every_example_has_a_check():
    assert sorted(CHECKS) == sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", CHECKS)
def test_example_draws_a_figure_and_supports_its_text(name, run):
    names = run(name)
    assert plt.get_fignums()
    CHECKS[name](names)
