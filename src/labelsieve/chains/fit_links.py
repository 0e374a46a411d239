"""Fitting the links of a chain, with the true values of parents or with cross-validated predictions of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils.parallel import Parallel, delayed

from labelsieve.chains.chain_links import Chain, Link, link_input
from labelsieve.classifiers.binary_models import BinaryModel, fit_binary
from labelsieve.classifiers.weight_routing import Weights, requesting_weights, weight_arguments
from labelsieve.labelspace import LabelNetwork
from labelsieve.progress import progress_bar

Columns = Callable[[int], NDArray[np.intp]] | None


def fit_chain(
    base: Any,
    X: Any,
    labels: sp.csc_matrix,
    network: LabelNetwork,
    *,
    columns: Columns = None,
    cv: int | None = None,
    weights: Weights = None,
    n_jobs: int | None = None,
) -> Chain:
    """Fit a model for every label of the network that is not constant.

    With true values of the parents, ``n_jobs`` labels are fitted in parallel. With ``cv`` labels are fitted one after the
    other: each is predicted for held-out rows by cross-validation, and its children learn from those predictions. ``weights``
    of the rows are positive.
    """
    counts = np.asarray(labels.sum(axis=0, dtype=np.int64)).ravel()
    n_rows = labels.shape[0]
    fixed = {label: bool(counts[label]) for label in network.order if counts[label] in (0, n_rows)}
    chain = [label for label in network.order if label not in fixed]
    position_of = {label: position for position, label in enumerate(chain)}
    parents = [np.array(sorted(position_of[parent] for parent in network.parents[label]), dtype=np.intp) for label in chain]
    features = [None if columns is None else columns(label) for label in chain]
    values = labels[:, chain]
    truth = [values[:, position].toarray().ravel() for position in range(len(chain))]
    with progress_bar("Fitting the chain, label by label") as progress:
        if cv is None:
            models = []
            tasks = (
                delayed(_fit)(base, X, of_label, values[:, parent_positions], y, weights)
                for of_label, parent_positions, y in zip(features, parents, truth, strict=True)
            )
            for model in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
                models.append(model)
                progress(len(models), len(chain))
        else:
            models = _fit_held_out(base, X, truth, parents, features, cv, weights, n_jobs, progress)
    return Chain([Link(*fields) for fields in zip(chain, models, parents, features, strict=True)], fixed)


def _fit(base: Any, X: Any, columns: NDArray[np.intp] | None, parents: Any, y: NDArray[Any], weights: Weights) -> BinaryModel:
    no_input = columns is not None and len(columns) == 0 and parents.shape[1] == 0
    return fit_binary(base, link_input(X, columns, parents), y, np.empty(0, dtype=np.intp) if no_input else None, weights)


def _fit_held_out(
    base: Any,
    X: Any,
    truth: list[NDArray[np.uint8]],
    parents: list[NDArray[np.intp]],
    features: list[NDArray[np.intp] | None],
    cv: int,
    weights: Weights,
    n_jobs: int | None,
    progress: Callable[[int, int], object],
) -> list[BinaryModel]:
    """Fit one label after the other; a label of a single row keeps its true values, because it has no held-out row."""
    with_children = set(np.concatenate(parents).tolist()) if parents else set()
    predicted = np.zeros((len(truth[0]) if truth else 0, len(truth)), dtype=np.uint8)
    params = None if weights is None else weight_arguments(base, weights)
    models = []
    for position, y in enumerate(truth):
        model = _fit(base, X, features[position], predicted[:, parents[position]], y, weights)
        models.append(model)
        n_folds = min(cv, int(np.bincount(y, minlength=2).min()))
        if position in with_children:
            if n_folds < 2 or model.constant is not None:
                predicted[:, position] = y
            else:
                inputs = link_input(X, features[position], predicted[:, parents[position]])
                folds = StratifiedKFold(n_folds)
                estimator = requesting_weights(base)
                predicted[:, position] = cross_val_predict(estimator, inputs, y, cv=folds, n_jobs=n_jobs, params=params)
        progress(position + 1, len(truth))
    return models
