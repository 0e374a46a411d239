"""What fitted estimators answer, in the form that measures take: one column for each label."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from labelsieve.errors import InputError


def label_scores(estimator: Any, X: Any) -> Any:
    """Scores of labels: ``predict_proba`` where there is one, else ``decision_function``.

    scikit-learn's estimators of many outputs answer with a list, one table of class probabilities for each label, of which
    the column of class 1 counts; a label whose training rows all agreed has a single column.
    """
    if hasattr(estimator, "predict_proba"):
        found = estimator.predict_proba(X)
    elif hasattr(estimator, "decision_function"):
        found = estimator.decision_function(X)
    else:
        raise InputError(f"{estimator!r} has neither predict_proba nor decision_function, and this measure ranks labels.")
    classes = getattr(estimator, "classes_", None)
    if isinstance(found, list):
        if classes is None or len(classes) != len(found):
            classes = [np.arange(np.shape(table)[1]) for table in found]
        return np.column_stack([_of_present(np.asarray(table), own) for table, own in zip(found, classes, strict=True)])
    return found


def for_one_label(scores: Any, Y: Any) -> Any:
    """Two columns of class probabilities for a single label are one column of scores."""
    n_labels = 1 if not sp.issparse(Y) and np.ndim(Y) == 1 else np.shape(Y)[1]
    single = n_labels == 1 and not sp.issparse(scores) and np.ndim(scores) == 2 and np.shape(scores)[1] == 2
    return np.asarray(scores)[:, 1] if single else scores


def _of_present(table: Any, classes: Any) -> Any:
    if table.ndim == 1:
        return table
    present = np.flatnonzero(np.asarray(classes) == 1)
    return table[:, present[0]] if len(present) else np.zeros(len(table))
