import gzip
import re
import tracemalloc
import zlib
from io import BytesIO

import numpy as np
import pytest
from scipy import io, sparse

from labelsieve.datasets import DatasetError, describe, load
from labelsieve.datasets.readers import files, labels
from labelsieve.datasets.readers.load import parse

X = np.array([[0.5, 0.0], [0.0, 2.0], [1.0, 3.0]])
Y = np.array([[1, 0], [0, 0], [1, 1]])


def check(found, scattered=False):
    assert sparse.issparse(found.X) == sparse.issparse(found.Y) == scattered
    np.testing.assert_array_equal(found.X.toarray() if scattered else found.X, X)
    np.testing.assert_array_equal(found.Y.toarray() if scattered else found.Y, Y)
    assert found.Y.dtype == np.uint8


@pytest.mark.parametrize("target", [Y, Y.T, Y.T * 2 - 1], ids=["n x q", "q x n", "-1 and 1"])
def test_matlab_with_labels_either_way_round(tmp_path, target):
    io.savemat(tmp_path / "made.mat", {"data": X, "target": target, "name": "made"})
    found = load(tmp_path / "made.mat")
    check(found)
    assert found.label_names == ("label1", "label2")


def test_matlab_parts_are_joined(tmp_path):
    parts = {"train_data": X[:2], "train_target": Y[:2].T, "test_data": X[2:], "test_target": Y[2:].T}
    io.savemat(tmp_path / "made.mat", parts, do_compression=True)
    check(load(tmp_path / "made.mat"))


def test_matlab_sparse_matrices_stay_sparse(tmp_path):
    io.savemat(tmp_path / "made.mat", {"X": sparse.csc_array(X), "Y": sparse.csc_array(Y.astype(float))})
    check(load(tmp_path / "made.mat"), scattered=True)


def test_matlab_labels_get_the_names_of_a_header(tmp_path):
    io.savemat(tmp_path / "made.mat", {"data": X, "target": Y})
    (tmp_path / "two.xml").write_text('<labels><label name="calm"/><label name="happy"/></labels>')
    found = load(tmp_path / "made.mat", tmp_path / "two.xml")
    check(found)
    assert found.label_names == ("calm", "happy")
    (tmp_path / "one.xml").write_text('<labels><label name="calm"/></labels>')
    with pytest.raises(DatasetError, match=r"lists 1 labels, and made\.mat has 2"):
        load(tmp_path / "made.mat", tmp_path / "one.xml")


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"A": X}, "no variables 'data' and 'target'; there are 'A'"),
        ({"data": X, "target": np.array([{"a": 1}], dtype=object)}, "'target' is not a matrix of numbers"),
        ({"data": X, "target": "text"}, "'target' is not a matrix of numbers"),
        ({"data": X, "target": np.ones((4, 4))}, "no common side"),
    ],
)
def test_matlab_without_two_matrices_is_refused(tmp_path, variables, words):
    io.savemat(tmp_path / "made.mat", variables)
    with pytest.raises(DatasetError, match=words):
        load(tmp_path / "made.mat")


def test_matlab_of_other_versions_or_cut_short_is_refused(tmp_path):
    file = tmp_path / "made.mat"
    file.write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64" + bytes(500))
    with pytest.raises(DatasetError, match=r"version 7\.3.*-v7"):
        load(file)
    io.savemat(file, {"data": X, "target": Y})
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(DatasetError, match="cannot be read as MATLAB 5"):
        load(file)


def bomb(n_rows):
    """A file of zeros, which packed are next to nothing."""
    file = BytesIO()
    io.savemat(file, {"data": np.zeros((n_rows, 1000)), "target": np.ones((n_rows, 1))}, do_compression=True)
    return file.getvalue()


def test_matlab_variables_may_not_unpack_beyond_the_limit(tmp_path):
    file = tmp_path / "bomb.mat"
    file.write_bytes(bomb(1000))
    assert file.stat().st_size < 20_000
    tracemalloc.start()
    with pytest.raises(DatasetError, match=r"bomb\.mat: a variable unpacks to 8,000,\d+ bytes, and 1,000,000 .* max_bytes="):
        load(file, max_bytes=1_000_000)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2_000_000
    assert load(file, max_bytes=30_000_000).shape == (1000, 1000, 1)


