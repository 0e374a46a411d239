"""The data of a report: sizes, names, statistics of the labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from labelsieve.counting.number_table import is_frame
from labelsieve.counting.target_table import TargetTable
from labelsieve.counting.target_types import TargetTypes
from labelsieve.datasets import Dataset, Description, describe
from labelsieve.errors import require_same_rows
from labelsieve.labelspace import read_targets
from labelsieve.report.html import Html, facts, folded, numeric, table
from labelsieve.selectors.column_frames import column_names
from labelsieve.selectors.selection import Selection
from labelsieve.table_types import TableLike, TargetsLike

FOLDED = 60  # labels in a table; a longer one is folded


@dataclass(frozen=True, eq=False)
class Facts:
    """Sizes and names; ``description`` where all targets are labels of 0 and 1."""

    n_rows: int
    names: tuple[str, ...]
    label_names: tuple[str, ...]
    targets: TargetTable
    description: Description | None
    has_density: bool

    @property
    def n_features(self) -> int:
        return len(self.names)

    def count_of_labels(self) -> str:
        """The number of targets and their kind."""
        kind = "label" if self.description is not None else "target"
        return f"{len(self.label_names):,} {kind}{'s' if len(self.label_names) != 1 else ''}"

    def rows(self) -> list[tuple[str, str]]:
        """The sizes."""
        return [
            ("rows", f"{self.n_rows:,}"),
            ("features", f"{self.n_features:,}"),
            ("labels" if self.description is not None else "targets", f"{len(self.label_names):,}"),
        ]


def read_facts(
    X: TableLike, Y: TargetsLike, names: Sequence[str] | None, label_names: Sequence[str] | None, types: TargetTypes = "auto"
) -> Facts:
    """Look at the data once; ``types`` are those of the targets, as a selector took them."""
    X = X if hasattr(X, "shape") else np.asarray(X)
    targets = read_targets(Y, types)
    n_rows, n_features = int(X.shape[0]), int(X.shape[1])
    require_same_rows(n_rows, targets.n_rows)
    features = column_names(X, names, n_features, "feature")
    labels = column_names(Y, label_names, targets.n_columns, "label")
    description = None
    if not targets.is_numeric.any() and int(targets.classes.levels.max()) <= 2:
        # A frame may hold text: its cells are not counted.
        values = sparse.csr_array((n_rows, n_features)) if is_frame(X) else X
        binary = targets.classes.to_dense().astype(np.uint8, copy=False)
        kinds = ("numeric",) * n_features
        description = describe(Dataset(values, binary, features, labels, kinds))  # type: ignore[arg-type]
    return Facts(n_rows, features, labels, targets, description, not is_frame(X))


def data_section(data: Facts) -> Html:
    """The statistics that papers print."""
    rows: list[tuple[object, object]] = list(data.rows())
    description = data.description
    if description is not None:
        rows += [
            ("labels in a row, on average (cardinality)", f"{description.cardinality:.3f}"),
            ("as a fraction of all labels (density)", f"{description.density:.4f}"),
            ("distinct labelsets", f"{description.n_distinct:,}"),
            ("mean imbalance (MeanIR)", f"{description.mean_imbalance:.2f}"),
            ("variation of the imbalance (CVIR)", f"{description.imbalance_variation:.3f}"),
            ("rare labels among frequent ones (SCUMBLE)", f"{description.scumble:.3f}"),
        ]
        rows += [("nonzero cells of X", f"{100 * description.x_density:.1f} %")] if data.has_density else []
    return facts("Statistics of the data", rows)


def label_table(data: Facts, selection: Selection) -> Html:
    """Every label: its frequency, and the selected feature that is most informative about it."""
    information, columns = selection.information(), selection.columns
    rows = []
    for label, name in enumerate(data.label_names):
        row: list[object] = [name]
        if data.description is not None:
            share = float(np.mean(data.targets.classes.column(label) > 0))
            row += [numeric(share * data.n_rows, digits=0), numeric(100 * share, digits=1)]
            row.append(numeric(float(data.description.imbalance[label]), digits=2))
        else:
            real = bool(data.targets.is_numeric[label])
            row.append("numeric" if real else f"{int(data.targets.classes.levels[label])} classes")
        if columns:
            best = int(information[:, label].argmax())
            row += [data.names[columns[best]], numeric(float(information[best, label]))]
        rows.append(row)
    heads = ["label", ">rows", ">percent", ">imbalance"] if data.description is not None else ["target", "kind"]
    heads += ["most informative feature", ">nats"] if columns else []
    caption = "Labels" if data.description is not None else "Targets"
    return folded(table(caption, heads, rows), f"All {len(rows):,} {caption.lower()}", len(rows) > FOLDED)
