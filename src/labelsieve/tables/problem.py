"""Problem: what a user passed to ``fit``, read once; everything after it takes the problem and never the raw input."""

import pickle
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray
from sklearn.base import BaseEstimator

from labelsieve.errors import InputError, did_you_mean, is_whole, require_same_rows, told_before
from labelsieve.parameters import take_rows
from labelsieve.tables.codes import Codes, require_finite
from labelsieve.tables.frames import (
    NumberTable,
    check_sparse,
    is_frame,
    is_integer_array,
    not_numbers,
    read_table,
    too_large,
    unique_names,
    unmask,
    validate_data,
)
from labelsieve.tables.mistakes import look_over, refuse_targets_among_features
from labelsieve.tables.targets import (
    TargetTable,
    TargetTypes,
    constant_numbers,
    constant_targets,
    counted_targets,
    read_label_sets,
    read_target_columns,
    target_names,
    target_place,
    warn_of_constant_targets,
    warn_of_missing_targets,
)
from labelsieve.tables.types import (
    LAZY_PACKAGES,
    ColumnsLike,
    Features,
    FloatArray,
    Matrix,
    StoredTable,
    TableLike,
    TargetsLike,
    WeightsLike,
    as_table,
    is_sparse,
)
from labelsieve.tables.weights import positive_weights

if TYPE_CHECKING:
    from labelsieve.discretize import Discretizer


