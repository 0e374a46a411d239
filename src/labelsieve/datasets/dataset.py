"""The data set that readers return: features, labels and their names, also as data frames.

:func:`to_numbers` is for frames of others, whose text holds numbers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelsieve.datasets.readers.columns import TextCells, text_column
from labelsieve.errors import InputError, one_of, unknown_name
from labelsieve.resources import available_memory
from labelsieve.tables.frames import check_sparse
from labelsieve.tables.text import MISSING, is_code, read_formatted_numbers
from labelsieve.tables.types import CompressedMatrix, Matrix, is_sparse

Kind = Literal["numeric", "nominal"]
Categories = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features and labels of the same rows, as arrays, with the names of their columns.

    Attributes
    ----------
    X : ndarray or csr_array of float, shape (n_rows, n_features)
        A missing value is NaN. A nominal cell holds the index of its value in ``categories``.
    Y : ndarray or csc_array, shape (n_rows, n_labels)
        Labels as 0 and 1 in uint8; classes, as codes of ``label_categories``, in int64; or numeric targets, alone or
        together with classes, in float64.
    feature_names, label_names : tuple of str
        Names of the columns.
    feature_kinds : tuple of {"numeric", "nominal"}
        The kind of every feature.
    categories : dict of str to tuple of str
        For each nominal feature its values, in the order of the file.
    description : str
        What the file says about itself.
    name : str
        Name of the data set.
    label_categories : dict of str to tuple of str
        For each label that is one of several classes its values; empty where labels are 0 and 1, or numeric.

    Examples
    --------
    >>> import numpy as np
    >>> songs = Dataset(np.array([[98.0], [160.0]]), np.array([[1], [0]], np.uint8), ("tempo",), ("calm",), ("numeric",))
    >>> songs.shape
    (2, 1, 1)
    """

    X: Matrix
    Y: NDArray[Any] | CompressedMatrix
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    feature_kinds: tuple[Kind, ...]
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    description: str = ""
    name: str = ""
    label_categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_sparse(self.X, "X")
        check_sparse(self.Y, "Y")

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def shape(self) -> tuple[int, int, int]:
        """The numbers of rows, features and labels."""
        return self.n_rows, int(self.X.shape[1]), int(self.Y.shape[1])

    @property
    def nominal_features(self) -> tuple[int, ...]:
        """Positions of the nominal features, those with the values 0 and 1 included.

        >>> import numpy as np
        >>> X, Y, values = np.array([[0.5, 0], [2.0, 1]]), np.array([[1], [0]], np.uint8), {"loud": ("0", "1")}
        >>> Dataset(X, Y, ("tempo", "loud"), ("calm",), ("numeric", "nominal"), values).nominal_features
        (1,)
        """
        return tuple(position for position, kind in enumerate(self.feature_kinds) if kind == "nominal")

    @property
    def text_features(self) -> dict[str, int]:
        """Nominal features whose codes have an order without meaning, and how many values each has.

        Two values are 0 and 1 in any order, and values that are numbers are in theirs.

        >>> import numpy as np
        >>> X, values = np.array([[0.0], [2.0]]), {"mood": ("calm", "happy", "sad")}
        >>> Dataset(X, np.array([[1], [0]], np.uint8), ("mood",), ("y",), ("nominal",), values).text_features
        {'mood': 3}
        """
        return {name: len(values) for name, values in self.categories.items() if len(values) > 2 and not _are_numbers(values)}

    @property
    def missing_features(self) -> dict[str, NDArray[np.intp]]:
        """Features with missing cells, and the rows of these, from 0. Cost: one pass over the stored cells."""
        return self._features_where(np.isnan)

    @property
    def infinite_features(self) -> dict[str, NDArray[np.intp]]:
        """Features with infinite cells, and the rows of these, from 0. Cost: one pass over the stored cells."""
        return self._features_where(np.isinf)

    def _features_where(self, condition: np.ufunc) -> dict[str, NDArray[np.intp]]:
        if is_sparse(self.X):
            stored = self.X.tocoo()
            cells = condition(stored.data)
            rows, columns = stored.row[cells], stored.col[cells]
        else:  # a sum that is finite proves that all cells are
            rows, columns = (np.empty(0, np.intp),) * 2 if np.isfinite(np.sum(self.X)) else np.nonzero(condition(self.X))
        return {self.feature_names[column]: np.sort(rows[columns == column]) for column in np.unique(columns)}

    def named_features(self, *, codes: bool = False) -> Any:
        """Return ``X`` for estimators: a frame of pandas or polars in which nominal columns are categorical.

        Selectors count the categories as they are, where they would take the numbers of ``X`` for measurements. Sparse data,
        and any data where neither library is installed, stay ``X``.

        Parameters
        ----------
        codes : bool, default=False
            True leaves nominal cells as codes, for estimators that calculate with numbers.
        """
        return with_names(self.X, self.feature_names, {} if codes else self.categories)

    def named_labels(self) -> Any:
        """Return ``Y`` for selectors: nominal targets are categorical, as in :meth:`named_features`, and so read as classes."""
        return with_names(self.Y, self.label_names, self.label_categories)

    def to_pandas(self) -> tuple[Any, Any]:
        """Return ``X`` and ``Y`` as frames of pandas: nominal columns are categorical, sparse ones stay sparse.

        Cost: sparse data takes one array for each column, about 0.1 ms.
        """
        X = to_pandas(self.X, self.feature_names, self.categories)
        return X, to_pandas(self.Y, self.label_names, self.label_categories)

    def to_polars(self) -> tuple[Any, Any]:
        """Return ``X`` and ``Y`` as frames of polars: nominal columns are enumerations, missing cells null.

        polars has no sparse columns: sparse data is made dense, and refused with a MemoryError where that does not fit.
        """
        X = to_polars(self.X, self.feature_names, self.categories)
        return X, to_polars(self.Y, self.label_names, self.label_categories)


