"""J48 compared with Weka 3.9.7: trees of Weka's own output, and a naive search for the best split.

``tests/support/weka_j48.json`` has what Weka answered on real data: every third row is tested, the others are trained on. For
each tree it has the size, the first condition, a hash of the printed tree, the sum of all squared probabilities, and some
largest probabilities with their classes. ``missing``: 8 % of the values were removed; ``lp``: labelsets are the classes.
"""

import hashlib
import json
from math import log2
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import FixedThresholdClassifier

from labelsieve.chains import ClassifierChain
from labelsieve.classifiers import J48, BinaryRelevance, PrunedPowerset
from labelsieve.classifiers.j48 import best_cuts, more_errors
from labelsieve.datasets import fetch, load
from labelsieve.errors import InputError
from labelsieve.labelspace import NetworkRule
from replications.mulan import MulanJ48, MulanPowerset
from tests.support import shared_files
from tests.support.shared_files import shared_file

WEKA = json.loads(Path(shared_files.__file__).with_name("weka_j48.json").read_text())
SLOW = {"enron", "scene", "stackex-chess"}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in WEKA])
def test_trees_and_probabilities_are_wekas(name):
    dataset, *changes = name.split(":")
    data = fetch(dataset, data_home=shared_file("data", "MANIFEST.json").parent)
    X, Y = (np.array(table.toarray() if sp.issparse(table) else table, dtype=float) for table in (data.X, data.Y))
    nominal = [column for column, kind in enumerate(data.feature_kinds) if kind == "nominal"]
    if "missing" in changes:
        X[np.random.default_rng(0).random(X.shape) < 0.08] = np.nan
    test = np.arange(len(X)) % 3 == 2
    for answer in WEKA[name]:
        label = answer["label"]
        y = np.unique(Y, axis=0, return_inverse=True)[1].ravel() if label == "lp" else Y[:, label].astype(int)
        tree = J48(pruned=answer["pruned"], nominal=nominal).fit(X[~test], y[~test])
        text = tree.text()
        assert (tree.n_leaves_, tree.n_nodes_) == (answer["leaves"], answer["size"])
        assert text.splitlines()[0].split(":")[0] == answer["root"]
        assert hashlib.sha256(text.encode()).hexdigest()[:16] == answer["sha256"]
        probabilities = tree.predict_proba(X[test][np.isin(y[test], tree.classes_)])
        step = max(1, len(probabilities) // 12)
        assert (probabilities**2).sum() == pytest.approx(answer["sum"], abs=1e-5)
        np.testing.assert_allclose(probabilities.max(axis=1)[::step], answer["largest"], atol=1e-9)
        assert probabilities.argmax(axis=1)[::step].tolist() == answer["classes"]


@pytest.mark.parametrize("kind", ["pruned", "unpruned"])
def test_trees_of_the_published_halves_of_emotions_are_wekas(kind):
    train, test = (load(shared_file("data", "emotions", f"emotions-{part}.arff.gz")) for part in ("train", "test"))
    for answer in json.loads(shared_file("reference", "weka_j48_emotions.json").read_text())["emotions"][kind]:
        tree = J48(pruned=kind == "pruned").fit(train.X, train.Y[:, answer["label"]])
        assert tree.text([f"x{column}" for column in range(72)]) == answer["tree"].strip()
        np.testing.assert_allclose(tree.predict_proba(test.X)[:, 1], answer["p1"], atol=6e-4)


def naive_cut(x, y, weights, n_classes, min_rows):
    """The rules of a numeric cut in words, one cut after the other."""

    def entropy(rows):
        counts = [sum(weights[i] for i in rows if y[i] == c) for c in range(n_classes)]
        return -sum(count * log2(count / sum(counts)) for count in counts if count > 0)

    total = sum(weights)
    known = sorted((i for i in range(len(x)) if not np.isnan(x[i])), key=lambda i: x[i])
    weight = sum(weights[i] for i in known)
    required = max(min_rows, min(0.1 * weight / n_classes, 25))
    best, cuts, cut = 0.0, 0, None
    for position in range(1, len(known)):
        left, right = known[:position], known[position:]
        sizes = [sum(weights[i] for i in side) for side in (left, right)]
        if x[right[0]] - x[left[-1]] > 1e-5 and min(sizes) >= required - 1e-6:
            cuts += 1
            gain = (entropy(known) - entropy(left) - entropy(right)) / total
            if gain > best + 1e-6:
                best, cut, best_sizes = gain, (x[left[-1]] + x[right[0]]) / 2, sizes
    if cut is None or best - log2(cuts) / total <= 1e-6:
        return None
    gain = best - log2(cuts) / total
    shares = [size / total for size in (*best_sizes, total - weight) if size > 1e-12]
    return gain, gain / -sum(share * log2(share) for share in shares), cut


@pytest.mark.parametrize("seed", range(30))
def test_the_best_cut_is_that_of_a_naive_search(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_classes = int(rng.integers(4, 60)), int(rng.integers(2, 5))
    X = rng.integers(0, rng.integers(2, 30), (n_rows, 5)).astype(float)
    y = np.where(rng.random(n_rows) < 0.6, np.minimum(X[:, 0], n_classes - 1), rng.integers(0, n_classes, n_rows)).astype(int)
    weights = rng.choice([1.0, 0.25, 2.0], n_rows) if seed % 2 else np.ones(n_rows)
    X[rng.random(X.shape) < (0.2 if seed % 3 == 0 else 0.0)] = np.nan
    order = np.argsort(X.T, axis=1, kind="stable")
    found = best_cuts(np.take_along_axis(X.T, order, axis=1), y[order], weights[order], weights.sum(), n_classes, 2.0)
    for column in range(5):
        wanted = naive_cut(X[:, column].tolist(), y.tolist(), weights.tolist(), n_classes, 2.0)
        assert found.valid[column] == (wanted is not None)
        if wanted is not None:
            assert (found.gains[column], found.ratios[column], found.cuts[column]) == pytest.approx(wanted, abs=1e-9)


def test_a_nominal_value_without_rows_gets_the_classes_of_the_node():
    X = np.repeat([[0.0], [1.0], [2.0]], 10, axis=0)
    y = np.repeat(["a", "b", "b"], 10)
    tree = J48(nominal=[0]).fit(X, y)
    assert tree.text() == "x0 = 0: a (10.0)\nx0 = 1: b (10.0)\nx0 = 2: b (10.0)"
    np.testing.assert_allclose(tree.predict_proba([[7.0], [np.nan]]), [[1 / 3, 2 / 3]] * 2)


def test_lower_confidence_prunes_more_and_more_rows_give_smaller_trees():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(400, 6)).astype(float)
    y = (X[:, 0] + 2 * rng.normal(size=400) > 1.5).astype(int)
    sizes = [J48(confidence=confidence, nominal=range(6)).fit(X, y).n_leaves_ for confidence in (0.001, 0.25, 0.5)]
    whole, large = (J48(pruned=False, min_rows=rows, nominal=range(6)).fit(X, y).n_leaves_ for rows in (2, 20))
    assert sizes[0] < sizes[1] < sizes[2] < whole
    assert large < whole


def test_estimated_errors_are_those_of_quinlans_book():
    """Section 4.2 of the book: 6, 9 and 1 rows without errors, and 16 rows with one, where the book's limit is exact."""
    without = [more_errors(n, 0, 0.25) for n in (6, 9, 1)]
    assert without == pytest.approx([6 * 0.206, 9 * 0.143, 0.75], abs=5e-3)
    assert more_errors(16, 1, 0.25) + 1 == pytest.approx(16 * 0.157, abs=0.05)


def test_sparse_rows_give_the_tree_of_dense_ones():
    rng = np.random.default_rng(0)
    X = (rng.random((200, 30)) < 0.2).astype(float)
    y = (X[:, 3] + X[:, 7] + (rng.random(200) < 0.1) > 0).astype(int)
    nominal = range(0, 30, 2)
    dense, sparse = (J48(nominal=nominal).fit(rows, y) for rows in (X, sp.csr_array(X)))
    assert dense.text() == sparse.text()
    np.testing.assert_array_equal(dense.predict_proba(X), sparse.predict_proba(sp.csr_matrix(X)))


def test_nominal_columns_must_exist():
    with pytest.raises(InputError, match=r"nominal=\[3\].*columns 0 to 1"):
        J48(nominal=[3]).fit([[0, 1], [1, 0]], [0, 1])


def present_if_tied(base):
    return FixedThresholdClassifier(base, threshold=0.5, response_method="predict_proba")


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("BR_J48", BinaryRelevance(present_if_tied(MulanJ48()))),
        ("CC_J48", ClassifierChain(present_if_tied(MulanJ48()), network=NetworkRule("preceding", order="given"))),
        ("LP_J48", MulanPowerset(MulanJ48())),
        ("PPT_default_J48_p3_noloss", PrunedPowerset(MulanJ48(), min_count=4, split="smallest", threshold=0.21)),
    ],
)
def test_transformations_with_j48_predict_as_mulans_do(name, model):
    train, test = (load(shared_file("data", "emotions", f"emotions-{part}.arff.gz")) for part in ("train", "test"))
    with np.load(shared_file("reference", "mulan_predictions_emotions.npz"), allow_pickle=False) as answers:
        labels, confidences = answers[f"{name}__bip"], answers[f"{name}__conf"]
    model.fit(train.X, train.Y)
    np.testing.assert_array_equal(model.predict(test.X), labels)
    np.testing.assert_allclose(model.predict_proba(test.X), confidences, atol=1e-12)


def test_columns_of_zeros_and_ones_are_nominal_in_mulans_files():
    X = np.array([[0.0], [0], [1], [1], [1], [1]])
    y = [0, 0, 1, 1, 1, 1]
    assert MulanJ48().fit(X, y).text() == "x0 = 0: 0 (2.0)\nx0 = 1: 1 (4.0)"
    assert J48().fit(X, y).text() == "x0 <= 0: 0 (2.0)\nx0 > 0: 1 (4.0)"
