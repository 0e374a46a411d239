"""Knockoffs: exchangeability by enumeration and by moments, the filter and e-values by their definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.covariance import ledoit_wolf

from labelsieve.discoveries import (
    GaussianKnockoffs,
    TreeKnockoffs,
    e_q_values,
    knockoff_e_values,
    knockoff_slack,
    knockoff_threshold,
    lasso_importance,
    likelihood_ratios,
)
from labelsieve.discoveries.knockoff_statistics import variance_components
from labelsieve.errors import InputError

TREES = {  # levels, parents, columns after their parents
    "chain": ([2, 3, 2], [-1, 0, 1], [0, 1, 2]),
    "star": ([3, 2, 2, 2], [-1, 0, 0, 0], [0, 2, 1, 3]),
    "root in the middle": ([2, 3, 2, 2], [1, 2, -1, 2], [2, 1, 3, 0]),
}


def autoregressive(d, rho):
    return rho ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("impossible", [False, True], ids=["", "with impossible cells"])
def test_tree_knockoffs_are_exchangeable_under_every_swap(name, impossible):
    levels, parents, order = TREES[name]
    rng = np.random.default_rng(len(name))
    tables = [rng.random((levels[parent] if parent >= 0 else 1, levels[j])) for j, parent in enumerate(parents)]
    if impossible:
        for table in tables:
            table[:, 1:][rng.random(table[:, 1:].shape) < 0.4] = 0
    tables = [table / table.sum(axis=1, keepdims=True) for table in tables]
    rows = np.array(list(itertools.product(*map(range, levels))))
    of_row = np.prod([tables[j][rows[:, p] if p >= 0 else 0, rows[:, j]] for j, p in enumerate(parents)], axis=0)
    rows, of_row = rows[of_row > 0], of_row[of_row > 0]
    sampler = TreeKnockoffs(rows, np.array(parents), np.array(order), tuple(tables))
    copies = np.repeat(rows[:, np.newaxis], len(rows), axis=1)
    joint = of_row * sampler.probability(copies)  # [copy, row]
    assert joint.sum() == pytest.approx(1)  # so copies outside of the support have no probability
    place = {tuple(row): number for number, row in enumerate(rows.tolist())}
    for swapped in itertools.product([False, True], repeat=len(levels)):
        for a, row in enumerate(rows):
            for b, copy in enumerate(rows):
                one = place.get(tuple(np.where(swapped, copy, row).tolist()))
                other = place.get(tuple(np.where(swapped, row, copy).tolist()))
                assert joint[b, a] == pytest.approx(0 if one is None or other is None else joint[other, one], abs=1e-14)


def test_tree_copies_have_the_probabilities_of_the_model():
    rng = np.random.default_rng(0)
    X = np.repeat([[0, 0, 1]], 20_000, axis=0)
    tables = tuple(t / t.sum(axis=1, keepdims=True) for t in (rng.random((1, 2)), rng.random((2, 2)), rng.random((2, 3))))
    sampler = TreeKnockoffs(X, np.array([-1, 0, 1]), np.arange(3), tables)
    drawn = sampler.sample([rng])[0]
    for row in itertools.product(range(2), range(2), range(3)):
        expected = sampler.probability(np.full((1, *X.shape), row))[0, 0]
        assert (drawn == row).all(axis=1).mean() == pytest.approx(expected, abs=5 * np.sqrt(expected / 20_000))


def test_tree_of_a_markov_chain_is_the_chain_and_conditionals_are_exact():
    rng = np.random.default_rng(1)
    X = np.empty((2000, 5), dtype=int)
    X[:, 0] = rng.random(2000) < 0.5
    for j in range(1, 5):
        X[:, j] = np.where(rng.random(2000) < 0.8, X[:, j - 1], 1 - X[:, j - 1])
    sampler = TreeKnockoffs.from_codes(X)
    assert sampler.parents.tolist() == [-1, 0, 1, 2, 3]
    p, (above, _, below) = sampler.tables, X[7, 1:4]
    weights = np.array([p[2][above, u] * p[3][u, below] for u in (0, 1)])
    np.testing.assert_allclose(sampler.conditional(2)[7], weights / weights.sum())


def test_a_hub_with_many_children_does_not_underflow():
    rng = np.random.default_rng(0)
    hub = rng.random(300) < 0.5
    X = np.column_stack([hub, *(np.where(rng.random(300) < 0.9, hub, ~hub) for _ in range(700))]).astype(int)
    copies = TreeKnockoffs.from_codes(X).sample([rng])[0]
    assert (copies[:, 0] == hub).mean() > 0.95
    assert 0.7 < (copies[:, 1] == X[:, 1]).mean() < 0.95


@pytest.mark.parametrize("slack", ["mvr", "max-entropy", "equicorrelated"])
def test_gaussian_copies_have_the_covariance_of_swapped_columns(slack):
    sigma, n = autoregressive(4, 0.6), 20_000
    X = np.random.default_rng(0).multivariate_normal(np.zeros(4), sigma, n)
    sampler = GaussianKnockoffs.from_values(X, copula=False, slack=slack, correlation=sigma)
    copy = sampler.sample([np.random.default_rng(1)])[0]
    expected = np.block([[sigma, sigma - np.diag(sampler.slack)], [sigma - np.diag(sampler.slack), sigma]])
    np.testing.assert_allclose(np.cov(X.T, copy.T), expected, atol=0.05)


@pytest.mark.parametrize(
    ("method", "gradient"), [("mvr", lambda A, s: np.diag(A @ A) - s**-2), ("max-entropy", lambda A, s: np.diag(A) - 1 / s)]
)
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.95])
def test_slack_is_at_the_optimum_and_allowed(method, gradient, rho):
    sigma = autoregressive(30, rho)
    s = knockoff_slack(sigma, method)
    assert (s > 0).all()
    assert np.linalg.eigvalsh(2 * sigma - np.diag(s)).min() > 0
    np.testing.assert_allclose(gradient(np.linalg.inv(2 * sigma - np.diag(s)), s) * s**2, 0, atol=2e-2)


def test_correlations_are_shrunk_by_a_power_of_the_factor_of_ledoit_and_wolf():
    X = np.random.default_rng(2).multivariate_normal(np.zeros(4), autoregressive(4, 0.6), 60)
    sample = np.corrcoef(X.T)
    off = ~np.eye(4, dtype=bool)
    factors = [
        (GaussianKnockoffs.from_values(X, copula=False, shrinkage=power).correlation / sample)[off] for power in (0, 1 / 3, 1)
    ]
    np.testing.assert_allclose(factors[0], 1)
    np.testing.assert_allclose(factors[2], 1 - ledoit_wolf(standard(X))[1])
    np.testing.assert_allclose(factors[1], factors[2] ** (1 / 3))
    with pytest.raises(InputError, match="shrinkage"):
        GaussianKnockoffs.from_values(X, shrinkage=-1)


def test_copula_copies_keep_values_levels_duplicates_and_constants():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.exponential(size=400), rng.integers(0, 3, 400), np.full(400, 7.0), rng.normal(size=400)])
    X = np.column_stack([X, -2 * X[:, 3]])
    copy = GaussianKnockoffs.from_values(X).sample([rng])[0]
    assert np.isin(copy[:, 1], [0, 1, 2]).all()
    assert (copy[:, 2:] == X[:, 2:]).all()  # a constant, and two columns that determine each other
    assert (copy[:, 0] != X[:, 0]).all()
    np.testing.assert_allclose(np.quantile(copy[:, 0], [0.2, 0.5, 0.8]), np.quantile(X[:, 0], [0.2, 0.5, 0.8]), rtol=0.25)
    np.testing.assert_allclose(np.bincount(copy[:, 1].astype(int)), np.bincount(X[:, 1].astype(int)), atol=45)


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=30), st.sampled_from([0.1, 0.2, 0.5]))
def test_threshold_is_that_of_the_definition(W, alpha):
    W = np.array(W)
    sizes = sorted({abs(w) for w in W.tolist()} - {0})
    allowed = [t for t in sizes if 1 + np.count_nonzero(-t >= W) <= alpha * np.count_nonzero(t <= W) + 1e-12]
    assert knockoff_threshold(W, alpha) == (allowed[0] if allowed else np.inf)


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=20), st.sampled_from([0.05, 0.1, 0.3]))
def test_q_values_of_e_values_select_what_e_bh_selects(e, alpha):
    e, d = np.array(e), len(e)
    k = max([k for k in range(1, d + 1) if k * np.sort(e)[::-1][k - 1] >= d / alpha * (1 - 1e-9)], default=0)
    assert (e_q_values(e) <= alpha * (1 + 1e-9)).sum() >= k
    assert k == 0 or (e_q_values(e)[e >= np.sort(e)[::-1][k - 1]] <= alpha * (1 + 1e-9)).all()


def test_one_copy_gives_the_knockoff_filter():
    rng = np.random.default_rng(0)
    W = np.concatenate([rng.normal(4, 1, 30), rng.normal(0, 1, 200)])
    selected = e_q_values(knockoff_e_values([W], 0.1)) <= 0.1
    assert selected.any()
    np.testing.assert_array_equal(selected, knockoff_threshold(W, 0.1) <= W)


@pytest.mark.parametrize("level", [0.05, 0.1, 0.125, 0.15, 1 / 15, 1 / 3])
def test_q_values_are_exact_levels(level):
    for n_repeats in (1, 7, 10):
        e_values = np.zeros(73)
        e_values[:3] = np.mean(np.full(n_repeats, 73 / (3 * level)))
        assert e_q_values(e_values)[:3].tolist() == [level] * 3


@pytest.mark.parametrize(("alpha", "d"), [(0.3, 70), (0.2, 41), (1 / 15, 100)])
def test_a_rate_of_exactly_alpha_is_allowed_in_spite_of_rounding(alpha, d):
    for n_negative in range(3):
        n_positive = round((1 + n_negative) / alpha)
        W = np.zeros(d)
        W[:n_positive], W[n_positive : n_positive + n_negative] = 5, -5
        assert np.count_nonzero(e_q_values(knockoff_e_values([W], alpha)) <= alpha) == n_positive * (
            alpha * n_positive > n_negative + 0.999
        )


@pytest.mark.parametrize("n_repeats", [2, 10], ids=["two copies: the rule for few features, too", "ten"])
def test_sum_of_null_e_values_is_at_most_the_number_of_features(n_repeats):
    rng = np.random.default_rng(5)
    d, n_null = 60, 45
    size = rng.exponential(size=(1500, d)) + np.where(np.arange(d) < n_null, 0, 1.5)
    W = np.where((np.arange(d) < n_null) & (rng.random((1500, d)) < 0.5), -size, size)
    sums = [knockoff_e_values(np.stack([w] * n_repeats), 0.2)[:n_null].sum() for w in W]
    assert np.mean(sums) <= d + 3 * np.std(sums) / np.sqrt(len(sums))


@given(st.lists(st.integers(-9, 15), min_size=1, max_size=40), st.sampled_from([0.1, 0.3, 0.6]))
def test_many_copies_pass_before_the_first_negative_statistic_or_at_a_third_of_the_rate(W, alpha):
    W = np.array(W)
    expected = np.zeros(len(W))
    for t in sorted({abs(w) for w in W.tolist()} - {0}):
        n_passed, n_allowed = np.count_nonzero(t <= W), 1 + np.count_nonzero(-t >= W)
        if n_allowed <= max(1, alpha / 3 * n_passed + 1e-9):
            expected = len(W) * (t <= W) / n_allowed
            break
    np.testing.assert_allclose(knockoff_e_values([W] * 10, alpha), expected)


def standard(table):
    return (table - table.mean(axis=0)) / np.where(table.std(axis=0) > 0, table.std(axis=0), 1)


def slow_likelihood_ratios(X, Y, owner, noise, explained):
    """One step: densities of the targets for each of the three hypotheses of every pair."""
    n, d, q = len(X), owner.max() // 2 + 1, Y.shape[1]
    correlation = np.corrcoef(Y.T).reshape(q, q)
    share, slab = 0.25, 8 * explained / X.shape[1]
    for _ in range(3):
        evidence, moments = np.zeros(2 * d), np.zeros(2 * d)
        for variable in range(2 * d):
            others = X[:, ~np.isin(owner, [variable % d, variable % d + d])]
            own = X[:, owner == variable]
            rest = noise * np.eye(n) + explained / X.shape[1] * others @ others.T
            with_own = rest + slab * own @ own.T
            difference = [multivariate_normal(cov=c).logpdf(Y.T).sum() for c in (with_own, rest)]
            evidence[variable] = (difference[0] - difference[1]) * q / (correlation**2).sum()
            posterior = np.linalg.inv(own.T @ np.linalg.solve(rest, own) + np.eye(own.shape[1]) / slab)
            mean = posterior @ own.T @ np.linalg.solve(rest, Y)
            moments[variable] = ((mean**2).mean(axis=1) + np.diag(posterior)).sum()
        odds = share / (1 - share) * np.exp(evidence).reshape(2, d)
        W = np.log((1 + odds[0]) / (1 + odds[1]))
        probability = (odds / (2 + odds.sum(axis=0))).ravel()
        slab = (probability * moments).sum() / (probability * np.bincount(owner)).sum()
        share = np.clip((probability.sum() + 0.5) / (d + 1), 0.5 / d, 0.9)
    return W


@pytest.mark.parametrize("n", [25, 60], ids=["by rows", "by columns"])
def test_likelihood_ratios_are_those_of_the_densities_of_three_hypotheses(n):
    rng = np.random.default_rng(n)
    owner = np.array([0, 1, 1, 2, 3, 3, 3] + [4, 5, 6, 7, 7] * 2)  # pairs (0, 4) to (3, 7), of one to four columns
    X = standard(rng.standard_normal((n, len(owner))) @ (np.eye(len(owner)) + 0.3))
    Y = standard(X[:, [0, 3]] @ rng.standard_normal((2, 3)) + rng.standard_normal((n, 3)))
    if n == 25:
        X, owner = np.hstack([X, np.zeros((n, 20))]), np.append(owner, np.full(20, 2))  # columns of zeros are no harm
    explained, noise = variance_components(X, Y)
    expected = slow_likelihood_ratios(X, Y, owner, noise, explained)
    np.testing.assert_allclose(likelihood_ratios(X, Y, owner, n_steps=0), expected, atol=1e-7)


def test_statistics_find_the_relevant_columns_and_swapping_a_pair_changes_the_sign():
    rng = np.random.default_rng(0)
    for n, d in ((60, 45), (150, 20)):
        X = standard(rng.standard_normal((n, 2 * d)))
        Y = standard(X[:, :4] @ rng.choice([-1.0, 1.0], (4, 3)) + rng.standard_normal((n, 3)))
        W = likelihood_ratios(X, Y)
        assert set(np.argsort(-W)[:4]) == set(np.argsort(-lasso_importance(X, Y))[:4]) == {0, 1, 2, 3}
        swapped = rng.random(d) < 0.5
        order = np.concatenate(
            [np.where(swapped, np.arange(d) + d, np.arange(d)), np.where(swapped, np.arange(d), np.arange(d) + d)]
        )
        np.testing.assert_allclose(likelihood_ratios(X[:, order], Y), np.where(swapped, -W, W), atol=1e-8)
    assert not likelihood_ratios(np.hstack([X[:, :d], X[:, :d]]), Y).any()  # copies that are equal to their columns


def test_input_that_cannot_be_used_is_refused():
    with pytest.raises(InputError, match="shape"):
        knockoff_threshold([[1.0]], 0.1)
    with pytest.raises(InputError, match="e-values"):
        e_q_values([-1.0])
    with pytest.raises(InputError, match="three"):
        GaussianKnockoffs.from_values([[1.0, 2.0]])
    with pytest.raises(InputError, match="slack"):
        knockoff_slack(np.eye(2), "sdp")
