"""Result tables of a replication, and claims of a paper checked on our results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class ResultTable:
    """A table of the report of a replication.

    Attributes
    ----------
    title, summary : str
        The title, and the result in a sentence.
    columns, rows : sequence
        Headings and rows of text; columns whose heading begins with ``>`` hold numbers.
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    summary: str = ""


@dataclass(frozen=True)
class Claim:
    """A statement of a paper that was checked.

    Attributes
    ----------
    text : str
        The statement.
    holds : bool or None
        Whether it holds in our results; None: not run.
    observed : str
        Our values.
    """

    WORDS: ClassVar[Mapping[bool | None, str]] = {True: "holds", False: "does not", None: "not run"}
    text: str
    holds: bool | None
    observed: str

    @property
    def outcome(self) -> str:
        """``holds`` in words."""
        return self.WORDS[self.holds]


def not_run(text: str) -> Claim:
    """Return a claim without results.

    >>> not_run("SCLS is first.").holds is None
    True
    """
    return Claim(text, None, "-")


def claims_table(claims: Sequence[Claim], reading: str = "") -> ResultTable:
    """Return all claims as a table; those that were not run do not count.

    >>> claims_table([Claim("grass is green", True, "seen"), not_run("snow is white")]).summary
    '1 of 1 claims hold here.'
    """
    rows = [(claim.text, claim.outcome, claim.observed) for claim in claims]
    checked = [claim.holds for claim in claims if claim.holds is not None]
    title = f"Claims, {reading}" if reading else "Claims"
    return ResultTable(title, ("claim", "here", "our numbers"), rows, f"{sum(checked)} of {len(checked)} claims hold here.")


def values_text(values: Mapping[str, object], form: str, separator: str = ", ") -> str:
    """Return names with formatted values.

    >>> values_text({"scene": 0.25, "yeast": 0.5}, "{:.0%}")
    'scene 25%, yeast 50%'
    """
    return separator.join(f"{name} {form.format(value)}" for name, value in values.items())
