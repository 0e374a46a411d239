"""The command line: version, help, pipes, the demo and the catalog, and how it ends."""

import importlib
import inspect
import os
import re
import signal
import subprocess
import sys

import pytest

import labelsieve
from labelsieve import discretize
from labelsieve.cli.application import Notes
from labelsieve.formula import FormulaError
from labelsieve.registry import CRITERIA, DEFAULT_CRITERION, LABEL_SPACES, METHODS, PRESETS, selector_class
from labelsieve.studies import demo
from labelsieve.studies.demo import CriterionOutcome, Demo, demo_data, run_demo
from tests.support.command_line import refusal, run, write


def test_version_is_printed():
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"labelsieve {labelsieve.__version__}\n")


def test_help_names_every_command():
    result = run("--help")
    assert result.exit_code == 0
    assert all(command in result.stdout for command in ("demo", "methods", "select", "--version"))


def test_a_note_that_comes_again_is_printed_once(capsys):
    notes = Notes()
    for message in ("did not\nconverge", "did not converge", UserWarning("did not converge"), "something else"):
        notes.show(message, UserWarning, "file.py", 1)
    assert capsys.readouterr().err == "labelsieve: note: did not converge\nlabelsieve: note: something else\n"


def test_a_note_names_a_column_of_a_file_by_its_name(capsys):
    Notes().show(UserWarning("X, column 3 (\"it's (one)\") and Y, column 0 ('died') are the same."))
    assert capsys.readouterr().err == "labelsieve: note: column \"it's (one)\" and column 'died' are the same.\n"


def test_notes_that_differ_in_numbers_only_are_told_three_times(capsys):
    notes = Notes()
    for step in range(6):
        notes.show(f"stopped after step {step}, residual {step / 8}")
    notes.show("stopped")
    said = capsys.readouterr().err.splitlines()
    assert [line.removeprefix("labelsieve: note: ") for line in said] == [
        "stopped after step 0, residual 0.0",
        "stopped after step 1, residual 0.125",
        "stopped after step 2, residual 0.25",
        "more of the same with other numbers, which are not shown.",
        "stopped",
    ]


@pytest.mark.parametrize("arguments", [("nonsense",), ("select",), ("demo", "--rows", "1"), ("demo", "--seed", "-1")])
def test_wrong_usage_ends_with_two_and_no_traceback(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Usage:" in result.stderr
    assert "Traceback" not in result.output


def test_python_m_runs_it_plain_in_a_pipe():
    environment = {**os.environ, "FORCE_COLOR": "1", "PYTHONUTF8": "1"}
    environment.pop("COLUMNS", None)
    done = subprocess.run(
        [sys.executable, "-m", "labelsieve", "methods"], capture_output=True, env=environment, encoding="utf-8", check=True
    )
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert all(name in done.stdout for name in CRITERIA)


def test_a_name_that_the_pipe_cannot_take_is_written_another_way(tmp_path):
    path = write(tmp_path, "größe,\u97f3,y\n1,1,0\n2,1,1\n")
    command = [sys.executable, "-m", "labelsieve", "select", str(path), "--labels", "1", "-k", "2"]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(command, capture_output=True, env=environment, encoding="latin-1", check=True)
    assert "größe" in done.stdout
    assert r"\u97f3" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
def test_ctrl_c_ends_with_130():
    slow = "import time, labelsieve.studies.demo as demo; demo.run_demo = lambda *_: (print('on', flush=True), time.sleep(60))"
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # not so in a shell's background
    script = f"{slow}; {heard}; from labelsieve.cli import main; main()"
    child = subprocess.Popen([sys.executable, "-c", script, "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "on\n"
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=30)
    assert child.returncode == 130
    assert errors == "labelsieve: interrupted. To start again: labelsieve demo\n"


@pytest.mark.skipif(os.name == "nt", reason="pipes are others there")
@pytest.mark.parametrize(
    "command",
    [
        ["methods"],
        ["select", "FILE", "--labels", "5", "--format", "csv"],
        ["compare", "FILE", "--labels", "5", "--methods", "mim", "--out", "FOLDER", "-k", "2", "--splits", "1x50%"],
        ["demo", "--n-rows", "50", "--no-report"],
        ["--help"],
    ],
    ids=" ".join,
)
def test_a_reader_that_leaves_early_is_no_error(command, file, tmp_path):
    """As in ``labelsieve methods | head``."""
    read, write_end = os.pipe()
    os.close(read)
    names = {"FILE": str(file), "FOLDER": str(tmp_path / "study")}
    call = [sys.executable, "-m", "labelsieve", *(names.get(word, word) for word in command)]
    done = subprocess.run(call, stdout=write_end, stderr=subprocess.PIPE, text=True)
    os.close(write_end)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_output_that_was_closed_is_no_error():
    script = "import sys; sys.stdout = None; sys.argv[1:] = ['methods']; from labelsieve.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "labelsieve: not enough memory\n"),
        (MemoryError("needs 9 GB"), "labelsieve: needs 9 GB\n"),
        (FormulaError("f is not\n    mentioned"), "labelsieve: f is not mentioned\n"),
        (PermissionError(13, "Permission denied", "secret.csv"), "labelsieve: secret.csv: Permission denied\n"),
        (OSError("disk \x1b[31mgone"), "labelsieve: disk \\x1b[31mgone\n"),
    ],
)
def test_errors_become_one_line(monkeypatch, error, line):
    def fail(*_):
        raise error

    monkeypatch.setattr(demo, "run_demo", fail)
    result = run("demo")
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", line)


