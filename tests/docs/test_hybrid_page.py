"""The page of the hybrid shows the tables of the stored results."""

from pathlib import Path

from benchmarks import hybrid


def test_tables_of_the_page_are_those_of_the_stored_results():
    page = (Path(hybrid.__file__).parents[1] / "docs" / "evidence" / "ablation.md").read_text(encoding="utf-8").splitlines()
    lines = hybrid.tables(hybrid.by_dataset())
    assert len(lines) > 20
    assert [line for line in lines if line not in page] == []


def test_the_ablation_has_development_sets_only():
    labels = "emotions flags scene yeast image birds genbase CAL500 medical enron languagelog"
    numeric = "andro slump edm atp1d atp7d jura enb oes10 oes97 wq scpf rf1 scm20d"
    assert {dataset for _, _, dataset in hybrid.by_dataset()} == set(labels.split()) | set(numeric.split())