def test_matlab_variables_of_small_numbers_count_as_they_will_lie_in_memory(tmp_path):
    io.savemat(tmp_path / "made.mat", {"data": np.zeros((500, 1000), np.int8), "target": np.ones((500, 1))})
    with pytest.raises(DatasetError, match=r"size \(500, 1000\) takes 12,000,000 bytes, and 2,000,000 is the most"):
        load(tmp_path / "made.mat", max_bytes=2_000_000)


def test_matlab_variables_longer_than_they_say_are_refused():
    content = bomb(10)
    size = int.from_bytes(content[132:136], "little")
    inner = bytearray(zlib.decompress(content[136 : 136 + size]))
    for longer in (inner + bytes(8), inner[:-8]):
        packed = zlib.compress(longer)
        lies = content[:132] + len(packed).to_bytes(4, "little") + packed + content[136 + size :]
        with pytest.raises(DatasetError, match="cut short"):
            parse(lies, "lies.mat")


@pytest.mark.parametrize(
    "text",
    ["1 1:0.5\n 2:2\n1,2 1:1 2:3\n", "3 2 2\n0 0:0.5\n 1:2\n0,1 0:1 1:3\n", "5 1:0.5 # a comment\n2:2\n7,5 1:1 2:3\n"],
)
def test_libsvm_rows_with_many_labels(tmp_path, text):
    (tmp_path / "made.txt").write_text(text)
    check(load(tmp_path / "made.txt"), scattered=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 1:2\n1 2:1\n1 1:2\n1 x:1\n", "line 4: '1 x:1' is not of the form"),
        ("1 2:2 1:1\n", "line 1: its indices do not rise"),
        ("1 1:1\n1 99999999999999999999:1\n", "line 2: an index of '1 99999999999999999999:1' is too large"),
        ("1 1:1\n99999999999999999999 1:1\n", "line 2: label 1e.20 is no whole number, or too large"),
        ("1 2000000000:1\n", "it asks for 2,000,000,001 columns"),
        ("1 2 99999999999\n0 0:0.5\n", "it asks for 100,000,000,001 columns"),
        ("9 2 2\n0 0:0.5\n", "line 1: its first line promises 9 rows, but 1 follow"),
        ("2 2 2\n0 0:0.5\n1 1:1 2:1\n", "line 3: feature 2: the first line promises 2 features, numbered from 0"),
        ("2 2 2\n0,2 0:0.5\n1 1:1\n", "line 2: label 2: the first line promises 2 labels, numbered from 0"),
    ],
)
def test_libsvm_errors_name_the_line(tmp_path, text, words):
    (tmp_path / "made.txt").write_text(text)
    with pytest.raises(DatasetError, match=r"made\.txt[,:] " + words):
        load(tmp_path / "made.txt")


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_csv(tmp_path, mark):
    rows = ["a,b,calm,happy", *(",".join(map(str, [*x, *y])) for x, y in zip(X, Y, strict=True))]
    (tmp_path / "made.csv").write_text("\n".join(rows).replace(",", mark))
    found = load(tmp_path / "made.csv", 2)
    check(found)
    assert found.feature_names == ("a", "b")


def test_csv_with_words_is_nominal_and_with_gaps_missing(tmp_path):
    (tmp_path / "made.csv").write_text('a,b,y\nred,1,1\n"blue, dark",NA,0\n,3,1\n')
    found = load(tmp_path / "made.csv", ["y"])
    np.testing.assert_array_equal(found.X, [[1, 1], [0, np.nan], [np.nan, 3]])
    assert found.feature_kinds == ("nominal", "numeric")
    assert found.categories == {"a": ("blue, dark", "red")}
    frame, labels = found.to_pandas()
    assert frame["a"].astype(object).where(frame["a"].notna(), None).tolist() == ["red", "blue, dark", None]
    assert labels["y"].tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n3\n", "line 3: there are 1 values and 2 columns"),
        ("a,a\n1,2\n", "same name: 'a'"),
        ("a,\n1,2\n", "line 1: column 2 has no name"),
        ("a,b\n", "no rows under the header"),
        (" \n", "the file is empty"),
    ],
)
def test_csv_errors(tmp_path, text, words):
    (tmp_path / "made.csv").write_text(text)
    with pytest.raises(DatasetError, match=words):
        load(tmp_path / "made.csv", 1)


