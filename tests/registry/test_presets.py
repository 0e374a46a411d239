"""Published methods by name: the whole recipe in one word, visible and overridable."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from labelsieve import InputError, LabelwiseSieve, NetworkRule, Sieve
from labelsieve.criteria import JoinedMIM
from labelsieve.criteria.formulas import MLFS
from labelsieve.discretize import MDL, AsGiven, EqualFrequency, EqualWidth, MeanStd
from labelsieve.labelspace import Copy, Group, GroupRand, Joint, Single
from labelsieve.registry import CRITERIA, LABEL_SPACES, PRESETS, make_criterion, resolve_method
from labelsieve.search import join_labels
from labelsieve.selectors import labelwise as labelwise_module
from labelsieve.selectors import sieve as sieve_module
from tests.support.selection_data import assert_same_selection, make_data

USABLE = [name for name, preset in PRESETS.items() if preset.discretizer != "mdl"]


def test_mlfs_is_the_only_method_that_is_called_like_its_criterion():
    assert set(PRESETS) & set(CRITERIA) == {"mlfs"}
    X, Y = make_data()
    by_name, alone = Sieve("mlfs", n_features_to_select=3).fit(X, Y), Sieve(MLFS(), n_features_to_select=3).fit(X, Y)
    assert by_name.network_ == NetworkRule("kcc").learn(X, Y)
    assert isinstance(by_name.discretizer_, MeanStd)
    assert alone.network_ is None


@pytest.mark.parametrize("name", USABLE)
def test_a_method_is_its_parts(name):
    X, Y = make_data()
    preset = PRESETS[name]
    how = {"targets": preset.targets, "discretizer": preset.discretizer, "parents": preset.parents}
    parts = Sieve(make_criterion(preset.criterion), n_features_to_select=4, **how).fit(X, Y)
    sieve = Sieve(name, n_features_to_select=4).fit(X, Y)
    assert_same_selection(sieve, parts)
    assert sieve.criterion_.name == make_criterion(preset.criterion).name
    assert type(sieve.targets_) is LABEL_SPACES[preset.targets]
    assert sieve.discretizer_.get_params() == preset.discretizer.get_params()
    assert sieve.get_params()["targets"] == sieve.get_params()["discretizer"] == "auto"


def test_mlinfogain_is_the_papers():
    """Pereira et al. 2015, eq. 2: entropies over single labels added, ten bins closed on the right."""
    X, Y = make_data()
    X = X.copy()
    sieve = Sieve("mlinfogain", n_features_to_select=None).fit(X, Y)
    edges = [np.linspace(column.min(), column.max(), 11)[1:-1] for column in X.T]

    def entropy(rows):
        shares = [p for label in rows.T for p in (label.mean(), 1 - label.mean()) if p > 0]
        return -sum(p * np.log(p) for p in shares)

    for feature, score in zip(sieve.selected_, sieve.scores_, strict=True):
        if len(np.unique(X[:, feature])) <= 10:
            continue
        bins = np.searchsorted(edges[feature], X[:, feature], side="left")
        inside = sum(np.mean(bins == v) * entropy(Y[bins == v]) for v in np.unique(bins))
        assert score == pytest.approx(entropy(Y) - inside, abs=1e-9)


def test_what_is_given_overrides_the_method():
    X, Y = make_data()
    sieve = Sieve("group-jmi-rand", targets="joint", discretizer=EqualWidth(3), n_features_to_select=4).fit(X, Y)
    assert_same_selection(sieve, Sieve("jmi", targets="joint", discretizer=EqualWidth(3), n_features_to_select=4).fit(X, Y))
    codes = EqualWidth().encode(X).to_dense()
    assert isinstance(Sieve("mlinfogain", discretizer=None).fit(codes, Y).discretizer_, AsGiven)


def test_a_criterion_alone_has_single_targets_and_five_bins():
    X, Y = make_data()
    sieve = Sieve("JMI", n_features_to_select=4).fit(X, Y)
    assert isinstance(sieve.targets_, Single)
    assert sieve.discretizer_.get_params() == EqualFrequency(5).get_params()
    assert_same_selection(
        sieve, Sieve("jmi", targets="single", discretizer="equal-frequency", n_features_to_select=4).fit(X, Y)
    )


@pytest.mark.parametrize(
    ("name", "targets", "cuts"),
    [("lp-infogain", "joint", "joint"), ("copy-infogain", "copy", "copy"), ("ela-infogain", "copy-weight", "copy")],
)
def test_information_gain_after_a_transformation_cuts_for_its_classes(name, targets, cuts):
    X, Y = make_data()
    sieve = Sieve(name, n_features_to_select=4).fit(X, Y)
    assert sieve.discretizer_.targets == cuts
    assert_same_selection(
        sieve, Sieve("mim", targets=targets, discretizer=MDL(cuts, boundaries="values"), n_features_to_select=4).fit(X, Y)
    )


def test_an_unknown_method_lists_the_known():
    with pytest.raises(
        InputError, match=r"'group-jm' is not a criterion. Did you mean 'group-jmi'\? Similar: 'group-jmi-rand'"
    ):
        Sieve("group-jm").fit(*make_data())


def test_one_list_for_every_target_takes_methods_of_single_targets():
    X, Y = make_data()
    sieve = LabelwiseSieve("mlinfogain", n_features_to_select=2).fit(X, Y)
    assert sieve.discretizer_.n_bins == 10
    with pytest.raises(InputError, match=r"LabelwiseSieve\('group-jmi'\): this method is for 'group' targets"):
        LabelwiseSieve("group-jmi").fit(X, Y)


SPACES = [*LABEL_SPACES, Group(pot=0.3, n_clusters=3, random_state=7), GroupRand(n_clusters=(2, 5)), Joint()]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_a_space_goes_through_clone_pickle_and_file(space, tmp_path):
    X, Y = make_data()
    sieve = Sieve(targets=space, n_features_to_select=3).fit(X, Y)
    sieve.to_json(tmp_path / "selected.json")
    read = Sieve.from_json(tmp_path / "selected.json")
    thawed = pickle.loads(pickle.dumps(sieve))
    for same in (read, thawed):
        assert np.array_equal(same.selected_, sieve.selected_)
        assert same.n_rows_left_out_ == sieve.n_rows_left_out_
        assert type(same.targets_) is type(sieve.targets_)
    assert_same_selection(clone(sieve).fit(X, Y), sieve)
    assert_same_selection(clone(read).fit(X, Y), sieve)


def test_a_search_tunes_the_settings_of_a_space():
    X, Y = make_data()
    model = make_pipeline(Sieve(targets=Group(), n_features_to_select=2), KNeighborsClassifier(5))
    grid = {"sieve__targets__n_clusters": [2, 6], "sieve__targets__pot": [0.5, 1.0]}
    assert len(GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, Y).cv_results_["params"]) == 4
    grid = {"sieve__targets": ["single", "copy", Copy(), Group()]}
    assert len(GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, Y).cv_results_["params"]) == 4


@pytest.mark.parametrize("space", ["copy", "group"])
def test_a_warm_start_goes_on_in_any_space(space):
    X, Y = make_data()
    warm = Sieve(targets=space, n_features_to_select=2, warm_start=True).fit(X, Y).set_params(n_features_to_select=5)
    assert_same_selection(warm.fit(X, Y), Sieve(targets=space, n_features_to_select=5).fit(X, Y))


def test_the_page_lists_every_method():
    page = (Path(__file__).parents[2] / "docs" / "choose" / "labelspaces.md").read_text(encoding="utf-8")
    for name, preset in PRESETS.items():
        assert f"| `{name}` | {preset.criterion} | {preset.targets} | {preset.discretizer} | {preset.paper} |" in page


def test_binary_relevance_joins_the_gains_of_all_labels():
    X, Y = make_data()
    sieve = Sieve("br-infogain", n_features_to_select=None).fit(X, Y)
    each = LabelwiseSieve("mim", discretizer=sieve.discretizer_, n_features_to_select=None).fit(X, Y)
    gains = np.empty(each.scores_.shape)
    np.put_along_axis(gains, each.selected_, each.scores_, axis=1)
    joined = join_labels(gains.T)
    assert np.array_equal(sieve.selected_, np.argsort(-joined, kind="stable"))
    assert np.array_equal(sieve.scores_, joined[sieve.selected_])
    summed = Sieve(JoinedMIM("sum", scale="none"), discretizer=None, n_features_to_select=3).fit(X > 0, Y)
    np.testing.assert_allclose(summed.scores_, Sieve("mim", discretizer=None, n_features_to_select=3).fit(X > 0, Y).scores_)
    with pytest.raises(InputError, match="target_weight"):
        Sieve("br-infogain", target_weight=[1] * Y.shape[1]).fit(X, Y)


@pytest.mark.parametrize("warm_start", [False, True])
@pytest.mark.parametrize("criterion", ["jmi", "mlfs", "br-infogain", "group-jmi-rand"])
def test_a_method_is_resolved_once_per_fit(criterion, warm_start, monkeypatch):
    calls = []

    def counted(*arguments, **settings):
        calls.append(arguments)
        return resolve_method(*arguments, **settings)

    for module in (sieve_module, labelwise_module):
        monkeypatch.setattr(module, "resolve_method", counted)
    X, Y = make_data()
    sieve = Sieve(criterion, n_features_to_select=2, warm_start=warm_start).fit(X, Y)
    assert len(calls) == 1
    sieve.set_params(n_features_to_select=4).fit(X, Y)
    assert len(calls) == 2
    LabelwiseSieve("jmi", n_features_to_select=2).fit(X, Y)
    assert len(calls) == 3
