"""What the data of a report are: sizes, names, statistics of the labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse

from labelsieve.counting.number_table import is_frame
from labelsieve.counting.targets import TargetTable
from labelsieve.datasets import Dataset, Description, describe
from labelsieve.errors import InputError
from labelsieve.labelspace import read_targets
from labelsieve.report.html import Html
from labelsieve.report.html_tables import facts, folded, numeric, table

FOLDED = 60  # rows of labels; more are shown on request


@dataclass(frozen=True, eq=False)
class Facts:
    """Sizes and names; ``description`` where all targets are labels of 0 and 1."""

    n_rows: int
    names: list[str]
    label_names: list[str]
    targets: TargetTable
    description: Description | None
    has_density: bool

    @property
    def n_features(self) -> int:
        return len(self.names)

    def count_of_labels(self) -> str:
        """How many targets of what kind."""
        kind = "label" if self.description is not None else "target"
        return f"{len(self.label_names):,} {kind}{'s' if len(self.label_names) != 1 else ''}"

    def rows(self) -> list[tuple[str, str]]:
        """The sizes."""
        return [
            ("rows", f"{self.n_rows:,}"),
            ("features", f"{self.n_features:,}"),
            ("labels" if self.description is not None else "targets", f"{len(self.label_names):,}"),
        ]


def read_facts(X: Any, Y: Any, names: Sequence[str] | None, label_names: Sequence[str] | None) -> Facts:
    """Look at the data once."""
    X = X if hasattr(X, "shape") else np.asarray(X)
    targets = read_targets(Y)
    n_rows, n_features = int(X.shape[0]), int(X.shape[1])
    if targets.n_rows != n_rows:
        raise InputError(f"X has {n_rows} rows and Y has {targets.n_rows}; they must be the same rows.")
    own = _names(names if names is not None else _columns(X), n_features, "feature")
    labels = _names(label_names if label_names is not None else _columns(Y), targets.n_columns, "label")
    description = None
    if not targets.is_number.any() and int(targets.classes.levels.max()) <= 2:
        values = (
            sparse.csr_array((n_rows, n_features)) if is_frame(X) else X
        )  # a frame may hold text: its cells are not counted
        binary = targets.classes.to_dense().astype(np.uint8, copy=False)
        kinds = ("numeric",) * n_features
        description = describe(Dataset(values, binary, tuple(own), tuple(labels), kinds))  # type: ignore[arg-type]
    return Facts(n_rows, own, labels, targets, description, not is_frame(X))


def data_section(data: Facts) -> Html:
    """The statistics that papers print."""
    rows: list[tuple[object, object]] = list(data.rows())
    found = data.description
    if found is not None:
        rows += [
            ("labels in a row, on average", f"{found.cardinality:.3f}"),
            ("as a share of all labels", f"{found.density:.4f}"),
            ("different rows of labels", f"{found.n_distinct:,}"),
            ("mean imbalance (MeanIR)", f"{found.mean_imbalance:.2f}"),
            ("variation of the imbalance (CVIR)", f"{found.imbalance_variation:.3f}"),
            ("rare labels among frequent ones (SCUMBLE)", f"{found.scumble:.3f}"),
        ]
        rows += [("cells of X that are not 0", f"{100 * found.x_density:.1f} %")] if data.has_density else []
    return facts("Statistics of the data", rows)


def label_table(data: Facts, selector: Any, told: Any) -> Html:
    """Every label: how frequent it is, and the chosen feature that tells most about it."""
    columns = np.flatnonzero(selector.support_)
    rows = []
    for label, name in enumerate(data.label_names):
        row: list[object] = [name]
        if data.description is not None:
            share = float(np.mean(data.targets.classes.column(label) > 0))
            row += [numeric(share * data.n_rows, digits=0), numeric(100 * share, digits=1)]
            row.append(numeric(float(data.description.imbalance[label]), digits=2))
        else:
            real = bool(data.targets.is_number[label])
            row.append("real" if real else f"{int(data.targets.classes.levels[label])} classes")
        if len(columns):
            best = int(told[:, label].argmax())
            row += [data.names[int(columns[best])], numeric(float(told[best, label]))]
        rows.append(row)
    heads = ["label", ">rows", ">per cent", ">imbalance"] if data.description is not None else ["target", "kind"]
    heads += ["told most by", ">nats"] if len(columns) else []
    caption = "Labels" if data.description is not None else "Targets"
    return folded(table(caption, heads, rows), f"All {len(rows):,} {caption.lower()}", len(rows) > FOLDED)


def _columns(table: Any) -> Sequence[str] | None:
    return nw.from_native(table, eager_only=True).columns if is_frame(table) else None


def _names(given: Sequence[str] | None, count: int, what: str) -> list[str]:
    if given is None:
        return [f"{what} {place}" for place in range(count)]
    if len(given) != count:
        raise InputError(f"{len(given)} names for {count} {what}s.")
    return [str(name) for name in given]
