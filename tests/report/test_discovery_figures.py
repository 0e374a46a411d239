"""Figures of discoveries show the fitted values."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from labelsieve import InputError
from labelsieve.report.figures import discovery_map, discovery_volcano, p_value_calibration
from labelsieve.selectors import MarginalDiscoveries


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10))
    Y = (X[:, :3] + rng.normal(size=(200, 3)) > 0).astype(int)
    return MarginalDiscoveries().fit(X, Y)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_the_volcano_has_every_pair_and_the_rate(found):
    ax = found.plot_discoveries()
    others, pairs, rate = ax.get_lines()
    assert len(pairs.get_xdata()) == found.pair_support_.sum() >= 3
    assert len(others.get_xdata()) + len(pairs.get_xdata()) == 30
    assert sorted(pairs.get_ydata()) == pytest.approx(sorted(found.discoveries_["q"]))
    assert set(rate.get_ydata()) == {0.05}
    assert any("feature" in text.get_text() for text in ax.texts)


def test_the_map_has_discovered_features_and_labels(found):
    ax = found.plot_discovery_map(names=[f"f{column}" for column in range(10)], label_names=["a", "b", "c"])
    assert {label.get_text() for label in ax.get_yticklabels()} == {f"f{column}" for column in found.selected_}
    drawn = ax.collections[0].get_array()
    assert np.count_nonzero(drawn) == found.pair_support_.sum()
    nothing = MarginalDiscoveries(alpha=1e-9).fit(np.random.default_rng(1).normal(size=(50, 3)), [0, 1] * 25)
    with pytest.raises(InputError, match="nothing was discovered"):
        discovery_map(nothing)
    assert len(discovery_volcano(nothing).texts) == 0


def test_calibration_is_the_share_of_p_values_below_a_level(found):
    uniform = (np.arange(200) + 0.5) / 200
    ax = p_value_calibration({"uniform": uniform, "found": found.p_values_})
    line = ax.get_lines()[1]
    for level, below in zip(line.get_xdata(), line.get_ydata(), strict=True):
        assert below == np.mean(found.p_values_ <= level)
    with pytest.raises(InputError, match="between 0 and 1"):
        p_value_calibration([0.5, 1.5])
