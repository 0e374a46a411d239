"""Redundant features: not selected, with nearly the same information as a selected one."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from labelsieve import InputError, Sieve
from labelsieve.discretize import EqualWidth
from tests.support.criterion_cases import columns
from tests.support.reference_criteria import H, mi
from tests.support.selection_data import NAMES, make_data


def make_copies():
    """Columns 8, 9 repeat columns 1, 2, the second with other codes; 10 is column 1 but for a row, 11 is constant."""
    X, Y = make_data()
    codes = np.column_stack([X > 0, X[:, 1] > 0, X[:, 2] <= 0, X[:, 1] > 0, np.zeros(len(X))]).astype(int)
    codes[0, 10] ^= 1
    return codes, Y


def fit(codes, Y, n_features):
    return Sieve("ami", discretizer=None, n_features_to_select=n_features).fit(codes, Y)


def test_similarity_is_shared_information_over_joint_entropy():
    codes, Y = make_copies()
    sieve = fit(codes, Y, 4)
    features = columns(codes)
    redundant = sieve.redundant_features(codes, at_least=1e-12)
    assert list(redundant) == sieve.selected_.tolist()
    for selected, found in redundant.items():
        unselected = [k for k in range(len(features)) if k not in sieve.selected_]
        expected = {k: mi(features[k], features[selected]) / H(features[k], features[selected]) for k in unselected}
        assert {feature.feature for feature in found} == {k for k, similarity in expected.items() if similarity > 1e-12}
        for feature in found:
            assert feature.similarity == pytest.approx(expected[feature.feature], rel=0, abs=1e-9)
        assert sorted(found, key=lambda feature: (-feature.similarity, feature.feature)) == found


def test_only_features_that_are_similar_enough_are_redundant():
    codes, Y = make_copies()
    sieve = Sieve("mim", discretizer=None, n_features_to_select=1, forced=[1]).fit(codes, Y)
    assert [feature.feature for feature in sieve.redundant_features(codes)[1]] == [8, 10]
    assert sieve.redundant_features(codes, at_least=1.0)[1] == [(8, 1.0)]
    loose = sieve.redundant_features(codes, at_least=1e-9)[1]
    assert 11 not in [feature.feature for feature in loose], "a constant has no information, so it is redundant to no feature"


def test_bins_are_those_of_the_sieve():
    X, Y = make_data()
    X = np.column_stack([X, X[:, 1] * 3 + 1])
    sieve = Sieve("mim", discretizer=EqualWidth(4), n_features_to_select=1, forced=[1]).fit(X, Y)
    assert sieve.redundant_features(X)[1] == [(8, 1.0)]


def test_redundant_features_do_not_depend_on_the_container_or_the_threads():
    codes, Y = make_copies()
    sieve = fit(codes, Y, 3)
    expected = sieve.redundant_features(codes, at_least=0.01)
    for same in (codes.astype(float), sp.csr_array(codes), sp.csc_array(codes), codes.tolist()):
        assert sieve.redundant_features(same, at_least=0.01) == expected
    assert sieve.set_params(n_jobs=2).redundant_features(codes, at_least=0.01) == expected


@pytest.mark.parametrize("at_least", [0, -0.1, 1.01, float("nan")])
def test_a_limit_that_no_similarity_can_have_is_refused(at_least):
    codes, Y = make_copies()
    with pytest.raises(InputError, match="at_least must be above 0 and at most 1"):
        fit(codes, Y, 2).redundant_features(codes, at_least=at_least)


def test_other_features_than_those_of_the_fit_are_refused():
    codes, Y = make_copies()
    with pytest.raises(ValueError, match="expecting 12 features"):
        fit(codes, Y, 2).redundant_features(codes[:, :5])
    with pytest.raises(NotFittedError):
        Sieve().redundant_features(codes)


def test_redundant_features_are_found_in_a_frame_with_text():
    X, Y = make_data()
    frame = pd.DataFrame(X, columns=NAMES).assign(**{NAMES[0]: np.where(X[:, 1] > 0, "high", "low")})
    assert Sieve(n_features_to_select=2).fit(frame, Y).redundant_features(frame)
