"""A selection as people see it: the table of a fitted selector as text, as HTML in a notebook, and as a data frame."""

from dataclasses import dataclass
from typing import Any

from labelsieve.plotting import report_function
from labelsieve.selection.frames import frame_of_columns
from labelsieve.selection.selection import Selection


@dataclass(frozen=True, repr=False)
class Summary:
    """The table of a selection: text where it is printed, HTML in a notebook.

    Attributes
    ----------
    selection : Selection
        The selection that is shown.
    redundant : float, optional
        The smallest similarity of the redundant features that are listed.
    confidence : dict of str to list, optional
        The table of :meth:`labelsieve.Sieve.information_confidence`.
    """

    selection: Selection
    redundant: float | None = None
    confidence: dict[str, Any] | None = None

    def to_frame(self, backend: str | None = None) -> Any:
        """The table as a data frame: see :meth:`labelsieve.Sieve.to_frame`."""
        return frame_of_columns(self.selection.table(), backend)

    def __str__(self) -> str:
        text = report_function("selection_text")
        return str(text(self.selection, redundant=self.redundant, confidence=self.confidence))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return str(report_function("notebook_view")(self.selection))
