"""What it costs to write every cell the moment it is known, in statements and bytes, which no load of a machine changes."""

import re
from collections import Counter

import pytest

from labelsieve.studies import Study, store
from tests.support.small_studies import data, protocol

SIZES, MEASURES = 20, ["hamming_loss", "ranking_loss", "macro_f1"]
N_VALUES = SIZES * len(MEASURES)


@pytest.fixture
def statements(monkeypatch):
    """The first two words of every statement that a study's file gets."""
    found, connect = Counter(), store.connect

    def traced(path):
        connection = connect(path)
        connection.set_trace_callback(lambda sql: found.update([" ".join(re.findall(r"\w+", sql)[:2])]))
        return connection

    monkeypatch.setattr(store, "connect", traced)
    return found


def run(folder, splits):
    settings = {"methods": ["mim"], "baselines": [], "classifiers": [{"name": "mlknn", "k": 3}], "measures": MEASURES}
    study = protocol(datasets=[data(n_rows=60)], n_features=f"1..{SIZES}", splits=f"{splits}x50%", **settings)
    assert Study(study, folder).run().n_run == splits
    return sum(file.stat().st_size for file in folder.glob("results.sqlite*"))


def test_statements_and_bytes_of_a_cell_do_not_grow_with_the_study(statements, tmp_path):
    by_splits, size = {}, {}
    for splits in (2, 4, 12):
        statements.clear()
        size[splits] = run(tmp_path / str(splits), splits)
        by_splits[splits] = Counter(statements)
    first, second = by_splits[4] - by_splits[2], by_splits[12] - by_splits[4]
    # Of two splits: a selection and a cell each, every one in a transaction of its own.
    two = {"BEGIN IMMEDIATE": 4, "COMMIT": 4, "INSERT OR": 2, "DELETE FROM": 2}
    assert first == two | {"INSERT INTO": 2 + 2 * N_VALUES}
    assert second == Counter({kind: 4 * count for kind, count in first.items()}), "what is stored is not read again"
    assert size[12] - size[4] < 8 * N_VALUES * 60
