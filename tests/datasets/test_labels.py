import re

import numpy as np
import pytest

from labelsieve import InputError
from labelsieve.datasets import DatasetError, load
from labelsieve.datasets.readers.labels import read_label_header
from labelsieve.errors import MissingTargetWarning

ROWS = "@attribute a numeric\n@attribute b {0,1}\n@attribute c {0,1}\n@attribute d {0,1}\n@data\n0.5,1,0,0\n2,0,0,1\n"


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_text(content)
        return path

    return write


@pytest.fixture
def arff(write):
    return write("made.arff", "@relation made\n" + ROWS)


def header(*names):
    inner = "".join(f'<label name="{name}"></label>\n' for name in names)
    return f'<?xml version="1.0"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">\n{inner}</labels>\n'


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (2, "cd"),
        (np.int64(1), "d"),
        (["d", "b"], "db"),
        ("c", "c"),
        (re.compile("[bd]"), "bd"),
    ],
)
def test_labels_by_number_name_and_pattern(arff, labels, expected):
    assert load(arff, labels).label_names == tuple(expected)


def test_a_negative_number_counts_from_the_start(write):
    rows = "@attribute a {0,1}\n@attribute b numeric\n@data\n1,2\n0,3\n"
    found = load(write("made.arff", "@relation r\n" + rows), -1)
    assert (found.label_names, found.feature_names, found.Y.tolist()) == (("a",), ("b",), [[1], [0]])


def test_header_beside_the_file_is_found_and_columns_keep_their_order(write, arff):
    write("made.xml", header("d", "b"))
    for name in ("made.arff", "made-train.arff", "made_TEST.arff", "made-sparse.arff"):
        assert load(write(name, arff.read_text())).label_names == ("b", "d")


def test_header_by_path(write, arff):
    other = write("other.xml", header("c"))
    assert load(arff, other).label_names == load(arff, str(other)).label_names == ("c",)


def test_nested_labels_are_flattened_in_the_order_of_the_document(write):
    nested = '<labels><label name="b"><label name="c"/></label><label name="d"/></labels>'
    assert read_label_header(write("nested.xml", nested)) == ["b", "c", "d"]


@pytest.mark.parametrize(
    ("note", "expected"), [("-C 2", "ab"), ("-c 2", "ab"), ("-C -2", "cd"), ("-C -1 -split-number 5", "d")]
)
def test_note_of_meka_counts_from_its_own_end(write, note, expected):
    binary = ROWS.replace("a numeric", "a {0,1}").replace("0.5,", "1,").replace("2,", "0,")
    assert load(write("made.arff", f"@relation 'made: {note}'\n{binary}")).label_names == tuple(expected)


def test_note_of_meka_is_not_believed_after_a_filter(write):
    path = write("made.arff", f"@relation 'made: -C 2-weka.filters.unsupervised.attribute.Reorder-R3'\n{ROWS}")
    with pytest.raises(DatasetError, match=r"says -C 2, but a filter .* Pass labels="):
        load(path)


BOMB = '<!DOCTYPE l [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><labels><label name="&b;"/></labels>'
OUTSIDE = '<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/hostname">]><labels><label name="x"/>&a;</labels>'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (BOMB, "entities"),
        (OUTSIDE, "entities"),
        ("<labels>\n<label", "line 2.* not well-formed"),
        ("<labels/>", "no <label>"),
        ("<labels><label/></labels>", "no name"),
        (header("b", "b"), "'b' is there twice"),
        (header("b", "zz"), "'zz' of its 2 labels is not in made.arff"),
    ],
)
def test_bad_headers_are_refused(write, arff, content, words):
    with pytest.raises(DatasetError, match=words) as caught:
        load(arff, write("bad.xml", content))
    assert str(caught.value).startswith("bad.xml")


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (None, "nothing says which columns are labels.*Pass labels="),
        (0, "0 label columns of 4"),
        (5, "5 label columns of 4"),
        (4, "all 4 columns are labels"),
        (["b", "zz"], "no column named 'zz'"),
        ([], "no label is named"),
        (re.compile("zz"), "no column matches 'zz'"),
    ],
)
def test_bad_choices_are_refused(arff, labels, words):
    if labels == 4:
        arff.write_text(arff.read_text().replace("a numeric", "a {0,1}").replace("0.5,", "1,").replace("2,", "0,"))
    with pytest.raises(DatasetError, match=words) as caught:
        load(arff, labels)
    assert str(caught.value).startswith("made.arff")


