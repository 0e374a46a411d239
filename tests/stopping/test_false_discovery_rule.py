"""The false discovery rate as a stopping rule."""

import numpy as np
import pytest

from labelsieve import InputError, LabelwiseSieve, Sieve
from labelsieve.selectors import ChiSquare, MarginalDiscoveries
from labelsieve.stopping import FDR, GTest, PermutationTest


def make_associations(seed=0, n_rows=300):
    """Features 0 to 2 with the first two of three labels, and twelve others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 15))
    values = rng.normal(size=(n_rows, 3))
    values[:, 0] += X[:, 0] + 0.7 * X[:, 1]
    values[:, 1] += X[:, 2]
    return X, (values > 0).astype(int)


def test_the_discovered_features_are_selected_in_the_order_of_the_criterion():
    X, Y = make_associations()
    found = MarginalDiscoveries(alpha=0.1).fit(X, Y)
    for criterion in ("mim", "jmi", "mrmr"):
        sieve = Sieve(criterion, n_features_to_select=FDR(alpha=0.1)).fit(X, Y)
        assert set(sieve.selected_) == set(found.selected_) >= {0, 1, 2}
        others = np.flatnonzero(~found.support_)
        assert sieve.stopping_.left_out_.tolist() == others.tolist()
        assert sieve.selected_.tolist() == Sieve(criterion, excluded=others).fit(X, Y).selected_.tolist()
    assert np.array_equal(sieve.stopping_.q_values_, found.q_values_)
    assert np.array_equal(sieve.stopping_.label_q_values_, found.label_q_values_)
    assert sieve.stopping_.reason_.startswith(f"{len(sieve.selected_)} of 15 features are discovered")


def test_nothing_is_selected_from_shuffled_labels_and_the_reason_names_the_power():
    X, Y = make_associations()
    sieve = Sieve("cmim", n_features_to_select=FDR(alpha=0.01)).fit(X, np.random.default_rng(1).permutation(Y))
    assert len(sieve.selected_) == 0
    assert "Nothing is discovered at 0.01" in sieve.stopping_.reason_
    assert f"about {sieve.stopping_.minimum_information_:.4f} nats" in sieve.stopping_.reason_


def test_forced_and_excluded_features_are_not_tested():
    X, Y = make_associations()
    sieve = Sieve("cmim", n_features_to_select=FDR(), forced=[9], excluded=[0]).fit(X, Y)
    assert sieve.selected_[0] == 9
    assert 0 not in sieve.selected_
    assert np.isnan(sieve.stopping_.q_values_[[9, 0]]).all()
    some = np.setdiff1d(np.arange(15), [0, 9])
    alone = MarginalDiscoveries(alpha=0.1).fit(X[:, some], Y)
    assert np.array_equal(sieve.stopping_.q_values_[some], alone.q_values_)


def test_every_label_has_a_list_with_its_own_rate():
    X, Y = make_associations()
    lists = LabelwiseSieve(n_features_to_select=FDR(alpha=0.05)).fit(X, Y)
    for label in range(3):
        found = MarginalDiscoveries().fit(X, Y[:, [label]])
        assert set(lists.label_ranking(label)[0]) == set(found.selected_)


def test_candidates_of_a_label_do_not_hide_how_many_features_were_tested():
    X, Y = make_associations()
    lists = LabelwiseSieve(n_features_to_select=FDR(alpha=0.05), n_candidates=3).fit(X, Y)
    for label, rule in enumerate(lists.stopping_):
        found = MarginalDiscoveries().fit(X, Y[:, [label]])
        np.testing.assert_array_equal(rule.q_values_, found.q_values_)
        assert set(lists.label_ranking(label)[0]) == set(found.selected_[:3])
    noise = np.random.default_rng(0).normal(size=(200, 400))
    shuffled = LabelwiseSieve("mim", n_features_to_select=FDR(), n_candidates=10).fit(noise, np.arange(200) % 2)
    assert shuffled.n_selected_.tolist() == [0]


def test_a_warm_start_does_not_keep_what_the_rule_left_out():
    X, Y = make_associations()
    warm = Sieve("jmi", n_features_to_select=FDR(), warm_start=True).fit(X, Y)
    again = warm.set_params(n_features_to_select=FDR(alpha=0.9)).fit(X, Y)
    assert again.selected_.tolist() == Sieve("jmi", n_features_to_select=FDR(alpha=0.9)).fit(X, Y).selected_.tolist()
    assert len(warm.set_params(n_features_to_select=None).fit(X, Y).selected_) == 15


def test_conditional_discoveries_leave_out_what_other_features_explain():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, size=(600, 30))
    X[:, 20:] = np.where(rng.random((600, 10)) < 0.8, X[:, :10], 1 - X[:, :10])  # noisy copies of ten relevant ones
    Y = (X[:, :10] @ rng.normal(size=(10, 6)) + 0.3 * rng.normal(size=(600, 6)) > 0.5).astype(int)
    marginal = Sieve("mim", n_features_to_select=FDR(0.2)).fit(X, Y)
    conditional = Sieve("mim", n_features_to_select=FDR(0.2, null="conditional", n_repeats=5)).fit(X, Y)
    assert set(range(10)) <= set(conditional.selected_.tolist())
    assert np.count_nonzero(conditional.selected_ >= 10) <= 4
    assert np.count_nonzero(marginal.selected_ >= 20) >= 8
    assert conditional.stopping_.reason_.startswith(f"{len(conditional.selected_)} of 30 features are discovered")
    shuffled = Sieve("cmim", n_features_to_select=FDR(0.2, null="conditional", n_repeats=5)).fit(X, rng.permutation(Y))
    assert len(shuffled.selected_) == 0
    assert "5 features (1 / alpha) or more, or none" in shuffled.stopping_.reason_


def test_what_has_no_guarantee_is_refused():
    X, Y = make_associations()
    with pytest.raises(InputError, match="null"):
        Sieve("cmim", n_features_to_select=FDR(null="joint")).fit(X, Y)
    with pytest.raises(InputError, match="known in all rows"):
        Sieve("cmim", n_features_to_select=FDR(null="conditional")).fit(
            X, np.where(np.arange(900).reshape(300, 3) == 5, np.nan, Y)
        )
    with pytest.raises(InputError, match="weighted rows"):
        Sieve("cmim", n_features_to_select=FDR()).fit(X, Y, sample_weight=np.arange(1, 301))
    with pytest.raises(InputError, match="counts rows several times"):
        Sieve("cmim", n_features_to_select=FDR(), targets="copy").fit(X, Y)
    for rule in (FDR(), GTest(), PermutationTest()):
        with pytest.raises(InputError, match=f"{type(rule).__name__}: supervised bins"):
            Sieve("cmim", n_features_to_select=rule, discretizer="mdl").fit(X, Y)
        if not isinstance(rule, FDR):
            with pytest.raises(InputError, match="n_candidates leaves out most of them"):
                LabelwiseSieve(n_features_to_select=rule, n_candidates=5).fit(X, Y)
    with pytest.raises(InputError, match="FDR tests"):
        ChiSquare(n_features_to_select=FDR()).fit(X, Y)
