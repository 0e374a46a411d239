"""Relations of DuckDB, and counts that partitions of Spark compute: the selection of the same rows in memory."""

import numpy as np
import pyarrow as pa
import pytest

from labelsieve import PairCounts, Sieve
from labelsieve.datasets import ChunkedTable
from labelsieve.discretize import EqualFrequency
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


@pytest.mark.slow  # starts a virtual machine of Java
@pytest.mark.filterwarnings("ignore")
def test_counts_of_partitions_of_spark():
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    frame = make_frame(6).drop(columns=["mood", "f3"])
    features = [name for name in frame if name not in LABELS]
    bins = EqualFrequency(5).fit(frame[features])

    def count(batches):
        counts = PairCounts(bins)
        empty = True
        for batch in batches:
            part = batch.to_pandas()
            if len(part):
                counts.partial_fit(part[features], part[LABELS])
                empty = False
        if not empty:  # a partition may have no rows
            yield pa.record_batch({"counts": [counts.to_bytes()]})

    spark = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        parts = spark.createDataFrame(frame).repartition(3).mapInArrow(count, "counts binary").collect()
    finally:
        spark.stop()
    assert len(parts) == 3
    first, *others = (PairCounts.from_bytes(bytes(part.counts)) for part in parts)
    ours = Sieve("mrmr", n_features_to_select=4).fit(first.merge(*others))
    expected = Sieve("mrmr", n_features_to_select=4, discretizer=bins).fit(frame[features], frame[LABELS])
    assert np.array_equal(ours.selected_, expected.selected_)
    assert ours.scores_.tobytes() == expected.scores_.tobytes()
