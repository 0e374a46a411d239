"""Learners that share work over the numbers of features give what separate fits give."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from labelsieve.chains import ChainEnsemble, OptimizedClassifierChain
from labelsieve.errors import InputError
from labelsieve.metrics import exact_match
from labelsieve.selectors import MDDM
from labelsieve.studies import Protocol, Study, StudyResults
from replications.optimized_chains.common import (
    BySize,
    GivenOrder,
    SharedChain,
    SharedDirections,
    SomeRows,
    TunedShare,
)
from tests.support.small_studies import data

BASE = LinearSVC(dual=False, tol=0.01)
MADE = data(n_rows=120)
TRAIN, TEST = np.arange(80), np.arange(80, 120)


@pytest.mark.parametrize("variant", ["paper", "authors-program"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_one_fit_predicts_for_every_size_what_a_fit_of_its_own_predicts(variant, make):
    X, sizes = make(MADE.X), [1, 3, 6]
    shared = BySize(SharedChain(OptimizedClassifierChain(variant=variant), BASE))
    found = dict(shared.predictions_by_size(X[TRAIN], MADE.Y[TRAIN], X[TEST], sizes))
    assert list(found) == sizes
    for size, predicted in found.items():
        own = OptimizedClassifierChain(BASE, n_features_to_select=size, variant=variant).fit(X[TRAIN], MADE.Y[TRAIN])
        np.testing.assert_array_equal(predicted, own.predict(X[TEST]))
    assert len({predicted.tobytes() for predicted in found.values()}) > 1


def test_chains_of_an_ensemble_take_their_share_of_the_features_that_they_see():
    ensemble = BySize(ChainEnsemble(SharedChain(OptimizedClassifierChain(order="random"), BASE), n_chains=3, random_state=0))
    sizes = [2, MADE.X.shape[1]]
    found = dict(ensemble.predictions_by_size(MADE.X[TRAIN], MADE.Y[TRAIN], MADE.X[TEST], sizes))
    again = dict(ensemble.predictions_by_size(MADE.X[TRAIN], MADE.Y[TRAIN], MADE.X[TEST], sizes[1:]))
    np.testing.assert_array_equal(found[sizes[1]], again[sizes[1]])


def test_a_study_asks_such_a_classifier_once_for_all_sizes(tmp_path, monkeypatch):
    fits = []
    learn = SharedChain._learn
    monkeypatch.setattr(SharedChain, "_learn", lambda self, X, y: (fits.append(X.shape), learn(self, X, y)))
    protocol = Protocol(
        [MADE],
        [("own features", GivenOrder())],
        n_features=[1, 2, 4],
        classifiers=[("occ", BySize(SharedChain(base=BASE)))],
        measures=["exact_match"],
        splits="2x50%",
        baselines=[],
    )
    Study(protocol, tmp_path).run()
    sizes, values = StudyResults(tmp_path).curve("songs", "own features", "exact_match", "occ")
    assert (sizes.tolist(), values.shape) == ([1, 2, 4], (2, 3))
    assert fits == [(60, MADE.X.shape[1])] * 2


def test_more_than_was_learned_is_refused():
    learned = SharedChain(base=BASE, share=0.3).fit(MADE.X[TRAIN], MADE.Y[TRAIN]).set_params(share=0.5)
    with pytest.raises(InputError, match=r"share=0.5 is more than the 0.3 of fit"):
        learned.predict(MADE.X[TEST])


def test_filled_directions_begin_with_those_of_mddm_and_are_a_whole_basis():
    filled = SharedDirections(BASE, directions="filled", share=1.0).fit(MADE.X, MADE.Y).directions_
    own = MDDM(mu=0).fit(MADE.X, MADE.Y).components_.T
    np.testing.assert_allclose(filled[:, : own.shape[1]], own)
    np.testing.assert_allclose(filled.T @ filled, np.eye(MADE.X.shape[1]), atol=1e-10)
    assert SharedDirections(BASE, share=1.0).fit(MADE.X, MADE.Y).directions_.shape[1] <= MADE.Y.shape[1]


def test_the_share_is_chosen_on_rows_held_out_of_the_training_rows():
    shares = (0.1, 0.5, 0.9)
    chosen = TunedShare(SharedChain(base=BASE), shares).fit(MADE.X[TRAIN], MADE.Y[TRAIN])
    order = np.random.RandomState(0).permutation(80)  # as ShuffleSplit draws: test rows first
    held, train = order[:20], order[20:]
    scores = []
    for share in shares:
        own = SharedChain(base=BASE, share=share).fit(MADE.X[train], MADE.Y[train])
        scores.append(exact_match(MADE.Y[held], own.predict(MADE.X[held])))
    assert chosen.share_ == shares[int(np.argmax(scores))]
    assert len(set(scores)) > 1
    np.testing.assert_array_equal(
        chosen.predict(MADE.X[TEST]),
        SharedChain(base=BASE, share=chosen.share_).fit(MADE.X[TRAIN], MADE.Y[TRAIN]).predict(MADE.X[TEST]),
    )


def test_more_rows_contain_the_fewer():
    seen = []

    class Recorder(SharedChain):
        def fit(self, X, y):
            seen.append({row.tobytes() for row in np.asarray(X)})
            return self

    for share in (0.25, 0.5):
        SomeRows(Recorder(), share).fit(MADE.X, MADE.Y)
    assert [len(rows) for rows in seen] == [30, 60]
    assert seen[0] < seen[1]
