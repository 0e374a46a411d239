"""Power-law data with very many labels: sizes, determinism, streaming, and information about the labels."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve import InputError
from labelsieve.datasets import ExtremeLabels, make_extreme
from labelsieve.datasets.synthetic import SIZES


def test_sizes_are_those_of_the_repository():
    assert {name: size[:3] for name, size in SIZES.items()} == {
        "eurlex-4k": (15_449, 186_104, 3_956),
        "wiki10-31k": (14_146, 101_938, 30_938),
        "amazoncat-13k": (1_186_239, 203_882, 13_330),
        "amazon-670k": (490_449, 135_909, 670_091),
        "wiki-500k": (1_779_881, 2_381_304, 501_070),
    }
    assert ExtremeLabels("wiki-500k").shape == SIZES["wiki-500k"][:3]
    assert ExtremeLabels("wiki-500k", scale=0.1).shape == (177_988, 238_130, 50_107)


@pytest.mark.parametrize("at_a_time", [1, 1500, 10**6])
def test_data_do_not_depend_on_how_many_rows_are_made_at_a_time(at_a_time):
    data = ExtremeLabels("amazoncat-13k", scale=0.002, random_state=3)
    X, Y = data.make()
    blocks = list(data.blocks(at_a_time))
    assert (sp.vstack([words for words, _ in blocks]) != X).nnz == 0
    assert (sp.vstack([labels for _, labels in blocks]) != Y).nnz == 0
    assert (make_extreme("amazoncat-13k", scale=0.002, random_state=3)[0] != X).nnz == 0
    assert (make_extreme("amazoncat-13k", scale=0.002, random_state=4)[0] != X).nnz > 0


def test_rows_have_as_many_words_and_labels_as_those_of_the_data_set():
    for name, words, labels in (("eurlex-4k", 271, 5.3), ("wiki10-31k", 673, 18.6), ("amazon-670k", 76, 5.5)):
        X, Y = next(ExtremeLabels(name).blocks(1024))
        assert X.nnz / X.shape[0] == pytest.approx(words, rel=0.05)
        assert Y.nnz / Y.shape[0] == pytest.approx(labels, rel=0.05)
        assert set(np.unique(X.data)) == set(np.unique(Y.data)) == {1}
        assert (np.diff(Y.indptr) >= 1).all()


def test_non_empty_tables_are_as_many_as_in_the_data_set():
    """Measured on a tenth; all rows of the first two sizes are in the documentation."""
    X, Y = make_extreme("eurlex-4k", scale=0.1)
    assert (Y.T.astype(np.int32) @ X.astype(np.int32)).nnz == pytest.approx(0.61e6, rel=0.1)


def test_frequencies_fall_like_a_power_law():
    X, Y = ExtremeLabels("eurlex-4k", scale=0.1).make()
    for counts in (np.bincount(X.indices), np.bincount(Y.indices)):
        counts = np.sort(counts)[::-1]
        head = counts[: max(1, len(counts) // 100)].sum() / counts.sum()
        assert head > 0.04  # a hundredth of the columns: four times as much as if all were equally frequent
        assert np.median(counts) < counts.mean()


def test_huge_data_begin_at_once_and_take_memory_for_a_block():
    tracemalloc.start()
    X, _ = next(ExtremeLabels("wiki-500k").blocks(1024))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert X.shape == (1024, 2_381_304)
    assert most < 200e6


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"size": "eurlex"}, "eurlex-4k"),
        ({"scale": 0}, "scale must be"),
        ({"scale": 2}, "scale must be"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_wrong_settings_are_refused(wrong, words):
    with pytest.raises(InputError, match=words):
        ExtremeLabels(**wrong)
