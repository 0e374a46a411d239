"""Files in libsvm format and in the format of the extreme classification repository."""

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.readers.column_table import AdjacentCells, Column, Table, check_width
from labelsieve.datasets.readers.files import CELL, DEFAULT_LIMIT, LONGEST_LINE, refuse_nul, require_memory, too_long_line
from labelsieve.errors import DatasetError

WORKING_BYTES = 80  # for each byte of a block, at most, while it is parsed
LONGEST_WHOLE = 18  # digits of a label or an index, which are 64-bit integers
_LINE_END, _BLANK, _COMMA, _COLON, _DIGIT, _DOT, _OTHER = range(7)  # below _DIGIT: marks between words
_MARKS = {_LINE_END: b"\n", _BLANK: b" \t\v\f", _COMMA: b",", _COLON: b":", _DIGIT: b"0123456789", _DOT: b"."}
_KINDS = bytes(next((kind for kind, marks in _MARKS.items() if mark in marks), _OTHER) for mark in range(256))
_COMMENT = re.compile(rb"#[^\n]*")
_SIGNED = re.compile(rb"[+-]?[0-9]+")
PAD = 16  # bytes before the first number of a text: its words may begin there
WHOLE_DIGITS = 16
EXACT_DIGITS = 15  # a number of so many digits, divided by a power of ten up to 10**22, is rounded once and so correctly
# Digits become numbers of two digits, then of four, then of eight: each step merges neighbors.
_STEPS = [
    (np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(10 * 2**8 + 1), np.uint64(8)),
    (np.uint64(0x00FF00FF00FF00FF), np.uint64(100 * 2**16 + 1), np.uint64(16)),
    (np.uint64(0x0000FFFF0000FFFF), np.uint64(10000 * 2**32 + 1), np.uint64(32)),
]
_KEPT = np.array([2**64 - 2 ** (64 - 8 * length) for length in range(9)], np.uint64)  # the last bytes of a word
_POWERS = 10.0 ** np.arange(EXACT_DIGITS + 1)


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


def whole_numbers(text: NDArray[np.uint8], ends: NDArray[np.intp], lengths: NDArray[np.intp]) -> NDArray[np.int64]:
    """The numbers of up to 16 digits that end before ``ends`` in a text with :data:`PAD` bytes before them.

    Cost: about 20 ns for each number.

    >>> text = np.frombuffer(b" " * PAD + b"2016 123456789012", np.uint8)
    >>> whole_numbers(text, np.array([PAD + 4, PAD + 17]), np.array([4, 12]))
    array([        2016, 123456789012])
    """
    numbers = _eight_digits(text, ends, np.minimum(lengths, 8))
    long = np.flatnonzero(lengths > 8)
    if len(long):
        numbers[long] += 10**8 * _eight_digits(text, ends[long] - 8, lengths[long] - 8)
    return numbers


def decimals(
    text: NDArray[np.uint8], starts: NDArray[np.intp], ends: NDArray[np.intp], dots: NDArray[np.intp]
) -> NDArray[np.float64]:
    """The numbers from ``starts`` to ``ends`` with up to 15 digits and a point at ``dots`` (-1: none), correctly rounded.

    >>> text = np.frombuffer(b" " * PAD + b"0.084556 7", np.uint8)
    >>> decimals(text, np.array([PAD, PAD + 9]), np.array([PAD + 8, PAD + 10]), np.array([PAD + 1, -1]))
    array([0.084556, 7.      ])
    """
    pointed = dots >= 0
    integer_ends = np.where(pointed, dots, ends)
    fraction_lengths = np.where(pointed, ends - dots - 1, 0)
    integers = whole_numbers(text, integer_ends, integer_ends - starts)
    fractions = whole_numbers(text, ends, fraction_lengths)
    powers = _POWERS[fraction_lengths]
    values: NDArray[np.float64] = (integers * powers + fractions) / powers
    return values


def _eight_digits(text: NDArray[np.uint8], ends: NDArray[np.intp], lengths: NDArray[np.intp]) -> NDArray[np.int64]:
    """Up to eight digits before ``ends``."""
    windows = np.ndarray(len(text) - 7, np.dtype("<u8"), text, strides=(1,))
    words = windows[ends - 8] & _KEPT[lengths]
    for mask, factor, shift in _STEPS:
        words = ((words & mask) * factor) >> shift
    numbers: NDArray[np.int64] = words.astype(np.int64)
    return numbers


