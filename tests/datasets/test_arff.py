from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from labelsieve.datasets import DatasetError
from labelsieve.datasets.readers.arff import parse_arff

HEAD = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute c {0,1}\n@data\n"


def parse(text):
    return parse_arff(text.encode() if isinstance(text, str) else text, Path("folder/made.arff"))


def cells(text):
    found = parse(text).cells
    return found.toarray() if sparse.issparse(found) else found


@pytest.mark.parametrize(
    ("line", "name", "values"),
    [
        ("@ATTRIBUTE plain REAL", "plain", None),
        ("@attribute\ttabbed\t{1, 2}", "tabbed", ("1", "2")),
        ("@attribute tight{0,1}", "tight", ("0", "1")),
        (r"@attribute 'Swainson\'s Thrush' {0,1}", "Swainson's Thrush", ("0", "1")),
        ("@attribute \"'departwb'\" NUMERIC", "'departwb'", None),
        (r"@attribute TAG_m\'usica {0,1}", r"TAG_m\'usica", ("0", "1")),
        ("@attribute it's numeric", "it's", None),
        ("@attribute - integer % a comment", "-", None),
        ("@attribute 0 {'a, b', \"c}\", d}", "0", ("a, b", "c}", "d")),
        ("  @attribute n numeric [0, 1]", "n", None),
    ],
)
def test_attribute_lines_of_the_wild(line, name, values):
    column = parse(f"@relation r\n{line}\n@data\n?\n").columns[0]
    assert (column.name, column.values) == (name, values)


def test_names_may_differ_in_case_only():
    assert parse("@relation r\n@attribute A real\n@attribute a real\n@data\n1,2\n").names == ["A", "a"]


def test_relation_is_read_up_to_a_comment():
    assert parse("@relation 'S: -C 22 -split 1' %50\n@attribute a real\n@data\n1\n").relation == "S: -C 22 -split 1"


def test_comments_before_the_rows_are_the_description():
    assert parse("% Made up\n%\n% twice\n" + HEAD + "1,x,0\n").description == "Made up\n\ntwice"


def test_dense_rows_with_blanks_quotes_comments_and_missing_values():
    rows = "% nothing\n  1.5 ,\ty, 1\n\n'2',\"x\",0 % tail\n?,?,1\n-3e2,y,0"
    expected = [[1.5, 1, 1], [2, 0, 0], [np.nan, np.nan, 1], [-300, 1, 0]]
    np.testing.assert_array_equal(cells(HEAD + rows), expected)


def test_sparse_rows_leave_out_zeros_and_first_values():
    rows = "{0 1.5, 1 y}\n{}\n{ 1 'y' , 2 1 } % tail\n{0 ?}\n{1 x}\n"
    expected = [[1.5, 1, 0], [0, 0, 0], [0, 1, 1], [np.nan, 0, 0], [0, 0, 0]]
    np.testing.assert_array_equal(cells(HEAD + rows), expected)
    assert parse(HEAD + rows).cells.nnz == 5


def test_line_ends_of_other_systems_and_a_byte_order_mark():
    text = HEAD + "1,x,0\n2,y,1\n"
    for other in (text.replace("\n", "\r\n"), text.replace("\n", "\r"), "\ufeff" + text):
        np.testing.assert_array_equal(cells(other), cells(text))


def test_latin_1_is_read_where_utf_8_fails():
    text = "@relation r\n@attribute diseño numeric\n@data\n1\n"
    assert parse(text.encode("latin-1")).names == parse(text.encode()).names == ["diseño"]


