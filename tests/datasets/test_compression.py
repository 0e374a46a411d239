import bz2
import gzip
import lzma

import pytest

from labelsieve.datasets import DatasetError
from labelsieve.datasets.readers import files as file_bytes
from labelsieve.datasets.readers.files import read_bytes

CONTENT = bytes(range(256)) * 400
PACKERS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}


@pytest.fixture
def file(tmp_path):
    return tmp_path / "made.data"  # the name says nothing


def test_a_plain_file_is_read_as_it_is(file):
    file.write_bytes(b"plain")
    assert read_bytes(file, 2**20) == b"plain"


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_packed_files_are_known_by_their_first_bytes(file, pack):
    file.write_bytes(pack(CONTENT))
    assert read_bytes(file, 2**20) == CONTENT


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_archives_in_a_row_are_read_to_the_end(file, pack):
    file.write_bytes(pack(b"one") + pack(b"two"))
    assert read_bytes(file, 2**20) == b"onetwo"


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_a_cut_archive_is_refused(file, pack):
    packed = pack(CONTENT)
    file.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(DatasetError, match=r"made\.data: the archive is cut short or damaged"):
        read_bytes(file, 2**20)


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
def test_a_damaged_archive_is_refused(file, pack):
    packed = bytearray(pack(CONTENT))
    packed[len(packed) // 2] ^= 0xFF
    packed[-6] ^= 0xFF
    file.write_bytes(packed)
    with pytest.raises(DatasetError, match="cut short or damaged"):
        read_bytes(file, 2**20)


@pytest.mark.parametrize("pack", [bytes, *PACKERS.values()], ids=["plain", *PACKERS])
def test_content_over_the_limit_is_refused(file, pack):
    file.write_bytes(pack(CONTENT))
    assert read_bytes(file, max_bytes=3 * len(CONTENT)) == CONTENT
    with pytest.raises(DatasetError, match=r"longer than 102,399 bytes.*max_bytes="):
        read_bytes(file, max_bytes=2 * len(CONTENT) - 1)


def test_a_missing_file_is_the_systems_to_report(file):
    with pytest.raises(FileNotFoundError):
        read_bytes(file, 2**20)


def test_zstd_without_its_package_says_what_to_install(file, monkeypatch):
    monkeypatch.setattr(file_bytes, "find_spec", lambda name: None)
    file.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    with pytest.raises(DatasetError, match=r"labelsieve\[zstd\]"):
        read_bytes(file, 2**20)


def test_zstd_with_its_package(file):
    zstandard = pytest.importorskip("zstandard")
    packed = zstandard.ZstdCompressor().compress(CONTENT)
    file.write_bytes(packed + packed)
    assert read_bytes(file, 2**20) == CONTENT * 2
    file.write_bytes(packed[:-5])
    with pytest.raises(DatasetError, match="cut short"):
        read_bytes(file, 2**20)
