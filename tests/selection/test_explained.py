"""The explained share: planted answers, a naive recomputation of its parts, and what the sentence says."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.polynomial.legendre import legval
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold

from labelsieve import AutoSieve, InputError, LabelwiseSieve, Sieve, core
from labelsieve.selection import Selection, explained
from labelsieve.selection.explained import (
    PENALTIES,
    _Columns,
    _Distances,
    _RidgeOfAll,
    explained_share,
    fold_selection,
    size_steps,
)
from labelsieve.tables.problem import read


def planted(n_rows=400, n_features=20, seed=0):
    """Three labels, each from a feature of its own; a large sample explains half of their variation."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    Y = (X[:, :3] + 0.7 * rng.normal(size=(n_rows, 3)) > 0).astype(int)
    return X, Y


def share(X, Y, k=6, sieve=None, **options):
    return explained_share(Sieve() if sieve is None else sieve, read(X, Y), n_features=k, **options)


def test_planted_features_gain_and_noise_does_not():
    found = share(*planted())
    assert (found.gains[:3] > 0.05).all()
    assert np.abs(found.gains[3:]).max() < 0.02
    assert found.choose() == 3
    assert found.gains.sum() == pytest.approx(found.explained[-1])
    assert found.explained[2] == pytest.approx(found.all_features, abs=0.05)


def test_copies_gain_nothing():
    X, Y = planted()
    X[:, 3:6] = X[:, :3]
    sieve = Sieve(forced=(0, 3, 1, 4, 2, 5))
    gains = share(X, Y, sieve=sieve).gains
    assert (gains[::2] > 0.05).all()
    assert np.abs(gains[1::2]).max() < 0.01


def test_an_exclusive_or_gains_at_its_second_feature():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 8))
    gains = share(X, (X[:, 0] * X[:, 1] > 0).astype(int), 3, Sieve(forced=(0, 1))).gains
    assert abs(gains[0]) < 0.03
    assert gains[1] > 0.4


@pytest.mark.parametrize("shape", [(60, 400), (300, 20)])
def test_noise_explains_nothing(shape):
    rng = np.random.default_rng(2)
    found = share(rng.normal(size=shape), rng.integers(0, 2, (shape[0], 3)), 8)
    assert found.choose() == 0
    assert np.abs(found.explained).max() < 0.08
    assert "No selection of the" in found.verdict(0)


def test_the_share_is_that_of_fresh_rows():
    X, Y = planted(500)
    found = share(X, Y, 3)
    fresh, truth = planted(20_000, seed=99)
    model = Ridge(1.0).fit(X[:, :3], Y)
    predicted = np.clip(model.predict(fresh[:, :3]), 0, 1)
    expected = 1 - ((truth - predicted) ** 2).sum() / ((truth - Y.mean(axis=0)) ** 2).sum()
    assert found.explained[-1] == pytest.approx(expected, abs=2.5 * found.errors[-1])


def test_numbers_have_r_squared_whatever_their_scale():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 6))
    Y = np.column_stack([X[:, 0] + 0.5 * rng.normal(size=300), X[:, 1]])
    found, scaled = share(X, Y, 2), share(X, Y * [1e8, 1e-8] + 1000, 2)
    assert found.numeric
    assert found.by_target[-1] == pytest.approx([0.8, 1.0], abs=0.06)
    assert scaled.explained == pytest.approx(found.explained, abs=1e-3)


def test_classes_text_missing_cells_and_unknown_labels():
    X, Y = planted(300)
    frame = pd.DataFrame(X[:, :5], columns=list("abcde"))
    frame["level"] = np.where(Y[:, 0] == 1, "high", "low")
    frame.loc[::7, "b"] = np.nan
    targets = pd.DataFrame({"kind": np.array(["x", "y", "z"])[Y[:, 0] + (X[:, 3] > 1)], "other": Y[:, 1].astype(float)})
    targets.loc[::5, "other"] = np.nan
    found = share(frame, targets, 4)
    assert found.by_target.shape == (4, 2)
    assert found.explained[-1] > 0.4
    assert (found.by_target[-1] > 0.2).all()


