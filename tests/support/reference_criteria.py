"""Naive references of the criteria: the published formulas as plain loops, written to be read, not to be fast.

A column is a tuple of values, a joint of columns a tuple of columns. A reference gives the score of a candidate, in nats,
given the selected columns, in order of selection, and the columns of the targets.
"""

from contextlib import contextmanager
from functools import lru_cache
from math import sqrt
from statistics import fmean

from tests.support import reference_information as references
from tests.support.enrollment import References

REFERENCES = reference = References()  # ``@reference(name)`` enrolls a function
_settings = {"weights": None, "estimator": "plugin"}


@contextmanager
def estimating(*, weights=None, estimator="plugin"):
    """Inside, all information is estimated with these weights of the rows and this estimator."""
    before = dict(_settings)
    _settings.update(weights=None if weights is None else tuple(map(float, weights)), estimator=estimator)
    try:
        yield
    finally:
        _settings.update(before)


@lru_cache(maxsize=200_000)
def _entropy(columns, weights, estimator):
    return references.H(*columns, weights=weights, estimator=estimator)


def H(*columns):
    """Entropy of some columns together; a column that is named twice counts once."""
    return _entropy(frozenset(columns), _settings["weights"], _settings["estimator"]) if columns else 0.0


def mi(a, b):
    return H(a) + H(b) - H(a, b)


def cmi(a, b, *given):
    return H(a, *given) + H(b, *given) - H(a, b, *given) - H(*given)


def joint_mi(a, b, c):
    """I(a b; c)."""
    return H(a, b) + H(c) - H(a, b, c)


def co(a, b, c):
    """Co-information I(a; b; c)."""
    return mi(a, b) - cmi(a, b, c)


def ratio(top, bottom):
    return top / bottom if bottom else 0.0


def relevance(candidate, targets):
    return sum(mi(candidate, y) for y in targets)


def pairs(targets):
    return [(y, z) for k, y in enumerate(targets) for z in targets[k + 1 :]]


def others(targets, y):
    """All targets but the one with index ``y``."""
    return [z for k, z in enumerate(targets) if k != y]


@reference("mim")
def mim(candidate, selected, targets):
    return relevance(candidate, targets)


@reference("jmi")
def jmi(candidate, selected, targets, *, normalized=False):
    if normalized and not selected:
        return sum(ratio(mi(candidate, y), sqrt(H(candidate) * H(y))) for y in targets)
    if normalized:
        pairs = [(s, y) for s in selected for y in targets]
        return sum(ratio(joint_mi(candidate, s, y), sqrt(H(candidate, s) * H(y))) for s, y in pairs)
    if not selected:
        return relevance(candidate, targets)
    return sum(joint_mi(candidate, s, y) for s in selected for y in targets)


@reference("cmi")
def conditional(candidate, selected, targets):
    return sum(cmi(candidate, y, *selected) for y in targets)


@reference("cmim")
def cmim(candidate, selected, targets, *, with_relevance=False):
    if not selected:
        return relevance(candidate, targets)
    total = 0.0
    for y in targets:
        least = min(cmi(candidate, y, s) for s in selected)
        total += min(least, mi(candidate, y)) if with_relevance else least
    return total


@reference("cmim-positive")
def cmim_positive(candidate, selected, targets):
    if not selected:
        return sum(max(0.0, mi(candidate, y)) for y in targets)
    return sum(max(0.0, min(cmi(candidate, y, s) for s in selected)) for y in targets)


@reference("disr")
def disr(candidate, selected, targets):
    if not selected:
        return relevance(candidate, targets)
    return sum(ratio(joint_mi(candidate, s, y), H(candidate, s, y)) for y in targets for s in selected)


@reference("mrmr")
def mrmr(candidate, selected, targets):
    if not selected:
        return relevance(candidate, targets)
    return relevance(candidate, targets) - len(targets) * fmean(mi(candidate, s) for s in selected)


@reference("nmifs")
def nmifs(candidate, selected, targets):
    score = relevance(candidate, targets)
    if selected:
        score -= len(targets) * fmean(ratio(mi(candidate, s), min(H(candidate), H(s))) for s in selected)
    return score


@reference("enm")
def enm(candidate, selected, targets):
    return sqrt(sum(mi(candidate, y) ** 2 for y in targets))


@reference("jmim")
def jmim(candidate, selected, targets):
    if not selected:
        return relevance(candidate, targets)
    return sum(min(joint_mi(candidate, s, y) for s in selected) for y in targets)


@reference("njmim")
def njmim(candidate, selected, targets):
    if not selected:
        return relevance(candidate, targets)
    return sum(min(ratio(joint_mi(candidate, s, y), H(candidate, s, y)) for s in selected) for y in targets)


@reference("mri")
def mri(candidate, selected, targets):
    independent = sum(cmi(candidate, y, s) + cmi(s, y, candidate) for s in selected for y in targets)
    return relevance(candidate, targets) + independent


@reference("dcsf")
def dcsf(candidate, selected, targets):
    if not selected:
        return relevance(candidate, targets)
    pairs = [(s, y) for s in selected for y in targets]
    return sum(cmi(candidate, y, s) + cmi(s, y, candidate) - mi(candidate, s) for s, y in pairs)


@reference("cfr")
def cfr(candidate, selected, targets):
    if not selected:
        return relevance(candidate, targets)
    return sum(cmi(candidate, y, s) - co(candidate, y, s) for s in selected for y in targets)


