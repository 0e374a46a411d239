"""Reference implementations of the stopping rules, and the settings under which the tests run every rule.

A reference takes an unfitted rule, codes ``X``, labels ``Y`` and a criterion, and returns the number of features to keep.
"""

import numpy as np
from scipy import stats
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state

from labelsieve import Sieve
from labelsieve.discoveries.permutations import permutation_within
from labelsieve.registry import STOPPING_RULES, make_stopping_rule
from tests.support.enrollment import References
from tests.support.reference_information import conditional_mutual_information, mutual_information

REFERENCES = reference = References()  # ``@reference(name)`` enrolls a function

# Settings that are fast on small data; a rule that is not listed runs with its defaults.
SETTINGS = {
    "threshold": [{"threshold": 0.06, "of": "added"}, {"threshold": 0.5, "relative": True, "of": "added"}],
    "g-test": [{}, {"given": "all", "correction": "sidak", "min_rows": 1}],
    "permutation": [{"n_permutations": 19}],
    "fdr": [{"n_permutations": 999}, {"alpha": 0.3, "combine": "fisher", "correction": "by", "n_permutations": 999}],
    "cross-validation": [{"cv": 3, "standard_errors": 0.5, "max_features": 8, "measure": "hamming_loss"}],
}
RULES = [make_stopping_rule(name, **settings) for name in STOPPING_RULES for settings in SETTINGS.get(name, [{}])]


def ranking(X, Y, criterion, **settings):
    return Sieve(criterion, discretizer=None, n_features_to_select=None, **settings).fit(X, Y)


def added_information(X, Y, order):
    """The sum over the labels of the smallest information given one of the features selected before."""
    first = mutual_information(X[:, order[:1]], Y).sum()
    later = [
        np.min([conditional_mutual_information(X[:, [order[k]]], Y, X[:, j])[0] for j in order[:k]], axis=0).sum()
        for k in range(1, len(order))
    ]
    return [first, *later]


@reference("threshold")
def threshold(rule, X, Y, criterion):
    fitted = ranking(X, Y, criterion)
    values = fitted.scores_ if rule.of == "score" else added_information(X, Y, fitted.selected_)
    limit = rule.threshold * (values[0] if rule.relative else 1)
    return next((k for k, value in enumerate(values) if value <= limit), len(values))


@reference("knee")
def knee(rule, X, Y, criterion):
    values = np.array(added_information(X, Y, ranking(X, Y, criterion).selected_))
    x, y = np.linspace(0, 1, len(values)), (values - values[-1]) / (values[0] - values[-1])
    return max(1, int(np.argmax(1 - x - y)))


def g_test_p_value(x, y, strata):
    """The p-value of the likelihood-ratio test within strata, scaled to its mean for these margins, and its degrees."""
    statistic = degrees = mean = 0
    for stratum in set(strata):
        table = np.array([[np.sum((x == a) & (y == b) & (strata == stratum)) for b in set(y)] for a in set(x)])
        table = table[table.any(axis=1)][:, table.any(axis=0)]
        test = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
        statistic, degrees, mean = statistic + test.statistic, degrees + test.dof, mean + g_mean(table)
    return (stats.chi2.sf(statistic * degrees / mean, degrees) if degrees else 1.0), degrees


def g_mean(table):
    """The mean of G over all tables with the margins of this one."""
    n, mean = int(table.sum()), 0.0
    for r in table.sum(axis=1).tolist():
        for c in table.sum(axis=0).tolist():
            counts = np.arange(1, min(r, c) + 1)
            mean += 2 * np.sum(stats.hypergeom(n, r, c).pmf(counts) * counts * np.log(counts * n / (r * c)))
    return mean


@reference("g-test")
def g_test(rule, X, Y, criterion):
    order = ranking(X, Y, criterion).selected_
    for k, feature in enumerate(order):
        conditions = [np.zeros(len(X))] if k == 0 else list(X[:, order[:k]].T)
        if k and rule.given == "all":
            conditions = [np.unique(X[:, order[:k]], axis=0, return_inverse=True)[1].ravel()]
        smallest = np.inf
        for label in Y.T:
            tests = [g_test_p_value(X[:, feature], label, strata) for strata in conditions]
            if all(degrees * rule.min_rows <= len(X) for _, degrees in tests):
                smallest = min(smallest, max(p for p, _ in tests))
        n_tests = Y.shape[1] * (X.shape[1] - k)
        p = n_tests * smallest if rule.correction == "bonferroni" else 1 - (1 - min(1, smallest)) ** n_tests
        if smallest == np.inf or p > rule.alpha:
            return k
    return len(order)


