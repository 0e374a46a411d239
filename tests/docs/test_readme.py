"""The README shows the output of the code, and its numbers are those of the pages that they come from."""

import re
import shlex
from pathlib import Path

import pytest

from tests.support import customers
from tests.support.command_line import run
from tests.support.doc_pages import blocks, run_page

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_stays_short():
    assert len(README.splitlines()) <= 150


def test_python_blocks_run_without_warnings_and_print_the_shown_output(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    assert run_page(README, "README.md") == 1
    (shown,) = (block.text for block in blocks(README) if block.language == "text")
    assert capsys.readouterr().out == shown


def test_the_ordinary_table_is_the_one_that_its_description_generates():
    assert customers.PATH.read_text(encoding="utf-8") == customers.customers_csv()


def shell_commands():
    """Commands of indented blocks and of code in the text."""
    return re.findall(r"^    (labelsieve .*)$", README, flags=re.MULTILINE) + re.findall(r"`(labelsieve [^`]*)`", README)


def test_there_are_commands_to_check():
    assert {command.split()[1] for command in shell_commands()} >= {"select", "report"}


@pytest.mark.filterwarnings("ignore::labelsieve.errors.ColumnWarning")
@pytest.mark.filterwarnings("ignore::labelsieve.datasets.DatasetWarning")
@pytest.mark.parametrize("command", shell_commands())
def test_every_command_runs_as_it_is_written(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("examples").symlink_to(ROOT / "examples")
    name, *words = shlex.split(command, comments=True)
    assert name == "labelsieve"
    result = run(*words)
    assert result.exit_code == 0, result.output


def rows(text, head):
    """The cells of the table below a header line, without the line of dashes."""
    table = text[text.index(head) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_improvements_are_those_of_the_confirmation():
    page = (ROOT / "docs" / "evidence" / "confirmation.md").read_text(encoding="utf-8")
    methods = ("l1-cv", "extra-trees", "cmim", "mean-f")
    for number, (method, shown) in enumerate(zip(methods, rows(README, "| compared with | micro-F1"), strict=True), 1):
        (cells,) = re.findall(rf"^\| B{number} \| `{method}` \| (.*) \|$", page, flags=re.MULTILINE)
        for ours, theirs in zip(shown[1:], cells.split(" | "), strict=False):
            mean, won = re.match(r"([+-][\d.]+), (\d+)-\d+", theirs).groups()
            assert ours == f"{mean} ({won} of 10)"


def test_seconds_are_those_of_the_page_about_gpus():
    page = (ROOT / "docs" / "scale" / "gpu.md").read_text(encoding="utf-8")
    measured = {name: (one, many, gpu) for name, gpu, one, many in rows(page, "| rows x features x labels | GPU")}
    for name, *seconds in rows(README, "| rows x features x labels | one core"):
        assert tuple(seconds) == measured[name]


def test_ratios_to_other_programs_are_those_of_the_benchmarks():
    page = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    tasks = {"JMI": "JMI, 20", "mRMR": "MRMR, 20", "CMIM": "CMIM, 20", "SCLS": "SCLS, 20", "information": "information of all"}
    for whose, _, task, same, ratios in rows(README, "| compared with | written in"):
        start = tasks[re.split("[, ]", task)[0]]
        lines = [re.findall(rf"^    {name}: {start}.* {whose}\b.*$", page, re.MULTILINE)[0] for name in ("emotions", "yeast")]
        numbers = [re.split(r" {2,}", line.strip()) for line in lines]
        assert [round(float(cells[3])) for cells in numbers] == [
            int(number.replace(",", "")) for number in ratios.split(" and ")
        ]
        assert same == "all"
        assert all(float(cells[-1]) == 1 for cells in numbers)


def test_the_picture_and_its_description_have_the_same_numbers():
    described = re.search(r"(\d+) channels explain (\d+) % .* all (\d+)\.", README)
    for name in ("first_result", "first_result_dark", "first_result_small", "first_result_small_dark"):
        picture = (ROOT / "docs" / "images" / f"{name}.svg").read_text(encoding="utf-8")
        assert f"{described[1]} features:" in picture
        assert f"all {described[3]} features: {described[2]} %" in picture
