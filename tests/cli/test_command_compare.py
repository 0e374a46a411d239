"""``labelsieve compare``: what they print, how they go on, what they refuse."""

import json

import numpy as np
import pandas as pd
import pytest

from labelsieve.cli.compare import DEFAULT_METHODS
from labelsieve.studies import StudyResults
from labelsieve.studies.data import Source
from tests.support.command_line import known_table, refusal, run

SMALL = ["--k", "1..3", "--splits", "2x50%", "--measures", "hamming_loss,macro_f1"]


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "songs.csv", tmp_path / "films.csv"]
    for number, path in enumerate(paths):
        known_table()[number * 100 : number * 100 + 100].to_csv(path, index=False)
    return paths


def compare(files, out, *more, methods="jmi,mim", classifier="mlknn:k=3"):
    return run("compare", *files, "--labels", 5, "--methods", methods, "--out", out, "--classifier", classifier, *SMALL, *more)


def test_compare_prints_means_and_goes_on_where_it_was(files, tmp_path):
    first = compare(files, tmp_path / "study")
    assert first.exit_code == 0, first.output
    assert "16 of 16 cells to run" in first.stderr
    assert first.stdout.startswith("hamming_loss, mlknn: means over the numbers of features and splits, lower is")
    assert "First by rank over the numbers of features, of 2 data sets: jmi" in first.stdout
    assert [line.split()[0] for line in first.stdout.splitlines() if line.startswith(("songs", "films"))] == [
        "songs",
        "films",
    ] * 2
    again = compare(files, tmp_path / "study")
    assert "0 cells run, 16 already stored, 0 failed" in again.stderr
    assert again.stdout == first.stdout
    more = compare(files, tmp_path / "study", methods="jmi,mim,scls")
    assert "4 cells run, 16 already stored, 0 failed" in more.stderr


def test_dry_run_lists_cells_and_writes_nothing(files, tmp_path):
    result = compare(files, tmp_path / "study", "--dry-run")
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert "2 data sets, 4 methods (jmi, mim, random, all), 3 numbers of features, 1 classifier, 2 measures, 2x50%." in text
    assert "16 of 16 cells to run." in text
    assert "songs jmi 2 0 0 0" in text
    assert not (tmp_path / "study").exists()
    compare(files, tmp_path / "study", methods="jmi")
    again = " ".join(compare(files, tmp_path / "study", "--dry-run").stdout.split())
    assert "4 of 16 cells to run, 12 stored." in again
    assert "songs jmi 0 2 0 0 songs mim 2 0 0 0" in again


def test_baselines_can_be_taken_out(files, tmp_path):
    assert compare(files, tmp_path / "study", "--baselines", "none").exit_code == 0
    assert StudyResults(tmp_path / "study").methods == ["jmi", "mim"]


def test_failing_cells_are_told_with_exit_code_1(files, tmp_path):
    result = compare(files, tmp_path / "study", methods="jmi,qpfs")  # qpfs takes one target, and here are five
    assert result.exit_code == 1
    assert "4 failed" in result.stderr
    assert all("no selection: InputError" in failure[-1] for failure in StudyResults(tmp_path / "study").failures)
    assert "4 cells failed, songs, split 0, qpfs with mlknn first: no selection: InputError" in result.stderr
    document = json.loads(compare(files, tmp_path / "study", "--json", methods="jmi,qpfs").stdout)
    assert {failure["method"] for failure in document["failures"]} == {"qpfs"}


def test_a_study_in_which_all_failed_says_so(files, tmp_path):
    result = compare(files, tmp_path / "study", "--baselines", "none", methods="qpfs")
    assert (result.exit_code, result.stdout) == (1, "No cell has a result.\n")


def test_results_are_of_what_was_asked_for_now(files, tmp_path):
    def asked(*more, methods):
        result = compare(files, tmp_path / "study", "--json", *more, methods=methods)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)["results"][0]

    before = asked(methods="jmi,mim")
    after = asked("--baselines", "none", methods="mim,scls")
    assert set(after["means"]["songs"]) == {"mim", "scls"}
    assert all(after["best"].values()), "the best of those that are shown"
    assert after["means"]["songs"]["mim"] == before["means"]["songs"]["mim"]
    assert set(after["best"]["songs"]) <= {"mim", "scls"}


def test_a_dry_run_counts_cells_that_will_run_again(files, tmp_path):
    assert compare(files, tmp_path / "study").exit_code == 0
    dry = compare(files, tmp_path / "study", "--seed", 1, "--changed", "rerun", "--dry-run", "--json")
    assert json.loads(dry.stdout)["n_missing"] == 16
    assert "they are run again" in dry.stderr


def test_two_classifiers_of_one_kind_have_their_parameters_in_their_names(files, tmp_path):
    result = compare(files, tmp_path / "study", "--json", classifier="mlknn:k=3,mlknn:k=5")
    assert {row["classifier"] for row in json.loads(result.stdout)["results"]} == {"mlknn:k=3", "mlknn:k=5", "average"}


def test_learners_are_options_that_may_be_repeated(files, tmp_path):
    result = compare(files, tmp_path / "study", "--learner", "logreg", "--learner", "rf:n_estimators=5", "--json")
    assert result.exit_code == 0, result.output
    rows = [row for row in json.loads(result.stdout)["results"] if row["measure"] == "macro_f1"]
    assert [row["classifier"] for row in rows] == ["mlknn", "logreg", "rf", "average"]
    means = [row["means"]["songs"]["jmi"] for row in rows]
    assert means[-1] == pytest.approx(sum(means[:-1]) / 3)
    text = compare(files, tmp_path / "study", "--learner", "logreg", "--learner", "rf:n_estimators=5").stdout
    assert "hamming_loss, average of the classifiers: means over" in text
    assert "Did you mean 'logistic'?" in refusal(
        "compare", *files, "--labels", 5, "--methods", "jmi", "--out", tmp_path, "--learner", "logistc"
    )