def test_sparse_features_and_labels_give_the_same():
    rng = np.random.default_rng(4)
    X = (rng.random((300, 40)) < 0.2).astype(float)
    Y = (X[:, :4] + (rng.random((300, 4)) < 0.05) > 0).astype(int)
    dense, sparse = share(X, Y, 5), share(sp.csr_array(X), sp.csr_array(Y), 5)
    assert sparse.explained == pytest.approx(dense.explained)
    assert sparse.all_features == pytest.approx(dense.all_features, abs=0.05)


def test_weights_count_as_repeated_rows_in_a_fixed_split():
    X, Y = planted(60)
    weights = np.ones(60)
    weights[:20] = 2
    assert explained_share(Sieve(), read(X, Y, weights), n_features=3).explained[-1] > 0.1
    zero = np.where(np.arange(60) < 50, 1.0, 0.0)
    with_zeros = explained_share(Sieve(), read(X, Y, zero), n_features=3)
    assert with_zeros.explained == pytest.approx(share(X[:50], Y[:50], 3).explained)


def test_the_selection_of_a_fold_sees_its_rows_only():
    X, Y = planted(200)
    problem = read(X, Y)
    train = np.arange(0, 200, 2)
    expected = Sieve(n_features_to_select=5).fit(X[train], Y[train]).selected_
    assert fold_selection(Sieve(), problem, train, 5).tolist() == expected.tolist()
    frame = pd.DataFrame(X).rename(columns=str).assign(word=np.where(Y[:, 0], "a", "b"))
    expected = Sieve(n_features_to_select=5).fit(frame.iloc[train], Y[train]).selected_
    assert fold_selection(Sieve(), read(frame, Y), train, 5).tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["mean-f", "relieff", "omp", "l1", "chi-square"])
def test_any_selector(name):
    from labelsieve.registry import make_selector

    X, Y = planted()
    X = np.abs(X)
    assert share(X, Y, 5, make_selector(name)).explained.shape == (5,)


def test_a_splitter_of_groups():
    X, Y = planted(100)
    groups = np.arange(100) // 10

    class Groups(GroupKFold):
        def split(self, X, y=None, groups_=None):
            return super().split(X, y, groups)

    assert len(share(X, Y, 2, cv=Groups(4)).lists) == 4
    with pytest.raises(InputError, match="two folds"):
        share(X, Y, 2, cv=[(np.arange(50), np.arange(50, 100))])
    with pytest.raises(InputError, match="at least 10 rows"):
        share(X[:6], Y[:6], 2)


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("ends", [[2, 5, 7], [3, 8, 8, 29, 90]])
def test_nested_ridge_regressions_are_those_of_scikit_learn(ends, listed):
    rng = np.random.default_rng(5)
    n_rows, n_columns = 130, ends[-1]
    Z = rng.normal(size=(n_rows, n_columns + 1)) @ (np.eye(n_columns + 1) + 0.3 * rng.normal(size=(n_columns + 1,) * 2))
    some = rng.permutation(n_columns + 1)[:n_columns]  # products of more columns may be given, and of more rows
    Y, factors, T = Z[:, some[:2]] + 5 * rng.normal(size=(n_rows, 2)), np.array([0.5, 2.0]), rng.normal(size=(11, n_columns))
    left_out, every = (Z[100:].T @ Z[100:], Z.T @ Z) if listed else (None, Z[:100].T @ Z[:100])
    Z, Y = Z[:100, some], Y[:100] - Y[:100].mean(axis=0)
    mean = Z.mean(axis=0)
    Z = Z - mean
    sums = every, left_out, some.astype(np.uint64), mean, 100.0, Z.T @ Y, factors, float((Y**2).sum(axis=0) @ factors)
    penalties = 100 * np.array(PENALTIES)
    nested = core.NestedRidge(*sums, np.ascontiguousarray(T.T), penalties, np.array(ends, dtype=np.uint64))
    parts = np.zeros((3, 13, 2))
    for step, end in enumerate(ends):
        models, errors = [], []
        for penalty in penalties:
            model = Ridge(penalty, fit_intercept=False).fit(Z[:, :end], Y)
            hat = Z[:, :end] @ np.linalg.solve(Z[:, :end].T @ Z[:, :end] + penalty * np.eye(end), Z[:, :end].T)
            degrees = max(1 - (np.trace(hat) + 1) / 100, 1e-3)
            errors.append((((Y - hat @ Y) ** 2).sum(axis=0) @ factors) / degrees**2)
            models.append(model.predict((T - mean)[:, :end]))
        nested.predict(step, parts, 1, 2)
        assert parts[1, 2:] == pytest.approx(models[int(np.argmin(errors))])
    assert not parts[[0, 2]].any()
    assert not parts[1, :2].any()
    for wrong in (
        (0, parts, 1, 2),
        (len(ends), parts, 1, 2),
        (step, parts, 3, 2),
        (step, parts, 1, 3),
        (step, parts[..., :1].copy(), 1, 2),
    ):
        with pytest.raises(ValueError, match=r"sizes that rise|a step|parts and rows|a column for each"):
            nested.predict(*wrong)


