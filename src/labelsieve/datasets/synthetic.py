"""Synthetic data with known structure: features with roles, and sparse rows with very many labels."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.errors import InputError, one_of, unknown_name, whole_number

Kind = Literal["relevant", "label-specific", "exact copy", "noisy copy", "joint", "irrelevant"]
COMMONEST_LABEL = 0.4  # share of rows that have the commonest label
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
        """List the columns of features of a kind."""
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
    relevant to it, twice the product of the signs of its XOR group, ``label_dependence`` times its parent label, and noise.

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
    shares = COMMONEST_LABEL * np.geomspace(1, 1 / imbalance, n_labels)
    labels = np.zeros((n_rows, n_labels), dtype=np.uint8)
    for label in range(n_labels):
        if label:
            scores[:, label] += label_dependence * (2.0 * labels[:, label - 1] - 1)
        # Exactly the fraction that was asked for, at least one row: the rows of largest score.
        n_on = max(1, round(float(shares[label]) * n_rows))
        labels[np.argsort(-scores[:, label], kind="stable")[:n_on], label] = 1
    return scores if targets == "numeric" else labels


def _shuffled(rng: np.random.Generator, X: NDArray[np.float64], roles: list[Role]) -> tuple[NDArray[np.float64], list[Role]]:
    """Shuffle the columns, so that their order has no information."""
    order = rng.permutation(X.shape[1])
    position = np.argsort(order)
    moved = []
    for old in order:
        role = roles[old]
        copy_of = None if role.copy_of is None else int(position[role.copy_of])
        moved.append(Role(role.kind, role.labels, tuple(sorted(int(position[k]) for k in role.partners)), copy_of))
    return X[:, order], moved


def _levels(X: NDArray[np.float64], roles: list[Role], n_levels: int) -> NDArray[np.float64]:
    """Cut features into equally frequent levels; XOR features have two already."""
    X = X.copy()
    for column, role in enumerate(roles):
        if role.kind != "joint":
            cuts = np.quantile(X[:, column], np.arange(1, n_levels) / n_levels)
            X[:, column] = np.searchsorted(cuts, X[:, column], side="right")
    return X


BLOCK = 1024  # rows that share a random generator: data do not depend on how many rows are asked for at a time
ZIPF_OFFSET = 10  # word frequencies fall as 1 / (rank + 10), as in natural text
LABELS_PER_TOPIC = 100
LABEL_OFFSET = 2  # label frequencies of a topic fall as 1 / (rank + 2): a long tail of labels with few rows
TOPICAL = 0.95  # fraction of the words that is drawn from those of the topic
LABEL_WORDS, SPECIFIC = 20, 0.1  # words of a label among those of its topic, and their share


class Size(NamedTuple):
    """A data set of the repository, and settings with which as many words, labels and non-empty tables are generated.

    ``words`` and ``labels`` are means of a row before repeated ones are merged. The fewer ``topic_words``, the fewer different
    words occur with a label.
    """

    n_rows: int
    n_features: int
    n_labels: int
    words: float
    labels: float
    topic_words: int


SIZES: Mapping[str, Size] = {
    "eurlex-4k": Size(15_449, 186_104, 3_956, 378.0, 5.83, 1950),
    "wiki10-31k": Size(14_146, 101_938, 30_938, 1085.0, 25.9, 3850),
    "amazoncat-13k": Size(1_186_239, 203_882, 13_330, 80.0, 5.47, 1248),
    "amazon-670k": Size(490_449, 135_909, 670_091, 84.0, 6.08, 2281),
    "wiki-500k": Size(1_779_881, 2_381_304, 501_070, 515.0, 5.12, 5780),
}


@dataclass(frozen=True)
class ExtremeLabels:
    """Rows of words and labels, both with frequencies that follow a power law, generated block by block.

    A row belongs to one of ``n_labels / 100`` topics. Its labels are drawn from those of the topic, 95 per cent of its words
    from the words of the topic, and the others from all words. A tenth of the words of the topic is drawn from the 20 words of
    a label of the row. The words of a topic and of a label are fixed: they are informative about it, and rows of a label share
    many words, as in real text.

    Parameters
    ----------
    size : {"eurlex-4k", "wiki10-31k", "amazoncat-13k", "amazon-670k", "wiki-500k"}, default="eurlex-4k"
        The data set whose numbers of rows, features, labels, features and labels per row, and non-empty tables of a feature and
        a label are approximated.
    scale : float, default=1.0
        Fraction of the rows, features and labels; what a row and a label have on average stays about the same.
    random_state : int, default=0
        The seed.

    Examples
    --------
    >>> data = ExtremeLabels("eurlex-4k", scale=0.01)
    >>> X, Y = data.make()
    >>> X.shape, Y.shape
    ((154, 1861), (154, 39))
    >>> sum(words.shape[0] for words, labels in data.blocks())
    154
    """

    size: str = "eurlex-4k"
    scale: float = 1.0
    random_state: int = 0

    def __post_init__(self) -> None:
        if self.size not in SIZES:
            raise unknown_name("size", self.size, SIZES)
        if not 0 < self.scale <= 1:
            raise InputError(f"scale must be above 0 and at most 1, not {self.scale!r}.")
        whole_number(self.random_state, "random_state", 0, 2**63 - 1)

    @property
    def shape(self) -> tuple[int, int, int]:
        """The numbers of rows, features and labels."""
        rows, features, labels = (max(2, int(n * self.scale)) for n in SIZES[self.size][:3])
        return rows, features, labels

    def blocks(self, n_rows: int = 16 * BLOCK) -> Iterator[tuple[sp.csr_array, sp.csr_array]]:
        """Generate rows in order, about ``n_rows`` at a time: words and labels as sparse matrices of ones in a byte each."""
        step = max(1, n_rows // BLOCK)
        n_blocks = -(-self.shape[0] // BLOCK)
        for first in range(0, n_blocks, step):
            made = [self._block(block) for block in range(first, min(n_blocks, first + step))]
            words, labels = (sp.vstack(parts, format="csr") for parts in zip(*made, strict=True))
            yield words, labels

    def make(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Generate all rows at once."""
        return next(self.blocks(n_rows=self.shape[0] + BLOCK))

    @cached_property
    def _cumulated(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Cumulated frequencies of all words, of the words of a topic, and of its labels."""
        n_topic_words = min(SIZES[self.size].topic_words, self.shape[1])
        words, topic_words = _power_law(self.shape[1], ZIPF_OFFSET), _power_law(n_topic_words, ZIPF_OFFSET)
        return words, topic_words, _power_law(self._labels_per_topic, LABEL_OFFSET)

    @property
    def _labels_per_topic(self) -> int:
        return self.shape[2] // self._n_topics

    @property
    def _n_topics(self) -> int:
        return max(1, self.shape[2] // LABELS_PER_TOPIC)

    def _block(self, block: int) -> tuple[sp.csr_array, sp.csr_array]:
        n_rows, d, q = self.shape
        size = SIZES[self.size]
        rng = np.random.default_rng([self.random_state, block])
        all_words, topic_words, topic_labels = self._cumulated
        topics = rng.integers(0, self._n_topics, size=BLOCK)
        n_labels = 1 + rng.poisson(size.labels - 1, size=BLOCK)
        label_rows = np.repeat(np.arange(BLOCK), n_labels)
        labels = _draw(rng, topic_labels, len(label_rows)) * self._n_topics + topics[label_rows]
        word_rows = np.repeat(np.arange(BLOCK), rng.poisson(size.words, size=BLOCK))
        words = _draw(rng, all_words, len(word_rows))
        topical = np.flatnonzero(rng.random(len(words)) < TOPICAL)
        rows, ranks = word_rows[topical], _draw(rng, topic_words, len(topical))
        specific = np.flatnonzero(rng.random(len(ranks)) < SPECIFIC)
        of_rows = rows[specific]
        of_label = labels[(np.cumsum(n_labels) - n_labels)[of_rows] + rng.integers(0, n_labels[of_rows])]
        ranks[specific] = _scattered(of_label, rng.integers(0, LABEL_WORDS, len(specific)), len(topic_words))
        words[topical] = _scattered(topics[rows], ranks, d)
        n = min(BLOCK, n_rows - block * BLOCK)
        return _ones_matrix(word_rows, words, n, d), _ones_matrix(label_rows, labels, n, q)


def make_extreme(size: str = "eurlex-4k", *, scale: float = 1.0, random_state: int = 0) -> tuple[sp.csr_array, sp.csr_array]:
    """Generate all rows of :class:`ExtremeLabels`: features and labels.

    >>> X, Y = make_extreme("wiki10-31k", scale=0.01)
    >>> X.shape, Y.shape
    ((141, 1019), (141, 309))
    """
    return ExtremeLabels(size, scale, random_state).make()


def _draw(rng: np.random.Generator, cumulated: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    return np.minimum(np.searchsorted(cumulated, rng.random(n)), len(cumulated) - 1)


def _scattered(group: NDArray[np.int64], rank: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Choose the member of each rank of a group from ``n``, fixed and scattered, by a multiplicative hash."""
    mixed = ((group << 16) + rank + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    chosen: NDArray[np.int64] = ((mixed >> np.uint64(33)) % np.uint64(n)).astype(np.int64)
    return chosen


def _power_law(n: int, offset: int) -> NDArray[np.float64]:
    """Return cumulated frequencies that fall as 1 / (rank + offset)."""
    frequency = 1.0 / (np.arange(n) + offset)
    cumulated: NDArray[np.float64] = np.cumsum(frequency) / frequency.sum()
    return cumulated


def _ones_matrix(rows: NDArray[np.int64], columns: NDArray[np.int64], n_rows: int, n_columns: int) -> sp.csr_array:
    """Make a sparse matrix with a one wherever there are one or more entries."""
    kept = rows < n_rows
    cells = rows[kept].astype(np.int32), columns[kept].astype(np.int32)
    matrix = sp.coo_array((np.ones(len(cells[0]), dtype=np.uint8), cells), shape=(n_rows, n_columns)).tocsr()
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix
