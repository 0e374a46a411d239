"""Choose features of a file: what the command ``select`` does, as data that can be shown in any form."""

import csv
import io
import json
import os
from dataclasses import asdict, dataclass
from typing import Any, Literal

from labelsieve.datasets import LabelledTable, read_any_file
from labelsieve.discretize import EqualWidth
from labelsieve.discretize.named import one_table
from labelsieve.labelspace import name_of, read_targets
from labelsieve.recipes import recipe
from labelsieve.selection import Sieve
from labelsieve.twins import redundant_twins


@dataclass(frozen=True)
class Choice:
    """One chosen feature: its place, its score in nats, the summands of the score, and features left out that resemble it."""

    rank: int
    feature: str
    column: int
    score: float
    parts: dict[str, float]
    twins: dict[str, float]


@dataclass(frozen=True)
class FileSelection:
    """What was chosen, and from what.

    ``binned_text`` are the text columns with more different values than bins, and how many values each has: neighbours in
    the alphabet share a bin there, which users should know. ``n_bins`` is None when values were counted as they are.
    """

    method: str
    formula: str
    targets: str
    n_bins: int | None
    n_rows: int
    n_features: int
    labels: tuple[str, ...]
    choices: tuple[Choice, ...]
    binned_text: dict[str, int]
    sieve: Sieve
    data: LabelledTable

    @property
    def parts(self) -> list[str]:
        """The kinds of summands that the scores have."""
        return list(self.choices[0].parts)

    def to_json(self) -> str:
        """One document, for programs."""
        document: dict[str, Any] = {
            "method": self.method,
            "formula": self.formula,
            "targets": self.targets,
            "n_bins": self.n_bins,
            "n_rows": self.n_rows,
            "n_features": self.n_features,
            "labels": self.labels,
            "chosen": [asdict(choice) for choice in self.choices],
        }
        return json.dumps(document, indent=1)

    def to_csv(self) -> str:
        """One line for every chosen feature, without twins."""
        lines = io.StringIO()
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(["rank", "feature", "column", "score", *self.parts])
        for one in self.choices:
            writer.writerow([one.rank, one.feature, one.column, one.score, *one.parts.values()])
        return lines.getvalue()


def select_file(
    path: str | os.PathLike[str],
    labels: str | None = None,
    *,
    method: str = "jmi",
    n_features_to_select: int = 10,
    targets: str = "auto",
    n_bins: int | Literal["auto"] | None = "auto",
    twins: float | None = None,
    n_jobs: int | None = None,
) -> FileSelection:
    r"""Choose features of the table in ``path``.

    Parameters
    ----------
    path, labels
        See :func:`labelsieve.datasets.read_any_file`.
    method, n_features_to_select, targets, n_jobs
        See :class:`labelsieve.Sieve`.
    n_bins : int, None or "auto"
        Bins of equal width; None counts the values as they are; those of the method, or five, unless told.
    twins : float, optional
        Look for features left out that are so similar to a chosen one: see :class:`labelsieve.twins.Twin`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "songs.csv")
    >>> _ = file.write_text("tempo,loud,calm\n98,3,1\n160,9,0\n97,8,1\n150,3,0\n")
    >>> [choice.feature for choice in select_file(file, "1", n_features_to_select=1).choices]
    ['tempo']
    """
    discretizer: Any = n_bins if n_bins is None or n_bins == "auto" else EqualWidth(n_bins)
    used = recipe(method, targets, discretizer)  # what is unknown is told before a long file is read
    n_bins = getattr(used.discretizer, "n_bins", None)
    data = read_any_file(path, labels)
    sieve = Sieve(method, targets=targets, discretizer=discretizer, n_features_to_select=n_features_to_select, n_jobs=n_jobs)
    sieve.fit(data.X, data.Y)
    return FileSelection(
        method=method.lower(),
        formula=str(used.criterion.score),
        targets=name_of(used.space),
        n_bins=n_bins,
        n_rows=data.n_rows,
        n_features=len(data.feature_names),
        labels=data.label_names,
        choices=_choices(sieve, data, twins),
        binned_text={} if n_bins is None else {name: n for name, n in data.text_features().items() if n > n_bins},
        sieve=sieve,
        data=data,
    )


def _choices(sieve: Sieve, data: LabelledTable, at_least: float | None) -> tuple[Choice, ...]:
    names = data.feature_names
    twins = {}
    if at_least is not None:
        codes = one_table(sieve.discretizer_.encode(data.X, read_targets(data.Y).codes()), "twins")
        twins = redundant_twins(codes, sieve.selected_, at_least=at_least, n_jobs=sieve.n_jobs)
    return tuple(
        Choice(
            rank=place + 1,
            feature=names[column],
            column=column,
            score=float(sieve.scores_[place]),
            parts={kind: float(values[place]) for kind, values in sieve.score_parts_.items()},
            twins={names[twin.feature]: twin.similarity for twin in twins.get(column, [])},
        )
        for place, column in enumerate(map(int, sieve.selected_))
    )
