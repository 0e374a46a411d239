"""Relations of DuckDB have the selection of the same rows in memory."""

import pyarrow as pa
import pytest

from labelsieve import Sieve
from labelsieve.datasets import ChunkedTable
from tests.selectors.test_chunked_tables import LABELS, assert_same, make_frame


def test_relation_of_duckdb():
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    frame = make_frame(5)
    with duckdb.connect() as connection:
        connection.register("songs", pa.table(frame))
        table = ChunkedTable.from_arrow(connection.sql("select * from songs where age >= 10"), LABELS)
        kept = frame[frame["age"] >= 10].reset_index(drop=True)
        assert table.n_rows == len(kept)
        assert_same(Sieve("jmi").fit(table), Sieve("jmi").fit(kept.drop(columns=LABELS), kept[LABELS]))