@reference("permutation")
def permutation(rule, X, Y, criterion):
    fitted, random = ranking(X, Y, criterion), check_random_state(rule.random_state)
    for k, observed in enumerate(fitted.scores_):
        selected = fitted.selected_[:k]
        strata = np.unique(X[:, selected], axis=0, return_inverse=True)[1].ravel() if k else np.zeros(len(X), dtype=int)
        if len(set(strata)) == len(X):
            return k
        as_good = 0
        for n_done in range(1, rule.n_permutations + 1):
            permuted = Y[permutation_within(strata, random)]
            as_good += ranking(X, permuted, criterion, forced=selected).scores_[k] >= observed
            if as_good / n_done > rule.alpha and as_good >= max(1, int(rule.alpha * (rule.n_permutations + 1) + 1e-9)):
                return k  # sequential stopping: no later permutation can make the p-value small enough
        if (1 + as_good) / (1 + rule.n_permutations) > rule.alpha:
            return k
    return len(fitted.selected_)


@reference("cross-validation")
def cross_validation(rule, X, Y, criterion):
    from sklearn.preprocessing import StandardScaler

    from labelsieve.classifiers import MLkNN

    folds = []
    for train, test in KFold(rule.cv, shuffle=True, random_state=check_random_state(rule.random_state)).split(X):
        order = ranking(X[train], Y[train], criterion).selected_[: rule.max_features]
        scaler = StandardScaler().fit(X[train])
        known, asked = (scaler.transform(X[rows]) for rows in (train, test))
        predicted = [MLkNN().fit(known[:, order[:k]], Y[train]).predict(asked[:, order[:k]]) for k in range(1, len(order) + 1)]
        folds.append([np.mean(labels != Y[test]) for labels in predicted])
    mean, losses = np.mean(folds, axis=0), np.array(folds)
    best = int(np.argmin(mean))
    error = [np.std(losses[:, k] - losses[:, best], ddof=1) / np.sqrt(len(folds)) for k in range(len(mean))]
    return 1 + next(k for k in range(len(mean)) if mean[k] <= mean[best] + rule.standard_errors * error[k] + 1e-15)


@reference("fdr")
def fdr(rule, X, Y, criterion):
    """Features whose combined p-value is discovered; p-values from all ways to place the ones of a label."""
    p_values = np.array([[exact_p_value(X[:, j], Y[:, l]) for l in range(Y.shape[1])] for j in range(X.shape[1])])
    q = Y.shape[1]
    if rule.combine == "fisher":
        of_features = stats.chi2.sf(-2 * np.log(p_values).sum(axis=1), 2 * q)
    else:
        of_features = np.array([min(q * p / (k + 1) for k, p in enumerate(sorted(row))) for row in p_values])
    d = len(of_features)
    penalty = sum(1 / k for k in range(1, d + 1)) if rule.correction == "by" else 1.0
    ordered = np.sort(of_features)
    return max((k for k in range(1, d + 1) if ordered[k - 1] <= rule.alpha * k / (d * penalty)), default=0)


def exact_p_value(x, y):
    """The probability of at least the observed information, over all tables with the counts of ``x`` and ``y``."""
    counts, m = np.bincount(x), int(min(y.sum(), len(y) - y.sum()))
    levels = counts[counts > 0]
    ones = np.meshgrid(*(np.arange(min(size, m) + 1) for size in levels[:-1]), indexing="ij")
    ones = [*ones, m - sum(ones)]
    weights = np.prod([stats.binom.pmf(k, size, 0.5) for k, size in zip(ones, levels, strict=True)], axis=0)
    shares = [np.clip(k / size, 0, 1) for k, size in zip(ones, levels, strict=True)]
    entropy = sum(size * stats.entropy([p, 1 - p]) for p, size in zip(shares, levels, strict=True))
    observed = sum(size * stats.entropy([y[x == a].mean(), 1 - y[x == a].mean()]) for a, size in enumerate(counts) if size)
    return weights[entropy <= observed + 1e-9].sum() / weights.sum()
