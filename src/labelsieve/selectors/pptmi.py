"""PPTMI: greedy selection by joint information about pruned labelsets, without bins."""

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Self

import numpy as np

from labelsieve.discretize import Discretizer
from labelsieve.errors import InputError
from labelsieve.information.continuous import ClassDistances, read_columns
from labelsieve.information.discrete import Real
from labelsieve.labelspace import Pruned
from labelsieve.parameters import AT_LEAST_ONE, AT_LEAST_TWO, checked_fit, parameter
from labelsieve.progress import progress_bar
from labelsieve.registry import make_target_discretizer
from labelsieve.selectors.base import N_FEATURES, TARGET_TYPE, BaseSieve, Count, Result
from labelsieve.tables.magnitude import moderate
from labelsieve.tables.problem import Problem
from labelsieve.tables.targets import TargetTypes
from labelsieve.tables.types import ColumnsLike, TableLike, TargetsLike


@dataclass(eq=False, repr=False)
class PPTMI(BaseSieve):
    r"""Select continuous features by their joint information about the labelset.

    Labelsets that occur fewer than ``min_count`` times are dropped (pruned problem transformation, Read 2008). Of the rows
    that remain, the labelset is one class variable, and greedy forward search adds the feature with the largest joint
    information, estimated by nearest neighbors without bins (Doquire and Verleysen 2011, 2013):

    .. math::
        I(X_S; Y) = \psi(N) - \frac{1}{N} \sum_y n_y \psi(n_y)
        + \frac{D}{N} \Big[ \sum_i \log e_i - \sum_i \log e_i^{(y)} \Big]

    with :math:`D` features, :math:`n_y` of :math:`N` rows of class :math:`y`, and :math:`e_i`, :math:`e_i^{(y)}` the Euclidean
    distances of row :math:`i` to its k-th neighbor among all rows and among those of its class.

    Parameters
    ----------
    n_features_to_select : int, float, str or None, default=10
        A number (all, if there are fewer), a fraction of all, ``"all"`` or None for a ranking of all.
    n_neighbors : int, default=4
        The k of the estimate: small values have less bias and more variance. Four is our choice.
    min_count : int, default=5
        The smallest number of rows of a labelset that is kept. Our default, one more than ``n_neighbors``, gives every row that
        many neighbors in its class.

    Attributes
    ----------
    scores_ : ndarray of float
        Joint information of the features selected so far, in nats. It may decrease: estimates in more dimensions are less
        accurate.
    feature_scores_ : ndarray of float, shape (n_features,)
        Scores of all features: of selected ones when they were selected, of the others at the last step.
    n_classes_ : int
        Number of labelsets that remained.
    n_rows_left_out_ : int
        Rows whose labelset was pruned.
    target_types_, target_discretizer_, label_names_
        As for :class:`Sieve`.

    See Also
    --------
    Sieve : ``Sieve("cmi", targets="pruned")`` is the same idea with bins.

    Notes
    -----
    Features are scaled to unit variance over the remaining rows; a numeric target is cut into bins first. Repeated rows and
    columns of few values are counted, which needs no distances. A constant column adds no distance, so it is never selected
    before an informative column. With one class left there is no information, and every score is 0.

    Cost: about ``3 * n_rows**2`` operations per candidate and step, some ten nanoseconds for a pair of rows: 4.5 s for 20
    features of emotions (593 rows, 72 features). Memory: at most 256 MB in addition to the data.

    Examples
    --------
    >>> from labelsieve.datasets import make_feature_roles
    >>> data = make_feature_roles(n_rows=200, n_labels=3, n_relevant=3, n_xor_pairs=0, n_irrelevant=6)
    >>> sieve = PPTMI(n_features_to_select=3).fit(data.X, data.Y)
    >>> [data.roles[column].kind for column in sieve.selected_]
    ['relevant', 'relevant', 'relevant']
    """

    n_features_to_select: Count = parameter(10, *N_FEATURES)
    _: KW_ONLY
    n_neighbors: int = parameter(4, AT_LEAST_ONE)
    min_count: int = parameter(5, AT_LEAST_TWO)
    target_type: TargetTypes = parameter("auto", *TARGET_TYPE)
    target_discretizer: str | Discretizer = "auto"
    forced: ColumnsLike = parameter((), "array-like")
    excluded: ColumnsLike = parameter((), "array-like")

    needs_distinct_rows: ClassVar[bool] = True  # a row that occurs twice is its own neighbor

    @checked_fit
    def fit(self, X: TableLike | Problem, y: TargetsLike | None = None) -> Self:
        """Select features of ``X``, numbers, for the targets ``y``."""
        return self._fit(X, y)

    def _select(self, problem: Problem) -> Result:
        columns, of_targets = read_columns(problem.numbers("PPTMI")), make_target_discretizer(self.target_discretizer)
        targets = problem.binned_targets(of_targets)
        pruned = Pruned(min_count=self.min_count).encode(targets)
        assert pruned.rows is not None
        if not pruned.rows.any():
            raise InputError(
                f"PPTMI: no labelset occurs min_count = {self.min_count} times (n_samples = {targets.n_rows}); use a smaller "
                "min_count, or a method for single labels."
            )
        forced, excluded = self._limits(problem)
        classes = pruned.codes.column(0)
        distances = ClassDistances([_scaled(column[pruned.rows]) for column in columns], classes, self.n_neighbors)
        left = [column for column in range(problem.n_features) if column not in excluded]
        wanted = max(self._n_wanted(len(left), problem.n_features), len(forced))
        selected: list[int] = []
        scores: list[float] = []
        of_all = np.full(problem.n_features, np.nan)
        with progress_bar("PPT-MI: selecting features") as progress:
            while len(selected) < wanted:
                asked = forced[len(selected) : len(selected) + 1] or left
                information = distances.information(asked)
                best = int(information.argmax())  # ties go to the lowest column
                selected.append(asked[best])
                scores.append(float(information[best]))
                of_all[asked] = information
                left.remove(selected[-1])
                distances.take(selected[-1])
                progress(len(selected), wanted)
        return Result(
            np.array(selected, dtype=np.intp),
            np.array(scores),
            {
                "feature_scores": of_all,
                "n_classes": len(np.unique(classes)),
                "n_rows_left_out": problem.n_left_out + pruned.n_left_out,
                "target_discretizer": of_targets,
            },
        )


def _scaled(column: Real) -> Real:
    """Scale every column to unit variance; a constant column becomes zeros."""
    column = moderate(column)
    centered = column - column.mean()
    deviation = centered.std()
    return centered / deviation if column.max() > column.min() and deviation > 0 else np.zeros_like(column)
