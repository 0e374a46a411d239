"""A table that is read by columns from files, or from chunks of rows, gives the selection of the table in memory."""

import itertools
import tempfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve import InputError, LabelwiseSieve, Sieve
from labelsieve.datasets import ChunkedTable, DatasetError, load
from labelsieve.discretize import MDL, EqualFrequency
from labelsieve.registry import DISCRETIZERS, LABEL_SPACES
from labelsieve.selectors.rankings.chi_square import ChiSquare

N_ROWS = 400
LABELS = ["l0", "l1", "l2", "l3"]


def make_frame(seed=0):
    """Numbers with missing cells, whole numbers, many levels, text and binary labels."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"f{j}": rng.normal(size=N_ROWS) for j in range(5)})
    frame.loc[::7, "f3"] = np.nan
    frame["age"] = rng.integers(0, 90, N_ROWS)
    frame["id"] = 2 * rng.permutation(N_ROWS)
    frame["mood"] = rng.choice(["calm", "sad", "?", "happy"], N_ROWS)
    for position, label in enumerate(LABELS):
        frame[label] = ((frame["f1"] > position / 3) | (rng.random(N_ROWS) < 0.2)).astype(int)
    frame.loc[frame[LABELS].sum(axis=1) == 0, "l0"] = 1
    return frame


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "songs.parquet"
    make_frame().to_parquet(path, row_group_size=150)
    return path


def assert_same(ours, expected):
    assert np.array_equal(ours.selected_, expected.selected_)
    assert ours.scores_.tobytes() == expected.scores_.tobytes()
    assert ours.feature_scores_.tobytes() == expected.feature_scores_.tobytes()


def from_memory(path, labels=LABELS, sample_weight=None, **parameters):
    data = load(path, labels)
    return Sieve(**parameters).fit(data.named_features(), data.named_labels(), sample_weight)


@pytest.mark.parametrize("discretizer", sorted(DISCRETIZERS))
@pytest.mark.parametrize("criterion", ["mim", "jmi"])
def test_parquet_with_every_discretizer(parquet, discretizer, criterion):
    table = ChunkedTable.from_parquet(parquet, LABELS, memory_limit=60 * N_ROWS)  # one column at a time
    assert table.groups([4, 2]) == [[4], [2]]
    ours = Sieve(criterion, discretizer=discretizer).fit(table)
    assert_same(ours, from_memory(parquet, criterion=criterion, discretizer=discretizer))
    assert ours.feature_names_in_.tolist() == ["f0", "f1", "f2", "f3", "f4", "age", "id", "mood"]
    assert ours.label_names_.tolist() == LABELS


@pytest.mark.parametrize("space", sorted(LABEL_SPACES))
def test_parquet_with_every_label_space(parquet, space):
    table = ChunkedTable.from_parquet(parquet, LABELS)
    weights = np.random.default_rng(0).integers(0, 3, N_ROWS) / 2
    for sample_weight in (None, weights):
        ours = Sieve("jmi", targets=space).fit(table, sample_weight=sample_weight)
        assert_same(ours, from_memory(parquet, criterion="jmi", targets=space, sample_weight=sample_weight))


@settings(max_examples=8, deadline=None)
@given(bounds=st.sets(st.integers(1, N_ROWS - 1), max_size=5), arrays=st.booleans())
def test_any_chunks_of_rows(bounds, arrays):
    frame = make_frame(1)
    X, Y = frame.drop(columns=LABELS), frame[LABELS]
    if arrays:
        X, Y = X.drop(columns="mood").to_numpy(), Y.to_numpy()
    starts = [0, *sorted(bounds), N_ROWS]
    chunks = ((X[a:b], Y[a:b]) for a, b in itertools.pairwise(starts))
    ours, expected = Sieve("cmim").fit(ChunkedTable.from_chunks(chunks)), Sieve("cmim").fit(X, Y)
    assert_same(ours, expected)
    assert hasattr(ours, "feature_names_in_") == hasattr(expected, "feature_names_in_") == (not arrays)


def test_the_index_of_a_chunk_is_no_feature_and_its_categories_stay_categories():
    frame = make_frame()[["f0", "mood", *LABELS]].assign(code=lambda frame: pd.Categorical(np.arange(len(frame)) % 37))
    groups = [frame[frame["mood"] == mood] for mood in sorted(set(frame["mood"]))]  # filtered: their indices have gaps
    features = ["f0", "mood", "code"]
    table = ChunkedTable.from_chunks((group[features], group[LABELS]) for group in groups)
    assert (table.feature_names, table.label_names) == (tuple(features), tuple(LABELS))
    whole = pd.concat(groups)
    assert_same(Sieve("jmi").fit(table), Sieve("jmi").fit(whole[features], whole[LABELS]))
    stream = pa.table(whole[[*features, *LABELS]].reset_index(drop=True)).to_reader(max_chunksize=90)
    assert_same(Sieve("jmi").fit(ChunkedTable.from_arrow(stream, LABELS)), Sieve("jmi").fit(whole[features], whole[LABELS]))


def test_types_of_columns_may_widen_from_chunk_to_chunk():
    X = np.array([[0.0], [1.0], [0.5], [2.5]] * 20)
    chunks = [(pd.DataFrame({"a": [0, 1] * 20}), [0, 1] * 20), (pd.DataFrame({"a": [0.5, 2.5] * 20}), [0, 1] * 20)]
    expected = Sieve("mim").fit(np.vstack([[[0], [1]] * 20, [[0.5], [2.5]] * 20]), [0, 1] * 40)
    assert Sieve("mim").fit(ChunkedTable.from_chunks(chunks)).scores_ == expected.scores_
    assert len(X) == 80


def test_streams_of_arrow_csv_and_folders(parquet, tmp_path):
    expected = from_memory(parquet, criterion="mrmr")
    frame = make_frame()
    for number, start in enumerate(range(0, N_ROWS, 130)):
        frame[start : start + 130].to_parquet(tmp_path / f"{number}.parquet")
    assert_same(Sieve("mrmr").fit(ChunkedTable.from_parquet(tmp_path, LABELS)), expected)
    files = sorted(tmp_path.glob("*.parquet"))
    assert_same(Sieve("mrmr").fit(ChunkedTable.from_parquet(files, 4)), expected)
    frame.to_csv(tmp_path / "songs.csv", index=False)
    assert_same(Sieve("mrmr").fit(ChunkedTable.from_csv(tmp_path / "songs.csv", "l*")), expected)
    in_memory = Sieve("mrmr").fit(frame.drop(columns=LABELS), frame[LABELS])
    stream = pa.table(frame).to_reader(max_chunksize=90)
    assert_same(Sieve("mrmr").fit(ChunkedTable.from_arrow(stream, LABELS)), in_memory)
    dataset = pyarrow.dataset.dataset(parquet)
    assert_same(Sieve("mrmr").fit(ChunkedTable.from_arrow(dataset, LABELS)), in_memory)


class Stopped(ChunkedTable):
    """Stops after some columns were read."""

    left = 100
    read = 0

    def features(self, columns):
        if self.left < len(columns):
            raise KeyboardInterrupt
        self.left -= len(columns)
        self.read += len(columns)
        return super().features(columns)


def test_a_stopped_fit_continues_with_the_columns_that_are_left(parquet, tmp_path):
    options = {"memory_limit": 60 * N_ROWS, "cache_folder": tmp_path / "cache"}
    table = Stopped.from_parquet(parquet, LABELS, **options)
    table.left = 5
    with pytest.raises(KeyboardInterrupt):
        Sieve("jmi").fit(table)
    again = Stopped.from_parquet(parquet, LABELS, **options)
    assert_same(Sieve("jmi").fit(again), from_memory(parquet, criterion="jmi"))
    assert again.read == 3
    other = Stopped.from_parquet(parquet, LABELS, **options)  # another criterion needs no column, another discretizer all
    assert_same(Sieve("mrmr").fit(other), from_memory(parquet, criterion="mrmr"))
    assert other.read == 0
    assert_same(
        Sieve("jmi", discretizer=EqualFrequency(3)).fit(other),
        from_memory(parquet, criterion="jmi", discretizer=EqualFrequency(3)),
    )
    assert other.read == 8


def test_other_rows_with_the_same_names_are_encoded_again(tmp_path):
    for seed in (1, 2):
        frame = make_frame(seed)
        X, Y = frame.drop(columns=LABELS), frame[LABELS]
        table = ChunkedTable.from_chunks([(X, Y)], cache_folder=tmp_path)
        assert_same(Sieve("mim").fit(table), Sieve("mim").fit(X, Y))


@pytest.mark.filterwarnings("ignore::labelsieve.errors.TableWarning")
def test_columns_of_many_levels_after_columns_of_few(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"few": rng.integers(0, 3, 900), "many": rng.permutation(900), "y": rng.integers(0, 2, 900)})
    frame.to_parquet(tmp_path / "t.parquet")
    table = ChunkedTable.from_parquet(tmp_path / "t.parquet", "y", memory_limit=60 * 900, cache_folder=tmp_path / "cache")
    for _ in range(2):
        ours = Sieve("mim", discretizer=None).fit(table)
        assert_same(ours, from_memory(tmp_path / "t.parquet", "y", criterion="mim", discretizer=None))


def test_numbers_of_several_types_with_missing_cells_and_rows_without_weight(tmp_path):
    rng = np.random.default_rng(0)
    whole = pd.array(rng.integers(0, 9, 700), dtype="Int16")
    whole[::7] = pd.NA
    frame = pd.DataFrame({"whole": whole, "short": rng.normal(size=700).astype(np.float32), "y": rng.integers(0, 2, 700)})
    frame["long"] = frame["y"] + rng.normal(size=700)
    path, weights = tmp_path / "t.parquet", rng.integers(0, 3, 700)
    frame.to_parquet(path, row_group_size=110)
    data = load(path, "y")
    expected = Sieve("jmi").fit(data.named_features(), data.named_labels(), sample_weight=weights)
    assert_same(Sieve("jmi").fit(ChunkedTable.from_parquet(path, "y"), sample_weight=weights), expected)


def test_nothing_stays_in_the_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    frame = make_frame()
    table = ChunkedTable.from_chunks([(frame.drop(columns=LABELS), frame[LABELS])])
    sieve = Sieve("jmi").fit(table)
    assert len(list(tmp_path.iterdir())) == 1
    del table, sieve
    assert list(tmp_path.iterdir()) == []


def test_what_does_not_work_in_chunks_is_refused(parquet, tmp_path):
    table = ChunkedTable.from_parquet(parquet, LABELS)
    refused = [
        (lambda: Sieve("cmim").fit(table, [1]), "leave out y"),
        (lambda: Sieve("cmim", n_features_to_select="permutation").fit(table), "stopping rule needs the table in memory"),
        (lambda: Sieve("mlfs", parents="kcc").fit(table), "learned from a table in memory"),
        (lambda: Sieve("mim", discretizer=MDL(targets="single")).fit(table), "Cut points for each target"),
        (lambda: ChiSquare().fit(table, None), "needs the table in memory"),
        (lambda: LabelwiseSieve().fit(table, None), "needs the table in memory"),
        (lambda: ChunkedTable.from_arrow(pa.table({"a": [1]}), ["b"]), "no column named 'b'"),
        (lambda: ChunkedTable.from_arrow([1], ["b"]), "neither a dataset of pyarrow nor a stream"),
        (lambda: ChunkedTable.from_chunks([]), "no chunks"),
        (lambda: ChunkedTable.from_chunks([([[1]], [0, 1])]), "X has 1 rows and Y has 2"),
        (lambda: ChunkedTable.from_chunks([([[1]], [0]), ([[1, 2]], [0])]), "Chunk 1 has other columns"),
        (lambda: ChunkedTable.from_parquet(parquet, LABELS, memory_limit="much"), "not a number of bytes"),
    ]
    for attempt, message in refused:
        with pytest.raises(InputError, match=message):
            attempt()
    with pytest.raises(MemoryError, match=r"One column of 400 rows needs about .*raise it"):
        ChunkedTable.from_parquet(parquet, LABELS, memory_limit=1000)
    with pytest.raises(DatasetError, match="no such file"):
        ChunkedTable.from_parquet(tmp_path / "nothing.parquet", LABELS)
    with pytest.raises(DatasetError, match="no column named 'l9'"):
        ChunkedTable.from_parquet(parquet, ["l9"])
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(DatasetError, match="cannot be read as Parquet"):
        ChunkedTable.from_parquet(tmp_path / "bad.parquet", ["l0"])