def _are_numbers(values: tuple[str, ...]) -> bool:
    try:
        return all(float(value) == float(value) for value in values)
    except ValueError:
        return False


def to_pandas(values: object, names: Sequence[str], categories: Categories, *, copy: bool = True) -> Any:
    """Convert values to a frame of pandas: nominal columns are categorical, sparse ones stay sparse."""
    pandas = _imported("pandas")
    if sparse.issparse(values):
        frame = pandas.DataFrame.sparse.from_spmatrix(values, columns=list(names))
    else:
        frame = pandas.DataFrame(values, columns=list(names), copy=copy)
    if not any(name in categories for name in names):
        return frame
    columns = {name: frame.iloc[:, position] for position, name in enumerate(names)}
    kinds: dict[tuple[str, ...], Any] = {}  # columns of the same values share them
    for name, codes in _nominal(values, names, categories):
        found = categories[name]
        kinds[found] = kinds.get(found) or pandas.CategoricalDtype(list(found))
        columns[name] = pandas.Series(pandas.Categorical.from_codes(codes, dtype=kinds[found]))
    return pandas.DataFrame(columns)


def to_polars(values: Any, names: Sequence[str], categories: Categories) -> Any:
    """Convert values to a frame of polars: nominal columns are enumerations, missing cells null."""
    polars = _imported("polars")
    if sparse.issparse(values):
        n_rows, n_columns = values.shape
        needed, free = 2 * n_rows * n_columns * values.dtype.itemsize, available_memory()  # the array, and the frame
        if free is not None and needed > free:
            raise MemoryError(
                f"polars has no sparse columns, and {n_rows:,} x {n_columns:,} dense cells need {needed / 1e9:.1f} GB "
                f"with {free / 1e9:.1f} GB free; use to_pandas(), which keeps them sparse, or take fewer columns."
            )
        values = values.toarray()
    columns = {name: polars.Series(name, values[:, position], nan_to_null=True) for position, name in enumerate(names)}
    for name, codes in _nominal(values, names, categories):
        words = [None if code < 0 else categories[name][code] for code in codes.tolist()]
        columns[name] = polars.Series(name, words, dtype=polars.Enum(list(categories[name])))
    return polars.DataFrame(columns)


