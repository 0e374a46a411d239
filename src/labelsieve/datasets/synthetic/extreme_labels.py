"""Sparse data with very many labels, of the sizes of the extreme classification repository, generated block by block."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.datasets.synthetic.sparse_text import BLOCK, ZIPF_OFFSET, BlocksOfRows, ones_matrix, power_law
from labelsieve.errors import InputError, unknown_name, whole_number

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
class ExtremeLabels(BlocksOfRows):
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
        """Rows, features, labels."""
        rows, features, labels = (max(2, int(n * self.scale)) for n in SIZES[self.size][:3])
        return rows, features, labels

    @cached_property
    def _cumulated(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Cumulated frequencies of all words, of the words of a topic, and of its labels."""
        n_topic_words = min(SIZES[self.size].topic_words, self.shape[1])
        words, topic_words = power_law(self.shape[1], ZIPF_OFFSET), power_law(n_topic_words, ZIPF_OFFSET)
        return words, topic_words, power_law(self._labels_per_topic, LABEL_OFFSET)

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
        return ones_matrix(word_rows, words, n, d), ones_matrix(label_rows, labels, n, q)


def make_extreme(size: str = "eurlex-4k", *, scale: float = 1.0, random_state: int = 0) -> tuple[sp.csr_array, sp.csr_array]:
    """Features and labels of :class:`ExtremeLabels`, all rows at once.

    >>> X, Y = make_extreme("wiki10-31k", scale=0.01)
    >>> X.shape, Y.shape
    ((141, 1019), (141, 309))
    """
    return ExtremeLabels(size, scale, random_state).make()


def _draw(rng: np.random.Generator, cumulated: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    return np.minimum(np.searchsorted(cumulated, rng.random(n)), len(cumulated) - 1)


def _scattered(group: NDArray[np.int64], rank: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """The member of each rank of a group: a fixed, scattered choice from ``n`` (a multiplicative hash)."""
    mixed = ((group << 16) + rank + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    chosen: NDArray[np.int64] = ((mixed >> np.uint64(33)) % np.uint64(n)).astype(np.int64)
    return chosen
