"""Data with a known answer: the roles are true."""

import numpy as np
import pytest

from labelsieve import InputError
from labelsieve.datasets.synthetic import make_feature_roles
from labelsieve.discretize import equal_width
from labelsieve.information import conditional_mutual_information, join, mutual_information

KINDS = {
    "n_relevant": "relevant",
    "n_label_specific": "label-specific",
    "n_exact_copies": "exact copy",
    "n_noisy_copies": "noisy copy",
    "n_irrelevant": "irrelevant",
}
ALL = {"n_labels": 5, "n_label_specific": 3, "n_exact_copies": 2, "n_noisy_copies": 2, "n_xor_pairs": 2, "n_xor_triples": 1}


def test_there_are_as_many_features_of_each_kind_as_asked_for():
    data = make_feature_roles(300, **ALL, n_relevant=4, n_irrelevant=7)
    asked = {**ALL, "n_relevant": 4, "n_irrelevant": 7}
    for name, kind in KINDS.items():
        assert len(data.columns(kind)) == asked[name]
    assert len(data.columns("joint")) == 2 * 2 + 3
    assert len(set(data.feature_names)) == data.X.shape[1] == len(data.roles)
    assert data.Y.shape == (300, 5) == (300, len(data.label_names))


@pytest.mark.parametrize("n_levels", [None, 4])
def test_what_a_role_says_can_be_measured(n_levels):
    data = make_feature_roles(8000, **ALL, n_levels=n_levels, random_state=3)
    codes = equal_width(data.X, n_bins=8)
    information = mutual_information(codes, data.Y)
    chance = information[data.columns("irrelevant")].max()
    for column, role in enumerate(data.roles):
        if role.kind in ("relevant", "label-specific", "exact copy", "noisy copy"):
            others = [label for label in range(5) if label not in role.labels]
            assert information[column, list(role.labels)].min() > 4 * chance, (column, role)
            assert information[column, others].max(initial=0) < 2 * chance, (column, role)
        elif role.kind == "joint":
            (label,) = role.labels
            y = data.Y[:, label]
            alone = information[column, label]
            partners = data.X[:, list(role.partners)].astype(int)
            together = conditional_mutual_information(data.X[:, column].astype(int), y, partners)[0, 0]
            assert alone < 0.002
            assert together > 0.05
            if len(role.partners) == 2:  # of a triple, two are uninformative, too
                pair = join(np.column_stack([data.X[:, column], partners[:, 0]]).astype(int))
                assert mutual_information(pair, y)[0, 0] < 0.002


def test_copies_repeat_the_column_they_name():
    data = make_feature_roles(2000, n_exact_copies=3, n_noisy_copies=3, random_state=1)
    for column in data.columns("exact copy"):
        assert np.array_equal(data.X[:, column], data.X[:, data.roles[column].copy_of])
    for column in data.columns("noisy copy"):
        correlation = np.corrcoef(data.X[:, column], data.X[:, data.roles[column].copy_of])[0, 1]
        assert 0.8 < correlation < 0.95
        assert data.roles[data.roles[column].copy_of].kind == "relevant"


def test_frequencies_follow_the_imbalance():
    frequency = make_feature_roles(10_000, n_labels=5, imbalance=16).Y.mean(axis=0)
    np.testing.assert_allclose(frequency, 0.4 / np.array([1, 2, 4, 8, 16]), atol=1e-4)
    assert make_feature_roles(10, n_labels=3, imbalance=1000).Y.sum(axis=0).min() == 1


def test_labels_depend_on_the_label_before_when_asked_to():
    weak, strong = (make_feature_roles(5000, n_labels=4, n_relevant=2, label_dependence=weight) for weight in (0.0, 3.0))
    assert weak.parents == ((), (), (), ())
    assert strong.parents == ((), (0,), (1,), (2,))
    shared = [mutual_information(data.Y[:, 2], data.Y[:, 3])[0, 0] for data in (weak, strong)]
    assert shared[1] > 20 * shared[0]


def test_numeric_targets_are_the_scores_behind_the_labels():
    scores, labels = (make_feature_roles(500, targets=targets, random_state=4).Y for targets in ("numeric", "labels"))
    assert scores.dtype == np.float64
    for score, label in zip(scores.T, labels.T, strict=True):
        assert score[label == 1].min() >= score[label == 0].max()


def test_missing_cells_are_as_many_as_asked_for():
    data = make_feature_roles(4000, missing=0.1)
    assert np.isnan(data.X).mean() == pytest.approx(0.1, abs=0.01)
    assert not np.isnan(data.Y).any()


def test_the_same_number_makes_the_same_data():
    one, again, other = (make_feature_roles(100, random_state=state) for state in (7, 7, 8))
    assert np.array_equal(one.X, again.X)
    assert np.array_equal(one.Y, again.Y)
    assert one.roles == again.roles
    assert not np.array_equal(one.X, other.X)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_rows": 0},
        {"n_labels": 0},
        {"n_relevant": -1},
        {"n_irrelevant": 2.5},
        {"imbalance": 0.5},
        {"noise": -1},
        {"missing": 1.0},
        {"label_dependence": -0.1},
        {"n_levels": 1},
        {"targets": "classes"},
        {"n_relevant": 0, "n_noisy_copies": 1},
        {"n_relevant": 0, "n_noisy_copies": 0, "n_xor_pairs": 0},
    ],
    ids=str,
)
def test_what_cannot_be_made_is_refused(wrong):
    with pytest.raises(InputError):
        make_feature_roles(**{"n_rows": 50, **wrong})


def test_a_lean_makes_the_first_of_an_xor_pair_hint_at_its_label():
    fair, lean = (make_feature_roles(4000, n_relevant=1, n_noisy_copies=0, xor_lean=share, noise=0.0) for share in (0.5, 0.75))
    for data, hints in ((fair, 0), (lean, 1)):
        pair = data.columns("joint")
        label = data.Y[:, data.roles[pair[0]].labels[0]]
        gaps = sorted(abs(label[data.X[:, column] == 1].mean() - label[data.X[:, column] == 0].mean()) for column in pair)
        assert gaps[0] < 0.1
        assert (gaps[1] > 0.2) == bool(hints)
    with pytest.raises(InputError, match="xor_lean between 0 and 1"):
        make_feature_roles(10, xor_lean=1.0)


def test_two_levels_make_every_feature_binary_and_copies_redundant():
    data = make_feature_roles(20_000, n_labels=5, n_noisy_copies=4, n_irrelevant=3, n_levels=2)
    assert set(np.unique(data.X)) == {0, 1}
    noise = 10 / len(data.X)  # nats; twenty times the expected information of an irrelevant feature
    for column in data.columns("noisy copy"):
        original = data.roles[column].copy_of
        own = list(data.roles[column].labels)
        copied, first = (mutual_information(data.X[:, k], data.Y)[0, own] for k in (column, original))
        assert (copied < first).all()
        assert (copied > 20 * noise).all()
    for column in data.columns("irrelevant"):
        given = conditional_mutual_information(data.X[:, column], data.Y, data.X[:, data.columns("relevant")[0]])
        assert given.max() < 2 * noise