def with_names(values: object, names: Sequence[str], categories: Categories, *, copy: bool = True) -> Any:
    """Convert values to a frame of pandas or polars; sparse ones, and all where neither library is installed, stay as they are.

    Without ``copy`` the numbers of a frame of pandas are those of ``values``.
    """
    if sparse.issparse(values):
        return values
    if find_spec("pandas") is not None:
        return to_pandas(values, names, categories, copy=copy)
    return to_polars(values, names, categories) if find_spec("polars") is not None else values


def _imported(package: str) -> Any:
    if find_spec(package) is None:
        raise InputError(f"A frame of {package} needs the package {package}: pip install {package}")
    return import_module(package)


def _nominal(values: Any, names: Sequence[str], categories: Categories) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Iterate over the names of nominal columns and their codes, -1 for a missing value."""
    nominal = [position for position, name in enumerate(names) if name in categories]
    if sparse.issparse(values):
        values = sparse.csc_array(values)
    for position in nominal:
        column = values[:, [position]]
        cells = np.asarray(column.toarray() if sparse.issparse(column) else column, dtype=np.float64).ravel()
        yield names[position], np.where(np.isnan(cells), -1, cells).astype(np.int64)


NUMBERS = ("number", "decimal comma", "formatted")


def to_numbers(frame: Any, columns: Sequence[str] | None = None, *, decimal: Literal[".", ","] = ".") -> Any:
    """Convert text columns that hold numbers: ``$1,234.50``, ``12 %``, ``<0.5``, ``1.234,5`` with a decimal comma.

    The rule is that of :func:`load`: numbers of a column have one unit, ``<0.5`` is next to 0.5, and empty cells and words such
    as ``NA``, ``-`` and ``unknown`` are missing.

    Parameters
    ----------
    frame : data frame of pandas, polars or Arrow
        It is not modified.
    columns : sequence of str, default=None
        The columns to convert; a text that is no number is then an error. By default all columns of text that are numbers,
        except codes with leading zeros such as ``01234``.
    decimal : {".", ","}, default="."
        The decimal mark.

    Returns
    -------
    frame
        Of the same library, with columns of float64 in place of the text.

    Examples
    --------
    >>> import pandas as pd
    >>> to_numbers(pd.DataFrame({"price": ["$1,234.50", "-"], "zip": ["01234", "99999"]})).to_dict("list")
    {'price': [1234.5, nan], 'zip': ['01234', '99999']}
    """
    one_of(decimal, "decimal", (".", ","))
    table = nw.from_native(frame, eager_only=True)
    wanted = list(table.columns) if columns is None else list(columns)
    for name in wanted:
        if name not in table.columns:
            raise unknown_name("column", str(name), list(map(str, table.columns)))
    changed = []
    for name in wanted:
        series = table.get_column(name)  # a name may be a number
        if series.dtype != nw.String:
            continue
        texts = ["" if text is None or text != text else str(text) for text in series.to_list()]
        read = text_column(str(name), TextCells.of(texts), decimal_comma=decimal == ",", keep_codes=False)
        if read.kind in NUMBERS and (columns is not None or _are_measurements(texts)):
            changed.append(_like(series, read.cells))
        elif columns is not None:
            words = (text for text in texts if text.strip() not in MISSING and read_formatted_numbers([text.strip()]) is None)
            word = next(words, texts[0])
            raise InputError(
                f"to_numbers: column {name!r} is not numbers of one unit: {word!r}; make such cells empty, or leave it out."
            )
    return table.with_columns(*changed).to_native() if changed else frame


def _are_measurements(texts: list[str]) -> bool:
    """Whether no text is a code with leading zeros, and some cell is not missing."""
    present = {text.strip() for text in texts} - MISSING
    return bool(present) and not any(map(is_code, present))


def _like(series: nw.Series[Any], numbers: NDArray[np.float64]) -> nw.Series[Any]:
    """Make a series of numbers with the library, name and row labels of another one."""
    cells = [None if missing else number for number, missing in zip(numbers.tolist(), np.isnan(numbers), strict=True)]
    made = nw.new_series(series.name, cells, nw.Float64, backend=series.implementation)
    if series.implementation.is_pandas():
        made.to_native().index = series.to_native().index
    return made
