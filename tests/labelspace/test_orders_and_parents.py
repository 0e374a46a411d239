"""Orders, parents and trees against reference implementations of the equations, and invariances of networks."""

import numpy as np
import pandas as pd
import pytest

from labelsieve import InputError
from labelsieve.labelspace import LabelNetwork, NetworkRule
from labelsieve.labelspace import network_rule as network_parents
from labelsieve.labelspace import network_rule as shared_information
from tests.support.criterion_cases import columns
from tests.support.label_data import make_labels
from tests.support.reference_networks import NEAR, best_tree_weight, chain_order, kcc_score, tree_weight, varies

SEEDS = range(25)
RULES = {
    "kcc": {"k": 2},
    "kcc of a fraction": {"k": 0.4},
    "preceding": {"parents": "preceding"},
    "none": {"parents": "none"},
    "information": {"k": 2, "order": "information"},
    "two components": {"k": 2, "order": "information", "n_components": 2},
    "frequency": {"k": 2, "order": "frequency"},
    "as given": {"k": 2, "order": "given"},
    "tree": {"parents": "tree", "root": 1},
    "tree given features": {"parents": "tree", "root": 1, "edge_weight": "given-features"},
}
rules = pytest.mark.parametrize("rule", RULES)


@pytest.mark.parametrize("second_term", [False, True])
def test_the_order_follows_equation_47(second_term):
    n_clear = 0
    for seed in SEEDS:
        X, Y = make_labels(seed)
        naive, tie = chain_order(columns(X), columns(Y), second_term=second_term)
        ours = NetworkRule("none", order="information", second_term=second_term).learn(X, Y).order
        if not tie:
            n_clear += 1
            assert list(ours) == naive, f"seed {seed}"
    assert n_clear > 20


@pytest.mark.parametrize("k", [1, 2, 3, 0.5])
def test_every_parent_is_the_best_by_equation_33(k):
    for seed in SEEDS:
        _, Y = make_labels(seed)
        labels = columns(Y)
        network = NetworkRule(k=k, order="random", random_state=seed).learn(None, Y)
        most = 3 if k == 0.5 else k
        for position, child in enumerate(network.order):
            before = [a for a in network.order[:position] if varies(labels[a])]
            selected = list(network.parents[child])
            assert len(selected) == (min(most, len(before)) if varies(labels[child]) else 0)
            if len(before) <= most:
                continue
            for step, parent in enumerate(selected):
                scores = {a: kcc_score(labels, child, a, selected[:step]) for a in before if a not in selected[:step]}
                assert scores[parent] >= max(scores.values()) - NEAR, f"seed {seed}, label {child}, step {step}"


def test_blocks_of_labels_do_not_change_parents(monkeypatch):
    X, Y = make_labels(3, n_rows=200, n_labels=15)
    whole = NetworkRule(k=4, order="information").learn(X, Y)
    monkeypatch.setattr(network_parents, "BLOCK_BYTES", 1)
    monkeypatch.setattr(shared_information, "PANEL_BYTES", 1)
    assert NetworkRule(k=4, order="information").learn(X, Y) == whole


def test_a_tree_has_the_largest_weight():
    for seed in SEEDS:
        _, Y = make_labels(seed)
        labels = columns(Y)
        network = NetworkRule("tree", random_state=seed).learn(None, Y)
        assert tree_weight(labels, network.edges) == pytest.approx(best_tree_weight(labels), abs=NEAR)
        counts = [len(network.parents[a]) for a in network.order if varies(labels[a])]
        assert counts == [0] + [1] * (len(counts) - 1)


def test_a_given_root_is_the_root():
    _, Y = make_labels(0, constant=False)
    for root in range(6):
        assert NetworkRule("tree", root=root).learn(None, Y).order[0] == root


@rules
def test_permuting_labels_permutes_the_network(rule):
    for seed in range(12):
        X, Y = make_labels(seed, n_rows=300, constant=False)
        if rule == "frequency" and len(set(Y.sum(axis=0))) < Y.shape[1]:
            continue  # ties go to the lowest label, and that is another one
        shuffle = np.random.default_rng(seed).permutation(Y.shape[1])
        new_label = np.argsort(shuffle)  # old label -> new label
        options = dict(RULES[rule])
        plain = NetworkRule(**options).learn(X, Y)
        if "root" in options:
            options["root"] = int(new_label[options["root"]])
        if options.get("order") == "given":
            options["order"] = new_label.tolist()
        moved = NetworkRule(**options).learn(X, Y[:, shuffle])
        renamed = LabelNetwork(
            tuple(int(new_label[a]) for a in plain.order),
            tuple(tuple(int(new_label[p]) for p in plain.parents[shuffle[b]]) for b in range(len(shuffle))),
        )
        assert moved == renamed


@rules
@pytest.mark.parametrize("value", [0, 1])
def test_a_constant_label_changes_nothing_else(rule, value):
    options = {**RULES[rule], **({"k": 3} if "fraction" in rule else {})}  # a fraction counts all labels
    for seed in range(8):
        X, Y = make_labels(seed, constant=False)
        plain = NetworkRule(**options).learn(X, Y)
        more = NetworkRule(**options).learn(X, np.column_stack([Y, np.full(len(Y), value)]))
        assert more.parents[:-1] == plain.parents
        assert more.parents[-1] == ()
        assert [a for a in more.order if a < Y.shape[1]] == list(plain.order)


