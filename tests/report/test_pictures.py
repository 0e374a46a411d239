"""Pictures look as they did when somebody last looked at them, and can be read by everybody."""

import matplotlib
import numpy as np
import pytest
from matplotlib import image
from matplotlib.colors import to_rgb

from labelsieve.report.figures.style import COLORS, HATCHES
from tests.support import figure_gallery as gallery
from tests.support.figure_texts import assert_readable

# Root mean square of the differences of the blocks of two pictures, from 0 to 1. Other versions of matplotlib and its font
# library move text by a part of a pixel; moving a whole figure by one pixel gives 0.03 at the most, a row of a bar chart that
# is not there 0.09.
BLOCK, TOLERANCE = 6, 0.04
# Machado, Oliveira and Fernandes (2009), table 1, severity 1: what people without one kind of cone see, in linear RGB.
WITHOUT_CONES = {
    "red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def blurred(path, shape):
    """Means of blocks of pixels, over the part that both pictures have."""
    pixels = image.imread(path)[: shape[0] // BLOCK * BLOCK, : shape[1] // BLOCK * BLOCK, :3]
    return pixels.reshape(shape[0] // BLOCK, BLOCK, shape[1] // BLOCK, BLOCK, 3).mean(axis=(1, 3))


def difference(path, other):
    shapes = np.array([image.imread(each).shape[:2] for each in (path, other)])
    assert np.ptp(shapes, axis=0).max() <= BLOCK, f"the figure has another size: {shapes.tolist()}"
    one, two = (blurred(each, shapes.min(axis=0)) for each in (path, other))
    return float(np.sqrt(np.mean((one - two) ** 2)))


@pytest.mark.parametrize("name", gallery.PICTURES)
def test_picture_is_like_the_one_that_was_looked_at(name, tmp_path):
    path = tmp_path / f"{name}.png"
    gallery.draw(name, path)
    found = difference(path, gallery.BASELINE / f"{name}.png")
    assert found < TOLERANCE, f"{found:.3f}; if {path} is right: python -m tests.support.figure_gallery tests/report/baseline"


def test_a_picture_that_differs_in_one_row_is_noticed(tmp_path, monkeypatch):
    from labelsieve.studies.demo import demo_data

    monkeypatch.setattr(gallery, "demo_data", lambda n_rows: demo_data(n_rows, random_state=1))
    gallery.draw("ranking", tmp_path / "other.png")
    assert difference(tmp_path / "other.png", gallery.BASELINE / "ranking.png") > TOLERANCE


@pytest.mark.parametrize("name", gallery.PICTURES)
def test_no_text_lies_on_another_at_the_width_of_a_column(name):
    ax = gallery.PICTURES[name]()
    assert ax.figure.get_figwidth() <= 3.6
    assert_readable(ax.figure)


def lab(color):
    """CIELAB of linear RGB."""
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ np.clip(color, 0, 1)
    x, y, z = np.cbrt(xyz / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def linear(name):
    rgb = np.array(to_rgb(name))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("missing", WITHOUT_CONES)
def test_parts_of_a_score_are_told_apart_without_one_kind_of_cone(missing):
    seen = [lab(np.array(WITHOUT_CONES[missing]) @ linear(name)) for name in COLORS[:4]]
    apart = [np.linalg.norm(one - two) for place, one in enumerate(seen) for two in seen[:place]]
    assert min(apart) > 15, "a difference of 2 is just seen"  # CIE76


def test_parts_of_a_score_are_told_apart_in_gray():
    assert len(set(HATCHES[:4])) == 4


def test_the_map_of_information_gets_darker_all_the_way():
    shades = [lab(linear(color))[0] for color in matplotlib.colormaps["Blues"](np.linspace(0, 1, 64))[:, :3]]
    assert np.all(np.diff(shades) < 0)


def test_there_is_a_picture_of_every_kind():
    assert {path.stem for path in gallery.BASELINE.iterdir()} == set(gallery.PICTURES)
