"""Other names of what the registry lists: those of scikit-learn, and words that people type."""

from collections.abc import Container, Iterable

from labelsieve.errors import InputError, unknown_name

#: Aliases and the names that they stand for, by kind of name. Case, and "_" or a blank in place of "-", never matter.
ALIASES: dict[str, dict[str, str]] = {
    "criterion": {
        "mutual-info": "mim",
        "mutual-info-classif": "mim",
        "mutual-info-regression": "mim",
        "mutual-information": "mim",
        "information-gain": "mim",
        "infogain": "mim",
        "chi2": "chi-square",
        "anova": "mean-f",
        "f-classif": "mean-f",
        "f-regression": "mean-f",
        "f-score": "mean-f",
        "fscore": "mean-f",
        "lasso": "l1",
        "forward-least-squares": "omp",
        "orthogonal-matching-pursuit": "omp",
        "l1-logistic": "l1",
        "extratrees": "extra-trees",
        "recursive-feature-elimination": "rfe",
        "informed": "manifold-mifs",
        "mfsmcdm": "mfs-mcdm",
        "mifs-manifold": "manifold-mifs",
        "relief": "relieff",
        "rrelief": "rrelieff",
    },
    "label space": {
        "powerset": "joint",
        "label-powerset": "joint",
        "lp": "joint",
        "binary-relevance": "single",
        "br": "single",
        "ppt": "pruned",
        "pruned-powerset": "pruned",
        "ela": "copy-weight",
    },
    "discretizer": {
        "quantile": "equal-frequency",
        "uniform": "equal-width",
        "kmeans": "k-means",
        "fayyad-irani": "mdl",
        "mdlp": "mdl",
    },
    "stopping rule": {
        "cv": "cross-validation",
        "cross-validated": "cross-validation",
        "permutation-test": "permutation",
        "gtest": "g-test",
        "elbow": "knee",
    },
    "classifier": {
        "binary-relevance": "br",
        "br-knn": "brknn",
        "classifier-chain": "cc",
        "et": "trees",
        "extra-trees": "trees",
        "label-powerset": "lp",
        "logistic-regression": "logistic",
        "logreg": "logistic",
        "lr": "logistic",
        "ml-knn": "mlknn",
        "powerset": "lp",
        "random-forest": "forest",
        "rf": "forest",
    },
}


def canonical(kind: str, name: str, known: Container[str]) -> str:
    """The registered name that is meant; one that is not known is returned as it was typed.

    >>> canonical("discretizer", "Quantile", ["equal-frequency"]), canonical("discretizer", "equal_width", ["equal-width"])
    ('equal-frequency', 'equal-width')
    """
    typed = name.lower()
    if typed in known:
        return typed
    plain = typed.strip().replace("_", "-").replace(" ", "-")
    plain = ALIASES.get(kind, {}).get(plain, plain)
    return plain if plain in known else name


def no_such_name(kind: str, name: object, known: Iterable[str], *, more: str = "") -> InputError:
    """The error for a name that is neither registered nor an alias, with the closest name."""
    aliases = ALIASES.get("stopping rule" if kind == "number of features" else kind)
    return unknown_name(kind, name, known, more=more, aliases=aliases)
