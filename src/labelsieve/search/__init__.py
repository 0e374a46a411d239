"""Greedy search: gains that score all candidates come in, selected columns with their scores go out.

Start reading in ``greedy.py``, then ``gains.py``: a :class:`Gain` comes from a formula, from a least-squares fit
(``least_squares.py``) or from a combination of gains. ``many_labels`` has gains for very many labels.
"""

from labelsieve.search.gains import CandidateGain, CombinedGain, Gain, is_batched, make_lazy_gain
from labelsieve.search.greedy import GreedySearch
from labelsieve.search.labelwise import (
    KnownScores,
    join_labels,
    joined_scores,
    sampling_error,
    search_each,
    targets_per_block,
    together,
)
from labelsieve.search.least_squares import LeastSquaresGain
from labelsieve.search.many_labels.listed import Lists
from labelsieve.search.quadratic_program import QuadraticProgram

__all__ = [
    "CandidateGain",
    "CombinedGain",
    "Gain",
    "GreedySearch",
    "KnownScores",
    "LeastSquaresGain",
    "Lists",
    "QuadraticProgram",
    "is_batched",
    "join_labels",
    "joined_scores",
    "make_lazy_gain",
    "sampling_error",
    "search_each",
    "targets_per_block",
    "together",
]
