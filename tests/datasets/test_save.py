"""Saving: what is written for other programs, what is refused, and that nothing half-written stays."""

import dataclasses
import os
import re
import time
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import sparse

from labelsieve.datasets import Dataset, DatasetError, load, save, writers
from labelsieve.datasets.readers import parquet
from tests.support.shared_files import shared_file


def made(**changes):
    whole = Dataset(
        X=np.array([[0.1, 1.0], [-0.0, np.nan], [5e-324, 0.0]]),
        Y=np.array([[1, 0], [0, 0], [1, 1]], np.uint8),
        feature_names=("tempo", "the 'key', 100%"),
        label_names=("calm", "<happy> & \n{loud}"),
        feature_kinds=("numeric", "nominal"),
        categories={"the 'key', 100%": ("A", "B flat")},
        description="Made up\n\nfor tests",
        name="songs",
    )
    return dataclasses.replace(whole, **changes)


def plain(**changes):
    return made(**{"feature_kinds": ("numeric",) * 2, "categories": {}, **changes})


def test_arff_looks_as_other_programs_expect(tmp_path):
    save(made(), tmp_path / "songs.arff")
    assert (tmp_path / "songs.arff").read_text(encoding="utf-8") == (
        "% Made up\n%\n% for tests\n"
        "@relation 'songs: -C -2'\n\n"
        "@attribute tempo numeric\n"
        "@attribute 'the \\'key\\', 100%' {A,'B flat'}\n"
        "@attribute calm {0,1}\n"
        "@attribute '<happy> & \\n{loud}' {0,1}\n\n"
        "@data\n"
        "0.1,'B flat',1,0\n-0,?,0,0\n5e-324,A,1,1\n"
    )
    root = ElementTree.fromstring((tmp_path / "songs.xml").read_bytes())
    assert root.tag == "{http://mulan.sourceforge.net/labels}labels"
    assert [label.get("name") for label in root] == list(made().label_names)


def test_sparse_rows_leave_out_zeros_and_first_values(tmp_path):
    X = sparse.csr_array(np.array([[0.0, 1.0], [2.5, np.nan], [0.0, 0.0]]))
    save(made(X=X, Y=sparse.csc_array(made().Y)), tmp_path / "songs.arff")
    rows = (tmp_path / "songs.arff").read_text(encoding="utf-8").partition("@data\n")[2]
    assert rows == "{1 'B flat',2 1}\n{0 2.5,1 ?}\n{2 1,3 1}\n"


def test_meka_finds_the_labels_without_the_header(tmp_path):
    (file, header) = save(made(), tmp_path / "songs.arff")
    header.unlink()
    assert load(file).label_names == made().label_names


def test_libsvm_gives_sizes_and_counts_from_0(tmp_path):
    X = np.array([[0.0, 0.5], [0.0, 0.0], [2.0, np.nan]])
    save(plain(X=X), tmp_path / "songs.svm")
    assert (tmp_path / "songs.svm").read_text() == "3 2 2\n0 1:0.5\n 0:0\n0,1 0:2 1:nan\n"


def test_libsvm_takes_numbers_that_are_declared_nominal(tmp_path):
    save(made(categories={"the 'key', 100%": ("0", "1")}), tmp_path / "songs.svm")
    found = load(tmp_path / "songs.svm")
    assert found.feature_kinds == ("numeric", "numeric")
    np.testing.assert_array_equal(found.X.toarray(), made().X)


def test_csv_is_a_table_for_everybody(tmp_path):
    pandas = pytest.importorskip("pandas")
    save(made(label_names=("calm", "<happy>")), tmp_path / "songs.csv")
    frame = pandas.read_csv(tmp_path / "songs.csv")
    assert list(frame.columns) == ["tempo", "the 'key', 100%", "calm", "<happy>"]
    assert frame["tempo"].tolist() == [0.1, 0, 5e-324]
    assert frame["calm"].tolist() == [1, 0, 1]