LOOK = 2**16  # bytes at the start of a file by which it is recognized
BLOCK = 2**19  # bytes of text that are parsed at a time: their arrays fit into the cache of a processor
COLUMN_BYTES = 400  # of a column: its name, and what describes it
# Possessive (++, *+): a long number is read once, and not again from each of its digits.
_LABELS = r"[+-]?\d++(?:,[+-]?\d++)*+(?=[\s#]|\Z)"
_PAIR = r"\d++:[^\s:,]++(?:\s++|\Z)"
_ROW = re.compile(rf"(?:{_LABELS})?\s*+(?:{_PAIR})*+(?:#.*)?")
_SIZES = re.compile(r"(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})\s*")


def is_libsvm(data: bytes) -> bool:
    r"""True if the first rows look like libsvm's.

    >>> is_libsvm(b"1,3 5:0.2\n"), is_libsvm(b"a,b\n1,2\n")
    (True, False)
    """
    start = data[:LOOK].removeprefix(codecs.BOM_UTF8).decode("latin-1")
    if len(data) >= LOOK:
        start = start.rpartition(" ")[0]  # whole words only
    lines = [line for line in start.splitlines()[:3] if line.strip()]
    rows = lines[1:] if lines and _SIZES.fullmatch(lines[0]) else lines
    return bool(rows) and all(_ROW.fullmatch(line) for line in rows) and any(":" in line.partition("#")[0] for line in rows)


def parse_libsvm(data: bytes | Iterable[bytes], file: Path, max_bytes: int = DEFAULT_LIMIT) -> Table:
    r"""Read rows of labels and ``index:value`` pairs; a first line of three numbers gives rows, features and labels.

    Features count from 1, unless an index 0 occurs or the first line gives the sizes: then from 0. Where the sizes are given,
    empty lines are rows if the number of rows is right with them only.

    ``data`` may be the content in pieces of any size: at no time more than :data:`BLOCK` bytes of text are held in memory, or
    the longest line, and what is read takes 12 bytes for each pair and each label, and as much again while it is joined.

    >>> parse_libsvm(b"1,3 1:0.5\n 2:1\n", Path("a.svm")).cells.toarray()
    array([[0.5, 0. , 1. , 1. ],
           [0. , 1. , 0. , 0. ]])
    """
    stored = _Stored(file, max_bytes)
    sizes, line = None, 1
    for block in whole_lines([data] if isinstance(data, bytes) else data, file, max_bytes):
        if line == 1:
            sizes, block = read_sizes(block)
            line = 1 if sizes is None else 2
        stored.require(len(block))
        stored.add(parse_rows(block, file, line))
        line += block.count(b"\n")
    return stored.table(sizes)


def read_sizes(block: bytes) -> tuple[tuple[int, int, int] | None, bytes]:
    r"""The numbers of rows, features and labels in the first line, if it has them, and the lines that follow.

    >>> read_sizes(b"2 5 3\n1 0:1\n"), read_sizes(b"1 2:1\n")
    (((2, 5, 3), b'1 0:1\n'), (None, b'1 2:1\n'))
    """
    first, _, rest = block.partition(b"\n")
    found = _SIZES.fullmatch(first.decode("latin-1"))
    return (None, block) if found is None else ((int(found[1]), int(found[2]), int(found[3])), rest)


