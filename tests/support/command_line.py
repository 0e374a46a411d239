"""Calling the command line in tests, and a table to call it on."""

import pandas as pd
import pytest
from typer.testing import CliRunner

from labelsieve import cli
from labelsieve.studies.demo import demo_data


def run(*arguments, width=80, app=cli.app):
    """What a call printed and how it ended; standard output is a pipe."""
    return CliRunner(env={"COLUMNS": str(width)}).invoke(app, [str(one) for one in arguments], prog_name="labelsieve")


def refusal(*arguments, app=cli.app):
    """The one line with which a call is refused."""
    result = run(*arguments, app=app)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("labelsieve: ")
    return lines[0]


def known_table():
    """400 rows, 20 features that are no whole numbers, and 5 labels at the end."""
    data = demo_data(400, random_state=3)
    features = pd.DataFrame(data.X, columns=data.feature_names) + 0.25
    return pd.concat([features, pd.DataFrame(data.Y, columns=data.label_names)], axis=1)


def table_fixtures(n_rows):
    """Fixtures of a module: the first rows of the table, and the same as a CSV file."""

    @pytest.fixture(scope="module")
    def frame():
        return known_table()[:n_rows]

    @pytest.fixture(scope="module")
    def file(frame, tmp_path_factory):
        path = tmp_path_factory.mktemp("tables") / "table.csv"
        frame.to_csv(path, index=False)
        return path

    return frame, file


def write(folder, text, name="small.csv"):
    """A file with this content."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path
