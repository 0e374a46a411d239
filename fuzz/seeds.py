"""Small whole files of every format, for the fuzzer to begin with. They are made here, not taken from anywhere."""

import bz2
import gzip
import io
import lzma

import numpy as np
from scipy import io as matlab
from scipy import sparse

HEAD = b"% made\n@relation 'r: -C 1'\n@attribute a {0,1}\n@attribute 'b c' numeric\n@attribute d {x,'y z'}\n@data\n"
ARFF = [
    HEAD + b"1,0.5,x\n0,?,'y z'\n1,-2e3,x % end\n",
    HEAD + b"{0 1,1 0.5}\n{}\n{1 ?, 2 'y z'}\n",
    b'@RELATION "r"\r\n@Attribute a real\r\n@attribute it\'s {1,0}\r\n@DATA\r\n 1 , 0\r\n\r\n%\r\n?,1\r\n',
    b"\xef\xbb\xbf@relation r\n@attribute 'it\\'s' integer\n@attribute b {TRUE,FALSE}\n@data\n7,TRUE\n\xc3\xa9,FALSE\n",
]
XML = [
    b'<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">'
    b'<label name="a"/><label name="b"><label name="c &amp; d"></label></label></labels>',
    b"<!DOCTYPE labels [<!ENTITY e 'x'>]><labels><label name='&e;'/></labels>",
    b'<?xml version="1.0" encoding="iso-8859-1"?><labels><label name="\xe9"/><!-- end --></labels>',
]
LIBSVM = [
    b"1,3 1:0.5 4:2\n 2:1\n3 1:1 # end\n",
    b"2 3 2\n0 0:1 2:-1e3\n0,1 1:nan\n",
    b"+1 1:1\n-1 2:1\n",
    b"3 4 3\r\n0,2 0:.5 3:1e-5\r\n\r\n1 2:7.\r\n",
]
TABLE = b"when;size;key;tags;y1\n2020-01-31;1,5;A;x,y;0\n1.2.2020;1.234,5;;y;1\n;7;B;;?\n"
CSV = [
    TABLE,
    b"when,y\n2020-01-31 12:30:00+01:00,1\n1970-01-01,0\n",
    b"t|y\n12:30|1\n00:00:00.5|0\n",
    b'a,b,c\n1,2,red\n0,,"blue, dark"\n1,4,red\n',
    b"a;b\r\n1;2\r\n?;NA\r\n",
    b"a\tb\n1\t2e9\n",
]
OPTIONS = [b"tags\n,\n\n", b"y*\n\n1\n", b"re:^y[0-9]$\n\n11\n", b"y1, tags\n,\n111\n", b"2\n;\n\n"]
PACKERS = (gzip.compress, bz2.compress, lzma.compress)


def matlab_file(compressed, kind=np.array, **more):
    file = io.BytesIO()
    matlab.savemat(file, {"data": kind(np.eye(3)), "target": kind(np.eye(3)[:2]), **more}, do_compression=compressed)
    return file.getvalue()


def parquet_file(columns, **options):
    import pyarrow
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), file, **options)
    return file.getvalue()


def matlab_seeds():
    made = [matlab_file(packed, kind) for packed in (False, True) for kind in (np.array, sparse.csc_array)]
    parts = {name: np.eye(3) for name in ("train_data", "train_target", "test_data", "test_target")}
    return [
        *made,
        matlab_file(False, lambda values: values.astype(np.uint8), text="x", cell=np.array([1, "a"], object), **parts),
    ]


def parquet_seeds():
    columns = {"a": [1, 2, None], "b": [0.5, -1.0, 2.0], "c": ["x", "y", "x"], "d": [True, False, True]}
    return [parquet_file(columns), parquet_file({"a": [[1], [2, 3]], "b": [b"x", b"\xff"]}, compression="gzip")]


def packed_seeds():
    made = [pack(content) for pack in PACKERS for content in (ARFF[0], LIBSVM[0])]
    try:
        from zstandard import compress
    except ModuleNotFoundError:
        return made
    return [*made, compress(ARFF[0])]


def spreadsheet_seeds():
    try:
        from openpyxl import Workbook
    except ModuleNotFoundError:
        return [b"PK\x03\x04", b"\xd0\xcf\x11\xe0"]
    made = []
    for rows in ([["a", "b", "y"], [1, "x", 0], [2.5, None, 1]], [["a", "a"], [1, 2]], [["when", ""], ["2020-01-31", True]]):
        book, file = Workbook(), io.BytesIO()
        for row in rows:
            book.active.append(row)
        book.save(file)
        made.append(file.getvalue())
    return made


def seeds(target):
    """The seeds of a target, by its name."""
    fixed = {"arff": ARFF, "xml": XML, "libsvm": LIBSVM, "csv": CSV, "options": [options + TABLE for options in OPTIONS]}
    if target in fixed:
        return fixed[target]
    made = {
        "matlab": matlab_seeds,
        "parquet": parquet_seeds,
        "packed": packed_seeds,
        "spreadsheet": spreadsheet_seeds,
    }
    return made[target]() if target in made else [*ARFF, *LIBSVM, *CSV]
