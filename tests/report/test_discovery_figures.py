"""Figures of discoveries show the fitted values."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from labelsieve import InputError, Sieve
from labelsieve.discoveries import information_intervals, information_ranks
from labelsieve.report import selection_report
from labelsieve.report.figures import discovery_map, discovery_volcano, p_value_calibration
from labelsieve.selectors import ConditionalDiscoveries, MarginalDiscoveries
from labelsieve.stopping import FDR
from tests.support.figure_texts import assert_readable


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10))
    return X, (X[:, :3] + rng.normal(size=(200, 3)) > 0).astype(int)


@pytest.fixture(scope="module")
def found():
    return MarginalDiscoveries().fit(*table())


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
    marked = {(int(y), int(x)) for x, y in ax.collections[1].get_offsets()}
    assert marked == {(int(y), int(x)) for y, x in np.argwhere(np.asarray(drawn).reshape(len(ax.get_yticklabels()), -1) > 0)}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["discovered pair"]
    assert_readable(ax.figure)
    nothing = MarginalDiscoveries(alpha=1e-9).fit(np.random.default_rng(1).normal(size=(50, 3)), [0, 1] * 25)
    with pytest.raises(InputError, match="nothing was discovered"):
        discovery_map(nothing)
    assert len(discovery_volcano(nothing).texts) == 0


def test_figures_of_conditional_discoveries_show_features():
    X, Y = table()
    found = ConditionalDiscoveries(alpha=0.4, n_repeats=1).fit(X, Y)
    others, features, _ = found.plot_discoveries().get_lines()
    assert sorted(features.get_ydata()) == pytest.approx(sorted(found.q_values_[found.selected_]))
    assert len(features.get_xdata()) + len(others.get_xdata()) == 10
    assert found.plot_discovery_map().collections[0].get_array().size == 3 * len(found.selected_) > 0


def test_calibration_is_the_share_of_p_values_below_a_level(found):
    uniform = (np.arange(200) + 0.5) / 200
    ax = p_value_calibration({"uniform": uniform, "found": found.p_values_})
    line = ax.get_lines()[1]
    for level, below in zip(line.get_xdata(), line.get_ydata(), strict=True):
        assert below == np.mean(found.p_values_ <= level)
    with pytest.raises(InputError, match="between 0 and 1"):
        p_value_calibration([0.5, 1.5])


def test_confidence_of_the_selected_features_is_that_of_their_codes():
    X, Y = table()
    codes = (X > 0).astype(int)
    sieve = Sieve("mim", n_features_to_select=FDR(0.05), discretizer=None).fit(codes, Y)
    shown = sieve.information_confidence(codes, Y, backend="dict")
    columns = sieve.selected_
    expected = information_intervals(codes[:, columns], Y, confidence=1 - 0.05 / Y.shape[1])  # of the best of the labels
    ranks = information_ranks(codes[:, columns], Y)
    own = np.arange(len(columns)), expected.estimate.argmax(axis=1)
    assert shown["label"] == [f"label {label}" for label in own[1]]
    for name in ("lower", "upper"):
        np.testing.assert_allclose(shown[name], getattr(expected, name)[own])
    np.testing.assert_array_equal(np.column_stack([shown["first_rank"], shown["last_rank"]]), ranks)
    np.testing.assert_allclose(shown["q"], sieve.stopping_.q_values_[columns])
    ax = sieve.plot_confidence(codes, Y, n_shown=2)
    assert len(ax.get_yticklabels()) == 2
    assert "Confidence (95 %)" in str(sieve.summary(codes, Y, confidence=0.95))
    with pytest.raises(InputError, match="needs X and y"):
        sieve.summary(confidence=0.95)
    nothing = Sieve("mim", n_features_to_select=FDR(1e-9)).fit(codes[:, 5:], Y)
    with pytest.raises(InputError, match="selected nothing"):
        nothing.information_confidence(codes[:, 5:], Y)


def test_the_report_of_discoveries_has_confidence_limits_ranks_and_q_values(found):
    X, Y = table()
    sections = {section.title: section.body for section in selection_report(found, X, Y, redundant=None).sections}
    limits = sections["Details"].partition("<summary>Confidence limits of information</summary>")[2]
    assert all(f'id="figure-{name}"' in limits for name in ("confidence", "volcano", "discoveries"))
    assert limits.count('<th scope="row">') == len(found.selected_)
    assert "Mogstad" in sections["Methods"]
    assert "Confidence limits" not in selection_report(found, X, Y, redundant=None, confidence=None).html()
