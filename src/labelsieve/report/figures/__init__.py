"""Figures for papers and reports, drawn with matplotlib, which is loaded when the first one is drawn.

Fitted selectors, results of studies or arrays come in, matplotlib axes go out. Each module draws one kind of result; ``style``
has the sizes, fonts and color-blind safe colors that all of them share.
"""

from labelsieve.report.figures.curves import automatic_choice, curves, stopping_curve
from labelsieve.report.figures.discoveries import discovery_map, discovery_volcano, information_map, p_value_calibration
from labelsieve.report.figures.explained import explained_share
from labelsieve.report.figures.features import (
    information_confidence,
    label_network,
    ranking,
    selection_stability,
    shared_features,
)
from labelsieve.report.figures.ranks import critical_difference_diagram

__all__ = [
    "automatic_choice",
    "critical_difference_diagram",
    "curves",
    "discovery_map",
    "discovery_volcano",
    "explained_share",
    "information_confidence",
    "information_map",
    "label_network",
    "p_value_calibration",
    "ranking",
    "selection_stability",
    "shared_features",
    "stopping_curve",
]
