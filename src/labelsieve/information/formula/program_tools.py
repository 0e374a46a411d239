"""A question that planning and evaluation both ask of a formula."""

from labelsieve.information.formula.nodes import Formula, Reduce, Table


def is_static(node: Formula) -> bool:
    """True when nothing below depends on what is selected."""
    cached: bool | None = node.__dict__.get("_static")
    if cached is None:
        cached = not any(
            (isinstance(part, Table) and part.variables & {"s", "S"}) or (isinstance(part, Reduce) and part.variable == "s")
            for part in node.walk()
        )
        node.__dict__["_static"] = cached
    return cached
