"""Verdicts on the claims of a paper, and how much of what it prints is replicated.

A claim is decided only if every data set that it is about is finished: a claim over nine data sets says nothing about a run of
one. The exception is a claim that holds or fails whatever the missing values are. :func:`reported_tables` applies this rule to
the tables of a replication, whatever was run; :func:`coverage` counts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from labelsieve.studies import Protocol, StudyResults
from replications.replication import Claim, Compared, Replication, Results, ResultTable, claims_table, printed_values

CLAIM = "claim"  # heading of the first column in a table of claims
UNDECIDED = "undecided"
#: For each study with printed tables: the package of its paper, and how many values the tables print.
PRINTED_TABLES = {
    "mlqpfs-tables": ("mlqpfs", ("tables II to IV", "tables V to VII")),
    "infogain-tables12": ("mlinfogain", ("table 1", "table 2")),
    "infogain-table3": ("mlinfogain", ("table 3",)),
    "infogain-table4": ("mlinfogain", ("table 4",)),
    "occ-tables": ("optimized_chains", ("tables 3 to 6",)),
    "group-jmi-table2": ("group_jmi", ("table 2",)),
}


def reported_tables(replication: Replication, results: Results) -> list[ResultTable]:
    """Return the tables of a replication, with claims undecided whose data sets are not all finished.

    There are no tables without results.
    """
    if not results:
        return []
    return [
        _decided(table, unfinished(replication, results, table.parts), published_sets(replication, table.parts))
        if table.columns[0] == CLAIM
        else table
        for table in replication.result_tables(results)
    ]


def published_sets(replication: Replication, parts: Sequence[str] = ()) -> list[str]:
    """Return the data sets of the published experiment, or of some of its parts."""
    protocols = _protocols(replication, parts).values()
    return list(dict.fromkeys(source.name for protocol in protocols for source in protocol.datasets))


def _protocols(replication: Replication, parts: Sequence[str]) -> dict[str, Protocol]:
    whole = replication.protocols(full=True, sets=None, data_home=None)
    return {part: protocol for part, protocol in whole.items() if not parts or part in parts}


def unfinished(replication: Replication, results: Results, parts: Sequence[str] = ()) -> set[str]:
    """Return the data sets of the experiment, or of some of its parts, for which some method or classifier has no results."""
    left = set()
    for part, protocol in _protocols(replication, parts).items():
        done = set(finished_groups(protocol, results[part])) if part in results else set()
        left |= {
            source.name for source in protocol.datasets if any(group not in done for group in _groups(protocol, source.name))
        }
    return left


def finished_groups(protocol: Protocol, results: StudyResults) -> Iterator[tuple[str, str, str]]:
    """Yield data set, method and classifier of all cells that have results, or failed.

    Cells with fewer splits than others are not finished.
    """
    failed = {(cell.dataset, cell.method, cell.classifier) for cell in results.failures}
    groups = [group for source in protocol.datasets for group in _groups(protocol, source.name)]
    counts = {
        (name, method, classifier): len(results.curve(name, method, protocol.measures[0], classifier)[1])
        for name, method, classifier in groups
        if classifier in results.classifiers
    }
    most = max(counts.values(), default=0)
    yield from (group for group in groups if group in failed or 0 < counts.get(group, 0) == most)


def _groups(protocol: Protocol, name: str) -> list[tuple[str, str, str]]:
    return [(name, method.name, classifier.name) for method in protocol.methods for classifier in protocol.classifiers]


def _decided(table: ResultTable, left: set[str], published: Sequence[str]) -> ResultTable:
    """Return a table of claims without verdicts that need unfinished data sets."""
    if not left:
        return table
    n_done = len(published) - len(left)
    reason = f"{n_done} of {len(published)} data sets are finished"
    if table.claims:
        claims = [
            claim if claim.certain or not left & set(claim.sets or published) else Claim(claim.text, None, reason, claim.sets)
            for claim in table.claims
        ]
        return replace(claims_table(claims, parts=table.parts), title=table.title)
    rows = [(row[0], UNDECIDED, *("-" for _ in row[2:])) if len(row) > 1 else row for row in table.rows]
    return replace(table, rows=rows, summary=f"Undecided: {reason}.")


@dataclass(frozen=True)
class Coverage:
    """How much of a study is replicated: groups of cells, printed values, close ones, and claims by verdict.

    ``sampled`` printed values are not replicated, but have an estimate from the first splits. ``spread`` counts values within
    their printed standard deviation, of the ``with_spread`` values that have one.
    """

    groups: int
    all_groups: int
    printed: int
    replicated: int
    sampled: int
    close: int
    spread: int
    with_spread: int
    holds: int
    fails: int
    undecided: int


def coverage(replication: Replication, results: Results, tables: Sequence[ResultTable]) -> Coverage:
    """Count what is finished; where a paper has two readings, the printed values are those of the one with more close ones.

    ``tables`` are the :func:`reported_tables` of the results.
    """
    protocols = replication.protocols(full=True, sets=None, data_home=None)
    groups = sum(len(list(finished_groups(protocol, results[part]))) for part, protocol in protocols.items() if part in results)
    every = sum(len(_groups(protocol, source.name)) for protocol in protocols.values() for source in protocol.datasets)
    readings: dict[str, list[Compared]] = {}
    for table in tables:
        if table.compared is not None:
            readings.setdefault(table.compared.reading, []).append(table.compared)
    closest = max(readings.values(), key=lambda found: sum(one.close for one in found), default=[])
    verdicts = [claim.holds for table in tables for claim in table.claims]
    return Coverage(
        groups,
        every,
        n_printed(replication.name),
        sum(one.run for one in closest),
        sum(one.sampled for one in closest),
        sum(one.close for one in closest),
        sum(one.spread for one in closest if one.spread is not None),
        sum(one.run for one in closest if one.spread is not None),
        *(sum(verdict is wanted for verdict in verdicts) for wanted in (True, False, None)),
    )


def n_printed(study: str) -> int:
    """Return how many values of methods the tables of a study print: without percentages, seconds and losses of no selection.

    >>> n_printed("group-jmi-table2"), n_printed("infogain-tables12"), n_printed("infogain-table4")
    (108, 286, 88)
    """
    if study not in PRINTED_TABLES:
        return 0
    paper, tables = PRINTED_TABLES[study]
    return sum(_count(printed_values(paper)[table]) for table in tables)


def _count(value: object) -> int:
    """Count numbers, without the percentage of a pair, and without the last of five: seconds, or the loss of no selection."""
    if isinstance(value, dict):
        return sum(map(_count, value.values()))
    if isinstance(value, tuple):
        if len(value) == 2 and isinstance(value[0], float) and isinstance(value[1], int):
            return 1
        return sum(map(_count, value[:4] if len(value) == 5 else value))
    return int(isinstance(value, int | float))
