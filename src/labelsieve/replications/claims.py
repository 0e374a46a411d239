"""What a paper says in words, and whether it holds in our runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from labelsieve.replications.replication import Section

WORDS = {True: "holds", False: "does not", None: "not run"}


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, whether our numbers say so too (None: what it is about was not run), and those numbers."""

    text: str
    holds: bool | None
    evidence: str


def not_run(text: str) -> Claim:
    """A claim about what there are no results of.

    >>> not_run("SCLS is first.").holds is None
    True
    """
    return Claim(text, None, "-")


def claims_section(claims: Sequence[Claim], title: str = "Claims") -> Section:
    """All claims as a table; those that were not run do not count.

    >>> claims_section([Claim("grass is green", True, "seen"), not_run("snow is white")]).verdict
    '1 of 1 claims hold here.'
    """
    rows = [(one.text, WORDS[one.holds], one.evidence) for one in claims]
    checked = [one.holds for one in claims if one.holds is not None]
    return Section(title, ("claim", "here", "our numbers"), rows, f"{sum(checked)} of {len(checked)} claims hold here.")
