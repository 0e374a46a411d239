"""What a paper says in words, and whether it holds in our runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from labelsieve.studies.published.study import Section


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, whether our numbers say so too, and those numbers."""

    text: str
    holds: bool
    evidence: str


def claims_section(claims: Sequence[Claim]) -> Section:
    """All claims as a table.

    >>> claims_section([Claim("grass is green", True, "seen")]).verdict
    '1 of 1 claims hold here.'
    """
    rows = [(one.text, "holds" if one.holds else "does not", one.evidence) for one in claims]
    held = sum(one.holds for one in claims)
    return Section("Claims", ("claim", "here", "our numbers"), rows, f"{held} of {len(claims)} claims hold here.")
