"""Made-up data of which the right answer is known: what a criterion should find, and what it should leave."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import whole_number

Role = Literal["relevant", "redundant", "xor", "noise"]

N_RELEVANT = 4
N_NOISE = 10
REDRAWN = 0.2  # share of a copy that is drawn anew; half of that comes out as it was
# Weight of the second relevant feature in a label. The outcome hangs on it: with 0.5, two causes of one label explain each
# other away so strongly that CIFE, D2F and PMU mostly take copies before the xor pair. 0.25 is where, over a dozen seeds, each
# criterion did much the same thing every time; it was picked for that, after looking.
NEIGHBOR = 0.25
BLUR = 0.3  # standard deviation of what is added before a label is decided
FLIPPED = 0.05  # share of the xor label that is wrong
LEAN = 0.65  # how often the second switch is on

_KINDS: tuple[tuple[str, Role, int], ...] = (
    ("rel", "relevant", N_RELEVANT),
    ("copy", "redundant", N_RELEVANT),
    ("xor", "xor", 2),
    ("noise", "noise", N_NOISE),
)


@dataclass(frozen=True, eq=False)
class KnownAnswer:
    """Features, labels, and the role of every feature.

    Attributes
    ----------
    X : ndarray of float, shape (n_rows, n_features)
        Each feature 0 or 1.
    Y : ndarray of uint8, shape (n_rows, n_labels)
        Each label 0 or 1.
    feature_names, label_names : tuple of str
    roles : tuple of {"relevant", "redundant", "xor", "noise"}
        Of every feature. Those to choose are the relevant ones and the xor pair.
    """

    X: NDArray[np.float64]
    Y: NDArray[np.uint8]
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    roles: tuple[Role, ...]

    def columns(self, role: Role) -> tuple[int, ...]:
        """The features of this role."""
        return tuple(column for column, own in enumerate(self.roles) if own == role)

    @property
    def answer(self) -> tuple[int, ...]:
        """The features to choose: they tell all there is to know, and none of them repeats another."""
        return self.columns("relevant") + self.columns("xor")


def make_known_answer(n_rows: int = 2000, random_state: int | np.random.Generator | None = 0) -> KnownAnswer:
    r"""Make data in which features of four kinds are known apart.

    ``rel1`` to ``rel4``
        are relevant: label *i* is on when :math:`rel_i + rel_{i+1} / 4`, and some blur, is more than half of what it can be.
    ``copy1`` to ``copy4``
        are redundant: the relevant ones, with a fifth of the values drawn anew. Each is a good feature, and tells nothing
        beside its original.
    ``xor1``, ``xor2``
        are two switches, useful only together: the last label is on when they differ, but for one row in twenty. The second
        switch is on more often than off, so the first one by itself hints at the label; the second by itself does not. A
        search that takes one feature at a time needs that hint: without it nobody can tell a switch from noise.
    ``noise1`` to ``noise10``
        say nothing about any label.

    All features are 0 or 1, so that no criterion prefers one for its number of levels, and columns come in random order, so
    that ties favor nobody.

    Parameters
    ----------
    n_rows : int
    random_state : int, Generator or None
        The same number gives the same data.

    Returns
    -------
    KnownAnswer

    Examples
    --------
    >>> data = make_known_answer(n_rows=500, random_state=0)
    >>> data.X.shape, data.Y.shape
    ((500, 20), (500, 5))
    >>> sorted(data.feature_names[column] for column in data.answer)
    ['rel1', 'rel2', 'rel3', 'rel4', 'xor1', 'xor2']
    """
    n_rows = whole_number(n_rows, "n_rows", 2, 10_000_000)
    rng = np.random.default_rng(random_state)
    shape = (n_rows, N_RELEVANT)
    relevant = rng.integers(2, size=shape)
    copies = np.where(rng.random(shape) < REDRAWN, rng.integers(2, size=shape), relevant)
    first, second = rng.random(n_rows) < 0.5, rng.random(n_rows) < LEAN
    noise = rng.integers(2, size=(n_rows, N_NOISE))

    signal = relevant + NEIGHBOR * np.roll(relevant, -1, axis=1) + rng.normal(scale=BLUR, size=shape)
    differ = first ^ second ^ (rng.random(n_rows) < FLIPPED)

    names = [f"{kind}{i + 1}" for kind, _, many in _KINDS for i in range(many)]
    roles = [role for _, role, many in _KINDS for _ in range(many)]
    order = rng.permutation(len(names))
    return KnownAnswer(
        X=np.column_stack([relevant, copies, first, second, noise])[:, order].astype(np.float64),
        Y=np.column_stack([signal > (1 + NEIGHBOR) / 2, differ]).astype(np.uint8),
        feature_names=tuple(names[column] for column in order),
        label_names=(*(f"label{i + 1}" for i in range(N_RELEVANT)), "differ"),
        roles=tuple(roles[column] for column in order),
    )
