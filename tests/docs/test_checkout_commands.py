"""Commands of a checkout on the pages (``python -m leaderboard``, ``python -m replications``) run and print what is shown.

Those of ``python -m benchmarks.NAME`` take hours: their options are parsed.
"""

import argparse
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from labelsieve.studies import Protocol, Study
from leaderboard.board import export_results
from tests.docs.test_docs import PAGES, PROGRAMS, ROOT, commands_of, page_name, shown_outputs
from tests.support.command_line import known_table, run
from tests.support.doc_pages import blocks
from tests.support.shared_files import shared_file

BENCHMARKS = ROOT / "benchmarks"
PAGE = ROOT / "docs" / "evidence" / "leaderboard.md"


def calls(program):
    for page in [*PAGES, ROOT / "README.md"]:
        for name, arguments in commands_of(page):
            if name == program:
                yield pytest.param(arguments, id=f"{page_name(page)}: {shlex.join(arguments)}")


def write_selector(folder):
    """The file of the selector that the page of the leaderboard shows."""
    (text,) = (block.text for block in blocks(PAGE.read_text(encoding="utf-8")) if "class CorrelationSum" in block.text)
    (folder / "my_selector.py").write_text(text, encoding="utf-8")


def small_study(folder, path, **more):
    """Results on small tables, with the names, tags, learners and measures that the page mentions."""
    table = {"path": str(path), "labels": 5, "tags": ["development"], **more}
    datasets = [{"name": name, **table} for name in ("emotions", "flags", "yeast")]
    classifiers = [{"name": "neighbors", "classifier": "mlknn", "k": 3}, {"name": "linear", "classifier": "logistic"}]
    protocol = Protocol(
        datasets=datasets,
        methods=["cmim", "mim"],
        n_features=[5, 10, 20],
        classifiers=classifiers,
        measures=["micro_f1", "macro_f1"],
        splits="2x50%",
    )
    Study(protocol, folder).run()
    return folder


