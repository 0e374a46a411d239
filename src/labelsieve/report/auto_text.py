"""An automatic selection as text: the verdict, the comparison, and the selected features."""

from typing import Any

from labelsieve.report.plaintext import number, printable, prose, tables
from labelsieve.selectors.auto_sieve import AutoSieve
from labelsieve.selectors.selection import Selection

NOTE = (
    "* selected. Means ± standard errors over {folds} folds, which took part in the choice: they are optimistic. Features: the "
    "fewest within {tolerance} of the method's best; for the selected method, of the best of all."
)


def auto_text(auto: AutoSieve, selection: str) -> str:
    """The verdict, the comparison and the text of the selection of a fitted ``AutoSieve``."""
    n_folds = len(auto.curves_["all features"]["values"])
    errors = auto.standard_errors
    tolerance = "one standard error" if errors == 1 else f"{errors:g} standard errors"
    note = NOTE.format(folds=n_folds, tolerance=tolerance)
    left_out = [prose(f"Not evaluated: {name} ({printable(reason)}).") for name, reason in auto.not_tried_.items()]
    return "\n\n".join([prose(auto.verdict_text_), comparison_text(auto), prose(note), *left_out, selection])


def auto_document(auto: AutoSieve, selection: Selection) -> dict[str, Any]:
    """The selection as plain values, with the verdict, its estimates and the comparison under ``"auto"``."""
    names = ("verdict", "verdict_text", "method", "measure", "score", "standard_error", "all_features_score")
    found = {name: getattr(auto, f"{name}_") for name in (*names, "no_features_score", "comparison")}
    return {**selection.to_dict(), "auto": found}


def comparison_text(auto: AutoSieve) -> str:
    """The comparison as a table; methods that were not evaluated are left out."""
    found = auto.comparison_
    rows = []
    for index, name in enumerate(found["method"]):
        if found["n_features"][index] is None:
            continue
        score = f"{number(found['score'][index])} ± {number(found['standard_error'][index])}"
        best = f"{number(found['best_score'][index])} ({found['best_n_features'][index]})"
        mark = "* " if found["status"][index] == "selected" else "  "
        cells = [str(found["n_features"][index]), score, best, f"{found['seconds'][index]:.1f}"]
        rows.append([f"{mark}{printable(name)}", *cells])
    return tables(["  method", ">features", f">{auto.measure_}", ">best (at)", ">seconds"], rows)
