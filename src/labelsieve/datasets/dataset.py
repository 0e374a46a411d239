from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

import numpy as np
from scipy import sparse

Kind = Literal["numeric", "nominal"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features and labels of the same rows, as arrays, with the names of their columns.

    Attributes
    ----------
    X : ndarray or csr_array of float, shape (n_rows, n_features)
        A missing value is NaN. A nominal cell holds the place of its value among ``categories``.
    Y : ndarray or csc_array, shape (n_rows, n_labels)
        Labels as 0 and 1 in uint8, or numeric targets in float64.
    feature_names, label_names : tuple of str
    feature_kinds : tuple of {"numeric", "nominal"}
    categories : dict of str to tuple of str
        For each nominal feature its values, in the order of the file.
    description : str
        What the file says about itself.
    name : str

    Examples
    --------
    >>> songs = Dataset(np.array([[98.0], [160.0]]), np.array([[1], [0]], np.uint8), ("tempo",), ("calm",), ("numeric",))
    >>> songs.shape
    (2, 1, 1)
    """

    X: Any
    Y: Any
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    feature_kinds: tuple[Kind, ...]
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    description: str = ""
    name: str = ""

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, features, labels."""
        return self.n_rows, int(self.X.shape[1]), int(self.Y.shape[1])

    def to_pandas(self) -> tuple[Any, Any]:
        """``X`` and ``Y`` as frames of pandas: nominal columns are categorical, sparse ones stay sparse."""
        pandas = import_module("pandas")
        X, Y = (_frame(pandas, *pair) for pair in ((self.X, self.feature_names), (self.Y, self.label_names)))
        columns = {}
        for place, name in enumerate(self.feature_names):
            column = X.iloc[:, place]
            if name in self.categories:
                cells = np.asarray(column, dtype=np.float64)
                codes = np.where(np.isnan(cells), -1, cells).astype(np.int64)
                column = pandas.Series(pandas.Categorical.from_codes(codes, categories=list(self.categories[name])))
            columns[name] = column
        return (pandas.DataFrame(columns) if self.categories else X), Y


def _frame(pandas: Any, values: Any, names: tuple[str, ...]) -> Any:
    if sparse.issparse(values):
        return pandas.DataFrame.sparse.from_spmatrix(values, columns=list(names))
    return pandas.DataFrame(values, columns=list(names))
