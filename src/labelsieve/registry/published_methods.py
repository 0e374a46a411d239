"""Methods that are no formula for the greedy search: each belongs to a selector of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_NEIGHBORS = "m n d steps for the distances, 2 m k d differences for each target; m = n unless n_samples says fewer"
_COUNTS = "for each row its levels other than 0 times its classes"


@dataclass(frozen=True)
class Method:
    """What there is to know about a method, and how to make its selector.

    Attributes
    ----------
    summary, formula, paper, cost : str
        In one line each.
    selector : str
        The class, from the root of the package.
    settings : mapping
        The parameters that make it this method.
    reading : str
        What the paper leaves open, and how it is read here.
    scores : str
        What the scores are.
    needs_numbers : bool
        Whether it calculates with the features: columns of text are refused then.
    no_ranking : str
        Why it does not rank the features for all labels together, and what to do instead; empty where it does.
    """

    summary: str
    formula: str
    paper: str
    cost: str
    selector: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    reading: str = ""
    scores: str = "scores"
    needs_numbers: bool = False
    no_ranking: str = ""

    @property
    def call(self) -> str:
        """What one types in Python.

        >>> METHODS["ela-chi"].call
        "labelsieve.selectors.ChiSquare(targets='copy-weight')"
        """
        return f"labelsieve.{self.selector}({', '.join(f'{name}={value!r}' for name, value in self.settings.items())})"


def _quadratic(name: str, summary: str, formula: str, paper: str, reading: str = "") -> Method:
    cost = "one pass over all pairs of features for the mean, then columns of H on demand"
    settings = {"criterion": name}
    return Method(summary, formula, paper, cost, "QuadraticSieve", settings, reading, "weights, or minus what one would cost")


def _baseline(name: str, summary: str, formula: str, cost: str, scores: str) -> Method:
    return Method(summary, formula, "a baseline", cost, "BaselineSieve", {"criterion": name}, scores=scores)


def _chi_square(targets: str, summary: str, paper: str, reading: str) -> Method:
    formula = "sum_ab (n_ab - n_a n_b / n)^2 / (n_a n_b / n)"
    settings = {"targets": targets}
    return Method(summary, formula, paper, _COUNTS, "selectors.ChiSquare", settings, reading, "chi-square statistics")


def _relief(own: str, settings: dict[str, Any], summary: str, formula: str, paper: str, reading: str) -> Method:
    scores = "mean differences, from -1 to 1"
    return Method(summary, formula, paper, _NEIGHBORS, f"selectors.{own}", settings, reading, scores, needs_numbers=True)


_RELIEF = "mean_i [sum_c P(c)/(1 - P(c_i)) mean_miss(c) d_f - mean_hit d_f], d_f = |x_i - x_j| / range"

METHODS: dict[str, Method] = {
    "mlqpfs": _quadratic(
        "mlqpfs",
        "Relevance and redundancy of all features weighed at once.",
        "min_w (1 - a)/2 w'Hw - a F'w, H = I(f, s), F = mean_y(I(f, y))",
        "Soheili and Eftekhari Moghadam, eq. 5 and 8 to 12",
        "H may be indefinite; shift='auto' raises its diagonal, which is another program.",
    ),
    "qpfs": _quadratic(
        "qpfs",
        "Relevance and redundancy of all features weighed at once, for one target.",
        "min_w (1 - a)/2 w'Hw - a F'w, H = I(f, s), F = I(f, y)",
        "Rodriguez-Lujan, Huerta, Elkan and Cruz 2010",
    ),
    "chi-square": _chi_square(
        "single",
        "How far the table of a feature and a label is from that of chance, added over the labels.",
        "Pearson 1900",
        "combine='max' takes the largest instead of the sum. Not divided by degrees of freedom.",
    ),
    "lp-chi-square": _chi_square(
        "joint", "Chi-square of a feature with the label row as one class.", "Pearson 1900, with the label powerset", ""
    ),
    "copy-chi-square": _chi_square(
        "copy",
        "Chi-square with the label, rows being repeated with each of their labels.",
        "all label assignment in Chen et al. 2007",
        "Rows without labels drop out.",
    ),
    "ela-chi": _chi_square(
        "copy-weight",
        "Chi-square with the label, rows being repeated, each copy weighing 1 / the labels of its row.",
        "Chen et al. 2007, ELA; a baseline of Sechidis et al. 2019",
        "Rows without labels drop out.",
    ),
    "relieff": _relief(
        "ReliefF",
        {"targets": "single"},
        "Features that tell near rows of other classes apart, not those of the same; mean over the labels.",
        _RELIEF,
        "Kononenko 1994; Robnik-Sikonja and Kononenko 2003",
        "As in Weka: ten neighbors, all rows, features scaled to 0..1.",
    ),
    "lp-relieff": _relief(
        "ReliefF",
        {"targets": "joint"},
        "ReliefF with the label row as one class.",
        _RELIEF,
        "Spolaor et al. 2012, RF-LP",
        "A class of fewer rows than neighbors gives those it has.",
    ),
    "relieff-ml": _relief(
        "ReliefFML",
        {},
        "ReliefF with hits and misses for every label of a row.",
        "mean_i [sum_{l not in Y_i} w_l mean_j d_f - sum_{l in Y_i} w_l mean_j d_f], w_l ~ P(l)",
        "Pupo, Morell and Ventura Soto 2013",
        "Our reading: neighbors of a label are rows that have it; with one label in every row it is ReliefF.",
    ),
    "rrelieff": _relief(
        "RReliefF",
        {},
        "Features that differ between near rows just when the numeric target does; mean over the targets.",
        "N_df / N_d - (N_f - N_df) / (m - N_d)",
        "Robnik-Sikonja and Kononenko 2003, eq. 15 to 21; Sechidis et al. 2019, section 5",
        "Labels 0 and 1 are numbers too. The 10 and 50 of RReliefF 10 and 50 are n_neighbors.",
    ),
    "pptmi": Method(
        "What the features chosen tell together about frequent label rows, without bins.",
        "I(X_S f; Y), estimated by nearest neighbors; rare label rows pruned",
        "Doquire and Verleysen 2011, 2013",
        "about 3 n^2 steps for every candidate at every pick",
        "PPTMI",
        reading="The papers' thresholds are not among our sources: min_count=5 and n_neighbors=4 are ours.",
        scores="nats, of all features up to each",
        needs_numbers=True,
    ),
    "llsf": Method(
        "A sparse regression that correlated labels share: features of each label.",
        "min_W 1/2 |XW - Y|^2 + a/2 tr(R W'W) + b |W|_1, R = 1 - cos(Y_l, Y_m)",
        "Huang et al. 2015; a baseline of Sun and Kudo 2017",
        "one product by X'X in each of up to max_iter steps",
        "selectors.LLSF",
        reading="R has a zero diagonal as published, so there may be no minimum: bounded_ tells, convex=True mends it.",
        scores="coefficients, by size",
        needs_numbers=True,
        no_ranking="it has features of its own for every label and no ranking for all of them; use select --labelwise, or "
        "labelsieve.selectors.LLSF in Python, whose label_support_ serves LabelSpecific and classifier chains.",
    ),
    "mddm": Method(
        "A projection onto the directions that depend most on the labels.",
        "max_P tr(P'X'H YY' HXP), P'(mu X'X + (1 - mu) I) P = I",
        "Zhang and Zhou 2010; a baseline of Sun and Kudo 2017",
        "one linear system of min(n, d) unknowns for every label",
        "selectors.MDDM",
        reading="X'X in the constraint is not centered, as published; mu = 0.5 as in Sun and Kudo.",
        needs_numbers=True,
        no_ranking="it makes new features out of all of them and ranks none; use labelsieve.selectors.MDDM, a transformer, in "
        "a pipeline.",
    ),
    "random": _baseline(
        "random", "A random order: what any method must beat.", "rank drawn at random", "none", "ranks, from 1 to 0"
    ),
    "variance": _baseline(
        "variance", "The most variable columns first, whatever the labels.", "var(f)", "one pass over X", "variances"
    ),
    "all": _baseline(
        "all", "Every feature: what a selection must come near.", "keeps all columns", "none", "ranks, from 1 to 0"
    ),
}


def methods_of(selector: str) -> set[str]:
    """Names that a selector takes.

    >>> sorted(methods_of("QuadraticSieve"))
    ['mlqpfs', 'qpfs']
    """
    return {name for name, method in METHODS.items() if method.selector == selector}
