"""LabelNetwork: validation, printing, export and equality."""

import copy
import pickle

import numpy as np
import pytest

from labelsieve import InputError
from labelsieve.labelspace import LabelNetwork


def test_printed_as_an_aligned_table():
    network = LabelNetwork([10, *range(10)], [[10]] + [[0, 10]] * 9 + [[]])
    lines = str(network).splitlines()
    assert lines[:3] == ["order  label  parents", "    1  10     -", "    2  0      10"]
    assert lines[-1] == "   11  9      0, 10"


def test_lists_round_trip():
    lists = [[2], [2, 0], [], [1]]
    network = LabelNetwork.from_lists(lists)
    assert network.to_lists() == lists
    assert LabelNetwork.from_lists(network.to_lists(), network.order) == network
    assert network.edges == [(2, 0), (2, 1), (0, 1), (1, 3)]
    assert eval(repr(network)) == network


def test_an_order_is_found_with_parents_first_and_low_labels_first():
    assert LabelNetwork.from_lists([[3], [], [0], []]).order == (1, 3, 0, 2)


def test_equal_networks_have_the_same_parents_in_any_order():
    first, second = LabelNetwork([0, 1, 2], [[], [0], [0, 1]]), LabelNetwork(np.array([0, 1, 2]), ((), (0,), (1, 0)))
    assert first == second
    assert hash(first) == hash(second)
    assert first != LabelNetwork([0, 1, 2], [[], [0], [1]])
    assert LabelNetwork.independent([0, 1]) != LabelNetwork.independent([1, 0])
    assert first != first.to_lists()


def test_copies_are_equal():
    network = LabelNetwork([1, 0], [[1], []], names=["a", "b"])
    assert copy.deepcopy(network) == pickle.loads(pickle.dumps(network)) == network


def test_networkx_has_the_same_edges():
    networkx = pytest.importorskip("networkx")
    network = LabelNetwork([2, 0, 1], [[2], [2, 0], []], names=["calm", "happy", "sad"])
    graph = network.to_networkx()
    assert networkx.is_directed_acyclic_graph(graph)
    assert set(graph.edges) == set(network.edges)
    assert graph.nodes[0] == {"position": 1, "name": "calm"}
    assert "name" not in LabelNetwork.independent([0]).to_networkx().nodes[0]


REFUSED = {
    "a later parent": (([0, 1], [[1], []]), r"parents\[0\] holds 1, which is later in the order"),
    "itself": (([0, 1], [[0], []]), r"parents\[0\] holds 0; parents are other targets"),
    "a label twice": (([0, 0], [[], []]), "order has 2 entries for 2 labels; it lists every label once"),
    "too few": (([0], [[], []]), "order has 1 entries for 2 labels"),
    "no label": (([0, 2], [[], []]), "order holds 2; it lists the labels from 0 to 1"),
    "a truth value": (([0, True], [[], []]), "order holds True"),
    "a name too few": (([0, 1], [[], []], ["a"]), "1 names for 2 labels"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_invalid_networks_are_refused(kind):
    arguments, message = REFUSED[kind]
    with pytest.raises(InputError, match=message):
        LabelNetwork(*arguments)


def test_cycles_are_refused_with_their_labels():
    with pytest.raises(InputError, match="a cycle among the labels 0, 2, 3;"):
        LabelNetwork.from_lists([[2], [], [0], [2]])
