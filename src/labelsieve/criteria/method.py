"""Methods that are no formula for the greedy search: each belongs to a selector of its own."""

from typing import NamedTuple


class Method(NamedTuple):
    """What it does, in one line and as a formula, where it is from, and the selector that takes its name as ``criterion``."""

    summary: str
    formula: str
    paper: str
    selector: str


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
