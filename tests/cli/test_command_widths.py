"""What commands print fits the terminal at any width and in pipes, and no column is lost."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests.support.command_line import known_table, run

METHODS = ["jmi", "mim", "scls", "mrmr", "cmim", "cife", "group-jmi-rand", "relieff:n_neighbors=20"]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("widths")
    for number, name in enumerate(("songs", "recordings-of-birds-in-the-forest-at-dawn")):
        known_table()[number * 60 : number * 60 + 60].to_csv(folder / f"{name}.csv", index=False)
    files = sorted(map(str, folder.glob("*.csv")))
    options = ["--k", "2", "--splits", "2x50%", "--measures", "hamming_loss", "--classifier", "mlknn:k=3"]
    command = ["compare", *files, "--labels", "5", "--methods", ",".join(METHODS), "--out", str(folder / "study"), *options]
    assert run(*command).exit_code == 0
    return command


def assert_all_means(text, answer):
    for name, means in answer["results"][0]["means"].items():
        assert name in re.sub(r"\s", "", text)
        shown = re.findall(r"\d\.\d{4}", text)
        for method, mean in means.items():
            assert f"{mean:.4f}" in shown, (name, method)
    squeezed = re.sub(r"\s", "", text)
    for method in METHODS:
        assert all(piece in squeezed for piece in re.split(r"(?<=[-_ ])", method)), method


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_comparison_has_every_mean_at_any_width(study, width):
    answer = json.loads(run(*study, "--json").stdout)
    assert_all_means(run(*study, width=width).stdout, answer)


def test_a_comparison_in_a_pipe_has_every_mean(study):
    answer = json.loads(run(*study, "--json").stdout)
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    call = [sys.executable, "-m", "labelsieve", *study]
    found = subprocess.run(call, capture_output=True, text=True, env=environment, encoding="utf-8", check=True)
    assert max(map(len, found.stdout.splitlines())) <= 80
    assert_all_means(found.stdout, answer)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_selection_has_every_feature_and_score_at_any_width(file, width):
    answer = json.loads(run("select", file, "--labels", 5, "-k", 4, "--json").stdout)
    text = run("select", file, "--labels", 5, "-k", 4, "--details", width=width).stdout
    assert max(map(len, text.splitlines())) <= width
    for feature in answer["selected"]:
        assert re.search(rf"\b{feature['feature']}\b", text)
        assert f"{feature['score']:.4f}" in text
        assert f"{100 * feature['explained']:.1f} %" in text


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize(
    "command", [["datasets", "list"], ["demo", "--no-report", "--n-rows", "200"], ["methods"]], ids=lambda c: c[0]
)
def test_lists_fit_and_name_everything(command, width):
    text = run(*command, width=width).stdout
    words = set(re.findall(r"[\w,/.-]+", text))
    for word in ("emotions", "19,300", "1,702") if command[0] == "datasets" else ("betagamma", "cife"):
        assert word in words
