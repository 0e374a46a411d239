"""The result of a fit: a frozen value, what can be counted about it, its views, and its file.

A fitted selector and the problem it was fitted on come in; a :class:`Selection` goes out, from which text, JSON, CSV, notebook
and report are made. Start reading in ``selection.py``.
"""

from labelsieve.selection.information import Coding, RedundantFeature
from labelsieve.selection.selection import (
    COMPONENTS,
    ExplainedSummary,
    SelectedFeature,
    Selection,
    StabilitySummary,
    StoppingDecision,
    Summary,
    column_names,
    frame_of_columns,
)
from labelsieve.selection.storage import read_selection
from labelsieve.tables.problem import Names

__all__ = [
    "COMPONENTS",
    "Coding",
    "ExplainedSummary",
    "Names",
    "RedundantFeature",
    "SelectedFeature",
    "Selection",
    "StabilitySummary",
    "StoppingDecision",
    "Summary",
    "column_names",
    "frame_of_columns",
    "read_selection",
]