def test_sums_of_a_ridge_regression_must_fit_together():
    gram, T, one = np.eye(3), np.zeros((3, 4)), np.ones(3)
    places, ends = np.arange(3, dtype=np.uint64), np.array([1, 3], dtype=np.uint64)
    right = {"all": gram, "left_out": None, "columns": places, "means": 0 * one, "total": 9.0, "answers": np.zeros((3, 2)),
             "factors": one[:2], "squares": 1.0, "tested": T, "penalties": one, "ends": ends}  # fmt: skip
    core.NestedRidge(**right)
    for wrong in (
        {"all": gram[:2]}, {"left_out": np.eye(2)}, {"columns": places + 1}, {"means": one[:2]}, {"answers": np.zeros((2, 2))},
        {"factors": one}, {"tested": T[:2]}, {"ends": ends[::-1].copy()}, {"ends": ends + 1}, {"ends": ends[:0]},
        {"penalties": one[:0]},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"square|columns that|a mean|a factor|must rise|a penalty"):
            core.NestedRidge(**right | wrong)
    with pytest.raises(ValueError, match="not positive definite"):
        core.NestedRidge(**right | {"all": -9 * gram})


@pytest.mark.parametrize("n_columns", [6, 150])
def test_ridge_regressions_of_all_features_are_those_of_scikit_learn(n_columns):
    rng = np.random.default_rng(6)
    Z, weights = rng.normal(size=(100, n_columns)), rng.integers(1, 4, 100).astype(float)
    Y = Z[:, :2] + rng.normal(size=(100, 2))
    train, test = np.arange(80), np.arange(80, 100)
    center = weights[train] @ Y[train] / weights[train].sum()
    regression = _RidgeOfAll(Z, Y, weights, (0.1, 1.0), [test, train])  # each fold leaves the other rows out
    found = regression.predict(1, test, center, Y[train] - center, np.ones(2))
    scale = weights[train].sum() * max(1.0, n_columns / 80 if n_columns >= 100 else 1.0)
    for penalty, predicted in zip((0.1, 1.0), found, strict=True):
        model = Ridge(penalty * scale).fit(Z[train], Y[train], sample_weight=weights[train])
        assert predicted + center == pytest.approx(model.predict(Z[test]))


def test_weights_of_the_stack_are_the_best_of_a_fine_grid():
    rng = np.random.default_rng(7)
    grid = np.array([(a, b, c) for a in np.linspace(0, 1, 41) for b in np.linspace(0, 1, 41) for c in np.linspace(0, 1, 41)])
    grid = grid[grid.sum(axis=1) <= 1 + 1e-9]
    for _ in range(20):
        parts, truth = rng.normal(size=(3, 30)), rng.normal(size=30)
        parts[0] += truth * rng.random()
        products, answers = parts @ parts.T, parts @ truth
        found = core.stack_weights(products, answers)

        def loss(weights, products=products, answers=answers):
            return np.einsum("...i,ij,...j", weights, products, weights) - 2 * weights @ answers

        assert found.min() >= 0
        assert found.sum() <= 1 + 1e-9
        assert loss(found) <= loss(grid).min() + 1e-6


