"""Whole lines of libsvm's text as arrays: the structure of all rows of a block is found and checked at once."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labelsieve.datasets.dataset_error import DatasetError
from labelsieve.datasets.readers.digit_words import EXACT_DIGITS, PAD, WHOLE_DIGITS, decimals, whole_numbers

WORKING_BYTES = 80  # for each byte of a block, at most, while it is parsed
LONGEST_WHOLE = 18  # digits of a label or an index, which are 64-bit integers
_LINE_END, _BLANK, _COMMA, _COLON, _DIGIT, _DOT, _OTHER = range(7)  # below _DIGIT: marks between words
_MARKS = {_LINE_END: b"\n", _BLANK: b" \t\v\f", _COMMA: b",", _COLON: b":", _DIGIT: b"0123456789", _DOT: b"."}
_KINDS = bytes(next((kind for kind, marks in _MARKS.items() if mark in marks), _OTHER) for mark in range(256))
_COMMENT = re.compile(rb"#[^\n]*")
_SIGNED = re.compile(rb"[+-]?[0-9]+")


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a block: labels, and indices with their values, row after row, and how many of them each row has.

    A line without any is a row here too: whether it counts depends on the number of rows that a file declares.
    """

    labels: NDArray[np.int64]
    n_labels: NDArray[np.intp]
    indices: NDArray[np.int64]
    values: NDArray[np.float64]
    n_pairs: NDArray[np.intp]


def parse_rows(block: bytes, file: Path, first_line: int) -> Rows:
    r"""Parse lines such as ``1,3 5:0.2 7:1``, of which the last one ends in a line end.

    Cost: about 0.2 microseconds for each pair; 0.6 if its value has more than 15 digits or an exponent.

    >>> rows = parse_rows(b"1,3 5:0.25 7:1\n2\n", Path("a.txt"), 1)
    >>> rows.labels, rows.n_labels, rows.indices, rows.values, rows.n_pairs
    (array([1, 3, 2]), array([2, 1]), array([5, 7]), array([0.25, 1.  ]), array([2, 0]))
    """
    text = _Text(_COMMENT.sub(b"", block) if b"#" in block else block)
    try:
        text.check_marks()
        labels = text.label_words()
        indices = np.flatnonzero(text.is_index)
        found = text.whole(indices, signed=False)
        rows = Rows(text.whole(labels, signed=True), text.n_labels, found, text.numbers(indices + 1), text.n_pairs)
    except _WrongAt as wrong:
        line = int(np.searchsorted(text.line_ends, wrong.position)) - 1
        words = text.padded[text.line_ends[line] + 1 : text.line_ends[line + 1]].strip()[:40].decode("latin-1")
        problem = str(wrong) or f"{words!r} is not of the form 1,3 5:0.2 7:1 (labels, then index:value)."
        raise DatasetError(problem, file=file, line=first_line + line) from None
    ends = np.cumsum(rows.n_pairs)
    rises = found[1:] > found[:-1]
    rises[ends[(ends > 0) & (ends < len(found))] - 1] = True  # from one row to the next anything goes
    if not rises.all():
        line = int(np.searchsorted(ends, np.argmin(rises) + 1, side="right"))
        raise DatasetError("its indices do not rise.", "Sort them; none may be twice.", file, first_line + line)
    return rows


class _WrongAt(Exception):
    """The position in the text of the first thing that is not as it should be."""

    def __init__(self, positions: NDArray[np.intp] | list[int], problem: str = "") -> None:
        super().__init__(problem)
        self.position = int(np.min(positions))