def required(estimator: object, y: TargetsLike | None) -> TargetsLike:
    """Return ``y``; raise scikit-learn's error if it is None."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    return y


def check_features(estimator: object, X: TableLike, *, reset: bool = True, dtype: DTypeLike = "numeric") -> Features:
    """``X`` with scikit-learn's checks. A frame stays a frame, since its columns may be text; masked cells become NaN.

    Values may be missing or infinite: the reader of the columns decides, and names the cell.
    """
    _require_memory(estimator, X)
    if is_frame(X):
        unique_names(X)
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    if hasattr(X, "collect") and not hasattr(X, "shape"):
        raise InputError(f"X is a {type(X).__name__}, which has no rows yet; pass X.collect().")
    X = unmask(X) if isinstance(X, np.ma.MaskedArray) else X
    if getattr(getattr(X, "dtype", None), "kind", "") in ("U", "S"):
        raise not_numbers("X", "text")
    if getattr(getattr(X, "dtype", None), "kind", "") in ("m", "M"):
        X = read_table(X, allow_missing=True).values
    try:
        checked: Matrix = validate_data(
            estimator, X, reset=reset, accept_sparse=("csr", "csc"), ensure_all_finite=False, dtype=dtype
        )
        return checked
    except ValueError as error:
        if "could not convert string" in str(error) or "arrays of bytes/strings" in str(error):
            raise not_numbers("X", "text") from None
        raise
    except OverflowError:  # objects of Python, such as 10**400
        raise too_large(X, "X") from None


def _require_memory(estimator: object, X: object) -> None:
    """Refuse a table that is read column by column, for ``estimator``, which needs all of it."""
    if isinstance(X, StoredTable):
        raise InputError(f"{type(estimator).__name__} needs the table in memory; Sieve takes a ChunkedTable.")
    if (library := LAZY_PACKAGES.get(type(X).__module__.partition(".")[0])) is not None:
        call = "X.compute()" if library == "Dask" else "X.toPandas()"
        raise InputError(
            f"{type(estimator).__name__} needs the table in memory, and X is a collection of {library}; pass {call}. "
            f"Sieve takes collections of {library}."
        )


def check_numbers(estimator: object, X: TableLike, *, reset: bool = True, dtype: DTypeLike = np.float64) -> Matrix:
    """Return ``X`` as finite numbers, an array or a sparse matrix, for methods that calculate with them."""
    checked = check_features(estimator, X, reset=reset, dtype=dtype)
    table = read_table(checked)
    if table.text:
        column = table.name(min(table.text))
        raise InputError(
            f"{type(estimator).__name__} calculates with the features, and {column} is text; drop it, or encode it."
        )
    require_finite(table, allow_missing=False)
    return checked if not is_frame(checked) else np.asarray(table.dense, dtype=None if isinstance(dtype, str) else dtype)


def from_device(values: Any) -> Any:
    """A numpy array of an array of CuPy or a tensor of PyTorch on any device, which is copied; anything else as it is.

    >>> from_device([1, 2])
    [1, 2]
    """
    library = type(values).__module__.partition(".")[0]
    if library == "cupy":
        return values.get()
    if library == "torch":
        return values.detach().cpu().numpy()
    return values


Names = Sequence[str] | None  # of all columns; None: those of the data, or numbers


class Source(NamedTuple):
    """The arguments of ``fit`` as they were passed, for rules that split the rows and fit again."""

    X: Any
    y: Any
    sample_weight: WeightsLike = None


@dataclass(frozen=True, eq=False)
class Problem:
    """Features, targets and weights of the rows that count; made by :func:`read`.

    Rows without weight, and rows in which no target is known, are left out. Every selector accepts a problem in place of ``X``
    and ``y``, both in ``fit`` and in the methods that take the data of ``fit`` again. Whatever is computed from the columns
    (their numbers, their codes) is computed once and kept.

    >>> from labelsieve import Sieve
    >>> problem = read([[0, 1], [1, 0], [0, 1], [1, 1]], [0, 1, 0, 1])
    >>> Sieve("mim", n_features_to_select=1).fit(problem).selected_
    array([0])
    """

    X: Any  # features, with scikit-learn's checks; a frame stays a frame
    targets: TargetTable
    weights: FloatArray | None = None  # of the rows; None: all equal to 1
    feature_names: tuple[str, ...] | None = None
    target_names: tuple[str, ...] | None = None
    n_left_out: int = 0  # rows that were left out because no target is known in them
    # mask of the rows in which some target is known, among those with weight; None: all
    known_rows: NDArray[np.bool_] | None = None
    source: Source = field(default_factory=lambda: Source(None, None))  # what the user passed
    told: bool = False  # the table was read before, so that the user has been told what there is to say about its columns
    # columns that are not selected in any case, by name or number: nothing is said about them
    excluded: tuple[int | str, ...] = ()
    _codes: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @cached_property
    def features(self) -> NumberTable:
        """The features as numbers, with the levels of text columns; NaN where a cell is missing."""
        if isinstance(self.X, StoredTable):
            raise InputError("This needs the table in memory; a ChunkedTable is read column by column.")
        with told_before(self.told, self.excluded) if self.told or self.excluded else nullcontext():
            table = read_table(self.X, allow_missing=True)
            if table.names is not None:
                look_over(table)
        return table

    def numbers(self, caller: str) -> Matrix:
        """Return the features as finite numbers, an array or a sparse matrix, for ``caller``, which calculates with them."""
        return _numbers(self.X, self.features, caller)

    def known_targets(self, caller: str) -> TargetTable:
        """Return the targets for ``caller``, which needs all of them in every row; refuse unknown ones."""
        if self.n_left_out:
            raise InputError(
                f"Y, {target_place(0, self.target_names)}: {self.n_left_out} unknown cells, which {caller} cannot leave out; "
                "fill them or drop their rows."
            )
        return self.targets.require_known(caller)

    def binned_targets(self, discretizer: "Discretizer") -> TargetTable:
        """Return the targets with numeric ones in bins, which are learned once for every discretizer."""
        if not self.targets.is_numeric.any():
            return self.targets
        key = type(discretizer), pickle.dumps(discretizer)
        if key not in self._codes:
            self._codes[key] = self.targets.discretized(discretizer, self.weights)
        return self._codes[key]  # type: ignore[no-any-return]

    def codes(self, discretizer: "Discretizer", targets: Codes, columns: Sequence[int] | None = None) -> Codes | list[Codes]:
        """Return the codes of the features, or of some of them, which are learned once for every discretizer."""
        if isinstance(self.X, StoredTable):
            return self.X.encode(discretizer, targets, self.weights)
        # The key has every setting of the discretizer (a representation leaves some out), and the identity of the targets, on
        # which supervised bins depend; they are kept with the codes, so that no other object gets their identity.
        key: tuple[Any, ...] | None
        try:
            key = type(discretizer), pickle.dumps(discretizer), id(targets)
        except (pickle.PicklingError, AttributeError, TypeError):  # a custom one whose settings cannot be compared
            key = None
        known = None if key is None else self._codes.get(key)
        with told_before(self.told, self.excluded) if self.told or self.excluded else nullcontext():
            if known is None and (columns is None or key is None):
                known = discretizer.encode(self.features, targets, self.weights), targets
                if key is not None:
                    self._codes[key] = known
            if known is not None:
                tables = known[0]
                if columns is None:
                    return tables  # type: ignore[no-any-return]
                chosen = np.asarray(columns, dtype=np.intp)
                some = [each.take_columns(chosen) for each in (tables if isinstance(tables, list) else [tables])]
                return some if isinstance(tables, list) else some[0]
            assert columns is not None
            assert key is not None
            of_some = *key, tuple(columns)
            if of_some not in self._codes:
                rule, table = discretizer.for_columns(columns, self.feature_names), self.features.take_columns(columns)
                self._codes[of_some] = rule.encode(table, targets, self.weights), targets
            return self._codes[of_some][0]  # type: ignore[no-any-return]

    def take_rows(self, rows: NDArray[np.bool_]) -> "Problem":
        """Return the problem of the rows where ``rows`` is true, without reading the data again."""
        source, kept = self.source, np.flatnonzero(rows)
        counted = self._counted_rows()
        places = kept if counted is None else counted[kept]
        weights = None if source.sample_weight is None else np.asarray(source.sample_weight)[places]
        X = _take_rows(self.X, rows)
        some = Problem(
            X,
            self.targets.take_rows(rows),
            None if self.weights is None else self.weights[kept],
            self.feature_names,
            self.target_names,
            # An array is most often all of it: what was passed, what was checked, and the numbers.
            source=Source(
                X if source.X is self.X and counted is None else take_rows(source.X, places),
                take_rows(source.y, places),
                weights,
            ),
            told=True,
            excluded=self.excluded,
        )
        if "features" in vars(self):
            table = self.features
            vars(some)["features"] = replace(table, values=X) if table.values is self.X else table.take_rows(rows)
        return some

    def _counted_rows(self) -> NDArray[np.intp] | None:
        """Return the numbers of the rows of the source that this problem has; None: all."""
        if self.source.sample_weight is None and self.known_rows is None:
            return None
        n_rows = as_table(self.source.X).shape[0]
        weighted, _ = positive_weights(self.source.sample_weight, n_rows)
        counted = np.arange(n_rows) if weighted is None else np.flatnonzero(weighted)
        return counted if self.known_rows is None else counted[self.known_rows]

    def column_numbers(self, columns: ColumnsLike, what: str) -> list[int]:
        """Numbers of columns that are given by number or name, without repetition; ``what`` is the parameter, in messages."""
        return column_numbers(columns, self.feature_names, self.n_features, what)


def read(
    X: Any,
    y: TargetsLike | None = None,
    sample_weight: WeightsLike = None,
    *,
    target_type: TargetTypes = "auto",
    estimator: object = None,
    reset: bool = True,
) -> Problem:
    """Read features, targets and weights of any kind that a user can pass, and leave out the rows that do not count.

    A :class:`Problem` is returned as it is. A stored table has its targets, so that ``y`` is left out. ``target_type`` is that
    of :class:`labelsieve.Sieve`. Messages name the ``estimator``, which learns the number and the names of the features
    (``reset``) or requires those that it knows.

    >>> problem = read([[1.5, 0.0], [2.5, 1.0]], [{"rock", "loud"}, {"folk"}])
    >>> problem.target_names, problem.n_features
    (('folk', 'loud', 'rock'), 2)
    """
    if isinstance(X, Problem):
        if y is not None or sample_weight is not None:
            raise InputError("A Problem has the targets and the weights; leave out y and sample_weight.")
        return X
    estimator = _AnyInput() if estimator is None else estimator
    if isinstance(X, StoredTable):
        if y is not None:
            raise InputError("A ChunkedTable has the labels itself; leave out y.")
        table: Any = X
        sample_weight = X.weights if sample_weight is None else sample_weight
        names, labels, source = X.feature_names, X.label_names, Source(X, None, sample_weight)
        rows, weights = positive_weights(sample_weight, X.shape[0])
        # Rows without weight must not decide whether a target is numeric, nor move a cut point.
        table = X if rows is None else X.take_rows(rows)
        targets = table.targets(target_type)
    else:
        if y is None:
            required(estimator, y)
        X = X if isinstance(X, np.ndarray) else from_device(X)
        y = y if isinstance(y, np.ndarray) else from_device(y)
        table = _checked(estimator, X, reset)
        sets = None if is_integer_array(y, (1, 2)) else read_label_sets(y)
        labels = None if isinstance(y, np.ndarray) else target_names(y)
        if sets is not None:
            labels = sets.names
        given: Any = y if sets is None else sets.matrix
        names = vars(estimator).get("feature_names_in_")
        names = None if names is None else tuple(map(str, names))
        # Rows of a sparse table can be taken in the format CSR alone; converting a malformed one would read beyond its arrays.
        if sp.issparse(given):
            check_sparse(given, "Y")
        source = Source(X.tocsr() if sp.issparse(X) else X, given.tocsr() if sp.issparse(given) else given, sample_weight)
        if names is not None and labels is not None and sets is None and reset:
            refuse_targets_among_features(X, y, names, labels)
        rows, weights = None, None
        if sample_weight is not None:
            rows, weights = positive_weights(sample_weight, table.shape[0])
        if rows is None:
            targets = read_target_columns(given, target_type, None if sets is None else sets.names)
            if table.shape[0] != targets.classes.n_rows:
                require_same_rows(table.shape[0], targets.n_rows)
        else:
            table, given = _take_rows(table, rows), counted_targets(given, rows)
            targets = read_target_columns(given, target_type, None if sets is None else sets.names)
    known, n_left_out = targets.rows_with_targets(), 0
    if known is not None:
        n_left_out = int(np.count_nonzero(~known))
        targets, table = targets.take_rows(known), _take_rows(table, known)
        weights = None if weights is None else weights[known]
    if reset and (targets.classes.missing is not None or n_left_out or np.isnan(targets.numbers).any()):
        warn_of_missing_targets(targets, labels, n_left_out)
    if targets.classes.n_rows > 1 and (not isinstance(table, StoredTable) or table.has_rows):
        constant = constant_targets(targets)
        if constant.any():
            warn_of_constant_targets(constant, labels)
    excluded = () if isinstance(estimator, _AnyInput) else tuple(vars(estimator).get("excluded", ()))
    return Problem(table, targets, weights, names, labels, n_left_out, known, source, not reset, excluded)


@dataclass(frozen=True, eq=False)
class NumberProblem:
    """Features and targets as finite numbers, arrays of float64 or CSR, for selectors that calculate with both."""

    X: Matrix
    Y: Matrix
    weights: FloatArray | None
    feature_names: tuple[str, ...] | None
    target_names: tuple[str, ...] | None
    source: Source

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])


def read_numbers(estimator: object, X: Any, y: TargetsLike | None, sample_weight: WeightsLike = None) -> NumberProblem:
    """Read features and targets as finite numbers; ``estimator`` is the one that is fitted."""
    if isinstance(X, Problem):
        X, y, sample_weight = X.source
    _require_memory(estimator, X)
    y = required(estimator, from_device(y))
    name, table = type(estimator).__name__, check_features(estimator, from_device(X), dtype=np.float64)
    sets = read_label_sets(y)
    labels, named = (target_names(y), unmask(y)) if sets is None else (sets.names, sets.matrix)
    check_sparse(named, "Y")
    source = Source(X.tocsr() if is_sparse(X) else X, named.tocsr() if is_sparse(named) else named, sample_weight)
    rows, weights = (None, None) if sample_weight is None else positive_weights(sample_weight, table.shape[0])
    if rows is not None:  # the others are not calculated with, so they may hold anything
        table, named = _take_rows(table.tocsr() if is_sparse(table) else table, rows), counted_targets(named, rows)
    numbers = _numbers(table, read_table(table), name)
    if isinstance(named, np.ndarray) and named.dtype.kind == "O":
        try:
            named = named.astype(np.float64)
        except OverflowError:
            raise too_large(named, "Y") from None
        except (TypeError, ValueError):  # not numbers that came as objects: refused below
            pass
    try:
        targets = read_table(named, what="Y")
        require_finite(targets, allow_missing=False, what="Y")
    except InputError as error:
        raise InputError(f"{name} calculates with the targets. {error}") from None
    require_same_rows(numbers.shape[0], targets.shape[0])
    Y: Any = targets.sparse.tocsr() if targets.dense is None else targets.dense
    if Y.shape[0] > 1:
        warn_of_constant_targets(constant_numbers(Y), labels)
    names = vars(estimator).get("feature_names_in_")
    return NumberProblem(
        numbers.tocsr() if is_sparse(numbers) else numbers,
        Y.astype(np.float64, copy=False),
        weights,
        None if names is None else tuple(map(str, names)),
        labels,
        source,
    )


def _numbers(X: Any, table: NumberTable, caller: str) -> Matrix:
    """Return checked features as finite numbers, and refuse text."""
    if table.text:
        column = table.name(min(table.text))
        raise InputError(f"{caller} calculates with the features, and {column} is text; drop it, or encode it.")
    require_finite(table, allow_missing=False)
    numbers: Any = X if is_sparse(X) else table.dense
    return numbers.astype(np.float64, copy=False)  # type: ignore[no-any-return]


def column_numbers(columns: ColumnsLike, names: Names, n_columns: int | None, what: str) -> list[int]:
    """Return the numbers of columns that are given by number or name, without repetition; any number if ``n_columns`` is None.

    >>> column_numbers(["b", 0], ("a", "b"), 2, "forced")
    [1, 0]
    """
    found: list[int] = []
    given: Iterable[Any] = columns
    for column in given:
        if isinstance(column, str):
            if names is None or column not in names:
                suggestion = "" if names is None else did_you_mean(column, map(str, names))
                raise InputError(f"{what}: there is no feature named {column!r}.{suggestion}")
            found.append(list(names).index(column))
        elif is_whole(column) and int(column) >= 0 and (n_columns is None or int(column) < n_columns):
            found.append(int(column))
        else:
            last = "" if n_columns is None else f" to {n_columns - 1}"
            raise InputError(f"{what}: {column!r} is not a column from 0{last} or a name.")
    return list(dict.fromkeys(found))


class _AnyInput(BaseEstimator):
    """Stands for the estimator in scikit-learn's checks while a problem is read before its selector is known."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags


def _checked(estimator: Any, X: TableLike, reset: bool) -> Features:
    """``X`` with scikit-learn's checks, which set ``n_features_in_`` and ``feature_names_in_`` or compare with them."""
    if not reset or not is_integer_array(X, (2,)):
        return check_features(estimator, X, reset=reset)
    # Reading the codes checks all that is left to check of whole numbers, and an array has no names.
    estimator.n_features_in_ = X.shape[1]
    vars(estimator).pop("feature_names_in_", None)
    codes: NDArray[Any] = X
    return codes


def _take_rows(X: Any, rows: NDArray[np.bool_]) -> Any:
    if isinstance(X, StoredTable):
        return X.take_rows(rows)
    kept = np.flatnonzero(rows)
    return nw.from_native(X, eager_only=True)[kept].to_native() if is_frame(X) else X[kept]