def test_stacked_parts_are_those_of_plain_code():
    rng = np.random.default_rng(8)
    ends, q = np.array([7, 7, 300, 420], dtype=np.uint64), 3
    parts, truth = rng.normal(size=(4, 420, q)), rng.normal(size=(420, q))
    parts[0] += truth
    parts[2] = parts[1]
    cells = rng.random((420, q)) * (rng.random((420, q)) < 0.9)
    low, high = np.full((4, q), -0.5), np.full((4, q), 0.7)
    fold_of = np.searchsorted(ends, np.arange(420), side="right")
    expected = np.empty((420, q))
    for fold in range(4):
        others = fold_of != fold
        flat = (parts * np.sqrt(cells))[:, others].reshape(4, -1)
        weights = core.stack_weights(flat @ flat.T, flat @ (truth * np.sqrt(cells))[others].ravel())
        expected[~others] = np.clip(np.tensordot(weights, parts[:, ~others], 1), -0.5, 0.7)
    stacked = parts.copy()
    rows, columns = core.stack_parts(stacked, truth, cells, ends, low, high)
    saved = cells * (truth**2 - (truth - expected) ** 2)
    assert stacked[-1] == pytest.approx(expected)
    assert np.array_equal(stacked[:-1], parts[:-1])
    assert rows == pytest.approx(saved.sum(axis=1))
    assert columns == pytest.approx(saved.sum(axis=0))


@pytest.mark.parametrize("n_columns", [4, 8, 75])
def test_means_of_neighbors_are_those_of_plain_code(n_columns):
    rng = np.random.default_rng(9)
    rows, deviations, weights = rng.integers(0, 50, (8, 20)).astype(np.uint32), rng.normal(size=(50, n_columns)), rng.random(50)
    means, parts = explained._NeighborMeans(deviations, weights), np.zeros((4, 9, n_columns))
    means.write(rows.ravel(), parts, 1, 1)
    for count, found in zip((5, 20), parts[1:3, 1:], strict=True):
        assert found == pytest.approx(
            np.array([np.average(deviations[some], axis=0, weights=weights[some]) for some in rows[:, :count]])
        )
    assert not parts[[0, 3]].any()
    assert not parts[:, 0].any()
    few, weighted = np.array([2, 5], dtype=np.uint64), np.zeros((50, 80))
    right = rows.ravel(), 20, few, weighted, weights, parts, 0, 0
    core.neighbor_means(*right)
    for at, wrong in (
        (0, rows.ravel() + 50), (0, rows.ravel()[1:]), (2, few[::-1].copy()), (2, few + 16), (2, few[:0]),
        (3, weighted[1:]), (3, weighted[:, :78].copy()), (4, weights[1:]), (6, 3), (7, 2),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"numbers of rows|same length|rising numbers|padded|a weight|parts and rows"):
            core.neighbor_means(*right[:at], wrong, *right[at + 1 :])


def test_columns_are_standardized_values_and_polynomials_of_ranks():
    rng = np.random.default_rng(10)
    X, weights = rng.integers(0, 9, (60, 4)).astype(float), rng.integers(1, 4, 60).astype(float)
    X[:, 1] = rng.normal(size=60)
    X[::7, 2] = np.nan
    X[:, 3] = rng.integers(0, 2, 60)
    columns = _Columns(read(X, X[:, 1]).features, [np.array([2, 3]), np.array([1])], weights)
    assert [len(columns.plain[feature]) for feature in (1, 2, 3)] == [1, 2, 1]
    assert columns.curved[3] == []
    assert columns.values @ weights == pytest.approx(0, abs=1e-9)
    squares = columns.values**2 @ weights  # known cells of the first column have variance 1
    assert squares[0] == pytest.approx(weights[~np.isnan(X[:, 2])].sum())
    assert squares[1:] == pytest.approx(weights.sum())
    for feature in (1, 2):
        known = X[~np.isnan(X[:, feature]), feature]
        u = [0.0 if np.isnan(cell) else np.mean(known < cell) + np.mean(known <= cell) - 1 for cell in X[:, feature]]
        for power, row in enumerate(columns.curved[feature], start=1):
            expected = legval(u, np.eye(4)[power])
            assert np.corrcoef(expected, columns.values[row])[0, 1] == pytest.approx(1)


