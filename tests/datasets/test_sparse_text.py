"""Text-like data with a known answer, whole or in pieces."""

import itertools

import numpy as np
import pytest

from labelsieve import InputError, Sieve
from labelsieve.datasets.synthetic import SyntheticText
from labelsieve.information import mutual_information

SMALL = SyntheticText(n_rows=5000, n_words=400, n_labels=3, words_per_label=4)


@pytest.mark.parametrize("at_a_time", [1, 1024, 3000, 10**6])
def test_data_do_not_depend_on_how_many_rows_are_made_at_a_time(at_a_time):
    X, Y = SMALL.make()
    blocks = list(SMALL.blocks(at_a_time))
    assert np.array_equal(np.vstack([words.toarray() for words, _ in blocks]), X.toarray())
    assert np.array_equal(np.vstack([labels.toarray() for _, labels in blocks]), Y.toarray())


def test_more_rows_begin_with_the_same_rows():
    longer = SyntheticText(n_rows=7000, n_words=400, n_labels=3, words_per_label=4)
    assert np.array_equal(longer.make()[0][:5000].toarray(), SMALL.make()[0].toarray())


def test_words_of_a_label_tell_about_it_and_others_tell_nothing():
    X, Y = SMALL.make()
    information = mutual_information(X, Y)
    label_of_word = SMALL.label_of_word
    for word, label in enumerate(label_of_word):
        if label >= 0:
            assert information[word, label] > 0.05
            assert np.delete(information[word], label).max() < 0.005
        else:
            assert information[word].max() < 0.005
    chosen = Sieve("jmi", discretizer=None, n_features_to_select=12).fit(X, Y).selected_
    assert set(chosen) == set(np.flatnonzero(label_of_word >= 0))


def test_lengths_and_frequencies_are_those_asked_for():
    text = SyntheticText(n_rows=20_000, n_words=50_000, n_labels=4, words_per_row=30, imbalance=8)
    X, Y = text.make()
    assert X[:, : text.n_noise_words].sum() / 20_000 == pytest.approx(29, abs=1.5)  # a few words fall together
    np.testing.assert_allclose(Y.sum(axis=0) / 20_000, 0.2 / np.array([1, 2, 4, 8]), rtol=0.1)
    assert set(np.unique(X.data)) == {1}


def test_huge_data_begin_at_once():
    text = SyntheticText(n_rows=10**9, n_words=10**6, n_labels=50)
    X, Y = next(itertools.islice(text.blocks(2048), 1))
    assert X.shape == (2048, 10**6)
    assert X.nnz < 2048 * 60
    assert Y.shape == (2048, 50)


@pytest.mark.parametrize(
    "wrong",
    [{"n_rows": 0}, {"n_words": 15}, {"strength": 0.0}, {"strength": 1.5}, {"imbalance": 0.1}, {"words_per_row": -1.0}],
    ids=str,
)
def test_what_cannot_be_made_is_refused(wrong):
    with pytest.raises(InputError):
        SyntheticText(**{"n_rows": 10, "n_words": 100, "n_labels": 3, **wrong})
