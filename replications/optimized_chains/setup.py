"""The common parts of the replications of Sun and Kudo (2017): data sets, folds, the classifier, oCC."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from numpy.typing import ArrayLike
from sklearn.model_selection import KFold
from sklearn.svm import LinearSVC

from labelsieve.chains import OptimizedClassifierChain
from labelsieve.datasets.fetch import catalog, data_folder
from labelsieve.datasets.splits import PublishedFolds
from labelsieve.studies.protocol import Protocol
from labelsieve.tables.types import Matrix, TargetsLike
from replications.optimized_chains.shared_learning import SharedChain
from replications.replication import DataHome, sources

WORDS = {"exact_match": "exact match", "hamming_score": "Hamming score", "macro_f1": "macro-F1", "micro_f1": "micro-F1"}
MEASURES = tuple(WORDS)
SWAPPED = "languagelog-swapped"
# In the order of the tables; the first eight are the smallest.
SETS = (
    *("emotions", "scene", "yeast", "birds", "genbase", "medical", "enron", "languagelog"),
    *("rcv1s1", "bibtex", "corel16k1", "corel5k", "delicious"),
)
FIGURE_SETS = ("scene", "yeast", "medical", "rcv1s1")
N_LABELS = {"scene": 6, "yeast": 14, "medical": 45, "rcv1s1": 101}
N_FEATURES = {"scene": 294, "yeast": 103, "medical": 1449, "rcv1s1": 944}
# The last 75 of the 1,004 words, in the columns where other files have their labels.
LAST_WORDS = [f"tok{number}" for number in range(929, 1004)]
SETTINGS: dict[str, dict[str, object]] = {
    "genbase": {"drop": ["protein"]},
    SWAPPED: {"path": "languagelog", "labels": LAST_WORDS},
}


Variant = Literal["paper", "authors-program"]


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
        return (shuffled if file is None else PublishedFolds(file, partition=0)).split(X)

    def __repr__(self) -> str:
        return f"5-fold (published for {len(self.folders)} data sets)"


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
        sources(names, data_home, **SETTINGS),
        methods,
        n_features=n_features,
        classifiers=classifiers,
        measures=MEASURES,
        splits=folds(names, data_home),
        baselines=[],
        convention="scikit-learn",  # labels that no test row has count 0 in macro-F1
        scale=None,
    )


def svm() -> LinearSVC:
    """Return the base classifier of all methods."""
    return LinearSVC(dual=False, tol=0.01)


def occ(*, k: float = 0.8, order: str = "sun-kudo", variant: Variant = "paper") -> SharedChain:
    """Return oCC with the parameters of :class:`~labelsieve.chains.OptimizedClassifierChain`."""
    return SharedChain(OptimizedClassifierChain(k=k, order=order, variant=variant), svm())
