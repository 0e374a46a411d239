"""The figure of a label network: names in chain order, an arc for each parent."""

import numpy as np
import pytest

from labelsieve import InputError, LabelNetwork
from labelsieve.report.figures import label_network


def arcs(ax):
    return [[len(collection.get_segments()), collection.get_linewidths()[0]] for collection in ax.collections]


def test_every_parent_is_an_arc_and_the_first_ones_are_strong():
    network = LabelNetwork([2, 0, 1, 3], [[2], [2, 0], [], [1, 0, 2]], ["a_$1", "b", "c", "d"])
    ax = label_network(network)
    (n_thin, thin), (n_strong, strong) = arcs(ax)
    assert (n_thin, n_strong) == (3, 3)
    assert thin < strong
    assert [text.get_text() for text in ax.get_yticklabels()] == ["c", "a_$1", "b", "d"]
    first = ax.collections[1].get_segments()[0]
    assert np.allclose(first[[0, -1]], [[0, 0], [0, 1]], atol=1e-12), "from label 2, at the top, to label 0 below it"
    ax.figure.draw_without_rendering()


def test_networks_without_parents_and_large_ones_are_drawn():
    label_network(LabelNetwork.independent(range(1))).figure.draw_without_rendering()
    ax = label_network(LabelNetwork.chain(range(200)))
    ax.figure.draw_without_rendering()
    assert not any(text.get_text() for text in ax.get_yticklabels()), "names would be too small to read"
    assert ax.figure.get_figheight() <= 9


def test_a_given_axis_is_drawn_into():
    from matplotlib import pyplot

    _, mine = pyplot.subplots()
    assert label_network(LabelNetwork.chain([1, 0]), ax=mine) is mine


def test_names_are_one_for_each_label():
    with pytest.raises(InputError, match="1 names for 2 labels"):
        label_network(LabelNetwork.chain([1, 0]), names=["only"])