class _Stored:
    """Rows of the blocks that have been read."""

    def __init__(self, file: Path, max_bytes: int) -> None:
        self.file, self.max_bytes = file, max_bytes
        self.parts: dict[str, list[NDArray[Any]]] = {field.name: [] for field in fields(Rows)}
        self.n_cells = self.n_bytes = 0

    def require(self, n_bytes: int) -> None:
        """Refuse a block whose text and numbers, with all before, would take more memory than the limit."""
        self.n_bytes += n_bytes
        what = f"text of at least {self.n_bytes:,} bytes with {self.n_cells:,} cells"
        require_memory(WORKING_BYTES * n_bytes + CELL * self.n_cells, what, self.file, self.max_bytes)

    def add(self, rows: Rows) -> None:
        for name, kept in self.parts.items():
            numbers = getattr(rows, name)
            kept.append(numbers.astype(np.int32) if numbers.dtype != np.float64 and _fits(numbers) else numbers)
        self.n_cells += len(rows.labels) + len(rows.indices)

    def table(self, sizes: tuple[int, ...] | None) -> Table:
        """All rows; ``sizes`` are the numbers of rows, features and labels in the first line."""
        n_labels, n_pairs = self._joined("n_labels"), self._joined("n_pairs")
        filled = (n_labels > 0) | (n_pairs > 0)
        if not filled.any():
            raise DatasetError("there are no rows.", "Is the file whole?", self.file)
        lines = np.arange(len(filled)) + 2  # of the rows, after the sizes
        if sizes is None or sizes[0] != len(filled):
            n_labels, n_pairs, lines = n_labels[filled], n_pairs[filled], lines[filled]
        labels, indices, values = self._joined("labels"), self._joined("indices"), self._joined("values")
        base = 0 if sizes or (len(indices) and not indices.min()) else 1
        d = int(indices.max(initial=base - 1)) + 1 - base
        known: Sequence[int]
        if sizes:
            n, wide, many = sizes
            if n != len(n_labels):
                raise DatasetError(f"its first line promises {n} rows, but {len(n_labels)} follow.", file=self.file, line=1)
            for name, numbers, counts, limit in (("feature", indices, n_pairs, wide), ("label", labels, n_labels, many)):
                if len(wrong := np.flatnonzero((numbers < 0) | (numbers >= limit))):
                    line = int(lines[np.searchsorted(np.cumsum(counts), wrong[0], side="right")])
                    message = f"{name} {numbers[wrong[0]]}: the first line promises {limit} {name}s, numbered from 0."
                    raise DatasetError(message, file=self.file, line=line)
            d, known = wide, range(many)
        else:
            distinct, labels = np.unique(labels, return_inverse=True)
            known = distinct.tolist()
            indices -= np.asarray(base, indices.dtype)
        self._require_columns(d + len(known))
        X = sparse.csr_array((values, indices, _pointers(n_pairs)), shape=(len(n_pairs), d))
        if not values.all():
            X.eliminate_zeros()
        Y = sparse.csr_array((np.ones(len(labels)), labels, _pointers(n_labels)), shape=(len(n_labels), len(known)))
        Y.sum_duplicates()
        Y.data[:] = 1  # where a row names a label twice
        columns = [Column(f"feature{i + base}") for i in range(d)] + [Column(f"label{label}") for label in known]
        return Table(self.file, tuple(columns), AdjacentCells((X, Y)), n_labels=len(known))

    def _require_columns(self, n_columns: int) -> None:
        check_width(n_columns, self.n_bytes, self.file)
        require_memory(COLUMN_BYTES * n_columns, f"a table of {n_columns:,} columns", self.file, self.max_bytes)

    def _joined(self, name: str) -> NDArray[Any]:
        parts = self.parts.pop(name)  # so that the parts are given up when they are joined
        return np.concatenate(parts) if parts else np.empty(0, np.int32)


def _fits(numbers: NDArray[np.int64]) -> bool:
    return len(numbers) == 0 or -(2**31) < int(numbers.min()) <= int(numbers.max()) < 2**31


def _pointers(counts: NDArray[Any]) -> NDArray[Any]:
    ends = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    return ends.astype(np.int32) if ends[-1] < 2**31 else ends


def whole_lines(pieces: Iterable[bytes], file: Path, max_bytes: int) -> Iterator[bytes]:
    r"""The text of the pieces in blocks of whole lines, which end in ``\n``."""
    size = max(2**14, min(BLOCK, max_bytes // (4 * WORKING_BYTES)))
    rest, line = b"", 1
    for text in _plain_text(pieces):
        for start in range(0, len(text), size):
            rest += text[start : start + size]
            if rest.find(b"\n", 0, LONGEST_LINE + 1) < 0 and len(rest) > LONGEST_LINE:
                raise too_long_line(file, line)
            end = rest.rfind(b"\n") + 1
            if end:
                block, rest = rest[:end], rest[end:]
                refuse_nul(block, file, line)
                yield block
                line += block.count(b"\n")
    if rest:
        refuse_nul(rest, file, line)
        yield rest + b"\n"


def _plain_text(pieces: Iterable[bytes]) -> Iterator[bytes]:
    r"""The pieces without a byte order mark, and with ``\n`` for ``\r\n`` and ``\r``."""
    held = b""
    for number, piece in enumerate(pieces):
        text = held + piece if number else piece.removeprefix(codecs.BOM_UTF8)
        held = b"\r" if text.endswith(b"\r") else b""  # the next piece may begin with the other half
        text = text[: len(text) - len(held)]
        yield text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text
    yield held.replace(b"\r", b"\n")
