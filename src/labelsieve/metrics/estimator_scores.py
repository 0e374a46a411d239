"""What fitted estimators answer, in the form that measures take: one column for each label."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from labelsieve.errors import InputError


def label_scores(estimator: Any, X: Any) -> Any:
    """Scores of labels: ``predict_proba`` where there is one, else ``decision_function``.

    scikit-learn's estimators of many outputs answer with a list, one table of class probabilities for each label, of which
    the column of class 1 counts; a label whose training rows all agreed has a single column, of the one class that
    ``classes_`` names.
    """
    if hasattr(estimator, "predict_proba"):
        found = estimator.predict_proba(X)
    elif hasattr(estimator, "decision_function"):
        found = estimator.decision_function(X)
    else:
        raise InputError(f"{estimator!r} has neither predict_proba nor decision_function, and this measure ranks labels.")
    if isinstance(found, list):
        tables = [np.asarray(table) for table in found]
        return np.column_stack(
            [_of_present(table, own) for table, own in zip(tables, _classes(estimator, tables), strict=True)]
        )
    return found


def for_one_label(scores: Any, Y: Any) -> Any:
    """Two columns of class probabilities for a single label are one column of scores."""
    n_labels = 1 if not sp.issparse(Y) and np.ndim(Y) == 1 else np.shape(Y)[1]
    single = n_labels == 1 and not sp.issparse(scores) and np.ndim(scores) == 2 and np.shape(scores)[1] == 2
    return np.asarray(scores)[:, 1] if single else scores


def _classes(estimator: Any, tables: list[Any]) -> list[Any]:
    """The classes of every label: those the estimator names, or absent and present where it names none."""
    classes = getattr(estimator, "classes_", None)
    if classes is not None and len(classes) == len(tables) and all(np.ndim(own) == 1 for own in classes):
        return list(classes)
    for label, table in enumerate(tables):
        if table.ndim == 2 and table.shape[1] == 1:
            raise InputError(
                f"{type(estimator).__name__}.predict_proba has one column for label {label}, and nothing says whether that is "
                "the label or its absence: give the estimator a classes_ with the classes of each label."
            )
    return [np.arange(2)] * len(tables)


def _of_present(table: Any, classes: Any) -> Any:
    if table.ndim == 1:
        return table
    present = np.flatnonzero(np.asarray(classes) == 1)
    return table[:, present[0]] if len(present) else np.zeros(len(table))
