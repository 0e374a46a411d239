"""Protocols are checked before anything runs, refuse leaks, and have a form in a file."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit

from labelsieve import InputError, LabelNetwork, Sieve
from labelsieve.classifiers import MLkNN
from labelsieve.datasets import Dataset
from labelsieve.discretize import EqualWidth
from labelsieve.selectors.rankings.univariate import BaselineSieve
from labelsieve.studies import Protocol, Study
from labelsieve.studies.cells import SplitWork
from tests.support.small_studies import data, protocol

REFUSED = {
    "unknown method": ({"methods": ["jmmi"]}, "'jmmi' is not a criterion"),
    "unknown setting": ({"methods": [{"name": "jmi", "color": 1}]}, "method 'jmi': .*color"),
    "unknown label space": (
        {"methods": [{"name": "jmi", "targets": {"name": "dual"}}]},
        "method 'jmi', targets: 'dual' is not a label space. Known: single,",
    ),
    "number of a method": ({"methods": [{"name": "jmi", "n_features_to_select": 3}]}, "set n_features of the study"),
    "no method": ({"methods": []}, "methods: the list is empty"),
    "text": ({"methods": "jmi"}, "methods must be a list"),
    "twice": ({"methods": ["jmi", "jmi"]}, "'jmi' occurs twice"),
    "unknown classifier": ({"classifiers": ["oracle"]}, "'oracle' is not a classifier. Known: br, .*, or a pair"),
    "bad parameter": ({"classifiers": [{"name": "mlknn", "k": 0}]}, "classifier 'mlknn': .*'k'"),
    "unknown measure": ({"measures": ["accuracy"]}, "measures: 'accuracy' is not a measure. Did you mean 'example_accuracy'"),
    "mixed measures": ({"measures": ["rrmse", "macro_f1"]}, "one study cannot have measures"),
    "regressor": ({"classifiers": ["ridge"]}, "'ridge' is for numeric targets, not for labels; for these there are br, "),
    "unknown convention": ({"convention": "weka"}, "convention: 'weka' is not a convention. Known: labelsieve,"),
    "splits": ({"splits": "half"}, "splits: 'half' is none of '30x50%'"),
    "no splits": ({"splits": "0x50%"}, "splits: '0x50%'"),
    "unseeded": ({"splits": ShuffleSplit()}, "set its random_state"),
    "no features": ({"n_features": "0..3"}, "has no number of features"),
    "half a feature": ({"n_features": [1.5]}, "more than all"),
    "no number": ({"n_features": None}, "None is not a number of features"),
    "not a number": ({"n_features": [float("nan")]}, "nan is not a number of features"),
    "a falling span": ({"n_features": "3,50..1"}, "'50..1' has no number of features; a span increases"),
    "a step of nothing": ({"n_features": "1..9..0"}, "'1..9..0' has no number of features"),
    "a span without end": ({"n_features": "1..999999999"}, "more than 1,000,000 numbers"),
    "a measure in a list": ({"measures": [["macro_f1"]]}, r"measures: \['macro_f1'\] is not a name"),
    "a baseline in a list": ({"baselines": [["random"]]}, r"baselines: \['random'\] is not a name"),
    "a convention in a list": ({"convention": ["mulan"]}, "is not a convention. Did you mean 'mulan'"),
    "a kind in a list": (
        {"classifiers": [{"name": "mine", "classifier": ["mlknn"]}]},
        r"'mlknn'. is not a classifier\. Did you mean 'mlknn'",
    ),
    "a table of data sets": ({"datasets": {"name": "emotions"}}, "datasets must be a list"),
    "a data set by itself": ({"datasets": data()}, "datasets must be a list, not a Dataset"),
    "a class": ({"methods": [("mine", Sieve)]}, r"is a pair \(name, method\), and Sieve is a class"),
    "a baseline's name": ({"methods": [{"name": "all", "criterion": "jmi"}]}, "'all': this is the name of a baseline"),
    "baseline": ({"baselines": ["mim"]}, "baselines: 'mim' is not a baseline. Known: random, variance, all"),
    "nameless": ({"datasets": [Dataset(np.eye(2), np.eye(2), ("a", "b"), ("c", "d"), ("numeric",) * 2)]}, "needs a name"),
    "selection on all rows": ({"select_on": "all"}, "would pass test rows to the selection"),
    "discretized on all rows": ({"discretize_on": "all"}, "would pass test rows to the selection"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_protocol_is_refused_before_anything_runs(case):
    change, said = REFUSED[case]
    with pytest.raises(InputError, match=said):
        protocol(**change)


def test_fitted_selectors_discretizers_classifiers_and_networks_are_refused():
    X, Y = data().X, data().Y
    for method in (
        Sieve("jmi").fit(X, Y),
        BaselineSieve().fit(X, Y),
        Sieve("jmi", discretizer=EqualWidth().fit(X)),
    ):
        with pytest.raises(InputError, match=r"is already fitted .* may have seen the test rows"):
            protocol(methods=[("mine", method)])
    with pytest.raises(InputError, match="is already fitted"):
        protocol(classifiers=[("mine", MLkNN().fit(X, Y))])
    network = Sieve("mlfs", parents="kcc").fit(X, Y).network_
    assert isinstance(network, LabelNetwork)
    with pytest.raises(InputError, match="a learned network"):
        protocol(methods=[("mine", Sieve("mlfs", parents=network))])
    protocol(methods=[("mine", Sieve("mlfs", parents="kcc"))])


def test_splits_that_share_rows_are_refused(tmp_path):
    class Leaky(KFold):
        def split(self, X, y=None, groups=None):
            for train, test in super().split(X):
                yield np.append(train, test[0]), test

    with pytest.raises(InputError, match="split 0 of songs: row 0 is a training row and a test row"):
        Study(protocol(splits=Leaky(3)), tmp_path).run()


def test_selectors_see_the_training_rows_and_no_others(tmp_path, monkeypatch):
    seen = []
    fit = Sieve.fit
    monkeypatch.setattr(Sieve, "fit", lambda self, problem, y: seen.append(problem) or fit(self, problem, y))
    one = data()
    study = protocol(datasets=[one], methods=["jmi"], splits="2x50%", baselines=[])
    Study(study, tmp_path).run()
    splits = study.splits.splits(one.X, one.Y, "songs")
    assert len(seen) == len(splits) == 2
    for problem, split in zip(seen, splits, strict=True):
        assert np.array_equal(problem.X, one.X[split.train])
        assert all(np.array_equal(problem.targets.classes.column(label), one.Y[split.train, label]) for label in range(5))
        assert np.array_equal(problem.source.X, one.X[split.train])
        assert np.array_equal(problem.source.y, one.Y[split.train])


def test_training_rows_are_discretized_once_for_all_methods_of_a_split(tmp_path, monkeypatch):
    calls = []
    encode = EqualWidth.encode
    monkeypatch.setattr(EqualWidth, "encode", lambda self, *given: calls.append(given[0].shape[0]) or encode(self, *given))
    Study(protocol(datasets=[data()], methods=["jmi", "mim", "mlqpfs"], splits="2x50%"), tmp_path).run()
    assert calls == [40, 40]


def test_shared_codes_choose_the_same_features_as_a_selector_by_itself():
    from labelsieve.studies.data import LoadedData, read_source

    loaded, study = LoadedData.of(read_source(data())), protocol()
    split = study.splits.splits(loaded.X, loaded.Y, "songs")[0]
    work = SplitWork(loaded, split)
    for name in ("jmi", "mlinfogain", "scls"):
        alone = Sieve(name, n_features_to_select=6).fit(loaded.X[split.train], loaded.Y[split.train])
        assert work.select(Sieve(name), 6, 0) == alone.selected_.tolist()


def test_measures_of_labels_and_numeric_targets_do_not_go_together(tmp_path):
    one = data()
    numeric = Dataset(one.X, one.Y * 0.5, one.feature_names, one.label_names, one.feature_kinds, name="songs")
    with pytest.raises(InputError, match="data set 'songs': its targets are numbers, and the measures are for labels"):
        Study(protocol(datasets=[numeric]), tmp_path).run()
    regression = protocol(datasets=[numeric], methods=["jmi"], measures=["rrmse"], classifiers=["knn"])
    assert Study(regression, tmp_path / "regression").run().n_failed == 0


def test_targets_of_other_values_than_0_and_1_are_refused_before_anything_runs(tmp_path):
    one = data()
    classes = Dataset(one.X, one.Y * 2, one.feature_names, one.label_names, one.feature_kinds, name="songs")
    with pytest.raises(InputError, match="data set 'songs': measures of labels need targets of 0 and 1"):
        Study(protocol(datasets=[classes]), tmp_path).run()


FILE = """
n_features = "1..3,10%"
measures = ["macro_f1"]
splits = "stratified 5-fold"
baselines = ["random"]
convention = "mulan"
seed = 4

