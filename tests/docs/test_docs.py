"""Code and commands on the pages of the documentation run, and links resolve."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from labelsieve import cli
from labelsieve.counting.backends.gpu import backend as gpu_backend
from leaderboard.__main__ import app as leaderboard_app
from replications.__main__ import app as replications_app
from tests.support.command_line import run
from tests.support.doc_pages import NEEDS, blocks, local_scheduler, needs_of, run_page
from tests.support.numpy_kernels import NumpyKernels
from tests.support.spark_session import local_session

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("**/*.md"))
GENERATED = {"gallery"}  # by the build, from the examples
SHELL = {"console", "indented", "sh"}
PROGRAMS = {
    "labelsieve": cli.app,
    "python -m leaderboard": leaderboard_app,
    "python -m replications": replications_app,
}


def page_name(page):
    return str(page.relative_to(ROOT))


PAGES_WITH_CODE = [page for page in PAGES if not GENERATED & set(page.parts)]


def pages_that_need(*wanted):
    """Pages with blocks of code that need one of these."""
    return [page for page in PAGES_WITH_CODE if needs_of(page.read_text(encoding="utf-8")) & set(wanted)]


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=page_name)
def test_python_blocks_of_a_page_run_and_print_the_shown_output(page, tmp_path, monkeypatch):
    """Blocks that need a cluster, Spark or a GPU run in the tests below."""
    monkeypatch.chdir(tmp_path)  # some pages write files
    run_page(page.read_text(encoding="utf-8"), page.name)


@pytest.fixture(scope="module")
def spark():
    yield from local_session()


@pytest.fixture
def scheduler(tmp_path):
    yield from local_scheduler(tmp_path)


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("page", pages_that_need("cluster"), ids=page_name)
def test_blocks_for_a_cluster_run_and_print_the_shown_output(page, scheduler, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    n_here = run_page(text, page.name)
    assert run_page(scheduler(text), page.name, provided={"cluster"}) > n_here


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", pages_that_need("Spark"), ids=page_name)
def test_blocks_for_spark_run_and_print_the_shown_output(page, spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    n_here = run_page(text, page.name)
    assert run_page(text, page.name, provided={"Spark"}) > n_here


@pytest.mark.parametrize("kernels", ["numpy", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("page", pages_that_need("GPU"), ids=page_name)
def test_blocks_for_a_gpu_run_and_print_the_shown_output(page, kernels, tmp_path, monkeypatch):
    """On a GPU, and everywhere with its kernels in numpy; the second GPU of a page is the first one here."""
    monkeypatch.chdir(tmp_path)
    counted_on = []

    def stand_in(device=None):
        counted_on.append(device)
        return NumpyKernels(tensor=True)

    if kernels == "numpy":
        monkeypatch.setattr(gpu_backend, "CudaKernels", stand_in)
    text = page.read_text(encoding="utf-8")
    n_here = run_page(text, page.name)
    shown = text if kernels == "numpy" else text.replace("gpu:1", "gpu:0")
    assert run_page(shown, page.name, provided={"GPU"}) > n_here
    assert counted_on == ([] if kernels == "gpu" else [None, 1, None])


def test_what_pages_need_is_found():
    assert all(pages_that_need(need) for need in NEEDS)


def commands_of(page):
    """Commands shown on a page, without the prompt: the program and its arguments."""
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language in SHELL:
            for line in block.text.splitlines():
                call = line.strip().removeprefix("$ ")
                found = re.match(rf"({'|'.join(PROGRAMS)})( [a-z].*)?$", call, re.IGNORECASE)
                if found:
                    yield found[1], shlex.split(found[2] or "", comments=True)


def parse(program, arguments):
    """The command that a call runs; it fails for unknown commands and options."""
    command = get_command(PROGRAMS[program])
    while hasattr(command, "commands"):
        name, *arguments = arguments
        assert name in command.commands, f"{program} {name}"
        command = command.commands[name]
    assert command.make_context(program, list(arguments)) is not None
    return command


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=page_name)
def test_commands_of_a_page_parse(page):
    for program, arguments in commands_of(page):
        parse(program, arguments)


def shown_outputs(page, program="labelsieve"):
    """Commands of a program on a page whose output is shown below them, with the output."""
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "console":
            for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                call, output = part.split("\n", 1)
                if call.startswith(f"{program} ") and output.strip():
                    yield pytest.param(call, output, id=f"{page_name(page)}: {call}")


@pytest.mark.filterwarnings("ignore::labelsieve.errors.ColumnWarning")
@pytest.mark.filterwarnings("ignore::labelsieve.datasets.DatasetWarning")
@pytest.mark.parametrize(("call", "output"), [case for page in PAGES for case in shown_outputs(page)])
def test_commands_print_the_shown_output(call, output, tmp_path, monkeypatch):
    """A line with dots stands for any lines."""
    monkeypatch.chdir(tmp_path)
    Path("examples").symlink_to(ROOT / "examples")
    printed = run(*shlex.split(call)[1:]).stdout
    pattern = "".join(
        r"(?:.*\n)+" if line == "..." else re.escape(line.rstrip()) + r" *\n" for line in output.rstrip().split("\n")
    )
    assert re.fullmatch(pattern, printed), printed


def leaves(command):
    """The commands without commands of their own."""
    inner = getattr(command, "commands", None)
    return [command] if inner is None else [leaf for one in inner.values() for leaf in leaves(one)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_help_of_every_program_lists_its_commands(program):
    shown = run("--help", app=PROGRAMS[program])
    assert shown.exit_code == 0, shown.output
    for name in getattr(get_command(PROGRAMS[program]), "commands", ()):
        assert f"\n  {name} " in shown.stdout
    assert "..." not in shown.stdout.partition("Commands:")[2], "a summary is cut"


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_help_has_examples_that_parse(program):
    for command in leaves(get_command(PROGRAMS[program])):
        head, *examples = command.epilog.split("\n  ")
        assert head.endswith("Examples:")
        for example in examples:
            assert parse(program, shlex.split(example.removeprefix(program))).name == command.name


def test_commands_are_found_on_pages():
    assert sum(len(list(commands_of(page))) for page in [*PAGES, ROOT / "README.md"]) >= 10


def test_links_between_pages_resolve():
    """Links in the Markdown files, which the build does not check."""
    for page in [*PAGES, ROOT / "README.md", ROOT / "benchmarks" / "README.md", ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in target and "gallery/" not in target:
                assert (page.parent / target).exists(), f"{page_name(page)}: {target}"


def test_rows_of_a_table_have_the_same_number_of_cells():
    """Else the page shows the table as text, or without its last cells."""
    for page in [*PAGES, ROOT / "README.md", ROOT / "benchmarks" / "README.md"]:
        for table in re.findall(r"(?:^\|.*\n)+", page.read_text(encoding="utf-8"), re.MULTILINE):
            cells = {len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}
            assert len(cells) == 1, f"{page_name(page)}: {table.splitlines()[0]}"
