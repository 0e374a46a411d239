"""A table, and the same as a CSV file, for the tests of commands."""

import pytest

from tests.support.command_line import known_table


@pytest.fixture
def frame():
    return known_table()


@pytest.fixture
def file(frame, tmp_path):
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path
