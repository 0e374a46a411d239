import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_hex

from labelsieve import InputError
from labelsieve.report.figures import critical_difference_diagram, curves
from labelsieve.statistics import compare, confidence_band
from tests.report.test_critical_difference import LONG
from tests.support.figure_texts import assert_readable

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


def test_missing_points_are_gaps_with_one_repetition_and_with_many():
    one = np.linspace(1, 0.1, 50)
    one[[10, 20, 22, 49]] = np.nan
    many = made(["b"])["b"]
    many[3, 10] = np.nan
    ax = curves(K, {"a": one, "b": many, "c": one - 2})
    a, b, _ = ax.lines
    assert np.flatnonzero(np.isnan(a.get_ydata())).tolist() == [10, 20, 22, 49]
    assert np.flatnonzero(np.isnan(b.get_ydata())).tolist() == [10]
    assert 21 in a.get_markevery(), "no line shows a point between two gaps"
    assert np.isfinite(ax.get_ylim()).all()
    assert [text.get_text() for text in ax.get_legend().get_texts()].index("a") == 0, "by the last point that is there"
    for bad, message in ((np.full(50, np.nan), "mim has nothing to draw"), (one * np.inf, "mim has an infinite value")):
        with pytest.raises(InputError, match=message):
            curves(K, {"mim": bad})


def test_one_number_of_features_shows_its_band_and_its_number():
    ax = curves([10], {"a": [[0.1], [0.3], [0.2]]})
    (band,) = ax.collections
    assert np.ptp(band.get_segments()[0][:, 1]) > 0.4
    assert list(ax.get_xticks()) == [10]


def crossing(names):
    """Curves that leave no free place for a legend."""
    return {name: np.sin(K + place) + place for place, name in enumerate(names)}


def column_axes(height=2.2):
    return pyplot.subplots(figsize=(3.5, height), layout="constrained")[1]


@pytest.mark.parametrize("names", [["jmi", "mrmr", "mim"], LONG[:3]], ids=["short", "long"])
def test_legend_inside_a_column_lies_on_no_curve(names):
    ax = curves(K, crossing(names), ylabel="Hamming loss", ax=column_axes())
    assert_readable(ax.figure)
    box = ax.get_legend().get_window_extent()
    for line in ax.lines:
        assert not line.get_transform().transform_path(line.get_path()).intersects_bbox(box, filled=False)


def test_limits_that_were_set_stay():
    ax = column_axes()
    ax.set_ylim(-1, 4)
    assert curves(K, crossing(["a", "b", "c"]), ax=ax).get_ylim() == (-1, 4)


@pytest.mark.parametrize("height", [1.8, 4.0])
def test_legend_below_lies_below_the_name_of_the_axis(height):
    ax = curves(K, crossing([*LONG[:3], "x", "y", "z"]), ylabel="loss", legend="below", ax=column_axes(height))
    assert_readable(ax.figure)


def test_title_is_whole_where_there_is_room():
    title = "Hamming loss of all methods on yeast"
    assert curves(K, crossing(["a"]), title=title).get_title() == title
    assert "…" in curves(K, crossing(["a"]), title=title, ax=pyplot.subplots(figsize=(1.5, 2))[1]).get_title()


def test_curves_and_diagrams_can_be_seen_on_a_dark_background():
    with pyplot.style.context("dark_background"):
        ax = curves(K, made([f"m{place}" for place in range(8)]))
        diagram = critical_difference_diagram(compare(np.arange(12).reshape(4, 3), lower_is_better=True))
        background = to_hex(ax.get_facecolor())
        drawn = [to_hex(line.get_color()) for line in [*ax.lines, *diagram.lines]]
    assert background == "#000000"
    assert background not in drawn
