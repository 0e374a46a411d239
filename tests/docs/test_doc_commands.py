"""Every command of labelsieve in a block of a page runs, on small tables with the names and the columns that it mentions."""

import gzip
import shlex

import numpy as np
import pytest

from labelsieve.studies import Protocol, Study
from tests.docs.test_docs import PAGES, ROOT, commands_of, page_name
from tests.support.command_line import known_table, run
from tests.support.doc_pages import local_scheduler
from tests.support.shared_files import shared_file

# Commands that change the settings of a shell.
ELSEWHERE = ("--install-completion", "--show-completion")
LONG = ("docs/studies/choosing.toml", "docs/studies/numeric.toml", "leaderboard/leaderboard.toml", "leaderboard/noise.toml")
CATALOG = ("emotions", "yeast", "docs/studies", "leaderboard/")


def calls():
    for page in [*PAGES, ROOT / "README.md"]:
        for program, arguments in commands_of(page):
            if program == "labelsieve" and not any(word in arguments for word in ELSEWHERE):
                yield pytest.param(arguments, id=f"{page_name(page)}: {shlex.join(arguments)}")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder with the tables, the study and the protocol that the pages mention."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    table = known_table()[:120]
    table.to_csv(folder / "songs.csv", index=False)
    table.set_axis([*table.columns[:-2], "calm", "loud"], axis=1).to_parquet(folder / "songs.parquet")
    people = table.iloc[:, :3].assign(
        age=rng.integers(18, 90, 120), zip=rng.integers(10, 14, 120) * 1000, sick=table.iloc[:, -1]
    )
    people.to_csv(folder / "people.csv", index=False)
    houses = table.iloc[:, :5].assign(price=1000 * table.iloc[:, 0].round(3), rooms=rng.integers(1, 6, 120))
    houses.to_csv(folder / "houses.csv", index=False)
    patients = table.copy()
    patients.insert(0, "site", np.repeat(["north", "south"], 60))
    patients.insert(1, "patient", np.arange(120) // 2)
    patients.to_csv(folder / "patients.csv", index=False)
    settings = {"n_features": [1, 2], "splits": "2x50%", "measures": ["hamming_loss"], "classifiers": ["mlknn"]}
    Study(
        Protocol(datasets=[{"path": str(folder / "songs.csv"), "labels": 5}], methods=["jmi"], **settings), folder / "study"
    ).run()
    names = "\n".join(
        f'[[datasets]]\nname = "{name}"\npath = "songs.csv"\nlabels = 5\ntags = ["music"]' for name in ("songs", "yeast")
    )
    text = f'n_features = [1, 2]\nmethods = ["jmi", "l1"]\nclassifiers = ["mlknn"]\nsplits = "20x50%"\n{names}\n'
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def workplace(tables, tmp_path, monkeypatch):
    """An empty folder with links to the tables, and to the folders of the checkout that commands mention."""
    for path in [*tables.iterdir(), *(ROOT / name for name in ("examples", "docs", "leaderboard"))]:
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def scheduler(tmp_path):
    yield from local_scheduler(tmp_path)


# A small table may be odd, and clusters leave sockets.
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("arguments", list(calls()))
def test_a_command_of_a_page_runs(arguments, workplace, monkeypatch, request):
    if any(word.startswith(CATALOG) for word in arguments):
        emotions = shared_file("data", "emotions", "emotions.arff.gz")
        monkeypatch.setenv("LABELSIEVE_DATA", str(emotions.parents[1]))
        (workplace / "emotions.arff").write_bytes(gzip.decompress(emotions.read_bytes()))
        (workplace / "emotions.xml").symlink_to(emotions.with_name("emotions.xml"))
    if arguments[0] == "compare" and arguments[1] not in LONG:  # the last value of an option counts
        arguments = [
            *arguments,
            *(["--repeats", "1"] if arguments[1].endswith(".toml") else ["--splits", "2x50%", "-k", "1,2"]),
        ]
    elif arguments[0] == "compare" and "--dry-run" not in arguments:  # these take hours: the protocol is checked
        arguments = [*arguments, "--dry-run"]
    if "--dask" in arguments:
        arguments = request.getfixturevalue("scheduler")("\n".join(arguments)).split("\n")
    if "--auto" in arguments:  # the first method of the portfolio is enough; the last value of an option counts
        arguments = [*arguments, "--time-budget", "0.1"]
    result = run(*arguments)
    assert result.exit_code == 0, result.output
