"""One small figure of every kind, the same each time.

``python -m tests.support.figure_gallery FOLDER`` draws them; with the folder ``tests/report/baseline`` that renews what
``test_pictures`` compares with. Look at them before they are committed.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np

from labelsieve import LabelNetwork, LabelwiseSieve, Sieve
from labelsieve.report import figures
from labelsieve.report.figures import critical_difference_diagram, curves
from labelsieve.report.figures.style import COLUMN, new_axes
from labelsieve.statistics import compare, stability_index
from labelsieve.stopping import CrossValidated
from labelsieve.studies.demo import demo_data

BASELINE = Path(__file__).parent / "baseline"
DPI = 60
# matplotlib brings this font along, so it is the same everywhere.
SETTINGS = {"font.family": "DejaVu Sans", "savefig.dpi": DPI, "figure.dpi": DPI, "text.hinting": "none", "svg.hashsalt": "x"}


def _fitted(criterion="cife", **how):
    data = demo_data(400)
    return data, Sieve(criterion, n_features_to_select=6, **how).fit(data.X, data.Y)


def ranking():
    data, sieve = _fitted()
    return figures.ranking(sieve, names=data.feature_names)


def ranking_of_one_term():
    data, sieve = _fitted("cmi")
    return figures.ranking(sieve, names=data.feature_names)


def explained_share():
    data, sieve = _fitted("hybrid")
    return sieve.plot(data.X, data.Y, names=data.feature_names)


def information_map():
    data, sieve = _fitted("mim")
    return sieve.plot_information(data.X, data.Y, names=data.feature_names, label_names=data.label_names)


def label_network():
    network = LabelNetwork([2, 0, 1, 3], [[2], [2, 0], [], [1, 0, 2]], ["calm", "happy", "sad", "angry"])
    return network.plot(ax=new_axes(COLUMN, 1.2))


def shared_features():
    data = demo_data(400)
    sieve = LabelwiseSieve("mim", n_features_to_select=4).fit(data.X, data.Y)
    return sieve.plot(names=data.feature_names, label_names=data.label_names)


def stability():
    rng = np.random.default_rng(0)
    masks = rng.random((20, 12)) < np.linspace(1, 0, 12) ** 2
    return stability_index(masks).plot(names=[f"feature {place}" for place in range(12)])


def stopping_curve():
    data, sieve = _fitted("cmim")
    rule = CrossValidated(max_features=12)
    return sieve.set_params(n_features_to_select=rule).fit(data.X, data.Y).stopping_.plot()


def loss_curves():
    sizes, rng = np.arange(1, 21), np.random.default_rng(0)
    values = {
        name: 0.3 * np.exp(-sizes / scale) + 0.1 + rng.normal(0, 0.02, (10, 20))
        for name, scale in (("jmi", 4), ("mim", 8), ("random", 16))
    }
    return curves(sizes, values, ylabel="Hamming loss", ax=new_axes(COLUMN, 2.2))


def _losses():
    return np.random.default_rng(0).normal(size=(12, 5)) + np.linspace(0, 2, 5)


def critical_difference():
    found = compare(_losses(), lower_is_better=True, methods=["jmi", "mrmr", "mim", "scls", "random"])
    return critical_difference_diagram(found, ax=new_axes(COLUMN, 1.3, whole=True))


PICTURES = {
    one.__name__: one
    for one in (
        ranking,
        ranking_of_one_term,
        explained_share,
        information_map,
        label_network,
        shared_features,
        stability,
        stopping_curve,
        loss_curves,
        critical_difference,
    )
}


def draw(name, path):
    """Write one figure as PNG."""
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **SETTINGS, "backend": "agg"}):
        PICTURES[name]().figure.savefig(path, metadata={"Software": None})


if __name__ == "__main__":
    matplotlib.use("Agg")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else BASELINE
    folder.mkdir(parents=True, exist_ok=True)
    for known in PICTURES:
        draw(known, folder / f"{known}.png")
