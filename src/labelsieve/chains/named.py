"""Classifiers by name, each with a base that serves dense and sparse data: for studies and files of settings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from labelsieve.chains.chain import ClassifierChain
from labelsieve.chains.ensemble import ChainEnsemble
from labelsieve.chains.optimized import OptimizedClassifierChain
from labelsieve.classifiers import (
    HOMER,
    IBLR,
    LIFT,
    BinaryRelevance,
    BRkNN,
    KNNRegressor,
    LabelCopies,
    LabelPowerset,
    MLkNN,
    PrunedPowerset,
    RAkEL,
)
from labelsieve.errors import InputError


def _scaled(kind: type, **ours: Any) -> Callable[..., Any]:
    """Linear models on features of unit variance, not centred, so that sparse data stay sparse: they converge soon."""
    return lambda **settings: make_pipeline(StandardScaler(with_mean=False), kind(**{**ours, **settings}))


# What a classifier of labels may be made of.
BASES: dict[str, Callable[..., Any]] = {
    "logistic": _scaled(LogisticRegression, max_iter=1000),
    "svm": _scaled(LinearSVC),
    "tree": DecisionTreeClassifier,
    "bayes": GaussianNB,
}


@dataclass(frozen=True)
class Known:
    """A class, the name of its base unless told (None: none, or one of its own), and settings that make it what it is."""

    kind: type
    base: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


# Powersets have trees, which take any number of classes at once; chains have linear support vector machines, as in Sun and Kudo
# (2017); the others a classifier with probabilities.
CLASSIFIERS: dict[str, Known] = {
    "br": Known(BinaryRelevance, "logistic"),
    "brknn": Known(BRkNN),
    "cc": Known(ClassifierChain, "svm"),
    "copies": Known(LabelCopies, "tree"),
    "ebcc": Known(ChainEnsemble, "svm", {"chain": "bcc"}),
    "ecc": Known(ChainEnsemble, "svm", {"chain": "cc"}),
    "eocc": Known(ChainEnsemble, "svm", {"chain": "occ"}),
    "homer": Known(HOMER, "logistic"),
    "iblr": Known(IBLR),
    "knn": Known(KNNRegressor),
    "lift": Known(LIFT),
    "lp": Known(LabelPowerset, "tree"),
    "mlknn": Known(MLkNN),
    "occ": Known(OptimizedClassifierChain, "svm"),
    "ppt": Known(PrunedPowerset, "tree"),
    "rakel": Known(RAkEL, "tree"),
}


def base_named(given: Any) -> Any:
    """A base from its name, or from a table with its name and parameters.

    >>> base_named("tree")
    DecisionTreeClassifier()
    >>> base_named({"name": "svm", "C": 10.0})[-1]
    LinearSVC(C=10.0)
    """
    settings = {"name": given} if isinstance(given, str) else dict(given) if isinstance(given, Mapping) else {}
    name = settings.pop("name", None)
    if name not in BASES:
        raise InputError(f"base {given!r} is not known; there are {', '.join(BASES)}.")
    return BASES[name](**settings)


def classifier_named(kind: str, **settings: Any) -> Any:
    """A classifier from its name and parameters; ``base`` is a name or a table, see :func:`base_named`.

    >>> classifier_named("mlknn", k=7)
    MLkNN(k=7)
    >>> classifier_named("rakel", k=2, base="bayes")
    RAkEL(base=GaussianNB(), k=2)
    """
    if kind not in CLASSIFIERS:
        raise InputError(f"classifier {kind!r} is not known; there are {', '.join(CLASSIFIERS)}.")
    known = CLASSIFIERS[kind]
    values = {**known.settings, **settings}
    base = values.pop("base", known.base)
    return known.kind(**values) if base is None else known.kind(base=base_named(base), **values)
