"""``labelsieve datasets info``: columns to look at, and targets of every kind."""

import csv
import io
import json

import pytest

from tests.support.command_line import run

N_ROWS = 30


@pytest.fixture
def file(tmp_path):
    lines = ["id,tempo,same,copy,key,gaps,size,count"]
    for k in range(N_ROWS):
        tempo = f"{k * 7 % 11}.5"
        lines.append(f"{k + 1},{tempo},1,{tempo},k{k % 3},{'' if k % 4 else k},{k * 3}.25,{k % 4}")
    path = tmp_path / "songs.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


FINDINGS = {
    "missing": {"gaps": 22},
    "nominal": {"key": 3},
    "constant": {"same": 1},
    "id_like": {"id": 30},
    "duplicate": {"copy": "tempo"},
}


def test_columns_to_look_at_are_listed(file):
    document = json.loads(run("datasets", "info", file, "--labels", "size,count", "--json").stdout)
    assert document["columns"] == FINDINGS
    rows = dict(csv.reader(io.StringIO(run("datasets", "info", file, "--labels", "2", "--format", "csv").stdout)))
    assert (rows["missing: gaps"], rows["id_like: id"], rows["duplicate: copy"]) == ("22", "30", "tempo")
    text = run("datasets", "info", file, "--labels", "2").stdout
    for words in ("with missing cells (22)", "gaps (22)", "key (3 levels)", "same", "id (30 values)", "copy (of tempo)"):
        assert words in text


def test_numeric_targets_have_statistics(file):
    document = json.loads(run("datasets", "info", file, "--labels", "size,count", "--json").stdout)
    size, count = document["targets"]
    assert (size["kind"], size["n_levels"], size["minimum"], size["maximum"]) == ("numeric", 30, 0.25, 87.25)
    assert (count["kind"], count["n_levels"], count["mean"]) == ("numeric", 4, sum(k % 4 for k in range(N_ROWS)) / N_ROWS)
    classes = json.loads(run("datasets", "info", file, "--labels", "key", "--json").stdout)["targets"]
    assert (classes[0]["kind"], classes[0]["n_levels"], classes[0]["mean"]) == ("class", 3, None)


def test_a_clean_table_has_nothing_to_look_at(tmp_path):
    path = tmp_path / "clean.csv"
    path.write_text("a,b,y\n1.5,2.5,0\n2.5,0.5,1\n")
    result = run("datasets", "info", path, "--labels", 1)
    assert "no missing cells; all are numeric" in " ".join(result.stdout.split())


@pytest.mark.parametrize("width", [30, 50, 80, 200])
def test_tables_line_up_at_any_width(file, width):
    blocks = run("datasets", "info", file, "--labels", "2", width=width).stdout.split("\n\n")
    for block in blocks[1:]:
        lines = block.splitlines()
        rule = next(position for position, line in enumerate(lines) if set(line) == {"─"})
        assert max(map(len, lines)) <= width
        assert all(len(line) <= len(lines[rule]) for line in lines)
        if "value" in lines[rule - 1].split():  # numbers end where the heading ends
            assert {len(line) for line in lines[rule - 1 :]} == {len(lines[rule])}
    assert "…" not in "".join(blocks)
