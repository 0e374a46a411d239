"""The known answer is really known: every kind of feature tells what its role says, and no more."""

import numpy as np
import pytest

from labelsieve import InputError
from labelsieve.datasets import make_known_answer
from labelsieve.information import (
    Codes,
    conditional_mutual_information,
    entropy,
    joint_entropy,
    mutual_information,
)

MANY = 20_000  # rows, so that chance is far below every effect
CHANCE = 10 / MANY  # nats; twenty times what a noise feature is expected to share with a label by chance


@pytest.fixture(scope="module", params=[0, 1, 2])
def data(request):
    return make_known_answer(MANY, random_state=request.param)


@pytest.fixture(scope="module")
def information(data):
    """Of every feature about every label, by names."""
    table = mutual_information(data.X, data.Y)
    return {name: dict(zip(data.label_names, row, strict=True)) for name, row in zip(data.feature_names, table, strict=True)}


def column(data, name):
    return data.X[:, data.feature_names.index(name)]


def label(data, name):
    return data.Y[:, data.label_names.index(name)]


def similarity(one, other):
    together = float(joint_entropy(one, other)[0, 0])
    return float(mutual_information(one, other)[0, 0]) / together


def test_names_and_roles_belong_together(data):
    kinds = {"relevant": "rel", "redundant": "copy", "xor": "xor", "noise": "noise"}
    assert all(name.rstrip("0123456789") == kinds[role] for name, role in zip(data.feature_names, data.roles, strict=True))
    assert len(set(data.feature_names)) == data.X.shape[1]
    assert len(set(data.label_names)) == data.Y.shape[1]
    assert sorted(data.roles[column] for column in data.answer) == ["relevant"] * 4 + ["xor"] * 2


def test_relevant_features_tell_about_their_label_and_the_one_before(information):
    for i in range(4):
        own, before = f"label{i + 1}", f"label{(i - 1) % 4 + 1}"
        assert information[f"rel{i + 1}"][own] > 0.2
        assert information[f"rel{i + 1}"][before] > 5 * CHANCE
        assert max(information[f"rel{i + 1}"], key=information[f"rel{i + 1}"].get) == own


def test_copies_resemble_their_originals_and_nothing_else(data):
    for i in range(1, 5):
        original = similarity(column(data, f"copy{i}"), column(data, f"rel{i}"))
        others = [similarity(column(data, f"copy{i}"), column(data, name)) for name in data.feature_names if name[-1] != str(i)]
        assert original > 0.3
        assert max(others) < CHANCE


def test_copies_tell_less_than_their_originals_and_nothing_beside_them(data, information):
    for i in range(1, 5):
        copy, original = f"copy{i}", f"rel{i}"
        assert 0.1 < information[copy][f"label{i}"] < information[original][f"label{i}"]
        beside = conditional_mutual_information(column(data, copy), data.Y, column(data, original))
        assert beside.max() < 2 * CHANCE


def test_switches_tell_almost_nothing_alone_and_a_lot_together(data, information):
    first, second = column(data, "xor1"), column(data, "xor2")
    differ = label(data, "differ")
    pair = Codes.from_values((2 * first + second).astype(int))
    together = float(mutual_information(pair, differ)[0, 0])
    assert together > 0.7 * float(entropy(differ)[0])
    assert information["xor2"]["differ"] < CHANCE
    assert 20 * CHANCE < information["xor1"]["differ"] < 0.1 * together  # the hint that a greedy search needs


def test_switches_tell_nothing_about_the_other_labels(information):
    for name in ("xor1", "xor2"):
        assert max(value for which, value in information[name].items() if which != "differ") < CHANCE


def test_noise_tells_nothing_alone_or_beside_a_relevant_feature(data, information):
    for name in data.feature_names:
        if name.startswith("noise"):
            assert max(information[name].values()) < CHANCE
            assert conditional_mutual_information(column(data, name), data.Y, column(data, "rel1")).max() < 2 * CHANCE


def test_every_column_has_two_levels(data):
    assert (Codes.from_values(data.X).levels == 2).all()
    assert (Codes.from_values(data.Y).levels == 2).all()


def test_the_same_number_makes_the_same_data_and_another_does_not():
    one, again, other = (make_known_answer(100, random_state=seed) for seed in (5, 5, 6))
    assert np.array_equal(one.X, again.X)
    assert np.array_equal(one.Y, again.Y)
    assert one.feature_names == again.feature_names
    assert not np.array_equal(one.X, other.X)


@pytest.mark.parametrize("n_rows", [0, 1, -3, 2.5, True, "many", 10**9])
def test_impossible_numbers_of_rows_are_refused(n_rows):
    with pytest.raises(InputError, match="n_rows must be a whole number"):
        make_known_answer(n_rows)
