"""The tables of Pereira et al. (2015), with the columns as they are printed."""

from labelsieve.replications.replication import printed_values

_PRINTED = printed_values("mlinfogain")

# Hamming loss of BR-kNN after MLInfoGain, at 10 %, 20 %, ..., 90 % of the features, and without selection.
TABLE_1: dict[str, tuple[float, ...]] = _PRINTED["table 1"]

# The best value over the percentages, and the smallest percentage that has it, after BR, Copy, LP + InfoGain and
# MLInfoGain; and the value without selection. Example-based accuracy is inverted: 1 minus it.
TABLE_2: dict[str, dict[str, tuple[tuple[float, int], tuple[float, int], tuple[float, int], tuple[float, int], float]]]
TABLE_2 = _PRINTED["table 2"]
BEST = (22, 7, 10, 22, 8)  # the row "best values (underlined)" below it
NO_WORSE = (39, 33, 31, 41)  # the row "<= baseline score (bold)"

# How often, of 44 data sets and measures, the best percentage is no worse than no selection, after each of the four.
TABLE_3: dict[str, tuple[int, int, int, int]] = _PRINTED["table 3"]

# At 10 % of the features, with BR-kNN, after BR + InfoGain and after MLInfoGain: Hamming loss, subset 0/1 loss, example-based
# accuracy (inverted), ranking loss, and seconds for selection and classification together.
TABLE_4: dict[str, tuple[tuple[float, float, float, float, int], tuple[float, float, float, float, int]]] = _PRINTED["table 4"]
