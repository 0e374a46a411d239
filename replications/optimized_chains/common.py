"""What the replications of Sun and Kudo (2017) share: data sets, folds, classifiers fitted once for all numbers of features."""

import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.io import loadmat
from scipy.linalg import qr
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit
from sklearn.svm import LinearSVC

from labelsieve.chains import ClassifierChain, OptimizedClassifierChain
from labelsieve.chains.inference import greedy
from labelsieve.chains.links import Chain, fit_chain
from labelsieve.datasets.fetch import catalog, data_folder
from labelsieve.datasets.readers.matlab import check_elements
from labelsieve.errors import InputError
from labelsieve.labelspace.base import RandomState
from labelsieve.metrics import MEASURES as KNOWN_MEASURES
from labelsieve.selectors import MDDM
from labelsieve.studies import Protocol
from labelsieve.tables.types import Matrix, TargetsLike, is_sparse
from replications.replication import DATA, SWAPPED, DataHome, sources

WORDS = {"exact_match": "exact match", "hamming_score": "Hamming score", "macro_f1": "macro-F1", "micro_f1": "micro-F1"}
MEASURES = tuple(WORDS)
OWN = "own features"  # the method of classifiers that select features for every label
# In the order of the tables; the first eight are the smallest.
SETS = (
    *("emotions", "scene", "yeast", "birds", "genbase", "medical", "enron", "languagelog"),
    *("rcv1s1", "bibtex", "corel16k1", "corel5k", "delicious"),
)
FIGURE_SETS = ("scene", "yeast", "medical", "rcv1s1")
N_LABELS = {"scene": 6, "yeast": 14, "medical": 45, "rcv1s1": 101}
N_FEATURES = {"scene": 294, "yeast": 103, "medical": 1449, "rcv1s1": 944}
Variant = Literal["paper", "authors-program"]
#: Readings of the experiments, as the paper describes them and as the authors' program runs them.
WRITTEN, PROGRAMMED = "as written", "as programmed"
VARIANTS: dict[str, Variant] = {WRITTEN: "paper", PROGRAMMED: "authors-program"}
PROGRAM = "-program"  # end of the names of parts that are run as programmed
TIES: dict[Variant, Literal["absent", "present"]] = {"paper": "absent", "authors-program": "present"}


def protocol(
    names: Sequence[str],
    data_home: DataHome,
    methods: Sequence[Any],
    classifiers: Sequence[tuple[str, Any]],
    *,
    n_features: Sequence[float] = (1,),
) -> Protocol:
    """Return a protocol with the paper's five folds and four measures, without baselines."""
    return Protocol(
        sources(names, data_home, **DATA),
        methods,
        n_features=n_features,
        classifiers=classifiers,
        measures=MEASURES,
        splits=folds(names, data_home),
        baselines=[],
        convention="scikit-learn",  # labels that no test row has count 0 in macro-F1
        scale=None,
    )


class FoldsByData:
    """Five folds of every data set: those of a file if it exists, shuffled ones otherwise.

    Data sets are identified by their numbers of rows, which differ.
    """

    def __init__(self, folders: dict[int, Path]) -> None:
        self.folders = folders
        self.random_state = 0

    def split(self, X: Matrix, y: TargetsLike | None = None, groups: ArrayLike | None = None) -> Iterator[Any]:
        """Yield training and test rows of five folds."""
        file = self.folders.get(X.shape[0])
        shuffled = KFold(5, shuffle=True, random_state=self.random_state)
        yield from (shuffled if file is None else PredefinedSplit(first_partition(file))).split(X)

    def __repr__(self) -> str:
        return f"5-fold (published for {len(self.folders)} data sets)"


def first_partition(file: Path) -> NDArray[np.int64]:
    """Return the fold in which each row is tested, from 1, in the first of the partitions of a Matlab file.

    The files come with the MLC toolbox for Matlab: a variable ``indices`` with a row per row of the data and a column for each
    of ten partitions into five folds.
    """
    data = file.read_bytes()
    check_elements(data)  # scipy's reader can crash on a damaged file
    indices = loadmat(io.BytesIO(data))["indices"]
    return np.asarray(indices, dtype=np.int64)[:, 0]


def in_readings(part: str, make: Callable[[Variant], Protocol], *, full: bool) -> dict[str, Protocol]:
    """Return a part of a study as written and, with ``full``, also as programmed."""
    written = {part: make("paper")}
    return written | {part + PROGRAM: make("authors-program")} if full else written


