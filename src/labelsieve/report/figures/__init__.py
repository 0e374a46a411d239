from labelsieve.report.figures.choice_curves import automatic_choice, stopping_curve
from labelsieve.report.figures.critical_difference import critical_difference_diagram
from labelsieve.report.figures.curves import curves
from labelsieve.report.figures.discovery_charts import discovery_map, discovery_volcano, p_value_calibration
from labelsieve.report.figures.feature_bars import information_confidence, selection_stability
from labelsieve.report.figures.information_map import information_map
from labelsieve.report.figures.network_chart import label_network
from labelsieve.report.figures.rank_map import rank_map
from labelsieve.report.figures.score_chart import ranking
from labelsieve.report.figures.shared_features import shared_features

__all__ = [
    "automatic_choice",
    "critical_difference_diagram",
    "curves",
    "discovery_map",
    "discovery_volcano",
    "information_confidence",
    "information_map",
    "label_network",
    "p_value_calibration",
    "rank_map",
    "ranking",
    "selection_stability",
    "shared_features",
    "stopping_curve",
]