def test_the_scale_is_an_option(files, tmp_path):
    found = {}
    for scale in ("standard", "none"):
        result = compare(files, tmp_path / scale, "--scale", scale, "--json")
        assert result.exit_code == 0, result.output
        found[scale] = StudyResults(tmp_path / scale)
        assert found[scale].protocol["scale"] == scale
    assert "'big' is not a scale. Known: standard, minmax, none." in refusal(
        "compare", *files, "--labels", 5, "--methods", "jmi", "--out", tmp_path, "--scale", "big"
    )


def test_first_by_rank_says_what_a_tie_means(files, tmp_path):
    same = "mim,mim:n_jobs=1"
    result = compare(files, tmp_path / "study", methods=same)
    text = " ".join(result.stdout.split())
    assert "of 2 data sets: mim 2, mim:n_jobs=1 2. On 2 of them several methods share the first rank, and each of them" in text
    answer = json.loads(compare(files, tmp_path / "study", "--json", methods=same).stdout)["results"][0]
    assert (answer["first_by_rank"], answer["n_ranked"], answer["n_tied_for_first"]) == ({"mim": 2, "mim:n_jobs=1": 2}, 2, 2)


def test_protocol_file_says_everything(files, tmp_path):
    text = (
        'methods = ["jmi"]\nn_features = [2]\nsplits = "2x50%"\n[[datasets]]\nname = "songs"\npath = "songs.csv"\nlabels = 5\n'
    )
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    result = run("compare", tmp_path / "study.toml", "--out", tmp_path / "study")
    assert result.exit_code == 0, result.output
    assert "6 cells run" in result.stderr
    assert "leave out other data sets and methods" in refusal(
        "compare", tmp_path / "study.toml", "--methods", "mim", "--out", tmp_path / "study"
    )


def test_changed_data_is_refused_until_told_what_to_do(files, tmp_path):
    assert compare(files, tmp_path / "study").exit_code == 0
    known_table()[200:300].to_csv(files[0], index=False)
    result = compare(files, tmp_path / "study")
    assert result.exit_code == 2
    assert "the data of songs (8 cells) changed since" in result.stderr.splitlines()[-1]
    kept = compare(files, tmp_path / "study", "--changed", "keep")
    assert (kept.exit_code, "the cells of before were kept" in kept.stderr) == (0, True)
    assert "8 cells run, 8 already stored" in compare(files, tmp_path / "study", "--changed", "rerun").stderr


def test_without_methods_measures_and_folder_it_compares_the_default_with_its_rivals(files, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    result = run("compare", files[0], "--labels", 5, "-k", 2, "--splits", "1x50%", "--json")
    assert result.exit_code == 0, result.output
    tables = json.loads(result.stdout)["results"]
    assert list(tables[0]["means"]["songs"]) == [*DEFAULT_METHODS.split(","), "random", "all"]
    assert [table["measure"] for table in tables] == ["hamming_loss", "ranking_loss", "coverage", "macro_f1"]
    assert StudyResults(tmp_path / "songs-study").datasets == ["songs"]


@pytest.mark.parametrize("processes", [1, 2])
def test_numeric_targets_get_a_measure_and_a_learner_for_numbers(monkeypatch, tmp_path, processes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    frame = pd.DataFrame(np.column_stack([X, X[:, :2] + 0.1 * rng.normal(size=(60, 2))]), columns=[*"abcd", "y", "z"])
    frame.to_csv(tmp_path / "sensors.csv", index=False)
    reads = []
    monkeypatch.setattr(Source, "read", lambda self, read=Source.read: reads.append(self.name) or read(self))
    how = ["--labels", 2, "-k", 2, "--splits", "2x50%", "--out", tmp_path / "study", "--jobs", processes, "--json"]
    result = run("compare", tmp_path / "sensors.csv", "--methods", "hybrid", *how)
    assert result.exit_code == 0, result.output
    (table,) = json.loads(result.stdout)["results"]
    assert (table["measure"], table["classifier"]) == ("rrmse", "knn")
    assert table["means"]["sensors"]["hybrid"] < table["means"]["sensors"]["random"]
    assert reads == ["sensors"]


REFUSED = {
    "unknown method": (["--methods", "jmmi"], "'jmmi' is not a criterion"),
    "splits": (["--methods", "jmi", "--splits", "often"], "splits: 'often' is none of"),
    "numbers": (["--methods", "jmi", "--k", "few"], "n_features: 'few' is not a number of features"),
    "classifier": (["--methods", "jmi", "--classifier", "mlknn:seven"], "parameters look like mlknn:name=value"),
    "measure": (["--methods", "jmi", "--measures", "beauty"], "'beauty' is not a measure"),
    "jobs": (["--methods", "jmi", "--jobs", "0"], "--n-jobs must not be 0"),
    "two forms": (["--methods", "jmi", "--json", "--format", "csv"], "--json and --format csv exclude each other"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_options_are_refused_in_one_line(case, files, tmp_path):
    options, said = REFUSED[case]
    assert said in refusal("compare", files[0], "--labels", 5, "--out", tmp_path / "study", *options)
    assert not (tmp_path / "study").exists()
