"""Gains score the candidates of a search: a formula, a least-squares fit, or a combination of other gains."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError, not_negative, one_of

Real = NDArray[np.float64]
Progress = Callable[[int, int], None]
Combine = Literal["sum", "product"]


class Gain(Protocol):
    """What a greedy search needs: the scores of all features given the selected ones, and an update with the next.

    The :class:`~labelsieve.formula.plan.Scorer` of a formula is a gain, and so are
    :class:`~labelsieve.search.least_squares.LeastSquaresGain` and a :class:`CombinedGain` of several.
    """

    @property
    def name(self) -> str:
        """Name of the gain, shown in progress bars and error messages."""

    @property
    def is_ranking(self) -> bool:
        """Return True if the scores do not depend on the selected features."""

    @property
    def selects_ahead(self) -> bool:
        """Return True if the gain is a :class:`SelectingGain`."""
        return False

    @property
    def is_lazy(self) -> bool:
        """Return True if the gain is a :class:`CandidateGain`."""
        return False

    def scores(self) -> Real:
        """Score every feature, given the selected ones."""

    def components(self, feature: int) -> dict[str, float]:
        """Return the components of the last score of a feature."""

    def relevance(self) -> Real | None:
        """Return the information of every feature alone; None if the last scores are not made from it."""
        return None

    def select(self, feature: int) -> None:
        """Add a feature to the selected ones; a ranking does not depend on them."""
        return

    def report_to(self, progress: Progress | None) -> None:
        """Report progress inside a step, if it is long."""
        return


class SelectingGain(Protocol):
    """An optional capability of a gain: it finds the best features itself, without handing out the scores of all."""

    def select_best(self, n_steps: int, unavailable: Sequence[int]) -> "Sequence[tuple[int, float, dict[str, float]]]":
        """Select ``n_steps`` features; return each with its score and components. The last one is not folded in yet."""

    def last_scores(self) -> Real:
        """Return the score of every feature at the last of these steps."""


class CandidateGain(Protocol):
    """An optional capability of a gain: it evaluates only candidates that can be the best one."""

    def scores_among(self, available: NDArray[np.bool_]) -> Real:
        """Return scores of which the largest of the ``available`` features is exact, and the others are upper bounds."""


@runtime_checkable
class BoundedGain(Protocol):
    """An optional capability of a gain: a bound for what features that are not related to the targets gain."""

    def noise_level(self, alpha: float) -> float:
        """Return the level that the largest gain exceeds with probability ``alpha`` if all features are noise."""


class CombinedGain(Gain):
    r"""Several gains as one: each is divided by its maximum over the candidates, then they are added or multiplied.

    .. math:: J(f) = \sum_i w_i \frac{\max(0, J_i(f))}{\max_g J_i(g)} \quad \text{or} \quad
              \prod_i \left(\frac{\max(0, J_i(f))}{\max_g J_i(g)}\right)^{w_i}

    The maxima are over the features that can still be selected, at every step anew, so that gains of different units and
    of different decline have the same influence throughout. A gain without a positive value contributes 0. Where a gain has a
    level of noise (:class:`BoundedGain`), it is divided by that level at least, so that noise alone never gets a full share.

    Parameters
    ----------
    gains : mapping of str to Gain
        By the name of their component.
    n_features : int
    weights : sequence of float, default=None
        One for each gain; None: 1.
    combine : {"sum", "product"}, default="sum"
    unavailable : sequence of int, default=()
        Features that do not count for the maxima: excluded ones, and those that are selected when no other is left.
    alpha : float, default=1.0
        The probability of noise above its level; 1: gains are divided by their maxima, however small.

    Examples
    --------
    >>> from labelsieve.search.labelwise import KnownScores
    >>> gains = {"a": KnownScores(np.array([4.0, 2.0, 0.0])), "b": KnownScores(np.array([1.0, 9.0, 10.0]))}
    >>> combined = CombinedGain(gains, 3)
    >>> combined.scores()
    array([1.1, 1.4, 1. ])
    >>> combined.select(1)
    >>> CombinedGain(gains, 3, combine="product").scores()
    array([0.1 , 0.45, 0.  ])
    """

    def __init__(
        self,
        gains: Mapping[str, Gain],
        n_features: int,
        weights: Sequence[float] | None = None,
        *,
        combine: Combine = "sum",
        unavailable: Sequence[int] | NDArray[np.intp] = (),
        alpha: float = 1.0,
    ) -> None:
        one_of(combine, "combine", ("sum", "product"))
        weights = [1.0] * len(gains) if weights is None else list(weights)
        if len(weights) != len(gains):
            raise InputError(f"weights has {len(weights)} numbers; one for each of the {len(gains)} gains is needed.")
        self._weights = [not_negative(weight, "weights") for weight in weights]
        if not any(self._weights):
            raise InputError("weights are all 0; at least one gain must count.")
        self._gains, self._combine, self._alpha = dict(gains), combine, alpha
        self._available = np.ones(n_features, dtype=bool)
        self._available[np.asarray(unavailable, dtype=np.intp)] = False
        self._parts: list[Real] = []

    @property
    def name(self) -> str:
        """Names of the combined gains, for progress bars and error messages."""
        return " and ".join(self._gains)

    @property
    def is_ranking(self) -> bool:
        """A combination is never a ranking: its maxima depend on the selected features."""
        return False

    def scores(self) -> Real:
        """Combine the gains of every feature, each relative to its maximum, into one score."""
        self._parts = []
        for gain, weight in zip(self._gains.values(), self._weights, strict=True):
            scores = gain.scores()
            largest = scores.max(where=self._available, initial=0.0)
            if isinstance(gain, BoundedGain):
                largest = max(largest, gain.noise_level(self._alpha))
            share = np.maximum(scores, 0.0) / largest if largest > 0 else np.zeros(len(scores))
            self._parts.append(weight * share if self._combine == "sum" else share**weight)
        total: Real = np.sum(self._parts, axis=0) if self._combine == "sum" else np.prod(self._parts, axis=0)
        return total

    def components(self, feature: int) -> dict[str, float]:
        """Return the summands or factors of a feature's last score, by the names of the gains."""
        return {name: float(part[feature]) for name, part in zip(self._gains, self._parts, strict=True)}

    def relevance(self) -> Real | None:
        """Relevance of every feature, from the first gain that has one."""
        return next((known for gain in self._gains.values() if (known := gain.relevance()) is not None), None)

    def select(self, feature: int) -> None:
        """Add a feature to the selected ones, in every gain."""
        self._available[feature] = False
        for gain in self._gains.values():
            gain.select(feature)

    def report_to(self, progress: Progress | None) -> None:
        """Report progress inside a step, where a gain does."""
        for gain in self._gains.values():
            gain.report_to(progress)
