import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

from labelsieve.report.figures import rank_map
from labelsieve.report.figures.style import ON_DARK
from tests.report.test_critical_difference import many
from tests.support.figure_texts import assert_readable
from tests.support.printed_tables import METHODS, TABLES

SETS = [
    "emotions",
    "scene",
    "yeast",
    "birds",
    "genbase",
    "medical",
    "enron",
    "languagelog",
    "rcv1s1",
    "bibtex",
    "corel16k1",
    "corel5k",
    "delicious",
]


def test_ranks_stand_in_their_cells_from_the_best_method_to_the_worst():
    ax = rank_map(pd.DataFrame(TABLES["exact match"], columns=METHODS, index=SETS), lower_is_better=False)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["oCC", "EoCC", "ECC", "EBCC", "LLSF", "BR", "MDDM"]
    assert [label.get_text() for label in ax.get_yticklabels()] == [*SETS, "average"]
    cells = {text.get_position(): text.get_text() for text in ax.texts}
    assert cells[0.5, 0.5] == "2.5", "oCC on emotions, tied with ECC"
    assert cells[6.5, 1.5] == "7"
    assert cells[0.5, 13.5] == "1.85"
    assert_readable(ax.figure)


@pytest.mark.parametrize("n_methods", [2, 7, 15])
def test_names_and_numbers_do_not_overlap(n_methods):
    table, names = many(n_methods)
    assert_readable(rank_map(table, lower_is_better=True, methods=names).figure)


def test_cells_too_small_for_numbers_have_none():
    table, names = many(15)
    figure, axes = pyplot.subplots(1, 2, figsize=(6.3, 3.5), layout="constrained")
    for ax in axes:
        assert rank_map(table, lower_is_better=True, methods=[name[-4:] + str(k) for k, name in enumerate(names)], ax=ax) is ax
    assert not axes[0].texts
    figure.draw_without_rendering()


def test_numbers_contrast_with_their_cells():
    table, _ = many(9)
    ax = rank_map(table, lower_is_better=True)
    figure_colors = ax.collections[0]
    figure_colors.update_scalarmappable()
    cells = figure_colors.get_facecolor().reshape(21, 9, 4)
    for text in ax.texts:
        column, row = (int(place) for place in text.get_position())
        light = cells[row, column, :3] @ [0.2126, 0.7152, 0.0722]
        assert abs(light - (text.get_color() == ON_DARK)) > 0.35


def test_matplotlib_is_imported_when_a_figure_is_drawn():
    code = "import sys, labelsieve.report.figures; assert not any(name.startswith('matplotlib') for name in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_missing_matplotlib_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'labelsieve\[plot\]'"):
        rank_map(np.eye(3), lower_is_better=True)