def readings(part: str, results: Iterable[str]) -> dict[str, str]:
    """Return the name of a part of a study in each reading, for those that have results.

    >>> readings("grid", ["grid", "grid-program"])
    {'as written': 'grid', 'as programmed': 'grid-program'}
    """
    parts = {WRITTEN: part, PROGRAMMED: part + PROGRAM}
    return {reading: name for reading, name in parts.items() if name in results}


def folds(names: Sequence[str], data_home: DataHome) -> FoldsByData:
    """Find the folds of data sets; warn about those with shuffled folds."""
    home = data_folder(data_home)
    files, absent = {}, []
    for name in names:
        plain = "languagelog" if name == SWAPPED else name
        file = None if home is None else home / "folds" / f"{plain}.mat"
        if file is not None and file.is_file():
            files[catalog()[plain].rows] = file
        else:
            absent.append(name)
    if absent and home is not None:
        where = home / "folds"
        warnings.warn(f"no published folds in {where} for {', '.join(absent)}: five shuffled ones are used.", stacklevel=2)
    return FoldsByData(files)


def svm() -> LinearSVC:
    """Return the base classifier of all methods."""
    return LinearSVC(dual=False, tol=0.01)


class ByShare(ClassifierMixin, BaseEstimator):
    """Fit once for ``share`` of the features, then predict for any smaller share that is set afterwards.

    The classifiers of a share are fitted at its first prediction.
    """

    share: float

    def fit(self, X: Matrix, y: Matrix) -> Self:
        """Fit the parts that all shares have in common."""
        self.seen_ = X, y
        self.largest_ = self.share
        self._learn(X, y)
        return self

    def predict(self, X: Matrix) -> Any:
        """Predict with the current share."""
        if self.share > self.largest_:
            raise InputError(f"share={self.share} is more than the {self.largest_} of fit; fit again.")
        return self._model(max(1, round(self.share * X.shape[1]))).predict(X)

    def _learn(self, X: Matrix, y: Matrix) -> None:
        raise NotImplementedError

    def _model(self, n: int) -> Any:
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class SharedChain(ByShare):
    """oCC whose order, parents and rankings serve all shares: a selection of fewer features is the start of a larger one."""

    chain: OptimizedClassifierChain | None = None
    base: BaseEstimator | None = None
    _: KW_ONLY
    share: float = 0.9
    random_state: RandomState = None

    def _learn(self, X: Matrix, y: Matrix) -> None:
        chain = OptimizedClassifierChain() if self.chain is None else clone(self.chain)
        n_features = max(1, round(self.share * X.shape[1]))
        # Only the network and the rankings are kept, so the cheapest classifiers serve.
        chain.set_params(base=DummyClassifier(), n_features_to_select=n_features, random_state=self.random_state)
        chain.fit(X, y)
        self.network_, self.rankings_ = chain.network_, chain.selector_.selected_

    def _model(self, n: int) -> Any:
        X, y = self.seen_
        X = X.tocsc() if is_sparse(X) else X
        return _Links(
            fit_chain(self.base, X, sp.csc_matrix(y), self.network_, columns=lambda label: np.sort(self.rankings_[label, :n]))
        )


@dataclass
class _Links:
    chain: Chain

    def predict(self, X: Matrix) -> Any:
        return self.chain.by_label(greedy(self.chain, X.tocsc() if is_sparse(X) else X))


def occ(*, k: float = 0.8, order: str = "sun-kudo", variant: Variant = "paper") -> SharedChain:
    """Return oCC with the parameters of :class:`~labelsieve.chains.OptimizedClassifierChain`."""
    return SharedChain(OptimizedClassifierChain(k=k, order=order, variant=variant), svm())


@dataclass(eq=False, repr=False)
class SharedDirections(ByShare):
    """BR on projected features: MDDM with its directions in descending order, computed once.

    ``directions="useful"`` is :class:`~labelsieve.selectors.MDDM`, which has at most as many as there are labels. ``"filled"``
    has mu = 0 and adds arbitrary directions orthogonal to those, like a program that requests more eigenvectors than the
    rank of the matrix.
    """

    base: BaseEstimator | None = None
    _: KW_ONLY
    directions: Literal["useful", "filled"] = "useful"
    share: float = 0.9

    def _learn(self, X: Matrix, y: Matrix) -> None:
        mddm = MDDM(mu=0.5 if self.directions == "useful" else 0.0).fit(X, y)
        columns = mddm.components_.T
        if self.directions == "filled":
            columns = np.hstack([columns, qr(columns)[0][:, columns.shape[1] :]])
        self.directions_ = columns

    def _model(self, n: int) -> Any:
        return _Projected(self.directions_[:, :n], ClassifierChain(self.base, network="br")).fit(*self.seen_)


