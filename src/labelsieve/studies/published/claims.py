"""What a paper says about its results in words, checked on ours."""

from collections.abc import Sequence
from dataclasses import dataclass

from labelsieve.studies.published.study import Section

WORDS = {True: "holds", False: "does not hold", None: "not run"}


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, whether it holds in our runs (None: what it is about was not run), and what was found."""

    said: str
    holds: bool | None
    found: str = ""


def not_run(said: str) -> Claim:
    """A claim about what there are no results of.

    >>> not_run("SCLS is first.").holds is None
    True
    """
    return Claim(said, None, "-")


def claims_section(claims: Sequence[Claim], title: str = "What the paper says, and whether it holds in our runs") -> Section:
    """A table of claims with their number in the verdict.

    >>> claims_section([Claim("JMI is first.", True, "rank 1.2"), not_run("MIM is last.")]).verdict
    '1 of 1 claims that could be checked hold.'
    """
    rows = [(one.said, WORDS[one.holds], one.found) for one in claims]
    checked = [one.holds for one in claims if one.holds is not None]
    return Section(
        title, ("the paper", "here", "found"), rows, f"{sum(checked)} of {len(checked)} claims that could be checked hold."
    )