datasets = ["emotions", { name = "songs", path = "songs.csv", labels = 3, drop = ["id"] }]

[[methods]]
name = "scls"

[[methods]]
name = "mine"
criterion = { name = "jmi", normalized = true }
targets = { name = "group-rand", pot = [0.2, 0.8] }

[[methods]]
name = "ten"
criterion = "mim"
discretizer = { name = "equal-width", n_bins = 10 }

[[classifiers]]
name = "seven"
classifier = "mlknn"
k = 7
"""


def test_a_file_gives_the_same_protocol_as_its_settings_in_python(tmp_path):
    method = {
        "name": "mine",
        "criterion": {"name": "jmi", "normalized": True},
        "targets": {"name": "group-rand", "pot": [0.2, 0.8]},
    }
    given = Protocol(
        ["emotions", {"name": "songs", "path": "songs.csv", "labels": 3, "drop": ["id"]}],
        ["scls", method, {"name": "ten", "criterion": "mim", "discretizer": {"name": "equal-width", "n_bins": 10}}],
        n_features="1..3,10%",
        classifiers=[{"name": "seven", "classifier": "mlknn", "k": 7}],
        measures=["macro_f1"],
        splits="stratified 5-fold",
        baselines=["random"],
        convention="mulan",
        seed=4,
    )
    (tmp_path / "study.toml").write_text(FILE, encoding="utf-8")
    again = Protocol.from_toml(tmp_path / "study.toml")
    assert again.plain() == given.plain()
    assert [one.identity for one in again.methods] == [one.identity for one in given.methods]


def test_paths_in_a_file_are_beside_it(tmp_path):
    (tmp_path / "songs.csv").write_text("a,b,y\n1,2,0\n2,3,1\n", encoding="utf-8")
    (tmp_path / "study.toml").write_text('datasets = ["songs.csv"]\nmethods = ["jmi"]\n', encoding="utf-8")
    assert Protocol.from_toml(tmp_path / "study.toml").datasets[0].settings["path"] == str(tmp_path / "songs.csv")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("datasets = [", "not TOML"),
        ('datasets = ["a"]\nmethods = ["jmi"]\ncolor = 1\n', "'color' is not a setting of a study"),
        ('methods = ["jmi"]\n', "it has no datasets"),
    ],
)
def test_broken_files_are_refused(tmp_path, text, said):
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        Protocol.from_toml(tmp_path / "study.toml")


def test_a_share_by_itself_is_a_number_of_features():
    assert protocol(n_features=0.5).n_features == [0.5]
    assert protocol(n_features=np.array([0.25, 0.5])).plain()["n_features"] == [0.25, 0.5]


def test_a_baseline_among_the_methods_is_the_baseline():
    assert [one.name for one in protocol(methods=["random", "jmi"]).methods] == ["random", "jmi", "all"]


def test_shares_of_features_are_rounded_and_a_half_goes_up():
    made = protocol(n_features=[0.01, 0.3, 0.5])
    assert made.sizes(1001, made.methods[0]) == [10, 300, 501]
    assert made.sizes(19, made.methods[0]) == [1, 6, 10]