@dataclass
class _Projected:
    directions: NDArray[np.float64]
    model: ClassifierChain

    def fit(self, X: Matrix, y: Matrix) -> Self:
        self.model.fit(np.asarray(X @ self.directions), y)
        return self

    def predict(self, X: Matrix) -> Any:
        return self.model.predict(np.asarray(X @ self.directions))


class GivenOrder(BaseEstimator):
    """No selection: all columns in their order, for classifiers that select features by themselves.

    >>> GivenOrder().fit(np.zeros((2, 3))).selected_.tolist()
    [0, 1, 2]
    """

    def fit(self, X: Matrix, y: Matrix | None = None) -> Self:
        """Count the columns."""
        self.selected_ = np.arange(X.shape[1])
        return self


@dataclass(eq=False, repr=False)
class OfLearner(BaseEstimator):
    """A classifier that fits another one in its own way."""

    learner: BaseEstimator

    def fit(self, X: Matrix, y: Matrix) -> Self:
        """Fit the classifier."""
        self.learner_ = clone(self.learner).fit(X, y)
        return self

    def predict(self, X: Matrix) -> Any:
        """Predict with the fitted classifier."""
        return self.learner_.predict(X)


class BySize(OfLearner):
    """A classifier with shares, or an ensemble of them, that a study evaluates for several numbers of features."""

    def predictions_by_size(self, X: Matrix, Y: Matrix, queries: Matrix, sizes: list[int]) -> Iterator[tuple[int, Any]]:
        """Yield predicted labels of ``queries`` for each size, from one fit."""
        learner = with_share(clone(self.learner), max(sizes) / X.shape[1]).fit(X, Y)
        for size in sizes:
            # Validating the parameters of thousands of small classifiers takes as long as fitting them.
            with config_context(skip_parameter_validation=True, assume_finite=True):
                predicted = with_share(learner, size / X.shape[1]).predict(queries)
            yield size, predicted


@dataclass(eq=False, repr=False)
class TunedShare(ClassifierMixin, OfLearner):
    """A classifier with the share that is best on rows held out of the training rows; test rows are not used."""

    shares: tuple[float, ...]
    _: KW_ONLY
    measure: str = "exact_match"
    held_out: float = 0.25
    random_state: int = 0

    def fit(self, X: Matrix, y: Matrix) -> Self:
        """Tune the share, then fit on all rows."""
        rule = ShuffleSplit(1, test_size=self.held_out, random_state=self.random_state)
        train, held = next(rule.split(np.empty((X.shape[0], 0))))
        learner = with_share(clone(self.learner), max(self.shares)).fit(X[train], y[train])
        measure = KNOWN_MEASURES[self.measure]
        scores = [measure.function(y[held], with_share(learner, share).predict(X[held])) for share in self.shares]
        best = np.argmin(scores) if measure.lower_is_better else np.argmax(scores)
        self.share_ = self.shares[int(best)]
        self.learner_ = with_share(clone(self.learner), self.share_).fit(X, y)
        return self


@dataclass(eq=False, repr=False)
class SomeRows(ClassifierMixin, OfLearner):
    """A classifier fitted on a random share of the training rows."""

    share_of_rows: float
    _: KW_ONLY
    random_state: int = 0

    def fit(self, X: Matrix, y: Matrix) -> Self:
        """Fit on those rows."""
        n_rows = max(1, round(self.share_of_rows * X.shape[0]))
        rows = np.sort(np.random.default_rng(self.random_state).permutation(X.shape[0])[:n_rows])
        return super().fit(X[rows], y[rows])


def with_share(learner: BaseEstimator, share: float) -> Any:
    """Set the share of a classifier, of the chains of a fitted ensemble, or of the one that an ensemble will clone.

    >>> with_share(SharedChain(), 0.3).share
    0.3
    """
    for chain in getattr(learner, "chains_", None) or [learner]:
        chain.set_params(**{name: share for name in chain.get_params() if name.split("__")[-1] == "share"})
    return learner
