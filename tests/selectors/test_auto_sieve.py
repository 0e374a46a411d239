"""AutoSieve chooses by nested folds as its definition says, and its verdict is that of the data."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from labelsieve import AutoSieve, InputError, Sieve
from labelsieve.classifiers import MLkNN
from labelsieve.datasets import make_feature_roles
from labelsieve.metrics import average_precision, get_scorer
from labelsieve.registry import make_selector, method_of
from labelsieve.selectors import FScore, selection_stability
from tests.support.selection_data import NAMES, assert_same_selection, make_data

FEW = {"cv": 3, "learner": "mlknn"}


def roles(**settings):
    return make_feature_roles(**{"n_rows": 240, "n_xor_pairs": 0, "n_noisy_copies": 0, "n_irrelevant": 8, **settings})


def naive_curves(selectors, X, Y, folds, sizes):
    """``values[train folds left out, test fold][method][size]`` by fits without any sharing."""
    values = {}
    for outer in range(len(folds)):
        for inner in range(len(folds)):
            out = {outer, inner}
            train = np.sort(np.concatenate([rows for fold, rows in enumerate(folds) if fold not in out]))
            test = folds[inner]
            center, spread = X[train].mean(axis=0), X[train].std(axis=0)
            scaled = (X - center) / spread
            for name, selector in selectors.items():
                ranking = selector(max(sizes)).fit(X[train], Y[train]).selected_
                for size in [*sizes, X.shape[1]]:
                    columns = ranking[:size] if size in sizes else range(X.shape[1])
                    model = MLkNN().fit(scaled[train][:, columns], Y[train])
                    found = average_precision(Y[test], model.predict_proba(scaled[test][:, columns]))
                    values[outer, inner, name if size in sizes else "all features", size] = found
    return values


def naive_choice(values, pairs, options, errors):
    table = {option: np.array([values[(*pair, *option)] for pair in pairs]) for option in options}
    mean = {option: found.mean() for option, found in table.items()}
    best = max(mean, key=lambda option: (mean[option], -option[1]))
    error = {option: (table[best] - found).std(ddof=1) / np.sqrt(len(pairs)) for option, found in table.items()}
    within = [option for option in options if mean[best] - mean[option] <= errors * error[option] + 1e-15]
    return min(within, key=lambda option: (option[1], -mean[option]))


def test_choice_and_estimate_are_those_of_nested_folds():
    data = roles(n_rows=120)
    X, Y = np.asarray(data.X), np.asarray(data.Y)
    splitter = KFold(3, shuffle=True, random_state=1)
    folds = [test for _, test in splitter.split(X)]
    sizes = [1, 2, 3, 4]
    selectors = {"mim": lambda k: Sieve("mim", n_features_to_select=k), "mean-f": lambda k: FScore(n_features_to_select=k)}
    values = naive_curves(selectors, X, Y, folds, sizes)
    options = [*((name, size) for name in selectors for size in sizes), ("all features", X.shape[1])]
    for errors in (0.0, 1.0):
        found = AutoSieve(
            ("mim", "mean-f"), cv=splitter, learner="mlknn", max_features=4, standard_errors=errors, n_jobs=2
        ).fit(X, Y)
        chosen = naive_choice(values, [(fold, fold) for fold in range(3)], options, errors)
        assert (found.method_, found.n_chosen_) == chosen
        outer = []
        for fold in range(3):
            picked = naive_choice(values, [(fold, other) for other in range(3) if other != fold], options, errors)
            outer.append(values[(fold, fold, *picked)])
        assert found.score_ == pytest.approx(np.mean(outer), abs=1e-12)
        assert found.standard_error_ == pytest.approx(np.std(outer, ddof=1) / np.sqrt(3), abs=1e-12)
        for name in selectors:
            curve = [[values[fold, fold, name, size] for size in sizes] for fold in range(3)]
            assert found.curves_[name]["values"] == pytest.approx(np.array(curve), abs=1e-12)
        expected = make_selector(chosen[0], n_features_to_select=chosen[1]).fit(X, Y)
        assert found.selected_.tolist() == expected.selected_.tolist()


def test_a_few_informative_features_are_selected_and_worth_it():
    data = roles(n_irrelevant=40)
    auto = AutoSieve(("cmim", "l1"), **FEW).fit(data.X, data.Y)
    assert auto.verdict_ == "select features"
    assert set(auto.selected_.tolist()) <= set(data.columns("relevant"))
    assert auto.score_ > auto.all_features_score_ > auto.no_features_score_
    assert "gains" in auto.verdict_text_
    assert auto.comparison_["status"].count("selected") == 1


def test_noise_predicts_nothing():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(200, 6)), rng.random((200, 4)) < [0.6, 0.4, 0.3, 0.1]
    auto = AutoSieve(("mim", "mean-f"), cv=3).fit(X, Y)
    assert auto.verdict_ == "nothing predicts"
    assert "Nothing here predicts the labels better than their base rates" in auto.verdict_text_
    assert len(auto.selected_) >= 1
    none = AutoSieve(("mim",), cv=3, min_features=0).fit(X, Y)
    with pytest.warns(UserWarning, match="No features were selected"):
        assert none.transform(X).shape == (200, 0)


def test_features_that_are_all_needed_are_all_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    Y = X @ rng.normal(size=(5, 3)) * 2 + X[:, [0, 1, 2]]
    auto = AutoSieve(("cmim", "l1"), learner=Ridge(alpha=1e-6), cv=3).fit(X, Y)
    assert (auto.verdict_, auto.measure_) == ("keep all features", "rrmse")
    assert auto.support_.all()
    assert auto.verdict_text_.startswith("Keep all 5 features: rrmse is 0.000")
    assert selection_stability(auto, X, Y, n_repeats=3).masks.all()  # without another choice


def test_one_target_of_classes_and_numeric_ones_and_a_pipeline():
    X, _ = make_data()
    words = np.where(X[:, 1] > 0.3, "high", np.where(X[:, 5] > 0, "middle", "low"))
    auto = AutoSieve(("cmim", "mean-f"), cv=3).fit(X, words)
    assert {1, 5} <= set(auto.selected_.tolist())
    numeric = AutoSieve(("cmim", "mean-f"), cv=3).fit(X, X[:, 2] * 2 + X[:, 5])
    assert {2, 5} <= set(numeric.selected_.tolist())
    assert numeric.no_features_score_ == pytest.approx(1.0, abs=0.02)
    model = make_pipeline(AutoSieve(("cmim",), cv=3), KNeighborsClassifier()).fit(X, words)
    assert model.score(X, words) > 0.7
    with pytest.raises(InputError, match="1 of 2 targets are numeric"):
        AutoSieve(("cmim",), cv=3).fit(X, pd.DataFrame({"word": words, "number": X[:, 2]}))


def test_nominal_columns_missing_cells_and_sparse_matrices():
    X, Y = make_data()
    frame = pd.DataFrame(X, columns=NAMES)
    frame["tone 1"] = pd.cut(X[:, 1], 4, labels=list("dbca")).astype(str)
    frame.loc[::9, "tone 5"] = np.nan
    auto = AutoSieve(("cmim", "mean-f", "l1"), cv=3, learner=("mlknn", {"name": "brknn", "k": 5})).fit(frame, Y)
    assert not auto.not_tried_
    assert {"tone 1", "tone 5"} <= set(auto.get_feature_names_out())
    assert auto.transform(frame).shape == (len(X), len(auto.selected_))
    dense, sparse = (AutoSieve(("mim",), cv=3).fit(table, Y) for table in (X, sp.csr_array(X)))
    assert_same_selection(dense, sparse)
    assert sparse.score_ == pytest.approx(dense.score_, abs=1e-9)


def test_a_given_number_leaves_the_method_to_choose():
    data = roles()
    auto = AutoSieve(("mim", "variance"), n_features_to_select=5, **FEW).fit(data.X, data.Y)
    assert (auto.method_, len(auto.selected_)) == ("mim", 5)
    assert method_of(make_selector("auto", n_features_to_select=3)) == "auto"
    assert len(AutoSieve("mim", n_features_to_select=None, **FEW).fit(data.X, data.Y).selected_) == data.X.shape[1]


def test_a_budget_leaves_the_costly_out_and_says_so():
    data = roles()
    auto = AutoSieve(("mim", "cmim", "jmi"), time_budget=1e-9, **FEW).fit(data.X, data.Y)
    assert auto.not_tried_ == {"cmim": "no time was left", "jmi": "no time was left"}
    assert auto.comparison_["status"][-2:] == ["no time was left"] * 2
    plenty = AutoSieve(("mim", "cmim"), time_budget=1000.0, **FEW).fit(data.X, data.Y)
    unlimited = AutoSieve(("mim", "cmim"), **FEW).fit(data.X, data.Y)
    assert plenty.not_tried_ == {}
    assert_same_selection(plenty, unlimited)
    assert plenty.score_ == unlimited.score_


def test_candidates_that_refuse_the_data_are_named():
    X, _ = make_data()
    auto = AutoSieve(("relieff-ml", "cmim"), cv=3, learner="knn").fit(X, X[:, 2:4])
    assert list(auto.not_tried_) == ["relieff-ml"]
    assert auto.not_tried_["relieff-ml"].startswith("refused the data: ")
    with pytest.raises(InputError, match=r"no candidate of the portfolio takes these data\. relieff-ml: refused"):
        AutoSieve("relieff-ml", cv=3).fit(X, X[:, 2:4])


def test_the_result_depends_on_the_seed_alone():
    data = roles(n_rows=150)
    fits = [
        AutoSieve(("mim",), random_state=seed, n_jobs=n_jobs, **FEW).fit(data.X, data.Y)
        for seed, n_jobs in ((3, None), (3, 2), (4, None))
    ]
    assert_same_selection(fits[0], fits[1])
    assert fits[0].score_ == fits[1].score_ != fits[2].score_


def test_measures_learners_and_settings_are_checked():
    X, Y = make_data()
    scorer = AutoSieve("mim", cv=3, learner=DecisionTreeClassifier(max_depth=3), measure=get_scorer("neg_hamming_loss"))
    by_name = AutoSieve("mim", cv=3, learner=DecisionTreeClassifier(max_depth=3), measure="hamming_loss")
    assert by_name.fit(X, Y).score_ == pytest.approx(-scorer.fit(X, Y).score_)
    assert by_name.lower_is_better_
    assert not scorer.lower_is_better_
    refused = {
        "Did you mean 'micro_f1'": {"measure": "micro_f2"},
        "is for numeric targets, and these are labels": {"measure": "rrmse"},
        "Did you mean 'mlknn'": {"learner": "mlkn"},
        "neither the name of a learner": {"learner": [3]},
        "test every row once": {"cv": _Halves()},
        "unknown cells": {"y": np.where(np.arange(600).reshape(150, 4) == 5, np.nan, Y)},
        "5 folds need at least 10 rows": {"cv": 5, "rows": slice(8)},
    }
    for message, settings in refused.items():
        y, rows = settings.pop("y", Y), settings.pop("rows", slice(None))
        with pytest.raises(InputError, match=message):
            AutoSieve("mim", **{"cv": 3, **settings}).fit(X[rows], y[rows])


class _Halves:
    def split(self, X, y=None, groups=None):
        half = np.arange(len(X)) % 2 == 0
        yield np.flatnonzero(half), np.flatnonzero(~half)


def test_text_frame_and_figure_show_the_comparison(tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    data = roles()
    auto = AutoSieve(("mim", "mean-f"), **FEW).fit(data.X, data.Y)
    text = str(auto.summary(names=data.feature_names))
    assert auto.verdict_.split()[0] in text.lower()
    for word in ("all features", "no features", "mim", "mean-f", "average_"):
        assert word in text
    frame = auto.comparison_frame("pandas")
    assert frame["method"].tolist() == auto.comparison_["method"]
    ax = auto.plot_comparison()
    shown = [label.get_text() for label in ax.get_legend().get_texts()]
    assert shown == ["mim", "mean-f", "all features", "no features", f"selected: {auto.n_chosen_}"]
    plt.close(ax.figure)
    auto.to_json(tmp_path / "auto.json")
    again = AutoSieve.from_json(tmp_path / "auto.json")
    assert again.comparison_ == json.loads(json.dumps(auto.comparison_))
    assert again.verdict_text_ == auto.verdict_text_


def test_stability_is_that_of_the_chosen_method_in_the_chosen_number():
    data = roles()
    auto = AutoSieve(["mim"], **FEW).fit(data.X, data.Y)
    found = selection_stability(auto, data.X, data.Y, n_repeats=4, random_state=0)
    alone = Sieve("mim", n_features_to_select=auto.n_chosen_)
    assert np.array_equal(found.masks, selection_stability(alone, data.X, data.Y, n_repeats=4, random_state=0).masks)


def test_features_of_every_label_are_selected_where_labels_are_few():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    Y = (X[:, :2] > [0, 0.7]).astype(int)  # average precision is 1 with the first feature
    auto = AutoSieve(["mim"], cv=3, learner=DecisionTreeClassifier(max_depth=3)).fit(X, Y)
    assert (auto.measure_, sorted(auto.selected_.tolist())) == ("hamming_score", [0, 1])
