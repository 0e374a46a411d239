"""Tables, ranks, winners and tests of a finished study, against plain recomputation."""

import shutil
import sqlite3
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata
from scipy.stats import t as student_t

from labelsieve import InputError
from labelsieve.studies import Grid, Study, StudyError, StudyResults
from labelsieve.studies.store import StudyStore
from tests.support.small_studies import data, protocol

NAMES = ["jmi", "mim", "scls"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    sets = [data(), data("films", 60, 1), data("books", 70, 2)]
    Study(protocol(datasets=sets, methods=NAMES, classifiers=[{"name": "mlknn", "k": 3}]), folder).run()
    return folder


def test_the_tidy_table_is_the_same_in_every_form(folder, tmp_path):
    results = StudyResults(folder)
    frame = results.to_frame()
    assert len(frame) == 3 * 3 * 2 * (4 * 4 + 1)
    assert results.to_frame("polars").to_pandas().equals(frame)
    results.to_parquet(tmp_path / "results.parquet")
    assert pd.read_parquet(tmp_path / "results.parquet").equals(frame)


@pytest.mark.parametrize("measure", ["hamming_loss", "ranking_loss"])
def test_ranks_are_those_of_means_over_splits_averaged_over_the_numbers_of_features(folder, measure):
    results = StudyResults(folder)
    frame, grid = results.to_frame(), results.ranks(measure)
    for dataset in ("songs", "films", "books"):
        chosen = frame[(frame.dataset == dataset) & (frame.measure == measure) & frame.method.isin(NAMES)]
        means = chosen.groupby(["k", "method"]).value.mean().unstack()[NAMES].to_numpy().round(12)
        expected = np.mean([rankdata(row) for row in means], axis=0)
        assert [grid.value(dataset, name) for name in NAMES] == pytest.approx(expected.tolist())
        assert results.winners(measure)[dataset] == [
            name for name, rank in zip(NAMES, expected, strict=True) if rank == expected.min()
        ]
    assert results.ranks(measure, baselines=True).columns == [*NAMES, "random"]


def test_the_order_of_summing_breaks_no_tie(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "study")
    with sqlite3.connect(tmp_path / "study" / "results.sqlite") as db:
        for method, values in (("jmi", (0.1, 0.2, 0.3)), ("mim", (0.3, 0.2, 0.1)), ("scls", (0.2, 0.2, 0.2))):
            for split, value in enumerate(values):
                sql = "UPDATE results SET value = ? WHERE cell IN (SELECT id FROM cells WHERE method = ? AND split = ?)"
                db.execute(sql, (value, method, split))
    db.close()
    results = StudyResults(tmp_path / "study")
    assert {results.ranks("hamming_loss").value("songs", name) for name in NAMES} == {2.0}
    assert len({results.means("hamming_loss").value("songs", name) for name in NAMES}) == 1


def test_means_have_intervals_and_tables_have_the_best_in_bold(folder):
    results = StudyResults(folder)
    frame, grid = results.to_frame(), results.means("hamming_loss")
    songs = frame[(frame.dataset == "songs") & (frame.measure == "hamming_loss") & (frame.method == "jmi")]
    values = songs.groupby("split").value.mean()
    assert grid.value("songs", "jmi") == pytest.approx(values.mean())
    assert grid.half_width("songs", "jmi") == pytest.approx(4.302653 * values.std() / np.sqrt(3))
    wide = results.means("hamming_loss", corrected=True).half_width("songs", "jmi")
    assert wide == pytest.approx(grid.half_width("songs", "jmi") * np.sqrt(1 + 3))
    best = grid.winners()["songs"][0]
    bold = f"{grid.value('songs', best):.3f}"
    assert f"**{bold}" in grid.to_markdown()
    assert rf"\textbf{{{bold}" in grid.to_latex()


def test_differences_are_paired_and_their_intervals_hold_together(folder):
    results = StudyResults(folder)
    frame = results.to_frame()
    frame = frame[frame.measure == "hamming_loss"]
    found = results.differences("jmi", "hamming_loss")
    assert list(found) == ["mim", "scls", "random", "all"]
    means, variances = [], []
    for dataset in results.datasets:
        mine, other = (
            frame[(frame.dataset == dataset) & (frame.method == method)].groupby("split").value.mean()
            for method in ("jmi", "mim")
        )
        means.append((other - mine).mean())
        variances.append((other - mine).var() * (1 / 3 + 1))  # half of the rows are tested
    freedom = sum(variances) ** 2 / (sum(np.square(variances)) / 2)
    half = student_t.isf(0.025 / 4, freedom) * np.sqrt(sum(variances)) / 3
    assert (found["mim"].mean, found["mim"].high - found["mim"].mean) == pytest.approx((np.mean(means), half))
    with pytest.raises(InputError, match=r"'jmmi' is not a method of this study. Did you mean 'jmi'"):
        results.differences("jmmi", "hamming_loss")


def test_friedman_and_nemenyi_are_over_the_data_sets(folder):
    found = StudyResults(folder).compare("hamming_loss")
    assert found.methods == tuple(NAMES)
    assert (found.n_datasets, found.test) == (3, "nemenyi")


def test_questions_without_an_answer_are_refused(folder, tmp_path):
    with pytest.raises(StudyError, match="this folder has no study"):
        StudyResults(tmp_path)
    with pytest.raises(InputError, match=r"'macro_f1' is not a measure of this study.* Known: hamming_loss, ranking_loss"):
        StudyResults(folder).ranks("macro_f1")
    with pytest.raises(InputError, match=r"'svm' is not a classifier of this study.* Known: mlknn"):
        StudyResults(folder).ranks("hamming_loss", "svm")


def test_methods_that_the_study_does_not_have_are_refused(folder):
    with pytest.raises(InputError, match=r"'jmmi' is not a method of this study. Did you mean 'jmi'"):
        StudyResults(folder).ranks("hamming_loss", methods=["jmi", "jmmi"])


def test_a_method_with_less_than_the_others_is_never_the_best(tmp_path):
    common = {"classifiers": [{"name": "mlknn", "k": 3}], "measures": ["hamming_loss"], "baselines": []}
    Study(protocol(**common, methods=["jmi", "mim"], n_features="1..4"), tmp_path).run()
    Study(protocol(**common, methods=["all"], splits="1x50%"), tmp_path).run()  # better than few features, here
    Study(protocol(**common, methods=["scls"], n_features="1..2"), tmp_path).run()
    results = StudyResults(tmp_path)
    grid, frame = results.means("hamming_loss"), results.to_frame()
    assert (grid.note("songs", "all"), grid.note("songs", "jmi")) == ("1 of 3 splits", "")
    assert "all" not in grid.winners()["songs"]
    assert "(1 of 3 splits)" in grid.to_markdown()
    few = frame[(frame.dataset == "songs") & (frame.method == "jmi") & (frame.k <= 2)]
    assert grid.value("songs", "jmi") == pytest.approx(few.value.mean()), "numbers of features that all have"
    assert results.ranks("hamming_loss").winners().keys() == {"songs", "films"}
    Study(protocol(**common, methods=["mrmr"], splits="2x50%"), tmp_path).run()
    with pytest.raises(InputError, match="needs the same splits for all methods: mrmr has 2 of 3 splits on films"):
        StudyResults(tmp_path).compare("hamming_loss")


def test_results_of_a_protocol_are_what_it_asks_for(folder):
    asked = protocol(
        datasets=[data(), data("films", 60, 1)],
        methods=["scls", "jmi"],
        n_features=[2, 3],
        classifiers=[{"name": "mlknn", "k": 3}],
        measures=["ranking_loss"],
        splits="2x50%",
    )
    found, frame = StudyResults(folder, protocol=asked), StudyResults(folder).to_frame()
    assert found.methods == ["scls", "jmi", "random", "all"]
    assert (found.datasets, found.measures) == (["films", "songs"], ["ranking_loss"])
    own = frame[(frame.dataset == "songs") & (frame.method == "jmi") & (frame.measure == "ranking_loss")]
    own = own[(own.split < 2) & own.k.isin([2, 3])]
    assert found.means("ranking_loss").value("songs", "jmi") == pytest.approx(own.value.mean())


def test_splits_that_were_kept_are_told(tmp_path):
    common = {"classifiers": [{"name": "mlknn", "k": 3}], "datasets": [data()], "baselines": []}
    Study(protocol(**common, methods=["jmi"]), tmp_path).run()
    Study(protocol(**common, methods=["jmi", "mim"], seed=1), tmp_path).run(changed="keep")
    assert StudyResults(tmp_path).mixed == ["splits of songs"]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_without_rows_has_the_same_types(folder, tmp_path, backend):
    with StudyStore(tmp_path):
        pass
    empty, full = StudyResults(tmp_path).to_frame(backend), StudyResults(folder).to_frame(backend)
    types = (lambda frame: frame.dtypes.to_dict()) if backend == "pandas" else (lambda frame: frame.schema)
    assert types(empty) == types(full)


def test_every_name_is_shown_as_it_is_in_tables():
    name = r"a_b & 50% of $x^2$ ~ {c} #1 \ | *d* <e>"
    grid = Grid([name], ["jmi"], lower_is_better=True)
    grid.put(name, "jmi", float("nan"))
    head = grid.to_latex().splitlines()[4]
    assert head == (r"a\_b \& 50\% of \$x\textasciicircum{}2\$ \textasciitilde{} \{c\} \#1 \textbackslash{} | *d* <e> &  \\")
    assert grid.to_markdown().splitlines()[-1] == r"| a_b & 50% of $x^2$ ~ {c} #1 \\ \| \*d\* \<e> |  |"


def test_plan_counts_and_writes_nothing(tmp_path):
    folder = tmp_path / "never"
    plan = Study(protocol(), folder).plan()
    assert (len(plan.cells), plan.count("missing")) == (48, 48)
    assert set(plan.by_method()) == set(product(("songs", "films"), ("jmi", "grouped", "random", "all")))
    assert not folder.exists()


def test_plan_says_what_is_stored_and_what_is_left(tmp_path):
    Study(protocol(methods=["jmi"]), tmp_path).run()
    plan = Study(protocol(methods=["jmi", "mim"]), tmp_path).plan()
    counts = {method: dict(count) for (name, method), count in plan.by_method().items() if name == "songs"}
    assert counts == {"jmi": {"stored": 6}, "mim": {"missing": 6}, "random": {"stored": 6}, "all": {"stored": 6}}


def test_the_file_is_sound_and_can_be_read_while_it_is_written(folder):
    db = sqlite3.connect(folder / "results.sqlite")
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()
