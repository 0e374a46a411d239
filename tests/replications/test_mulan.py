"""What Mulan and Weka do around a method: random folds, bins, the order of ties, distances."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelsieve import InputError, Sieve
from labelsieve.classifiers import BRkNN
from labelsieve.discretize import MDL, EqualWidth
from labelsieve.studies.cells import Evaluation, SplitWork
from labelsieve.studies.data import LoadedData
from labelsieve.studies.estimators import Split
from replications.mulan import (
    JavaRandom,
    MixedNaiveBayes,
    MulanBRkNN,
    MulanFolds,
    MulanRanking,
    WekaBins,
    WekaKNN,
    WekaScaler,
    shuffled,
    weka_order,
)


@parametrize_with_checks([MulanRanking(), WekaScaler(), WekaBins(), WekaKNN(3), MixedNaiveBayes(), MulanBRkNN(3)])
def test_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("seed", "drawn"), [(0, [60, 48, 29, 47, 15, 53, 91, 61, 19, 54]), (1, [85, 88, 47, 13, 54, 4, 34, 6, 78, 48])]
)
def test_random_numbers_are_those_that_java_prints(seed, drawn):
    random = JavaRandom(seed)
    assert [random.below(100) for _ in drawn] == drawn


def test_random_numbers_follow_the_documented_steps():
    a, state = 0x5DEECE66D, 7 ^ 0x5DEECE66D
    random = JavaRandom(7)
    for bound in (2, 1, 3, 1024, 10, 2**30, 7):
        state = (state * a + 11) % 2**48
        upper = state >> 17
        assert random.below(bound) == (bound * upper // 2**31 if bound & (bound - 1) == 0 else upper % bound)


def test_numbers_that_would_favor_small_remainders_are_drawn_again():
    bound = 2**30 + 1  # half of all draws lie beyond the last multiple
    a, state = 0x5DEECE66D, 0 ^ 0x5DEECE66D
    expected = []
    while len(expected) < 20:
        state = (state * a + 11) % 2**48
        if state >> 17 < bound:
            expected.append(state >> 17)
    random = JavaRandom(0)
    assert [random.below(bound) for _ in expected] == expected


def test_rows_change_places_from_the_last_to_the_second():
    random, rows = JavaRandom(1), list(range(9))
    for j in (8, 7, 6, 5, 4, 3, 2, 1):
        k = random.below(j + 1)
        rows[j], rows[k] = rows[k], rows[j]
    assert shuffled(9, 1).tolist() == rows


def test_folds_are_blocks_of_the_shuffled_rows_and_the_first_are_longer():
    order = shuffled(23, 1)
    folds = list(MulanFolds().split(np.zeros((23, 1))))
    assert [len(test) for _, test in folds] == [3, 3, 3, *[2] * 7]
    assert set(folds[1][1].tolist()) == set(order[3:6].tolist())
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(23))
    again = [test.tolist() for _, test in MulanFolds(seed=2).split(range(23))]
    assert again != [test.tolist() for _, test in folds]
    with pytest.raises(InputError, match="too few"):
        next(MulanFolds().split(range(9)))


def quicksort(values, order, left, right):
    """Hoare's partition around the middle, recursively."""
    if left >= right:
        return
    pivot, low, high = values[order[(left + right) // 2]], left, right
    while low < high:
        while values[order[low]] < pivot and low < high:
            low += 1
        while values[order[high]] > pivot and low < high:
            high -= 1
        if low < high:
            order[low], order[high] = order[high], order[low]
            low += 1
            high -= 1
    if low == high and values[order[high]] > pivot:
        high -= 1
    quicksort(values, order, left, high)
    quicksort(values, order, high + 1, right)


def test_order_of_equal_scores_is_worked_out_by_hand():
    # 0 1 2 3, all equal: the ends change places, then the middle: 3 2 1 0; the halves again: 2 3 0 1; backwards 1 0 3 2.
    assert weka_order([5, 5, 5, 5]).tolist() == [1, 0, 3, 2]
    assert weka_order([1, 2, 3]).tolist() == [2, 1, 0]
    assert weka_order([7]).tolist() == [0]


@pytest.mark.parametrize("n", [2, 5, 37, 400])
def test_order_falls_and_is_that_of_the_recursive_sort(n):
    scores = np.random.default_rng(n).integers(0, 4, size=n) / 7
    order = list(range(n))
    quicksort(scores.tolist(), order, 0, n - 1)
    assert weka_order(scores).tolist() == order[::-1]
    assert (np.diff(scores[weka_order(scores)]) <= 0).all()


def test_bins_are_closed_on_the_right_and_keep_no_values():
    X = np.array([[0.0], [1.0], [2.0], [5.0], [10.0]])
    assert WekaBins(10).encode(X).column(0).tolist() == [0, 0, 1, 4, 9]
    assert EqualWidth(10, closed="right").encode(X).column(0).tolist() == [0, 1, 2, 3, 4]
    assert WekaBins(10).encode(np.ones((3, 1))).levels.tolist() == [1]
    table = sparse.random_array((50, 4), density=0.4, random_state=0)
    np.testing.assert_array_equal(WekaBins(3).encode(table.tocsr()).to_dense(), WekaBins(3).encode(table.toarray()).to_dense())


def test_nominal_columns_are_not_cut():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), rng.integers(0, 3, 60), rng.integers(0, 2, 60)])
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] == 2]).astype(int)
    rule = MDL("single", boundaries="values")
    nominal = MDL("single", boundaries="values", nominal=[1, 2])
    both, alone = nominal.encode(X, Y), rule.encode(X[:, :1], Y)
    for woven, cut in zip(both, alone, strict=True):
        np.testing.assert_array_equal(woven.to_dense(), np.column_stack([cut.to_dense(), X[:, 1:]]))
    assert MDL("single", nominal="all").encode(X[:, 1:], Y).levels.tolist() == [3, 2]
    sparse_codes = nominal.encode(sparse.csr_array(X), Y)
    assert all((one.to_dense() == other.to_dense()).all() for one, other in zip(sparse_codes, both, strict=True))
    codes = MulanRanking("lp-infogain", nominal=[0]).fit(X[:, 2:], Y).feature_scores_
    assert codes > 0
    assert Sieve("lp-infogain").fit(X[:, 2:], Y).scores_ == [0]  # no cut of the same column pays


