from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from labelsieve.datasets.readers.arff import parse_arff

PRINTABLE = st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"])
NAMES = st.text(PRINTABLE, min_size=1, max_size=6)
NUMBERS = st.floats(allow_infinity=False, allow_nan=False)


def quoted(text, quote):
    return quote + text.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote


@st.composite
def tables(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    values = [draw(st.none() | st.lists(NAMES.filter(lambda v: v != "?"), min_size=1, max_size=4, unique=True)) for _ in names]
    cell = [st.none() | (NUMBERS if own is None else st.integers(0, len(own) - 1).map(float)) for own in values]
    rows = draw(st.lists(st.tuples(*cell), min_size=1, max_size=6))
    return names, values, rows


def written(table, scattered, quote, blank):
    names, values, rows = table
    lines = ["@relation made"]
    for name, own in zip(names, values, strict=True):
        kind = "numeric" if own is None else "{" + f",{blank}".join(quoted(value, quote) for value in own) + "}"
        lines.append(f"@attribute {quoted(name, quote)} {kind}")
    lines.append("@data")

    def text(cell, own):
        return "?" if cell is None else repr(cell) if own is None else quoted(own[int(cell)], quote)

    for row in rows:
        cells = [text(cell, own) for cell, own in zip(row, values, strict=True)]
        if scattered:
            pairs = [f"{place} {cell}" for place, (cell, value) in enumerate(zip(cells, row, strict=True)) if value != 0]
            lines.append("{" + f",{blank}".join(pairs) + "}")
        else:
            lines.append(f",{blank}".join(cells))
    return "\n".join(lines)


@given(tables(), st.booleans(), st.sampled_from("'\""), st.sampled_from(["", " ", "\t"]))
def test_what_is_written_is_read_again(table, scattered, quote, blank):
    names, values, rows = table
    found = parse_arff(written(table, scattered, quote, blank).encode(), Path("made.arff"))
    assert found.names == names
    assert [column.values and list(column.values) for column in found.columns] == values
    cells = found.cells.toarray() if sparse.issparse(found.cells) else found.cells
    np.testing.assert_array_equal(cells, np.array(rows, dtype=float))
    assert sparse.issparse(found.cells) == scattered
