"""Floating and swap search find the sets that their definitions say, with the objective computed from scratch."""

from collections import Counter
from itertools import combinations
from math import log

import numpy as np
import pytest

from labelsieve import Criterion, InputError, Sieve
from labelsieve.formula import I, f, max_s, s, sum_y, y
from labelsieve.registry import CRITERIA, make_criterion
from labelsieve.search.pairwise_terms import pairwise_kind
from tests.support.selection_data import assert_same_selection, make_data

SETS = {
    "jmi": "sum",
    "disr": "sum",
    "mrmr": "mean",
    "nmifs": "mean",
    "betagamma": "sum",
    "mifs": "sum",
    "cife": "sum",
    "condred": "sum",
    "icap": "sum",
    "ami": "sum",
    "pmu": "sum",
    "d2f": "sum",
    "lrfs": "mean",
    "lsmfs": "sum",
    "mlsmfs": "sum",
    "mri": "sum",
    "dcsf": "sum",
    "tcrfs": "mean",
}


def coded(seed=0):
    """Codes with much redundancy, so that greedy search is not the best."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 2, size=(150, 5))
    X = [sum(hidden[:, part] << at for at, part in enumerate(rng.permutation(5)[: rng.integers(1, 4)])) for _ in range(11)]
    X = np.column_stack(X)
    X = np.where(rng.random(X.shape) < 0.9, X, rng.integers(0, 4, X.shape))
    Y = np.column_stack([hidden.sum(axis=1) > 2, hidden[:, 0] > hidden[:, 1], hidden[:, 2] == 1]).astype(int)
    return X, Y


class NaiveObjective:
    """Relevance and the terms of all pairs, from entropies of joint columns, one by one."""

    def __init__(self, X, Y, criterion):
        self.criterion, self.n_features = criterion, X.shape[1]
        columns = X.T.tolist()
        labels = Y.T.tolist()
        self.single = [sum(information([one], [label]) for label in labels) for one in columns]
        self.pair = {}
        for a, b in combinations(range(len(columns)), 2):
            one, other = columns[a], columns[b]
            if criterion == "jmi":
                self.pair[a, b] = sum(information([one, other], [label]) for label in labels)
            else:
                self.pair[a, b] = -len(labels) * information([one], [other])

    def __call__(self, columns):
        pairs = sum(self.pair[min(two), max(two)] for two in combinations(columns, 2))
        if self.criterion == "jmi":
            return pairs
        return sum(self.single[c] for c in columns) + pairs / (len(columns) - 1 if self.criterion == "mrmr" else 1)


def joint_entropy(columns):
    counts = Counter(zip(*columns, strict=True))
    total = sum(counts.values())
    return -sum(count / total * log(count / total) for count in counts.values())


def information(a, b):
    return joint_entropy(a) + joint_entropy(b) - joint_entropy([*a, *b])


def naive_swaps(objective, start):
    current = list(start)
    while True:
        value = objective(current)
        options = {
            (out, new): objective([*(c for c in current if c != out), new])
            for out in current
            for new in set(range(objective.n_features)) - set(current)
        }
        best = max(options, key=options.get)
        if options[best] <= value + 1e-9:
            return set(current), value
        current = [best[1] if c == best[0] else c for c in current]


def naive_floating(objective, n_selected, first):
    current, best = [first], {1: -np.inf}
    kept = {}

    def keep(columns):
        value = objective(columns)
        if value > best.get(len(columns), -np.inf) + 1e-9:
            best[len(columns)], kept[len(columns)] = value, columns
        return list(kept[len(columns)])

    while len(current) < n_selected:
        rest = [c for c in range(objective.n_features) if c not in current]
        newest = max(rest, key=lambda c: objective([*current, c]))
        current = keep([*current, newest])
        while len(current) > 2:
            smaller = [[c for c in current if c != out] for out in current]
            values = [objective(columns) for columns in smaller]
            at = int(np.argmax(values))
            if current[at] == newest or values[at] <= best[len(current) - 1] + 1e-9:
                break
            current = keep(smaller[at])
    return set(current), best[n_selected]


@pytest.mark.parametrize("criterion", ["mrmr", "jmi", "mifs"])
def test_sets_are_those_of_the_definitions(criterion):
    X, Y = coded()
    objective, improved = NaiveObjective(X, Y, criterion), set()
    for n_selected in (3, 4, 5, 6):
        settings = {"discretizer": None, "n_features_to_select": n_selected}
        greedy = Sieve(criterion, **settings).fit(X, Y).selected_.tolist()
        swapped = Sieve(criterion, search="swap", **settings).fit(X, Y).selected_.tolist()
        floating = Sieve(criterion, search="floating", **settings).fit(X, Y).selected_.tolist()
        expected, value = naive_swaps(objective, greedy)
        assert set(swapped) == expected
        found, reached = naive_floating(objective, n_selected, greedy[0])
        start = objective(greedy)
        assert set(floating) == (found if reached >= start - 1e-9 else set(greedy))
        best = max(objective(columns) for columns in combinations(range(X.shape[1]), n_selected))
        assert start - 1e-9 <= value <= best + 1e-9
        improved |= {"swap"} if value > start + 1e-9 else set()
        improved |= {"floating"} if reached > start + 1e-9 else set()
    assert improved == {"swap", "floating"}, "greedy search was the best every time, so this shows nothing"


def test_scores_are_those_of_the_features_in_order():
    X, Y = coded()
    sieve = Sieve("mrmr", search="swap", discretizer=None, n_features_to_select=4).fit(X, Y)
    for at in range(1, 4):
        before = sieve.selected_[:at].tolist()
        again = Sieve("mrmr", discretizer=None, forced=[*before, int(sieve.selected_[at])], n_features_to_select=at + 1).fit(
            X, Y
        )
        assert sieve.scores_[at] == pytest.approx(again.scores_[at], abs=1e-12)


@pytest.mark.parametrize("search", ["floating", "swap"])
def test_forced_excluded_and_constant_features_keep_their_meaning(search):
    X, Y = make_data()
    X = np.column_stack([X, np.ones(len(X))])
    sieve = Sieve("jmi", search=search, forced=[3], excluded=[1], n_features_to_select=4).fit(X, Y)
    assert sieve.selected_[0] == 3
    assert not {1, 8} & set(sieve.selected_.tolist())
    everything = Sieve("jmi", search=search, excluded=[1], n_features_to_select=None).fit(X, Y)
    assert sorted(everything.selected_.tolist()) == [0, 2, 3, 4, 5, 6, 7, 8]
    assert everything.selected_[-1] == 8
    one = Sieve("jmi", search=search, n_features_to_select=1).fit(X, Y)
    assert_same_selection(one, Sieve("jmi", n_features_to_select=1).fit(X, Y))
    warm = Sieve("jmi", search=search, n_features_to_select=2, warm_start=True).fit(X, Y)
    at_once = Sieve("jmi", search=search, n_features_to_select=5).fit(X, Y)
    assert_same_selection(warm.set_params(n_features_to_select=5).fit(X, Y), at_once)


def test_the_criteria_with_an_objective_of_sets_are_listed():
    assert {name: pairwise_kind(make_criterion(name).plan) for name in SETS} == SETS
    for name in CRITERIA.keys() - SETS.keys():
        with pytest.raises(InputError, match=r"floating and swap search|do not depend on the selection"):
            pairwise_kind(make_criterion(name).plan)


def test_what_has_no_objective_of_sets_is_refused_with_the_reason():
    X, Y = make_data()

    class Largest(Criterion):
        first = sum_y(I(f, y))
        score = sum_y(I(f, y)) - max_s(I(f, s))

    refused = {
        "its terms are not symmetric": {"criterion": "cmim"},
        "it is neither": {"criterion": Largest()},
        "given all of them jointly": {"criterion": "cmi"},
        "do not depend on the selection": {"criterion": "mim"},
        "is for criteria that are a formula": {"criterion": "br-infogain"},
        "needs nested selections": {"criterion": "jmi", "n_features_to_select": "g-test"},
    }
    for message, settings in refused.items():
        with pytest.raises(InputError, match=message):
            Sieve(search="swap", **settings).fit(X, Y)
    with pytest.raises(ValueError, match="'search' parameter of Sieve must be"):
        Sieve("jmi", search="best").fit(X, Y)
