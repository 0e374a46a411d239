"""Learners by name, each with a base estimator that serves dense and sparse data; and any estimator by its import path."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from labelsieve.errors import InputError, unknown_name
from labelsieve.registry.methods import canonical, load_class, no_such_name


@dataclass(frozen=True)
class Learner:
    """A classifier or regressor: an entry of ``CLASSIFIERS``.

    Attributes
    ----------
    path, regressor : str or None
        The class for labels, and that for numeric targets; None where there is none.
    base : str or None
        The default base classifier; None: that of the class, or none.
    settings : mapping
        Parameters of the class.
    """

    path: str | None
    base: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    regressor: str | None = None

    def kind(self, numeric: bool = False) -> Any:
        """The class for labels, or for numeric targets; None where there is none."""
        path = self.regressor if numeric else self.path
        return None if path is None else load_class(path if path.startswith("sklearn.") else f"labelsieve.{path}")


def _scaled(path: str, **defaults: object) -> Callable[..., Any]:
    """Linear models on features of unit variance: they converge sooner. Not centered, so that sparse data stay sparse."""

    def make(**settings: object) -> Any:
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(with_mean=False), load_class(path)(**{**defaults, **settings}))

    return make


#: Base classifiers by name.
BASES: dict[str, Callable[..., Any]] = {
    "logistic": _scaled("sklearn.linear_model.LogisticRegression", max_iter=1000),
    "svm": _scaled("sklearn.svm.LinearSVC"),
    "tree": lambda **settings: load_class("sklearn.tree.DecisionTreeClassifier")(**settings),
    "bayes": lambda **settings: load_class("sklearn.naive_bayes.GaussianNB")(**settings),
    "j48": lambda **settings: load_class("labelsieve.classifiers.J48")(**settings),
}

# Label powersets have trees, which take any number of classes at once; chains have linear support vector machines, as in Sun
# and Kudo (2017); the others a classifier with probabilities.
#: Classifiers and regressors for studies and the command line, by name.
CLASSIFIERS: dict[str, Learner] = {
    "br": Learner("classifiers.BinaryRelevance", "logistic"),
    "brknn": Learner("classifiers.BRkNN"),
    "cc": Learner("chains.ClassifierChain", "svm"),
    "clr": Learner("classifiers.CLR", "logistic"),
    "ebcc": Learner("chains.ChainEnsemble", "svm", {"chain": "bcc"}),
    "ecc": Learner("chains.ChainEnsemble", "svm", {"chain": "cc"}),
    "eocc": Learner("chains.ChainEnsemble", "svm", {"chain": "occ"}),
    "forest": Learner("sklearn.ensemble.RandomForestClassifier", regressor="sklearn.ensemble.RandomForestRegressor"),
    "homer": Learner("classifiers.HOMER", "logistic"),
    "iblr": Learner("classifiers.IBLR"),
    "j48": Learner("classifiers.BinaryRelevance", "j48"),
    "knn": Learner("classifiers.MLkNN", regressor="classifiers.KNNRegressor"),
    "lift": Learner("classifiers.LIFT"),
    "logistic": Learner("classifiers.BinaryRelevance", "logistic"),
    "lp": Learner("classifiers.LabelPowerset", "tree"),
    "metalabeler": Learner("classifiers.MetaLabeler", "logistic"),
    "mlknn": Learner("classifiers.MLkNN"),
    "occ": Learner("chains.OptimizedClassifierChain", "svm"),
    "ppt": Learner("classifiers.PrunedPowerset", "tree"),
    "rakel": Learner("classifiers.RAkEL", "tree"),
    "ridge": Learner(None, regressor="sklearn.linear_model.Ridge"),
    "sparse-svm": Learner("classifiers.SparseOneVsRest"),
    "svm": Learner("classifiers.BinaryRelevance", "svm"),
    "trees": Learner("sklearn.ensemble.ExtraTreesClassifier", regressor="sklearn.ensemble.ExtraTreesRegressor"),
}


def make_base(given: object) -> Any:
    """Make a base classifier from its name, or from a dictionary with its name and parameters.

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


def make_classifier(kind: str, *, numeric: bool = False, **settings: object) -> Any:
    """Make a classifier or regressor from its name, or from the import path of a scikit-learn estimator, and its parameters.

    Parameters
    ----------
    kind : str
        A name of :data:`CLASSIFIERS`, an alias, or a path such as ``"sklearn.svm.LinearSVC"``.
    numeric : bool, default=False
        Whether the targets are numbers. ``"knn"``, ``"trees"`` and ``"forest"`` are then regressors.
    **settings
        Parameters; ``base`` is a name or a table, see :func:`make_base`.

    Examples
    --------
    >>> make_classifier("mlknn", k=7), make_classifier("knn", numeric=True)
    (MLkNN(k=7), KNNRegressor())
    >>> make_classifier("rakel", k=2, base="bayes")
    RAkEL(base=GaussianNB(), k=2)
    >>> make_classifier("sklearn.svm.LinearSVC", C=10.0)
    BinaryRelevance(base=LinearSVC(C=10.0))
    """
    if not isinstance(kind, str):
        raise unknown_name("classifier", kind, CLASSIFIERS)
    if "." in kind:
        return for_label_sets(_estimator_class(kind)(**settings), numeric=numeric)
    name = canonical("classifier", kind, CLASSIFIERS)
    if name not in CLASSIFIERS:
        more = ", the import path of a scikit-learn estimator, or a pair (name, estimator)"
        raise no_such_name("classifier", kind, CLASSIFIERS, more=more)
    learner = CLASSIFIERS[name]
    made = learner.kind(numeric)
    if made is None:
        of = [other for other, entry in CLASSIFIERS.items() if entry.kind(numeric) is not None]
        targets, other = ("numeric targets", "labels") if numeric else ("labels", "numeric targets")
        raise InputError(f"{kind!r} is for {other}, not for {targets}; for these there are {', '.join(of)}.")
    values = {**learner.settings, **settings}
    base = values.pop("base", learner.base)
    return made(**values) if base is None else made(base=make_base(base), **values)


def _estimator_class(path: str) -> Any:
    """Import the class at a path, which must be one of estimators: no other object is created from a name."""
    try:
        kind = load_class(path)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"{path!r} cannot be imported ({error}).") from None
    if not (isinstance(kind, type) and issubclass(kind, BaseEstimator) and hasattr(kind, "fit") and hasattr(kind, "predict")):
        raise InputError(f"{path!r} is not a scikit-learn estimator with fit and predict.")
    return kind


def for_label_sets(estimator: BaseEstimator, *, numeric: bool = False) -> Any:
    """Return the estimator, or binary relevance over it if it is a classifier of scikit-learn for a single label.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> for_label_sets(LogisticRegression()), for_label_sets(DecisionTreeClassifier())
    (BinaryRelevance(base=LogisticRegression()), DecisionTreeClassifier())
    """
    inner = estimator
    while not isinstance(inner, type) and (deeper := _inside(inner)) is not None:
        inner = deeper
    # The tags of classes outside of scikit-learn are often those of their base class, and say nothing.
    if numeric or not type(inner).__module__.startswith("sklearn."):
        return estimator
    tags = get_tags(estimator)
    if tags.classifier_tags is None or tags.classifier_tags.multi_label or tags.target_tags.multi_output:
        return estimator
    return load_class("labelsieve.classifiers.BinaryRelevance")(base=estimator)


def _inside(estimator: BaseEstimator) -> Any:
    """Return the last step of a pipeline, or the estimator inside a search or meta-estimator; None for others."""
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else getattr(estimator, "estimator", None)
