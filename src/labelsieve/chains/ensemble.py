"""Optimized classifier chains, and ensembles of chains that vote."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from labelsieve.chains.chain import BaseChain, ClassifierChain
from labelsieve.classifiers.base import MultiLabelClassifier, Weights, fit_weighted
from labelsieve.criteria import MLFS, Criterion
from labelsieve.discretize import Discretizer, MeanStd
from labelsieve.errors import InputError
from labelsieve.labelspace import NetworkRule
from labelsieve.labelspace.base import RandomState
from labelsieve.metrics.evaluation import label_scores
from labelsieve.parameters import AT_LEAST_ONE, BETWEEN_0_AND_1, PREDICTOR, Interval, StrOptions, checked_meta_fit, parameter
from labelsieve.progress import progress_bar
from labelsieve.resources import one_blas_thread
from labelsieve.selectors.base import Count
from labelsieve.selectors.labelwise import LabelwiseSieve
from labelsieve.tables.types import Matrix, TableLike, TargetsLike, WeightsLike, is_sparse

PROGRAM_CANDIDATES = 100
PROGRAM_FACTOR = 0.5
PROGRAM_DECIMALS = 3
PROGRAM_TOLERANCE = 0.01


@dataclass(eq=False, repr=False)
class OptimizedClassifierChain(BaseChain):
    r"""Optimized classifier chain, oCC: Sun and Kudo (2017), algorithms 1 and 2.

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


# Fractions of the rows and of the features.
SAMPLING = {"paper": (0.75, 0.5), "authors-program": (0.5, 0.75), "all": (1.0, 1.0)}
CHAINS = ("cc", "bcc", "occ", "kcc")


