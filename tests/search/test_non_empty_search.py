"""Lists for every target from the tables that are not empty are those of a search among all features, bit for bit."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelsieve.counting.workspace import Workspace
from labelsieve.information import Codes
from labelsieve.search import search_each
from labelsieve.search.many_labels import non_empty as non_empty_search
from labelsieve.search.many_labels.listed import PairTables, can_list, listed_columns, rank_listed
from labelsieve.search.many_labels.non_empty import lists_from_non_empty
from tests.support.criterion_cases import VARIANTS

LISTED = [name for name, (make, _, _) in VARIANTS.items() if can_list(make().plan)]


def make_workspace(seed):
    """Rare and frequent columns, copies, columns that never occur, and targets that are features."""
    rng = np.random.default_rng(seed)
    n_rows, n_features, n_targets = rng.integers(10, 50), rng.integers(10, 40), rng.integers(3, 7)
    X = rng.random((n_rows, n_features)) < rng.choice([0.02, 0.1, 0.3], size=n_features)
    Y = rng.random((n_rows, n_targets)) < rng.choice([0.03, 0.1, 0.5], size=n_targets)
    X[:, n_features // 2 : n_features // 2 + 3] = X[:, :3]
    X[:, 5], Y[:, 0], Y[:, 1] = False, X[:, -1], False
    if seed % 2:
        X[:, 6], Y[:, 2] = ~X[:, 6], ~Y[:, 2]
    return Workspace(Codes.from_values(sp.csc_array(X.astype(np.uint8))), Codes.from_values(sp.csc_array(Y)))


@pytest.mark.parametrize("name", LISTED)
def test_lists_are_those_of_panels_of_all_features(name, monkeypatch):
    plan = VARIANTS[name][0]().plan
    for seed in range(3):
        workspace = make_workspace(seed)
        excluded, last = [2], workspace.constant_features if seed == 1 else np.empty(0, dtype=np.intp)
        expected = search_each(plan, workspace, 5, excluded=excluded, last=last)
        available = np.ones(workspace.X.n_columns, dtype=bool)
        available[[*excluded, *last]] = False
        monkeypatch.setattr(non_empty_search, "VISITS", (100, 2**22)[seed % 2])
        monkeypatch.setattr(non_empty_search, "FIRST_OPENED", (2, 64)[seed % 2])
        targets, columns = range(workspace.Y.n_columns), listed_columns(plan, workspace)
        blocks = list(lists_from_non_empty(plan, workspace.fixed, columns, 5, targets, available))
        for ours, theirs in zip(zip(*blocks, strict=True), expected, strict=True):
            np.testing.assert_array_equal(np.concatenate(ours), theirs)


@pytest.mark.parametrize("name", ["mim", "enm"])
def test_rankings_of_any_length_are_those_of_panels(name):
    plan = VARIANTS[name][0]().plan
    for seed in range(6):
        workspace = make_workspace(seed)
        n_features, targets = workspace.X.n_columns, range(workspace.Y.n_columns)
        available = np.ones(n_features, dtype=bool)
        for length in (1, n_features // 5, n_features // 3, n_features):
            expected = search_each(plan, workspace, length)
            blocks = list(rank_listed(plan, workspace.fixed, listed_columns(plan, workspace), length, targets, available))
            for ours, theirs in zip(zip(*blocks, strict=True), expected, strict=True):
                np.testing.assert_array_equal(np.concatenate(ours), theirs)


@pytest.mark.parametrize("name", ["jmi", "cmim", "mrmr", "icap", "cife"])
def test_few_features_without_a_common_row_are_evaluated(name, monkeypatch):
    rng = np.random.default_rng(0)
    n_rows, n_features, n_targets = 500, 20_000, 100
    entries = rng.integers(n_rows, size=30_000), (n_features * rng.random(30_000) ** 3).astype(int)
    X = sp.csc_array((np.ones(30_000, dtype=bool), entries), shape=(n_rows, n_features))
    Y = sp.random_array((n_rows, n_targets), density=0.02, format="csc", rng=rng, dtype=bool)
    n_pairs = []

    class Counting(PairTables):
        def __init__(self, fixed, of_features, *others):
            n_pairs.append(len(of_features))
            super().__init__(fixed, of_features, *others)

    monkeypatch.setattr(non_empty_search, "PairTables", Counting)
    plan = VARIANTS[name][0]().plan
    workspace = Workspace(Codes.from_values(X), Codes.from_values(Y))
    every = np.ones(n_features, dtype=bool)
    list(lists_from_non_empty(plan, workspace.fixed, listed_columns(plan, workspace), 4, range(n_targets), every))
    n_tables = (Y.T.astype(int) @ X.astype(int)).nnz
    assert n_tables <= sum(n_pairs) < 1.5 * n_tables < n_features * n_targets / 20
