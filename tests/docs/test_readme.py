"""What the README shows is what one gets."""

from pathlib import Path

import pytest

from tests.support.command_line import run
from tests.support.doc_pages import run_page

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def test_python_blocks_run_and_print_what_they_say():
    assert run_page(README, "README.md") >= 3


def indented(start):
    """The indented block in which a line starts so, as it was printed."""
    lines = README.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith(f"    {start}"))
    block = []
    for line in lines[place:]:
        if line and not line.startswith("    "):
            break
        block.append(line.removeprefix("    "))
    return "\n".join(block).rstrip().splitlines()


def test_the_demo_is_printed_as_shown_but_for_the_rows_left_out():
    printed = iter(run("demo", "--no-report").stdout.splitlines())
    for line in indented("2,000 made-up rows"):
        assert line == "..." or line in printed, "not printed, or not in this order"


def test_the_selection_is_printed_as_shown(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    from labelsieve.studies.demo import demo_data

    data = demo_data()
    features, labels = pandas.DataFrame(data.X, columns=data.feature_names), pandas.DataFrame(data.Y, columns=data.label_names)
    pandas.concat([features, labels], axis=1).to_csv(tmp_path / "made-up.csv", index=False)
    monkeypatch.chdir(tmp_path)
    command, *shown = indented("$ labelsieve select")
    assert run(*command.split()[2:]).stdout.splitlines() == shown