def test_a_mistake_of_the_library_is_not_hidden(monkeypatch):
    monkeypatch.setattr(demo, "run_demo", lambda *_: 1 / 0)
    assert isinstance(run("demo").exception, ZeroDivisionError)


@pytest.mark.parametrize("width", [80, 120])
def test_demo_shows_every_criterion_in_the_width_there_is(width):
    result = run("demo", "--rows", 300, "--seed", 4, "--no-report", width=width)
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= width
    assert not any(line.endswith(" ") for line in result.stdout.splitlines())
    starts = [line.split(" ")[0] for line in result.stdout.splitlines()]
    assert [start for start in starts if start in (DEFAULT_CRITERION, *CRITERIA)] == [DEFAULT_CRITERION, *CRITERIA]


def test_demo_is_the_same_each_time_and_other_for_another_seed():
    first, again, other = (run("demo", "--rows", 200, "--no-report", "--seed", seed).stdout for seed in (0, 0, 1))
    assert first == again != other
    assert first == run("demo", "--rows", 200, "--no-report").stdout


def test_demo_says_what_its_table_shows():
    demo = run_demo(n_rows=2000)
    for outcome in demo.outcomes:
        kinds = [demo.data.roles[column].kind for column in outcome.selected]
        assert outcome.found == {kind: kinds.count(kind) for kind in outcome.found}
    complete = [each.criterion for each in demo.outcomes if each.found["relevant"] == 4 and each.found["joint"] == 2]
    assert complete
    first, pair, misled, *rest = demo.sentences()
    assert not rest
    assert first.startswith(f"{len(complete)} of {len(CRITERIA) + 1} ")
    assert all(name in first for name in complete)
    finders = [one for one in demo.outcomes if one.found["joint"] == 2]
    assert f"by {sum(one.sees_interaction for one in finders)} of the" in pair
    assert misled.startswith(f"{sum(one.found['noisy copy'] > 0 for one in demo.outcomes)} selected a redundant copy")
    assert all(sum(one.found.values()) == len(one.selected) == 6 for one in demo.outcomes)


def test_demo_has_words_for_a_failure_of_all():
    data = demo_data(50)
    lost = CriterionOutcome("mim", tuple(data.columns("irrelevant")[:6]), {"joint": 0, "noisy copy": 0, "irrelevant": 6}, False)
    first, _, misled = Demo(data, (lost,)).sentences()
    assert first == "None of the 1 criteria selected exactly the 6 relevant features."
    assert misled == "0 selected a redundant copy; 1 selected a noise feature (at most 6 of 10)."


@pytest.mark.parametrize("width", [80, 120])
def test_methods_lists_a_sentence_for_every_method_and_names_the_default(width):
    lines = run("methods", width=width).stdout.splitlines()
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("The default is hybrid.")
    text = " ".join(" ".join(lines).split())
    for name, criterion in CRITERIA.items():
        sentence = inspect.getdoc(criterion).splitlines()[0]
        assert f"{name} {sentence}" in text
    for name, method in METHODS.items():
        assert f"{name} {method.summary}" in text


@pytest.mark.parametrize("name", CRITERIA)
def test_methods_describes_every_criterion(name):
    result = run("methods", name.upper())
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    text = " ".join(result.stdout.split())
    criterion = CRITERIA[name]()
    assert f"formula {criterion.score} first step" in text
    assert f"paper {criterion.paper}" in text
    assert "1,000 features" in text
    assert "memory:" in text


@pytest.mark.parametrize("name", METHODS)
def test_methods_describes_what_is_no_greedy_search(name):
    result = run("methods", name.upper())
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    call = next(line.split("in Python")[1].strip() for line in result.stdout.splitlines() if "in Python" in line)
    importlib.import_module("labelsieve.selectors")
    assert repr(eval(call, {"labelsieve": labelsieve, **vars(discretize)})) == repr(
        selector_class(name)(**METHODS[name].settings)
    )
    text = " ".join(result.stdout.split())
    assert all(fact in text for fact in (METHODS[name].formula, METHODS[name].paper, METHODS[name].cost))


def test_methods_tells_parameters_and_first_rule():
    assert "parameters   pairs='once'" in run("methods", "pmu").stdout
    assert "first step   sum_y(I(f, y))" in run("methods", "jmi").stdout
    assert "parameters   normalized=False" in run("methods", "jmi").stdout
    assert "parameters   none" in run("methods", "mim").stdout


@pytest.mark.parametrize("name", PRESETS)
def test_methods_describes_every_published_method(name):
    preset = PRESETS[name]
    assert f"{name} {preset.criterion} {preset.targets} " in " ".join(run("methods", width=160).stdout.split())
    text = " ".join(run("methods", name).stdout.split())
    assert f"method {name}, {preset.paper} targets {preset.targets} discretizer {preset.discretizer} formula" in text


def test_help_names_every_label_space():
    text = " ".join(run("select", "--help", width=120).stdout.split()).replace("- ", "-")
    assert all(re.search(rf"[ ,]{name}[ ,;]", text) for name in LABEL_SPACES)


def test_an_unknown_method_is_refused_with_the_known_ones():
    assert "'nonsense' is not a criterion. Known: mim, jmi" in refusal("methods", "nonsense")


def test_the_list_of_commands_is_not_cut_and_begins_with_select(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, listed = run("--help").stdout.split("Commands:\n")
    assert "..." not in listed
    assert listed.split()[0] == "select"
