"""Tables II to VII of the MLQPFS paper: splits as it must have had them, claims as it makes them, and a run of its own."""

from dataclasses import replace

import numpy as np
import pytest

from labelsieve.classifiers import BRkNN
from labelsieve.studies.estimators import NamedEstimator
from replications import REPLICATIONS
from replications.__main__ import app
from replications.mlqpfs import tables2to7 as mlqpfs_tables
from tests.support.command_line import run
from tests.support.shared_files import shared_file


class PrintedResults:
    """What a study's folder would hold if its numbers were those of the paper."""

    def __init__(self, swap=()):
        self.swap, self.classifiers, self.datasets = swap, ["lift 0"], list(mlqpfs_tables.SETS)
        self.methods = [f"{method} mean-std" for method in mlqpfs_tables.METHODS]

    def curve(self, dataset, method, measure, classifier):
        values = [self.value(dataset, share, method, measure) for share in mlqpfs_tables.SHARES]
        sizes = [round(share * mlqpfs_tables.N_FEATURES[dataset]) for share in mlqpfs_tables.SHARES]
        return np.array(sizes), np.array([values])

    def value(self, dataset, share, method, measure):
        pair = mlqpfs_tables.PRINTED[dataset, share][measure]
        return pair[(method.split()[0] == "mlqpfs") != ((dataset, share, measure) in self.swap)]


def test_with_the_numbers_of_the_paper_its_claims_hold():
    *tables, claims = mlqpfs_tables.result_tables({"tables": PrintedResults()})
    assert len(tables) == 6
    assert {grade for table in tables for grade in table.grades.values()} == {"within"}
    assert all(table.summary.startswith("10 of 10 numbers are within 0.03") for table in tables)
    assert claims.summary == "2 of 2 claims hold here."


def test_one_measure_lost_breaks_the_claim():
    lost = PrintedResults(swap=[("scene", 0.10, "coverage")])
    *tables, claims = mlqpfs_tables.result_tables({"tables": lost})
    assert [row[1] for row in claims.rows] == ["does not", "holds"]
    assert "the same method is better by 4 of 5 measures" in tables[0].summary
    assert tables[0].rows[3][-2:] == ("other", "pmu and mlqpfs")


def test_readings_of_pmu_are_counted_by_the_printed_values_that_they_have():
    readings = PrintedResults(swap=[("scene", 0.10, "one_error"), ("scene", 0.10, "coverage")])
    readings.methods = [f"pmu, {words}" for words in mlqpfs_tables.READINGS_OF_PMU]
    tables = mlqpfs_tables.result_tables({"tables": PrintedResults(), "pmu-variants": readings})
    (table,) = [one for one in tables if one.title.startswith("Readings of PMU")]
    assert table.rows[0] == ("scene, 10%", "as published", "0.4581", "0.4581", "5 of 5")
    assert table.rows[1] == ("scene, 10%", "pairs both ways", "0.4581", "0.3043", "3 of 5")
    assert len(table.rows) == len(mlqpfs_tables.PRINTED) * (1 + len(mlqpfs_tables.READINGS_OF_PMU))


def test_published_coverage_and_one_error_are_multiples_of_one_test_row():
    test_rows = {"scene": 1196, "yeast": 917, "enron": 579}
    for (name, _), table in mlqpfs_tables.PRINTED.items():
        for measure, decimals in (("one_error", 4), ("coverage", 3)):
            for value in table[measure]:
                nearest = round(value * test_rows[name]) / test_rows[name]
                assert value == pytest.approx(nearest, abs=1.01 * 10**-decimals)


def test_training_rows_come_first():
    splits = list(mlqpfs_tables.TrainingPart().split(np.zeros((1702, 1))))
    assert [(len(train), len(test)) for train, test in splits] == [(1123, 579)]
    assert mlqpfs_tables.protocols(full=True)["tables"].datasets[1].settings["part"] == "train+test"


def test_quick_study_prints_the_tables_of_yeast_beside_ours(tmp_path, monkeypatch):
    home = shared_file("data", "yeast", "yeast-train.arff.gz").parents[1]

    def quicker(**how):
        parts = mlqpfs_tables.protocols(**how)
        parts["tables"].classifiers = [NamedEstimator("lift 0", BRkNN())]  # seconds instead of half a minute
        return parts

    monkeypatch.setitem(REPLICATIONS, "mlqpfs-tables", replace(mlqpfs_tables.REPLICATION, protocols=quicker))
    result = run("mlqpfs-tables", "--data", home, "--out", tmp_path / "study", app=app)
    assert result.exit_code == 0, result.output
    assert "yeast, 10% of the features:" in result.stdout
    assert "yeast, 15% of the features:" in result.stdout
    assert "scene, 10%" not in result.stdout