def test_values_that_hold_quotes_are_told_from_quoted_values():
    text = "@relation r\n@attribute a {\"'q'\", q, '5%'}\n@data\n'q'\nq\n\"'q'\"\n'5%'\n"
    assert cells(text).ravel().tolist() == [1, 1, 0, 2]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (HEAD + "1,x,0\n1,x\n", 7, ["2 values", "3 attributes"]),
        (HEAD + "1,x,0\n\n1,z,0\n", 8, ["'z'", "'b'", "'x', 'y'"]),
        (HEAD + "one,x,0\n", 6, ["'one'", "'a'", "not a number"]),
        (HEAD + "1_0,x,0\n", 6, ["'1_0'"]),
        (HEAD + "1,,0\n", 6, ["''", "'b'"]),
        (HEAD + "1,'x'y,0\n", 6, ["closing quote"]),
        (HEAD + "1,x,0\n{0 1}\n", 7, ["sparse row"]),
        (HEAD + "{0 1}\n1,x,0\n", 7, ["{index value, ...}"]),
        (HEAD + "{0 1}\n{3 1}\n", 7, ["index 3", "out of range"]),
        (HEAD + "{-1 1}\n", 6, ["index -1", "out of range"]),
        (HEAD + "{1 y, 0 1}\n", 6, ["index 0 comes after 1"]),
        (HEAD + "{0 1, 0 2}\n", 6, ["index 0", "twice"]),
        (HEAD + "{0 1 1, y}\n", 6, ["'0 1 1, y'"]),
        (HEAD + "{0 1,}\n", 6, ["not an index"]),
        (HEAD + "{0 abc}\n", 6, ["'abc'", "not a number"]),
        (HEAD + "{1 z}\n", 6, ["'z'", "'x', 'y'"]),
        (HEAD + "{0 1}, {5}\n", 6, ["'0 1}, {5'", "not an index"]),
        (HEAD, 5, ["no rows"]),
        (HEAD + "1,x,0\n1,\0,0\n", 7, ["NUL"]),
        ("@relation r\n@attribute a real\n", 2, ["no @data"]),
        ("@relation r\n@attribute a real\n1\n", 3, ["@data missing"]),
        ("@relation r\n@data\n1\n", 2, ["no @attribute"]),
        ("@relation r\n@attribute a real\n@attribute a real\n", 3, ["attributes 1 and 2 are both named 'a'"]),
        ("@relation r\n@attribute a string\n", 2, ["'a'", "string", "strings="]),
        ("@relation r\n@attribute a b real\n", 2, ["unknown type 'b'", "quotes"]),
        ("@relation r\n@attribute a\n", 2, ["no type"]),
        ("@relation r\n@attribute\n", 2, ["no name"]),
        ("@relation r\n@attribute a {x,y\n", 2, ["'a'", "brace"]),
        ("@relation r\n@attribute a {}\n", 2, ["no values"]),
        ("@relation r\n@attribute a {x,x}\n", 2, ["'x' twice"]),
    ],
)
def test_errors_name_the_file_the_line_and_the_problem(text, line, words):
    with pytest.raises(DatasetError) as caught:
        parse(text)
    message = str(caught.value)
    assert message.startswith(f"made.arff, line {line}: ")
    assert caught.value.line == line
    for word in words:
        assert word in message


TEXTS = "@relation r\n@attribute id string\n@attribute day date 'yyyy-MM-dd'\n@attribute a numeric\n@data\n"
DENSE = TEXTS + "'b, 2',2020-01-02,1\na,2020-01-01,2\n?,2020-01-02,3\n\"a\",?,4\n"


def test_strings_and_dates_are_left_out_on_request():
    table = parse_arff(DENSE.encode(), Path("made.arff"), strings="drop")
    assert table.names == ["a"]
    assert table.cells.ravel().tolist() == [1, 2, 3, 4]
    scattered = TEXTS + "{0 'b, 2',1 x,2 1}\n{1 ?}\n"
    assert parse_arff(scattered.encode(), Path("made.arff"), strings="drop").cells.toarray().tolist() == [[1], [0]]


def test_strings_and_dates_are_nominal_on_request():
    table = parse_arff(DENSE.encode(), Path("made.arff"), strings="nominal")
    assert [column.values for column in table.columns] == [("a", "b, 2"), ("2020-01-01", "2020-01-02"), None]
    np.testing.assert_array_equal(table.cells, [[1, 1, 1], [0, 0, 2], [np.nan, 1, 3], [0, np.nan, 4]])


def test_texts_of_rows_without_quotes_are_sorted():
    plain = parse_arff((TEXTS + "z,2,1\ny,1,1\n").encode(), Path("made.arff"), strings="nominal")
    assert plain.columns[0].values == ("y", "z")
    assert plain.cells[:, 0].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("text", "strings", "words"),
    [
        (TEXTS + "{2 1}\n", "nominal", ["'id'", "sparse", 'strings="drop"']),
        (TEXTS + "?,x,1\n", "nominal", ["'id'", "missing in every row", 'strings="drop"']),
        ("@relation r\n@attribute a string\n@data\nx\n", "drop", ["all its attributes"]),
        ("@relation r\n@attribute a relational\n@data\nx\n", "drop", ["'a'", "relational"]),
    ],
)
def test_texts_that_cannot_be_settled_are_refused(text, strings, words):
    with pytest.raises(DatasetError) as caught:
        parse_arff(text.encode(), Path("made.arff"), strings=strings)
    assert all(word in str(caught.value) for word in words)


def test_a_value_may_be_empty():
    table = parse("@relation r\n@attribute a {''}\n@attribute b {'',x}\n@data\n'',''\n'',x\n")
    assert table.columns[0].values == ("",)
    assert table.cells.tolist() == [[0, 0], [0, 1]]