def test_parquet_is_a_table_for_everybody(tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    save(made(), tmp_path / "songs.parquet")
    frame = pandas.read_parquet(tmp_path / "songs.parquet")
    assert frame["the 'key', 100%"].astype(object).where(frame.notna().all(axis=1), None).tolist() == ["B flat", None, "A"]
    assert polars.read_parquet(tmp_path / "songs.parquet")["calm"].to_list() == [1, 0, 1]
    save(plain(), tmp_path / "plain.parquet")
    assert polars.read_parquet(tmp_path / "plain.parquet")["the 'key', 100%"].to_list() == [1, None, 0]
    assert load(tmp_path / "songs.parquet", ["calm"]).shape == (3, 3, 1)


def test_columns_cut_from_a_parquet_file_are_read_without_its_note(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    save(made(), tmp_path / "songs.parquet")
    parquet.write_table(parquet.read_table(tmp_path / "songs.parquet").drop_columns(["calm"]), tmp_path / "cut.parquet")
    with pytest.raises(DatasetError, match="nothing says which columns are labels"):
        load(tmp_path / "cut.parquet")
    assert load(tmp_path / "cut.parquet", 1).shape == (3, 2, 1)


@pytest.mark.parametrize(
    "note",
    [
        b"{",
        b"[]",
        b'{"version": 2}',
        b'{"version": 1, "features": [], "labels": []}',
        b'{"version": 1, "features": ["tempo"], "labels": [0], "categories": {}}',
        b'{"version": 1, "features": ["tempo"], "labels": ["calm"], "categories": {}, "sparse": true}',
        b'{"version": 1, "features": ["tempo"], "labels": ["calm"], "categories": {"tempo": ["x"]}}',
    ],
)
def test_a_note_that_does_not_fit_is_refused(tmp_path, note):
    parquet = pytest.importorskip("pyarrow.parquet")
    save(made(), tmp_path / "songs.parquet")
    table = parquet.read_table(tmp_path / "songs.parquet").replace_schema_metadata({b"labelsieve": note})
    parquet.write_table(table, tmp_path / "lies.parquet")
    with pytest.raises(DatasetError, match=r"lies\.parquet: "):
        load(tmp_path / "lies.parquet")


@pytest.mark.parametrize("lists", [([[0, 2]], [[1.0, 2.0]]), ([[1, 0]], [[1.0, 2.0]]), ([[0]], [[1.0, 2]]), ([[-1]], [[1.0]])])
def test_lists_that_are_no_sparse_rows_are_refused(tmp_path, lists):
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    note = b'{"version": 1, "features": ["a", "b"], "labels": ["y"], "categories": {}, "sparse": true}'
    table = pyarrow.table({"i": lists[0], "v": lists[1], "y": [1]}).replace_schema_metadata({b"labelsieve": note})
    pyarrow.parquet.write_table(table, tmp_path / "lies.parquet")
    with pytest.raises(DatasetError, match=r"lies\.parquet: its metadata and its columns disagree"):
        load(tmp_path / "lies.parquet")


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("songs.doc", {}, "name does not say what to write. Known are .arff"),
        ("songs", {}, "name does not say"),
        (".arff", {}, "name does not say"),
        ("songs.arff", {"Y": np.array([[1.0, np.nan]] * 3)}, "label is missing"),
        ("songs.arff", {"Y": np.ones((2, 2))}, "X has 3 rows and Y has 2"),
        ("songs.arff", {"X": np.ones((3, 3))}, r"X has the shape \(3, 3\), and there are 2 names"),
        ("songs.arff", {"X": np.full((3, 2), 2**60)}, "X holds int64 numbers that are no 64-bit floats"),
        ("songs.arff", {"X": np.full((3, 2), "text")}, "X holds .* numbers that are no"),
        ("songs.arff", {"X": np.full((3, 2), 2.0)}, '100%" has 2 categories, and a cell that is no code'),
        ("songs.arff", {"X": sparse.csr_array(np.full((3, 2), 0.5))}, "has 2 categories, and a cell"),
        ("songs.arff", {"feature_names": ("calm", "the 'key', 100%")}, "same name: 'calm'"),
        ("songs.arff", {"feature_names": ("a\0", "the 'key', 100%")}, "NUL"),
        ("songs.arff", {"feature_names": ("a\ud800", "the 'key', 100%")}, "surrogate"),
        ("songs.arff", {"categories": {"tempo, too": ("x",)}}, "categories of 'tempo, too', which is no feature"),
        ("songs.arff", {"categories": {}}, "do not agree"),
        ("songs.arff", {"label_categories": {"calm": ("yes", "no")}}, "'calm' has categories that mean no and yes"),
        ("songs.arff", {"label_names": ("calm", "a\x01")}, "character that XML cannot"),
        ("songs.arff", {"categories": {"the 'key', 100%": ("?", "x")}}, "value '\\?' and missing cells"),
        ("songs.svm", {}, "is nominal, and libsvm knows numbers only"),
        ("songs.svm", {"Y": np.full((3, 2), 0.5)}, "labels of 0 and 1 only"),
        ("songs.csv", {}, "has .* a line break, which CSV cannot keep"),
        ("songs.csv", {"label_names": ("a;", ";;;;")}, "more semicolons"),
        ("songs.csv", {"label_names": ("a", "b"), "categories": {"the 'key', 100%": ("NA", "x")}}, "a word for missing"),
    ],
)
def test_what_could_not_be_read_again_is_refused_and_nothing_is_left(tmp_path, name, changes, words):
    with pytest.raises(DatasetError, match=words) as caught:
        save(made(**changes), tmp_path / name)
    assert str(caught.value).startswith(name)
    assert list(tmp_path.iterdir()) == []


