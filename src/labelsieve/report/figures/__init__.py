from labelsieve.report.figures.critical_difference import critical_difference_diagram
from labelsieve.report.figures.curves import curves
from labelsieve.report.figures.label_network import label_network
from labelsieve.report.figures.rank_map import rank_map

__all__ = ["critical_difference_diagram", "curves", "label_network", "rank_map"]
