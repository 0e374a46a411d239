"""The base class of rankings by models and tests of scikit-learn: standardized features, and targets as arrays."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils import check_random_state

from labelsieve.counting.checked_features import check_numbers, required
from labelsieve.counting.magnitude import moderate_columns
from labelsieve.errors import InputError, require_same_rows
from labelsieve.labelspace import read_targets
from labelsieve.labelspace.base_space import RandomState
from labelsieve.selectors.base import BaseRanking
from labelsieve.table_types import Matrix, TableLike, TargetsLike, is_sparse

Real = NDArray[np.float64]
LARGEST_DENSE = 2**27  # cells of a sparse matrix that is made dense: the same scores as for an array; a larger one stays sparse
MOSTLY_ZEROS = 0.1  # the fraction of other values below which linear models get a sparse matrix, whatever the format of X


def class_indicators(targets: Iterable[NDArray[Any]]) -> list[NDArray[np.bool_]]:
    """A column for each class of a target with more than two, and one for a target with two."""
    levels = [(column, np.unique(column)) for column in targets]
    return [column == level for column, found in levels for level in (found[1:] if len(found) == 2 else found)]


class ModelData(NamedTuple):
    """What a model is fitted on.

    ``X`` has unit variance: an array that is centered, or a CSR matrix that is not; for methods without negative numbers it is
    from 0 to 1. ``classes`` and ``numbers`` are the targets of either kind, columns of whole numbers from 0 and of standardized
    numbers.
    """

    X: Matrix
    classes: NDArray[np.int64]
    numbers: Real
    seed: int
    n_jobs: int | None

    @property
    def n_targets(self) -> int:
        return int(self.classes.shape[1] + self.numbers.shape[1])

    def targets(self) -> Iterator[tuple[NDArray[Any], bool]]:
        """Every target that is not constant, and whether it is numeric."""
        for table, is_number in ((self.classes, False), (self.numbers, True)):
            for column in table.T:
                if (column != column[0]).any():
                    yield column, is_number

    def indicators(self) -> Real:
        """All targets as numbers: a column for each class of a target with more than two, and the numeric ones."""
        return np.column_stack([*class_indicators(self.classes.T), self.numbers]).astype(np.float64)


@dataclass(eq=False, repr=False, kw_only=True)
class BaseModelRanking(BaseRanking):
    """Ranks features by the scores that ``_score`` returns for standardized features.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=0
        Seed of the random numbers; not used by deterministic methods.
    """

    random_state: RandomState = 0
    n_jobs: int | None = None

    _from_0_to_1: ClassVar[bool] = False  # the features, and numeric targets, instead of unit variance
    _keeps_zeros: ClassVar[bool] = False  # tables of mostly zeros are sparse and not centered

    def _score(self, data: ModelData) -> Real:
        """A score for every feature."""
        raise NotImplementedError

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: TableLike, y: TargetsLike) -> Self:
        """Score the features of ``X`` for the targets ``y``: one column or many, classes or numbers, dense or sparse."""
        checked = moderate_columns(check_numbers(self, X))  # variances must not overflow
        required(self, y)
        if self._keeps_zeros and _share_of_nonzeros(checked) < MOSTLY_ZEROS:
            checked = sp.csr_array(checked)
        elif is_sparse(checked) and checked.shape[0] * checked.shape[1] <= LARGEST_DENSE:
            checked = checked.toarray()
        # Sums in the same order, whatever the layout in memory.
        rows = checked.tocsr() if is_sparse(checked) else np.ascontiguousarray(checked)
        table = read_targets(y).require_known(type(self).__name__)
        require_same_rows(checked.shape[0], table.n_rows)
        self._warn_of_constant(table)
        classes = table.classes.to_dense()[:, ~np.asarray(table.is_numeric)].astype(np.int64)
        sparse = not isinstance(rows, np.ndarray)
        if self._from_0_to_1 and not isinstance(rows, np.ndarray) and rows.data.min(initial=0.0) < 0:
            raise InputError(
                f"{type(self).__name__} needs features from 0 on, and X, sparse and too large to be made dense, has negative "
                "values; shift them, or take fewer columns."
            )
        scaler = MinMaxScaler() if self._from_0_to_1 else StandardScaler()
        numbers = scaler.fit_transform(moderate_columns(table.numbers)) if table.numbers.size else table.numbers
        if sparse:
            scaler = MaxAbsScaler() if self._from_0_to_1 else StandardScaler(with_mean=False)
        scaled = scaler.fit_transform(rows)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        try:
            scores = self._score(ModelData(scaled, classes, numbers, seed, self.n_jobs))
        except InputError:
            raise
        except ValueError as error:  # of a model or test of scikit-learn, most often for too few rows
            name, n_rows = type(self).__name__, checked.shape[0]
            raise InputError(f"{name} cannot rank the features by these rows, n_samples = {n_rows}: {error}") from error
        self._keep_best(np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=0.0, posinf=float(np.finfo(float).max)), X, y)
        return self


def _share_of_nonzeros(X: Matrix) -> float:
    return float(np.count_nonzero(X.data if is_sparse(X) else X) / (X.shape[0] * X.shape[1]))
