"""The README shows the output of the code."""

import re
import shlex
from pathlib import Path

import pytest

from tests.support import customers
from tests.support.command_line import run
from tests.support.doc_pages import run_page
from tests.support.shared_files import shared_file

pytestmark = [
    pytest.mark.filterwarnings("ignore::labelsieve.errors.ColumnWarning"),
    pytest.mark.filterwarnings("ignore::labelsieve.datasets.DatasetWarning"),
]
ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_python_blocks_run_and_print_the_shown_output(monkeypatch):
    monkeypatch.chdir(ROOT)
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


def shell_commands():
    """Commands of indented blocks and of the table, in order, without the prompt."""
    blocks = re.findall(r"^    \$ (labelsieve .*)$", README, flags=re.MULTILINE)
    rows = [line.split("|")[1] for line in README.splitlines() if line.startswith("| `labelsieve ")]
    return blocks + [command for row in rows for command in re.findall(r"`(labelsieve [^`]*)`", row)]


def test_selection_output_is_as_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, second = (command for command in shell_commands() if "synthetic.csv" in command)
    assert run(*first.split()[1:]).exit_code == 0
    assert run(*second.split()[1:]).stdout.splitlines() == indented(f"$ {second}")[1:]


def test_selection_from_an_ordinary_table_is_as_shown(monkeypatch):
    monkeypatch.chdir(ROOT)
    (command,) = (command for command in shell_commands() if "customers.csv" in command)
    assert run(*command.split()[1:]).stdout.splitlines() == indented(f"$ {command}")[1:]


def test_the_ordinary_table_is_the_one_that_its_description_generates():
    assert customers.PATH.read_text(encoding="utf-8") == customers.customers_csv()


COMMANDS = {"demo", "select", "methods", "datasets", "compare", "report"}


def test_there_are_commands_to_check():
    assert {command.split()[1] for command in shell_commands()} >= COMMANDS


@pytest.mark.parametrize("command", shell_commands())
def test_every_command_runs_as_it_is_written(command, tmp_path, monkeypatch):
    data_home = shared_file("data", "MANIFEST.json").parent
    monkeypatch.setenv("LABELSIEVE_DATA", str(data_home))
    monkeypatch.chdir(tmp_path)
    Path("examples").symlink_to(ROOT / "examples")
    name, *words = shlex.split(command)
    assert name == "labelsieve"
    if "synthetic.csv" in words and words[0] != "demo":
        assert run("demo", "--no-report", "--data", "synthetic.csv").exit_code == 0
    if "study/" in words and words[0] == "report":
        options = ("--methods", "jmi,mim", "-k", "1..3", "--splits", "2x50%", "--out", "study/")
        assert run("compare", "emotions", *options).exit_code == 0
    if words[0] == "compare":  # minutes or hours: what would be done is checked
        words.append("--dry-run")
    result = run(*words)
    assert result.exit_code == 0, result.output