def test_ties_go_as_weka_sorts_or_to_the_lowest_column():
    X = np.zeros((8, 4))
    X[:, 2] = Y = np.arange(8) % 2
    assert MulanRanking(nominal=range(4)).fit(X, Y).selected_.tolist() == [2, 0, 3, 1]
    assert MulanRanking(nominal=range(4), ties="lowest").fit(X, Y).selected_.tolist() == [2, 0, 1, 3]
    assert MulanRanking(nominal=range(4), n_features_to_select=2).fit(X, Y).selected_.tolist() == [2, 0]


def mixed(n, seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.integers(0, 6, n), rng.integers(0, 4, n), rng.integers(0, 2, n), rng.normal(size=n), np.full(n, 3.0)]
    )
    return X, (rng.random((n, 3)) < 0.4).astype(int)


def weka_distances(queries, rows, nominal):
    """Attribute by attribute: numeric ones by the range of the rows, nominal ones equal or not."""
    squares = np.zeros((len(queries), len(rows)))
    for j in range(rows.shape[1]):
        low, width = rows[:, j].min(), np.ptp(rows[:, j])
        for a, query in enumerate(queries[:, j]):
            for b, row in enumerate(rows[:, j]):
                if j in nominal:
                    squares[a, b] += query != row
                elif width > 0:
                    squares[a, b] += ((query - low) / width - (row - low) / width) ** 2
    return squares


def test_distances_are_wekas():
    nominal = (1, 2)
    rows, _ = mixed(30, 0)
    queries, _ = mixed(8, 1)
    queries[0, 1], queries[1, 4] = 9, 7  # a value that was never seen, and one in a column that was constant
    expected = weka_distances(queries, rows, nominal)
    scaler = WekaScaler(nominal).fit(rows)
    for made in (np.asarray, sparse.csr_array):
        a, b = (scaler.transform(made(table)) for table in (queries, rows))
        a, b = (table.toarray() if sparse.issparse(table) else table for table in (a, b))
        np.testing.assert_allclose(((a[:, np.newaxis] - b) ** 2).sum(axis=2), expected, atol=1e-12)


