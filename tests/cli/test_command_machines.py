"""The command line for programs and shells: JSON, CSV, completion, help, and options that are named as in Python."""

import csv
import importlib
import inspect
import io
import json
import re
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from labelsieve import cli
from labelsieve.datasets.fetch import catalog
from labelsieve.registry import STOPPING_RULES
from tests.support.command_line import known_table, run

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "commandline.md").read_text(encoding="utf-8")
OWN = {
    "--missing-values",
    "--auto",
    "--dask",
    "--discretizer-of",
    "--codes",
    "--details",
    "--redundant",
    "--stability",
    "--output",
    "--out",
    "--dry-run",
    "--format",
    "--json",
    "--report",
    "--no-report",
    "--data",
    "--only-datasets",
    "--only-methods",
    "--only-learners",
    "--repeats",
    "--shard",
    "--skip-exceeded",
}


def commands():
    """Every command with its name as it is typed."""
    for name, command in get_command(cli.app).commands.items():
        if hasattr(command, "commands"):
            yield from ((f"{name} {inner}", subcommand) for inner, subcommand in command.commands.items())
        else:
            yield name, command


COMMANDS = dict(commands())


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "songs.csv"
    known_table()[:80].to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_examples_first_and_explains_all_options(name):
    result = run(*name.split(), "--help")
    assert result.exit_code == 0
    before, examples, *sections = re.split(r"^(?:  )?([A-Z][a-z ]+):$\n", result.stdout, flags=re.MULTILINE)[0::2]
    assert not re.search(r"^ +-", before, flags=re.MULTILINE), "options come after the examples"
    text = "".join(sections)
    lines = [line.strip() for line in examples.strip().splitlines()]
    assert lines
    assert all(line.startswith(f"labelsieve {name}") for line in lines)
    options = [option for option in COMMANDS[name].params if option.param_type_name == "option" and option.name != "help"]
    assert all(option.help for option in options)
    assert all(option.opts[0] in text for option in options)
    existing = {opt for option in COMMANDS[name].params for opt in [*option.opts, *option.secondary_opts]}
    assert set(re.findall(r"--[a-z-]+", examples)) <= existing, "an example has an option that does not exist"


def headings(*command):
    return re.findall(r"^([A-Z][a-z ]+):$", run(*command, "--help").stdout, flags=re.MULTILINE)


def test_options_of_a_comparison_are_grouped_by_purpose():
    assert headings("compare") == [
        "Arguments",
        "The comparison",
        "The table",
        "A part of the protocol",
        "The run",
        "Output",
        "Other options",
    ]


@pytest.mark.parametrize("command", [(), ("datasets",)])
def test_the_summary_of_a_command_is_not_cut(command):
    assert "..." not in run(*command, "--help").stdout.split("Commands:")[1]


def test_options_of_a_selection_are_grouped_by_purpose():
    assert headings("select") == [
        "Arguments",
        "The table",
        "Number of features",
        "Method",
        "Columns and targets",
        "Large tables and machines",
        "Output",
        "Automatic choice of the method",
        "Other options",
    ]


def test_exit_codes_are_in_the_help():
    text = " ".join(run("--help").stdout.split())
    assert "0, success; 1, some cells of a study failed; 2, invalid usage, data or settings; 130, interrupted" in text


SETS = re.findall(r"^\| `([a-z ]+)` \| `(--[a-z-]+)`(?: \((.*?)\))? \| `([\w.]+)`, `(\w+)` \|$", DOCS, re.MULTILINE)


@pytest.mark.parametrize(("name", "option", "older", "where", "parameter"), SETS, ids=str)
def test_options_have_the_names_of_the_parameters_that_they_set(name, option, older, where, parameter):
    assert option == "--" + parameter.replace("_", "-")
    module, _, thing = where.rpartition(".")
    try:
        target = getattr(importlib.import_module(module), thing)
    except ModuleNotFoundError:  # a method of a class
        module, _, name_in_module = module.rpartition(".")
        target = getattr(getattr(importlib.import_module(module), name_in_module), thing)
    assert parameter in inspect.signature(target).parameters
    spelled = next(parameter.opts for parameter in COMMANDS[name].params if option in parameter.opts)
    assert set(spelled) == {option, *re.findall(r"`(.*?)`", older)}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_documentation_knows_every_option(name):
    assert len(SETS) > 30
    checked = {option for command, option, *_ in SETS if command in (name, "select")} | OWN
    for option in COMMANDS[name].params:
        if option.param_type_name == "option" and option.name != "help":
            assert set(option.opts) & checked, option.opts


def test_data_sets_are_listed_for_programs():
    documents = json.loads(run("datasets", "list", "--json").stdout)
    assert [document["name"] for document in documents] == list(catalog())
    lines = run("datasets", "list", "--format", "csv").stdout.splitlines()
    assert lines[0] == "name,rows,features,labels,task,papers,url,where"
    assert len(lines) == 1 + len(documents)


