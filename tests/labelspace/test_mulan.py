"""Mulan's information gain (Java, on Weka) under its transformations, with bins cut as it cuts them.

Weka discretizes a feature by the class variable: each label, the powerset, the copied labels. The cut points of labels and
powerset are recorded; those of the other transformations are computed with the rule of Fayyad and Irani (1993), below, which is
checked against the record first.
"""

import json

import numpy as np
import pytest

from labelsieve import Sieve
from labelsieve.labelspace import read_targets
from labelsieve.registry import LABEL_SPACES
from labelsieve.search import join_labels
from tests.support.arff_files import read_dense_arff
from tests.support.shared_files import shared_file

N_LABELS = 6
BITS = np.log(2)
SPACES = {"Copy": "copy", "Ignore": "ignore", "SelectMax": "select-max", "SelectMin": "select-min"}


def read():
    _, values = read_dense_arff(shared_file("data", "emotions", "emotions-train.arff.gz"))
    return values[:, :-N_LABELS], values[:, -N_LABELS:].astype(int)


def mulan(transformation):
    with np.load(shared_file("reference", "mulan_feature_scores_emotions.npz"), allow_pickle=False) as file:
        return file[f"emotions-train__InfoGain__{transformation}"]


def recorded_cuts(target):
    text = shared_file("reference", "weka_mdl_cut_points_emotions.json").read_text(encoding="utf-8")
    cuts = json.loads(text)["emotions-train"]["betterEncoding"][target]
    return [cuts[str(feature)] for feature in range(len(cuts))]


def entropy(counts):
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def mdl_cuts(values, classes):
    """Cut points of the MDL rule; Weka's better encoding counts the possible cuts."""
    order = np.argsort(values, kind="stable")
    values, classes = values[order], classes[order]
    one_hot = np.eye(classes.max() + 1)[classes]
    below = np.cumsum(one_hot, axis=0)
    boundaries = np.flatnonzero(values[:-1] < values[1:])
    if not len(boundaries):
        return []
    n, total = len(values), below[-1]
    split = [((i + 1) * entropy(below[i]) + (n - i - 1) * entropy(total - below[i])) / n for i in boundaries]
    best = int(np.argmin(np.round(split, 12)))
    at, gain = boundaries[best], entropy(total) - split[best]
    halves = below[at], total - below[at]
    kinds = [np.count_nonzero(counts) for counts in (total, *halves)]
    delta = np.log2(3.0 ** kinds[0] - 2) - (
        kinds[0] * entropy(total) - kinds[1] * entropy(halves[0]) - kinds[2] * entropy(halves[1])
    )
    if gain <= 1e-12 or gain <= (np.log2(len(boundaries)) + delta) / n:
        return []
    left, right = slice(None, at + 1), slice(at + 1, None)
    return [
        *mdl_cuts(values[left], classes[left]),
        (values[at] + values[at + 1]) / 2,
        *mdl_cuts(values[right], classes[right]),
    ]


def gains(X, cuts, Y, space):
    """Information gain of every feature, in bits and in order of the columns. Weka's bins are closed on the right."""
    codes = np.column_stack([np.searchsorted(cut, column, side="left") for cut, column in zip(cuts, X.T, strict=True)])
    sieve = Sieve("mim", targets=space, discretizer=None, n_features_to_select=None).fit(codes, Y)
    scores = np.empty(X.shape[1])
    scores[sieve.selected_] = sieve.scores_ / BITS
    return scores


@pytest.mark.parametrize("label", range(N_LABELS))
def test_the_gain_of_each_label_is_mulans(label):
    X, Y = read()
    scores = gains(X, recorded_cuts(str(label)), Y[:, label], "single")
    np.testing.assert_allclose(scores, mulan("per_label")[label], rtol=0, atol=1e-10)


@pytest.mark.parametrize(("join", "theirs"), [("max", "max"), ("mean", "avg"), ("min", "min")])
@pytest.mark.parametrize(("scale", "normalized"), [("none", "none"), ("length", "dl"), ("largest", "dm")])
def test_the_gains_of_all_labels_are_joined_as_mulan_joins_them(join, theirs, scale, normalized):
    joined = join_labels(mulan("per_label").T, join=join, scale=scale)
    np.testing.assert_allclose(joined, mulan(f"BR_{theirs}_{normalized}_eval"), rtol=0, atol=1e-12)


def test_the_gain_of_the_powerset_is_mulans():
    X, Y = read()
    np.testing.assert_allclose(gains(X, recorded_cuts("LP"), Y, "joint"), mulan("LP"), rtol=0, atol=1e-10)


def test_the_rule_below_cuts_where_weka_does():
    X, Y = read()
    for target, classes in (("0", Y[:, 0]), ("4", Y[:, 4]), ("LP", np.unique(Y, axis=0, return_inverse=True)[1].ravel())):
        for feature, recorded in enumerate(recorded_cuts(target)):
            np.testing.assert_allclose(mdl_cuts(X[:, feature], classes), recorded, rtol=1e-12)


def as_mulan_picks(Y, sign):
    """The label of the largest (with -1, smallest) count, in a search that starts from label 0 even if the row lacks it."""
    counts = sign * Y.sum(axis=0)
    picked = np.zeros(len(Y), dtype=int)
    for row, labels in enumerate(Y):
        for label in np.flatnonzero(labels):
            if counts[label] > counts[picked[row]]:
                picked[row] = label
    return picked


@pytest.mark.parametrize("transformation", SPACES)
def test_the_gain_of_a_transformation_is_mulans(transformation):
    X, Y = read()
    encoded = LABEL_SPACES[SPACES[transformation]]().encode(read_targets(Y))
    rows = np.flatnonzero(encoded.rows) if encoded.row_index is None else encoded.row_index
    classes = encoded.codes.column(0).astype(int)
    space = SPACES[transformation]
    if transformation.startswith("Select"):
        picked = as_mulan_picks(Y, 1 if transformation == "SelectMax" else -1)
        assert (picked != classes).any(), "then there is no difference to explain"
        assert Y[np.arange(len(Y)), picked].min() == 0, "Mulan gives a row a label that it does not have"
        assert Y[rows, classes].min() == 1, "ours never does"
        classes, Y, space = picked, picked, "single"
    cuts = [mdl_cuts(column[rows], classes) for column in X.T]
    np.testing.assert_allclose(gains(X, cuts, Y, space), mulan(transformation), rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("method", "theirs"), [("br-infogain", "BR_max_dl_eval"), ("lp-infogain", "LP"), ("copy-infogain", "Copy")]
)
def test_published_methods_give_mulans_scores_from_the_raw_data(method, theirs):
    X, Y = read()
    sieve = Sieve(method, n_features_to_select=None).fit(X, Y)
    scores = np.empty(X.shape[1])
    scores[sieve.selected_] = sieve.scores_ / (1 if method == "br-infogain" else BITS)
    np.testing.assert_allclose(scores, mulan(theirs), rtol=0, atol=1e-10)
