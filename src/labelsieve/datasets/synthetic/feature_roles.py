"""Synthetic data with ground truth: the role of every feature."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from labelsieve.errors import InputError, one_of, whole_number

Kind = Literal["relevant", "label-specific", "exact copy", "noisy copy", "joint", "irrelevant"]
MOST_FREQUENT = 0.4  # share of rows that have the commonest label
COPY_NOISE = 0.5


@dataclass(frozen=True)
class Role:
    """The role of a feature of :class:`SyntheticData`.

    Attributes
    ----------
    kind : {"relevant", "label-specific", "exact copy", "noisy copy", "joint", "irrelevant"}
        ``"joint"`` features are informative only together with others, their partners.
    labels, partners : tuple of int
        The labels that it is informative about, and the columns of its partners.
    copy_of : int or None
        The column that a copy is redundant with.
    """

    kind: Kind
    labels: tuple[int, ...] = ()
    partners: tuple[int, ...] = ()
    copy_of: int | None = None


@dataclass(frozen=True, eq=False)
class SyntheticData:
    """Synthetic data and the roles of its features, from :func:`make_feature_roles`.

    Attributes
    ----------
    X, Y : ndarray
        Features and labels.
    feature_names, label_names : tuple of str
        Names of the columns.
    roles : tuple of Role
        The role of every feature.
    parents : tuple of tuples of int
        For every label, the labels that it depends on.
    """

    X: NDArray[np.float64]
    Y: NDArray[Any]
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    roles: tuple[Role, ...]
    parents: tuple[tuple[int, ...], ...]

    def columns(self, kind: Kind) -> list[int]:
        """Columns of features of a kind."""
        return [column for column, role in enumerate(self.roles) if role.kind == kind]


def make_feature_roles(
    n_rows: int = 1000,
    *,
    n_labels: int = 6,
    n_relevant: int = 4,
    n_label_specific: int = 0,
    n_exact_copies: int = 0,
    n_noisy_copies: int = 2,
    n_xor_pairs: int = 1,
    n_xor_triples: int = 0,
    n_irrelevant: int = 20,
    xor_lean: float = 0.5,
    label_dependence: float = 0.0,
    imbalance: float = 1.0,
    n_levels: int | None = None,
    noise: float = 0.3,
    missing: float = 0.0,
    targets: Literal["labels", "numeric"] = "labels",
    random_state: int | None = 0,
) -> SyntheticData:
    r"""Generate rows in which every feature has a known role.

    A label is on where a hidden score is large. The score of label :math:`l` adds up the standard normal features that are
    relevant to it,
    twice the product of the signs of its XOR group, ``label_dependence`` times its parent label, and noise.

    Parameters
    ----------
    n_rows, n_labels : int, default=1000 and 6
        The size of the data.
    n_relevant : int, default=4
        Features that are informative about two labels each (one, when there is only one label).
    n_label_specific : int, default=0
        Features that are informative about one label.
    n_exact_copies, n_noisy_copies : int, default=0 and 2
        Repetitions of relevant features, taken in turn; noisy ones with half a standard deviation added.
    n_xor_pairs, n_xor_triples : int, default=1 and 0
        Groups of two or three features of values 0 and 1 that are synergistic: the parity of their sum is informative about one
        label, but a smaller group of them is not.
    n_irrelevant : int, default=20
        Features that are noise.
    xor_lean : float, default=0.5
        Probability of 1 in the features of an XOR group except the first. Unless it is a half, the first feature alone is
        slightly informative, so that a forward search can find the group.
    label_dependence : float, default=0.0
        Weight of the previous label; 0 makes labels independent given the features.
    imbalance : float, default=1.0
        The ratio of the frequencies of the most frequent and the rarest label; the others form a geometric sequence.
    n_levels : int, default=None
        Cut normal features into this many equally frequent levels; None: do not.
    noise : float, default=0.3
        Standard deviation of the noise in the scores.
    missing : float, default=0.0
        Share of cells of X that are NaN, at random.
    targets : {"labels", "numeric"}, default="labels"
        0/1 labels, or the hidden scores themselves (multi-target regression).
    random_state : int or None, default=0
        Seed of the generator.

    Examples
    --------
    >>> data = make_feature_roles(200, n_irrelevant=3)
    >>> data.X.shape, data.Y.shape
    ((200, 11), (200, 6))
    >>> [data.roles[column].labels for column in data.columns("joint")]
    [(0,), (0,)]
    """
    counts = {name: value for name, value in locals().items() if name.startswith("n_") and name != "n_levels"}
    for name, value in counts.items():
        whole_number(value, name, 1 if name in ("n_rows", "n_labels") else 0, 10**9)
    one_of(targets, "targets", ("labels", "numeric"))
    if not (imbalance >= 1 and noise >= 0 and 0 <= missing < 1 and label_dependence >= 0 and 0 < xor_lean < 1):
        raise InputError(
            "imbalance must be at least 1, noise and label_dependence not negative, missing from 0 to below 1, "
            "and xor_lean between 0 and 1."
        )
    if n_exact_copies + n_noisy_copies and not n_relevant:
        raise InputError("There is no relevant feature to copy: set n_relevant, or make no copies.")
    if n_levels is not None:
        whole_number(n_levels, "n_levels", 2, 65_535)
    rng = np.random.default_rng(random_state)
    roles = [Role("relevant", tuple(sorted({k % n_labels, (k + 1) % n_labels}))) for k in range(n_relevant)]
    roles += [Role("label-specific", (k % n_labels,)) for k in range(n_label_specific)]
    columns = [rng.normal(size=n_rows) for _ in roles]
    for group, size in enumerate((2,) * n_xor_pairs + (3,) * n_xor_triples):
        members = range(len(columns), len(columns) + size)
        for member in members:
            fair = xor_lean == 0.5 or member == members[0]
            switch = rng.integers(0, 2, size=n_rows) if fair else rng.random(n_rows) < xor_lean
            columns.append(switch.astype(np.float64))
            roles.append(Role("joint", (group % n_labels,), tuple(other for other in members if other != member)))
    parents = tuple((label - 1,) if label and label_dependence > 0 else () for label in range(n_labels))
    Y = _targets(rng, columns, roles, n_labels, noise, label_dependence, imbalance, targets)
    for copy in range(n_exact_copies + n_noisy_copies):
        noisy = copy >= n_exact_copies
        origin = copy % n_relevant
        columns.append(columns[origin] + noisy * COPY_NOISE * rng.normal(size=n_rows))
        roles.append(Role("noisy copy" if noisy else "exact copy", roles[origin].labels, copy_of=origin))
    columns += [rng.normal(size=n_rows) for _ in range(n_irrelevant)]
    roles += [Role("irrelevant")] * n_irrelevant
    X, roles = _shuffled(rng, np.column_stack(columns), roles)
    if n_levels is not None:
        X = _levels(X, roles, n_levels)
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
    names = tuple(f"{role.kind.replace(' ', '-')}-{column}" for column, role in enumerate(roles))
    return SyntheticData(X, Y, names, tuple(f"label-{label}" for label in range(n_labels)), tuple(roles), parents)


def _targets(
    rng: np.random.Generator,
    columns: list[NDArray[np.float64]],
    roles: list[Role],
    n_labels: int,
    noise: float,
    label_dependence: float,
    imbalance: float,
    targets: str,
) -> NDArray[Any]:
    if not columns:
        raise InputError("No feature is informative about the labels: set relevant, label-specific or XOR features.")
    n_rows = len(columns[0])
    scores = noise * rng.normal(size=(n_rows, n_labels))
    for column, role in zip(columns, roles, strict=True):
        if role.kind != "joint":
            scores[:, list(role.labels)] += column[:, np.newaxis]
    for member, role in enumerate(roles):
        if role.kind == "joint" and member < min(role.partners):  # once for a group
            parity = sum((columns[k] for k in (member, *role.partners)), np.zeros(n_rows)) % 2
            scores[:, role.labels[0]] += 2 * (2 * parity - 1)
    shares = MOST_FREQUENT * np.geomspace(1, 1 / imbalance, n_labels)
    labels = np.zeros((n_rows, n_labels), dtype=np.uint8)
    for label in range(n_labels):
        if label:
            scores[:, label] += label_dependence * (2.0 * labels[:, label - 1] - 1)
        # Exactly the fraction that was asked for, at least one row: the rows of largest score.
        n_on = max(1, round(float(shares[label]) * n_rows))
        labels[np.argsort(-scores[:, label], kind="stable")[:n_on], label] = 1
    return scores if targets == "numeric" else labels


def _shuffled(rng: np.random.Generator, X: NDArray[np.float64], roles: list[Role]) -> tuple[NDArray[np.float64], list[Role]]:
    """Columns in random order, so that the order of columns has no information."""
    order = rng.permutation(X.shape[1])
    position = np.argsort(order)
    moved = []
    for old in order:
        role = roles[old]
        copy_of = None if role.copy_of is None else int(position[role.copy_of])
        moved.append(Role(role.kind, role.labels, tuple(sorted(int(position[k]) for k in role.partners)), copy_of))
    return X[:, order], moved


def _levels(X: NDArray[np.float64], roles: list[Role], n_levels: int) -> NDArray[np.float64]:
    """Equally frequent levels; XOR features have two already."""
    X = X.copy()
    for column, role in enumerate(roles):
        if role.kind != "joint":
            cuts = np.quantile(X[:, column], np.arange(1, n_levels) / n_levels)
            X[:, column] = np.searchsorted(cuts, X[:, column], side="right")
    return X