def test_names_in_csv_are_no_formulas(tmp_path):
    names = ["=1+2", "+tempo", "-loud", "@key", "-7", "plain"]
    rows = "".join(",".join(str((row >> k) & 1) for k in range(6)) + f",{row & 1}\n" for row in range(64))
    path = tmp_path / "names.csv"
    path.write_text(",".join(names) + ",y\n" + rows)
    result = run("select", path, "--labels", 1, "-k", 6, "--format", "csv")
    found = {row["feature"] for row in csv.DictReader(io.StringIO(result.stdout))}
    assert found == {"'=1+2", "'+tempo", "'-loud", "'@key", "-7", "plain"}
    document = json.loads(run("select", path, "--labels", 1, "-k", 6, "--json").stdout)
    assert {feature["feature"] for feature in document["selected"]} == set(names)


def test_statistics_are_told_to_programs(file):
    document = json.loads(run("datasets", "info", file, "--labels", 5, "--json").stdout)
    assert (document["n_rows"], document["n_features"], document["n_labels"]) == (80, 20, 5)
    assert run("datasets", "info", file, "--labels", 5, "--format", "csv").stdout.startswith("statistic,value\nname,songs\n")


SMALL = ["-k", "1..2", "--splits", "2x50%", "--classifiers", "mlknn:k=3", "--measures", "hamming_loss", "--baselines", "none"]


def test_comparisons_are_told_to_programs(file, tmp_path):
    given = ["compare", file, "--labels", 5, "--methods", "jmi,mim", "--out", tmp_path / "study", *SMALL]
    cost = json.loads(run(*given, "--dry-run", "--json").stdout)
    assert (cost["n_cells"], cost["n_missing"], cost["n_stored"]) == (4, 4, 0)
    assert [(row["method"], row["missing"]) for row in cost["cells"]] == [("jmi", 2), ("mim", 2)]
    lines = run(*given, "--dry-run", "--format", "csv").stdout.splitlines()
    assert lines[:2] == ["data set,method,missing,stored,failed,stale", "songs,jmi,2,0,0,0"]
    document = json.loads(run(*given, "--json").stdout)
    assert document["cells"] == {"run": 4, "known": 0, "failed": 0, "stale": 0}
    (result,) = document["results"]
    assert (result["measure"], result["lower_is_better"], set(result["means"]["songs"])) == (
        "hamming_loss",
        True,
        {"jmi", "mim"},
    )
    again = run(*given, "--format", "csv")
    assert again.stdout.splitlines()[0] == "classifier,measure,data set,method,mean"
    assert float(again.stdout.splitlines()[1].split(",")[-1]) == result["means"]["songs"]["jmi"]
    assert f"{result['means']['songs']['jmi']:.4f}" in run(*given).stdout


def test_failed_cells_end_with_one_and_still_with_json(file, tmp_path):
    result = run("compare", file, "--labels", 5, "--methods", "jmi,qpfs", "--out", tmp_path / "study", *SMALL, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["cells"]["failed"] == 2


def completing(**environment):
    """What a shell gets that asks for completion."""
    return CliRunner(env=environment).invoke(cli.app, [], prog_name="labelsieve")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_completion_scripts_are_printed(shell):
    done = completing(_LABELSIEVE_COMPLETE=f"source_{shell}")
    assert "labelsieve" in done.stdout
    assert "_LABELSIEVE_COMPLETE" in done.stdout
    assert done.stderr == ""
    shown = run("--help").stdout
    assert "--install-completion" in shown
    assert "--show-completion" in shown


@pytest.mark.parametrize(
    ("line", "completions"),
    [
        ("labelsieve sel", {"select"}),
        ("labelsieve select x.csv --criterion relief", {"relieff", "relieff-ml"}),
        ("labelsieve compare x.csv --methods jmi,ela-", {"jmi,ela-chi", "jmi,ela-infogain"}),
        ("labelsieve select x.csv -k g", {"g-test"}),
        ("labelsieve select x.csv --targets group-r", {"group-rand"}),
        ("labelsieve select x.csv --discretizer mean", {"mean-std"}),
        ("labelsieve datasets fetch yea", {"yeast"}),
    ],
)
def test_names_are_completed(line, completions):
    place = str(len(line.split()) - 1)
    done = completing(COMP_WORDS=line, COMP_CWORD=place, _LABELSIEVE_COMPLETE="complete_bash")
    assert set(done.stdout.split()) == completions


def test_rules_in_the_documentation_are_those_there_are():
    assert all(f"`{name}`" in DOCS for name in STOPPING_RULES)


def test_every_command_in_the_documentation_is_one_that_exists():
    for line in re.findall(r"^    (labelsieve .*)$", DOCS, re.MULTILINE):
        words = line.split("#")[0].split()[1:]
        if words[0].startswith("--"):
            continue
        existing = {opt for option in COMMANDS[words[0]].params for opt in option.opts}
        assert {word for word in words if word.startswith("-")} <= existing