@dataclass(eq=False, repr=False)
class ChainEnsemble(MultiLabelClassifier):
    """Ensemble of chains with random orders or roots, rows and features, which vote: ECC, EBCC, EoCC.

    ``ChainEnsemble("cc")`` is ECC (Read et al. 2011), ``"bcc"`` EBCC (Zaragoza et al. 2011), ``"occ"`` EoCC (Sun and Kudo
    2017).

    Parameters
    ----------
    chain : {"cc", "bcc", "occ", "kcc"} or classifier, default="cc"
        Chains in random orders, trees from random roots, oCC or kCC in random orders; or a chain to clone, with new values for
        every ``random_state``: ``OptimizedClassifierChain()`` has learned orders. Any scikit-learn multi-label classifier is
        accepted.
    base : classifier, default=None
        A binary classifier, for chains by name; None: ``sklearn.svm.LinearSVC()``.
    n_chains : int, default=10
        Number of chains.
    sampling : {"paper", "authors-program", "all"} or pair of float, default="paper"
        Fractions of the rows and of the features of a chain, drawn without replacement. ``"paper"``: 0.75 and 0.5, as Sun and
        Kudo write; ``"authors-program"``: 0.5 and 0.75; ``"all"``: 1 and 1.
    combine : {"votes", "probabilities"}, default="votes"
        A label's probability is the fraction of chains that predict it, or the mean of its probabilities. A label is predicted
        if its probability is above a half.
    ties : {"absent", "present"}, default="absent"
        Prediction for a probability of exactly a half, such as five votes of ten.
    random_state : int, RandomState instance or None, default=None
        Seed of the rows, the features, and the orders or roots.
    n_jobs : int, default=None
        Chains fitted in parallel, in threads; for a base that computes in Python, ``joblib.parallel_config(backend="loky")``
        selects processes.

    Attributes
    ----------
    chains_ : list
        The fitted chains.
    features_ : list of ndarray
        The columns of each chain.

    Notes
    -----
    Cost: ``n_chains`` fits of a chain. The result does not depend on ``n_jobs``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> Y = np.column_stack([X[:, 0] > 0, X[:, 0] + X[:, 1] > 0]).astype(int)
    >>> model = ChainEnsemble("cc", sampling="all", random_state=0).fit(X, Y)
    >>> model.predict([[2.0, 1.0, 0.0, 0.0], [-2.0, -1.0, 0.0, 0.0]])
    array([[1, 1],
           [0, 0]])
    """

    chain: Any = parameter("cc", StrOptions(set(CHAINS)), PREDICTOR)
    base: BaseEstimator | None = parameter(None, PREDICTOR)
    _: KW_ONLY
    n_chains: int = parameter(10, AT_LEAST_ONE)
    sampling: Any = parameter("paper", StrOptions(set(SAMPLING)), tuple, list)
    combine: Literal["votes", "probabilities"] = "votes"
    ties: Literal["absent", "present"] = "absent"
    random_state: RandomState = None
    n_jobs: int | None = None

    @checked_meta_fit
    def fit(self, X: TableLike, y: TargetsLike, sample_weight: WeightsLike = None) -> Self:
        """Fit the chains.

        ``sample_weight`` are frequencies of the rows in the chains that draw them, which must accept weights. Rows are drawn
        with equal probabilities, whatever their weight.
        """
        shares = self._shares()
        chain = self._chain()
        self._check_combine(chain)
        X, labels, weights = self._read(X, y, sample_weight)
        random = check_random_state(self.random_state)
        seeds = random.randint(np.iinfo(np.int32).max, size=self.n_chains)
        # Sorted by name, so that the same seed always gives the same ensemble.
        random_states = [name for name in sorted(chain.get_params(deep=True)) if name.split("__")[-1] == "random_state"]
        tasks = (delayed(_fit_member)(chain, random_states, X, labels, weights, shares, int(seed)) for seed in seeds)
        self.chains_, self.features_ = [], []
        with progress_bar("Fitting chains") as progress, one_blas_thread():
            for member, features in Parallel(n_jobs=self.n_jobs, return_as="generator", prefer="threads")(tasks):
                self.chains_.append(member)
                self.features_.append(features)
                progress(len(self.chains_), self.n_chains)
        return self

    def _chain(self) -> Any:
        """Return the unfitted chain that is cloned for every member."""
        if not isinstance(self.chain, str):
            if self.base is not None:
                raise InputError("base is for chains by name, and chain is a classifier with a base; set the base there.")
            return self.chain
        if self.chain == "occ":
            return OptimizedClassifierChain(self.base, order="random")
        if self.chain == "kcc":
            return ClassifierChain(self.base, network=NetworkRule("kcc", order="random"))
        return ClassifierChain(self.base, network=self.chain)

    def _weighted_estimators(self) -> list[Any]:
        return [self._chain()]

    def _check_combine(self, chain: object) -> None:
        if self.combine == "probabilities" and not hasattr(chain, "predict_proba"):
            raise InputError("combine='probabilities' needs chains with predict_proba; use a base that has it, or 'votes'.")

    def _shares(self) -> tuple[float, float]:
        """Return the fractions of the rows and of the features that a chain draws."""
        shares = SAMPLING[self.sampling] if isinstance(self.sampling, str) else tuple(self.sampling)
        if len(shares) != 2 or not all(isinstance(share, Real) and 0 < float(share) <= 1 for share in shares):
            raise InputError(f"sampling={self.sampling!r}: pass fractions of the rows and the features, above 0 and at most 1.")
        return float(shares[0]), float(shares[1])

    def _label_probabilities(self, X: TableLike) -> NDArray[np.float64]:
        X = self._read_queries(X)
        self._validate_params()  # combine= may have been changed after fit
        self._check_combine(self.chains_[0])
        predict = _votes if self.combine == "votes" else label_scores
        total = np.zeros((X.shape[0], self.n_labels_))
        for member, features in zip(self.chains_, self.features_, strict=True):
            total += predict(member, X[:, features])
        return total / len(self.chains_)

    def _present(self, X: TableLike) -> NDArray[np.bool_]:
        probabilities = self._label_probabilities(X)
        present: NDArray[np.bool_] = probabilities >= 0.5 if self.ties == "present" else probabilities > 0.5
        return present


def _votes(member: BaseEstimator, X: TableLike) -> Any:
    """Return the predictions of a chain as an array of 0 and 1."""
    votes = member.predict(X)
    return votes.toarray() if is_sparse(votes) else votes


def _fit_member(
    chain: object,
    random_states: list[str],
    X: Matrix,
    labels: sp.csr_matrix,
    weights: Weights,
    shares: tuple[float, float],
    seed: int,
) -> tuple[Any, NDArray[np.intp]]:
    """Fit a chain with new values of the parameters ``random_states`` to drawn rows, and return it with its drawn columns."""
    random = np.random.RandomState(seed)
    (n_rows, n_features), (share_of_rows, share_of_features) = X.shape, shares
    rows = np.sort(random.choice(n_rows, max(1, round(share_of_rows * n_rows)), replace=False))
    features = np.sort(random.choice(n_features, max(1, round(share_of_features * n_features)), replace=False))
    member = clone(chain)
    member.set_params(**{name: int(random.randint(np.iinfo(np.int32).max)) for name in random_states})
    sample = X[rows] if len(features) == n_features else X[rows][:, features]
    of_rows = None if weights is None else weights[rows]
    # Chains of other packages accept labels as arrays only.
    y = labels[rows] if isinstance(member, MultiLabelClassifier) else labels[rows].toarray()
    return fit_weighted(member, sample, y, of_rows), features
