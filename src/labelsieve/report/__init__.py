from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelsieve.report.replication_report import published_report
    from labelsieve.report.report_page import Report
    from labelsieve.report.selection_report import selection_report
    from labelsieve.report.study_report import study_report

__all__ = ["Report", "published_report", "selection_report", "study_report"]

# Loaded when asked for: figures alone need none of it.
_HOMES = {"Report": "page", "published_report": "published", "selection_report": "selection", "study_report": "study"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"labelsieve.report.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'labelsieve.report' has no attribute {name!r}")
