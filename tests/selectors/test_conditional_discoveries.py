"""Conditional discoveries: found features, the error rate, reproducibility, samplers and statistics."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge

from labelsieve import InputError, Sieve
from labelsieve.discoveries import GaussianKnockoffs, TreeKnockoffs
from labelsieve.selectors import ConditionalDiscoveries

N_RELEVANT = 15


def planted(n_rows=250, n_features=40, q=3, seed=0, *, binary=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    X[:, 1:] = 0.4 * X[:, :-1] + X[:, 1:]
    X = (X > 0.5).astype(int) if binary else X
    Y = X[:, :N_RELEVANT] @ rng.choice([-1.0, 1.0], (N_RELEVANT, q)) + rng.normal(size=(n_rows, q))
    return X, (np.median(Y, axis=0) < Y).astype(int) if binary else Y


@pytest.fixture(scope="module")
def found():
    X, Y = planted()
    return ConditionalDiscoveries(n_repeats=5).fit(X, Y)


def test_relevant_features_are_selected_with_their_q_values(found):
    assert set(found.selected_.tolist()) >= set(range(N_RELEVANT))
    assert len(found.selected_) <= N_RELEVANT + 2
    assert (found.q_values_[found.support_] <= 0.1).all()
    assert (found.q_values_[~found.support_] > 0.1).all()
    table = found.discovery_table(names=[f"gene {j}" for j in range(40)])
    assert len(table["feature"]) == len(found.selected_)
    assert table["feature"][0].startswith("gene ")
    assert all(low <= high for low, high in zip(table["lower"], table["upper"], strict=True))
    assert np.mean([low <= value for low, value in zip(table["lower"], table["information"], strict=True)]) == 1
    text = str(found.summary())
    assert f"{len(found.selected_)} of 40 features at a false discovery rate of 0.1" in text
    assert "informative" in text
    assert (found.reproducibility_[found.selected_[:N_RELEVANT]] == 1).all()
    assert "reproduced" in text
    assert " nan " not in str(ConditionalDiscoveries(n_repeats=1).fit(*planted()).summary())
    assert "upper" in text


def test_the_same_seed_gives_the_same_result_for_any_number_of_threads(found):
    X, Y = planted()
    again = ConditionalDiscoveries(n_repeats=5, n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(again.statistics_, found.statistics_)
    other = ConditionalDiscoveries(n_repeats=5, random_state=1).fit(X, Y)
    assert (other.statistics_ != found.statistics_).any()
    assert len(set(other.selected_) & set(found.selected_)) >= N_RELEVANT


def test_shuffled_targets_have_no_discoveries_and_the_reason_is_given():
    X, Y = planted()
    shuffled = Y[np.random.default_rng(0).permutation(len(Y))]
    nothing = ConditionalDiscoveries(n_repeats=5).fit(X, shuffled)
    assert not nothing.support_.any()
    assert "At least 10 features" in nothing.reason_
    few = ConditionalDiscoveries(n_repeats=1).fit(X[:, :5], Y)
    assert not few.support_.any()
    assert "there are 5" in few.reason_
    assert "there are 5" in str(few.summary())
    assert ConditionalDiscoveries(n_repeats=1).fit(X, np.zeros(len(X))).reason_.startswith("All targets are constant")


def test_discrete_features_use_a_tree_and_others_the_copula():
    X, Y = planted(binary=True, n_rows=500)
    tree = ConditionalDiscoveries(n_repeats=3).fit(X, Y)
    assert isinstance(tree.sampler_, TreeKnockoffs)
    assert len(tree.selected_) >= 12
    assert np.count_nonzero(tree.selected_ >= N_RELEVANT) <= 2
    frame = pd.DataFrame(X).astype(str)  # text has levels, too
    assert ConditionalDiscoveries(n_repeats=3).fit(frame, Y).selected_.tolist() == tree.selected_.tolist()
    numbers = np.random.default_rng(0).normal(size=(len(X), 41))
    few, many = (ConditionalDiscoveries(n_repeats=1).fit(np.hstack([X, numbers[:, :n]]), Y) for n in (2, 41))
    assert isinstance(many.sampler_, GaussianKnockoffs)
    assert [len(table[0]) for table in few.sampler_.tables] == [2] * 40 + [5] * 2  # bins of the numeric ones


def test_correlations_are_shrunk_less_if_many_targets_show_their_errors():
    X, Y = planted(60, 15, 50)
    for targets, shrinkage in ((Y[:, :49], 1), (Y, 1 / 3)):
        used = ConditionalDiscoveries(n_repeats=1).fit(X, targets).sampler_.correlation
        np.testing.assert_array_equal(used, GaussianKnockoffs.from_values(X, shrinkage=shrinkage).correlation)


def test_a_duplicate_is_not_discovered():
    X, Y = planted()
    found = ConditionalDiscoveries(n_repeats=2).fit(np.column_stack([X, X[:, 0]]), Y)
    assert not found.support_[[0, 40]].any()
    assert found.support_[1:N_RELEVANT].sum() >= 12


@pytest.mark.parametrize(
    "statistic",
    [
        "lasso",
        "likelihood-ratio",
        "mim",
        Ridge(),
        RandomForestRegressor(10, random_state=0),
        Sieve("jmi", n_features_to_select=20),
    ],
    ids=str,
)
def test_any_importance_is_a_statistic_and_swapping_a_copy_changes_its_sign(statistic):
    X, Y = planted(120, 20, 1)

    def fit(table, swapped):
        def sampler(given, generator):
            generator.random()
            return np.where(swapped, X, copy)

        return ConditionalDiscoveries(statistic=statistic, sampler=sampler, n_repeats=1).fit(table, Y[:, 0]).statistics_[0]

    copy = GaussianKnockoffs.from_values(X).sample([np.random.default_rng(3)])[0]
    swapped = np.arange(20) % 2 == 0
    one, other = fit(X, np.zeros(20, bool)), fit(np.where(swapped, copy, X), swapped)
    assert np.abs(one).max() > 0
    if isinstance(statistic, Ridge) or statistic in (
        "likelihood-ratio",
        "mim",
    ):  # these do not depend on the order of the columns
        np.testing.assert_allclose(other, np.where(swapped, -one, one), atol=1e-8)


def test_settings_that_cannot_be_used_are_refused():
    X, Y = planted(60, 20, 1)
    with pytest.raises(InputError, match="Did you mean 'lasso'"):
        ConditionalDiscoveries(statistic="laso").fit(X, Y)
    with pytest.raises(InputError, match="estimator with coef_"):
        ConditionalDiscoveries(statistic=3).fit(X, Y)
    for table in (np.where(X[0] == X, np.nan, X), pd.DataFrame(X).add_prefix("f").assign(text=["a", "b"] * 30)):
        with pytest.raises(InputError, match='With sampler="tree", text and missing cells are levels'):
            ConditionalDiscoveries(missing="level").fit(table, Y)
        assert (
            ConditionalDiscoveries(sampler="tree", missing="level", n_repeats=1).fit(table, Y).q_values_.shape
            == table.shape[1:]
        )
    with pytest.raises(InputError, match="shape"):
        ConditionalDiscoveries(sampler=lambda X, generator: X[:, :3]).fit(X, Y)