class _Text:
    """Words of a text, which are what is between blanks, commas, colons and line ends; arrays have an entry for each."""

    def __init__(self, block: bytes) -> None:
        self.padded = b"\n" * PAD + block
        self.text = np.frombuffer(self.padded, np.uint8)
        self.kinds = np.frombuffer(self.padded.translate(_KINDS), np.uint8)
        edges = np.flatnonzero(np.diff(self.kinds >= _DIGIT)) + 1
        self.starts, self.ends = edges[0::2], edges[1::2]
        self.lengths = self.ends - self.starts
        self.line_ends = np.flatnonzero(self.kinds[PAD - 1 :] == _LINE_END) + PAD - 1
        self.bounds = np.searchsorted(self.starts, self.line_ends)  # the first word of each line, and the end
        self.before, self.after = self.kinds[self.starts - 1], self.kinds[self.ends]
        self.is_index, self.is_value = self.after == _COLON, self.before == _COLON
        counted = np.concatenate([[0], np.cumsum(~(self.is_index | self.is_value))])
        self.labels_before = counted[self.bounds[:-1]]
        self.n_labels = np.diff(counted[self.bounds])
        self.n_pairs = (np.diff(self.bounds) - self.n_labels) // 2

    def check_marks(self) -> None:
        """Refuse a comma or colon that is not between two words, or a word between a comma and a colon or two colons."""
        marks = np.flatnonzero((self.kinds == _COMMA) | (self.kinds == _COLON))
        lonely = marks[(self.kinds[marks - 1] < _DIGIT) | (self.kinds[marks + 1] < _DIGIT)]
        twice = self.starts[
            (self.is_index & ((self.before == _COLON) | (self.before == _COMMA))) | (self.is_value & (self.after == _COMMA))
        ]
        if len(lonely) or len(twice):
            raise _WrongAt(np.concatenate([lonely, twice]))

    def label_words(self) -> NDArray[np.intp]:
        """The words that are labels; refuse those that are not at the start of a line with commas between them."""
        words = np.flatnonzero(~(self.is_index | self.is_value))
        rank = np.arange(len(words)) - np.repeat(self.labels_before, self.n_labels)
        displaced = words != np.repeat(self.bounds[:-1], self.n_labels) + rank
        wrong = displaced | ((self.before[words] == _COMMA) != (rank > 0))
        if wrong.any():
            raise _WrongAt(self.starts[words[wrong]])
        return words

    @cached_property
    def _forms(self) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Which words have other characters than digits and one point; and where the point of each is, -1 for none."""
        odd, dots = np.zeros(len(self.starts), np.bool_), np.full(len(self.starts), -1)
        others = np.flatnonzero(self.kinds == _OTHER)
        odd[np.searchsorted(self.starts, others, side="right") - 1] = True
        found = np.flatnonzero(self.kinds == _DOT)
        words = np.searchsorted(self.starts, found, side="right") - 1
        dots[words] = found
        odd[words[1:][words[1:] == words[:-1]]] = True
        return odd, dots

    def whole(self, words: NDArray[np.intp], *, signed: bool) -> NDArray[np.int64]:
        """Words as whole numbers."""
        odd, dots = self._forms
        easy = ~odd[words] & (dots[words] < 0) & (self.lengths[words] <= WHOLE_DIGITS)
        if easy.all():
            return whole_numbers(self.text, self.ends[words], self.lengths[words])
        numbers = np.empty(len(words), np.int64)
        numbers[easy] = whole_numbers(self.text, self.ends[words[easy]], self.lengths[words[easy]])
        for place in np.flatnonzero(~easy).tolist():
            word = self._word(words[place])
            if not (_SIGNED.fullmatch(word) if signed else word.isdigit()):
                raise _WrongAt([self.starts[words[place]]])
            if len(word.lstrip(b"+-0")) > LONGEST_WHOLE:
                raise _WrongAt(
                    [self.starts[words[place]]], f"a label or index has more than {LONGEST_WHOLE} digits: {word[:40].decode()}."
                )
            numbers[place] = int(word)
        return numbers

    def numbers(self, words: NDArray[np.intp]) -> NDArray[np.float64]:
        """Words as numbers, each the nearest to what is written."""
        odd, dots = self._forms
        pointed = dots[words] >= 0
        lengths = self.lengths[words] - pointed
        easy = ~odd[words] & (lengths <= EXACT_DIGITS) & (lengths > 0)
        if easy.all():
            return decimals(self.text, self.starts[words], self.ends[words], dots[words])
        numbers, plain = np.empty(len(words)), words[easy]
        numbers[easy] = decimals(self.text, self.starts[plain], self.ends[plain], dots[plain])
        for place in np.flatnonzero(~easy).tolist():
            try:
                numbers[place] = float(self._word(words[place]))
            except ValueError:
                raise _WrongAt([self.starts[words[place]]]) from None
        return numbers

    def _word(self, word: np.intp) -> bytes:
        return self.padded[self.starts[word] : self.ends[word]]
