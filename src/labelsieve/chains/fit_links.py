"""Learning the links of a chain: given the true values of parents, or what would be predicted of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils.parallel import Parallel, delayed

from labelsieve.chains.chain_links import Chain, Link, beside
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
    """A model for every label of the network that has two values.

    With true parents labels do not wait for each other, and ``n_jobs`` are learned at a time. With ``cv`` they do: each label
    is predicted for rows held out of its training, fold by fold, and its children learn from those predictions. ``weights``
    of the rows are above 0.
    """
    counts = np.asarray(labels.sum(axis=0, dtype=np.int64)).ravel()
    n_rows = labels.shape[0]
    fixed = {label: bool(counts[label]) for label in network.order if counts[label] in (0, n_rows)}
    chain = [label for label in network.order if label not in fixed]
    place = {label: position for position, label in enumerate(chain)}
    parents = [np.array(sorted(place[parent] for parent in network.parents[label]), dtype=np.intp) for label in chain]
    seen = [None if columns is None else columns(label) for label in chain]
    values = labels[:, chain]
    truth = [values[:, position].toarray().ravel() for position in range(len(chain))]
    with progress_bar("Learning the chain, label by label") as progress:
        if cv is None:
            models = []
            tasks = (
                delayed(_fit)(base, X, mine, values[:, above], y, weights)
                for mine, above, y in zip(seen, parents, truth, strict=True)
            )
            for model in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
                models.append(model)
                progress(len(models), len(chain))
        else:
            models = _fit_held_out(base, X, truth, parents, seen, cv, weights, n_jobs, progress)
    links = [Link(*parts) for parts in zip(chain, models, parents, seen, strict=True)]
    return Chain(links, fixed)


def _fit(base: Any, X: Any, columns: NDArray[np.intp] | None, parents: Any, y: NDArray[Any], weights: Weights) -> BinaryModel:
    nothing = columns is not None and len(columns) == 0 and parents.shape[1] == 0
    return fit_binary(base, beside(X, columns, parents), y, np.empty(0, dtype=np.intp) if nothing else None, weights)


def _fit_held_out(
    base: Any,
    X: Any,
    truth: list[Any],
    parents: list[Any],
    seen: list[Any],
    cv: int,
    weights: Weights,
    n_jobs: int | None,
    progress: Any,
) -> list[BinaryModel]:
    """One label after the other; a label of a single row is taken as it is, because there is nothing to hold out."""
    asked = set(np.concatenate(parents).tolist()) if parents else set()
    predicted = np.zeros((len(truth[0]) if truth else 0, len(truth)), dtype=np.uint8)
    params = None if weights is None else weight_arguments(base, weights)
    models = []
    for place, y in enumerate(truth):
        model = _fit(base, X, seen[place], predicted[:, parents[place]], y, weights)
        models.append(model)
        n_folds = min(cv, int(np.bincount(y, minlength=2).min()))
        if place in asked:
            if n_folds < 2 or model.constant is not None:
                predicted[:, place] = y
            else:
                inputs = beside(X, seen[place], predicted[:, parents[place]])
                folds = StratifiedKFold(n_folds)
                held_out = requesting_weights(base)
                predicted[:, place] = cross_val_predict(held_out, inputs, y, cv=folds, n_jobs=n_jobs, params=params)
        progress(place + 1, len(truth))
    return models
