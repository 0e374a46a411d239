"""Other names of what the registry lists: those of scikit-learn, and words that people type."""

from collections.abc import Container, Iterable

from labelsieve.errors import InputError
from labelsieve.names import unknown_name

# By kind of name: alias and the registered name. Case, and "_" or a blank in place of "-", never matter.
ALIASES: dict[str, dict[str, str]] = {
    "criterion": {
        "mutual-info": "mim",
        "mutual-info-classif": "mim",
        "mutual-info-regression": "mim",
        "mutual-information": "mim",
        "information-gain": "mim",
        "infogain": "mim",
        "chi2": "chi-square",
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

# Names of methods that are not in the library, and what to use instead.
_F_TEST = "for one target see sklearn.feature_selection.f_classif; here 'mim' and 'chi-square' rank features one by one"
_WRAPPER = "see sklearn.feature_selection; here n_features_to_select='cv' stops a search by its predictions"
_SPARSE = "see SelectFromModel of scikit-learn; here 'llsf' selects by a sparse regression"
ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(("anova", "f-classif", "f-regression", "fscore", "f-score", "f-test"), _F_TEST),
    **dict.fromkeys(("rfe", "rfecv"), _WRAPPER),
    **dict.fromkeys(("lasso", "l1"), _SPARSE),
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
    """The error for a name that is neither registered nor an alias: where the method is, or the closest name."""
    plain = str(name).strip().lower().replace("_", "-").replace(" ", "-")
    if kind == "criterion" and plain in ELSEWHERE:
        return InputError(f"{name!r} is not a criterion or method of this library: {ELSEWHERE[plain]}.")
    aliases = ALIASES.get("stopping rule" if kind == "number of features" else kind)
    return unknown_name(kind, name, known, more=more, aliases=aliases)