@pytest.mark.parametrize("shape", [(300, 40), (60, 80)])
@pytest.mark.parametrize("listed", [False, True])
def test_large_regressions_of_all_features_have_half_the_digits(monkeypatch, shape, listed):
    rng = np.random.default_rng(14)
    n_rows, weights = shape[0], rng.integers(1, 4, shape[0]).astype(float)
    Z = rng.normal(size=(n_rows, 5)) @ rng.normal(size=(5, shape[1])) + rng.normal(size=shape)
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    Y = Z[:, :2] + rng.normal(size=(n_rows, 2))
    train, test = np.arange(n_rows - 20), np.arange(n_rows - 20, n_rows)
    table = sp.csr_array(Z) if listed else Z
    single, double = [], []
    for most, found in ((500, double), (shape[1] + 1, single)):  # regressions with more than half as many are large
        monkeypatch.setattr(explained, "MANY_COLUMNS", most)
        regression = _RidgeOfAll(table, Y, weights, (0.01, 0.3), [train])
        center = np.average(Y[train], axis=0, weights=weights[train])
        found += regression.predict(0, test, center, Y[train] - center, np.ones(2))
    for rounded, exact in zip(single, double, strict=True):
        assert rounded == pytest.approx(exact, abs=1e-4)
        assert not np.array_equal(rounded, exact)


def test_nearest_rows_by_products_are_those_by_distances():
    rng = np.random.default_rng(15)
    rows, queries = rng.normal(size=(70, 6)).astype(np.float32), rng.normal(size=(9, 6)).astype(np.float32)
    lengths, points = (rows**2).sum(axis=1), (queries**2).sum(axis=1)
    lengths[::3] = np.inf  # rows that are left out
    found = core.nearest_by_products(queries @ rows.T, lengths, points, 5).reshape(9, 5)
    distances = ((queries[:, np.newaxis] - rows) ** 2).sum(axis=2)
    distances[:, ::3] = np.inf
    assert np.array_equal(found, np.argsort(distances, axis=1)[:, :5])
    for wrong in ((lengths[1:], points, 5), (lengths, points[1:], 5), (lengths, points, 71), (lengths, points, 0)):
        with pytest.raises(ValueError, match=r"a length for each|as many rows"):
            core.nearest_by_products(queries @ rows.T, *wrong)


@pytest.mark.parametrize("products", [False, True])
def test_nearest_rows_of_all_are_numbered_among_the_training_rows_and_searched_in_blocks(monkeypatch, products):
    Z = np.random.default_rng(16).normal(size=(60, 4)).astype(np.float32)
    test, train = np.arange(2, 60, 5), np.setdiff1d(np.arange(60), np.arange(2, 60, 5))
    distances = _Distances(Z, Z @ Z.T if products else None)
    found = distances.nearest(test, train, 7)
    squares = ((Z[test][:, np.newaxis] - Z[train]) ** 2).sum(axis=2)
    assert np.array_equal(found.reshape(len(test), 7), np.argsort(squares, axis=1)[:, :7])
    for at_once in (1, 180, 600):
        monkeypatch.setattr(explained, "PRODUCTS_AT_ONCE", at_once)
        assert np.array_equal(distances.nearest(test, train, 7), found)