def test_neighbors_are_all_rows_as_near_as_the_kth():
    nominal = (1, 2)
    rows, labels = mixed(60, 2)
    queries, _ = mixed(20, 3)
    rows[:, 3], queries[:, 3] = 0, 0  # whole numbers of sixths: many ties
    squares = weka_distances(queries, rows, nominal)
    near = squares <= np.sort(squares, axis=1)[:, [4]]
    assert near.sum(axis=1).max() > 5
    shares = (near @ labels + 1 / 60) / (near.sum(axis=1, keepdims=True) + 3 / 60)
    np.testing.assert_allclose(MulanBRkNN(5, nominal=nominal).fit(rows, labels).predict_proba(queries), shares, rtol=1e-12)


def test_without_multi_valued_columns_it_is_a_pipeline():
    rows, labels = mixed(60, 4)
    queries, _ = mixed(20, 5)
    kept = [0, 2, 3, 4]
    pipeline = make_pipeline(WekaScaler([1]), BRkNN(5, ties="all", smoothing="mulan")).fit(rows[:, kept], labels)
    for made in (np.asarray, sparse.csr_array):
        model = MulanBRkNN(5, nominal=[1]).fit(made(rows[:, kept]), labels)
        np.testing.assert_allclose(model.predict_proba(made(queries[:, kept])), pipeline.predict_proba(queries[:, kept]))


def test_a_class_is_as_likely_as_it_is_frequent_among_the_nearest():
    X, y = np.array([[0.0], [1.0], [1.0], [1.0], [9.0]]), np.array(["a", "b", "b", "c", "c"])
    model = WekaKNN(2).fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[1.2 / 4.6, 2.2 / 4.6, 1.2 / 4.6]])
    assert WekaKNN(10).fit(X, y).predict([[0.0]]).tolist() == ["b"]  # fewer rows than neighbors
    assert WekaKNN(1).fit(X[:2], ["a", "a"]).predict([[5.0]]).tolist() == ["a"]


def test_naive_bayes_is_that_of_each_kind_of_column():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    numeric, binary = (
        rng.normal(size=(90, 2)) + y[:, np.newaxis],
        (rng.random((90, 3)) < 0.3 + 0.2 * y[:, np.newaxis]).astype(float),
    )
    np.testing.assert_allclose(
        MixedNaiveBayes().fit(numeric, y).predict_proba(numeric), GaussianNB().fit(numeric, y).predict_proba(numeric)
    )
    for made in (np.asarray, sparse.csr_array):
        found = MixedNaiveBayes().fit(made(binary), y).predict_proba(made(binary))
        np.testing.assert_allclose(found, BernoulliNB().fit(binary, y).predict_proba(binary))
    both = np.hstack([numeric, binary])
    prior = np.bincount(y) / 90
    product = GaussianNB().fit(numeric, y).predict_proba(numeric) * BernoulliNB().fit(binary, y).predict_proba(binary) / prior
    found = MixedNaiveBayes().fit(both, y).predict_proba(both)
    np.testing.assert_allclose(found, product / product.sum(axis=1, keepdims=True))


def test_frequencies_of_values_have_laplaces_correction():
    X, y = np.array([[0.0], [2.0], [2.0], [5.0]]), [0, 0, 1, 1]
    found = MixedNaiveBayes(nominal=[0]).fit(X, y).predict_proba([[0.0], [5.0], [7.0]])
    np.testing.assert_allclose(found, [[2 / 3, 1 / 3], [1 / 3, 2 / 3], [0.5, 0.5]])


def test_a_study_tells_which_of_the_chosen_columns_are_nominal():
    rows, labels = mixed(60, 6)
    split = Split(0, np.arange(40), np.arange(40, 60))
    work = SplitWork(LoadedData("songs", rows, labels, nominal=(1, 2)), split)
    ranking = work.select(MulanRanking("br-infogain"), 5, 0)
    assert ranking == MulanRanking("br-infogain", nominal=[1, 2]).fit(rows[:40], labels[:40]).selected_.tolist()
    (_, _, found), *_ = work.evaluate(Evaluation(MulanBRkNN(3), [3, 1, 0], [2], ["hamming_loss"], "mulan"))
    model = MulanBRkNN(3, nominal=[0]).fit(rows[:40][:, [1, 3]], labels[:40])  # columns in their own order
    assert found == pytest.approx((model.predict(rows[40:][:, [1, 3]]) != labels[40:]).mean())
