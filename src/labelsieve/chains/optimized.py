"""oCC: a chain in a learned order, with parents and features selected for every label."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, Literal

from sklearn.svm import LinearSVC
from sklearn.utils._param_validation import Interval

from labelsieve.chains.chain import BaseChain
from labelsieve.counting.checked_parameters import AT_LEAST_ONE, BETWEEN_0_AND_1, parameter
from labelsieve.criteria import Criterion
from labelsieve.criteria.multilabel import MLFS
from labelsieve.discretize import Discretizer, MeanStd
from labelsieve.labelspace import NetworkRule
from labelsieve.selectors.base import Count
from labelsieve.selectors.labelwise import LabelwiseSieve

PROGRAM_CANDIDATES = 100
PROGRAM_FACTOR = 0.5
PROGRAM_DECIMALS = 3
PROGRAM_TOLERANCE = 0.01


@dataclass(eq=False, repr=False)
class OptimizedClassifierChain(BaseChain):
    r"""Optimized classifier chains, oCC: Sun and Kudo (2017), algorithms 1 and 2.

    The order of the labels is learned (eq. 47); each label has up to k earlier ones as parents (eq. 33) and features selected
    given them (eq. 43), and one classifier for each label learns from both.

    Parameters
    ----------
    k : int or float, default=0.8
        The largest number of parents, or a fraction of the labels; the paper uses 0.8, rounded up.
    n_features_to_select : int, float or None, default=0.5
        For each label: a number, or a fraction of the features; None: all. The paper tries 0.1, 0.3, 0.5, 0.7 and 0.9, and
        reports the best.
    order : {"sun-kudo", "information", "frequency", "random", "given"} or sequence of int, default="sun-kudo"
        See :class:`~labelsieve.NetworkRule`; the paper's results use the default.
    criterion : str or Criterion, default=None
        Criterion of the features; None: MLFS.
    discretizer : str or Discretizer, default="auto"
        Discretizer of the features; "auto": levels at mean +- std.
    variant : {"paper", "authors-program"}, default="paper"
        The authors' program differs: k is rounded to the nearest number; levels are at mean +- std / 2, to three decimals, with
        0/1 features unchanged; the first feature of a label is selected by relevance; candidates are its 100 most relevant
        features. The support vector machine is liblinear's primal one, stopped at its tolerance of 0.01, which matters for
        unscaled features. The defaults of ``base``, ``criterion`` and ``discretizer`` are then those of the program.

    Attributes
    ----------
    selector_ : LabelwiseSieve
        ``selector_.selected_[l]`` are the features of label ``l``, in order of selection.

    Notes
    -----
    Cost: about q^2 tables for the order, up to q^3 for the parents, d q for every selected feature; then q fits.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 6))
    >>> first = X[:, 3] > 0
    >>> Y = np.column_stack([first, first & (X[:, 1] > 0), X[:, 5] > 0.5]).astype(int)
    >>> model = OptimizedClassifierChain(n_features_to_select=1).fit(X, Y)
    >>> print(model.network_)
    order  label  parents
        1  1      -
        2  0      1
        3  2      1, 0
    >>> model.selector_.selected_.ravel().tolist()
    [3, 1, 5]
    """

    _: KW_ONLY
    k: float = parameter(0.8, Interval(Integral, 0, None, closed="left"), Interval(Real, 0, 1, closed="both"))
    n_features_to_select: Count = parameter(0.5, AT_LEAST_ONE, BETWEEN_0_AND_1)
    order: str | Sequence[int] = parameter("sun-kudo", str, "array-like")
    criterion: str | Criterion | type[Criterion] | None = parameter(None, str, Criterion, type)
    discretizer: str | Discretizer | None = parameter("auto", str, Discretizer, None)
    variant: Literal["paper", "authors-program"] = "paper"

    def _base(self) -> Any:
        if self.base is None and self.variant == "authors-program":
            return LinearSVC(dual=False, tol=PROGRAM_TOLERANCE)
        return super()._base()

    def _network_and_selector(self) -> tuple[NetworkRule, LabelwiseSieve]:
        program = self.variant == "authors-program"
        network = NetworkRule(
            "kcc",
            k=self.k,
            order=self.order,
            rounding="nearest" if program else "up",
            factor=PROGRAM_FACTOR if program else 1.0,
        )
        criterion, discretizer = self.criterion, self.discretizer
        if criterion is None:
            criterion = MLFS(first_step="relevance") if program else MLFS()
        if isinstance(discretizer, str) and discretizer == "auto":
            program_levels = MeanStd(factor=PROGRAM_FACTOR, decimals=PROGRAM_DECIMALS, keep_binary=True)
            discretizer = program_levels if program else MeanStd()
        selector = LabelwiseSieve(
            criterion,
            discretizer=discretizer,
            n_features_to_select=self.n_features_to_select,
            n_candidates=PROGRAM_CANDIDATES if program else None,
            n_jobs=self.n_jobs,
        )
        return network, selector
