"""From the links of a chain to label sets: greedily, by beam search, exactly, or from samples."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelsieve.chains.chain_links import CELLS, Chain, Link, Values, all_sets, set_numbers
from labelsieve.chains.f_measure import best_for_f
from labelsieve.errors import InputError

MOST_LABELS = 15  # 2^15 label sets for every row take about a millisecond each once the models have answered

Real = NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """By place: the best label set of every row for the loss, and the probability of every label.

    The probabilities are marginal ones where the inference knows them; else given the predicted values of the parents.
    """

    values: Values
    probabilities: Real


def greedy(chain: Chain, X: Any) -> Values:
    """Each label as its model predicts, given the predictions of its parents. Cost: one prediction for each label."""
    values = np.zeros((X.shape[0], len(chain.links)), dtype=np.uint8)
    for place, link in enumerate(chain.links):
        values[:, place] = link.present(X, values[:, link.parents])
    return values


def beam(chain: Chain, X: Any, width: int) -> Values:
    """The most probable label set that a search finds which keeps the ``width`` best beginnings of every row.

    Kumar, Vembu, Menon and Elkan (2013). Width 1 is greedy, width 2^q exact. Ties go to the set that lacks the earlier label.
    Cost: ``width`` predictions for each row and label, or 2^parents where that is less.
    """
    step = _rows_at_a_time(2 * min(width, 2 ** min(len(chain.links), 60)), len(chain.links))
    return np.concatenate([_beam_rows(chain, X[start : start + step], width) for start in range(0, X.shape[0], step)])


def _beam_rows(chain: Chain, X: Any, width: int) -> Values:
    n_rows = X.shape[0]
    sets = np.zeros((n_rows, 1, len(chain.links)), dtype=np.uint8)
    logs = np.zeros((n_rows, 1))
    for place, link in enumerate(chain.links):
        present = _given_sets(link, X, sets)
        both = logs[:, :, np.newaxis] + _logs(present)
        wide = both.reshape(n_rows, -1)
        kept = np.sort(np.argsort(-wide, axis=1, kind="stable")[:, :width], axis=1)
        logs = np.take_along_axis(wide, kept, axis=1)
        sets = np.take_along_axis(sets, (kept // 2)[:, :, np.newaxis], axis=1)
        sets[:, :, place] = kept % 2
    best: Values = sets[np.arange(n_rows), logs.argmax(axis=1)]
    return best


def exact(chain: Chain, X: Any, loss: str) -> Answer:
    """From the probabilities of all label sets (PCC: Dembczynski, Cheng and Hullermeier 2010).

    Cost: 2^parents predictions for each row and label, then 2^q sums for each row.
    """
    check_exact(len(chain.links))
    sets = all_sets(len(chain.links))
    step = max(1, CELLS // 8 // len(sets))
    found = [_exact_rows(chain, X[start : start + step], sets, loss) for start in range(0, X.shape[0], step)]
    return Answer(np.concatenate([a.values for a in found]), np.concatenate([a.probabilities for a in found]))


def check_exact(n_labels: int) -> None:
    """Refuse what would take too long."""
    if n_labels > MOST_LABELS:
        raise InputError(
            f"inference='exact' looks at 2^{n_labels} label sets for every row, and stops at {MOST_LABELS} labels; use "
            "inference='beam' or 'monte-carlo'."
        )


def joint_logs(chain: Chain, X: Any) -> Real:
    """Log-probability of all label sets: shape ``(n_rows, 2^q)``, columns as in ``all_sets``, by place."""
    sets = all_sets(len(chain.links))
    logs = np.zeros((X.shape[0], len(sets)))
    for place, link in enumerate(chain.links):
        both = _logs(link.table(X))
        logs += both[:, set_numbers(sets[:, link.parents]), sets[:, place]]
    return logs


def _exact_rows(chain: Chain, X: Any, sets: Values, loss: str) -> Answer:
    logs = joint_logs(chain, X)
    joint = np.exp(logs)
    marginal = np.minimum(joint @ sets.astype(np.float64), 1.0)  # sums of rounded numbers may reach a little beyond
    if loss == "subset":
        return Answer(sets[logs.argmax(axis=1)], marginal)
    if loss == "hamming":
        return Answer((marginal > 0.5).astype(np.uint8), marginal)
    sizes = sets.sum(axis=1)
    of_size = np.stack([joint[:, sizes == size] @ sets[sizes == size] for size in range(sets.shape[1] + 1)], axis=2)
    return Answer(best_for_f(of_size, joint[:, 0]), marginal)


def monte_carlo(chain: Chain, X: Any, loss: str, n_samples: int, random: np.random.Generator) -> Answer:
    """From label sets drawn by the chain (Dembczynski, Waegeman and Hullermeier 2012; Read, Martino and Luengo 2014).

    For the subset loss the most probable of the sets drawn. Cost: ``n_samples`` predictions for each row and label, or
    2^parents where that is less. The error of marginals falls as ``1 / (2 sqrt(n_samples))``.
    """
    step = _rows_at_a_time(n_samples, len(chain.links))
    found = [_sample(chain, X[start : start + step], loss, n_samples, random) for start in range(0, X.shape[0], step)]
    return Answer(np.concatenate([a.values for a in found]), np.concatenate([a.probabilities for a in found]))


def _sample(chain: Chain, X: Any, loss: str, n_samples: int, random: np.random.Generator) -> Answer:
    n_rows, n_places = X.shape[0], len(chain.links)
    sets = np.zeros((n_rows, n_samples, n_places), dtype=np.uint8)
    logs = np.zeros((n_rows, n_samples))
    for place, link in enumerate(chain.links):
        present = _given_sets(link, X, sets)
        drawn = random.random(present.shape) < present
        sets[:, :, place] = drawn
        both = _logs(present)
        logs += np.where(drawn, both[..., 1], both[..., 0])
    marginal = sets.mean(axis=1)
    if loss == "subset":
        return Answer(sets[np.arange(n_rows), logs.argmax(axis=1)], marginal)
    if loss == "hamming":
        return Answer((marginal > 0.5).astype(np.uint8), marginal)
    sizes = sets.sum(axis=2)
    of_size = np.swapaxes(sets, 1, 2).astype(np.float64) @ (sizes[:, :, np.newaxis] == np.arange(n_places + 1)) / n_samples
    return Answer(best_for_f(of_size, (sizes == 0).mean(axis=1)), marginal)


def _rows_at_a_time(n_sets: int, n_places: int) -> int:
    """So that the sets of the rows, and tables of labels and sizes, stay small."""
    return max(1, CELLS // max(1, max(n_sets, n_places) * n_places))


def _given_sets(link: Link, X: Any, sets: Values) -> Real:
    """Probability of a label for every row and each of its label sets, of which there are as many for every row."""
    values = sets[:, :, link.parents]
    n_rows, n_sets = values.shape[:2]
    if 2 ** len(link.parents) <= n_sets:
        return np.take_along_axis(link.table(X), set_numbers(values), axis=1)
    rows = np.repeat(np.arange(n_rows), n_sets)
    return link.probability_of_pairs(X, rows, values.reshape(n_rows * n_sets, -1)).reshape(n_rows, n_sets)


def _logs(present: Real) -> Real:
    """Log-probability of absent and present, along a new last axis."""
    with np.errstate(divide="ignore"):
        return np.log(np.stack([1 - present, present], axis=-1))