@pytest.mark.parametrize("weighted", [False, True])
def test_mid_ranks_are_shares_of_the_known_rows(weighted):
    rng = np.random.default_rng(16)
    columns, weights = rng.integers(-4, 5, (3, 400)) * 0.5, rng.random(400)
    columns[1] = rng.normal(size=400)
    columns[0, ::5] = np.nan
    columns[2] = np.nan
    columns[1, 7], columns[1, 8] = 0.0, -0.0  # equal
    ranks = np.empty_like(columns)
    core.mid_ranks(columns, weights if weighted else None, ranks)
    of_rows = weights if weighted else np.ones(400)
    for column, found in zip(columns, ranks, strict=True):
        known = ~np.isnan(column)
        assert np.array_equal(np.isnan(found), ~known)
        below, equal = (np.array([of_rows[known] @ how(column[known], cell) for cell in column]) for how in (np.less, np.equal))
        assert found[known] == pytest.approx(((below + equal / 2) / max(of_rows[known].sum(), 1e-300))[known])
    with pytest.raises(ValueError, match="a rank for each number"):
        core.mid_ranks(columns, None, ranks[:2])
    with pytest.raises(ValueError, match="a weight for each row"):
        core.mid_ranks(columns, weights[1:], ranks)


@pytest.mark.parametrize("most", [1000, 1])
def test_sums_over_training_rows_are_those_of_plain_code(monkeypatch, most):
    rng = np.random.default_rng(12)
    X, weights = rng.normal(size=(60, 3)), rng.integers(1, 4, 60).astype(float)
    monkeypatch.setattr(explained, "MANY_COLUMNS", most)  # products of all columns, or of some
    problem, chosen = read(X, np.column_stack([X[:, 1], X[:, 0] > 0])), np.array([2, 0])
    columns = _Columns(problem.features, [chosen], weights)
    targets = explained._Targets.of(problem.targets, weights, rng)
    targets.values[::7, 1] = np.nan
    some = columns.order_of(chosen)
    assert some.tolist() == [*columns.plain[2], *columns.curved[2], *columns.plain[0], *columns.curved[0]]
    halves = [np.arange(0, 60, 2), np.arange(1, 60, 2)]
    for trains in (halves, [np.arange(50), np.arange(20, 60)]):  # each row left out by one fold, or not
        sums = explained._Sums(columns, [some, some], targets, weights, trains)
        for fold, train in enumerate(trains):
            center, deviations = explained._centered(targets.values[train], weights[train])
            mean, product = sums.of_fold(fold, center)
            every, left_out, places = sums.products(fold)
            gram = (every if left_out is None else every - left_out)[np.ix_(places, places)]
            Z, share = columns.values[np.ix_(some, train)], weights[train]
            assert mean == pytest.approx(np.average(Z, axis=1, weights=share))
            assert product == pytest.approx((Z * share) @ deviations)
            assert gram == pytest.approx((Z * share) @ Z.T)


def test_all_features_explain_what_the_largest_size_explains_if_it_has_all():
    X, Y = planted(150)
    found = share(X, Y, X.shape[1])
    assert found.all_features == found.explained[-1]
    assert found.below_all[-1] == found.below_all_errors[-1] == 0
    assert share(X, Y, 5).all_features != found.all_features


def test_a_sample_of_the_test_rows_explains_what_all_rows_do(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4))
    y = X[:, 0] + 0.5 * rng.normal(size=4000)
    y[7] = 100.0  # two thirds of the variation, which nothing predicts
    sampled = [share(X, y, 2, random_state=seed) for seed in range(4)]
    monkeypatch.setattr(explained, "TESTED", 4000)
    for seed, found in enumerate(sampled):
        whole = share(X, y, 2, random_state=seed)
        assert found.n_tested <= 1000 < whole.n_tested
        assert found.explained == pytest.approx(whole.explained, abs=0.02)
        assert found.errors == pytest.approx(whole.errors, rel=0.1)


def test_sampled_test_rows_stand_for_all_rows_and_outliers_for_themselves():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(5000, 2))
    Y[[3, 4000], 1] = 1e3
    problem, weights = read(np.zeros((5000, 1)), Y), rng.integers(1, 4, size=5000).astype(float)
    targets = explained._Targets.of(problem.targets, weights, rng)
    folds = explained._folds(problem, None, np.random.RandomState(0))
    sampled, tested = explained._test_rows(folds, targets, weights, np.random.RandomState(0))
    rows = np.concatenate([test for _, test in sampled])
    counts = tested / weights[rows]
    assert len(rows) == len(set(rows)) <= explained.TESTED
    assert counts.sum() == pytest.approx(5000)
    assert all(counts[rows == outlier].tolist() == [1.0] for outlier in (3, 4000))
    assert all(set(test) <= set(whole) and train is same for (train, test), (same, whole) in zip(sampled, folds, strict=True))