def test_files_that_exist_are_not_replaced_unless_asked(tmp_path):
    files = save(made(), tmp_path / "songs.arff")
    with pytest.raises(DatasetError, match=r"songs\.arff: this file exists already.* overwrite=True"):
        save(made(), files[0])
    assert save(made(X=made().X[:1], Y=made().Y[:1]), files[0], overwrite=True) == (files[0],)
    assert load(files[0]).n_rows == 1
    other = made(label_names=("x", "y"))
    with pytest.raises(DatasetError, match=r"songs\.xml: this file exists already"):
        save(other, tmp_path / "songs.arff.gz")
    assert set(save(other, tmp_path / "songs.arff.gz", overwrite=True)) == {tmp_path / "songs.arff.gz", files[1]}


def test_a_header_with_the_same_labels_is_left_as_it_is(tmp_path):
    nested = '<labels><label name="b"><label name="a"/></label></labels>'
    (tmp_path / "songs.xml").write_text(nested)
    assert save(made(label_names=("a", "b")), tmp_path / "songs.arff") == (tmp_path / "songs.arff",)
    assert (tmp_path / "songs.xml").read_text() == nested
    assert load(tmp_path / "songs.arff").label_names == ("a", "b")


@pytest.mark.parametrize("name", ["songs.arff", "songs.arff.gz", "songs.parquet", "songs.csv.xz"])
def test_a_writer_that_fails_leaves_what_was_there(tmp_path, monkeypatch, name):
    dataset = made(label_names=("a", "b"))
    before = {file: file.read_bytes() for file in save(dataset, tmp_path / name)}

    def fail(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        save(dataclasses.replace(dataset, label_names=("c", "d")), tmp_path / name, overwrite=True)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_writer_that_fails_midway_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        yield "half\n"
        raise MemoryError

    monkeypatch.setattr(writers, "_dense_rows", fail)
    with pytest.raises(MemoryError):
        save(made(), tmp_path / "songs.arff")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("existing", [False, True])
def test_the_header_is_taken_back_when_the_data_cannot_be_put_in_place(tmp_path, monkeypatch, existing):
    if existing:
        save(made(label_names=("a", "b")), tmp_path / "songs.arff")
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    replace = os.replace

    def fail(draft, path):
        if path.suffix == ".arff":
            raise PermissionError(13, "Permission denied")
        replace(draft, path)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(PermissionError):
        save(made(), tmp_path / "songs.arff", overwrite=True)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.skipif(os.name == "nt", reason="links and permissions are others there")
def test_links_are_followed_and_permissions_are_the_usual_ones(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "songs.parquet").symlink_to(tmp_path / "there" / "real.parquet")
    (file,) = save(plain(), tmp_path / "songs.parquet")
    assert file == tmp_path / "there" / "real.parquet"
    assert (tmp_path / "songs.parquet").is_symlink()
    mask = os.umask(0)
    os.umask(mask)
    assert file.stat().st_mode & 0o777 == 0o666 & ~mask


def test_the_link_of_a_label_header_stays(tmp_path):
    (tmp_path / "there").mkdir()
    header = tmp_path / "there" / "real.xml"
    header.write_text("old")
    (tmp_path / "songs.xml").symlink_to(header)
    save(made(), tmp_path / "songs.arff", overwrite=True)
    assert (tmp_path / "songs.xml").is_symlink()
    assert "labels" in header.read_text()


def test_packed_files_are_the_same_each_time(tmp_path):
    (one,) = save(plain(), tmp_path / "one.svm.gz")
    (two,) = save(plain(), tmp_path / "two.svm.gz")
    assert one.read_bytes() == two.read_bytes()


def test_zstd_without_its_package_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(writers, "find_spec", lambda name: None)
    with pytest.raises(DatasetError, match=r"labelsieve\[zstd\]"):
        save(plain(), tmp_path / "songs.svm.zst")


def test_parquet_without_its_package_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "find_spec", lambda name: None)
    with pytest.raises(DatasetError, match=re.escape("pip install 'labelsieve[tables]'")):
        save(made(), tmp_path / "songs.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["arff", "parquet", "svm"])
def test_wide_sparse_data_is_saved_in_seconds(tmp_path, ending):
    dataset = load(shared_file("data", "yahoo-reference", "yahoo-reference.arff.gz"))
    start = time.process_time()
    save(dataset, tmp_path / f"wide.{ending}")
    assert time.process_time() - start < 10


def test_errors_name_the_file_and_not_its_draft(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"file/songs\.parquet'$"):
        save(plain(), tmp_path / "file" / "songs.parquet")
