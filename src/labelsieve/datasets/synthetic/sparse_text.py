"""Sparse, text-like data with ground truth, of any size: generated block by block, so that it need not fit into memory."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labelsieve.errors import InputError, whole_number

BLOCK = 1024  # rows that share a random generator: data do not depend on how many rows are asked for at a time
ZIPF_OFFSET = 10  # word frequencies fall as 1 / (rank + 10), as in natural text
MOST_FREQUENT = 0.2


class BlocksOfRows(ABC):
    """Sparse rows and labels that are generated block by block."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int, int]:
        """Rows, features, labels."""

    def blocks(self, n_rows: int = 16 * BLOCK) -> Iterator[tuple[sp.csr_array, sp.csr_array]]:
        """Rows in order, about ``n_rows`` at a time: words and labels as sparse matrices of ones in a byte each."""
        step = max(1, n_rows // BLOCK)
        n_blocks = -(-self.shape[0] // BLOCK)
        for first in range(0, n_blocks, step):
            made = [self._block(block) for block in range(first, min(n_blocks, first + step))]
            words, labels = (sp.vstack(parts, format="csr") for parts in zip(*made, strict=True))
            yield words, labels

    def make(self) -> tuple[sp.csr_array, sp.csr_array]:
        """All rows."""
        return next(self.blocks(n_rows=self.shape[0] + BLOCK))

    @abstractmethod
    def _block(self, block: int) -> tuple[sp.csr_array, sp.csr_array]:
        """The words and labels of a block."""


@dataclass(frozen=True)
class SyntheticText(BlocksOfRows):
    """Synthetic texts as bags of words: a few words belong to a label and appear mostly with it; all others are noise.

    Parameters
    ----------
    n_rows, n_words, n_labels : int
        The size of the data.
    words_per_label : int, default=5
        Words that are informative about each label; they are the last columns, label by label.
    words_per_row : float, default=20.0
        Mean number of noise words in a row.
    strength : float, default=0.5
        Probability of each word of a label in a row with that label.
    imbalance : float, default=1.0
        How many times more frequent the first label is than the last.
    random_state : int, default=0
        The seed.

    Examples
    --------
    >>> text = SyntheticText(n_rows=3000, n_words=500, n_labels=4)
    >>> X, Y = text.make()
    >>> X.shape, Y.shape
    ((3000, 500), (3000, 4))
    >>> text.label_of_word[-6:].tolist()
    [2, 3, 3, 3, 3, 3]
    """

    n_rows: int
    n_words: int
    n_labels: int
    words_per_label: int = 5
    words_per_row: float = 20.0
    strength: float = 0.5
    imbalance: float = 1.0
    random_state: int = 0

    def __post_init__(self) -> None:
        for name in ("n_rows", "n_words", "n_labels", "words_per_label"):
            whole_number(getattr(self, name), name, 1, 2**31 - 1)
        if self.n_words <= self.n_labels * self.words_per_label:
            raise InputError(
                f"{self.n_labels} labels with {self.words_per_label} words each need more than {self.n_words} words."
            )
        if not (0 < self.strength <= 1 and self.imbalance >= 1 and self.words_per_row >= 0):
            raise InputError("strength must be above 0 and at most 1, imbalance at least 1, words_per_row not negative.")

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, words, labels."""
        return self.n_rows, self.n_words, self.n_labels

    @property
    def n_noise_words(self) -> int:
        """Words that are noise; they are the first columns."""
        return self.n_words - self.n_labels * self.words_per_label

    @property
    def label_of_word(self) -> NDArray[np.int64]:
        """The label that each word is informative about, -1 for none."""
        informative = np.repeat(np.arange(self.n_labels), self.words_per_label)
        return np.concatenate([np.full(self.n_noise_words, -1), informative])

    @cached_property
    def _cumulated(self) -> NDArray[np.float64]:
        return power_law(self.n_noise_words, ZIPF_OFFSET)

    def _block(self, block: int) -> tuple[sp.csr_array, sp.csr_array]:
        n = min(BLOCK, self.n_rows - block * BLOCK)
        rng = np.random.default_rng([self.random_state, block])
        shares = MOST_FREQUENT * np.geomspace(1, 1 / self.imbalance, self.n_labels)
        rows, labels = np.nonzero(rng.random((BLOCK, self.n_labels)) < shares)
        lengths = rng.poisson(self.words_per_row, size=BLOCK)
        noise_rows = np.repeat(np.arange(BLOCK), lengths)
        noise_words = np.searchsorted(self._cumulated, rng.random(lengths.sum()))
        appears = rng.random((len(rows), self.words_per_label)) < self.strength
        pair, word = np.nonzero(appears)
        label_words = self.n_noise_words + labels[pair] * self.words_per_label + word
        all_rows = np.concatenate([noise_rows, rows[pair]])
        all_words = np.concatenate([np.minimum(noise_words, self.n_noise_words - 1), label_words])
        return ones_matrix(all_rows, all_words, n, self.n_words), ones_matrix(rows, labels, n, self.n_labels)


def power_law(n: int, offset: int) -> NDArray[np.float64]:
    """Cumulated frequencies that fall as 1 / (rank + offset)."""
    frequency = 1.0 / (np.arange(n) + offset)
    cumulated: NDArray[np.float64] = np.cumsum(frequency) / frequency.sum()
    return cumulated


def ones_matrix(rows: NDArray[np.int64], columns: NDArray[np.int64], n_rows: int, n_columns: int) -> sp.csr_array:
    """A sparse matrix with a one wherever there is an entry, however many."""
    kept = rows < n_rows
    cells = rows[kept].astype(np.int32), columns[kept].astype(np.int32)
    matrix = sp.coo_array((np.ones(len(cells[0]), dtype=np.uint8), cells), shape=(n_rows, n_columns)).tocsr()
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix
