import numpy as np
import pytest
from matplotlib import pyplot

from labelsieve import InputError
from labelsieve.report.figures import curves
from labelsieve.statistics import confidence_band
from tests.report.figure_texts import assert_readable
from tests.report.test_critical_difference import LONG

K = np.arange(1, 51)


def made(names):
    random = np.random.default_rng(0)
    return {
        name: 0.3 * np.exp(-K / (8 + 4 * place)) + 0.01 * place + random.normal(0, 0.02, (30, 50))
        for place, name in enumerate(names)
    }


def test_curve_is_the_mean_and_its_band():
    values = made(["jmi"])
    ax = curves(K, values, ylabel="Hamming loss")
    assert ax.lines[0].get_ydata() == pytest.approx(values["jmi"].mean(axis=0))
    band = confidence_band(values["jmi"])
    edges = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert edges.min() == pytest.approx(band.low.min())
    assert edges.max() == pytest.approx(band.high.max())
    assert ax.get_xlabel() == "number of features"
    assert ax.get_ylabel() == "Hamming loss"


def test_wider_bands_for_splits_that_share_rows():
    narrow, wide = (
        curves(K, made(["jmi"]), test_share=share).collections[0].get_paths()[0].get_extents().height for share in (None, 0.5)
    )
    assert wide > narrow


@pytest.mark.parametrize("n_methods", [1, 4, 15])
def test_text_is_readable_and_the_legend_follows_the_right_ends(n_methods):
    values = made(LONG[:n_methods])
    ax = curves(K, values, ylabel="Hamming loss")
    assert_readable(ax.figure)
    order = sorted(values, key=lambda name: -values[name][:, -1].mean())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == order


def test_every_curve_looks_different():
    ax = curves(K, made([f"m{place}" for place in range(50)]), legend=False)
    looks = {(line.get_color(), str(line._dash_pattern), line.get_marker()) for line in ax.lines}
    assert len(looks) == 50


def test_one_repetition_has_no_band():
    ax = curves(K, {"a": np.linspace(1, 0, 50), "_b": np.linspace(1, 0, 50)[None], "$c": made(["c"])["c"]})
    assert len(ax.collections) == 1
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"a", " _b", "$c"}
    assert_readable(ax.figure)


def test_given_axes_are_used_and_share_a_legend():
    figure, axes = pyplot.subplots(1, 2, figsize=(6.3, 2.4), layout="constrained")
    for ax in axes:
        assert curves(K, made(["a", "b"]), ax=ax, legend=False) is ax
        assert ax.get_legend() is None
    assert_readable(figure)


@pytest.mark.parametrize(("x", "values"), [(K, {}), (K, {"a": [1.0, 2.0]}), ([], {"a": []}), ([[1]], {"a": [1.0]})])
def test_values_that_do_not_fit_are_refused(x, values):
    with pytest.raises(InputError):
        curves(x, values)
