"""Options of ``labelsieve compare`` that run a part of a protocol."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from labelsieve.cli.options import names_in

if TYPE_CHECKING:
    from labelsieve.studies.protocol import Part

DATASETS = "Run only these data sets of the protocol: comma-separated names or tags."
NAMES = "Run only these of the protocol: comma-separated names."
SHARD = "Run one part of several, such as 3/20, in a separate folder; labelsieve leaderboard merge merges the folders."
SKIP = "Skip a method on a data set if one of its stored selections exceeded a limit."


@dataclass(frozen=True)
class PartOptions:
    """Options that choose the cells to run."""

    only_datasets: Annotated[str | None, typer.Option(help=DATASETS)] = None
    only_methods: Annotated[str | None, typer.Option(help=NAMES)] = None
    only_learners: Annotated[str | None, typer.Option(help=NAMES)] = None
    repeats: Annotated[int | None, typer.Option(min=1, help="Run only this number of first splits of every data set.")] = None
    shard: Annotated[str | None, typer.Option(help=SHARD)] = None
    skip_exceeded: Annotated[bool, typer.Option("--skip-exceeded", help=SKIP)] = False

    def part(self) -> "Part":
        """Return the part of a study."""
        from labelsieve.studies.protocol import Part, read_shard

        return Part(
            datasets=names_in(self.only_datasets or ""),
            methods=names_in(self.only_methods or ""),
            classifiers=names_in(self.only_learners or ""),
            repeats=self.repeats,
            shard=None if self.shard is None else read_shard(self.shard),
            skip_exceeded=self.skip_exceeded,
        )
