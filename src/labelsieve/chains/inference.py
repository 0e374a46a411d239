"""Search for the labelsets that a chain predicts: greedy, by beam search, exact, or from samples."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelsieve.chains.links import CELLS, Chain, Link, Values, all_labelsets, labelset_numbers
from labelsieve.errors import InputError
from labelsieve.tables.types import Matrix

MAX_EXACT_LABELS = 15  # 2^15 labelsets take about a millisecond per row, without the predictions of the models

Real = NDArray[np.float64]


@dataclass(frozen=True)
class Inferred:
    """The best labelset of every row for the loss, and the probability of every label, in chain order.

    The probabilities are marginal if the inference provides them; else conditional on the predicted values of the parents.
    """

    values: Values
    probabilities: Real


def greedy(chain: Chain, X: Matrix) -> Values:
    """Predict label by label, given the predictions of the parents. Cost: one prediction for each label."""
    values = np.zeros((X.shape[0], len(chain.links)), dtype=np.uint8)
    for position, link in enumerate(chain.links):
        values[:, position] = link.present(X, values[:, link.parents])
    return values


def beam(chain: Chain, X: Matrix, width: int) -> Values:
    """Search for the most probable labelset by a beam search, which keeps the ``width`` best prefixes of every row.

    Kumar, Vembu, Menon and Elkan (2013). Width 1 is greedy, width 2^q exact. Ties go to the labelset without the earlier
    label. Cost: ``width`` predictions for each row and label, or 2^parents if that is less.
    """
    step = _rows_at_a_time(2 * min(width, 2 ** min(len(chain.links), 60)), len(chain.links))
    return np.concatenate([_beam_rows(chain, X[start : start + step], width) for start in range(0, X.shape[0], step)])


def _beam_rows(chain: Chain, X: Matrix, width: int) -> Values:
    """Extend the best prefixes of every row label by label."""
    n_rows = X.shape[0]
    sets = np.zeros((n_rows, 1, len(chain.links)), dtype=np.uint8)
    logs = np.zeros((n_rows, 1))
    for position, link in enumerate(chain.links):
        present = _given_sets(link, X, sets)
        both = logs[:, :, np.newaxis] + _logs(present)
        wide = both.reshape(n_rows, -1)
        kept = np.sort(np.argsort(-wide, axis=1, kind="stable")[:, :width], axis=1)
        logs = np.take_along_axis(wide, kept, axis=1)
        sets = np.take_along_axis(sets, (kept // 2)[:, :, np.newaxis], axis=1)
        sets[:, :, position] = kept % 2
    best: Values = sets[np.arange(n_rows), logs.argmax(axis=1)]
    return best


def exact(chain: Chain, X: Matrix, loss: str) -> Inferred:
    """Infer the best labelset from the probabilities of all labelsets (PCC: Dembczynski, Cheng and Hullermeier 2010).

    Cost: 2^parents predictions for each row and label, then 2^q sums for each row.
    """
    check_exact(len(chain.links))
    sets = all_labelsets(len(chain.links))
    step = max(1, CELLS // 8 // len(sets))
    return _concatenate([_exact_rows(chain, X[start : start + step], sets, loss) for start in range(0, X.shape[0], step)])


def _concatenate(blocks: list[Inferred]) -> Inferred:
    """Join the results of blocks of rows."""
    return Inferred(np.concatenate([b.values for b in blocks]), np.concatenate([b.probabilities for b in blocks]))


def check_exact(n_labels: int) -> None:
    """Refuse more labels than exact inference can enumerate."""
    if n_labels > MAX_EXACT_LABELS:
        raise InputError(
            f"inference='exact' enumerates 2^{n_labels} labelsets for every row, and is limited to {MAX_EXACT_LABELS} labels; "
            "use inference='beam' or 'monte-carlo'."
        )


def joint_logs(chain: Chain, X: Matrix) -> Real:
    """Compute the log-probability of all labelsets, shape ``(n_rows, 2^q)``, in the order of ``all_labelsets``."""
    sets = all_labelsets(len(chain.links))
    logs = np.zeros((X.shape[0], len(sets)))
    for position, link in enumerate(chain.links):
        both = _logs(link.table(X))
        logs += both[:, labelset_numbers(sets[:, link.parents]), sets[:, position]]
    return logs


def _exact_rows(chain: Chain, X: Matrix, sets: Values, loss: str) -> Inferred:
    logs = joint_logs(chain, X)
    joint = np.exp(logs)
    marginal = np.minimum(joint @ sets.astype(np.float64), 1.0)  # rounding may make a sum larger than 1
    if loss == "subset":
        return Inferred(sets[logs.argmax(axis=1)], marginal)
    if loss == "hamming":
        return Inferred((marginal > 0.5).astype(np.uint8), marginal)
    sizes = sets.sum(axis=1)
    of_size = np.stack([joint[:, sizes == size] @ sets[sizes == size] for size in range(sets.shape[1] + 1)], axis=2)
    return Inferred(best_for_f1(of_size, joint[:, 0]), marginal)


def monte_carlo(chain: Chain, X: Matrix, loss: str, n_samples: int, random: np.random.Generator) -> Inferred:
    """Infer the best labelset from sampled ones (Dembczynski, Waegeman and Hullermeier 2012; Read, Martino and Luengo 2014).

    For the subset loss the most probable sampled labelset. Cost: ``n_samples`` predictions for each row and label, or
    2^parents if that is less. The standard error of marginals is at most ``1 / (2 sqrt(n_samples))``.
    """
    step = _rows_at_a_time(n_samples, len(chain.links))
    return _concatenate(
        [_sample(chain, X[start : start + step], loss, n_samples, random) for start in range(0, X.shape[0], step)]
    )


def _sample(chain: Chain, X: Matrix, loss: str, n_samples: int, random: np.random.Generator) -> Inferred:
    """Draw labelsets along the chain for every row."""
    n_rows, n_links = X.shape[0], len(chain.links)
    sets = np.zeros((n_rows, n_samples, n_links), dtype=np.uint8)
    logs = np.zeros((n_rows, n_samples))
    for position, link in enumerate(chain.links):
        present = _given_sets(link, X, sets)
        drawn = random.random(present.shape) < present
        sets[:, :, position] = drawn
        both = _logs(present)
        logs += np.where(drawn, both[..., 1], both[..., 0])
    marginal = sets.mean(axis=1)
    if loss == "subset":
        return Inferred(sets[np.arange(n_rows), logs.argmax(axis=1)], marginal)
    if loss == "hamming":
        return Inferred((marginal > 0.5).astype(np.uint8), marginal)
    sizes = sets.sum(axis=2)
    of_size = np.swapaxes(sets, 1, 2).astype(np.float64) @ (sizes[:, :, np.newaxis] == np.arange(n_links + 1)) / n_samples
    return Inferred(best_for_f1(of_size, (sizes == 0).mean(axis=1)), marginal)


def _rows_at_a_time(n_sets: int, n_links: int) -> int:
    """Return the number of rows per block with which labelsets, and tables of labels and sizes, stay small."""
    return max(1, CELLS // max(1, max(n_sets, n_links) * n_links))


def _given_sets(link: Link, X: Matrix, sets: Values) -> Real:
    """Predict the probability of a label for every row and each of its labelsets, equally many for every row."""
    values = sets[:, :, link.parents]
    n_rows, n_sets = values.shape[:2]
    if 2 ** len(link.parents) <= n_sets:
        return np.take_along_axis(link.table(X), labelset_numbers(values), axis=1)
    rows = np.repeat(np.arange(n_rows), n_sets)
    return link.probability_of_pairs(X, rows, values.reshape(n_rows * n_sets, -1)).reshape(n_rows, n_sets)


def _logs(present: Real) -> Real:
    """Return log-probabilities of absence and presence, along a new last axis."""
    with np.errstate(divide="ignore"):
        return np.log(np.stack([1 - present, present], axis=-1))


def best_for_f1(of_size: Real, empty: Real) -> Values:
    r"""Find, for every row, the labelset :math:`h` with the largest :math:`E[F(y, h)]`; F is 1 for two empty sets.

    ``of_size[n, l, s]`` is the probability that row ``n`` has label ``l`` and ``s`` labels in all, ``empty[n]`` that it has
    none. With :math:`\Delta_{lk} = \sum_s P(y_l = 1, |y| = s) / (s + k)` the best set of :math:`k` labels has the largest
    :math:`\Delta_{lk}`, and its expected F is twice their sum: Dembczynski, Waegeman, Cheng and Hullermeier (2011).
    Ties go to the smaller set.

    Cost: q^3 for each row.

    >>> of_size = np.array([[[0.0, 0.4, 0.0], [0.0, 0.5, 0.0]]])
    >>> best_for_f1(of_size, np.array([0.1]))  # 2/3 of 0.9 with both, 0.5 with the second alone
    array([[1, 1]], dtype=uint8)
    """
    n_rows, n_labels, _ = of_size.shape
    sizes = np.arange(1, n_labels + 1)
    delta = of_size[:, :, 1:] @ (1.0 / (sizes[:, np.newaxis] + sizes))
    order = np.argsort(-delta, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(delta, order, axis=1), axis=1)
    expected = np.column_stack([empty, 2 * sums[:, sizes - 1, sizes - 1]])
    best = expected.argmax(axis=1)
    labelsets = np.zeros((n_rows, n_labels), dtype=np.uint8)
    for row in np.flatnonzero(best):
        labelsets[row, order[row, : best[row], best[row] - 1]] = 1
    return labelsets
