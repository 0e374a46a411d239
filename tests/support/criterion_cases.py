"""Small random tables with everything that goes wrong in real ones, and what it means to follow a reference on them."""

import numpy as np

from labelsieve import Sieve
from labelsieve.criteria import CMIM, FIMF, JMI, MIFS, MLFS, PMU, BetaGamma
from labelsieve.registry import CRITERIA
from tests.support.random_tables import make_table
from tests.support.reference_criteria import REFERENCES

FEATURES = (
    "constant",
    "constant, not 0",
    "always",
    "once",
    "fair",
    "rare",
    "3 levels",
    "5 levels",
    "16 levels",
    "all distinct",
    "gaps",
    "skewed",
    "duplicate",
    "noisy copy",
    "merged",
)
ABSENT, ALWAYS_ON = "constant", "always"
LABELS = (ABSENT, ALWAYS_ON, "once", "fair", "rare", "duplicate", "noisy copy")
CLASSES = (*LABELS, "3 levels", "gaps", "5 levels", "constant, not 0")

# A factory of the criterion, the name of its reference, the options of the reference. Only MLFS also has parents.
VARIANTS = {
    **{name: (lambda name=name: CRITERIA[name](), name, {}) for name in CRITERIA},
    "jmi, normalized": (lambda: JMI(normalized=True), "jmi", {"normalized": True}),
    "cmim, relevance in the minimum": (lambda: CMIM(with_relevance=True), "cmim", {"with_relevance": True}),
    "pmu, ordered pairs": (lambda: PMU(pairs="ordered"), "pmu", {"pairs": "ordered"}),
    "pmu, ordered and equal pairs": (lambda: PMU(pairs="ordered-and-equal"), "pmu", {"pairs": "ordered-and-equal"}),
    "fimf, two labels": (lambda: FIMF(n_top=2), "fimf", {"n_top": 2}),
    "fimf, three labels": (lambda: FIMF(3), "fimf", {"n_top": 3}),
    "mifs, half": (lambda: MIFS(0.5), "mifs", {"beta": 0.5}),
    "betagamma, .3 and .2": (lambda: BetaGamma(0.3, 0.2), "betagamma", {"beta": 0.3, "gamma": 0.2}),
    "mlfs, parents": (MLFS, "mlfs", {"parents": True}),
    "mlfs, parents, beta": (lambda: MLFS(beta=0.3), "mlfs", {"parents": True, "beta": 0.3}),
    "mlfs, parents, beta and gamma": (
        lambda: MLFS(beta=0.7, gamma=0.2),
        "mlfs",
        {"parents": True, "beta": 0.7, "gamma": 0.2},
    ),
    "mlfs, parents, first by relevance": (
        lambda: MLFS(first_step="relevance"),
        "mlfs",
        {"parents": True, "first_step": "relevance"},
    ),
    "mlfs, gamma": (lambda: MLFS(gamma=1.5), "mlfs", {"gamma": 1.5}),
}
WITHOUT_PAIRS = [name for name, (make, _, _) in VARIANTS.items() if make().plan.target_needs == ("sums over targets",)]


def make_case(seed, *, n_targets=None):
    """``X, Y`` of codes. Some targets follow features; the number of targets goes round with the seed."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.choice([1, 2, 3, 12, 25, 40, 60], p=[0.04, 0.03, 0.03, 0.2, 0.25, 0.25, 0.2]))
    n_targets = (1, 2, 4)[seed % 3] if n_targets is None else n_targets
    X = make_table(seed, n_rows, rng.choice(FEATURES, size=rng.integers(4, 8)))
    Y = make_table(seed + 10_000, n_rows, rng.choice(CLASSES if seed % 2 else LABELS, size=n_targets))
    for target in np.flatnonzero(rng.random(n_targets) < 0.6):
        a, b = rng.integers(X.shape[1], size=2)
        follows = (X[:, a] // 2 + X[:, b]) % (3 if seed % 2 else 2)
        Y[:, target] = np.where(rng.random(n_rows) < 0.2, Y[:, target], follows)
    return X, Y


def make_parents(seed, n_targets):
    """Some parents for some of the targets, among all others."""
    rng = np.random.default_rng(seed)
    return [[p for p in range(n_targets) if p != target and rng.random() < 0.5] for target in range(n_targets)]


def columns(table):
    return [tuple(column) for column in np.asarray(table).T.tolist()]


FORMULA = {"constant_features": "score"}  # nothing but the formula decides


def fit_variant(name, X, Y, *, parents=None, sample_weight=None, **parameters):
    """A sieve that ranks everything by a variant of the registry."""
    make, _, options = VARIANTS[name]
    parents = parents if "parents" in options else None
    parameters = {
        "discretizer": None,
        "n_features_to_select": None,
        "target_type": "class",
        "parents": parents,
        **FORMULA,
        **parameters,
    }
    return Sieve(make(), **parameters).fit(X, Y, sample_weight=sample_weight)


def reference_of(name, targets, *, parents=None):
    """The score of a candidate given the selected, by the reference of a variant."""
    _, reference, options = VARIANTS[name]
    options = dict(options)
    if "parents" in options:
        options["parents"] = [[targets[p] for p in some] for some in parents]
    return lambda candidate, selected: REFERENCES[reference](candidate, selected, targets, **options)


def assert_follows(score, X, selected, scores, *, within=1e-9):
    """Every selected feature is a best one by ``score``, within rounding, and has that score.

    Where no two candidates tie within rounding this says that the lists are equal.
    """
    features = columns(X)
    picked = []
    for feature, ours in zip(map(int, selected), scores, strict=True):
        naive = {k: score(column, [features[j] for j in picked]) for k, column in enumerate(features) if k not in picked}
        step = f"step {len(picked)}, after {picked}: chose {feature} with {ours}; the reference says {naive}"
        assert abs(naive[feature] - ours) <= within, step
        assert naive[feature] >= max(naive.values()) - within, step
        picked.append(feature)
