"""Text columns have the ranks of their sorted words, however the words are stored."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve.tables.frames import read_table

LONG = ["12345678", "123456789", "1234567890abcdefg", "1234567890abcdefh"]
WORDS = st.text(alphabet="abcé\0", max_size=12) | st.sampled_from(LONG)


def as_objects(cells):
    return pd.DataFrame({"a": pd.Series(cells, dtype=object)})


def as_distinct_objects(cells):
    return as_objects([None if cell is None else (cell + "x")[:-1] for cell in cells])


FORMS = {
    "objects": as_objects,
    "distinct objects": as_distinct_objects,
    "pandas": lambda cells: pd.DataFrame({"a": pd.Series(cells, dtype="str")}),
    "pandas, Python": lambda cells: pd.DataFrame({"a": pd.Series(cells, dtype=pd.StringDtype("python"))}),
    "string": lambda cells: pa.table({"a": pa.array(cells, pa.string())}),
    "large string": lambda cells: pa.table({"a": pa.array(cells, pa.large_string())}),
    "string view": lambda cells: pa.table({"a": pa.array(cells, pa.string_view())}),
    "dictionary": lambda cells: pa.table({"a": pa.array(cells, pa.string()).dictionary_encode()}),
    "chunks": lambda cells: pa.table({"a": pa.chunked_array([cells[:3], [], cells[3:]], pa.string())}),
    "slice": lambda cells: pa.table({"a": pa.array(["z", None, *cells, "y"], pa.string())}).slice(2, len(cells)),
    "polars": lambda cells: pl.DataFrame({"a": pl.Series(cells, dtype=pl.String)}),
}


def check(form, cells):
    known = [cell for cell in cells if cell is not None]
    levels, ranks = np.unique(np.array(known, dtype=object), return_inverse=True)
    expected = np.full(len(cells), np.nan)
    expected[[cell is not None for cell in cells]] = ranks
    table = read_table(FORMS[form](cells), allow_missing=True)
    assert table.text[0].tolist() == levels.tolist()
    assert table.nominal == {0}
    np.testing.assert_array_equal(table.dense[:, 0], expected)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=12, deadline=None)
@given(
    levels=st.lists(WORDS, min_size=1, max_size=6), size=st.integers(1, 40), share=st.sampled_from([0, 0.3]), rng=st.randoms()
)
def test_ranks_are_those_of_the_sorted_words(form, levels, size, share, rng):
    cells = [None if rng.random() < share else rng.choice(levels) for _ in range(size)]
    cells[0] = levels[0]
    check(form, cells)


@pytest.mark.parametrize("form", ["objects", "pandas", "string"])
def test_many_levels(form):
    rng = np.random.default_rng(0)
    check(form, [f"level {number}" for number in rng.integers(0, 3000, 5000)])
    check(form, [f"{number:x}" for number in rng.permutation(4000)])


def test_words_beside_other_objects_are_refused():
    for other in (1, ("a",), b"a"):
        with pytest.raises(ValueError, match=r"mixes types|sets or lists"):
            read_table(as_objects(["a"] * 9 + [other]))