@pytest.fixture(autouse=True)
def _no_imported_selector(monkeypatch):
    """Each test has a file of this name, in a folder of its own."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    sys.modules.pop("my_selector", None)


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """A folder with a small leaderboard, as exported files and as folders of studies."""
    folder = tmp_path_factory.mktemp("board")
    known_table()[:80].to_csv(folder / "songs.csv", index=False)
    study = small_study(folder / "board", folder / "songs.csv")
    export_results(study, folder / "leaderboard" / "results")
    small_study(folder / "noisy", folder / "songs.csv", noise={"irrelevant": 0.5, "corrupted": 0.25})
    for number in (1, 2, 3):
        shutil.copytree(study, folder / f"shard{number}")
    write_selector(folder)
    return folder


@pytest.mark.filterwarnings("ignore::UserWarning")  # a small table may be odd
@pytest.mark.parametrize("arguments", list(calls("python -m leaderboard")))
def test_a_command_of_the_leaderboard_runs(arguments, board, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    shutil.copytree(board, tmp_path, dirs_exist_ok=True)
    if arguments[0] == "import":
        shutil.rmtree(tmp_path / "board")
    monkeypatch.chdir(tmp_path)
    result = run(*arguments, app=PROGRAMS["python -m leaderboard"])
    assert result.exit_code == 0, result.output
    assert result.output


@pytest.mark.parametrize(("call", "output"), [case for page in PAGES for case in shown_outputs(page, "python -m leaderboard")])
def test_the_leaderboard_prints_the_shown_output(call, output, tmp_path):
    """On the published results and the data sets themselves; processes of the study inherit the variable."""
    pytest.importorskip("pyarrow")
    data = shared_file("data", "emotions", "emotions.arff.gz").parents[1]
    write_selector(tmp_path)
    (tmp_path / "leaderboard").symlink_to(ROOT / "leaderboard")
    command = [sys.executable, *shlex.split(call)[1:]]
    variables = {**os.environ, "LABELSIEVE_DATA": str(data)}
    result = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert [line.rstrip() for line in result.stdout.splitlines()] == output.rstrip().splitlines()


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A folder with the results of the quick run that the pages show, on one of its data sets."""
    folder = tmp_path_factory.mktemp("replications")
    data = shared_file("data", "emotions", "emotions.arff.gz").parents[1]
    quick = [
        "occ-tables",
        "--quick",
        "--sets",
        "emotions",
        "--data",
        data,
        "--out",
        folder / "occ-tables-study",
        "--no-figures",
    ]
    result = run(*quick, app=PROGRAMS["python -m replications"])
    assert result.exit_code == 0, result.output
    assert "exact match" in result.stdout.lower()
    return folder


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("arguments", list(calls("python -m replications")))
def test_a_command_of_the_replications_runs(arguments, stored, tmp_path, monkeypatch):
    """The published settings take days: their cells are counted. The quick run is continued, on one data set."""
    data = shared_file("data", "emotions", "emotions.arff.gz").parents[1]
    monkeypatch.setenv("LABELSIEVE_DATA", str(data))
    shutil.copytree(stored, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    arguments = [str(data) if word == "DIR" else word for word in arguments]
    arguments += ["--dry-run"] if "--full" in arguments and "--dry-run" not in arguments else []
    arguments += ["--no-figures"] if "--quick" in arguments else []
    arguments += ["--sets", "emotions"] if arguments and not {"--sets", "--report"} & set(arguments) else []
    result = run(*arguments, app=PROGRAMS["python -m replications"])
    assert result.exit_code == 0, result.output
    assert result.output
    if "--report" in arguments:
        assert Path(arguments[arguments.index("--report") + 1]).stat().st_size > 10_000


def test_commands_are_found():
    assert len(list(calls("python -m leaderboard"))) >= 7
    assert len(list(calls("python -m replications"))) >= 6


class ParsedError(Exception):
    """Raised in place of running a benchmark whose options are parsed."""


def benchmark_calls():
    """Module and arguments of the commands in the text of pages, their blocks, and docstrings of benchmarks."""
    pages = [*PAGES, ROOT / "README.md", BENCHMARKS / "README.md", *sorted(BENCHMARKS.glob("*.py"))]
    found = {}
    for page in pages:
        text = page.read_text(encoding="utf-8")
        lines = re.findall(r"^ *python -m benchmarks\.([^`\n]*)$", text, re.MULTILINE)
        for call in [*lines, *re.findall(r"`python -m benchmarks\.([^`]*)`", text)]:
            # [--option value] may be left out and is parsed; [DATA SET ...] is not what users type.
            name, *arguments = shlex.split(re.sub(r"\[(--[^]]*)\]|\[[^]]*\]", r"\1", call), comments=True)
            found.setdefault((name, *arguments), page_name(page))
    return [pytest.param(name, words, id=f"{page}: {shlex.join([name, *words])}") for (name, *words), page in found.items()]


@pytest.mark.parametrize(("name", "arguments"), benchmark_calls())
def test_a_command_of_a_benchmark_parses(name, arguments, monkeypatch):
    source = (BENCHMARKS / f"{name}.py").read_text(encoding="utf-8")
    assert '__name__ == "__main__"' in source
    if not re.search(r"argparse|BenchmarkOptions", source):  # it takes names of commands and files
        assert not [word for word in arguments if word.startswith("-")]
        return
    parse_args = argparse.ArgumentParser.parse_args

    def only_parse(parser, given=None, namespace=None):
        parse_args(parser, given, namespace)
        raise ParsedError

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", only_parse)
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    with np.errstate(), pytest.raises(ParsedError):  # some set what numpy does with overflow
        runpy.run_path(str(BENCHMARKS / f"{name}.py"), run_name="__main__")


def test_every_benchmark_that_can_be_run_is_in_the_list():
    listed = {call.values[0] for call in benchmark_calls()}
    assert {path.stem for path in BENCHMARKS.glob("*.py") if '"__main__"' in path.read_text(encoding="utf-8")} <= listed
