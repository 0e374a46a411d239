"""What ``labelsieve datasets info`` prints: sizes, statistics of the labels or targets, and columns to look at."""

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from labelsieve.report.plaintext import plain_table, printable, prose, tables, text_of

if TYPE_CHECKING:
    from labelsieve.datasets import ColumnDescription, Dataset, Description, TargetDescription

NAMED = 10  # columns that are named in the text; JSON names all
SHOWN = 50  # targets in the text


@dataclass(frozen=True, eq=False)
class DatasetInfo:
    """A description of a data set; ``labels`` where all targets are labels of 0 and 1, else ``targets``."""

    dataset: "Dataset"
    labels: "Description | None"
    targets: "list[TargetDescription]"
    columns: "list[ColumnDescription]"

    @classmethod
    def of(cls, dataset: "Dataset") -> "DatasetInfo":
        """Describe a data set."""
        from labelsieve.datasets import describe, describe_columns, describe_targets

        binary = dataset.Y.dtype == np.uint8
        targets = [] if binary else describe_targets(dataset)
        return cls(dataset, describe(dataset) if binary else None, targets, describe_columns(dataset))

    def sizes(self) -> dict[str, int | float]:
        """Numbers of rows, features and targets, and statistics of 0/1 labels."""
        if self.labels is not None:
            names = [field.name for field in fields(self.labels)]
            return {name: getattr(self.labels, name) for name in names if isinstance(getattr(self.labels, name), int | float)}
        return dict(zip(("n_rows", "n_features", "n_labels"), self.dataset.shape, strict=True))

    def findings(self) -> dict[str, dict[str, Any]]:
        """Columns to look at, by the kind of the finding."""
        return {
            "missing": {column.name: column.n_missing for column in self.columns if column.n_missing},
            "nominal": {column.name: column.n_levels for column in self.columns if column.kind == "nominal"},
            "constant": {column.name: column.n_levels for column in self.columns if column.constant},
            "id_like": {column.name: column.n_levels for column in self.columns if column.id_like},
            "duplicate": {column.name: column.duplicate_of for column in self.columns if column.duplicate_of is not None},
        }

    def document(self) -> dict[str, Any]:
        """Everything, for programs."""
        document: dict[str, Any] = {"name": self.dataset.name, **self.sizes(), "columns": self.findings()}
        return document | ({"targets": [asdict(target) for target in self.targets]} if self.targets else {})

    def rows(self) -> list[list[Any]]:
        """The same as rows: a statistic, or a finding and its column, and the value."""
        rows: list[list[Any]] = [["statistic", "value"], ["name", self.dataset.name], *map(list, self.sizes().items())]
        for kind, found in self.findings().items():
            rows += [[f"{kind}: {name}", value] for name, value in found.items()]
        return rows + [[f"{target.kind} target: {target.name}", target.n_levels] for target in self.targets]

    def text(self) -> str:
        """Tables for people."""
        parts = [printable(self.dataset.name), self._statistics(), self._targets(), self._columns()]
        return "\n\n".join(part for part in parts if part)

    def _statistics(self) -> str:
        n_rows, n_features, n_labels = self.dataset.shape
        table = plain_table("statistic", ">value")
        table.add_row("rows", f"{n_rows:,}")
        table.add_row("features", f"{n_features:,}")
        if self.labels is None:
            table.add_row("targets", f"{n_labels:,}")
            return text_of(table)
        for name, value in (
            ("nonzero cells of X", f"{100 * self.labels.x_density:.2f} %"),
            ("labels", f"{self.labels.n_labels:,}"),
            ("labels per row (cardinality)", f"{self.labels.cardinality:.3f}"),
            ("density", f"{self.labels.density:.4f}"),
            ("distinct labelsets", f"{self.labels.n_distinct:,}"),
            ("mean imbalance (meanIR)", f"{self.labels.mean_imbalance:.3f}"),
            ("its variation (CVIR)", f"{self.labels.imbalance_variation:.3f}"),
            ("SCUMBLE", f"{self.labels.scumble:.4f}"),
        ):
            table.add_row(name, value)
        return text_of(table)

    def _targets(self) -> str:
        if not self.targets:
            return ""
        heads = ["target", "kind", ">values", ">missing", ">minimum", ">mean", ">maximum"]
        rows = [
            [
                printable(target.name),
                target.kind,
                f"{target.n_levels:,}",
                f"{target.n_missing:,}",
                *("-" if value != value else f"{value:.5g}" for value in (target.minimum, target.mean, target.maximum)),
            ]
            for target in self.targets[:SHOWN]
        ]
        more = len(self.targets) - SHOWN
        return tables(heads, rows) + (f"\n\n{more:,} more targets; --json lists all." if more > 0 else "")

    def _columns(self) -> str:
        found = self.findings()
        if not any(found.values()):
            return prose("Columns: no missing cells; all are numeric, and none is constant, like an id, or a duplicate.")
        n_missing = sum(found["missing"].values())
        table = plain_table("columns", ">number", "names")
        table.add_row(f"with missing cells ({n_missing:,})", *_named(found["missing"], "{name} ({value:,})"))
        table.add_row("nominal", *_named(found["nominal"], "{name} ({value:,} levels)"))
        table.add_row("constant", *_named(found["constant"], "{name}"))
        table.add_row("like an id", *_named(found["id_like"], "{name} ({value:,} values)"))
        table.add_row("duplicate", *_named(found["duplicate"], "{name} (of {value})"))
        return text_of(table)


def _named(found: dict[str, Any], form: str) -> tuple[str, str]:
    """The number of columns, and the first of them."""
    names = [printable(form.format(name=name, value=value)) for name, value in list(found.items())[:NAMED]]
    more = [f"and {len(found) - NAMED:,} more"] if len(found) > NAMED else []
    return f"{len(found):,}", ", ".join([*names, *more]) or "-"