@reference("relaxmrmr")
def relaxmrmr(candidate, selected, targets):
    score = 0.0
    for y in targets:
        score += mi(candidate, y)
        if selected:
            score -= fmean(mi(candidate, s) for s in selected)
            score += fmean(cmi(candidate, s, y) for s in selected)
        if len(selected) > 1:
            score -= fmean(cmi(candidate, s, t) for k, s in enumerate(selected) for t in others(selected, k))
    return score


@reference("tcrfs")
def tcrfs(candidate, selected, targets):
    q, score = len(targets), 0.0
    if q > 1:
        given_labels = [cmi(candidate, y, z) for k, y in enumerate(targets) for z in others(targets, k)]
        score += sum(given_labels) / (q * (q - 1))
    for s in selected:
        score += sum(cmi(candidate, y, s) + cmi(s, y, candidate) for y in targets) / (q * len(selected))
        score -= (mi(candidate, s) - sum(cmi(candidate, s, y) for y in targets) / q) / len(selected)
    return score


@reference("betagamma")
def betagamma(candidate, selected, targets, *, beta=1.0, gamma=1.0):
    total = 0.0
    for y in targets:
        total += mi(candidate, y)
        for s in selected:
            total += gamma * cmi(candidate, s, y) - beta * mi(candidate, s)
    return total


@reference("mifs")
def mifs(candidate, selected, targets, *, beta=1.0):
    redundancy = sum(mi(candidate, s) for s in selected)
    return sum(mi(candidate, y) - beta * redundancy for y in targets)


@reference("cife")
def cife(candidate, selected, targets):
    return sum(mi(candidate, y) - sum(mi(candidate, s) - cmi(candidate, s, y) for s in selected) for y in targets)


@reference("condred")
def condred(candidate, selected, targets):
    return sum(mi(candidate, y) + sum(cmi(candidate, s, y) for s in selected) for y in targets)


@reference("icap")
def icap(candidate, selected, targets):
    total = 0.0
    for y in targets:
        total += mi(candidate, y)
        for s in selected:
            total -= max(0.0, mi(candidate, s) - cmi(candidate, s, y))
    return total


@reference("ami")
def ami(candidate, selected, targets):
    return relevance(candidate, targets) - sum(mi(candidate, s) for s in selected)


@reference("scls")
def scls(candidate, selected, targets):
    return relevance(candidate, targets) * (1 - sum(ratio(mi(candidate, s), H(candidate)) for s in selected))


@reference("pmu")
def pmu(candidate, selected, targets, *, pairs="once"):
    score = relevance(candidate, targets) - sum(co(candidate, s, y) for s in selected for y in targets)
    for k, y in enumerate(targets):
        for m, z in enumerate(targets):
            if k < m or (pairs != "once" and (k != m or pairs == "ordered-and-equal")):
                score -= co(candidate, y, z)
    return score


@reference("fimf")
def fimf(candidate, selected, targets, *, n_top=10):
    by_entropy = sorted(range(len(targets)), key=lambda index: (-round(H(targets[index]), 9), index))
    top = [targets[index] for index in by_entropy[:n_top]]
    return relevance(candidate, targets) - sum(co(candidate, y, z) for y, z in pairs(top))


@reference("d2f")
def d2f(candidate, selected, targets):
    return relevance(candidate, targets) - sum(co(candidate, s, y) for s in selected for y in targets)


@reference("mdmr")
def mdmr(candidate, selected, targets):
    score = relevance(candidate, targets)
    if selected:
        score -= fmean(mi(candidate, s) - sum(cmi(candidate, y, s) for y in targets) for s in selected)
    return score


@reference("lrfs")
def lrfs(candidate, selected, targets):
    score = sum(cmi(candidate, y, z) for k, y in enumerate(targets) for z in others(targets, k))
    return score - fmean(mi(candidate, s) for s in selected) if selected else score


def supplements(candidate, targets, index):
    """Gain of information about a target given another one, for every other one."""
    y = targets[index]
    return [max(0.0, cmi(candidate, y, z) - mi(candidate, y)) for z in others(targets, index)]


@reference("lsmfs")
def lsmfs(candidate, selected, targets):
    score = relevance(candidate, targets) - sum(mi(candidate, s) for s in selected)
    return score + sum(sum(supplements(candidate, targets, index)) for index in range(len(targets)))


@reference("mlsmfs")
def mlsmfs(candidate, selected, targets):
    score = relevance(candidate, targets) - sum(mi(candidate, s) for s in selected)
    return score + sum(max(supplements(candidate, targets, index), default=0.0) for index in range(len(targets)))


@reference("mlfs")
def mlfs(candidate, selected, targets, *, beta=None, gamma=None, parents=None, first_step="formula"):
    """``parents`` lists, for every target, the columns of its parents."""
    if first_step == "relevance" and not selected:
        return relevance(candidate, targets)
    total = 0.0
    for index, y in enumerate(targets):
        total += mi(candidate, y)
        of_target = parents[index] if parents else []
        if of_target:
            total += (1 / len(of_target) if beta is None else beta) * sum(cmi(y, p, candidate) for p in of_target)
        if selected:
            total += (1 / len(selected) if gamma is None else gamma) * sum(cmi(y, s, candidate) for s in selected)
    return total
