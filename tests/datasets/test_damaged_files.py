"""Whatever happened to a file, it is read or refused in words: no other error comes out."""

import contextlib
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import io as matlab
from scipy import sparse

from fuzz.seeds import LIBSVM, OPTIONS, TABLE, spreadsheet_seeds
from fuzz.targets import read_or_refused
from labelsieve.datasets import Dataset, DatasetError, load
from labelsieve.datasets.readers.columns import Table
from labelsieve.datasets.readers.load import parse

HEAD = b"% made\n@relation 'r: -C 1'\n@attribute a {0,1}\n@attribute 'b c' numeric\n@attribute d {x,'y z'}\n@data\n"


def matlab_file(compressed, kind=np.array):
    file = io.BytesIO()
    matlab.savemat(file, {"data": kind(np.eye(3)), "target": kind(np.eye(3)[:2])}, do_compression=compressed)
    return file.getvalue()


WHOLE = {
    "dense": HEAD + b"1,0.5,x\n0,?,'y z'\n1,-2e3,x % end\n",
    "sparse": HEAD + b"{0 1,1 0.5}\n{}\n{1 ?, 2 'y z'}\n",
    "libsvm": b"1,3 1:0.5 4:2\n 2:1\n3 1:1 # end\n",
    "libsvm with sizes": LIBSVM[-1],
    "csv": b'a,b,c\n1,2,red\n0,,"blue, dark"\n1,4,red\n',
    "table": TABLE,
    "workbook": spreadsheet_seeds()[0],
    "matlab": matlab_file(compressed=False),
    "sparse matlab": matlab_file(compressed=False, kind=sparse.csc_array),
    "packed matlab": matlab_file(compressed=True),
}
PIECES = st.sampled_from(
    [b"", b",", b"'", b'"', b"{", b"}", b"%", b"\n", b" ", b"?", b"@", b":", b"-", b"\\", b"9", b"\xff", b"\0"]
)


@pytest.mark.parametrize("kind", WHOLE)
@given(data=st.data())
def test_damage_is_read_or_refused(kind, data):
    content = WHOLE[kind]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(len(content), start + 4)) | st.just(len(content)))
        content = content[:start] + data.draw(PIECES) + content[end:]
    with contextlib.suppress(DatasetError):
        table = parse(content, "made")
        assert isinstance(table, Table)
        assert table.cells.shape[1] == len(table.columns)


@given(data=st.data())
def test_options_of_reading_are_taken_or_refused(data):
    content = data.draw(st.sampled_from(OPTIONS)) + TABLE
    for _ in range(data.draw(st.integers(0, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = data.draw(st.integers(start, min(len(content), start + 4)))
        content = content[:start] + data.draw(PIECES | st.sampled_from([b";", b"|", b"*", b"[", b"re:", b"\t"])) + content[end:]
    read_or_refused("options", content)


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.filterwarnings("ignore::labelsieve.datasets.DatasetWarning")
def test_whole_files_are_read(kind, tmp_path):
    if kind == "workbook":
        pytest.importorskip("openpyxl")
    (tmp_path / "made").write_bytes(WHOLE[kind])
    labels = {"csv": -1, "table": "size", "workbook": "y"}.get(kind)
    assert isinstance(load(tmp_path / "made", labels), Dataset)
