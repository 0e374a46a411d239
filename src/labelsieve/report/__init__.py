"""Results as text, figures and HTML reports.

Fitted selectors, selections and results of studies come in; plain text, notebook views, matplotlib axes and self-contained HTML
files go out. Start reading in ``selection_page``; ``html`` builds pages, ``text`` the output of the command line, and
``figures`` draws.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelsieve.report.html import Report
    from labelsieve.report.selection_page import selection_report
    from labelsieve.report.study_page import study_report

__all__ = ["Report", "selection_report", "study_report"]

# Loaded when asked for: figures alone need none of it.
_MODULES = {
    "Report": "html",
    "auto_text": "text",
    "discovery_text": "text",
    "notebook_view": "notebook",
    "selection_report": "selection_page",
    "selection_text": "text",
    "study_report": "study_page",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(f"labelsieve.report.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'labelsieve.report' has no attribute {name!r}")
