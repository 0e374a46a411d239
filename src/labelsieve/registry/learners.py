"""Learners by name, each with a base estimator that serves dense and sparse data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from labelsieve.names import unknown_name
from labelsieve.registry.classes import load_class


@dataclass(frozen=True)
class Learner:
    """The class of a learner, its default base estimator (None: that of the class, or none), and its settings."""

    path: str
    base: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> Any:
        """The class."""
        return load_class(f"labelsieve.{self.path}")


def _scaled(path: str, **defaults: Any) -> Callable[..., Any]:
    """Linear models on features of unit variance: they converge sooner. Not centered, so that sparse data stay sparse."""

    def make(**settings: Any) -> Any:
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(with_mean=False), load_class(path)(**{**defaults, **settings}))

    return make


# Base estimators by name.
BASES: dict[str, Callable[..., Any]] = {
    "logistic": _scaled("sklearn.linear_model.LogisticRegression", max_iter=1000),
    "svm": _scaled("sklearn.svm.LinearSVC"),
    "tree": lambda **settings: load_class("sklearn.tree.DecisionTreeClassifier")(**settings),
    "bayes": lambda **settings: load_class("sklearn.naive_bayes.GaussianNB")(**settings),
}

# Label powersets have trees, which take any number of classes at once; chains have linear support vector machines, as in Sun
# and Kudo (2017); the others a classifier with probabilities.
CLASSIFIERS: dict[str, Learner] = {
    "br": Learner("classifiers.BinaryRelevance", "logistic"),
    "brknn": Learner("classifiers.BRkNN"),
    "cc": Learner("chains.ClassifierChain", "svm"),
    "copies": Learner("classifiers.LabelCopies", "tree"),
    "ebcc": Learner("chains.ChainEnsemble", "svm", {"chain": "bcc"}),
    "ecc": Learner("chains.ChainEnsemble", "svm", {"chain": "cc"}),
    "eocc": Learner("chains.ChainEnsemble", "svm", {"chain": "occ"}),
    "homer": Learner("classifiers.HOMER", "logistic"),
    "iblr": Learner("classifiers.IBLR"),
    "knn": Learner("classifiers.KNNRegressor"),
    "lift": Learner("classifiers.LIFT"),
    "lp": Learner("classifiers.LabelPowerset", "tree"),
    "mlknn": Learner("classifiers.MLkNN"),
    "occ": Learner("chains.OptimizedClassifierChain", "svm"),
    "ppt": Learner("classifiers.PrunedPowerset", "tree"),
    "rakel": Learner("classifiers.RAkEL", "tree"),
}


def make_base(given: Any) -> Any:
    """A base from its name, or from a table with its name and parameters.

    >>> make_base("tree")
    DecisionTreeClassifier()
    >>> make_base({"name": "svm", "C": 10.0})[-1]
    LinearSVC(C=10.0)
    """
    settings = {"name": given} if isinstance(given, str) else dict(given) if isinstance(given, Mapping) else {}
    name = settings.pop("name", None)
    if name not in BASES:
        raise unknown_name("base estimator", given, BASES)
    return BASES[name](**settings)


def make_classifier(kind: str, **settings: Any) -> Any:
    """A classifier from its name and parameters; ``base`` is a name or a table, see :func:`make_base`.

    >>> make_classifier("mlknn", k=7)
    MLkNN(k=7)
    >>> make_classifier("rakel", k=2, base="bayes")
    RAkEL(base=GaussianNB(), k=2)
    """
    if kind not in CLASSIFIERS:
        raise unknown_name("classifier", kind, CLASSIFIERS)
    learner = CLASSIFIERS[kind]
    values = {**learner.settings, **settings}
    base = values.pop("base", learner.base)
    return learner.kind(**values) if base is None else learner.kind(base=make_base(base), **values)
