"""Methods that are no formula for the greedy search: each belongs to a selector of its own."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Method(NamedTuple):
    """What it does, in one line and as a formula, where it is from, and its selector below ``labelsieve``.

    The selector takes the method's name as ``criterion``; or, where there are ``settings``, is the method with those.
    """

    summary: str
    formula: str
    paper: str
    selector: str
    settings: Mapping[str, Any] | None = None

    def call(self, name: str) -> str:
        """How to make the selector in Python.

        >>> METHODS["qpfs"].call("qpfs"), METHODS["ela-chi"].call("ela-chi")
        ("labelsieve.QuadraticSieve('qpfs')", "labelsieve.selectors.ChiSquare(targets='copy-weight')")
        """
        settings = repr(name) if self.settings is None else ", ".join(f"{key}={one!r}" for key, one in self.settings.items())
        return f"labelsieve.{self.selector}({settings})"


METHODS: dict[str, Method] = {
    "mlqpfs": Method(
        "Relevance and redundancy of all features weighed at once.",
        "min_w (1 - a)/2 w'Hw - a F'w, H = I(f, s), F = mean_y(I(f, y))",
        "Soheili and Eftekhari Moghadam, eq. 5 and 8 to 12",
        "QuadraticSieve",
    ),
    "qpfs": Method(
        "The same for one target.",
        "min_w (1 - a)/2 w'Hw - a F'w, H = I(f, s), F = I(f, y)",
        "Rodriguez-Lujan, Huerta, Elkan and Cruz 2010",
        "QuadraticSieve",
    ),
    "chi-square": Method(
        "How far the tables of a feature and the labels are from those of chance.",
        "sum_y sum_ab (n_ab - n_a n_b / n)^2 / (n_a n_b / n)",
        "Trohidis, Tsoumakas, Kalliris and Vlahavas 2008",
        "selectors.ChiSquare",
        {},
    ),
    "ela-chi": Method(
        "Chi-square with the label as one class: a row counts for each of its labels, by one over their number.",
        "sum_ab (n_ab - n_a n_b / n)^2 / (n_a n_b / n)",
        "Chen, Yan, Zhang, Chen and Yang 2007",
        "selectors.ChiSquare",
        {"targets": "copy-weight"},
    ),
    "relieff": Method(
        "Near rows of one class should be alike, near rows of another should not; averaged over the labels.",
        "mean_y(difference of near misses - difference of near hits)",
        "Kononenko 1994; Robnik-Sikonja and Kononenko 2003",
        "selectors.ReliefF",
        {},
    ),
    "relieff-ml": Method(
        "The same with hits and misses for every label of a row.",
        "near rows without the label - near rows with it, by the frequency of labels",
        "Pupo, Morell and Ventura Soto 2013",
        "selectors.ReliefFML",
        {},
    ),
    "rrelieff": Method(
        "Near rows should differ where their numeric targets do, and only there; averaged over the targets.",
        "mean_y(N_df / N_d - (N_f - N_df) / (m - N_d))",
        "Robnik-Sikonja and Kononenko 1997",
        "selectors.RReliefF",
        {},
    ),
    "ppt-mi": Method(
        "What features tell together about the label row, by nearest neighbours; rare label rows are left out.",
        "I((S, f), (y, z, ...))",
        "Doquire and Verleysen 2011, 2013",
        "PPTMI",
        {},
    ),
    "random": Method("A random order: what any method must beat.", "rank drawn at random", "a baseline", "BaselineSieve"),
    "variance": Method("The most variable columns first, whatever the labels.", "var(f)", "a baseline", "BaselineSieve"),
    "all": Method("Every feature: what a selection must come near.", "keeps all columns", "a baseline", "BaselineSieve"),
}


def methods_of(selector: str) -> set[str]:
    """Names that a selector takes.

    >>> sorted(methods_of("QuadraticSieve"))
    ['mlqpfs', 'qpfs']
    """
    return {name for name, method in METHODS.items() if method.selector == selector}