def label_of(write, declared, rows):
    text = "@relation r\n@attribute a numeric\n@attribute y " + declared + "\n@data\n" + "\n".join(rows) + "\n"
    return load(write("made.arff", text), 1).Y


@pytest.mark.parametrize("declared", ["{0,1}", "{1,0}", "numeric"])
@pytest.mark.parametrize("rows", [["5,1", "6,0", "0,1"], ["{0 5, 1 1}", "{0 6, 1 0}", "{1 1}"]])
def test_a_label_is_its_value_whatever_the_order_of_the_declaration(write, declared, rows):
    Y = label_of(write, declared, rows)
    assert Y.dtype == np.uint8
    assert (Y.toarray() if "{" in rows[0] else Y).ravel().tolist() == [1, 0, 1]


def test_words_for_yes_and_no_are_labels(write):
    assert label_of(write, "{YES,NO}", ["1,YES", "1,NO"]).ravel().tolist() == [1, 0]


def test_other_numbers_are_targets(write):
    Y = label_of(write, "real", ["1,0.5", "1,1"])
    assert Y.dtype == np.float64


def test_labels_of_other_values_are_classes(write):
    text = "@relation r\n@attribute a numeric\n@attribute y {0,1}\n@attribute z {red,green}\n@data\n5,1,green\n6,0,red\n"
    found = load(write("made.arff", text), 2)
    assert found.Y.dtype == np.int64
    assert found.Y.tolist() == [[1, 1], [0, 0]]
    assert found.label_categories == {"z": ("red", "green")}
    assert found.to_pandas()[1]["z"].tolist() == ["green", "red"]
    mixed = text.replace("y {0,1}", "y real").replace("5,1,", "5,1.5,")
    assert load(write("made.arff", mixed), 2).Y.tolist() == [[1.5, 1], [0, 0]]


MISSING = {"dense": ["5,1", "6,?", "7,0"], "sparse": ["{0 5, 1 1}", "{0 6, 1 ?}", "{0 7, 1 0}"]}


@pytest.mark.parametrize("declared", ["{0,1}", "{1,0}", "numeric"])
@pytest.mark.parametrize("rows", MISSING.values(), ids=MISSING)
def test_missing_labels_are_refused_dropped_or_absent(write, declared, rows):
    text = "@relation r\n@attribute a numeric\n@attribute y " + declared + "\n@data\n" + "\n".join(rows) + "\n"
    file = write("made.arff", text)
    with pytest.raises(DatasetError, match=r"'y' is missing in row 2 \(1 rows .* missing_labels=\"drop\""):
        load(file, 1, missing_labels="error")
    with pytest.warns(MissingTargetWarning, match=r"'y' is missing in row 2 \(1 rows .* missing_labels=\"drop\"") as told:
        kept = load(file, 1)
    assert told[0].filename == __file__
    np.testing.assert_array_equal(kept.Y, load(file, 1, missing_labels="keep").Y)
    for policy, kept, labels in (("drop", [5, 7], [1, 0]), ("absent", [5, 6, 7], [1, 0, 0])):
        X, Y = load(file, 1, missing_labels=policy, return_X_y=True)
        X, Y = (X, Y) if rows is MISSING["dense"] else (X.toarray(), Y.toarray())
        assert (X.ravel().tolist(), Y.ravel().tolist(), Y.dtype) == (kept, labels, np.uint8)


def test_missing_targets_cannot_be_absent(write):
    for declared, value in (("real", "0.5"), ("{red,green}", "red")):
        file = write("made.arff", f"@relation r\n@attribute a real\n@attribute y {declared}\n@data\n1,{value}\n2,?\n")
        with pytest.raises(DatasetError, match=r"'y' is not one of 0 and 1.*missing_labels=\"drop\""):
            load(file, 1, missing_labels="absent")
        assert load(file, 1, missing_labels="drop").shape == (1, 1, 1)
    with pytest.raises(DatasetError, match="every row has a missing label"):
        load(write("made.arff", "@relation r\n@attribute a real\n@attribute y real\n@data\n2,?\n"), 1, missing_labels="drop")
    with pytest.raises(InputError, match="missing_labels must be"):
        load(file, 1, missing_labels="guess")
