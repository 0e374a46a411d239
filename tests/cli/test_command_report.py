"""``labelsieve report``, and the report at the end of ``labelsieve demo``."""

import json
import sys

import numpy as np
import pandas as pd
import pytest

from labelsieve.studies import Study
from tests.support.command_line import known_table, refusal, run, write
from tests.support.small_studies import protocol

pytest.importorskip("matplotlib")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "songs & <more>.csv"
    known_table().to_csv(path, index=False)
    return path


def test_a_selection_is_that_of_select_with_the_same_options(file, tmp_path):
    options = ("--labels", 5, "-k", 4, "--method", "mrmr", "--targets", "joint", "--bins", 3)
    out = tmp_path / "out.html"
    result = run("report", file, *options, "-o", out, "--stability", 2)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"labelsieve: report written to {out.resolve()}\n"
    text = out.read_text(encoding="utf-8")
    assert "<title>Features of songs &amp; &lt;more&gt;.csv</title>" in text
    selected = json.loads(run("select", file, *options, "--format", "json").stdout)["selected"]
    positions = [text.index(f'<th scope="row">{feature["feature"]}</th>') for feature in selected]
    assert positions == sorted(positions)
    assert "EqualFrequency(" in text
    assert "n_bins=3" in text


def test_criterion_is_another_word_for_method(file, tmp_path):
    for option in ("--method", "--criterion"):
        out = tmp_path / f"{option}.html"
        assert run("report", file, "--labels", 5, "-k", 2, option, "mifs", "-o", out, "--stability", 0).exit_code == 0
        assert "Battiti 1994" in out.read_text(encoding="utf-8")


def test_a_table_of_noise_has_a_report_that_says_so(tmp_path):
    rng = np.random.default_rng(0)
    table = np.hstack([rng.normal(size=(200, 10)), rng.integers(0, 2, (200, 2))])
    pd.DataFrame(table, columns=[*"abcdefghij", "y", "z"]).to_csv(tmp_path / "noise.csv", index=False)
    out = tmp_path / "noise.html"
    assert run("report", tmp_path / "noise.csv", "--labels", "y,z", "-o", out, "--stability", 2).exit_code == 0
    assert "No selection of the 10 features clearly predicts the labels." in out.read_text(encoding="utf-8")
    printed = run("select", tmp_path / "noise.csv", "--labels", "y,z").stdout
    assert "explained:" in printed
    assert "gain:" not in printed, "there is no table"


def test_a_study_is_known_by_its_folder(tmp_path):
    folder = tmp_path / "my study"
    Study(protocol(splits="2x50%"), folder / "part").run()
    message = refusal("report", folder, "-o", tmp_path / "s.html")
    assert "this study has parts; give one of" in message
    assert run("report", folder / "part", "-o", tmp_path / "s.html").exit_code == 0
    assert "<title>part: 4 methods on 2 data sets</title>" in (tmp_path / "s.html").read_text(encoding="utf-8")


def test_what_cannot_be_is_refused_before_anything_is_computed(file, tmp_path):
    for options, words in (
        (("-o", tmp_path / "none" / "r.html"), "in a folder that exists"),
        (("-o", tmp_path), "a .html file"),
        (("-o", tmp_path / "r.pdf"), "a .html file"),
        (("--redundant", 0, "-o", tmp_path / "r.html"), "--redundant takes a number above 0"),
        (("--stability", 1, "-o", tmp_path / "r.html"), "one resample cannot be compared"),
        (("--codes", "--bins", 3, "-o", tmp_path / "r.html"), "exclude each other"),
    ):
        assert words in refusal("report", file, "--labels", 5, *options)
    assert "No such file" in refusal("report", tmp_path / "none.csv", "--labels", 1, "-o", tmp_path / "r.html")
    assert "this folder has no study" in refusal("report", tmp_path, "-o", tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


def without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)


def test_without_matplotlib_the_remedy_is_named(file, tmp_path, monkeypatch):
    without_matplotlib(monkeypatch)
    message = refusal("report", file, "--labels", 5, "-o", tmp_path / "r.html")
    assert message == "labelsieve: Figures need matplotlib: pip install 'labelsieve[plot]'."


def test_the_demo_ends_with_a_report_and_says_where_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo", "--rows", 200)
    assert result.exit_code == 0
    assert result.stderr == f"labelsieve: report written to {tmp_path.resolve() / 'labelsieve-demo.html'}\n"
    assert "<title>Features of the demo</title>" in (tmp_path / "labelsieve-demo.html").read_text(encoding="utf-8")
    assert run("demo", "--rows", 200, "--report", tmp_path / "other.html").exit_code == 0
    assert (tmp_path / "other.html").exists()


def test_the_demo_writes_none_where_none_is_wanted_or_possible(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("demo", "--rows", 100, "--no-report").stderr == ""
    assert "a .html file" in refusal("demo", "--rows", 100, "--report", "demo.txt")
    without_matplotlib(monkeypatch)
    result = run("demo", "--rows", 100)
    assert result.exit_code == 0
    assert "note: no report. Figures need matplotlib: pip install 'labelsieve[plot]'." in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_names_of_columns_are_only_names(tmp_path):
    path = write(tmp_path, "<script>alert(1)</script>,b,<i>y</i>\n" + "1,0,1\n0,0,0\n0,1,0\n1,1,1\n" * 5)
    out = tmp_path / "r.html"
    assert run("report", path, "--labels", 1, "-o", out, "--stability", 2).exit_code == 0
    text = out.read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert text.count("<script>") == 1
    assert "<i>" not in text