def test_parquet(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "calm": Y[:, 0].astype(bool), "happy": Y[:, 1]})
    frame.to_parquet(tmp_path / "made.pq")
    check(load(tmp_path / "made.pq", 2))
    (tmp_path / "cut.pq").write_bytes((tmp_path / "made.pq").read_bytes()[:100])
    with pytest.raises(DatasetError, match="cannot be read as Parquet"):
        load(tmp_path / "cut.pq", 2)


ARFF = "% Songs\n@relation r\n@attribute a real\n@attribute b real\n@attribute y {0,1}\n@attribute z {0,1}\n@data\n"


def test_parts_of_one_header_are_joined_and_others_refused(tmp_path):
    train, test, other = (tmp_path / f"made-{part}.arff.gz" for part in ("train", "test", "other"))
    train.write_bytes(gzip.compress((ARFF + "0.5,0,1,0\n0,2,0,0\n").encode()))
    test.write_bytes(gzip.compress((ARFF + "{0 1,1 3,2 1,3 1}\n").encode()))
    found = load((train, test), 2)
    check(found, scattered=True)
    assert (found.name, found.description) == ("made", "Songs")
    for old, new, words in (("b real", "c real", "'c', is named 'b'"), ("y {0,1}", "y {1,0}", "'y', is declared otherwise")):
        other.write_bytes(gzip.compress((ARFF.replace(old, new) + "1,1,1,1\n").encode()))
        with pytest.raises(DatasetError, match=re.escape(words)):
            load([train, other], 2)
    with pytest.raises(DatasetError, match="no file"):
        load([])


def test_sparse_data_goes_to_pandas(tmp_path):
    (tmp_path / "made.arff").write_text(ARFF + "{0 0.5,2 1}\n{1 2}\n{0 1,1 3,2 1,3 1}\n")
    features, labels = load(tmp_path / "made.arff", 2).to_pandas()
    np.testing.assert_array_equal(features.to_numpy(), X)
    np.testing.assert_array_equal(labels.to_numpy(), Y)


def test_statistics_with_a_label_that_never_occurs_and_rows_without_labels(tmp_path):
    (tmp_path / "made.arff").write_text(ARFF + "1,1,1,0\n0,1,0,0\n")
    found = describe(load(tmp_path / "made.arff", 2))
    assert found.imbalance.tolist() == [1, np.inf]
    assert (found.mean_imbalance, found.imbalance_variation, found.scumble) == (1, 0, 0)
    assert (found.cardinality, found.density, found.n_distinct, found.x_density) == (0.5, 0.25, 2, 0.75)


def test_statistics_refuse_numeric_targets(tmp_path):
    (tmp_path / "made.csv").write_text("a,y\n1,0.5\n2,3\n")
    with pytest.raises(ValueError, match="made has numeric targets"):
        describe(load(tmp_path / "made.csv", 1))


def test_parquet_numbers_of_every_kind_are_numbers(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {kind: pyarrow.array([1, 0, None], kind) for kind in ("int8", "uint64", "float32", "float64")}
    columns |= {"bool": [True, False, None], "label": [1, 0, 1]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "made.parquet")
    X = load(tmp_path / "made.parquet", 1).X
    assert np.array_equal(X, np.repeat([[1.0], [0.0], [np.nan]], 5, axis=1), equal_nan=True)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("content", ["tempo,tags\n98,a;b\n97,a\n96,b\n", "1,3 1:0.5\n2 1:1\n"])
def test_a_file_is_opened_and_its_label_sets_are_split_once(tmp_path, monkeypatch, pack, content):
    file = tmp_path / "made.data"
    file.write_bytes(pack(content.encode()))
    opened, split = [], []
    monkeypatch.setattr(files, "Content", lambda *given, make=files.Content: opened.append(given[1]) or make(*given))
    monkeypatch.setattr(labels, "_split", lambda *given, split_texts=labels._split: split.append(given) or split_texts(*given))
    load(file, 1 if "tags" in content else None, label_separator=";" if "tags" in content else None)
    assert opened == [file]
    assert len(split) == ("tags" in content)