def test_sizes_grow():
    sizes = size_steps(200)
    assert sizes[:40].tolist() == list(range(1, 41))
    assert sizes[-1] == 200
    assert len(sizes) < 60


def test_frames_and_json_have_the_columns():
    X, Y = planted(200)
    frame = pd.DataFrame(X).rename(columns=lambda j: f"x{j}")
    sieve = Sieve(n_features_to_select=4).fit(frame, Y)
    table = sieve.to_frame(frame, Y)
    names = ["rank", "feature", "explained", "explained_error", "gain", "signal", "top_label"]
    assert list(table.columns[: len(names)]) == names
    assert table["signal"].tolist() == [True, True, True, False]
    selection = sieve.selection(frame, Y, explained=True)
    assert Selection.from_dict(json.loads(json.dumps(selection.to_dict()))) == selection
    assert selection.explained.verdict.startswith("4 of 20 features explain")
    assert str(sieve.summary(frame, Y)).startswith(selection.explained.verdict[:40])


def test_auto_finds_the_number_and_stores_the_share(tmp_path):
    X, Y = planted()
    sieve = Sieve(n_features_to_select="auto").fit(X, Y)
    assert sorted(sieve.selected_.tolist()) == [0, 1, 2]
    assert sieve.stopping_.explained_.choose() == 3
    assert sieve.explained_share(X, Y).verdict(3) == sieve.selection(X, Y, explained=True).explained.verdict
    assert sieve.explained_share(X, Y).all_features == sieve.stopping_.explained_.all_features
    sieve.to_json(tmp_path / "sieve.json")
    again = Sieve.from_json(tmp_path / "sieve.json")
    assert again.selected_.tolist() == sieve.selected_.tolist()
    rng = np.random.default_rng(8)
    nothing = Sieve(n_features_to_select="auto").fit(X, rng.integers(0, 2, 400))
    assert len(nothing.selected_) == 0
    assert "not clearly above 0" in nothing.stopping_.reason_


def test_lists_for_each_label_are_refused_and_chosen_methods_are_explained():
    X, Y = planted(150)
    with pytest.raises(InputError, match="one list of features"):
        LabelwiseSieve("mim", n_features_to_select=2).fit(X, Y).explained_share(X, Y)
    auto = AutoSieve(("mim", "cmim"), cv=3).fit(X, Y)
    assert auto.explained_share(X, Y).explained[-1] > 0.1


@pytest.mark.parametrize("weighted", [False, True])
def test_standardized_columns_are_those_of_plain_code(weighted):
    rng = np.random.default_rng(18)
    weights = rng.integers(1, 4, 203).astype(float) if weighted else np.ones(203)
    columns = np.array([1.0, 1e300, 1e-300, 1.0, 1.0, 1.0])[:, np.newaxis] * rng.standard_t(2, size=(6, 203))
    columns[3], columns[4] = 1e5 / 3, np.nan
    columns[5, ::4] = np.nan
    found = columns.copy()
    core.standardize(found, weights, 5.0)
    assert not found[3:5].any()  # nothing varies
    for column, standard in zip(columns[[0, 1, 2, 5]], found[[0, 1, 2, 5]], strict=True):
        known = ~np.isnan(column)
        scaled = column / np.nanmax(np.abs(column))
        mean = np.average(scaled[known], weights=weights[known])
        deviation = np.sqrt(np.average((scaled[known] - mean) ** 2, weights=weights[known]))
        assert standard[known] == pytest.approx(np.clip((scaled[known] - mean) / deviation, -5, 5))
        assert not standard[~known].any()
    assert np.abs(found).max() == 5.0
    with pytest.raises(ValueError, match="a weight for each row"):
        core.standardize(found, weights[1:], 5.0)
