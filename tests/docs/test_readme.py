"""The README shows the output of the code."""

from pathlib import Path

import pytest

from tests.support.command_line import run
from tests.support.doc_pages import run_page

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def test_python_blocks_run_and_print_the_shown_output():
    assert run_page(README, "README.md") >= 3


def indented(start):
    """The indented block that contains a line with this start, without the indentation."""
    lines = README.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith(f"    {start}"))
    block = []
    for line in lines[first:]:
        if line and not line.startswith("    "):
            break
        block.append(line.removeprefix("    "))
    return "\n".join(block).rstrip().splitlines()


def test_demo_output_is_as_shown_except_for_omitted_rows():
    printed = iter(run("demo", "--no-report").stdout.splitlines())
    for line in indented("2,000 synthetic rows"):
        assert line == "..." or line in printed, "not printed, or not in this order"


def test_selection_output_is_as_shown(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    from labelsieve.studies.demo import demo_data

    data = demo_data()
    features, labels = pandas.DataFrame(data.X, columns=data.feature_names), pandas.DataFrame(data.Y, columns=data.label_names)
    pandas.concat([features, labels], axis=1).to_csv(tmp_path / "synthetic.csv", index=False)
    monkeypatch.chdir(tmp_path)
    command, *shown = indented("$ labelsieve select")
    assert run(*command.split()[2:]).stdout.splitlines() == shown
