"""The text format of the extreme classification repository, read as a stream."""

import gzip
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve.datasets import DatasetError, load
from labelsieve.datasets.readers.libsvm import BLOCK, parse_libsvm

SIZES = "4 5 3\n0,2 0:0.5 4:1e-3\n 1:2\n1\n\n"  # rows with labels and features, with one of them, and with none
NUMBERS = st.floats(allow_nan=False).filter(bool) | st.decimals(-999, 999, places=6).map(float).filter(bool)
ROWS = st.lists(st.tuples(st.sets(st.integers(0, 9), max_size=4), st.dictionaries(st.integers(0, 30), NUMBERS, max_size=6)))
SPELL = st.sampled_from([repr, lambda value: f"{value:.6f}", lambda value: f"{value:.17e}", lambda value: f"{value:+.3f}"])


def naive(text):
    """Rows of labels and of features, line by line."""
    head, *lines = text.splitlines()
    n, d, q = map(int, head.split())
    X, Y = np.zeros((n, d)), np.zeros((n, q), np.uint8)
    for row, line in enumerate(lines):
        words = line.split()
        if words and ":" not in words[0]:
            Y[row, list(map(int, words.pop(0).split(",")))] = 1
        for word in words:
            index, value = word.split(":")
            X[row, int(index)] = float(value)
    return X, Y


def written(rows, spell):
    lines = [
        f"{','.join(map(str, labels))} {' '.join(f'{index}:{spell(pairs[index])}' for index in sorted(pairs))}\n"
        for labels, pairs in rows
    ]
    return f"{len(rows)} 31 10\n{''.join(lines)}"


@settings(max_examples=40)
@given(rows=ROWS.filter(lambda rows: any(labels or pairs for labels, pairs in rows)), spell=SPELL, data=st.data())
def test_text_in_pieces_of_any_size_equals_a_naive_reader(tmp_path_factory, rows, spell, data):
    text = written(rows, spell)
    content = text.replace("\n", data.draw(st.sampled_from(["\n", "\r\n"]))).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=5)))
    pieces = [content[start:end] for start, end in zip([0, *cuts], [*cuts, len(content)], strict=True)]
    X, Y = naive(text)
    found = parse_libsvm(pieces, tmp_path_factory.getbasetemp() / "made.txt").content.blocks
    np.testing.assert_array_equal(found[0].toarray(), X)
    np.testing.assert_array_equal(found[1].toarray(), Y)


def test_the_content_decides_the_format_and_not_the_name_of_the_file(tmp_path):
    text = "1 1:0.5 3:2\n0 2:1 3:1\n1 1:1\n"
    for name in ("rows.csv", "rows.txt"):
        (tmp_path / name).write_text(text)
        assert load(tmp_path / name).X.toarray().tolist() == [[0.5, 0, 2], [0, 1, 1], [1, 0, 0]]


def test_a_byte_order_mark_does_not_hide_the_format(tmp_path):
    file = tmp_path / "a.txt"
    file.write_bytes(b"\xef\xbb\xbf" + SIZES.encode())
    read = load(file)
    X, Y = naive(SIZES)
    assert (read.X.toarray() == X).all()
    assert (read.Y.toarray() == Y).all()


def test_empty_lines_are_rows_where_the_declared_number_needs_them(tmp_path):
    file = tmp_path / "made.txt"
    file.write_text(SIZES)
    X, Y = naive(SIZES)
    found = load(file)
    np.testing.assert_array_equal(found.X.toarray(), X)
    np.testing.assert_array_equal(found.Y.toarray(), Y)
    file.write_text("2 5 3\n0,2 0:0.5\n\n1 1:2\n\n")
    assert load(file).shape == (2, 5, 3)


@pytest.mark.parametrize("line", ["1, 0:1", "0 0:1 1", "0 0:1:2", "0 0:", ",0 0:1", "0 1 0:1", "0 0:x", "0 0:1,2", "0 -1:1"])
def test_a_wrong_row_far_down_is_named_by_its_line(tmp_path, line):
    rows = BLOCK // 10  # not in the first block
    (tmp_path / "made.txt").write_text(f"{rows + 2} 5 3\n" + "0,2 0:0.5 4:1\n" * rows + line + "\n0 0:1\n")
    with pytest.raises(DatasetError, match=rf"made\.txt, line {rows + 2}: .* is not of the form"):
        load(tmp_path / "made.txt")


def test_a_label_that_is_no_number_of_one_is_named_by_its_line(tmp_path):
    (tmp_path / "made.txt").write_text("3 5 3\n0 0:1\n\n1.5 0:1\n")
    with pytest.raises(DatasetError, match=r"made\.txt, line 4: label 1\.5 is no whole number"):
        load(tmp_path / "made.txt")


def test_text_longer_than_the_memory_limit_is_read_as_a_stream(tmp_path):
    rows, limit = 12_000, 2**23
    text = f"{rows} 5 3\n".encode() + rows * (b"0,2 0:0.500000 4:1.250000" + b" " * 800 + b"\n")
    (tmp_path / "long.txt.gz").write_bytes(gzip.compress(text, compresslevel=1))
    tracemalloc.start()
    found = load(tmp_path / "long.txt.gz", max_bytes=limit)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < limit < len(text)
    assert found.shape == (rows, 5, 3)
    assert found.X.sum() == rows * 1.75