def test_k_goes_from_no_parents_to_all_preceding():
    for seed in range(8):
        X, Y = make_labels(seed, constant=False)
        order = NetworkRule("none").learn(X, Y).order
        assert NetworkRule(k=0).learn(X, Y) == LabelNetwork.independent(order)
        for all_of_them in (Y.shape[1] - 1, Y.shape[1], 10**6, 1.0):
            assert NetworkRule(k=all_of_them).learn(X, Y) == LabelNetwork.chain(order)
        assert NetworkRule("preceding").learn(X, Y) == LabelNetwork.chain(order)


def test_fewer_parents_are_the_first_of_more():
    X, Y = make_labels(1, n_labels=9)
    few, more = (NetworkRule(k=k, order="given").learn(X, Y) for k in (2, 4))
    for label in range(9):
        if len(more.parents[label]) == 4 and label > 4:
            assert few.parents[label] == more.parents[label][:2]


@pytest.mark.parametrize("options", [{"order": "random", "parents": "none"}, {"parents": "tree"}], ids=str)
def test_the_seed_decides(options):
    _, Y = make_labels(0, n_labels=12, constant=False)
    orders = [NetworkRule(random_state=seed, **options).learn(None, Y).order for seed in (0, 0, 1, 2, 3)]
    assert orders[0] == orders[1]
    assert len(set(orders)) > 2


def test_the_most_frequent_label_comes_first():
    Y = np.array([[0, 1, 1, 0], [0, 1, 0, 0], [1, 1, 1, 0]])
    assert NetworkRule("none", order="frequency").learn(None, Y).order == (1, 2, 0, 3)
    assert NetworkRule("none", order="frequency").learn(None, Y, sample_weight=[1, 1, 9]).order == (1, 2, 0, 3)
    assert NetworkRule("none", order="frequency").learn(None, Y[:, ::-1], sample_weight=[0, 0, 1]).order == (1, 2, 3, 0)


@rules
def test_whole_weights_are_repeated_rows(rule):
    for seed in range(5):
        X, Y = make_labels(seed, n_rows=120)
        weights = np.random.default_rng(seed).integers(0, 4, size=len(X))
        rows = np.repeat(np.arange(len(X)), weights)
        options = {**RULES[rule], **({"root": int(np.flatnonzero(Y[rows].std(axis=0))[0])} if "tree" in rule else {})}
        assert NetworkRule(**options).learn(X, Y, sample_weight=weights) == NetworkRule(**options).learn(X[rows], Y[rows])


def test_classes_and_names_are_labels_too():
    rng = np.random.default_rng(0)
    first = rng.integers(3, size=200)
    Y = np.column_stack([first, (first + (rng.random(200) < 0.1)) % 3, rng.integers(4, size=200)])
    assert NetworkRule(k=1, order="given").learn(None, Y).parents[1] == (0,)
    named = np.array(["low", "mid", "top"])[Y[:, :2]]
    assert NetworkRule(k=1, order="given").learn(None, named).parents == ((), (0,))


def test_names_of_labels_are_kept():
    X, Y = make_labels(0, n_labels=2, constant=False)
    network = NetworkRule("preceding", order="given").learn(X, pd.DataFrame(Y, columns=["calm", "sad"]))
    assert str(network).splitlines()[1:] == ["    1  calm   -", "    2  sad    calm"]


REFUSED = {
    "no such parents": ({"parents": "all"}, "parents must be 'kcc' or 'tree'"),
    "no such order": ({"order": "alphabet"}, "order must be 'sun-kudo' or"),
    "no such rounding": ({"rounding": "down"}, "rounding must be 'up' or 'nearest'"),
    "a negative k": ({"k": -1}, "k must be a whole number of parents from 0"),
    "too large a fraction": ({"k": 1.5}, "k must be a whole number"),
    "an order of others": ({"order": [0, 1, 2]}, "order has 3 entries for 6 labels"),
    "no such root": ({"parents": "tree", "root": 6}, "root must be a label from 0 to 5"),
    "a constant root": ({"parents": "tree", "root": 5}, "label 5 has the same value in every row"),
    "no seed": ({"order": "random", "random_state": "x"}, "random_state must be None"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_invalid_rules_are_refused(kind):
    options, message = REFUSED[kind]
    X, Y = make_labels(0, constant=False)
    Y[:, 5] = 1
    with pytest.raises(InputError, match=message):
        NetworkRule(**options).learn(X, Y)


def test_features_are_required_where_they_are_needed():
    X, Y = make_labels(0)
    for options in ({}, {"order": "information"}, {"parents": "tree", "edge_weight": "given-features"}):
        with pytest.raises(InputError, match="needs the features: pass X"):
            NetworkRule(**options).learn(None, Y)
    with pytest.raises(InputError, match="needs the features: pass X"):  # components are those of X, not of its codes
        NetworkRule().learn(None, Y, codes=(X > 0).astype(int))
    with pytest.raises(InputError, match=r"not a whole number.*bin continuous columns first"):
        NetworkRule(order="information").learn(X + 0.5, Y)
    with pytest.raises(InputError, match="X has 59 rows and Y has 60"):
        NetworkRule().learn(X[:-1], Y)
