"""Verdicts need all data sets of a claim, and counts of replicated values are those of the tables."""

import pytest

from labelsieve.studies import Protocol, StudyResults
from labelsieve.studies.results import ResultRow
from replications import REPLICATIONS, Claim, Replication, ResultTable
from replications.archive import archived
from replications.replication import Compared, claims_table
from replications.verdicts import coverage, n_printed, published_sets, reported_tables, unfinished

NAMES = ("emotions", "scene", "yeast")


def protocols(*, full, sets=None, data_home=None):
    names = NAMES if full else NAMES[:1]
    return {"part": Protocol(names, ["mim"], n_features=[1], classifiers=["mlknn"], measures=["hamming_loss"], baselines=[])}


def tables(results):
    claims = [Claim("MIM is good everywhere", True, "yes"), Claim("MIM is good on emotions", True, "yes", ("emotions",))]
    other = ResultTable("Others", ("claim", "here", "value"), [("grass is green", "holds", "seen")], "It holds.")
    return [claims_table(claims), other, ResultTable("Numbers", ("set", ">value"), [("one", "1.0")], compared=Compared(4, 3))]


STUDY = Replication("study", "Title", "Paper", {}, protocols, tables)


def results_of(names):
    rows = [
        ResultRow(name, split, "mim", "mlknn", 1, "hamming_loss", 0.2, 0.1, "", "", "") for name in names for split in (0, 1)
    ]
    return {"part": StudyResults.from_rows(rows, methods=["mim"], shapes={}, test_shares={}, seconds={})}


def test_a_run_of_one_set_decides_no_claim_about_three():
    quick = results_of(NAMES[:1])
    assert unfinished(STUDY, quick) == {"scene", "yeast"}
    claims, other, numbers = reported_tables(STUDY, quick)
    assert claims.rows[0] == ("MIM is good everywhere", "undecided", "1 of 3 data sets are finished")
    assert claims.rows[1] == ("MIM is good on emotions", "holds", "yes")
    assert claims.summary == "1 of 1 claims hold here, 1 undecided."
    assert other.rows == [("grass is green", "undecided", "-")]
    assert other.summary == "Undecided: 1 of 3 data sets are finished."
    assert numbers.rows == [("one", "1.0")]


def test_a_complete_run_decides_all_claims():
    full = results_of(NAMES)
    assert unfinished(STUDY, full) == set()
    assert [table.summary for table in reported_tables(STUDY, full)[:2]] == ["2 of 2 claims hold here.", "It holds."]
    found = coverage(STUDY, full, reported_tables(STUDY, full))
    assert (found.groups, found.all_groups, found.replicated, found.close) == (3, 3, 4, 3)
    assert (found.holds, found.fails, found.undecided) == (2, 0, 0)


def test_nothing_is_reported_without_results():
    assert reported_tables(STUDY, {}) == []
    assert published_sets(STUDY) == list(NAMES)


@pytest.mark.parametrize("name", REPLICATIONS)
def test_the_archive_of_every_study_can_be_reported(name):
    results = archived(name)
    found = coverage(REPLICATIONS[name], results, reported_tables(REPLICATIONS[name], results))
    assert 0 <= found.groups <= found.all_groups
    assert found.close <= found.replicated <= found.printed or not found.printed
    assert found.printed == n_printed(name)
