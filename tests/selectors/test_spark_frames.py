"""Data frames of Spark have the selection of the same rows in memory, bit for bit."""

from decimal import Decimal
from functools import partial
from operator import add

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

from labelsieve import InputError, LabelwiseSieve, PairCounts, Sieve
from labelsieve.counting.backends import spark as spark_backend
from labelsieve.datasets import ChunkedTable
from labelsieve.discretize import EqualFrequency
from labelsieve.errors import ClusterError
from tests.selectors.test_chunked_tables import LABELS, N_ROWS, assert_same, make_frame
from tests.support.spark_session import local_session

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def session():
    yield from local_session()


@pytest.fixture
def many_parts(monkeypatch):
    """Parts of some rows, sent in several messages."""
    monkeypatch.setattr(spark_backend, "PART_BYTES", 5000)
    monkeypatch.setattr(spark_backend, "SENT_BYTES", 30_000)


def mixed_frame(seed=0):
    """Numbers, text, dates, truth values and decimal numbers with missing cells, and a column with a dot in its name."""
    frame = make_frame(seed).rename(columns={"f0": "f.0"})
    frame["mood"] = frame["mood"].where(frame["mood"] != "?", None)
    frame["day"] = pd.date_range("2026-01-01", periods=N_ROWS, unit="us")[::-1]
    frame["truth"] = frame["f1"] + frame["f2"] > 0
    frame["price"] = [Decimal(int(cents)).scaleb(-2) for cents in np.random.default_rng(seed).integers(0, 500, N_ROWS)]
    return frame


def in_memory(rows, criterion, weights=None, labels=LABELS, **settings):
    """Fit the rows of a frame of Spark in the order in which it has them, which are not those that were put in."""
    frame = rows.toPandas()
    if "price" in frame:
        frame["price"] = frame["price"].astype(float)
    X = frame.drop(columns=[*labels, *([] if weights is None else [weights])])
    return Sieve(criterion, **settings).fit(X, frame[labels], None if weights is None else frame[weights])


@pytest.mark.parametrize("criterion", ["hybrid", "cmim"])
def test_frames_of_every_kind_of_column(session, many_parts, criterion):
    rows = session.createDataFrame(mixed_frame()).repartition(3)
    ours = Sieve(criterion, n_features_to_select=6).fit(rows, LABELS)
    assert_same(ours, in_memory(rows, criterion, n_features_to_select=6))
    assert ours.feature_names_in_.tolist() == [name for name in mixed_frame() if name not in LABELS]
    assert ours.label_names_.tolist() == LABELS
    assert set(ours.transform(rows.drop(*LABELS)).columns) == set(ours.get_feature_names_out())


def test_weights_unknown_labels_and_numeric_targets(session):
    frame = make_frame(1)
    rng = np.random.default_rng(1)
    frame["weight"] = rng.integers(0, 4, N_ROWS)
    frame["l0"] = frame["l0"].astype(float).where(rng.random(N_ROWS) < 0.8)
    frame["l1"] = frame["l1"] + rng.normal(size=N_ROWS)
    rows = session.createDataFrame(frame).repartition(2)
    ours = Sieve(n_features_to_select=4).fit(rows, LABELS, sample_weight="weight")
    assert_same(ours, in_memory(rows, "hybrid", "weight", n_features_to_select=4))
    assert ours.target_types_.tolist() == ["class", "numeric", "class", "class"]


def test_other_criteria_and_label_spaces(session):
    rows = session.createDataFrame(make_frame(2)).repartition(2)
    table = ChunkedTable.from_spark(rows, LABELS)  # cached once for both
    for settings in ({"criterion": "jmi", "targets": "copy"}, {"criterion": "omp", "target_weight": [1, 2, 0.5, 1]}):
        ours = Sieve(**settings, n_features_to_select=3).fit(table)
        assert_same(ours, in_memory(rows, **settings, n_features_to_select=3))


def test_tables_in_memory_are_counted_on_spark_when_asked_for(session):
    rng = np.random.default_rng(3)
    X, Y = sp.csr_array(rng.poisson(0.3, size=(200, 30))), sp.csr_array(rng.random((200, 4)) < 0.2)
    ours = Sieve("jmi", n_features_to_select=3, backend="spark").fit(X, Y)
    assert_same(ours, Sieve("jmi", n_features_to_select=3).fit(X, Y))


def test_refusals_name_the_remedy(session):
    frame = make_frame(4)
    rows = session.createDataFrame(frame)
    nested = session.createDataFrame(frame.assign(pair=[[1.0, 2.0]] * N_ROWS))
    for X, y, weight, message in (
        (rows, rows.select(*LABELS), None, r"pass the names of its columns that are targets"),
        (rows, None, None, "pass the names"),
        (rows, ["l0", "l9"], None, "X has no column named 'l9'; it has 'f0', 'f1'"),
        (rows, ["l0", "l0"], None, "'l0' is named twice"),
        (rows, LABELS, np.ones(N_ROWS), "make the weights a column of X, and pass its name"),
        (rows.join(rows.select("f0")), LABELS, None, "several columns named 'f0'"),
        (nested, LABELS, None, r"Column 'pair' of X is of type array<double>.*vector_to_array"),
        (rows.filter("age < 0"), LABELS, None, "there are no rows"),
        (rows.select(*LABELS), LABELS, None, "A table needs features"),
    ):
        with pytest.raises(InputError, match=message):
            Sieve("mim").fit(X, y, weight)
    with pytest.raises(InputError, match=r"collection of Spark; pass X\.toPandas\(\)"):
        LabelwiseSieve().fit(rows, LABELS)
    with pytest.raises(InputError, match="A stopping rule needs the table in memory"):
        Sieve("mim", n_features_to_select="permutation").fit(rows, LABELS)


def test_rows_that_change_when_they_are_computed_again_are_noticed(session):
    def draw(batches):
        rng = np.random.default_rng()
        for batch in batches:
            yield pa.record_batch({"f": rng.normal(size=len(batch)), "l": batch.column(0)})

    table = ChunkedTable.from_spark(session.range(50).mapInArrow(draw, "f double, l long"), ["l"])
    table.features([0])
    table._source._frame.unpersist(True)  # as when an executor with cached rows is lost
    with pytest.raises(InputError, match=r"rows of the frame changed, or came in another order.*checkpoint"):
        table.features([0])


def test_errors_on_executors_and_a_missing_session(session, monkeypatch):
    parts = spark_backend.SparkParts([1, 0])
    assert parts.total(partial(add, 1), add) == 3
    with pytest.raises(ClusterError, match=r"Spark could not count rows \(.*ZeroDivisionError.*executors"):
        parts.total(partial(divmod, 1), add)
    from pyspark.sql import SparkSession

    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    with pytest.raises(ClusterError, match="There is no Spark session; make one first"):
        Sieve("mim", backend="spark").fit(np.eye(4), [0, 1, 0, 1])


def test_counts_of_partitions(session):
    """The recipe of the documentation for rows that must not be counted together."""
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

    parts = session.createDataFrame(frame).repartition(3).mapInArrow(count, "counts binary").collect()
    assert len(parts) == 3
    first, *others = (PairCounts.from_bytes(bytes(part.counts)) for part in parts)
    ours = Sieve("mrmr", n_features_to_select=4).fit(first.merge(*others))
    expected = Sieve("mrmr", n_features_to_select=4, discretizer=bins).fit(frame[features], frame[LABELS])
    assert np.array_equal(ours.selected_, expected.selected_)
    assert ours.scores_.tobytes() == expected.scores_.tobytes()
