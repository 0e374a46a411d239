"""Predictions of fitted estimators in the form that measures need: one column for each label."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from labelsieve.errors import InputError


def label_scores(estimator: Any, X: Any) -> Any:
    """Scores of labels: ``predict_proba`` if the estimator has it, else ``decision_function``.

    scikit-learn's multi-output estimators return a list with the class probabilities of each label, of which the column of
    class 1 is used; a constant label of the training rows has a single column, of the only class in ``classes_``.
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
            [_of_present(table, classes) for table, classes in zip(tables, _classes(estimator, tables), strict=True)]
        )
    return found


def for_one_label(scores: Any, Y: Any) -> Any:
    """The scores of a single label from its two columns of class probabilities."""
    n_labels = 1 if not sp.issparse(Y) and np.ndim(Y) == 1 else np.shape(Y)[1]
    single = n_labels == 1 and not sp.issparse(scores) and np.ndim(scores) == 2 and np.shape(scores)[1] == 2
    return np.asarray(scores)[:, 1] if single else scores


def _classes(estimator: Any, tables: list[Any]) -> list[Any]:
    """The classes of every label: those of ``classes_``, or absent and present without that attribute."""
    classes = getattr(estimator, "classes_", None)
    if classes is not None and len(classes) == len(tables) and all(np.ndim(of_label) == 1 for of_label in classes):
        return list(classes)
    for label, table in enumerate(tables):
        if table.ndim == 2 and table.shape[1] == 1:
            raise InputError(
                f"{type(estimator).__name__}.predict_proba has one column for label {label}, which may be the label or its "
                "absence: give the estimator a classes_ attribute with the classes of each label."
            )
    return [np.arange(2)] * len(tables)


def _of_present(table: Any, classes: Any) -> Any:
    if table.ndim == 1:
        return table
    present = np.flatnonzero(np.asarray(classes) == 1)
    return table[:, present[0]] if len(present) else np.zeros(len(table))
