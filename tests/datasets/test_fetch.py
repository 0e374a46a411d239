"""Data sets by name: from a folder, from the cache, from a server on this machine; and what is said where they are not."""

import bz2
import functools
import gc
import gzip
import hashlib
import http.server
import importlib
import json
import os
import threading
from dataclasses import replace

import numpy as np
import pytest

from labelsieve.datasets import DatasetError, catalog, fetch, load_tecator
from labelsieve.datasets.fetch import BUNDLED, PAPERS, catalog_entry, checksums, is_sound, where
from tests.support.shared_files import shared_file

FETCH = importlib.import_module("labelsieve.datasets.fetch")  # the function has the same name
HEAD = "@relation songs\n@attribute tempo numeric\n@attribute calm {0,1}\n@attribute happy {0,1}\n@data\n"
ARFF = {"": HEAD + "98,1,0\n160,0,1\n97,1,1\n", "-train": HEAD + "98,1,0\n160,0,1\n", "-test": HEAD + "97,1,1\n"}
XML = '<labels><label name="calm"/><label name="happy"/></labels>'
FILES = {"yeast.xml": XML, **{f"yeast{part}.arff": text for part, text in ARFF.items()}}


pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache, and no folder."""
    monkeypatch.setenv("LABELSIEVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LABELSIEVE_DATA", raising=False)
    return tmp_path / "cache"


def write(folder, files=FILES):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def know(monkeypatch, texts, **changes):
    """Let the catalog's yeast be small files of ours."""
    entry = replace(catalog_entry("yeast"), **changes)
    sums = {f"yeast/{name}": hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    monkeypatch.setattr(FETCH, "catalog_entry", lambda name: entry)
    monkeypatch.setattr(FETCH, "checksums", lambda: sums)
    return entry


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A web server on this machine: its folder, its address, and what was asked of it."""
    asked = []

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format, *arguments):
            asked.append(arguments[0])

    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield folder, f"http://127.0.0.1:{running.server_address[1]}/", asked
        running.shutdown()
    gc.collect()  # pooch leaves the connections of failed downloads to it


def test_the_catalog_agrees_with_the_manifest():
    known = json.loads(shared_file("data", "MANIFEST.json").read_text())["datasets"]
    for name, entry in catalog().items():
        if name == "tecator":  # part of the package, not of the shared folder
            continue
        assert (entry.rows, entry.features, entry.labels) == tuple(known[name][key] for key in ("N", "d", "q"))
        content = {
            file["path"].rpartition("/")[2].removesuffix(".gz"): file.get("uncompressed_sha256", file["sha256"])
            for file in known[name]["files"]
        }
        for file in {*entry.needed(), *filter(None, (entry.train, entry.test))}:
            plain = file.removesuffix(".bz2")
            assert checksums()[f"{name}/{plain}"] == content[plain]


def test_tecator_is_part_of_the_package(monkeypatch, tmp_path):
    monkeypatch.delenv("LABELSIEVE_DATA", raising=False)
    monkeypatch.setenv("LABELSIEVE_CACHE", str(tmp_path))
    meat, entry = load_tecator(), catalog_entry("tecator")
    assert meat.shape == (entry.rows, entry.features, entry.labels) == (215, 100, 3)
    assert where(entry) == "package"
    assert is_sound(entry, BUNDLED / "tecator.arff.gz")
    assert "can be redistributed as long as this permission note is attached" in " ".join(meat.description.split())
    assert ((meat.Y.sum(axis=1) > 90) & (meat.Y.sum(axis=1) < 102)).all()  # percent, and little else is in meat
    X, Y = load_tecator(return_X_y=True)
    assert np.array_equal(X, fetch("Tecator", download=False).X)
    assert np.array_equal(Y, meat.Y)


def test_every_entry_is_whole():
    for entry in catalog().values():
        assert set(entry.papers) <= set(PAPERS)
        assert entry.task in ("labels", "numbers")
        assert (entry.given == "header") == bool(entry.header)
        assert not entry.url or (entry.url.startswith("https://") and entry.url.endswith("/"))
        assert entry.origin
        assert bool(entry.train) == bool(entry.test)


@pytest.mark.parametrize("inside", ["yeast", "."])
@pytest.mark.parametrize("packing", ["", ".gz", ".bz2"])
def test_files_of_ones_own_come_first_loose_or_in_a_folder_packed_or_not(tmp_path, monkeypatch, inside, packing):
    pack = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}[packing]
    home = tmp_path / "own"
    write(home / inside, {"yeast.xml": XML, f"yeast.arff{packing}": pack(ARFF[""].encode())})
    monkeypatch.setenv("LABELSIEVE_DATA", str(home))
    assert fetch("Yeast").shape == (3, 1, 2)
    assert where(catalog_entry("yeast")) == "folder"
    monkeypatch.delenv("LABELSIEVE_DATA")
    assert fetch("yeast", data_home=home).label_names == ("calm", "happy")


def test_parts_and_options_of_load(tmp_path):
    home = write(tmp_path / "own")
    assert fetch("yeast", part="train", data_home=home).n_rows == 2
    assert fetch("yeast", part="test", data_home=home).n_rows == 1
    both = fetch("yeast", part="train+test", data_home=home)
    parts = [fetch("yeast", part=part, data_home=home).X for part in ("train", "test")]
    np.testing.assert_array_equal(both.X, np.vstack(parts))
    assert fetch("yeast", data_home=home, labels=["happy"]).shape == (3, 2, 1)
    with pytest.raises(DatasetError, match="longer than 5 bytes"):
        fetch("yeast", data_home=home, max_bytes=10)
    with pytest.raises(DatasetError, match="bibtex has no separate train part"):
        fetch("bibtex", part="train", data_home=home)
    with pytest.raises(ValueError, match="part must be 'train' or 'test'"):
        fetch("yeast", part="dev", data_home=home)


def test_train_and_test_files_are_joined_where_there_is_no_whole(tmp_path):
    files = {name.replace("yeast", "scene"): content for name, content in FILES.items() if name != "yeast.arff"}
    assert fetch("scene", data_home=write(tmp_path / "own", files)).n_rows == 3


def test_what_is_downloaded_is_kept_and_not_asked_for_again(server, cache, monkeypatch):
    folder, url, asked = server
    write(folder)
    entry = know(monkeypatch, FILES, url=url)
    assert fetch("yeast").shape == (3, 1, 2)
    assert len(asked) == 2
    assert sorted(path.name for path in (cache / "yeast").iterdir()) == ["yeast.arff", "yeast.xml"]
    assert where(entry) == "cache"
    assert fetch("yeast").shape == (3, 1, 2)
    assert fetch("yeast", download=False).shape == (3, 1, 2)
    assert len(asked) == 2


def test_packed_downloads_are_checked_by_their_content(server, cache, monkeypatch):
    folder, url, _ = server
    write(folder, {"yeast.xml": XML, "yeast.arff.bz2": bz2.compress(ARFF[""].encode())})
    know(monkeypatch, FILES, url=url, files=("yeast.arff.bz2",))
    assert fetch("yeast").n_rows == 3
    write(folder, {"yeast.arff.bz2": bz2.compress(b"something else")})
    write(cache / "yeast", {"yeast.arff.bz2": b"damaged"})
    with pytest.raises(DatasetError, match="what was downloaded has another checksum"):
        fetch("yeast")
    assert not (cache / "yeast" / "yeast.arff.bz2").exists()


def test_a_damaged_file_of_the_cache_is_not_used(server, cache, monkeypatch):
    folder, url, asked = server
    write(folder)
    know(monkeypatch, FILES, url=url)
    write(cache / "yeast", {**FILES, "yeast.arff": ARFF["-train"]})
    with pytest.raises(DatasetError, match=r"yeast\.arff: is not here, and the one in the cache is damaged"):
        fetch("yeast", download=False)
    assert fetch("yeast").n_rows == 3
    assert len(asked) == 1, "only the damaged one"


def test_a_file_of_the_cache_is_read_twice_only_once(cache, monkeypatch):
    know(monkeypatch, FILES, url="")
    write(cache / "yeast")
    hashed = []
    monkeypatch.setattr(FETCH, "is_sound", lambda entry, path: hashed.append(path.name) or is_sound(entry, path))
    for _ in range(3):
        assert fetch("yeast", download=False).n_rows == 3
    assert sorted(hashed) == ["yeast.arff", "yeast.xml"], "by the first call alone"
    write(cache / "yeast", {"yeast.arff": ARFF["-train"]})
    with pytest.raises(DatasetError, match="the one in the cache is damaged"):
        fetch("yeast", download=False)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write to any folder")
def test_a_cache_that_cannot_be_written_to_is_read(cache, monkeypatch):
    know(monkeypatch, FILES, url="")
    folder = write(cache / "yeast")
    folder.chmod(0o555)
    try:
        assert [fetch("yeast", download=False).n_rows for _ in range(2)] == [3, 3]
    finally:
        folder.chmod(0o755)


def test_a_download_with_another_checksum_is_refused(server, cache, monkeypatch):
    folder, url, _ = server
    write(folder, {**FILES, "yeast.arff": ARFF["-train"]})
    know(monkeypatch, FILES, url=url)
    with pytest.raises(DatasetError, match=r"could not be downloaded \(its content has another checksum\)"):
        fetch("yeast")
    assert not list(cache.rglob("*.arff"))


def test_without_a_network_the_error_says_what_to_put_where(server, cache, monkeypatch):
    know(monkeypatch, FILES, url=server[1])
    with pytest.raises(DatasetError) as missing:
        fetch("yeast")
    assert str(missing.value).startswith("yeast.arff: is not here and could not be downloaded (HTTPError")
    assert f"Put it into {cache / 'yeast'}, or into a folder that data_home= or the variable LABELSIEVE_DATA names" in str(
        missing.value
    )
    know(monkeypatch, FILES, url="http://127.0.0.1:9/")  # nobody listens there
    with pytest.raises(DatasetError, match=r"\(ConnectionError\)"):
        fetch("yeast")
    know(monkeypatch, FILES, url="")
    with pytest.raises(DatasetError, match="no address to download it from is known"):
        fetch("yeast")


def test_unknown_names_bring_close_ones():
    with pytest.raises(DatasetError, match=r"'emotion'\. Close to it: 'emotions'"):
        fetch("emotion")
    with pytest.raises(DatasetError, match=r"there is no data set named 'zzz'\. `labelsieve datasets list`"):
        fetch("zzz")
